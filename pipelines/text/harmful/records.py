"""Records of harmful pages: the verdict, its kind, the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HarmKind(StrEnum):
    """Kinds of harmful pages."""

    GAMBLING = "gambling"
    PORN = "porn"
    FRAUD = "fraud"
    ABUSE = "abuse"
    ADVERT = "advert"
    HIJACKED = "hijacked"
    """An honest text under a title, or among links, that somebody else put there."""


class HarmPart(StrEnum):
    """Parts of a page that can be harmful."""

    TEXT = "text"
    TITLE = "title"
    LINKS = "links"


@dataclass(frozen=True, slots=True)
class HarmReason:
    """One reason of a verdict.

    Attributes:
        part: of the page that is harmful.
        words: pieces of it that tell most, the most telling first; a few short ones.
    """

    part: HarmPart
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HarmVerdict:
    """Verdict on a page.

    Attributes:
        score: in [0, 1], higher is worse; from .5 on the page is harmful.
        kind: of a harmful page; None for others.
        reasons: of a harmful page, the weightiest first; none for others.
    """

    score: float
    kind: HarmKind | None = None
    reasons: tuple[HarmReason, ...] = ()

    @property
    def is_harmful(self) -> bool:
        """True if the page is harmful."""
        return self.kind is not None


CLEAN = HarmVerdict(0.0)
"""Verdict on a page without a text."""
