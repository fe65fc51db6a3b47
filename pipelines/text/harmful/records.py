"""Records of harmful pages: the verdict, its kind, the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HarmKind(StrEnum):
    GAMBLING = "gambling"
    PORN = "porn"
    FRAUD = "fraud"
    ABUSE = "abuse"
    ADVERT = "advert"
    HIJACKED = "hijacked"
    """An honest text under a title, or among links, that somebody else put there."""


class HarmPart(StrEnum):
    TEXT = "text"
    TITLE = "title"
    LINKS = "links"


@dataclass(frozen=True, slots=True)
class HarmReason:
    """A part of a page that is harmful, and a few words of it, the most telling first."""

    part: HarmPart
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HarmVerdict:
    """Verdict on a page: score in [0, 1] (harmful from .5), kind, weightiest reasons."""

    score: float
    kind: HarmKind | None = None
    reasons: tuple[HarmReason, ...] = ()

    @property
    def is_harmful(self) -> bool:
        return self.kind is not None


CLEAN = HarmVerdict(0.0)
