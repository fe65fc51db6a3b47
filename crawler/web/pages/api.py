"""The JSON API: the same questions as the pages, for programs.

Identifiers are text: numbers so long are rounded by JavaScript and spreadsheets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from itertools import accumulate
from typing import Any, Final, TypeVar

from starlette.responses import Response

from db.queries.board import DatabaseCounts, HostNow, SiteNow
from db.queries.reprints import Reprint
from db.records.article import JOINED_BY, ArticleItem
from db.records.host import ShownAlarm
from db.records.run import RunSample
from pipelines.search.records import Hit, Span

from ..frame.endpoints import Endpoint, Parameter, describe
from ..frame.visit import Visit
from . import article, crawl, search, sites, story
from .board import count_all

_MOST_HITS, _MOST_OFFSET = 100, 1_000
_MOST_ARTICLES = 500
_RUNS = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiHit:
    """An article that was found; of a story the one that fits best.

    Attributes:
        id: of the article, for `/api/articles/{id}` and `/api/stories/{id}`.
        title, snippet: plain text.
        title_matches, snippet_matches: where the words of the query stand in them: pairs of first character and end.
        authors: names, in the page's order.
        published_at: ISO 8601, as precise as the page is; null when unknown.
        published_utc: the same in UTC, to compare by.
        reprints: other articles of the story.
        score: the hits are ordered by it, the highest first.
        signals: value of each part of the score.
    """

    id: str
    url: str
    site: str
    title: str
    title_matches: Sequence[Sequence[int]]
    snippet: str
    snippet_matches: Sequence[Sequence[int]]
    authors: Sequence[str]
    source: str
    published_at: str | None
    published_utc: str | None
    first_seen: str
    language: str
    section: str
    reprints: int
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ApiFacet:
    """A value by which hits can be narrowed, and the number of stories that have it."""

    value: str
    stories: int


@dataclass(frozen=True, slots=True)
class ApiSearch:
    """The answer to a query.

    Attributes:
        total: stories that fit.
        is_exact: whether `total` and `facets` count all that fit, not only the best that were looked at.
        hits: one a story.
        facets: of site, language, source, section, classes and month: the most frequent values first.
        notes: sentences on what was understood otherwise than it was written.
        next: URL of the next hits; null when there are none.
    """

    total: int
    is_exact: bool
    hits: Sequence[ApiHit]
    facets: Mapping[str, Sequence[ApiFacet]]
    notes: Sequence[str]
    next: str | None


@dataclass(frozen=True, slots=True)
class ApiVersion:
    """An earlier text of an article.

    Attributes:
        seen: the text was that from then on.
    """

    seen: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ApiArticle:
    """A stored article.

    Attributes:
        article: its values, named as in `v_articles`.
        story_id: of the story that it belongs to.
        story_size: articles of that story, with this one.
        versions: earlier texts, the newest first.
        has_page: whether the source of its page is stored.
    """

    article: ArticleItem
    story_id: str
    story_size: int
    versions: Sequence[ApiVersion]
    has_page: bool


@dataclass(frozen=True, slots=True)
class ApiReprint:
    """An article of a story.

    Attributes:
        repeats: the article that it was copied from; null for the first.
        depth: how far it is from the first.
        kind: same, edited, part-of, contains; of related ones quotes or template; null for the first.
        method: by which that was found.
        text_chars: length of the text on its page.
    """

    id: str
    url: str
    site: str
    title: str
    source: str
    published_at: str | None
    published_utc: str | None
    first_seen: str
    repeats: str | None
    depth: int
    kind: str | None
    similarity: float | None
    method: str | None
    text_chars: int


@dataclass(frozen=True, slots=True)
class ApiStory:
    """Articles with the same text, and who copied whom.

    Attributes:
        id: of the story, which is that of its first article.
        size: how many articles there are.
        articles: the first one, then each behind the one that it repeats.
        related: articles that quote these or have their form; stories of their own.
    """

    id: str
    size: int
    articles: Sequence[ApiReprint]
    related: Sequence[ApiReprint]


@dataclass(frozen=True, slots=True)
class ApiRun:
    """A crawl, by one process.

    Attributes:
        outcome: finished, stopped, failed or another word for how it ended, with its reason; null while it runs, and
            when it was killed.
        is_running: whether it is at work.
        pages_per_second: lately.
        totals: its counts when it ended.
        samples: its counts over time, the oldest first.
    """

    id: int
    started: str
    finished: str | None
    outcome: str | None
    is_running: bool
    pages_per_second: float
    totals: Mapping[str, int]
    samples: Sequence[RunSample]


@dataclass(frozen=True, slots=True)
class ApiReason:
    """A reason for which URLs became no article, and the number of them."""

    state: str
    reason: str
    urls: int


@dataclass(frozen=True, slots=True)
class ApiCounts:
    """Counts over whole tables.

    Attributes:
        at: as of this Unix time.
        articles, stories: that are stored, and the stories that they are of.
        states: URLs by state.
        reasons: the most frequent first.
        depths: URLs that wait by depth.
        queues: hosts with most waiting URLs.
        slow, failing: hosts that answer slowest; that fail, rest, or are given up.
    """

    at: float
    articles: int
    stories: int
    states: Mapping[str, int]
    reasons: Sequence[ApiReason]
    depths: Mapping[str, int]
    queues: Sequence[HostNow]
    slow: Sequence[HostNow]
    failing: Sequence[HostNow]


@dataclass(frozen=True, slots=True)
class ApiCrawl:
    """The state of a crawl, while it runs or afterwards.

    Attributes:
        runs: all that are at work, and the newest others.
        alarms: active ones, and the last that ended.
        counts: null while they are made for the first time: ask again.
    """

    runs: Sequence[ApiRun]
    alarms: Sequence[ShownAlarm]
    counts: ApiCounts | None


@dataclass(frozen=True, slots=True)
class ApiSites:
    """Sites that something was asked of, those with most articles first.

    Attributes:
        at: as of this Unix time; null while they are counted for the first time: ask again.
        total: how many there are.
    """

    at: float | None
    total: int
    sites: Sequence[SiteNow]


def _search(visit: Visit) -> ApiSearch:
    limit = visit.whole("limit", *_LIMIT)
    offset = visit.whole("offset", *_OFFSET)
    result = search.find(visit, replace(search.query_of(visit), limit=limit, offset=offset))
    following = offset + limit
    return ApiSearch(
        total=result.total,
        is_exact=result.is_exact,
        hits=[_hit(hit) for hit in result.hits],
        facets={name: [ApiFacet(*each) for each in values] for name, values in result.facets.items()},
        notes=result.notes,
        next=visit.here(offset=following) if following < result.total and following <= _MOST_OFFSET else None,
    )


def _like(kind: type[T], source: object, /, **own: Any) -> T:
    """Make a record of what another has under the same names, and of its own."""
    made: Any = kind
    same = {each.name: getattr(source, each.name) for each in fields(made) if each.name not in own}
    return kind(**same, **own)


def _hit(hit: Hit) -> ApiHit:
    return _like(
        ApiHit,
        hit,
        id=str(hit.id),
        title=_text(hit.title),
        title_matches=_matches(hit.title),
        snippet=_text(hit.snippet),
        snippet_matches=_matches(hit.snippet),
        authors=hit.authors.split(JOINED_BY) if hit.authors else [],
    )


def _text(spans: Sequence[Span]) -> str:
    return "".join(span.text for span in spans)


def _matches(spans: Sequence[Span]) -> list[list[int]]:
    """Return where the matches stand in the text that spans make."""
    ends = accumulate(len(span.text) for span in spans)
    return [[end - len(span.text), end] for span, end in zip(spans, ends, strict=True) if span.is_match]


def _article(visit: Visit) -> ApiArticle:
    read = article.find(visit)
    return ApiArticle(
        article=read.item,
        story_id=str(read.cluster_id),
        story_size=read.cluster_size,
        versions=[_like(ApiVersion, each) for each in read.versions],
        has_page=read.has_page,
    )


def _story(visit: Visit) -> ApiStory:
    found = story.find(visit, _MOST_ARTICLES)
    return ApiStory(
        id=str(found.id),
        size=found.size,
        articles=[_reprint(one, None if above is None else above.id, depth) for one, above, depth in found.branches()],
        related=[_reprint(one, one.of_id, 1) for one in found.related],
    )


def _reprint(one: Reprint, repeats: int | None, depth: int) -> ApiReprint:
    first: dict[str, Any] = dict.fromkeys(("repeats", "kind", "similarity", "method"))
    own = first if repeats is None else {"repeats": str(repeats)}
    return _like(ApiReprint, one, id=str(one.id), depth=depth, **own)


def _crawl(visit: Visit) -> ApiCrawl:
    found, alarms = crawl.find(visit, _RUNS)
    counted = count_all(visit)
    return ApiCrawl(
        runs=[_like(ApiRun, each.run, samples=each.samples) for each in found],
        alarms=alarms,
        counts=None if counted is None else _counts(counted.value, counted.at),
    )


def _counts(found: DatabaseCounts, at: float) -> ApiCounts:
    return _like(
        ApiCounts,
        found,
        at=at,
        stories=found.clusters,
        reasons=[ApiReason(*each) for each in found.reasons],
        depths={str(depth): urls for depth, urls in found.depths.items()},
    )


def _sites(visit: Visit) -> ApiSites:
    limit, offset = visit.whole("limit", *_SITES), visit.whole("offset", *_OFFSET_OF_SITES)
    counted = count_all(visit)
    if counted is None:
        return ApiSites(None, 0, ())
    found = sites.named_like(visit.text("q", sites.MOST_NAME), counted.value.sites)
    return ApiSites(counted.at, len(found), found[offset : offset + limit])


_ID = Parameter("id", "Identifier of an article.", "path")
_LIMIT = (20, 1, _MOST_HITS)
_OFFSET = (0, 0, _MOST_OFFSET)
_SITES = (100, 1, 1_000)
_OFFSET_OF_SITES = (0, 0, 20_000)

ENDPOINTS: Final[Sequence[Endpoint]] = (
    Endpoint(
        "/api/search",
        "search",
        "The stories that fit a query best, or without words the newest.",
        _search,
        ApiSearch,
        (
            Parameter("q", "Words, and phrases in quotation marks."),
            Parameter("site", "Registrable domain, or a part of its name."),
            Parameter("source", "A source, as the articles name it."),
            Parameter("section", "A channel or section, as the pages name it."),
            Parameter("classes", "A class, as the model names it."),
            Parameter("language", "Code such as zh-Hans, zh-Hant, en."),
            Parameter("since", "A day, month or year, or a time before now: 2024-05-01, 2024-05, 7d."),
            Parameter("until", "The same for the end."),
            Parameter("limit", "Hits wanted.", number=_LIMIT),
            Parameter("offset", "Hits to leave out at the beginning.", number=_OFFSET),
        ),
    ),
    Endpoint(
        "/api/articles/{id}", "article", "An article with its text, HTML and images.", _article, ApiArticle, (_ID,)
    ),
    Endpoint(
        "/api/stories/{id}",
        "story",
        f"The story of an article: at most {_MOST_ARTICLES} articles, and who copied whom.",
        _story,
        ApiStory,
        (_ID,),
    ),
    Endpoint(
        "/api/sites",
        "sites",
        "Sites with their counts.",
        _sites,
        ApiSites,
        (
            Parameter("q", "A part of the name."),
            Parameter("limit", "Sites wanted.", number=_SITES),
            Parameter("offset", "Sites to leave out at the beginning.", number=_OFFSET_OF_SITES),
        ),
    ),
    Endpoint("/api/crawl", "crawl", "The crawl: runs, counts over time, queues, hosts, alarms.", _crawl, ApiCrawl),
)


def show_description(visit: Visit) -> Response:
    return visit.json(describe(ENDPOINTS, version("newscrawler")))
