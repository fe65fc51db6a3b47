"""Tasks beside a crawl: one fault ends it, another is logged, and what begins anew does so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from crawler.run import background as module
from crawler.run.background import Background
from crawler.run.exit_codes import EXIT_DATABASE, EXIT_FAULT, EXIT_STOPPED
from db.engine.errors import DatabaseGone
from tests.table import each_row


def run(work: Callable[[Background], Awaitable[None]]) -> tuple[Background, list[str]]:
    """Do something with tasks of a crawl that runs; returns them, and the reasons for which it was stopped."""
    stopped: list[str] = []

    async def stop(reason: str) -> None:
        stopped.append(reason)

    async def main() -> Background:
        background = Background(stop)
        background.opened()
        await work(background)
        for _ in range(10):
            await asyncio.sleep(0)
        return background

    return asyncio.run(main()), stopped


async def fault() -> None:
    raise IndexError("list index out of range")


async def gone() -> None:
    raise DatabaseGone("the disk is full")


def test_fault_of_a_task_ends_the_crawl_with_its_code() -> None:
    async def work(background: Background) -> None:
        background.start(fault())

    background, stopped = run(work)
    assert (background.exit_code, stopped) == (EXIT_FAULT, ["internal error"])
    assert "IndexError: list index out of range" in background.problem


def test_fault_of_a_helper_is_logged_once_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    async def work(background: Background) -> None:
        background.start_helper(fault())
        background.start_helper(fault())

    background, stopped = run(work)
    assert (background.exit_code, background.problem, stopped) == (EXIT_STOPPED, "", [])
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.message == "internal error in fault: IndexError: list index out of range; the crawl goes on without"


@each_row("how", ["start", "start_helper"])
def test_database_that_is_gone_ends_the_crawl_whoever_finds_it(how: str) -> None:
    async def work(background: Background) -> None:
        getattr(background, how)(gone())

    background, stopped = run(work)
    assert (background.exit_code, background.problem, stopped) == (EXIT_DATABASE, "the disk is full", ["database"])


def test_helper_that_goes_on_for_ever_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.0)
    begun: list[int] = []

    async def helper() -> None:
        begun.append(len(begun))
        if len(begun) < 4:
            raise KeyError(len(begun))

    async def work(background: Background) -> None:
        background.keep_helper(helper)
        while len(begun) < 4:
            await asyncio.sleep(0)

    background, stopped = run(work)
    assert (begun, background.problem, stopped) == ([0, 1, 2, 3], "", [])


def test_first_problem_counts_and_the_later_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work(background: Background) -> None:
        background.start(gone())
        await asyncio.sleep(0.01)
        background.start(fault())

    background, stopped = run(work)
    assert (background.exit_code, background.problem, stopped) == (EXIT_DATABASE, "the disk is full", ["database"])
    assert "IndexError" in caplog.text


def test_problem_before_the_engine_runs_stops_it_when_it_does() -> None:
    stopped: list[str] = []

    async def stop(reason: str) -> None:
        stopped.append(reason)

    async def main() -> list[list[str]]:
        background, seen = Background(stop), []
        background.start(fault())
        for begin in (lambda: None, background.opened):
            begin()
            await asyncio.sleep(0.01)
            seen.append(list(stopped))
        return seen

    assert asyncio.run(main()) == [[], ["internal error"]]


def test_last_words_of_a_helper_do_not_keep_a_run_from_ending() -> None:
    async def work(background: Background) -> None:
        assert await background.ended(fault(), 7) == 7
        assert not background.problem
        assert await background.ended(gone(), 8) == 8

    background, _ = run(work)
    assert background.exit_code == EXIT_DATABASE
