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


@dataclass(slots=True)
class Leases:
    """URLs leased to a run; `urls` are in the order in which to fetch them.

    Attributes:
        seeds: their seeds as they are now (another process may have added or changed some).
        dry: hosts that gave less than was asked for, with the time at which their next URL is due, if any.
        skipped: how many URLs were ruled out, by reason and detail.
        spent: the limit of the whole crawl is reached.
    """

    urls: list[Lease] = field(default_factory=list)
    seeds: list[StoredSeed] = field(default_factory=list)
    dry: dict[int, float | None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    spent: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """URLs left within the limits, now or later, and those beyond them."""

    within: int
    beyond: int
    next_due: float | None
