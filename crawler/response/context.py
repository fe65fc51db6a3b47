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
    """None is judged."""
    STORE = "store"
    FLAG = "flag"
    """Their URLs say so, too."""
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Context:
    """All that the outcome of a fetch depends on besides the page."""

    priority: Priority
    tries: int
    redirects: int
    depth: int | None
    known: KnownUrls
    extractor: str
    disallow_reason: Callable[[int, str], Reason | None]
    focus: Threshold = Threshold()
    honours_noindex: bool = True
    harmful: HarmPolicy = HarmPolicy.FLAG
    robots_hosts: tuple[int, ...] = ()
    robots_again: float | None = None
    robots_bytes: int = MOST_ROBOTS_BYTES
    in_backoff: bool = False
    extractor_version: str = ""
    cookies: CookieStates = field(default_factory=CookieStates)

    def robots(self, kind: str, text: str = "") -> tuple[tuple[int, str, str], ...]:
        """Make the same rules for all the hosts concerned."""
        return tuple((host_id, kind, text) for host_id in self.robots_hosts)
