"""What may be wrong with a host, as records, and whether a single answer shows it. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from .answers import Came
from .past import ACCESS, FLAGS

OF_CONTENT = ("layout", "empty", "encoding")
"""Kinds of alarms about pages that were had."""
GAIN = {"blocks": 0.2, "login": 0.3, "unreachable": 0.25, "gone": 0.4, "articles": 0.4, "empty": 0.4} | dict.fromkeys(
    FLAGS, 0.5
)
"""By how much a rate must have grown to matter."""
SHIFT = {"chars": math.log(1.7), "confidence": 0.1, "seconds": math.log(3.0)}
"""By how much a number must have moved (logarithms of characters and seconds)."""
_PLACES = {Came.BLOCKED: 0, Came.CAPTCHA: 0, Came.LOGIN: 1, Came.FAILED: 2, Came.GONE: 3}
_MAY_BE_NORMAL = ("layout", "encoding", "slow")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs from the past.

    Attributes:
        what: one of `ACCESS`, `FLAGS`, "articles" (pages that are none), "empty", or one of `METRICS`.
        before, now: share of the answers, or the typical value.
        chance: the probability of this or more if nothing had changed.
    """

    what: str
    before: float
    now: float
    chance: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a host.

    Attributes:
        kind: one of `ACCESS`, "layout", "empty", "encoding" or "slow".
        changes: what differs, the strongest first.
        of: how many answers were looked at.
        hits: how many of them show the first change, where that is a rate.
        why: what most of those said: a status, a reason.
        example: the address of the newest of them.
        shapes: of their addresses; empty when all addresses count.
    """

    kind: str
    changes: tuple[Change, ...]
    of: int
    hits: int = 0
    why: str = ""
    example: str = ""
    shapes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An alarm begins, or ends."""

    raised: bool
    finding: Finding
    accepted: bool = False
    """It ends because what was a change has lasted so long that it is the normal state now."""


class AccessItem(NamedTuple):
    """An answer as the window of answers keeps it."""

    kind: str
    place: int
    """In `ACCESS`; -1 for an answer that is well."""
    seconds: float
    """Logarithm."""
    why: str
    url: str


class ContentItem(NamedTuple):
    """A page as the window of pages keeps it."""

    kind: str
    came: str
    flags: int
    chars: float
    """Logarithm."""
    confidence: float
    why: str
    url: str


def place_of(came: Came) -> int:
    """Which of `ACCESS` kept a page from being had; -1 for none."""
    return _PLACES.get(came, -1)


def commonest(texts: Iterable[str]) -> str:
    """What comes most often, of several the first; empty for nothing."""
    counts = Counter(texts)
    return max(counts, key=lambda text: counts[text]) if counts else ""


def usual_share(finding: Finding) -> float:
    """What share of answers may show a change when all is well again."""
    main = finding.changes[0]
    share = finding.hits / max(1, finding.of)
    return main.before + (share - main.before) / 4 if main.what in GAIN else share / 2


def may_be_normal(finding: Finding) -> bool:
    """Whether it leaves articles readable, so that it may become the normal state."""
    return finding.kind in _MAY_BE_NORMAL and finding.changes[0].what != "articles"


def shows_change(change: Change, item: AccessItem | ContentItem) -> bool:
    """Whether an answer shows a change; where that is a number, whether it has gone half the way or more."""
    what = change.what
    if isinstance(item, AccessItem):
        if what in ACCESS:
            return item.place == ACCESS.index(what)
        return what == "seconds" and item.place < 0 and _went(change, item.seconds)
    if what in FLAGS:
        return bool(item.flags >> FLAGS.index(what) & 1)
    if what == "articles":
        return item.came != Came.ARTICLE
    if what == "empty":
        return item.came == Came.EMPTY
    return item.came == Came.ARTICLE and _went(change, item.chars if what == "chars" else item.confidence)


def _went(change: Change, value: float) -> bool:
    before, now = change.before, change.now
    if change.what != "confidence":
        before, now = math.log(before), math.log(now)
    return (value - before) / (now - before) >= 0.5


def shows(finding: Finding, access: AccessItem, content: ContentItem | None) -> bool | None:
    """Whether an answer still shows what is wrong; None when it is not of that kind."""
    main = finding.changes[0]
    item = content if finding.kind in OF_CONTENT else access
    if item is None or (finding.shapes and item.kind not in finding.shapes):
        return None
    if isinstance(item, ContentItem) and item.came != Came.ARTICLE and main.what not in {"articles", "empty"}:
        return None
    if main.what == "seconds" and access.place >= 0:
        return None
    return shows_change(main, item)
