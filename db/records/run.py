"""Runs: start, limits, seeds, counts and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a crawl; None is none. Answered pages count, redirects do not."""

    pages: int | None = None
    pages_per_host: int | None = None
    depth: int | None = None
    pages_per_run: int | None = None
    pages_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class KeepDays:
    """Days for which rows are kept; None for ever.

    `outside` are URLs outside of all scopes, `signals` the parts that scores of fetched URLs were made of.
    """

    outside: int | None = None
    signals: int | None = None
    pages: int | None = None
    versions: int | None = None


@dataclass(frozen=True, slots=True)
class StoredSeed:
    """A seed as stored; `include` and `exclude` are patterns of paths.

    Attributes:
        since: first day of the period, as written; empty for none.
        bare: it was named without a scheme.
        render: "never" or "auto"; empty for the crawl's own setting.
        proxy: names of proxies, or "none", without passwords; empty for the crawl's own.
        body, title, published, author: selectors for the pages of its hosts (`pipelines.document.selectors`), or empty.
    """

    id: int
    url: str
    stay: str
    depth: int | None
    pages: int | None
    topic: str
    hosts: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    since: str = ""
    bare: bool = False
    render: str = ""
    proxy: str = ""
    body: str = ""
    title: str = ""
    published: str = ""
    author: str = ""


class Asked(StrEnum):
    """Request of an operator to a run: to take no new URLs for a while, or to end."""

    NOTHING = ""
    PAUSE = "pause"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class LivingRun:
    """Another run on the same database: settings, rest of its lease, seeds."""

    id: int
    machine: str
    pid: int
    settings: Mapping[str, Any]
    lease_seconds: float
    seeds: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RunStart:
    """A run that begins.

    Attributes:
        started, now: ISO time; Unix time.
        machine, pid, place: its process, see `db.engine.processes`.
        settings: JSON.
        lease_seconds: how long it may be silent before it counts as dead.
        admit: called with the living runs, raises when this one may not join them.
        covers: tells whether a seed's crawl may visit a URL.
        span: first and last Unix time of the articles that a seed wants.
    """

    started: str
    machine: str
    pid: int
    place: str
    settings: str
    now: float
    lease_seconds: float
    limits: Limits
    seeds: Sequence[StoredSeed]
    admit: Callable[[Sequence[LivingRun]], None]
    covers: Callable[[StoredSeed, str], bool] = lambda _seed, _url: True
    span: Callable[[StoredSeed], tuple[float, float]] = lambda _seed: (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Resumed:
    """State of the crawl that a new run finds.

    Attributes:
        begun_before: there are URLs already.
        pending: URLs waiting, with the recovered ones.
        recovered: URLs that a dead run had in flight, and that wait again now.
        seeds: all seeds of this run and others at work.
        resting: seeds of no run at work, with how many of their URLs rest; when no other run is at work.
        others: number of other runs at work.
        settings: of the run before this one, as it wrote them.
    """

    run_id: int
    begun_before: bool
    pending: int
    recovered: int
    seeds: tuple[StoredSeed, ...]
    resting: Mapping[str, int]
    new_seeds: frozenset[int]
    others: int
    settings: Mapping[str, Any]


FAILED = "failed"
"""Beginning of an outcome that somebody has to look after; the reason follows in brackets."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """End of a run; `at` is its Unix time."""

    run_id: int
    finished: str
    outcome: str
    exit_code: int
    totals: Mapping[str, Any]
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class RunSample:
    """Counts of a run at a moment, as in the table."""

    at: float
    pages: int
    articles: int
    duplicates: int
    failed: int
    bytes: int
    queued: int | None
    reasons: Mapping[str, int]
