"""Prune what is kept for some days only, between the transactions of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict

from db.articles import retention as of_articles
from db.engine.writer import Work
from db.frontier import retention as of_urls
from db.records.run import KeepDays
from db.records.url import Pruning

from .. import clock
from ..run.session import Session

DAY = 86_400.0
_LEAST_SECONDS = 3_600.0
"""The process that ranks has read a row by then."""
_PAUSE_SECONDS = 0.5
_REST_SECONDS = 600.0
_PRUNE: Mapping[str, Work[Pruning, float | None]] = {
    "outside": of_urls.prune,
    "signals": of_urls.prune_signals,
    "pages": of_articles.prune_pages,
    "versions": of_articles.prune_versions,
}


async def keep(session: Session, days: KeepDays, *, least: float = _LEAST_SECONDS) -> None:
    """Prune for ever what is older than so many days, some rows at a time.

    Raises:
        DatabaseProblem: the database gave up.
    """
    seconds = {name: max(least, number * DAY) for name, number in asdict(days).items() if number is not None}
    after = dict.fromkeys(seconds, 0.0)
    while seconds:
        goes_on = False
        for name, age in seconds.items() if session.leads else ():
            until = await session.submit(_PRUNE[name], Pruning(after[name], clock.now() - age))
            if until is not None:
                after[name], goes_on = until, True
        await asyncio.sleep(_PAUSE_SECONDS if goes_on else _REST_SECONDS)
