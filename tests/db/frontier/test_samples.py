"""Samples of runs: written with each sign of life and at the end, thinned with age, forgotten with old runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from db.engine.database import Database
from db.frontier import leases, runs, samples
from db.frontier.samples import crowded, drops, sample_of
from db.queries.board import curves
from db.records.run import RunEnd
from tests.db.frontier_rows import NOW, seed_row, sign, start

STATS = {"pages": 9, "new": 4, "duplicate": 2, "dropped": 1, "failed": 1, "bytes": 5 << 30, "dropped/list page": 3}


def test_sign_of_life_and_end_are_sampled(database: Database, run_in: Callable) -> None:
    now = time.time()
    run_id = run_in(runs.start_run, start(seed_row("http://a.example/"), now=now)).run_id
    run_in(leases.renew, sign(run_id, now + 2, totals=STATS, queued=7))
    assert run_in(runs.finish_run, RunEnd(run_id, "2026-01-01", "finished", 0, {**STATS, "pages": 11}, now + 3)) is None
    (found,) = database.read(lambda connection: curves(connection, now + 4, 5))
    first, last = found.samples
    assert (first.pages, first.articles, first.duplicates, first.failed, first.queued) == (9, 6, 3, 1, 7)
    assert (first.bytes, first.reasons) == (5 << 30, {"list page": 3})
    assert (last.pages, last.queued, found.run.outcome, found.run.is_running) == (11, None, "finished", False)


def test_samples_are_thinned(database: Database, run_in: Callable) -> None:
    """Of a day of signs of life some hundred stay, the last ones all."""
    run_id = run_in(runs.start_run, start(seed_row("http://a.example/"))).run_id

    def write(connection: Any) -> list[float]:
        for n in range(600):
            samples.add(connection, run_id, sample_of({"pages": n}, NOW + 144 * n))
        return list(connection.execute(select(samples.sample.c.at).order_by(samples.sample.c.at)).scalars())

    times = database.write(write)
    assert 100 < len(times) < 500
    assert (times[0], times[-1]) == (NOW, NOW + 144 * 599)
    assert times[-1] - times[-2] == 144


def test_old_runs_lose_their_samples(database: Database, run_in: Callable, monkeypatch: Any) -> None:
    monkeypatch.setattr(samples, "_MOST_RUNS", 1)
    ids = [run_in(runs.start_run, start(seed_row("http://a.example/"), place=f"{n}")).run_id for n in range(2)]

    def write(connection: Any) -> list[int]:
        for run_id in ids:
            samples.add(connection, run_id, sample_of(STATS, NOW))
        samples.forget_old(connection)
        return list(connection.execute(select(samples.sample.c.run_id)).scalars())

    assert database.write(write) == ids[1:]


@given(st.lists(st.floats(0, 1e6), max_size=300))
def test_crowded_keeps_the_ends(times: list[float]) -> None:
    ordered = sorted(set(times))
    gone = set(crowded(ordered, 1e6))
    kept = [at for at in ordered if at not in gone]
    assert kept[:1] == ordered[:1]
    assert kept[-1:] == ordered[-1:]
    assert all(b - a >= (1e6 - b) / 120 for a, b in pairwise(kept[:-1]))


def test_drops_are_bounded() -> None:
    """Some reasons are partly the words of servers."""
    many = {f"dropped/{n}": n for n in range(1, 101)}
    found = drops({**many, "failed/x": 3})
    assert len(found) == 31
    assert sum(found.values()) == sum(range(1, 101))
