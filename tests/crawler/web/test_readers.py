"""Clicks on results: who makes one, how long it lasts, and what cannot make one."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from crawler.web.app import make_app
from crawler.web.frame import readers as module
from crawler.web.frame.readers import COOKIE, Readers
from crawler.web.frame.visit import WebOptions
from db.records.click import Click
from db.search.clicks import ClickFile
from pipelines.search.clicks import NEUTRAL, query_key
from tests.crawler.crawling import command
from tests.crawler.web.asking import Asker

HITS = (11, -12, 13)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def readers(tmp_path: Path, clock: Clock) -> Readers:
    return Readers(tmp_path / "clicks.db", is_learning=True, clock=clock)


@pytest.fixture
def cookie(readers: Readers) -> str:
    """Of a browser that was shown three hits from the eleventh on."""
    return readers.found(None, "港口 news", HITS, 10)


def clicks(readers: Readers) -> list[Click]:
    return ClickFile(readers.path).read()


def test_click_has_numbers_alone(readers: Readers, cookie: str) -> None:
    assert readers.opened(cookie, -12) == 1
    (click,) = clicks(readers)
    assert click == Click(int(cookie, 16), query_key("NEWS 港口"), -12, 12, 1_000_000 // 60 * 60, 0.0, is_ended=False)
    assert "news" not in readers.path.read_bytes().decode("latin-1")


@pytest.mark.parametrize("article_id", [14, 0])
def test_articles_that_were_no_hits_make_none(readers: Readers, cookie: str, article_id: int) -> None:
    assert readers.opened(cookie, article_id) is None
    assert clicks(readers) == []


@pytest.mark.parametrize("stranger", [None, "", "0", "f" * 16, "ffff1", "zz", "1" * 500, "-1", "１"])
def test_browsers_that_did_not_search_make_none(readers: Readers, cookie: str, stranger: str | None) -> None:
    number = readers.opened(cookie, 11)
    assert number is not None
    assert readers.opened(stranger, 11) is None
    assert not readers.stayed(stranger, number, 60.0, is_ended=True)
    assert [click.seconds for click in clicks(readers)] == [0.0]


def test_script_tells_the_time(readers: Readers, cookie: str, clock: Clock) -> None:
    number = readers.opened(cookie, 11)
    assert number is not None
    clock.now += 500
    assert readers.stayed(cookie, number, 20.0, is_ended=False)
    assert readers.stayed(cookie, number, 25.5, is_ended=True)
    readers.found(cookie, "港口", HITS, 0)
    assert [(click.seconds, click.is_ended) for click in clicks(readers)] == [(25.5, True)]


def test_next_search_ends_a_click_without_a_script(readers: Readers, cookie: str, clock: Clock) -> None:
    readers.opened(cookie, 11)
    clock.now += 42
    assert readers.found(cookie, "港口", HITS, 0) == cookie
    assert [(click.seconds, click.is_ended) for click in clicks(readers)] == [(42.0, True)]


def test_next_result_leaves_the_end_unknown(readers: Readers, cookie: str, clock: Clock) -> None:
    """The first may still be open beside it."""
    readers.opened(cookie, 11)
    clock.now += 2
    readers.opened(cookie, 13)
    assert [(click.seconds, click.is_ended) for click in clicks(readers)] == [(2.0, False), (0.0, False)]


def test_reloading_is_no_new_click(readers: Readers, cookie: str) -> None:
    assert readers.opened(cookie, 11) == readers.opened(cookie, 11) == 1


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 1e9])
def test_impossible_times_are_refused(readers: Readers, cookie: str, seconds: float) -> None:
    number = readers.opened(cookie, 11)
    assert number is not None
    assert not readers.stayed(cookie, number, seconds, is_ended=True)


def test_clicks_count_after_a_while(readers: Readers, cookie: str, clock: Clock) -> None:
    """Learning takes a moment, so it is not done for each click."""
    assert readers.relevances("港口") == {}
    for article_id in HITS[:2]:
        number = readers.opened(cookie, article_id)
        assert number is not None
        readers.stayed(cookie, number, 200.0, is_ended=True)
        assert set(readers.relevances("港口")) == {HITS[0]}
    clock.now += 30
    assert readers.relevances("港口")[HITS[1]] > NEUTRAL


def test_writing_is_bounded(readers: Readers, cookie: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    few = Readers(readers.path, is_learning=True, clock=clock)
    few._written = type(few._written)(maxlen=2)
    monkeypatch.setattr(module, "_MOST_A_MINUTE", 2)
    mine = few.found(None, "港口", HITS, 0)
    assert [few.opened(mine, article_id) for article_id in HITS] == [1, 2, None]
    clock.now += 61
    assert few.opened(mine, 13) == 3


def test_memory_is_bounded(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SESSIONS", 2)
    monkeypatch.setattr(module, "_MOST_SEARCHES", 2)
    first, second = (readers.found(None, "a", HITS, 0) for _ in range(2))
    for article_id in (21, 22):
        readers.found(second, "b", [article_id], 0)
    third = readers.found(None, "c", HITS, 0)
    assert readers.opened(first, 11) is None
    assert readers.opened(second, 11) is None
    assert readers.opened(second, 22) is not None
    assert readers.opened(third, 11) is not None


def test_broken_file_stops_no_reader(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    readers = Readers(tmp_path / "clicks.db", is_learning=True)
    readers.path.write_text("something else " * 100)
    cookie = readers.found(None, "港口", HITS, 0)
    with caplog.at_level(logging.WARNING):
        assert readers.opened(cookie, 11) is None
        assert readers.relevances("港口") == {}
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == [
        f"Clicks are not used: {readers.path} is no file of clicks"
    ]


# ---------------------------------------------------------------- over HTTP

ORIGIN = {"Origin": "http://localhost"}


@pytest.fixture
def learning(tmp_path: Path) -> Starlette:
    return make_app(f"sqlite:///{tmp_path}/news.db", WebOptions(is_learning=True))


def told(app: Starlette, body: object, cookie: str, headers: dict[str, str] = ORIGIN) -> int:
    """Status of the answer to what a script sends."""

    async def post() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            answer = await client.post("/learn", content=content, headers={**headers, "Cookie": f"{COOKIE}={cookie}"})
            return answer.status_code

    return asyncio.run(post())


def test_pages_of_others_cannot_tell_times(learning: Starlette) -> None:
    readers = learning.state.site.readers
    cookie = readers.found(None, "港口", HITS, 0)
    time = {"click": str(readers.opened(cookie, 11)), "seconds": 9.5, "ended": True}
    assert told(learning, time, cookie, {}) == 403
    assert told(learning, time, cookie, {"Origin": "http://evil.example"}) == 403
    assert told(learning, time, cookie, {"Origin": "null"}) == 403
    assert told(learning, time, "1234") == 400
    assert [click.seconds for click in clicks(readers)] == [0.0]
    assert told(learning, time, cookie) == 204
    assert [click.seconds for click in clicks(readers)] == [9.5]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 9_000, b"\xff", b"null", b"[]", b'{"click": 1}', b'{"click": "x", "seconds": 1, "ended": true}',
     b'{"click": 1, "seconds": NaN, "ended": true}', b'{"click": 1e999, "seconds": 1, "ended": 1}',
     b'{"click": 99999999999999999999999, "seconds": 1, "ended": true}'],
    ids=lambda body: body[:30].decode("latin-1"),
)  # fmt: skip
def test_other_bodies_are_refused(learning: Starlette, body: bytes) -> None:
    cookie = learning.state.site.readers.found(None, "港口", HITS, 0)
    assert told(learning, body, cookie) == 400


def test_times_are_not_taken_unless_asked_for(tmp_path: Path) -> None:
    app = make_app(f"sqlite:///{tmp_path}/news.db")
    assert told(app, {"click": "1", "seconds": 1, "ended": True}, "1") == 404


def searched(folder: Path) -> list[dict[str, Any]]:
    """Hits of `scrapy search`, which uses the clicks beside the database."""
    done = command(
        "search", "记者", "--limit", "50", "--format", "jsonl", "-s", f"DATABASE_URL=sqlite:///{folder}/news.db"
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_search_names_a_broken_file(stand: Path, tmp_path: Path) -> None:
    shutil.copy(stand, tmp_path / "news.db")
    (tmp_path / "clicks.db").write_text("something else " * 100)
    done = command("search", "记者", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert done.returncode == 2
    assert re.fullmatch(r"scrapy search: \S+clicks\.db is no file of clicks .*\n", done.stderr)


def test_pages_teach_the_search(stand: Path, tmp_path: Path) -> None:
    """Results are opened and read through the pages, by twenty browsers; the next reader sees another order."""
    shutil.copy(stand, tmp_path / "news.db")
    with Asker(f"sqlite:///{tmp_path}/news.db", WebOptions(is_learning=True)) as asker:
        readers, clock = asker.app.state.site.readers, Clock()
        readers._clock = clock
        first, *_, last = re.findall(r"/article/(-?\d+)", asker.get("/?q=记者&limit=5").text)
        for _ in range(20):
            cookie = asker.get("/?q=记者&limit=50").headers["set-cookie"].partition(";")[0]
            for article_id, seconds in ((first, 2.0), (last, 250.0)):
                page = asker.get(f"/article/{article_id}", Cookie=cookie).text
                script = re.search(r'<script src="/static/learn.js[^"]*" data-click="(\d+)"', page)
                assert script is not None
                assert readers.stayed(cookie.partition("=")[2], int(script[1]), seconds, is_ended=True)
        clock.now += 60
        for hits in (json.loads(asker.get("/api/search?q=记者&limit=50").text)["hits"], searched(tmp_path)):
            order = [hit["id"] for hit in hits]
            assert order.index(last) < order.index(first)
        assert 'data-click="' not in asker.get(f"/article/{first}").text
