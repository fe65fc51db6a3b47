"""Prune what is kept for some days only, between the transactions of pages."""

from __future__ import annotations

import asyncio

from db.frontier.retention import prune
from db.records.url import Pruning

from .. import clock
from ..run.session import Session

DAY = 86_400.0
_LEAST_SECONDS = 3_600.0
"""The process that ranks has read a row by then."""
_PAUSE_SECONDS = 0.5
_REST_SECONDS = 600.0


async def keep(session: Session, days: int, *, least: float = _LEAST_SECONDS) -> None:
    """Prune for ever what is older than so many days, a thousand rows at a time.

    Raises:
        DatabaseProblem: the database gave up.
    """
    after = 0.0
    while True:
        until = None
        if session.leads:
            until = await session.submit(prune, Pruning(after, clock.now() - max(least, days * DAY)))
        after = after if until is None else until
        await asyncio.sleep(_REST_SECONDS if until is None else _PAUSE_SECONDS)
