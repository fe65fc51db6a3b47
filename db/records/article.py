"""Articles: new ones, candidates they may repeat, and what was made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .reasons import ArticleResult


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article as it came from its page; names as in the table.

    Attributes:
        text_hash, features, length: the text's signature, see `pipelines.records.Signature`.
        images: (URL, caption) pairs, the lead image first.
        canonical_id: the URL on the same host that the page calls its canonical one, if that is another.
        seen: ISO time of the fetch.
        relevance: how near it is to what the crawl looks for, if it looks for something.
    """

    id: int
    site_id: int
    title: str
    authors: str
    source: str
    published_at: str | None
    published_utc: str | None
    published_precision: str | None
    published_from: str | None
    language: str
    text: str
    html: str
    summary: str
    keywords: str
    classes: str
    quality: float
    extractor: str
    text_hash: int
    features: bytes
    length: int
    images: Sequence[tuple[str, str]]
    canonical_id: int | None
    seen: str
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored article that a new one may repeat.

    Attributes:
        id, site_id, title, published_at, text_hash, text: as stored.
        representative: the article that stands for its cluster.
        points_to: the URL its own page called canonical, if that was another.
        seen: ISO time at which its text came.
        text_holder: the article that keeps the text, itself or the one that it is a copy of.
    """

    id: int
    site_id: int
    title: str
    published_at: str | None
    text_hash: int
    text: str
    representative: int
    points_to: int | None
    seen: str
    text_holder: int


class Keep(StrEnum):
    """Parts of a duplicate that are stored."""

    NOTHING = "nothing"
    """Only the evidence, and the state of its URL."""
    METADATA = "metadata"
    """The article without its text if another has that word for word."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class MatchDecision:
    """Relation of a new article to a candidate, and the evidence for it.

    Attributes:
        candidate, similarity, method, kind: the evidence.
        repeats: whether the article is a duplicate; if not, the evidence is kept and the article is new.
        same_page: it is the same article of the same site at another address, not a reprint.
        own_wording: it differs enough for later copies of it to be looked up by its own signature.
        keep: what is stored of a duplicate.
        also: candidates of other clusters that it repeats as a whole: these clusters are one.
    """

    candidate: Candidate
    similarity: float
    method: str
    kind: str
    repeats: bool
    same_page: bool
    own_wording: bool
    keep: Keep = Keep.METADATA
    also: Sequence[MatchDecision] = ()


Judge = Callable[[NewArticle, Sequence[Candidate]], MatchDecision | None]


Text = tuple[str, str]
"""Title and text."""


Differs = Callable[[Text, Text], bool]


def always(_old: Text, _new: Text) -> bool:
    """Every other text is another version."""
    return True


class Added(NamedTuple):
    """Result of `db.articles.write.add`.

    `same_as` is the article that a duplicate repeats, or that it is another URL of.

    An updated article may have another text (`changed`) or only say something else about it.
    """

    what: ArticleResult
    same_as: int | None = None
    changed: bool = False
