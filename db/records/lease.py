"""Leasing URLs: requests and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .reasons import Reason
from .run import Limits, StoredSeed
from .url import Lease


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """A request for URLs to fetch, at a Unix time.

    Attributes:
        wants: host -> how many URLs.
        robots_only: hosts among `wants` whose rules are not known yet: only their robots.txt may be leased.
        disallow_reason, closed: why a host's rules forbid a URL, or every URL; None when they do not.
        refuse: why a waiting URL is not fetched, with the detail; None when it is.
    """

    run_id: int
    wants: Mapping[int, int]
    robots_only: frozenset[int]
    disallow_reason: Callable[[int, str], Reason | None]
    closed: Callable[[int], Reason | None]
    limits: Limits
    now: float
    refuse: Callable[[Lease], tuple[Reason, str] | None] = lambda _lease: None


@dataclass(frozen=True, slots=True)
class Beyond:
    """A URL that waits because limits are spent; a released one may make room for it.

    Attributes:
        host_id: its host, if that has reached a limit; then only URLs of that host make room.
        seed_id: the same for its seed.
    """

    url: Lease
    host_id: int | None = None
    seed_id: int | None = None

    def gains_by(self, held: Lease) -> bool:
        """Tell whether this URL may, and should, have the place of a leased one."""
        return (
            held.counts
            and held.score < self.url.score
            and self.host_id in (None, held.host_id)
            and self.seed_id in (None, held.seed_id)
        )


@dataclass(slots=True)
class Leases:
    """URLs leased to a run; `urls` are in the order in which to fetch them.

    Attributes:
        seeds: their seeds as they are now (another process may have added or changed some).
        dry: hosts that gave less than was asked for, with the time at which their next URL is due, if any.
        skipped: how many URLs were ruled out, by reason and detail.
        spent: the limit of the whole crawl is reached.
        beyond: the best URLs that were asked for and not leased because of a limit.
    """

    urls: list[Lease] = field(default_factory=list)
    seeds: list[StoredSeed] = field(default_factory=list)
    dry: dict[int, float | None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    spent: bool = False
    beyond: list[Beyond] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Waiting:
    """URLs left within the limits, now or later, and those beyond them."""

    within: int
    beyond: int
    next_due: float | None
