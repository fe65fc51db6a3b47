"""Articles: new ones, candidates they may repeat, and what was made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum, StrEnum
from typing import NamedTuple

from .reasons import ArticleResult
from .search import JOINED_BY as JOINED_BY  # noqa: PLC0414 - for others
from .search import IndexTerms

GUESS = "guess"
"""Precision of a publish time whose year the page leaves out."""


class TextFrom(StrEnum):
    HTML = "html"
    DATA = "data"
    """Data that the page carries for its scripts, or names the URL of."""
    BROWSER = "browser"
    """The page after its scripts ran."""
    SELECTOR = "selector"
    """The elements of the page's own that a selector of its seed has chosen."""


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article as it came from its page; names as in the table.

    Attributes:
        text_hash, features, length: the text's signature, see `pipelines.records.Signature`.
        images: (URL, caption) pairs, the lead image first.
        canonical_id: the URL on the same host that the page calls its canonical one, if that is another.
        seen: ISO time of the fetch.
        memberships: (class, membership), the best first.
        harm_detail: kind and words of a harmful article, for its URL's `reason_detail`.
        index_terms: for the full-text index; None when they are yet to be made.
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
    description: str
    tags: str
    section: str
    quality: float
    extractor: str
    text_hash: int
    features: bytes
    length: int
    images: Sequence[tuple[str, str]]
    canonical_id: int | None
    seen: str
    relevance: float | None = None
    extractor_version: str = ""
    kind: str = "article"
    keywords: str = ""
    summary: str = ""
    classes: str = ""
    harm: float | None = None
    harm_kind: str = ""
    memberships: Sequence[tuple[str, float]] = ()
    harm_detail: str = ""
    described_with: str = ""
    index_terms: IndexTerms | None = None
    text_from: str = TextFrom.HTML
    related: str = ""
    kind_probability: float | None = None


@dataclass(slots=True)
class ArticleItem:
    """Stored article for item pipelines and exporters; names as in `v_articles`.

    It is a copy: changing it changes nothing in the database. docs/datasette.yaml quotes these lines.

    Attributes:
        id: identifier in the database, as text.
        url, site: URL, and the registrable domain or the like that it belongs to.
        title, text, html: headline; text with a line per paragraph; the same as clean HTML.
        authors, tags: names, in the page's order; the database has them, and the next two lists, joined by "、".
        keywords, classes, summary: computed, the best first.
        harm, harm_kind: 0 to 1, None when it was not judged; why it is harmful, empty when it is not.
        text_from: where the text came from: "html", the page's own; "data", what it carries for its scripts; "browser";
            "selector", elements that its seed names.
        related: `url` and `title` of the stories that its page calls related; in the database one a line.
        source: the publisher that the page credits.
        published_at: ISO 8601, as precise as the page: a day, or a minute or second, with zone if known; else None.
        published_utc: the same in UTC, to sort and compare by.
        published_precision: "second", "minute" or "day"; "guess" when the page leaves the year out: it may be another.
        published_from: where the page states the time.
        language: ISO 639-1 code, for Chinese "zh-Hans" or "zh-Hant".
        kind: what its page is: article, or another one of `STORE_KINDS`.
        kind_probability: 0 to 1: that its page is of this kind; None when an earlier version read it.
        number: counts up in the order in which articles were stored.
        description, section: the page's own description; its channel or section.
        images: `url` and `caption` of each, the lead image first.
        duplicate_of: URL of the article that stands for its cluster, None for that one itself.
        similarity, duplicate_method, duplicate_kind, similar_to: evidence, and the URL it speaks of.
        quality, relevance: 0 to 1: confidence of the extraction; nearness to the crawl's topic, None without one.
        extractor, extractor_version: name of the method that found the text; version of all that read the page.
        text_chars: length of the text that its page has.
        first_seen, updated, fetched_at: ISO times: found first, changed last, fetched last.
        gone: time at which its page was found to be gone, None as long as it is there.
    """

    id: str
    url: str
    title: str
    authors: list[str]
    source: str
    published_at: str | None
    published_utc: str | None
    language: str
    text: str
    site: str
    first_seen: str
    fetched_at: str
    duplicate_of: str | None
    similarity: float | None
    duplicate_method: str | None
    duplicate_kind: str | None
    similar_to: str | None
    published_precision: str | None
    published_from: str | None
    description: str
    tags: list[str]
    section: str
    quality: float
    extractor: str
    extractor_version: str
    text_chars: int
    updated: str
    relevance: float | None
    gone: str | None
    kind: str
    number: int
    keywords: list[str]
    summary: str
    classes: list[str]
    harm: float | None
    harm_kind: str
    text_from: str
    related: list[dict[str, str]]
    kind_probability: float | None
    html: str = ""
    images: list[dict[str, str]] = field(default_factory=list)


BESIDE_THE_VIEW = ("html", "images")
COLUMNS = tuple(item.name for item in fields(ArticleItem) if item.name not in BESIDE_THE_VIEW)
LISTS = ("authors", "tags", "keywords", "classes")
"""Lists, in the database joined by `JOINED_BY`."""


def split_names(joined: str) -> list[str]:
    """Split a list as the database joins it.

    >>> split_names("张三、李四"), split_names("")
    (['张三', '李四'], [])
    """
    return joined.split(JOINED_BY) if joined else []


def join_stories(stories: Iterable[tuple[str, str]]) -> str:
    r"""Join (URL, title) pairs: one a line, a blank behind the URL.

    >>> join_stories([("https://h.example/1", "Ferry fares rise"), ("https://h.example/2", "")])
    'https://h.example/1 Ferry fares rise\nhttps://h.example/2 '
    """
    return "\n".join(f"{url} {' '.join(title.split())}" for url, title in stories)


def split_stories(joined: str) -> list[dict[str, str]]:
    """Split what `join_stories` has joined.

    >>> split_stories("https://h.example/1 Ferry fares rise")
    [{'url': 'https://h.example/1', 'title': 'Ferry fares rise'}]
    """
    pairs = (line.partition(" ") for line in joined.split("\n") if line)
    return [{"url": url, "title": title} for url, _, title in pairs]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored article that a new one may repeat.

    Attributes:
        representative: the article that stands for its cluster.
        points_to: the URL its own page called canonical, if that was another.
        seen: ISO time at which its text came.
        text_holder: the article that keeps the text, itself or the one that it is a copy of.
        doubtful: the article that it repeats, if their similarity is below `SURE`: they may share only a frame.
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
    doubtful: int | None = None


class Keep(StrEnum):
    """Amount that is stored of a duplicate."""

    NOTHING = "nothing"
    """Only the evidence, and the state of its URL."""
    METADATA = "metadata"
    """The article, without its text if another one has that word for word."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class MatchDecision:
    """Relation of a new article to a candidate, and the evidence.

    Attributes:
        repeats: it is a duplicate; if not, the evidence is kept and the article is new.
        same_page: it is the same article of the same site under another URL, not a reprint.
        own_wording: it differs enough for later copies of it to be looked up by its own signature.
        also: decisions about candidates of other clusters that it repeats as a whole: these clusters are one.
        freed: candidates that, as the article shows, share only a frame with their `doubtful` one.
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
    freed: Sequence[Candidate] = ()


Judge = Callable[[NewArticle, Sequence[Candidate]], MatchDecision | None]


Text = tuple[str, str]
"""Title and text."""


Differs = Callable[[Text, Text], bool]


def always(_old: Text, _new: Text) -> bool:
    return True


class Renewal(Enum):
    OF_PAGES = "the page was fetched again"
    """A text that says nothing new stays, and so does what the page no longer says."""
    OF_TEXTS = "the same page was extracted again"
    """Everything is as it is extracted now; an earlier text is kept if it said something else."""


class Added(NamedTuple):
    """Result of `db.articles.apply.add`.

    `same_as` is the article that a duplicate repeats, or is another URL of; for one that has moved here, its former
    URL. `changed`: the text says something else. `freed`: copies that stand for themselves now.
    """

    what: ArticleResult
    same_as: int | None = None
    changed: bool = False
    freed: Sequence[int] = ()
