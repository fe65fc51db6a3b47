"""Run the tasks of a crawl beside the engine, and end one that cannot go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from db.engine.errors import DatabaseProblem

from .exit_codes import EXIT_DATABASE, EXIT_STOPPED

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineCallbacks:
    """Functions of Scrapy's engine and the download handler that a crawl calls.

    Attributes:
        stop: ends the crawl, with the reason in a word or two.
        poll: has the scheduler asked for requests, now.
        pause: has it asked for none for some seconds, because this machine can make none.
        export: hands articles that no page stands for to item pipelines and exporters.
        stored: told the identifier of a URL whose body is needed no longer.
        reaches: tells whether the host of a URL can be connected to now.
        forget_names: has names looked up again that could not be.
        download: fetches what the frontier does not ask for, through the download handler.
        cookies: returns the Cookie header that a URL would be asked with now.
        goes_on: tells whether the crawl has not been told to stop.
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
    goes_on: Callable[[], bool]


class Background:
    """Tasks of a crawl, and the first problem that ends it.

    Args:
        stop: ends the crawl, with the reason in a word or two.

    Attributes:
        problem: one sentence about why the crawl could not start or go on, else empty.
        exit_code: what the process should return.
        closing: the crawl is ending.
    """

    def __init__(self, stop: Callable[[str], Coroutine[Any, Any, Any]]) -> None:
        self._stop_crawl = stop
        self.problem = ""
        self.exit_code = EXIT_STOPPED
        self.closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopping: asyncio.Future[Any] | None = None

    @property
    def ends(self) -> bool:
        """Tell whether nothing more is to be begun: the crawl ends, or could not start."""
        return self.closing or bool(self.problem)

    def refuse(self, problem: str, exit_code: int) -> None:
        """Note why the crawl cannot start."""
        self.problem, self.exit_code = problem, exit_code

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run in the background; an exception stops the crawl."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def close(self) -> None:
        """Begin nothing more, and leave what is under way."""
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

    def failed(self, error: BaseException) -> None:
        """Stop because of a fault of ours, lest it be repeated without end."""
        if not self.closing:
            self.problem = f"internal error ({type(error).__name__}: {error}); the same command goes on"
            logger.error("%s", self.problem, exc_info=error)
            self._stop("internal error")

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, DatabaseProblem):
            self.give_up(error)
        elif error is not None:
            self.failed(error)

    def _stop(self, reason: str) -> None:
        if not self.closing:
            self.closing = True
            # not among self._tasks: closing cancels those
            self._stopping = asyncio.ensure_future(self._stop_crawl(reason))
