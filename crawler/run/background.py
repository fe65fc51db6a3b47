"""Run the tasks of a crawl beside the engine, and end one that cannot go on."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from db.engine.errors import DatabaseProblem

from .exit_codes import EXIT_DATABASE, EXIT_FAULT, EXIT_STOPPED

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from pipelines.worker import WorkerPool

logger = logging.getLogger(__name__)

T = TypeVar("T")

_AGAIN_SECONDS, _LONGEST_AGAIN_SECONDS = 1.0, 600.0
"""Pauses before a helper that failed begins anew: the first, and the longest."""


@dataclass(frozen=True, slots=True)
class EngineCallbacks:
    """Functions of Scrapy's engine and the download handler that a crawl calls.

    Attributes:
        poll: has the scheduler asked for requests, now.
        pause: has it asked for none for some seconds, because this machine can make none.
        export: hands articles that no page stands for to item pipelines and exporters.
        stored: told the identifier of a URL whose body is needed no longer.
        reaches: tells whether the host of a URL can be connected to now.
        forget_names: has names looked up again that could not be.
        download: fetches what the frontier does not ask for, through the download handler.
        cookies: returns the Cookie header that a URL would be asked with now.
        pool: returns the workers that read pages.
    """

    stop: Callable[[str], Coroutine[Any, Any, Any]]
    poll: Callable[[], None]
    pause: Callable[[], None]
    export: Callable[[Sequence[int]], Awaitable[None]]
    stored: Callable[[int], None]
    reaches: Callable[[str], Coroutine[Any, Any, bool]]
    forget_names: Callable[[], None]
    download: Callable[[Request], Awaitable[Response]]
    cookies: Callable[[str], str]
    pool: Callable[[], WorkerPool]
    goes_on: Callable[[], bool]


class Background:
    """Tasks of a crawl, and the first `problem` that ends it, in one sentence.

    A fault in what the crawl cannot do without ends it (`start`). Helpers, without which it knows less or writes later,
    are left out (`start_helper`) or begin anew (`keep_helper`) when they fail, and the log says so.
    """

    def __init__(self, stop: Callable[[str], Coroutine[Any, Any, Any]]) -> None:
        self._stop_crawl = stop
        self.problem = ""
        self.exit_code = EXIT_STOPPED
        self.closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopping: asyncio.Future[Any] | None = None
        self._faults: Counter[str] = Counter()
        self._is_open = False
        self._why = ""
        """Reason of a problem that came before the engine could be stopped."""

    @property
    def ends(self) -> bool:
        """Tell whether nothing more is to be begun: the crawl ends, or could not start."""
        return self.closing or bool(self.problem)

    def opened(self) -> None:
        """Note that the engine runs; a problem that has come before stops it now."""
        self._is_open = True
        if self._why:
            self._stop(self._why)

    def refuse(self, problem: str, exit_code: int) -> None:
        self.problem, self.exit_code = problem, exit_code

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run in the background; an exception stops the crawl."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def start_helper(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run a helper in the background; faults but the database's are only logged."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._helper_ended)

    def keep_helper(self, begin: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run in the background a helper that goes on for ever, anew after an exception."""
        self.start(self._kept(begin))

    async def _kept(self, begin: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        pause = _AGAIN_SECONDS
        while True:
            helper = begin()
            try:
                await helper
            except DatabaseProblem:
                raise
            except Exception as error:  # noqa: BLE001 - of whatever kind: the crawl goes on without
                self.helper_failed(_name(helper), error)
            else:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_AGAIN_SECONDS)

    def close(self) -> None:
        self.closing = True
        for task in list(self._tasks):
            task.cancel()

    def give_up(self, problem: Exception, reason: str = "database", exit_code: int = EXIT_DATABASE) -> None:
        """Stop because the database is gone, or what else is needed; say so once."""
        if not self.problem:
            self.problem = str(problem)
            self.exit_code = exit_code
            logger.error("%s", self.problem)
            self._stop(reason)

    def stop(self, reason: str) -> None:
        """Stop because somebody asked for it; what is under way is stored."""
        if not self.ends:
            logger.warning("stopping %s", reason)
            self._stop(reason)

    def failed(self, error: BaseException) -> None:
        """Stop because of a fault of ours, lest it be repeated without end."""
        message = f"internal error ({_said(error)}); the same command goes on"
        logger.error("%s", message, exc_info=error)
        if not self.problem:
            self.problem, self.exit_code = message, EXIT_FAULT
            self._stop("internal error")

    def helper_failed(self, name: str, error: BaseException) -> None:
        """Log a fault of a helper: the first of each kind with its traceback."""
        message = f"{name}: {_said(error)}"
        self._faults[message] += 1
        if self._faults[message] == 1:
            logger.error("internal error in %s; the crawl goes on without", message, exc_info=error)

    async def ended(self, helper: Coroutine[Any, Any, T], otherwise: T) -> T:
        """Await what a helper does at the end; its faults do not keep the run from ending."""
        try:
            return await helper
        except DatabaseProblem as problem:
            self.give_up(problem)
        except Exception as error:  # noqa: BLE001 - of whatever kind
            self.helper_failed(_name(helper), error)
        return otherwise

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, DatabaseProblem):
            self.give_up(error)
        elif error is not None:
            self.failed(error)

    def _helper_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, DatabaseProblem):
            self.give_up(error)
        elif error is not None:
            self.helper_failed(_name(task.get_coro()), error)

    def _stop(self, reason: str) -> None:
        if not self._is_open:
            self._why = reason
        elif not self.closing:
            self.closing = True
            # not among self._tasks: closing cancels those
            self._stopping = asyncio.ensure_future(self._stop_crawl(reason))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _name(coroutine: object) -> str:
    return str(getattr(coroutine, "__qualname__", "a helper"))
