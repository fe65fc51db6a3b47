"""Records that travel through the pipelines: frozen, picklable, free of behaviour.

Links are columns rather than one object each: a page has about sixty, most of them in the frontier already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from db.records.article import TextFrom
from db.records.reasons import PageReason, SkipReason
from db.records.search import JOINED_BY, IndexTerms

R = TypeVar("R")

_MOST_DETAIL: Final = 200


def by_position(record: type[R]) -> type[R]:
    """Pickle a record as its values in order: a third less time than field by field."""
    values = attrgetter(*record.__dataclass_fields__)  # type: ignore[attr-defined]
    record.__reduce__ = lambda self: (record, values(self))  # type: ignore[method-assign]
    return record


class BlockKind(IntEnum):
    """Place of a link on its page, or another source of the URL."""

    BODY = 0
    LIST = 1
    """In the main list of a channel, home or search page."""
    RELATED = 2
    """Related stories, rankings, recommendations beside or under an article."""
    NAVIGATION = 3
    PAGINATION = 4
    FOOTER = 5
    OTHER = 6
    """Anything else: adverts, widgets, tags, comments."""
    FEED = 7
    SITEMAP = 8
    REDIRECT = 9
    CANONICAL = 10
    SEED = 11
    PART = 12
    """The next or previous part of an article that is spread over several pages."""
    PROBE = 13
    """Invented, to learn how a host answers for a page that does not exist."""


class PageKind(IntEnum):
    ARTICLE = 0
    LIST = 1
    """A home, section, search or archive page: a source of links."""
    OTHER = 2
    """None of the rest, or no text: an empty shell, a binary called HTML."""
    THREAD = 3
    FORM = 4
    PRODUCT = 5
    COMPANY = 6
    """Services, a company, the site itself."""
    NOTICE = 7
    """An error or a notice of the site."""
    MEDIA = 8
    """A video, recording or picture without a text."""

    @property
    def word(self) -> str:
        """Return its name in settings and tables."""
        return self.name.lower()


STORED_KINDS = frozenset({PageKind.ARTICLE})
REASON_OF_KIND = {
    PageKind.ARTICLE: PageReason.ARTICLE,
    PageKind.LIST: PageReason.LIST,
    PageKind.OTHER: PageReason.TOO_LITTLE_PROSE,
    PageKind.THREAD: PageReason.THREAD,
    PageKind.FORM: PageReason.FORM,
    PageKind.PRODUCT: PageReason.PRODUCT,
    PageKind.COMPANY: PageReason.COMPANY,
    PageKind.NOTICE: PageReason.NOTICE,
    PageKind.MEDIA: PageReason.MEDIA,
}
"""Reason for not storing a page of an unwanted kind, unless there is a better one."""


@by_position
@dataclass(frozen=True, slots=True)
class Links:
    """Links of one page as parallel columns, in document order, each URL once.

    The columns from `ids` on are those of the frontier; `pipelines.links.scope.resolve` fills them in.

    Attributes:
        anchors: visible link text, white space collapsed, at most 200 characters.
        nofollow: one byte per link, 1 when `rel` or the page's robots meta says nofollow.
        dates, changed: Unix times at which sitemaps or feeds say that targets appeared and last changed, 0.0 when they
            do not; `changed` is empty for pages.
        too_long: number of URLs left out because no server needs such long ones.
        host_of: index into the host columns.
        reasons, details: why a link is not followed, None for one that is; no column of details when none needs any.
        host_ids, hosts, site_ids, sites: the distinct hosts.
        forms: the normal form of each URL under the rules of the page's host, None for links to other hosts; empty when
            the host has no rules.
        folders: number of the folder pattern of each (`pipelines.url_rules.forms`), 0 for links to other hosts; empty
            when traps are not looked for.
    """

    urls: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    blocks: bytes = b""
    nofollow: bytes = b""
    dates: tuple[float, ...] = ()
    too_long: int = 0
    changed: tuple[float, ...] = ()
    ids: tuple[int, ...] = ()
    host_of: tuple[int, ...] = ()
    reasons: tuple[SkipReason | None, ...] = ()
    details: tuple[str, ...] = ()
    host_ids: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    site_ids: tuple[int, ...] = ()
    sites: tuple[str, ...] = ()
    forms: tuple[int | None, ...] = ()
    folders: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.urls)


class Target(NamedTuple):
    """A single URL for the frontier; a `reason` tells why it is not fetched.

    It is fetched as `kind` (`db.records.url.Kind`); for the id see `pipelines.links.scope.url_id`.
    """

    url: str
    kind: str
    id: int
    host_id: int
    host: str
    site_id: int
    site: str
    reason: SkipReason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    url: str
    caption: str = ""
    lead: bool = False


@by_position
@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of an article as its page states it; absent values are empty.

    Attributes:
        title: the headline, without the site's name.
        authors: names of people, in the page's order.
        source: the publisher the page credits (来源).
        published_at: ISO 8601, as precise as the page is: with zone (`2024-03-12T08:30+08:00`) if that is known, a
            plain date when there is no time.
        published_utc: the same in UTC (`2024-03-12 00:30:00`), to sort and compare by; of a date the site's midnight.
        published_precision: "second", "minute", "day", "guess" (the page leaves the year out: the latest that fits was
            taken) or empty.
        published_from: "json-ld", "meta", "visible", "script", "url", "selector" or empty.
        language: ISO 639-1 code, for Chinese "zh-Hans" or "zh-Hant".
        summary, keywords: the page's own.
        section: channel or column.
        images: lead image first.
        canonical: URL from `rel=canonical` (or og:url when there is none).
        next_page, previous_page: canonical URLs of the article's other parts.
        page_number: 1 for the first part of a divided article; 0 when nothing says that it is one.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    source: str = ""
    published_at: str = ""
    published_utc: str = ""
    published_precision: str = ""
    published_from: str = ""
    language: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    section: str = ""
    images: tuple[Image, ...] = ()
    canonical: str = ""
    next_page: str = ""
    previous_page: str = ""
    page_number: int = 0


@by_position
@dataclass(frozen=True, slots=True)
class Extraction:
    """Result of an extractor for one document.

    Attributes:
        text: paragraphs separated by a line feed, cells of a table row by a tab; empty when there is no article.
        html: the same content as clean HTML (p, h2..h6, ul/ol/li, table, blockquote, pre, br, figure; the only
            attributes are `a href` and `img src alt`, with absolute http(s) URLs).
        confidence: in [0, 1].
        calibrated: the confidence is the expected F1 of the text, and so says whether there is one.
        reason: why `text` is empty, None when it is not.
        evidence: names of methods or features that decided, separated by commas.
        blocks: numbers of the document's blocks that were kept, ascending.
        topic_links: numbers of the blocks of links to related pages; None for a method that does not look for them.
        scores: per block of the document, larger for what is more like content; empty when the method weighs none.
            None of `blocks`, `scores` and `topic_links` leaves the worker process.
    """

    text: str = ""
    html: str = ""
    confidence: float = 0.0
    reason: PageReason | None = None
    evidence: str = ""
    blocks: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    calibrated: bool = False
    topic_links: tuple[int, ...] | None = None


@by_position
@dataclass(frozen=True, slots=True)
class Description:
    """Description of an article; fields that nobody asked for are empty.

    Attributes:
        keywords, classes: the best first.
        memberships: (class, degree in [0, 1]) of these.
        harm: in [0, 1], higher is worse; None when it was not judged.
        harm_kind: a word of `HarmKind` if it is harmful.
        described_with: version of the code and models that made it.
    """

    keywords: tuple[str, ...] = ()
    summary: str = ""
    classes: tuple[str, ...] = ()
    memberships: tuple[tuple[str, float], ...] = ()
    harm: float | None = None
    harm_kind: str = ""
    harm_reasons: str = ""
    described_with: str = ""

    @property
    def harm_detail(self) -> str:
        """Kind and reasons of a harmful article, cut; empty where no reasons are given."""
        return f"{self.harm_kind} ({self.harm_reasons})"[:_MOST_DETAIL] if self.harm_reasons else ""

    def values(self) -> dict[str, Any]:
        """Return the fields of `NewArticle` that it fills."""
        return {
            "keywords": JOINED_BY.join(self.keywords),
            "summary": self.summary,
            "classes": JOINED_BY.join(self.classes),
            "memberships": self.memberships,
            "harm": self.harm,
            "harm_kind": self.harm_kind,
            "harm_detail": self.harm_detail,
            "described_with": self.described_with,
        }


@dataclass(frozen=True, slots=True)
class Signature:
    """Signature of a text, by which near-duplicates are found.

    Attributes:
        exact: signed 64-bit hash of the normalised text; 0 for an empty text.
        features: 32-bit hashes of sampled shingles, little-endian, ascending, no repeats.
        length: characters of the normalised text.
    """

    exact: int = 0
    features: bytes = b""
    length: int = 0


@by_position
@dataclass(frozen=True, slots=True)
class PageSample:
    """Sample of an article page, from which the model of its site is learned.

    Attributes:
        article: signed 64-bit hash of headline and text: an article seen under two URLs counts once.
        texts: keys (signed 64-bit), see `site_memory.template.text_keys`.
        tree: the page's simple tree, one unsigned 32-bit hash for each child.
        path: from the page's body to the article's, one unsigned 32-bit hash a step; empty when unknown.
        stories: keys (signed 64-bit) of the related stories that it names.
        terms: counts by hash (`extract.entropy.term_key`); None when the extractor does not compare pages.
        kept: those of the keys whose blocks the extractor took for the text.
    """

    article: int = 0
    texts: tuple[int, ...] = ()
    tree: tuple[int, ...] = ()
    path: tuple[int, ...] = ()
    stories: tuple[int, ...] = ()
    terms: Mapping[int, int] | None = None
    kept: tuple[int, ...] = ()


class Spread(NamedTuple):
    """Spread of something over pages: sum of its counts x, and of x ln x."""

    total: float
    logs: float


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """Spread of terms over the pages of a site.

    `terms` has unsigned 32-bit hashes as keys; `pages` is the spread of a term that stands once on every page.
    """

    pages: Spread
    terms: Mapping[int, Spread]


NO_TERMS: Final = SiteTerms(Spread(0.0, 0.0), {})


@dataclass(frozen=True, slots=True)
class Signs:
    """Signals of a page, by which traps are found.

    Attributes:
        sketch: of the article, or of all text of a page that is none, without figures; 0 when there is hardly any.
            Similar texts have sketches that differ in few bits.
        outline: of all text of the page without figures and its own name: the same for the same text; 0 for none.
        is_wall: it tells a visitor to go away, to log in or to come back.
    """

    sketch: int = 0
    outline: int = 0
    is_wall: bool = False


@by_position
@dataclass(frozen=True, slots=True)
class ParseResult:
    """Results of a worker process for one fetched document.

    `read_page` gives what the page itself says; the worker adds the fields from `canonical` on.

    Attributes:
        reason: why the page is not stored, None for one that may be; that of a list stands though it is stored.
        probability: that it is of this kind; 1 where a rule says so.
        metadata, extraction, signature: of a page that is kept; for other pages only the title is of use.
        links: to follow, the page's nofollow directives already applied.
        sample: only when it is a leaf, and only when asked for.
        bounds: names of the limits that the page exceeded, see `document.limits`.
        doubt: why the article's text may not be what its author wrote.
        stories: (URL, title) of related stories, see `links.related`.
        sends_to, refresh: where a page that shows nothing itself sends its readers, and that as a target.
        canonical: the page's canonical URL, if it is another; skipped when it is on another host.
        next_part, previous_part: other parts of the article on the same host that may be followed.
        sources: feeds that the page declares, then sitemaps that a sitemap index names.
        outdated: why the time of an article is not wanted.
        raw, dom: bytes of the page, and of the document that a browser made of it, compressed, when they are kept.
        rendered: the form of the page that was asked for.
        relevance, link_relevance: to the topic, in [0, 1], of the page and each link's text; None without a topic.
        terms: words of the page and its links, see `pipelines.focus.record`.
        signs: when traps are looked for and the page is no leaf of some length.
        loads_more: scripts of the page load more of its list, or of an article of which it shows the beginning.
        lacks_links: it is no article, has scripts, and leads nowhere except by its menus.
        selected, missed: names of the seed's selectors that found something on a page that is kept, and of those that
            did not (`document.selectors`).
    """

    kind: PageKind
    reason: PageReason | None = None
    metadata: Metadata = Metadata()
    extraction: Extraction = Extraction()
    signature: Signature = Signature()
    links: Links = Links()
    feeds: tuple[str, ...] = ()
    noindex: bool = False
    encoding: str = ""
    sample: PageSample | None = None
    bounds: tuple[str, ...] = ()
    doubt: PageReason | None = None
    sends_to: str = ""
    canonical: Target | None = None
    refresh: Target | None = None
    next_part: Target | None = None
    previous_part: Target | None = None
    sources: tuple[Target, ...] = ()
    site_id: int = 0
    outdated: SkipReason | None = None
    raw: bytes | None = None
    dom: bytes | None = None
    rendered: str = ""
    relevance: float | None = None
    link_relevance: tuple[float, ...] = ()
    terms: bytes = b""
    signs: Signs | None = None
    probability: float = 1.0
    index_terms: IndexTerms | None = None
    description: Description = Description()
    text_from: TextFrom = TextFrom.HTML
    loads_more: bool = False
    lacks_links: bool = False
    stories: tuple[tuple[str, str], ...] = ()
    selected: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Its kind is wanted, so its text is stored."""
        return bool(self.extraction.text)

    @property
    def is_leaf(self) -> bool:
        """Kept for its own text: lists lead on even when kept."""
        return self.is_kept and self.kind is not PageKind.LIST
