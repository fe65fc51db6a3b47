"""The table of an experiment, and figures that several print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from rapidfuzz.distance import LCSseq

from ..decode.text import squeeze

_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})


class Row(NamedTuple):
    """Figures of a method by name, ours and those of the paper."""

    name: str
    ours: Mapping[str, float]
    paper: Mapping[str, float] = _NOTHING


@dataclass(frozen=True, slots=True)
class Replication:
    """Results beside those of a paper; `notes` say what differs from it."""

    source: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of all figures, in the order in which they come."""
        return tuple(dict.fromkeys(name for row in self.rows for name in (*row.ours, *row.paper)))


def f_score(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def prf(right: float, extracted: float, wanted: float) -> dict[str, float]:
    """Return P, R and F of counts.

    >>> prf(6, 8, 12)
    {'P': 0.75, 'R': 0.5, 'F': 0.6}
    """
    precision = right / extracted if extracted else 0.0
    recall = right / wanted if wanted else 0.0
    return {"P": precision, "R": recall, "F": f_score(precision, recall)}


def text_scores(pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Return P, R and F of texts against known ones: means over the pages.

    A page has precision LCS / extracted characters and recall LCS / known characters, letters and digits alone; LCS is
    the longest common subsequence. A text that both lack counts 1, one that one of them lacks 0.

    Source: the measure of S10 and S11.

    >>> text_scores([("一二三四五六", "二三四五七八九十")])["P"]
    0.6666666666666666
    """
    scores = []
    for extracted, known in pairs:
        one, other = squeeze(extracted), squeeze(known)
        if not one and not other:
            scores.append(prf(1, 1, 1))
        else:
            scores.append(prf(LCSseq.similarity(one, other), len(one), len(other)))
    return {name: sum(page[name] for page in scores) / len(scores) for name in ("P", "R", "F")} if scores else {}
