"""A run that is asked to pause, to go on and to stop by a row of the database, as the web page does it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from db.engine.database import open_beside_crawl, open_for_reading
from db.frontier.leases import ask
from db.queries.status import RunStatus, runs_shown
from db.records.run import Asked
from tests.crawler.crawling import Running, crawl_arguments, start
from tests.waiting import wait_for

pytestmark = pytest.mark.dialects


def state(url: str) -> RunStatus | None:
    """Return the newest run."""
    with closing(open_for_reading(url)) as database:
        return next(iter(database.read(lambda one: list(runs_shown(one, time.time(), 1)))), None)


def say(url: str, asked: Asked) -> int:
    with closing(open_beside_crawl(url)) as database:
        return database.write(lambda one: ask(one, None, asked))


def until(url: str, what: Callable[[RunStatus], bool], missing: str) -> RunStatus:
    return wait_for(lambda: run if (run := _seen(url)) and what(run) else None, missing)


def _seen(url: str) -> RunStatus | None:
    try:
        return state(url)
    except Exception:  # noqa: BLE001 - its tables are made by the crawl
        return None


def test_run_pauses_goes_on_and_stops(database_url: str, tmp_path: Path) -> None:
    with Newsroom(port=0, latency_seconds=0.05) as newsroom:
        settings = (f"DATABASE_URL={database_url}", "HOST_DELAY=0.1", "WORKERS=1", "LEASE_SECONDS=20")
        running = start(tmp_path, *crawl_arguments(newsroom, tmp_path, *settings))
        until(database_url, lambda run: run.totals.get("pages", 0) > 3, "the crawl did not begin")
        assert say(database_url, Asked.PAUSE) == 1
        _paused(running)
        still = _quiet(newsroom)
        before = state(database_url)
        until(database_url, lambda run: before is not None and run.lease_seconds > 0, "the run died")
        assert len(newsroom.requests()) == still, "something was fetched while the crawl was paused"
        assert say(database_url, Asked.NOTHING) == 1
        wait_for(lambda: len(newsroom.requests()) > still + 3, "the crawl did not go on")
        assert say(database_url, Asked.STOP) == 1
        assert say(database_url, Asked.NOTHING) == 0, "what was asked to stop is not asked to go on"
        ended = running.finish()
    assert ended.returncode == 3, ended.stderr
    run = state(database_url)
    assert run is not None
    assert run.outcome == "stopped (by an operator)"
    assert run.finished is not None
    assert "Traceback" not in ended.stderr


def test_paused_run_does_not_end_by_itself(database_url: str, tmp_path: Path) -> None:
    """Nothing is queued any more in memory, but the crawl is not over."""
    with Newsroom(port=0) as newsroom:
        settings = (f"DATABASE_URL={database_url}", "HOST_DELAY=1.5", "WORKERS=1", "MAX_PAGES=20", "LEASE_SECONDS=20")
        running = start(tmp_path, *crawl_arguments(newsroom, tmp_path, *settings))
        until(database_url, lambda run: run.totals.get("pages", 0) > 0, "the crawl did not begin")
        say(database_url, Asked.PAUSE)
        _paused(running)
        _quiet(newsroom)
        assert running.process.exitcode is None
        say(database_url, Asked.NOTHING)
        ended = running.finish()
    assert ended.returncode in {0, 3}, ended.stderr
    run = state(database_url)
    assert run is not None
    assert run.totals["pages"] >= 20


def _paused(running: Running) -> None:
    err = running.log.with_suffix(".err")
    wait_for(lambda: "paused by" in err.read_text("utf-8") or running.process.exitcode is not None)
    assert running.process.exitcode is None, "the crawl ended instead"


def _quiet(newsroom: Newsroom) -> int:
    """Wait until no request has come for two signs of life; returns how many there were."""
    count, since = len(newsroom.requests()), time.monotonic()
    while time.monotonic() < since + 4.5:
        time.sleep(0.1)
        if len(newsroom.requests()) != count:
            count, since = len(newsroom.requests()), time.monotonic()
    return count


def test_run_that_has_ended_is_asked_nothing(database_url: str, tmp_path: Path) -> None:
    with Newsroom(port=0) as newsroom:
        settings = (f"DATABASE_URL={database_url}", "MAX_PAGES=2", "WORKERS=1")
        start(tmp_path, *crawl_arguments(newsroom, tmp_path, *settings)).finish()
    assert say(database_url, Asked.STOP) == 0
