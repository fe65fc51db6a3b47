"""Features of URLs before they are fetched, and signals computed from them alone.

A signal is a function from such columns to values in [0, 1], one for each URL: for the links of a page when they are
found, and for the whole queue when it is scored again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pipelines.params import plug_in
from pipelines.records import BlockKind

logger = logging.getLogger(__name__)

Values = NDArray[np.float64]

DAY = 86_400.0
_HALF_LIFE_DAYS = 3.0  # chosen by hand, as is the next
_MOST_SEGMENTS = 8
BLOCK_VALUE = {
    BlockKind.SEED: 1.0,
    BlockKind.BODY: 1.0,
    BlockKind.LIST: 1.0,
    BlockKind.FEED: 1.0,
    BlockKind.PART: 1.0,
    BlockKind.SITEMAP: 0.8,
    BlockKind.PAGINATION: 0.8,
    BlockKind.CANONICAL: 0.8,
    BlockKind.REDIRECT: 0.8,
    BlockKind.RELATED: 0.6,
    BlockKind.NAVIGATION: 0.5,
    BlockKind.OTHER: 0.3,
    BlockKind.FOOTER: 0.1,
    BlockKind.PROBE: 0.0,
}
"""Promise of each place of a link, from 0 to 1. Chosen by hand."""
_VALUES = np.array([BLOCK_VALUE[kind] for kind in BlockKind])


@dataclass(frozen=True, slots=True)
class Finds:
    """URLs as the crawl came to know them: parallel columns.

    Attributes:
        blocks: `BlockKind` of the place each was found in.
        dated: Unix time that a feed, a sitemap or the URL states; 0.0 for none.
        segments: parts of the path, see `segments`.
        today: in days since 1970: freshness is judged by the day.
    """

    depths: NDArray[np.int32]
    blocks: NDArray[np.uint8]
    dated: NDArray[np.float64]
    segments: NDArray[np.uint8]
    today: float

    def __len__(self) -> int:
        return len(self.depths)


def segments(url: str) -> int:
    """Count the parts of a URL's path; a query counts as one more.

    >>> segments("http://h.cn/"), segments("http://h.cn/a/b.html"), segments("http://h.cn/a/?p=2")
    (0, 2, 2)
    """
    path, _, query = url.partition("?")
    return min(255, max(0, path.rstrip("/").count("/") - 2) + bool(query))


def depth(finds: Finds) -> Values:
    """Score 1 for a seed, 1/2 for what it links to, 1/3 ...

    Source: S01: pages within a few links of a seed are likely topical.
    Differs: the order holds for each host by itself; a host that may not be asked yet does not keep others waiting with
    deeper pages.
    """
    return np.asarray(1.0 / (1.0 + finds.depths), np.float64)


def block(finds: Finds) -> Values:
    """Score the place of the link: text and lists most, footers least.

    Source: after block-level link analysis.
    """
    return _VALUES[finds.blocks]


def freshness(finds: Finds) -> Values:
    """Score 1 for a date of today or later, halved every three days; 0 without a date."""
    age_days = np.clip(finds.today - finds.dated / DAY, 0.0, 1e6)
    return np.where(finds.dated == 0.0, 0.0, 0.5 ** (age_days / _HALF_LIFE_DAYS))


def address(finds: Finds) -> Values:
    """Score 1 for a home page, less for every part of the path.

    R. Baeza-Yates et al., Crawling a country, 2005.
    """
    return np.maximum(0.0, 1.0 - finds.segments / _MOST_SEGMENTS)


SIGNALS: dict[str, Callable[[Finds], Values]] = {
    "depth": depth,
    "block": block,
    "freshness": freshness,
    "address": address,
}


@cache
def signal(name: str) -> Callable[[Finds], Values]:
    """Return a signal: one of `SIGNALS`, or `module:name` from outside the project.

    An exception of such a function is logged once, and its values are 0 for those URLs. Values are clipped to [0, 1].

    Raises:
        ValueError: there is no such function.
    """
    if name in SIGNALS:
        return SIGNALS[name]
    function = _plugged(name)
    failed = False

    def guarded(finds: Finds) -> Values:
        nonlocal failed
        try:
            return _in_bounds(function(finds), len(finds))
        except Exception:
            if not failed:
                failed = True
                logger.exception("signal %s failed; it is 0 wherever it does, which is said only once", name)
            return np.zeros(len(finds))

    return guarded


def try_out(name: str) -> None:
    """Check a signal from outside the project on two URLs, a seed and a link.

    Raises:
        ValueError: there is no such function, or it is none of these URLs.
    """
    function = _plugged(name)
    two = Finds(
        depths=np.array([0, 1], np.int32),
        blocks=np.array([BlockKind.SEED, BlockKind.BODY], np.uint8),
        dated=np.array([0.0, 19_000 * DAY]),
        segments=np.array([0, 3], np.uint8),
        today=19_001.0,
    )
    try:
        _in_bounds(function(two), len(two))
    except Exception as error:
        problem = f"signal {name!r} failed when tried out on two URLs ({type(error).__name__}: {error})"
        raise ValueError(problem) from error


def _plugged(name: str) -> Callable[[Finds], object]:
    return plug_in(name, None, "signal", takes="what is found")


def _in_bounds(result: object, count: int) -> Values:
    """Return values as a column clipped to [0, 1]; NaN becomes 0."""
    values = np.asarray(result, np.float64)
    if values.shape != (count,):
        raise ValueError(f"it returned values of the shape {values.shape} for {count} URLs")
    return np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)
