"""URLs: kinds, states, inserts and leases."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from .reasons import SkipReason


class State(StrEnum):
    PENDING = "pending"
    """Waits to be fetched (when `next_visit` is set, not before that time)."""
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not to be fetched under the current limits, or another URL of a page (`same_as`); `reason` says why."""


class Kind(StrEnum):
    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"


REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOVED_FOR_GOOD = frozenset({301, 308})
"""Permanent ones: what was stored under a URL is under the other one from now on."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL handed out for fetching, with its state before if it is a revisit."""

    id: int
    url: str
    host_id: int
    seed_id: int | None
    kind: str
    depth: int
    score: float
    found_in: int
    found_on: int | None
    found_at: float
    tries: int
    hops: int
    etag: str | None
    last_modified: str | None
    score_parts: str | None = None
    visits: int = 0
    reason: str | None = None
    reason_detail: str | None = None
    state_before: str | None = None
    http_status: int | None = None
    same_as: int | None = None
    fetched_at: float | None = None
    watched: float = 0.0
    named: float = 0.0
    brought: float = 0.0
    changed_at: float | None = None
    unread: int = 0

    @property
    def is_revisit(self) -> bool:
        """Tell whether it was answered before: it counts no more, and may be unchanged."""
        return self.visits > 0 and self.http_status is not None

    @property
    def counts(self) -> bool:
        return self.kind == Kind.PAGE and not self.is_revisit and not self.unread

    @property
    def parts(self) -> dict[str, float]:
        parts: dict[str, float] = json.loads(self.score_parts or "{}")
        return parts


@dataclass(frozen=True, slots=True)
class NewUrl:
    """A URL to add to the frontier; names as in the table where it has them.

    Attributes:
        reason, detail: why it is not to be fetched, if it is not.
        again: fetch it even if it was fetched before.
        soon: give it this score also when it waits with a smaller one.
        form: its normal form under the rules of its host; None when it is to be fetched whatever they say, or when
            there are none.
        anew: fetch it even if it was fetched before and redirected.
    """

    id: int
    url: str
    kind: str
    host_id: int
    host: str
    site_id: int
    site: str
    depth: int
    score: float
    score_parts: str | None
    found_in: int
    seed_id: int | None = None
    anchor: str = ""
    dated: float | None = None
    reason: SkipReason | None = None
    detail: str = ""
    hops: int = 0
    again: bool = False
    soon: bool = False
    form: int | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Pruning:
    """A request to prune rows found, fetched or seen between two Unix times."""

    after: float
    before: float


@dataclass(slots=True)
class Found:
    """Result of inserting some URLs.

    Attributes:
        new_urls: rows added to the frontier, of every state; `queued` of them wait to be fetched.
        refused: of the new ones, how many are not followed, by reason and detail.
        hosts: hosts that may have new work.
    """

    new_urls: int = 0
    queued: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    hosts: set[int] = field(default_factory=set)
