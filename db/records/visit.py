"""Revisits: what is due, what was seen, what a user wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .run import Limits

MOST_UNREAD = 3
"""Answers of a URL in a row that this program fails to read before it no longer asks by itself."""


@dataclass(frozen=True, slots=True)
class Due:
    """A request to queue URLs due by a time (Unix seconds), within the limits."""

    until: float
    limits: Limits


@dataclass(frozen=True, slots=True)
class Woken:
    """URLs that are queued again.

    Attributes:
        urls: how many.
        hosts: their hosts.
        next_due: Unix time at which the next URL is due, None when none ever is.
        spent: no page of the whole crawl is left, so there is nothing to visit lists for.
    """

    urls: int
    hosts: frozenset[int]
    next_due: float | None
    spent: bool = False


@dataclass(frozen=True, slots=True)
class Beginning:
    """A run that begins, its time, and how late a process of the crawl may come."""

    run_id: int
    now: float
    late_seconds: float


@dataclass(frozen=True, slots=True)
class Unread:
    """URLs whose last answer this program failed to read.

    Attributes:
        again: those that the next run asks for again.
        given_up: those that it does not, after `MOST_UNREAD` answers.
    """

    again: int = 0
    given_up: int = 0


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The findings of a revisit.

    Attributes:
        next_visit: when it is to be visited again.
        watched: seconds since the visit before.
        fading: what the visits before count for from now on, 0 to 1.
        named: new URLs that it found.
        changed: whether there was something new.
    """

    next_visit: float | None
    watched: float
    fading: float
    named: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """URLs that the next run is to visit: those that fulfil all that is given.

    Attributes:
        urls: identifiers; none for all.
        fetched_before: Unix time.
        host: a host's name.
        what: "articles", "lists" (with feeds and sitemaps), "failed" (whatever the reason, and what was cut), or "" for
            all of them but pages that are not there (404, 410).
    """

    urls: Sequence[int] = ()
    fetched_before: float | None = None
    host: str = ""
    what: str = ""
