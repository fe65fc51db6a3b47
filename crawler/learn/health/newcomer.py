"""What may be said of a host that was never well: it has no past to differ from. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from .answers import ROBOTS, Answer, Came
from .findings import Change, Finding, commonest, place_of
from .judge import CHANCE
from .past import ACCESS

_ROBOTS_TRIES = 3
_NEARLY_ALL = 0.9
_SOME = 0.25
_PAGES = {Came.ARTICLE.value, Came.PAGE.value, Came.EMPTY.value}


class Newcomer:
    """The first answers of a host, and the last.

    Args:
        window: so many of the last answers are looked at, half as many are needed.
        streak: so many are enough when all alike keep pages from being had.

    Attributes:
        latest: what the last answers were, and why.
        robots_lost: how often in a row the robots.txt could not be had.
    """

    def __init__(self, window: int, streak: int) -> None:
        self._window = window
        self._half = window // 2
        self._streak = streak
        self._answers = 0
        self._good = 0
        self._articles = 0
        self._doubtful = 0
        self.latest: deque[tuple[str, str]] = deque(maxlen=window)
        self.robots_lost = 0
        self._example = ""

    def note(self, answer: Answer) -> None:
        """One more answer."""
        is_bad = place_of(answer.came) >= 0
        self._answers += 1
        self._good += not is_bad
        self._articles += answer.came == Came.ARTICLE
        if answer.came == Came.ARTICLE and answer.doubtful:
            self._doubtful += 1
            self._example = answer.url
        self.latest.append((answer.came.value, answer.why))
        self.robots_lost = self.robots_lost + (answer.found_in == ROBOTS) if is_bad else 0

    def shut(self) -> Finding | None:
        """Without its robots.txt nothing may be fetched of a host: then there will be no other answers to judge by."""
        n = self.robots_lost
        if n < _ROBOTS_TRIES:
            return None
        return _never("unreachable", "unreachable", n, n, why=self.latest[-1][1])

    def never_had(self) -> Finding | None:
        """A host that has hardly ever answered well."""
        n = len(self.latest)
        if n < self._streak or self._good > _SOME * self._answers:
            return None
        for place, name in enumerate(ACCESS):
            hits = [why for came, why in self.latest if place_of(Came(came)) == place]
            if len(hits) == n or (len(hits) >= _NEARLY_ALL * n and n >= self._half):
                return _never(name, name, n, len(hits), why=commonest(hits))
        return None

    def never_read(self) -> Finding | None:
        """A host whose pages have never shown any text, or none that can be read."""
        if self._half <= self._articles <= self._window and self._doubtful >= _NEARLY_ALL * self._articles:
            return _never("encoding", "doubtful", self._articles, self._doubtful, example=self._example)
        if self._articles or not self.latest or self.latest[-1][0] != Came.EMPTY:
            return None
        n = sum(came in _PAGES for came, _ in self.latest)
        hits = sum(came == Came.EMPTY for came, _ in self.latest)
        if n < self._half or hits < _NEARLY_ALL * n:
            return None
        return _never("empty", "empty", n, hits, why="no text")

    def counts(self) -> list[int]:
        """Answers, and of these good ones, articles and doubtful articles."""
        return [self._answers, self._good, self._articles, self._doubtful]

    def fill(self, counts: Sequence[Any], latest: Iterable[Sequence[Any]], robots_lost: Any) -> None:
        """Go on from what was kept.

        Raises:
            ValueError, TypeError: it is not what is kept.
        """
        # doubtful ones were not counted from the beginning
        self._answers, self._good, self._articles, self._doubtful = map(int, (*counts, 0)[:4])
        self.latest.extend((Came(came).value, str(why)) for came, why in latest)
        self.robots_lost = int(robots_lost)


def _never(kind: str, change: str, of: int, hits: int, *, why: str = "", example: str = "") -> Finding:
    return Finding(kind, (Change(change, 0.0, hits / of, CHANCE),), of, hits, why, example)
