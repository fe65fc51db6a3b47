"""Robots rules of a host, and the pauses between requests and after errors. Pure.

By RFC 9309, no rules (4xx) allow everything, an unreachable robots.txt forbids everything until it answers.
"""

from __future__ import annotations

import math
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from db.records.reasons import Reason, SkipReason
from pipelines.item import Page

from ..fetch.errors import BODY_CUT
from .robots import parse

MOST_ROBOTS_BYTES = 1 << 20
LONGEST_PAUSE = 3_600.0
"""Bound of every pause that a server asks for or a wrong clock makes (a date may be years ahead): asking once an hour
hurts nobody, and a host that goes on like that is given up."""
# Chosen by hand.
_FIRST_PAUSE = 2.0
_PATIENT_SECONDS = 8.0
_SHARE = 0.3
_GROWTH = 4.0
_QUICK_SECONDS = 1.0
_RAW = {0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)}


class RobotsRules:
    """The robots rules of one host for one user agent; no text allows everything.

    `reason` tells why everything is forbidden; so does a crawl-delay beyond `most_delay` seconds.
    """

    def __init__(self, text: str, agent: str, reason: Reason | None = None, *, most_delay: float = math.inf) -> None:
        self._parsed = parse(text, agent) if text and not reason else None
        is_slow = self._parsed is not None and self._parsed.delay > most_delay
        self.reason = reason or (SkipReason.CRAWL_DELAY if is_slow else None)

    def disallow_reason(self, url: str) -> Reason | None:
        if self.reason is not None:
            return self.reason
        return None if self._parsed is None or self._parsed.allows(url) else SkipReason.ROBOTS

    @property
    def delay_seconds(self) -> float:
        return max(self._parsed.delay, self._parsed.rate) if self._parsed else 0.0

    @property
    def chars(self) -> int:
        return self._parsed.chars if self._parsed else 0

    @property
    def sitemaps(self) -> list[str]:
        return list(self._parsed.sitemaps) if self._parsed else []


def is_cut_off(page: Page) -> bool:
    """Tell whether the connection was lost in the body, before any bound was reached."""
    return page.truncated and page.status == 200 and BODY_CUT not in page.bounds


def whole_lines(beginning: bytes) -> bytes:
    r"""Return the whole lines of a text that was cut: half a rule is another rule.

    >>> whole_lines(b"Disallow: /a\nDisallow: /b")
    b'Disallow: /a\n'
    """
    return beginning[: max(beginning.rfind(b"\n"), beginning.rfind(b"\r")) + 1]


def decode_robots(body: bytes, most_bytes: int = MOST_ROBOTS_BYTES) -> str:
    """Decode a robots.txt; of one longer than `most_bytes`, the whole lines.

    Source: RFC 9309, section 2.5.
    """
    if len(body) > most_bytes:
        body = whole_lines(body[:most_bytes])
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        text = body.decode("utf-16", "replace").encode("utf-8", "replace").decode()
    else:
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError:  # what is no UTF-8 is of the site's own character set, escaped in its addresses
            text = body.decode("utf-8-sig", "surrogateescape").translate(_RAW)
    return text.replace("\0", "")


# ---------------------------------------------------------------- between requests that go well


@dataclass(frozen=True, slots=True)
class Speed:
    smoothed: float = 0.0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class DelayPolicy:
    """Seconds between requests to one host: the slower it is, the longer.

    Attributes:
        delay: at least (`HOST_DELAY`).
        most_crawl_delay: a robots crawl-delay counts up to this (`CRAWL_DELAY_CAP`); beyond it nothing is fetched.
        factor: this many times as long as the host takes to answer (`HOST_DELAY_FACTOR`); 0 for no such pause.
        most: such a pause is at most this long.
    """

    delay: float
    most_crawl_delay: float
    factor: float = 0.0
    most: float = 30.0

    def observe(self, speed: Speed, seconds: float) -> Speed:
        """Note an answer's time; of two in a row the faster counts."""
        counted = min(seconds, speed.last)
        return Speed(speed.smoothed + _SHARE * (counted - speed.smoothed), seconds)

    def between(self, rules: RobotsRules | None, speed: Speed = Speed()) -> float:
        """Return the pause after a good request.

        With a delay of 0, a host that answers within a second is not waited for at all.
        """
        asked = min(rules.delay_seconds, self.most_crawl_delay) if rules else 0.0
        quick = not self.delay and speed.smoothed < _QUICK_SECONDS
        adapted = 0.0 if quick else min(self.most, self.factor * speed.smoothed)
        return max(self.delay, asked, adapted)


# ---------------------------------------------------------------- after trouble


@dataclass(frozen=True, slots=True)
class BackoffPolicy:
    """Pauses after failures, then backoffs that grow, then death (`HOST_BACKOFF`).

    Attributes:
        failures: after so many failed requests in a row it is put in backoff.
        rest: seconds of the first backoff; each further one is four times as long, up to an hour.
        rests: after so many backoffs in a row, each ended by a failure, it is dead.
        alone: when hosts in backoff are all that is left, they are waited for until this many seconds after the last
            good answer of any host.
    """

    failures: int
    rest: float
    rests: int
    alone: float

    def pause(self, failures: int) -> float:
        return 0.0 if failures < 2 else min(_PATIENT_SECONDS, 2.0 ** (failures - 1))

    def backoff(self, number: int, took: float = 0.0) -> float:
        """Return the seconds of the n-th backoff in a row (from 1).

        A host that hangs is left alone for twice as long as the failed request `took`.
        """
        grown = self.rest * _GROWTH ** min(10, number - 1)
        return min(LONGEST_PAUSE, max(grown, 2.0 * took))

    def is_dead(self, number: int) -> bool:
        return number > self.rests


def retry_pause(tries: int) -> float:
    """Return the seconds after the n-th failed try of a URL: 2, 8, 32 ... 3600."""
    return float(min(LONGEST_PAUSE, _FIRST_PAUSE * _GROWTH ** min(10, max(0, tries - 1))))


def retry_after(value: str, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for, at most an hour.

    It is a number or a date; None when it says nothing usable.

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
