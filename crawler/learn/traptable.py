"""The patterns of hosts as the table holds them, and the URLs that were skipped for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from db import traps as table
from db.records.keys import iso
from db.traps import PatternRow, Skipped, Source
from db.urlrules import look_up
from pipelines.patterns import PREFIX, Key, objection

from .. import clock
from ..session import Session
from .trappages import text_outline
from .trappattern import TRIAL_PAGES, Pattern

T = TypeVar("T")

_CHUNK = 500
_LOOKED_AT = 2000
_BEFORE_ALL = -(1 << 63)


class TrapTable:
    """What is known of traps on all hosts.

    Args:
        session: the open database.

    All methods raise `DatabaseProblem` when the database gives up.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def load(self, host_ids: Sequence[int]) -> dict[int, list[Pattern]]:
        """What is known of some hosts."""
        found = await self._session.submit(table.load, host_ids)
        return {key: list(map(pattern_of, rows)) for key, rows in found.items()}

    async def save(self, patterns: Sequence[tuple[int, Pattern]]) -> None:
        """Write patterns of hosts in the place of what was known."""
        rows = [row_of(host_id, one) for host_id, one in patterns]
        await self._session.submit(table.save, table.Noted(self._session.resumed.run_id, rows))

    async def sources(self, url_ids: Sequence[int]) -> list[Source]:
        """Where pages were found."""
        return await self._session.submit(table.sources, url_ids)

    async def due(self, moment: float) -> dict[int, list[Pattern]]:
        """Patterns that were shut before a time, of hosts that nobody crawls."""
        by_host: dict[int, list[Pattern]] = {}
        for row in await self._session.submit(table.due, moment):
            by_host.setdefault(row.host_id, []).append(pattern_of(row))
        return by_host

    async def free(self, host_id: int, shut: Callable[[], Mapping[Key, str]]) -> int:
        """Let URLs wait again that belong to no shut pattern any longer; returns how many."""
        last, freed = _BEFORE_ALL, 0
        while rows := await self._in_thread(partial(self._skipped, host_id, last)):
            last = rows[-1].id
            free = [row.id for row in rows if not objection(row.url, shut())]
            freed += await self._session.submit(table.let_wait, (host_id, free)) if free else 0
        return freed

    async def release(self, host_id: int, keys: Sequence[Key]) -> int:
        """Let some of the URLs wait that were skipped for each of these patterns; returns how many."""
        rows = await self._in_thread(partial(self._skipped, host_id, _BEFORE_ALL, _LOOKED_AT))
        chosen: set[int] = set()
        for key in keys:
            of_it = [row.id for row in rows if objection(row.url, {key: "it"}) == f"{PREFIX}it"]
            chosen.update(of_it[:: max(1, len(of_it) // TRIAL_PAGES)][:TRIAL_PAGES])
        return await self._session.submit(table.let_wait, (host_id, sorted(chosen))) if chosen else 0

    async def take_back(self, host_id: int, title: str, outline: int) -> int:
        """Mark articles of a host as gone that say what it says of pages that do not exist; returns how many."""
        titled = await self._in_thread(
            lambda: look_up(self._session.database, lambda connection: table.titled(connection, host_id, title))
        )
        same = [one.id for one in titled if text_outline(one.title, one.text, one.url) == outline]
        if same:
            since = iso(clock.now())
            await self._session.submit(table.mark_missing, [(key, since) for key in same])
        return len(same)

    def _skipped(self, host_id: int, after: int, most: int = _CHUNK) -> list[Skipped]:
        return look_up(self._session.database, lambda connection: table.skipped(connection, host_id, after, most))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, work)


def pattern_of(row: PatternRow) -> Pattern:
    """A pattern as it is remembered."""
    return Pattern(
        row.pattern,
        row.level,
        pages=row.pages,
        brought=row.brought,
        reached=row.reached,
        barren=row.barren,
        grown=row.grown,
        kind=row.kind,
        shut_at=row.shut_at,
        why=row.why,
        example=row.example,
        trial=bool(row.trial),
        changed=False,
    )


def row_of(host_id: int, one: Pattern) -> PatternRow:
    """A pattern as the table holds it."""
    return PatternRow(
        host_id,
        one.level,
        one.text,
        one.pages,
        one.brought,
        one.reached,
        one.barren,
        one.grown,
        one.kind,
        one.shut_at,
        int(one.trial),
        one.why,
        one.example,
    )
