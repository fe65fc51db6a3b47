"""Watch what is stored, and tell of hits of saved searches.

Any number of servers and crawls may watch a database; one of them at a time is at work, by a lease in the desk's file.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from db.desk import outbox, searches
from db.desk.file import DeskFile
from db.engine.database import Database, open_for_reading
from db.engine.errors import DatabaseProblem
from db.engine.processes import here
from db.records.desk import SavedSearch, SearchHit
from db.search import find

from ..options.alerts import AlertOptions
from .burst import WEEKS_HOURS, find_burst
from .delivery import DeliveryError, send

logger = logging.getLogger(__name__)

_EVERY_SECONDS = 5.0
_LEASE_SECONDS = 300.0
"""Another machine's watcher is taken for dead after this; one of this machine at once."""
_MOST_IN_MESSAGE = 200
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 3_600.0
"""Seconds between two tries of a message: doubled each time."""
_AT_ONCE = 20
_HOUR_SECONDS = 3_600
_HOUR_MS = 1_000 * _HOUR_SECONDS
_MOST_UNREAD = 10_000
"""Hits of a search that are kept for a reader who does not look, when they are older than a burst looks back."""


class Watcher:
    """Matches and tells, step by step."""

    def __init__(
        self, database_url: str, desk: DeskFile, options: AlertOptions, clock: Callable[[], float] = time.time
    ) -> None:
        self._database_url = database_url
        self._desk = desk
        self._options = options
        self._clock = clock
        self._owner = secrets.token_hex(8)
        self._said = ""
        self._next_prune = 0.0
        self._lock = threading.Lock()

    async def keep(self) -> None:
        """Watch for ever, beside a crawl."""
        while True:
            await asyncio.to_thread(self.try_step)
            await asyncio.sleep(_EVERY_SECONDS)

    async def close(self) -> None:
        """Look for the last time at what the crawl has stored, and let another one watch."""
        await asyncio.to_thread(self.try_step)
        await asyncio.to_thread(self.leave)

    def run(self, stop: threading.Event) -> None:
        """Watch until told to stop."""
        while not stop.is_set():
            self.try_step()
            stop.wait(_EVERY_SECONDS)
        self.leave()

    def try_step(self) -> None:
        """Do one step; what goes wrong is logged, once until something else does."""
        try:
            with self._lock:
                self.step()
        except outbox.LostLease:
            return
        except DatabaseProblem as problem:
            if self._is_new(problem):
                logger.warning("Saved searches are not watched: %s", problem)
        except Exception as error:  # whatever it is: the next step tries again
            if self._is_new(error):
                logger.exception("Watching saved searches failed")

    def _is_new(self, error: Exception) -> bool:
        before, self._said = self._said, repr(error)
        return self._said != before

    def step(self) -> None:
        """Match what is new, make messages that are due, and send those that wait.

        Raises:
            DatabaseProblem: the desk or the database cannot be used.
        """
        if not self._desk.exists():
            return
        from .matching import catch_up  # noqa: PLC0415 - it imports the whole search, which few crawls need

        with self._desk.reading() as connection:
            saved = searches.all_searches(connection)
        if not saved or not self._lease():
            return
        with closing(open_for_reading(self._database_url)) as database:
            while catch_up(self._desk, database.read, self._clock()):
                if not self._lease():
                    return
            for one in saved:
                if one.channel:
                    self._compose(one, database)
        self._send()
        self._prune(saved)

    def leave(self) -> None:
        """Let another one watch."""
        if self._desk.exists():
            try:
                with self._desk.writing() as connection:
                    outbox.release(connection, self._owner)
            except DatabaseProblem as problem:
                logger.warning("%s", problem)

    def _lease(self) -> bool:
        now = self._clock()
        with self._desk.writing() as connection:
            return outbox.lease(connection, self._owner, here(), os.getpid(), now=now, until=now + _LEASE_SECONDS)

    def _compose(self, saved: SavedSearch, database: Database) -> None:
        now = self._clock()
        with self._desk.reading() as connection:
            since = now - 60 * self._options.minutes
            hits = outbox.to_tell(connection, saved.id, _MOST_IN_MESSAGE, since=since)
            if not hits:
                return
            newest = int(now * 1000)
            by_hour = outbox.hits_by_hour(
                connection, saved.id, newest - WEEKS_HOURS * _HOUR_MS, newest - newest % _HOUR_MS - 1
            )
            latest = sum(outbox.hits_by_hour(connection, saved.id, newest - _HOUR_MS, newest).values())
        burst = find_burst(by_hour, latest, newest // _HOUR_MS, int((now - saved.created) // _HOUR_SECONDS))
        content = {
            "search": {"id": saved.id, "name": saved.name, "query": saved.query, "language": saved.language},
            "time": int(now),
            "at": datetime.fromtimestamp(int(now), UTC).isoformat(),
            "burst": None if burst is None else asdict(burst),
            "articles": _articles(database, hits),
        }
        with self._desk.writing() as connection:
            outbox.check(connection, self._owner)
            key = secrets.token_hex(16)
            outbox.compose(connection, saved.id, key, json.dumps(content, ensure_ascii=False), hits, now=now)

    def _prune(self, saved: Sequence[SavedSearch]) -> None:
        now = self._clock()
        if now < self._next_prune:
            return
        self._next_prune = now + _HOUR_SECONDS
        before = now - WEEKS_HOURS * _HOUR_SECONDS
        with self._desk.writing() as connection:
            for one in saved:
                outbox.prune(connection, one.id, int(before * 1000), _MOST_UNREAD, before)

    def _send(self) -> None:
        with self._desk.reading() as connection:
            waiting = outbox.due(connection, self._clock(), _AT_ONCE)
        for message in waiting:
            if not self._lease():
                return
            try:
                send(message, self._options)
            except DeliveryError as error:
                pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**message.tries)
                logger.warning("A message of a saved search was not sent (%s); again in %g s", error, pause)
                with self._desk.writing() as connection:
                    outbox.note_failure(connection, message.id, str(error), self._clock() + pause)
            else:
                with self._desk.writing() as connection:
                    outbox.note_told(connection, message.id, self._clock())


def _articles(database: Database, hits: Sequence[SearchHit]) -> list[dict[str, Any]]:
    """Return what a message says of articles; of one that is gone its number."""
    shown = database.read(lambda connection: find.shown(connection, [hit.article_id for hit in hits]))
    articles = []
    for hit in hits:
        one = shown.get(hit.article_id)
        articles.append(
            {
                "id": str(hit.article_id),
                "title": "" if one is None else one.title,
                "url": "" if one is None else one.url,
                "site": "" if one is None else one.site,
                "published_at": None if one is None else one.published_at,
            }
        )
    return articles
