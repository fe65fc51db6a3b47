"""Two processes on two databases: copies meet, the end waits for both, one that is away holds up nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest
from sqlalchemy import text

from crawler.frontier import exchange
from crawler.frontier.exchange import Exchange
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from db.articles.page_transaction import Store
from db.engine.database import parse_url
from db.engine.errors import WrongDatabase
from db.frontier import claims, leases
from db.frontier.insert import add_urls
from db.queries.articles import items
from db.records.keys import fingerprint
from tests.crawler.driving import QUIET, settings_of
from tests.db.articles.test_clusters import OTHER, STORY, bulletin
from tests.db.frontier_rows import NOW, article, done, new_url, wish
from tests.db.shards.test_mail import host_in
from tests.db.stores import SIGN, store_of

T = TypeVar("T")
SEEDS = [Seed(f"http://{host_in(n)}/", line=n) for n in (1, 2)]


class Relay:
    """A way to a database server that can be cut, and opened again."""

    def __init__(self, url: str) -> None:
        self._there = parse_url(url)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._lines: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        there = self._there.set(drivername="postgresql", host="127.0.0.1", port=self._port)
        return there.render_as_string(hide_password=False)

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for line in self._lines:
            line.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self._there.host, self._there.port)
        self._lines |= {writer, far_writer}
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._lines -= {writer, far_writer}
            writer.close()
            far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


class Process:
    """A process of the crawl without its engine: session, exchange, and a store."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.arrived: list[Any] = []
        self.exchange = Exchange(session, found=self.arrived.append, refill=lambda: None, watches=False)
        store = store_of()
        judge, joiner = self.exchange._judge, store.joiner
        self.store = Store(1, judge, session.signatures, joiner, store.make_terms, dealing=session.dealing)

    @classmethod
    async def begin(cls, number: int, *urls: str, **settings: Any) -> Process:
        settings = {**QUIET, "DATABASE_URL": list(urls), "SHARD": number, **settings}
        session = await Session.begin(Config.from_settings(settings_of("", **settings)), SEEDS)
        await session.renew(1)
        return cls(session)

    async def fetch(self, *bodies: str, **values: Any) -> list[str]:
        """Fetch a page of its own seed's host for each text; returns the URLs."""
        submit, host = self.session.submit, host_in(self.session.dealing.number)
        urls = [f"http://{host}/{fingerprint(body)}" for body in bodies]
        await submit(add_urls, (NOW, [new_url(url, score=9.0) for url in urls]))
        await submit(leases.take_hosts, (1, 9))
        got = (await submit(claims.lease, wish(1, {fingerprint(host): len(urls)}))).urls
        for body, one in zip(bodies, sorted(got, key=lambda one: urls.index(one.url)), strict=True):
            signed = SIGN("", body)
            facts = {"text_hash": signed.exact, "features": signed.features, "length": signed.length}
            await submit(self.store.store, done(one, article=article(one.url, body, **{**facts, **values})))
        return urls

    async def finish(self) -> None:
        """Mark what waits as done."""
        await asyncio.to_thread(self.session.database.write, lambda c: c.execute(_FINISH))

    async def shown(self, url: str) -> Any:
        (found,) = await self.session.submit(items, [fingerprint(url)])
        return found


_FINISH = text("UPDATE url SET state = 'done' WHERE state = 'pending'")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Awaitable[T]], T]]:
    for pause in ("_SHORTEST_PAUSE", "_LONGEST_PAUSE", "_LOOK_SECONDS"):
        monkeypatch.setattr(exchange, pause, 0.01)
    with asyncio.Runner() as runner:
        yield runner.run


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something, ten seconds at most."""
    async with asyncio.timeout(10):
        while not await holds():
            await asyncio.sleep(0.01)


async def _kept(*processes: Process) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(process.exchange.keep()) for process in processes]


async def _end(tasks: list[asyncio.Task[None]], *processes: Process) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with pytest.raises(asyncio.CancelledError):
            await task
    for process in processes:
        await process.exchange.close()
        await process.session.close()


def test_copies_across_databases_are_found_and_both_end_together(run: Callable, two_urls: tuple[str, str]) -> None:
    async def crawl() -> None:
        one, two = [await Process.begin(number, *two_urls) for number in (1, 2)]
        tasks = await _kept(one, two)
        exact, near, other = await one.fetch(STORY, OTHER, bulletin(3), published_at="2024-05-02T08:00+08:00")
        (early,) = await two.fetch(STORY, published_at="2024-05-01")
        (late,) = await two.fetch(OTHER + "闭幕的日子还没有定。", published_at="2024-05-03")
        assert not await one.exchange.is_over(), "what came is to be compared, and seeds wait"

        async def found() -> bool:
            shown = [await process.shown(url) for process, url in ((one, exact), (two, late))]
            return all(each.duplicate_of for each in shown)

        await until(found)
        first, second = await one.shown(exact), await two.shown(late)
        assert (first.duplicate_of, first.similarity, first.duplicate_method) == (early, 1.0, "exact")
        assert second.duplicate_of == second.similar_to == near
        assert second.duplicate_kind in {"same", "edited"}
        for process, url in ((two, early), (one, near), (one, other)):
            assert (await process.shown(url)).duplicate_of is None
        assert [process.session.stats["elsewhere"] for process in (one, two)] == [1, 1]
        await one.finish()
        assert not await one.exchange.is_over()
        await two.finish()
        await until(one.exchange.is_over)
        await until(two.exchange.is_over)
        assert one.exchange.left == two.exchange.left == ""
        await _end(tasks, one, two)

    run(crawl())


def test_database_that_is_away_holds_up_only_what_is_for_it(
    run: Callable, two_urls: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def crawl() -> None:
        relay = Relay(two_urls[1])
        await relay.open()
        one = await Process.begin(1, two_urls[0], relay.url, DATABASE_PATIENCE=0)
        await relay.cut()
        tasks = await _kept(one)
        await one.fetch(STORY)  # the rest goes on
        await one.finish()
        theirs = [new_url(f"http://{host_in(2)}/{n}") for n in range(3)]
        await one.session.add(NOW, theirs)
        await until(one.exchange.is_over)
        assert one.exchange.left == "database 2 of DATABASE_URL does not answer"
        await relay.open()
        two = await Process.begin(2, *two_urls)
        tasks += await _kept(two)

        async def came() -> bool:
            return sum(found.queued for found in two.arrived) == len(theirs)

        await until(came)
        said = [record.message for record in caplog.records if "database 2" in record.message]
        assert [line.partition("; ")[2] for line in said] == ["what is for it waits, the rest goes on", ""]
        assert said[1].endswith("answers again")
        await _end(tasks, one, two)
        await relay.cut()

    run(crawl())


def test_work_that_nobody_does_ends_the_crawl_in_time(run: Callable, two_urls: tuple[str, str]) -> None:
    async def crawl() -> None:
        one = await Process.begin(1, *two_urls)
        tasks = await _kept(one)
        await one.finish()
        one.session.config = replace(one.session.config, lease_seconds=0.2)
        await until(one.exchange.is_over)
        assert one.exchange.left == "database 2 of DATABASE_URL has work left, and no process works on it"
        await _end(tasks, one)

    run(crawl())


def test_pages_granted_to_the_dead_are_given_back(run: Callable, two_urls: tuple[str, str]) -> None:
    async def crawl() -> None:
        one, two = [await Process.begin(number, *two_urls, MAX_PAGES=20) for number in (1, 2)]

        async def spare(wanted: int) -> bool:
            await one.exchange.is_over()
            return [state.spare for state in one.exchange._last.values() if state] == [10, wanted]

        tasks = await _kept(one, two)
        await until(partial(spare, 10))
        await _end([tasks.pop()])
        await asyncio.to_thread(two.session.database.write, lambda c: c.execute(text("UPDATE run SET alive_until = 0")))
        await until(partial(spare, 0))
        await _end(tasks, one, two)

    run(crawl())


def test_processes_take_the_database_with_fewest_and_agree(run: Callable, two_urls: tuple[str, str]) -> None:
    async def crawl() -> None:
        begun = await asyncio.gather(*(Process.begin(None, *two_urls) for _ in range(3)))  # type: ignore[arg-type]
        assert sorted(process.session.dealing.number for process in begun) in ([1, 1, 2], [1, 2, 2])
        with pytest.raises(WrongDatabase, match="is crawling with MAX_PAGES None, this one has 7"):
            await Process.begin(2, *two_urls, MAX_PAGES=7)
        with pytest.raises(WrongDatabase, match="SHARD is 3, but DATABASE_URL names 2 databases"):
            await Process.begin(3, *two_urls)
        with pytest.raises(WrongDatabase, match="is database 2 of 2 of its crawl; name all of them"):
            await Process.begin(None, two_urls[1])  # type: ignore[arg-type]
        await _end([], *begun)

    run(crawl())
