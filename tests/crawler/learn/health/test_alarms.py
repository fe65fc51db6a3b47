"""Alarms while a crawl runs: what is written when, that it survives restarts, and that people are told."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.learn.health.alarms import Alarms, lines
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from db.records.host import ShownAlarm
from db.records.url import Kind, Lease
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.records import BlockKind, Description, Extraction, Metadata, PageKind, ParseResult
from tests.crawler.crawling import scrapy
from tests.crawler.odd_server import OddServer
from tests.crawler.repeating_site import lists, page

HOST = 7
HIJACKED = Description(harm=0.9, harm_kind="hijacked", harm_reasons="title: 百家乐")


def fetched(n: int, *, host_id: int = HOST, **values: Any) -> Page:
    url = f"http://a{host_id}.example/news/2024/5/{n + 1000}.html"
    lease = Lease(n, url, host_id, None, Kind.PAGE, 1, 0.0, BlockKind.LIST, None, 0.0, 0, 0, None, None)
    return Page(lease, Scope("host", ("a.example",)), **{"status": 200, "seconds": 0.2, "fetched_at": 1e9, **values})


def article(n: int, **values: Any) -> Page:
    text = Extraction("好" * (500 + n % 7 * 100), confidence=0.9)
    metadata = Metadata(title=f"第{n}号", published_at="2024-05-01")
    return fetched(n, parsed=ParseResult(PageKind.ARTICLE, metadata=metadata, extraction=text), **values)


def with_alarms(folder: Path, do: Callable[[Alarms], Awaitable[Any]], window: int = 20, most: int = 100) -> Any:
    """Do something with alarms in an open session, and close them; returns what lasts."""

    async def run() -> Any:
        settings = Settings()
        settings.setmodule(project_settings, "project")
        settings.set("DATABASE_URL", f"sqlite:///{folder}/news.db", "cmdline")
        session = await Session.begin(Config.from_settings(settings), [Seed("http://a.example/")])
        alarms = Alarms(session, window, most)
        try:
            await do(alarms)
            return await alarms.close()
        finally:
            await session.close()

    return asyncio.run(run())


def note(pages: Sequence[Page]) -> Callable[[Alarms], Awaitable[None]]:
    async def do(alarms: Alarms) -> None:
        for one in pages:
            alarms.note(one)

    return do


def table(folder: Path, sql: str) -> list[tuple]:
    with sqlite3.connect(folder / "news.db") as database:
        return database.execute(sql).fetchall()


def test_change_between_two_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert with_alarms(tmp_path, note([article(n) for n in range(50)])) == []
    assert table(tmp_path, "SELECT host_id, answers FROM host_health") == [(HOST, 50)]
    with caplog.at_level(logging.WARNING):
        (alarm,) = with_alarms(tmp_path, note([fetched(n, status=403) for n in range(30)]))
    assert alarm.kind == "blocks"
    assert [record.getMessage() for record in caplog.records if "blocks us" in record.getMessage()] == [
        f"a{HOST}.example: {alarm.text}"
    ]
    assert next(lines([alarm])) == "Alarms:"
    caplog.clear()
    (again,) = with_alarms(tmp_path, note([fetched(n, status=403) for n in range(30)]))
    assert again == alarm
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert with_alarms(tmp_path, note([article(n) for n in range(40)])) == []
    assert [(kind, until is None) for kind, until in table(tmp_path, "SELECT kind, until FROM alarm")] == [
        ("blocks", False)
    ]


def test_site_that_is_hijacked_raises_an_alarm(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With spam in titles of honest texts; one such article among a hundred is nothing."""
    hijacked = [replace(one, parsed=replace(one.parsed, description=HIJACKED)) for one in map(article, range(30))]
    assert with_alarms(tmp_path, note([*map(article, range(60)), hijacked[0], *map(article, range(60, 100))])) == []
    with caplog.at_level(logging.WARNING):
        (alarm,) = with_alarms(tmp_path, note(hijacked))
    assert alarm.kind == "hijacked"
    assert "looks hijacked: articles with gambling, porn or fraud in title or text: " in caplog.text
    assert with_alarms(tmp_path, note([article(n) for n in range(100, 130)])) == []


def test_learned_state_is_written_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.learn.health.alarms._SECONDS", 0.01)
    count = "SELECT answers FROM host_health"

    async def do(alarms: Alarms) -> None:
        running = asyncio.ensure_future(alarms.run())
        for n in range(15):
            alarms.note(article(n))
        await asyncio.sleep(0.1)
        assert table(tmp_path, count) == []
        for n in range(15, 30):
            alarms.note(article(n))
        for _ in range(500):
            if table(tmp_path, count):
                break
            await asyncio.sleep(0.02)
        assert table(tmp_path, count) == [(30,)]
        alarms.note(article(31))
        running.cancel()

    assert with_alarms(tmp_path, do) == []
    assert table(tmp_path, count) == [(31,)]


def test_hosts_not_heard_of_for_long_are_written_and_dropped(tmp_path: Path) -> None:
    pages = [article(n, host_id=host) for host in range(30) for n in range(3)]
    assert with_alarms(tmp_path, note(pages), most=5) == []
    assert table(tmp_path, "SELECT count(*), sum(answers) FROM host_health") == [(30, 90)]


def test_host_that_is_let_go_is_read_anew(tmp_path: Path) -> None:
    async def do(alarms: Alarms) -> None:
        await note([article(n) for n in range(30)])(alarms)
        await alarms.let_go([HOST])
        with sqlite3.connect(tmp_path / "news.db") as database:  # another run has it meanwhile
            changed = "UPDATE host_health SET answers = 90, state = json_set(state, '$.answers', 90) WHERE answers = 30"
            assert database.execute(changed).rowcount == 1
        await note([article(n) for n in range(4)])(alarms)

    assert with_alarms(tmp_path, do) == []
    assert table(tmp_path, "SELECT answers FROM host_health") == [(94,)]


def test_alarm_blames_our_network_when_no_host_answers(tmp_path: Path) -> None:
    hosts = range(4)
    assert with_alarms(tmp_path, note([article(n, host_id=host) for host in hosts for n in range(30)])) == []
    lost = [fetched(n, host_id=host, status=0, error="timed out") for host in hosts for n in range(12)]
    found = with_alarms(tmp_path, note(lost))
    assert {alarm.kind for alarm in found} == {"unreachable"}
    assert ["network of this machine" in alarm.text for alarm in found].count(True) >= 1


def test_nothing_is_shown_when_nothing_is_wrong() -> None:
    assert list(lines([])) == []
    hostile = ShownAlarm("a\x1b[31m\n", "blocks", "2024-05-01T10:00:00+00:00", None, "blocks us")
    assert all(line.isprintable() for line in lines([hostile]))


def broken(number: int) -> tuple[int, dict[str, str], str]:
    """What an article's page looks like when its text is made by a script."""
    status, headers, _ = page(number)
    script = "<script>render()</script>"
    return status, dict(headers), f"<html><head><title>新闻{number}号</title></head><body>{script}</body></html>"


def crawl_list(server: OddServer, folder: Path, number: int) -> str:
    """Crawl a list of articles; returns what was said."""
    seeds = folder / "seeds.txt"
    seeds.write_text(f"http://a.localhost:{server.port}/list/{number}.html", encoding="utf-8")
    given = {
        "DATABASE_URL": f"sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS": f"127.0.0.1:{server.port}",
        "HOST_DELAY": "0",
        "CRAWL_PRESET": "breadth",
        "WORKERS": "1",
        "HEALTH_WINDOW": "20",
    }
    arguments = [x for setting in given.items() for x in ("-s", "=".join(setting))]
    done = scrapy(folder, "crawl", "news", "-a", f"seeds={seeds}", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_site_that_changes_its_layout_between_two_crawls(tmp_path: Path) -> None:
    host = "a.localhost"
    answers: dict[tuple[str, str], Any] = {(host, "/robots.txt"): (404, {}, "")}
    for number, make in enumerate((page, broken)):
        paths = [f"/news/{n + 1000 * (number + 1)}.html" for n in range(36)]
        answers[host, f"/list/{number}.html"] = lists(number, paths)
        answers |= {(host, path): make(n + 100 * number) for n, path in enumerate(paths)}
    with OddServer(answers) as server:
        assert "Alarms" not in crawl_list(server, tmp_path, 0)
        said = crawl_list(server, tmp_path, 1)
    assert said.count("pages are empty") == 2, said  # once in the log, once in the summary
    told = scrapy(tmp_path, "status", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db").stdout
    assert "Alarms" in told
    assert "it lasts" in told
