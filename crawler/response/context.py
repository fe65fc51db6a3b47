"""Context of a page: policies of the crawl, its seed and host, URLs seen lately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from db.records.reasons import Reason

from ..politeness.delay import MOST_ROBOTS_BYTES
from ..rank.priority import Priority
from .cookie_states import CookieStates
from .seen_urls import KnownUrls


@dataclass(frozen=True, slots=True)
class Threshold:
    """Least relevance of articles to the topic, and whether others are dropped."""

    least: float = 0.0
    drops: bool = True


class HarmPolicy(StrEnum):
    """Fate of harmful articles; all but the first have the verdict in their columns."""

    OFF = "off"
    STORE = "store"
    FLAG = "flag"
    """Their URLs say so, too."""
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Context:
    priority: Priority
    tries: int
    redirects: int
    depth: int | None
    """Most links from the seed of the page; None for no limit."""
    known: KnownUrls
    extractor: str
    disallow_reason: Callable[[int, str], Reason | None]
    """Returns why the rules of a host forbid a URL, None when they do not."""
    focus: Threshold = Threshold()
    honours_noindex: bool = True
    harmful: HarmPolicy = HarmPolicy.FLAG
    robots_hosts: tuple[int, ...] = ()
    """Hosts whose rules a robots.txt has: its own, and those whose robots.txt redirected to it."""
    robots_again: float | None = None
    """Unix time to ask for it again if it could not be had; None when no host waits for it."""
    robots_bytes: int = MOST_ROBOTS_BYTES
    in_backoff: bool = False
    extractor_version: str = ""
    cookies: CookieStates = field(default_factory=CookieStates)

    def robots(self, kind: str, text: str = "") -> tuple[tuple[int, str, str], ...]:
        return tuple((host_id, kind, text) for host_id in self.robots_hosts)
