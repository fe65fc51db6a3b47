"""Near-duplicates: has this story been stored already, perhaps from another site and in another dress?

A text is normalised (`normalize`), reduced to an exact hash and a few sampled shingles (`signature`), looked up among
the stored ones (the rule of `candidates`), and compared with the candidates found (`judge`). Each way of comparing is
one entry of `METHODS`, by name; a text is a duplicate when the best similarity reaches the threshold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..records import Signature
from .lcs import CALIBRATED, CONTAINS, DIFFERENT, Comparison, Verdict, VerifyParams, compare
from .normalize import normalize
from .shingles import ShingleParams, sample

THRESHOLD = CALIBRATED
"""Similarity from which a text is a duplicate, by default."""

DEFAULT_METHOD = "shingles+lcs"
EXACT = "exact"

SHINGLES = ShingleParams()
"""How the shingles of stored and new texts are sampled: the same for both, or nothing is found."""

OWN_WORDING = 0.95
"""Similarity below which a duplicate has enough wording of its own to be indexed too."""

FLOOR = 0.12
"""Shared shingles, as a share of what a part of the candidate's size would share, below which it is not compared."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored article that may be the same story.

    Attributes:
        article_id: its number.
        text: its text as stored (not normalised).
        shared: sampled shingles it shares with the new text; 0 when it was found by the exact hash.
        site: the site it came from.
    """

    article_id: int
    text: str
    shared: int = 0
    site: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """The evidence that a text is a duplicate.

    Attributes:
        article_id: the stored article.
        similarity: in [threshold, 1].
        method: "exact" (equal when normalised) or the name of the method that compared.
        kind: "same", "edited", "part-of" (the new text is a part of the stored one) or "contains" (the other way).
    """

    article_id: int
    similarity: float
    method: str
    kind: str


Method = Callable[[str], Callable[[str], Verdict]]
"""Takes the new text, normalised, and returns what compares it with a candidate's."""

METHODS: dict[str, Method] = {DEFAULT_METHOD: Comparison}
"""Ways of comparing a text with a candidate."""


def method(name: str) -> Method:
    """Look a method up.

    Raises: ValueError: no method has this name.
    """
    try:
        return METHODS[name]
    except KeyError:
        raise ValueError(f"unknown duplicate method {name!r}: use one of {', '.join(sorted(METHODS))}") from None


def signature(text: str, params: ShingleParams = SHINGLES) -> Signature:
    """Compute what is kept of a text for finding its duplicates.

    Args:    text: an article's text as extracted.
    Returns: the same in every process; empty (zero, no shingles) for a text without letters or digits.
    Cost:    O(length), 0.15 to 0.2 ms per 1,000 characters.
    """
    normalized = normalize(text)
    if not normalized:
        return Signature()
    digest = hashlib.blake2b(normalized.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    exact = int.from_bytes(digest, "big", signed=True)
    return Signature(exact=exact or 1, shingles=sample(normalized, params), length=len(normalized))


def judge(
    text: str, candidates: Sequence[Candidate], threshold: float = THRESHOLD, name: str = DEFAULT_METHOD
) -> Match | None:
    """Choose the candidate that the text is a duplicate of.

    Args:
        text: the new article's text as extracted.
        candidates: stored articles, most promising first; nothing but these is looked at.
        threshold: least similarity, in [0, 1].
        name: the method, a key of `METHODS`.
    Returns: the most similar candidate at or above the threshold (the first of equals), or None.
    Raises:  ValueError: unknown method, or threshold outside [0, 1].
    Cost:    one normalisation and one comparison per candidate, 0.25 ms at 1,000 characters; ends at an equal one.
    """
    best: Match | None = None
    for match in _matches(text, candidates, threshold, name):
        if best is None or match.similarity > best.similarity:
            best = match
        if best.similarity == 1.0:
            break
    return best


def matches(
    text: str, candidates: Sequence[Candidate], threshold: float = THRESHOLD, name: str = DEFAULT_METHOD
) -> list[Match]:
    """All candidates that the text is a duplicate of, in the given order; otherwise as `judge`."""
    return list(_matches(text, candidates, threshold, name))


def worth_indexing(match: Match | None) -> bool:
    """Should the shingles of this article be stored, given what it is a duplicate of?

    Originals, of course; and duplicates that bring wording of their own, because later copies may be made of them. A
    match with such a duplicate leads to the original through the stored evidence.
    """
    return match is None or match.kind == CONTAINS or match.similarity < OWN_WORDING


def _matches(text: str, candidates: Sequence[Candidate], threshold: float, name: str) -> Iterator[Match]:
    """The matches one by one, so that the caller can stop early."""
    prepare = method(name)
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"duplicate threshold {threshold!r} is not between 0 and 1")
    normalized = normalize(text)
    verify = prepare(normalized)
    for candidate in candidates:
        if not _promising(candidate, len(text)):
            continue
        other = normalize(candidate.text)
        verdict = verify(other)
        if verdict.kind != DIFFERENT and verdict.similarity >= threshold:
            used = EXACT if other == normalized else name
            yield Match(candidate.article_id, verdict.similarity, used, verdict.kind)


def _promising(candidate: Candidate, length: int) -> bool:
    """Could a common text of this length share so few shingles? A part shares samples in proportion to its size."""
    if not candidate.shared:
        return True
    short, long = sorted((length, len(candidate.text)))
    return candidate.shared >= FLOOR * min(SHINGLES.most * short / max(1, long), short)


__all__ = [
    "DEFAULT_METHOD",
    "EXACT",
    "METHODS",
    "SHINGLES",
    "THRESHOLD",
    "Candidate",
    "Match",
    "Method",
    "ShingleParams",
    "Signature",
    "Verdict",
    "VerifyParams",
    "compare",
    "judge",
    "matches",
    "method",
    "normalize",
    "signature",
    "worth_indexing",
]
