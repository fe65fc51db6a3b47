"""The databases of a crawl: what belongs to each, and their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .keys import dealt
from .reasons import SkipReason
from .run import Limits, StoredSeed
from .url import Kind, NewUrl


@dataclass(frozen=True, slots=True)
class Dealing:
    """One database (`number`, from 1) of `count`, and what does not belong to it."""

    number: int
    count: int

    @property
    def others(self) -> Sequence[int]:
        return [n for n in range(1, self.count + 1) if n != self.number]

    def belongs(self, new: NewUrl) -> int:
        """Return the number of the database that a URL belongs to.

        A URL outside all scopes stays where it was found, for ranking; so does a robots.txt, for the host that waits.
        """
        stays = new.reason is SkipReason.OUTSIDE or new.kind == Kind.ROBOTS
        return self.number if stays else dealt(new.site_id, self.count)

    def part(self, limits: Limits) -> Limits:
        run, day = (_part(total, self) for total in (limits.pages_per_run, limits.pages_per_day))
        return replace(limits, pages_per_run=run, pages_per_day=day)

    def part_of_seed(self, seed: StoredSeed) -> StoredSeed:
        return replace(seed, pages=_part(seed.pages, self)) if seed.stay == "any" else seed


def _part(total: int | None, dealing: Dealing) -> int | None:
    return None if total is None else total // dealing.count + (dealing.number <= total % dealing.count)


@dataclass(frozen=True, slots=True)
class ShardState:
    """State of a database of the crawl at one moment.

    Attributes:
        runs: living runs.
        under_way: something is leased, or a message waits to be read.
        posted: databases that messages, or articles to be compared, wait to be sent to.
        wants: something waits that may be fetched as soon as `MAX_PAGES` has room.
        pages, spare: pages counted against `MAX_PAGES`, and those granted but not counted yet.
        granted: pages that all databases were granted; the first one knows.
        messages: batches (sent, received) of each.
    """

    runs: int
    under_way: bool
    posted: frozenset[int]
    wants: bool
    pages: int
    spare: int = 0
    granted: int = 0
    messages: Sequence[tuple[int, int]] = ()


def unfinished(states: Mapping[int, ShardState | None], limits: Limits) -> list[int]:
    """Return the databases in which something is left to do, or that do not answer.

    >>> busy, idle = ShardState(1, False, frozenset(), True, 3), ShardState(1, False, frozenset(), False, 2)
    >>> unfinished({1: busy, 2: idle}, Limits()), unfinished({1: busy, 2: idle}, Limits(pages=5))
    ([1], [])
    """
    spent = is_spent(states, limits)
    return [
        number
        for number, state in states.items()
        if state is None or state.under_way or state.posted or (state.wants and not spent)
    ]


def is_spent(states: Mapping[int, ShardState | None], limits: Limits) -> bool:
    return limits.pages is not None and sum(state.pages for state in states.values() if state) >= limits.pages
