"""Functions of the crawl that learning calls: its floor knows no frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from db.records.url import NewUrl


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions of the crawl.

    Attributes:
        stats: where traps are counted.
        is_own: whether a host, by its name, is one that the seeds mean.
        start: runs a coroutine in the background and sees to its exceptions.
        add: adds URLs to the frontier.
        clear: told a host of which some URLs that are held may not be wanted any more.
        changed: told a host and how many more of its URLs wait (fewer, when it is negative).
    """

    stats: Counter[str]
    is_own: Callable[[str], bool]
    start: Callable[[Coroutine[Any, Any, None]], None]
    add: Callable[[Sequence[NewUrl]], Coroutine[Any, Any, None]]
    clear: Callable[[int], None]
    changed: Callable[[int, int], None]
