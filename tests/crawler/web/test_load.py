"""Many readers at once, readers who leave, clients that send halves of requests: whoever asks is told something."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import uvicorn
from scrapy.utils.project import get_project_settings
from sqlalchemy import text
from uvicorn.server import ServerState

from crawler.options.in_force import in_force
from crawler.web.app import make_app
from crawler.web.frame import workers
from crawler.web.frame.visit import WebOptions
from crawler.web.pages import search
from crawler.web.server import ReaderConnection
from db.engine.database import Database
from tests.crawler.web.asking import Asker
from tests.crawler.web.serving import Server, get
from tests.crawler.web.visits import kinds

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

Address = tuple[str, int]
_PATIENCE = 300
_ENDLESS = {
    "sqlite": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    "postgresql": "SELECT pg_sleep(3600)",
}


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[Address]:
    """Answer with an application on loopback, in this process."""
    loop = asyncio.get_running_loop()
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
    state = ServerState()
    server = await loop.create_server(lambda: ReaderConnection(config, state, {}, loop), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()
        for one in list(state.connections):
            one.transport.abort()
        app.state.site.close()


async def ask(address: Address, path: str) -> bytes:
    """Ask for a path and read the answer whole; empty when there is none."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    async with asyncio.timeout(_PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(_PATIENCE):
        while not is_so():
            await asyncio.sleep(0.01)


class Gate:
    """Stands for the search of a page: those who come wait until it is opened."""

    def __init__(self) -> None:
        self.inside = 0
        self.open = threading.Event()
        self._search = search.search
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            self.inside += 1
        self.open.wait(_PATIENCE)
        with self._lock:
            self.inside -= 1
        return self._search(*arguments)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """A gate in the way of all searches; nobody is told to come again because a machine is slow."""
    made = Gate()
    monkeypatch.setattr(workers, "THREAD_SECONDS", _PATIENCE)
    monkeypatch.setattr(workers, "WORK_SECONDS", _PATIENCE)
    monkeypatch.setattr(search, "search", made)
    yield made
    made.open.set()


def test_readers_who_are_too_many_are_told_to_come_again(
    stand: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_WAITING", 3)

    async def visit() -> None:
        async with listening(make_app(f"sqlite:///{stand}")) as address:
            working = [asyncio.create_task(ask(address, "/?q=a")) for _ in range(workers.THREADS)]
            await until(lambda: gate.inside == workers.THREADS)
            waiting = [asyncio.create_task(ask(address, "/")) for _ in range(30)]
            refused = []
            while len(refused) < 27:
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=_PATIENCE)
                refused += [one.result() for one in done]
                waiting = [one for one in waiting if one not in done]
            for answer in refused:
                assert answer.startswith(b"HTTP/1.1 503 ")
                assert b"retry-after: " in answer.lower()
                assert b"Too many readers" in answer
            assert b'"status":503' in await ask(address, "/api/search?q=a")
            gate.open.set()
            for answer in await asyncio.gather(*working, *waiting):
                assert answer.startswith(b"HTTP/1.1 200 ")

    asyncio.run(visit())


def test_reader_who_waits_too_long_is_told_to_come_again(
    stand: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "THREAD_SECONDS", 0.1)
    monkeypatch.setattr(workers, "WORK_SECONDS", 0.1)

    async def visit() -> None:
        async with listening(make_app(f"sqlite:///{stand}")) as address:
            for answer in await asyncio.gather(*(ask(address, "/?q=a") for _ in range(3 * workers.THREADS))):
                assert answer.startswith(b"HTTP/1.1 503 ")
                assert b"retry-after: " in answer.lower()
            gate.open.set()
            await until(lambda: gate.inside == 0)
            for name in ("THREAD_SECONDS", "WORK_SECONDS"):
                monkeypatch.setattr(workers, name, _PATIENCE)
            assert (await ask(address, "/?q=a")).startswith(b"HTTP/1.1 200 ")

    asyncio.run(visit())


def test_reader_who_leaves_the_queue_is_worked_for_no_more(stand: Path, gate: Gate) -> None:
    async def visit() -> int:
        site = make_app(f"sqlite:///{stand}")
        async with listening(site) as address:
            working = [asyncio.create_task(ask(address, "/?q=a")) for _ in range(workers.THREADS)]
            await until(lambda: gate.inside == workers.THREADS)
            waiting = site.state.site.workers
            for _ in range(20):
                _, writer = await asyncio.open_connection(*address)
                writer.write(b"GET /?q=b HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await until(lambda: waiting._waiting == 1)
                writer.transport.abort()
                await until(lambda: waiting._waiting == 0)
            gate.open.set()
            await asyncio.gather(*working)
            return gate.inside

    assert asyncio.run(visit()) == 0


def test_reader_who_leaves_has_the_query_interrupted(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()
    endless = text(_ENDLESS[database.engine.dialect.name])

    def run(connection: Any, *_: Any) -> None:
        begun.set()
        try:
            connection.execute(endless)
        finally:
            ended.set()

    whole = search.search
    monkeypatch.setattr(search, "search", run)
    monkeypatch.setattr(workers, "WORK_SECONDS", _PATIENCE)

    async def visit() -> bytes:
        async with listening(make_app(database_url)) as address:
            _, writer = await asyncio.open_connection(*address)
            writer.write(b"GET /?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(begun.is_set)
            assert not ended.is_set()
            writer.transport.abort()
            await until(ended.is_set)
            monkeypatch.setattr(search, "search", whole)
            return await ask(address, "/?q=a")

    assert asyncio.run(visit()).startswith(b"HTTP/1.1 200 ")


def test_requests_sent_by_half_leave_room_for_a_whole_one(server: Server) -> None:
    begun = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Slow: ".encode()
    with ExitStack() as stack:
        for number in range(520):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=300))
            slow.sendall(begun)
            if number % 65 == 0:
                assert get(server, "/").status == 200
        for _ in range(5):
            assert get(server, "/").status == 200


def test_connections_beyond_the_most_are_told_to_come_again(
    stand: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.web.server._MOST_AT_ONCE", 3)

    async def visit() -> None:
        async with listening(make_app(f"sqlite:///{stand}")) as address:
            working = [asyncio.create_task(ask(address, "/?q=a")) for _ in range(3)]
            await until(lambda: gate.inside == 3)
            answer = await ask(address, "/")
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: " in answer
            gate.open.set()
            await asyncio.gather(*working)
            assert (await ask(address, "/")).startswith(b"HTTP/1.1 200 ")

    asyncio.run(visit())


LONG = ("x" * 60_000, "港" * 6_500, "%41" * 20_000, "<&" * 9_000, "é" * 9_000)
NAMES = ("q", "site", "source", "section", "classes", "language", "since", "until", "page", "limit", "url", "span")


TOGETHER = {"q", "site", "other"}
"""Tried on every page; the others on two, for one function reads them all."""


@pytest.mark.slow
def test_long_parameters_are_not_repeated(asker: Asker, stand: Path) -> None:
    paths = [path.partition("?")[0] for path in kinds(stand).values()]
    for path in dict.fromkeys((*paths, "/feed.atom", "/api/search", "/api/sites", "/none")):
        usual = len(asker.get(path).content)
        for name in (*NAMES, "sort", "run", "lang", "theme", "other"):
            if name not in TOGETHER and path not in {"/", "/feed.atom"}:
                continue
            for value in LONG if name in {"q", "site"} and path == "/" else LONG[:1]:
                answer = asker.get(f"{path}?{name}={value if '%' in value else quote(value)}")
                assert len(answer.content) < usual + 100_000, (path, name)
                assert value[:2_100] not in answer.text, (path, name)
    for path in (f"/{'a' * 60_000}", f"/sites/{'港' * 7_000}", f"/article/{'a/' * 30_000}"):
        answer = asker.get(quote(path))
        assert answer.status_code == 404
        assert len(answer.content) < 20_000


def test_folders_of_the_machine_are_not_told(stand: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder of nobody else"
    folder.mkdir()
    path = folder / "news.db"
    path.write_bytes(stand.read_bytes())
    settings = get_project_settings()
    settings.set("DATABASE_URL", f"sqlite:///{path}", "cmdline")
    settings.set("LOG_FILE", f"{folder}/log.txt", "cmdline")
    answers = []
    with Asker(f"sqlite:///{path}", WebOptions(in_force=in_force(settings))) as asker:
        answers += [asker.get(one) for one in (*kinds(path).values(), "/api/crawl", "/settings?only=changed")]
        with closing(sqlite3.connect(path)) as opened:
            opened.executescript("DROP TABLE search_words; DROP TABLE run_sample")
        answers += [asker.get(one) for one in ("/?q=a", "/crawl", "/api/crawl", "/feed.atom?q=a")]
        for wrong in (b"\x89PNG" * 5_000, b""):
            for each in folder.iterdir():
                each.unlink()
            path.write_bytes(wrong)
            answers += [asker.get(one) for one in ("/", "/api/search", "/feed.atom")]
        path.unlink()
        answers.append(asker.get("/"))
        path.mkdir()
        answers.append(asker.get("/api/search"))
    assert [answer.status_code for answer in answers[-9:]] == [503] * 9
    for answer in answers:
        for secret in (folder.name, str(tmp_path), "Traceback", "no such table"):
            assert secret not in answer.text, answer.text
