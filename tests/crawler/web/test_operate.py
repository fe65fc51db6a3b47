"""Managing a crawl from the page: in a real server, with crawls in processes of their own."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from crawler.demo.server import Newsroom
from crawler.manage.journal import Journal
from db.engine.database import open_for_reading
from db.queries.status import RunStatus, runs_shown
from tests.crawler.web.operating import Visitor, managed
from tests.postgres import empty_database
from tests.table import each_row
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom(port=0, latency_seconds=0.05) as serving:
        yield serving


@pytest.fixture
def operator(tmp_path: Path, newsroom: Newsroom) -> Iterator[Visitor]:
    """An operator of a server whose crawls may ask the newsroom."""
    settings = (f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}", "HOST_DELAY=0.3", "WORKERS=1", "CRAWL_PRESET=breadth")
    options = [part for one in settings for part in ("-s", one)]
    with managed(tmp_path, tmp_path / "news.db", *options) as (_, visitor):
        yield visitor
        visitor.post("/operate/ask", {"what": "stop", "token": visitor.token("/operate")})
        _ended(tmp_path)


def runs(folder: Path) -> list[tuple[int, str | None, str, str | None]]:
    with closing(sqlite3.connect(folder / "news.db")) as opened:
        return opened.execute("SELECT id, outcome, asked, finished FROM run ORDER BY id").fetchall()


def _ended(folder: Path) -> None:
    wait_for(lambda: all(finished for *_, finished in runs(folder)), "the crawl did not stop")


def changes(folder: Path) -> list[tuple[str, str, str]]:
    latest = Journal(folder / "news.manage").latest(100)
    return [(one.role, one.what, one.result) for one in reversed(latest)]


def added(operator: Visitor, url: str) -> str:
    """Look at a seed and add it; returns the page of the preview."""
    led = operator.send("/operate", "/operate/preview", seeds=url)
    assert led.status_code == 303, led.text
    page = led.headers["location"]
    wait_for(lambda: "/add" in operator.get(page).text, "the preview did not end")
    text = operator.get(page).text
    assert operator.send(page, f"{page}/add").status_code == 303
    return text


def test_crawl_is_begun_paused_and_stopped(operator: Visitor, newsroom: Newsroom, tmp_path: Path) -> None:
    seed = newsroom.seeds()[0]
    shown = added(operator, seed)
    assert seed in shown
    assert "200" in shown
    assert (tmp_path / "seeds.txt").read_text("utf-8") == f"{seed}\n"
    assert operator.send("/operate", "/operate/limits", MAX_PAGES="500", MAX_DEPTH="4").status_code == 303
    assert operator.send("/operate", "/operate/start", mode="once").status_code == 303
    wait_for(lambda: runs(tmp_path), "the crawl did not begin")
    again = operator.send("/operate", "/operate/start", mode="once")
    assert again.status_code == 400, "there is one crawl of a SQLite file"
    with closing(sqlite3.connect(tmp_path / "news.db")) as opened:
        settings = json.loads(opened.execute("SELECT settings FROM run").fetchone()[0])
    assert (settings["MAX_PAGES"], settings["MAX_DEPTH"]) == (500, 4)
    wait_for(lambda: len(newsroom.requests()) > 5, "nothing was fetched")
    page = operator.get("/operate?part=live").text
    assert "Pause" in page
    assert operator.post("/operate/ask", {"what": "pause", "token": operator.token("/operate")}).status_code == 303
    assert "paused" in operator.get("/operate").text
    assert runs(tmp_path)[0][2] == "pause"
    assert operator.post("/operate/ask", {"what": "resume", "token": operator.token("/operate")}).status_code == 303
    assert operator.post("/operate/ask", {"what": "stop", "token": operator.token("/operate")}).status_code == 303
    _ended(tmp_path)
    assert runs(tmp_path)[0][1] == "stopped (by an operator)"
    wait_for(lambda: "exit code 3" in operator.get("/operate").text, "the end is not shown")
    host = operator.send("/operate", "/operate/revisit", what=seed)
    assert host.status_code == 303, host.text
    name = seed.partition("://")[2].rstrip("/")
    assert operator.get(f"/operate/drop?what={name}").status_code == 200
    form = {"what": name, "articles": "1", "token": operator.token("/operate")}
    assert operator.post("/operate/drop", {**form, "typed": "another"}).status_code == 400
    done = operator.post("/operate/drop", {**form, "typed": name})
    assert done.status_code == 303, done.text
    with closing(sqlite3.connect(tmp_path / "news.db")) as opened:
        assert opened.execute(
            "SELECT count(*) FROM url u JOIN host h ON h.id = u.host_id WHERE h.name = ?", [name]
        ).fetchone() == (0,)
    done_list = [(role, what) for role, what, _ in changes(tmp_path)]
    assert done_list == [
        ("operator", what)
        for what in ("sign in", "add seeds", "limits", "start", "pause", "resume", "stop", "revisit", "drop")
    ]
    assert "visit again" in operator.get("/operate").text


def test_crawl_outlives_the_server(newsroom: Newsroom, tmp_path: Path) -> None:
    """Another server finds it, and stops it."""
    (tmp_path / "seeds.txt").write_text(f"{newsroom.seeds()[1]}\n", "utf-8")
    options = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}", "-s", "HOST_DELAY=0.5", "-s", "WORKERS=1")
    with managed(tmp_path, tmp_path / "news.db", *options) as (_, operator):
        assert operator.send("/operate", "/operate/start", mode="watch").status_code == 303
        wait_for(lambda: runs(tmp_path), "the crawl did not begin")
    assert runs(tmp_path)[0][3] is None
    with managed(tmp_path, tmp_path / "news.db", *options) as (_, operator):
        assert "running" in operator.get("/operate").text
        assert operator.post("/operate/ask", {"what": "stop", "token": operator.token("/operate")}).status_code == 303
        _ended(tmp_path)
    assert (runs(tmp_path)[0][1] or "").startswith("stopped")


def test_several_crawls_share_a_postgres(newsroom: Newsroom, tmp_path: Path, postgres_server: str) -> None:
    """Each start adds one; one is paused, all are stopped, and the password of the database stands nowhere."""
    (tmp_path / "seeds.txt").write_text("\n".join(newsroom.seeds()), "utf-8")
    options = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}", "-s", "HOST_DELAY=2", "-s", "WORKERS=1")
    with empty_database(postgres_server, f"operate_{os.getpid()}") as url:
        secret = make_url(url).set(password="hidden-word").render_as_string(hide_password=False)

        def living() -> list[RunStatus]:
            with closing(open_for_reading(url)) as database:
                shown = database.read(lambda one: list(runs_shown(one, time.time(), 5)))
            return [run for run in shown if run.is_running]

        with managed(tmp_path, secret, *options) as (_, operator):
            assert operator.send("/operate", "/operate/start", mode="watch").status_code == 303
            wait_for(lambda: len(living()) == 1, "the first crawl did not begin")
            assert operator.send("/operate", "/operate/start", mode="watch").status_code == 303
            wait_for(lambda: len(living()) == 2, "the second crawl did not begin")
            second, first = living()
            form = {"what": "pause", "run": str(first.id), "token": operator.token("/operate")}
            assert operator.post("/operate/ask", form).status_code == 303
            assert [run.asked for run in living()] == ["", "pause"]
            assert "hidden-word" not in operator.get("/operate").text
            assert operator.post("/operate/ask", {**form, "what": "stop", "run": ""}).status_code == 303
            wait_for(lambda: not living(), "the crawls did not stop")
            assert second.pid != first.pid
    for file in (tmp_path / "news.manage").iterdir():
        assert "hidden-word" not in file.read_text("utf-8"), file.name


@each_row(
    "seeds",
    ["file:///etc/passwd", "http://127.0.0.1:22/", "http://localhost/", "http://169.254.169.254/latest", "demo",
     "warc:/etc/passwd", "javascript:alert(1)", "ftp://a.example/", "https://a.example/ proxy=http://10.0.0.1:3128",
     "https://a.example/ body=xpath://p", "https://a.example/\x0bhttp://127.0.0.1/", "", "a.example\n" * 21,
     "http://[::1]/", "http://2130706433/",
     "https://a.example/ topic=\"a\u202eb\"", "https://a.example/ stay=everything", "-s TELNETCONSOLE_ENABLED=1",
     "../../etc/passwd"],
)  # fmt: skip
def test_hostile_seeds_are_refused(operator: Visitor, seeds: str, tmp_path: Path) -> None:
    answer = operator.send("/operate", "/operate/preview", seeds=seeds)
    assert answer.status_code == 400, answer.headers
    assert not (tmp_path / "seeds.txt").exists()


@each_row(
    "limits",
    [{"MAX_PAGES": "0"}, {"MAX_PAGES": "1 -s TELNETCONSOLE_ENABLED=1"}, {"MAX_DEPTH": "-1"}, {"HOST_DELAY": "nan"},
     {"HOST_DELAY": "0"}, {"CONCURRENT_REQUESTS": "1e3"}, {"MAX_PAGES": "１２"}, {"MAX_PAGES": "1\nX=2"}],
)  # fmt: skip
def test_hostile_limits_are_refused(operator: Visitor, limits: dict[str, str], tmp_path: Path) -> None:
    assert operator.send("/operate", "/operate/limits", **limits).status_code == 400
    assert not (tmp_path / "news.manage" / "limits.json").exists()


def test_limits_that_are_none_are_not_kept(operator: Visitor, tmp_path: Path) -> None:
    fields = {"ALLOW_NETWORKS": "0.0.0.0/0", "DATABASE_URL": "sqlite:///x.db", "MAX_PAGES": "7"}
    assert operator.send("/operate", "/operate/limits", **fields).status_code == 303
    assert json.loads((tmp_path / "news.manage" / "limits.json").read_text("utf-8")) == {"MAX_PAGES": "7"}


@each_row(
    ("path", "form"),
    [("/operate/ask", {"what": "explode"}), ("/operate/ask", {"what": "stop", "run": "1 OR 1=1"}),
     ("/operate/ask", {"what": "stop", "run": "7"}), ("/operate/start", {"mode": "--help"}), ("/operate/start", {}),
     ("/operate/revisit", {"what": "--all"}), ("/operate/revisit", {"what": ""}), ("/operate/revisit", {"what": "a b"}),
     ("/operate/drop", {"what": "nosuch.example", "typed": "nosuch.example"}),
     ("/operate/drop", {"what": "--help", "typed": "--help"})],
)  # fmt: skip
def test_forms_that_mean_nothing_are_refused(
    operator: Visitor, path: str, form: dict[str, str], tmp_path: Path
) -> None:
    answer = operator.post(path, {**form, "token": operator.token("/operate")})
    assert answer.status_code == 400, answer.text
    assert runs(tmp_path) == []


def test_folders_and_passwords_are_not_shown(operator: Visitor, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("https://a.example/ depth=x\n", "utf-8")
    page = operator.get("/operate").text
    assert str(tmp_path) not in page
    assert "scrypt" not in page
    assert operator.get("/operate/preview/0123456789abcdef").status_code == 404
    assert operator.get("/operate/preview/..%2f..%2faccess.json").status_code == 404
