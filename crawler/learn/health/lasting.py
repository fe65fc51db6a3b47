"""An alarm that lasts, and when it is over: answers no longer show what is wrong, or that has become normal. Pure."""

from __future__ import annotations

import math

from .findings import AccessItem, ContentItem, Finding, may_be_normal, shows, usual_share
from .statistics import binomial

_CHANCE_OF_END = 1e-6
_NORMAL_AFTER = 20
"""Windows after which a change that leaves articles readable counts as normal."""


class Lasting:
    """One alarm.

    Args:
        finding: what is wrong.
        window: answers in a full window.
        fewest: that it takes to be over.
        recent: which of the newest answers still show what is wrong, as `packed` has it.
        age: answers since it began.
    """

    __slots__ = ("_age", "_needs", "_normal_at", "_recent", "finding")

    def __init__(self, finding: Finding, window: int, fewest: int, recent: str = "", age: int = 0) -> None:
        self.finding = finding
        self._needs = _needs(finding, window, fewest)
        self._normal_at = _NORMAL_AFTER * window if may_be_normal(finding) else math.inf
        self._recent = recent
        self._age = age

    def hears(self, access: AccessItem, content: ContentItem | None) -> bool:
        """Take one more answer in; returns whether it says anything of what is wrong."""
        hit = shows(self.finding, access, content)
        if hit is None:
            return False
        self._age += 1
        self._recent = (self._recent + ("x" if hit else "."))[-self._needs :]
        return True

    @property
    def is_normal(self) -> bool:
        """Whether it has lasted so long that it is the normal state now."""
        return self._age >= self._normal_at

    @property
    def is_over(self) -> bool:
        """Whether all is well again."""
        few = usual_share(self.finding) * self._needs
        return len(self._recent) >= self._needs and self._recent.count("x") <= few

    def packed(self) -> tuple[str, int]:
        """The last two arguments that make it go on as it is."""
        return self._recent, self._age


def _needs(finding: Finding, window: int, fewest: int) -> int:
    """How many answers tell that an alarm is over: with fewer hits the more, so that it does not flicker."""
    share = finding.hits / max(1, finding.of)
    for n in range(fewest, 2 * window):
        if binomial(n, math.floor(usual_share(finding) * n), share) <= _CHANCE_OF_END:
            return n
    return 2 * window
