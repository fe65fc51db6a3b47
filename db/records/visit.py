"""Revisits: what is due, what was seen, what a user wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

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

    `next_due` is the Unix time of the next URL, None when none ever is; `spent` means that no page of the crawl is
    left.
    """

    urls: int
    hosts: frozenset[int]
    next_due: float | None
    spent: bool = False


@dataclass(frozen=True, slots=True)
class Beginning:
    """A run that begins, and how many seconds late another process may join it."""

    run_id: int
    now: float
    late_seconds: float


@dataclass(frozen=True, slots=True)
class Unread:
    """URLs whose last answer this program failed to read.

    `given_up` are those that no run asks for again, after `MOST_UNREAD` answers.
    """

    again: int = 0
    given_up: int = 0


class RevisitKind(StrEnum):
    LIST = "list"
    """A list was read, or is unchanged: its news are the URLs that it was the first to name."""
    ARTICLE = "article"
    """An article was read, or is unchanged: its news is that its text has changed."""
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Revisit:
    """A revisit, but for its news, which the page transaction counts."""

    kind: RevisitKind
    watched: float
    """Seconds since the visit before."""
    fading: float = 1.0
    """Weight of the visits before from now on, 0 to 1."""
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """URLs that the next run is to visit: those that fulfil all that is given.

    Attributes:
        urls: identifiers; none for all.
        fetched_before: Unix time.
        what: "articles", "lists" (with feeds and sitemaps), "failed" (whatever the reason, and what was cut), or "" for
            all of them but pages that are not there (404, 410).
    """

    urls: Sequence[int] = ()
    fetched_before: float | None = None
    host: str = ""
    what: str = ""
