"""Processes that share a database are killed at random: nothing is lost, doubled or asked for too often."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.exactness import Life, Snapshot, early, overlaps, repeats, wire_checks
from tests.benchmarks.many_processes import Plan, run
from tests.benchmarks.static_site import Request
from tests.crawler.crawling import start
from tests.postgres import empty_database

_PLAIN = ("WORKERS=1", "KEYWORDS=", "CLASSES=", "HARMFUL=off")
_PLAN = Plan(pages=100, hosts=8, shards=2, restarts=0, kills=2, lease=20, latency=0.01, limit=200, settings=_PLAIN)


class Forked:
    """A command forked from a process that has imported everything: it starts in milliseconds."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._process = start(log.parent, *arguments, own_session=True).process

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int:
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


@pytest.mark.slow
def test_crawl_of_which_processes_are_killed_is_exact(tmp_path: Path, postgres_server: str) -> None:
    """Two processes on each of two databases."""
    with ExitStack() as stack:
        names = [f"many{n}_{os.getpid()}" for n in range(_PLAN.shards)]
        databases = [stack.enter_context(empty_database(postgres_server, name)) for name in names]
        result = run(_PLAN, databases, tmp_path, launch=Forked)
    assert result.good, result.report()


def test_two_processes_share_hosts_and_keep_limits(tmp_path: Path, postgres_server: str) -> None:
    plan = replace(_PLAN, pages=150, hosts=10, shards=1, kills=0, max_pages=80, max_pages_per_host=9, host_delay=0.5)
    with empty_database(postgres_server, f"share_{os.getpid()}") as database:
        result = run(plan, [database], tmp_path, launch=Forked)
    assert result.good, result.report()
    fetched = sorted(totals.get("pages", 0) for _, _, totals in result.totals)
    assert sum(fetched) == 80
    assert fetched[0] > 0, "whichever started later got hosts from the other"


def _request(path: str, start: float, end: float, *, process: int = 0, status: int = 200) -> Request:
    return Request(start, end, "a:1", path, status, f"newscrawler (+process-{process}@many.test)")


def _wrong(log: list[Request], lives: list[Life], snapshots: list[Snapshot] | None = None) -> set[str]:
    checks = wire_checks(log, lives, snapshots or [], delay=1.0)
    return {check.name for check in checks if not check.good}


def test_requests_at_the_same_time_are_seen() -> None:
    one, inside, after = _request("/p/1.html", 1, 5), _request("/p/2.html", 2, 3), _request("/p/3.html", 4, 6)
    assert overlaps([one, after, inside]) == [(one, inside), (one, after)]
    assert overlaps([one, _request("/p/4.html", 5, 6)]) == []
    assert overlaps([one, inside._replace(host="b:1")]) == []


def test_requests_too_early_are_seen() -> None:
    one, soon, late = _request("/p/1.html", 1, 2), _request("/p/2.html", 2.9, 3), _request("/p/3.html", 3.99, 5)
    assert early([late, soon, one], 1.0) == [(one, soon)]


def test_only_what_a_killed_process_had_in_hand_may_be_fetched_again() -> None:
    killed, heir, other = Life(0, 10, started=0, killed=6), Life(0, 11, started=6), Life(1, 12, started=0)
    lives = [killed, heir, other]
    first, second = _request("/p/1.html", 4, 5), _request("/p/1.html", 8, 9, process=1)
    assert repeats([second, first]) == {"/p/1.html": [first, second]}
    assert _wrong([first, second], lives) == set()
    assert _wrong([second, first._replace(start=10, end=11)], lives) == {"pages fetched again without a kill"}
    stored = Snapshot(5.5, frozenset({1}))
    assert _wrong([first, second], lives, [stored]) == {"pages fetched again though stored"}
