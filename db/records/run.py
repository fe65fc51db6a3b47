"""Runs: their start, their limits and seeds, their counts, their end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

    Attributes:
        outside: URLs outside of all scopes.
        signals: what the scores of fetched URLs were made of.
        pages: raw pages.
        versions: earlier texts of articles.
    """

    outside: int | None = None
    signals: int | None = None
    pages: int | None = None
    versions: int | None = None


@dataclass(frozen=True, slots=True)
class StoredSeed:
    """A seed as stored.

    Attributes:
        include, exclude: patterns of paths.
        since: bound of the period, as written; empty for none.
        bare: it was named without a scheme.
        render: whether its pages are rendered, "never" or "auto"; empty for the crawl's own setting.
        proxy: through which proxies they are asked for, or "none", without passwords; empty for the crawl's own.
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


@dataclass(frozen=True, slots=True)
class LivingRun:
    """Another run in the same database: settings, rest of its lease, seeds."""

    id: int
    machine: str
    pid: int
    settings: Mapping[str, Any]
    lease_seconds: float
    seeds: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RunStart:
    """Facts of a run when it begins.

    Attributes:
        started: ISO time.
        machine, pid, place: its process, see `db.engine.processes`.
        settings: JSON.
        now: Unix time.
        lease_seconds: how long it may be silent.
        limits: how far it may go.
        seeds: its seeds.
        admit: told of the runs that live, raises when this one may not join them.
        covers: tells whether a seed's crawl may visit a URL.
        span: first and last Unix time from which a seed's articles are wanted.
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
        run_id: its number.
        begun_before: there are URLs already.
        pending: URLs waiting (the recovered ones included).
        recovered: URLs that a run which died had in flight, waiting again now.
        seeds: all seeds that this run or another at work was given.
        resting: seeds that are not, with how many of their URLs rest; when no other run is at work.
        new_seeds: identifiers of the seeds that were not there before.
        others: how many other runs are crawling now.
        settings: of the run before this one, as it wrote them; none when there was none.
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
"""Word at the beginning of an outcome that somebody has to look after; the reason follows in brackets."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """End of a run; `at` is its Unix time for the curves of its counts."""

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
