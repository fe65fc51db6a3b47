"""How a host wants to be treated: its robots rules, and the pauses between requests and after trouble.

Pure: time is an argument. The rules follow RFC 9309: no rules (4xx) allow everything, an unreachable robots.txt forbids
everything until it answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from protego import Protego

MOST_ROBOTS_BYTES = 512_000
_FIRST_PAUSE = 2.0
LONGEST_PAUSE = 3_600.0


class Rules:
    """The robots rules of one host for one user agent.

    Args:
        text: the robots.txt; empty means that everything is allowed.
        agent: the product token we go by.
        reason: why everything is forbidden, if it is (also an attribute).
    """

    def __init__(self, text: str, agent: str, reason: str = "") -> None:
        self._agent = agent
        self.reason = reason
        self._parsed = Protego.parse(text) if text and not reason else None

    def objection(self, url: str) -> str:
        """Why a URL must not be fetched, or an empty string."""
        if self.reason:
            return self.reason
        if self._parsed is None or self._parsed.can_fetch(url, self._agent):
            return ""
        return "robots"

    @property
    def delay_seconds(self) -> float:
        """The crawl-delay asked for, 0 when none is."""
        return float(self._parsed.crawl_delay(self._agent) or 0.0) if self._parsed else 0.0

    @property
    def sitemaps(self) -> list[str]:
        """Sitemap addresses the file names."""
        return list(self._parsed.sitemaps) if self._parsed else []


def decode_robots(body: bytes) -> str:
    """The text of a robots.txt, cut to the length that is read (RFC 9309 section 2.5)."""
    return body[:MOST_ROBOTS_BYTES].decode("utf-8-sig", "replace").replace("\0", "")


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds between requests to one host.

    Attributes:
        delay: our own (`HOST_DELAY`).
        most_crawl_delay: a robots crawl-delay counts up to this (`CRAWL_DELAY_CAP`).
    """

    delay: float
    most_crawl_delay: float

    def between(self, rules: Rules | None) -> float:
        """Pause after a request that went well."""
        asked = min(rules.delay_seconds, self.most_crawl_delay) if rules else 0.0
        return max(self.delay, asked)


def retry_pause(tries: int) -> float:
    """Seconds to wait after the n-th try of a URL failed: 2, 8, 32 ... at most an hour."""
    return float(min(LONGEST_PAUSE, _FIRST_PAUSE * 4 ** min(10, max(0, tries - 1))))


def retry_after(value: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (number or date), at most an hour; None when it says nothing usable.

    >>> retry_after("120", 0.0)
    120.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(min(LONGEST_PAUSE, int(value[:9])))
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(LONGEST_PAUSE, max(0.0, moment - now))
