"""The JSON API: the same answers as the pages, for programs.

Identifiers are strings, because JavaScript and spreadsheets round numbers that long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from itertools import accumulate
from typing import Any, Final, TypeVar

from starlette.responses import Response

from db.desk.marks import DEEDS, marks_of
from db.queries.board import CrawlNow, HostNow, SiteNow
from db.queries.reprints import Reprint
from db.queries.status import Version
from db.records.article import ArticleItem, split_names
from db.records.desk import ArticleMarks
from db.records.host import ShownAlarm
from db.records.keys import iso
from db.records.run import RunSample
from pipelines.search.records import VALUED, Hit, Span, text_of

from ..frame.endpoints import Endpoint, Parameter, describe, plain
from ..frame.file_forms import FORMATS
from ..frame.posting import Form
from ..frame.visit import Visit
from . import article, crawl, export, marks, search, sites, story, timeline
from .board import count_all
from .desk import file_of

_MOST_HITS, _MOST_OFFSET = 100, 1_000
_MOST_VALUES = 20
_MOST_ARTICLES = 500
_RUNS = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiMarks:
    """Marks of an article.

    Attributes:
        read_at, starred_at: ISO 8601; null if it is unread, or has no star.
        labels: in the order of the alphabet.
        note: plain text.
    """

    read_at: str | None
    starred_at: str | None
    labels: Sequence[str]
    note: str


@dataclass(frozen=True, slots=True)
class ApiHit:
    """An article found by a search, the best match of its story.

    Attributes:
        id: identifier of the article, for `/api/articles/{id}` and `/api/stories/{id}`.
        title, snippet: plain text.
        title_matches, snippet_matches: positions of the query's words: pairs of first character and end.
        authors: names, in the order of the page.
        published_at: ISO 8601, as precise as the page states it; null if unknown.
        published_utc: the same time in UTC, for comparisons.
        reprints: number of other articles in the story.
        score: sort key of the hits, highest first.
        signals: contribution of each signal to the score.
        marks: what readers have marked; null without a desk.
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
    marks: ApiMarks | None


@dataclass(frozen=True, slots=True)
class ApiFacet:
    """A value that narrows the search, and the number of stories that have it."""

    value: str
    stories: int


@dataclass(frozen=True, slots=True)
class ApiSearch:
    """The answer to a query.

    Attributes:
        total: number of stories that fulfil the query.
        partial: number of stories with some of the words, if fewer than ten have all; they follow `total` hits.
        is_exact: true if `total` and `facets` count every match, false if only the best candidates were counted.
        hits: one for each story.
        facets: of site, language, source, section, classes and label the twenty most frequent values, of month the
            latest; with a desk the stories that are starred, read and unread, with the value 1.
        notes: sentences about what was ignored or read differently from how it was written.
        also: related words that were searched, too (`expand=1`).
        next: URL of the next hits; null on the last page.
    """

    total: int
    partial: int
    is_exact: bool
    hits: Sequence[ApiHit]
    facets: Mapping[str, Sequence[ApiFacet]]
    notes: Sequence[str]
    also: Sequence[str]
    next: str | None


@dataclass(frozen=True, slots=True)
class ApiBand:
    """Stories of one site or language over time.

    Attributes:
        value: the site or language; null for all others, empty if the timeline is not split.
        counts: one for each period.
    """

    value: str | None
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class ApiTimeline:
    """Number of stories over time.

    Attributes:
        total: number of stories that fulfil the query, as in a search; each counts once, as the article that is listed.
        is_exact: true if every match is counted, false if only those that were indexed last.
        by: day, week, month or year.
        starts: first day of each period, from the first to the last that has a story.
        ends: last day of each period.
        counts: stories of each period.
        bands: the same split by site or language, the six largest and all others.
        notes: sentences about what was ignored or read differently from how it was written.
    """

    total: int
    is_exact: bool
    by: str
    starts: Sequence[str]
    ends: Sequence[str]
    counts: Sequence[int]
    bands: Sequence[ApiBand]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ApiArticle:
    """A stored article.

    Attributes:
        article: its columns, named as in `v_articles`.
        story_id: identifier of its story.
        story_size: number of articles in that story, including this one.
        versions: earlier texts, newest first.
        has_page: whether the source of its page is stored.
        marks: what readers have marked; null without a desk.
    """

    article: ArticleItem
    story_id: str
    story_size: int
    versions: Sequence[Version]
    has_page: bool
    marks: ApiMarks | None


@dataclass(frozen=True, slots=True)
class ApiReprint:
    """An article of a story.

    Attributes:
        repeats: identifier of the article it was copied from; null for the first.
        depth: number of copies between it and the first article.
        kind: same, edited, part-of or contains; quotes or template for related articles; null for the first.
        method: name of the method that found the match.
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
        id: identifier of the story, which is that of its first article.
        size: number of articles.
        articles: the first article, then each one after the article it repeats.
        related: articles of other stories that quote this one or share its template.
    """

    id: str
    size: int
    articles: Sequence[ApiReprint]
    related: Sequence[ApiReprint]


@dataclass(frozen=True, slots=True)
class ApiRun:
    """A crawl run by one process.

    Attributes:
        outcome: how the run ended and why: finished, stopped, failed or another word; null while it runs, and if it
            was killed.
        is_running: whether it is still running.
        pages_per_second: recent speed.
        totals: its counts when it ended.
        samples: its counts over time, oldest first.
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
    """A reason why URLs became no article, and the number of these URLs."""

    state: str
    reason: str
    urls: int


@dataclass(frozen=True, slots=True)
class ApiCounts:
    """Counts over the whole database.

    Attributes:
        at: Unix time of the counts, of runs and alarms beside them, too: at most ten seconds ago.
        articles_at: Unix time of `articles` and `stories`, which take longer to count; null before the first time.
        articles, stories: number of stored articles and of their stories.
        states: URLs by state.
        reasons: most frequent first.
        depths: queued URLs by depth.
        queues: hosts with the most queued URLs.
        slow, failing: hosts that answer much slower than most; hosts that fail, are in backoff or are dead.
    """

    at: float
    articles_at: float | None
    articles: int | None
    stories: int | None
    states: Mapping[str, int]
    reasons: Sequence[ApiReason]
    depths: Mapping[str, int]
    queues: Sequence[HostNow]
    slow: Sequence[HostNow]
    failing: Sequence[HostNow]


@dataclass(frozen=True, slots=True)
class ApiCrawl:
    """The state of a crawl, running or finished.

    Attributes:
        runs: all running ones and the most recent others.
        alarms: active ones and the most recently ended.
        counts: null until they have been counted for the first time: ask again.
    """

    runs: Sequence[ApiRun]
    alarms: Sequence[ShownAlarm]
    counts: ApiCounts | None


@dataclass(frozen=True, slots=True)
class ApiSites:
    """Sites of the crawl, those with the most articles first.

    Attributes:
        at: Unix time of the counts; null until they have been counted for the first time: ask again.
        total: number of sites.
    """

    at: float | None
    total: int
    sites: Sequence[SiteNow]


def _search(visit: Visit) -> ApiSearch:
    limit = visit.whole("limit", *_LIMIT)
    offset = visit.whole("offset", *_OFFSET)
    result = search.find(visit, replace(search.query_of(visit), limit=limit, offset=offset, is_thorough=True))
    marks = _marks(visit, [hit.url for hit in result.hits])
    following = offset + limit
    has_more = following < result.listed and following <= _MOST_OFFSET
    return ApiSearch(
        total=result.total,
        partial=result.partial,
        is_exact=result.is_exact,
        hits=[_hit(hit, marks[hit.url]) for hit in result.hits],
        facets={name: [ApiFacet(*each) for each in values[:_MOST_VALUES]] for name, values in result.facets.items()},
        notes=result.notes,
        also=result.also,
        next=visit.here(offset=following) if has_more else None,
    )


def _timeline(visit: Visit) -> ApiTimeline:
    result, one = timeline.find(visit)
    return ApiTimeline(
        total=result.total,
        is_exact=result.is_exact,
        by=one.by,
        starts=[day.isoformat() for day in one.starts],
        ends=[one.last_day(place).isoformat() for place in range(len(one.starts))],
        counts=one.totals,
        bands=[_like(ApiBand, band) for band in one.bands],
        notes=result.notes,
    )


def _like(kind: type[T], source: object, /, **changed: Any) -> T:
    """Copy the fields that a record shares with `source`, with some values replaced."""
    record: Any = kind
    same = {each.name: getattr(source, each.name) for each in fields(record) if each.name not in changed}
    return kind(**same, **changed)


def _marks(visit: Visit, urls: Sequence[str]) -> dict[str, ApiMarks | None]:
    if visit.site.desk.file is None:
        return dict.fromkeys(urls)
    marks = visit.site.desk.marks_of(urls)
    return {url: _shown(marks.get(url, ArticleMarks())) for url in urls}


def _shown(mark: ArticleMarks) -> ApiMarks:
    read_at, starred_at = (None if time is None else iso(time) for time in (mark.read_at, mark.starred_at))
    return ApiMarks(read_at, starred_at, mark.labels, mark.note)


def _marks_of_article(visit: Visit) -> ApiMarks:
    url = article.find(visit).item.url or ""
    with file_of(visit).reading() as connection:
        return _shown(marks_of(connection, [url]).get(url, ArticleMarks()))


def mark(visit: Visit, form: Form) -> Response:
    """Change the marks of an article, and answer with those it has then."""
    url = marks.mark(visit, form, visit.number_in_path("problem.article"))
    with file_of(visit).reading() as connection:
        return visit.json(plain(_shown(marks_of(connection, [url]).get(url, ArticleMarks()))))


def _hit(hit: Hit, marks: ApiMarks | None) -> ApiHit:
    return _like(
        ApiHit,
        hit,
        id=str(hit.id),
        title=text_of(hit.title),
        title_matches=_matches(hit.title),
        snippet=text_of(hit.snippet),
        snippet_matches=_matches(hit.snippet),
        authors=split_names(hit.authors),
        marks=marks,
    )


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
        versions=read.versions,
        has_page=read.has_page,
        marks=_marks(visit, [read.item.url or ""])[read.item.url or ""],
    )


def _story(visit: Visit) -> ApiStory:
    cluster = story.find(visit, _MOST_ARTICLES)
    return ApiStory(
        id=str(cluster.id),
        size=cluster.size,
        articles=[
            _reprint(one, None if above is None else above.id, depth) for one, above, depth in cluster.branches()
        ],
        related=[_reprint(one, one.of_id, 1) for one in cluster.related],
    )


def _reprint(one: Reprint, repeats: int | None, depth: int) -> ApiReprint:
    first: dict[str, Any] = dict.fromkeys(("repeats", "kind", "similarity", "method"))
    evidence = first if repeats is None else {"repeats": str(repeats)}
    return _like(ApiReprint, one, id=str(one.id), depth=depth, **evidence)


def _crawl(visit: Visit) -> ApiCrawl:
    now = crawl.find(visit)
    if now is None:
        return ApiCrawl(runs=(), alarms=(), counts=None)
    shown = [each for n, each in enumerate(now.runs) if n < _RUNS or each.run.is_running]
    return ApiCrawl(
        runs=[_like(ApiRun, each.run, samples=each.samples) for each in shown],
        alarms=now.alarms,
        counts=_counts(visit, now),
    )


def _counts(visit: Visit, now: CrawlNow) -> ApiCounts:
    stored, counts = count_all(visit), now.counts
    return _like(
        ApiCounts,
        counts,
        at=now.at,
        articles_at=None if stored is None else stored.at,
        articles=None if stored is None else stored.value.articles,
        stories=None if stored is None else stored.value.clusters,
        reasons=[ApiReason(*each) for each in counts.reasons],
        depths={str(depth): urls for depth, urls in counts.depths.items()},
    )


def _sites(visit: Visit) -> ApiSites:
    limit, offset = visit.whole("limit", *_SITES), visit.whole("offset", *_OFFSET_OF_SITES)
    counted = count_all(visit)
    if counted is None:
        return ApiSites(None, 0, ())
    named = sites.named_like(visit.text("q", sites.MOST_NAME), counted.value.sites)
    return ApiSites(counted.at, len(named), named[offset : offset + limit])


_ID = Parameter("id", "Identifier of an article.", "path")
_LIMIT = (20, 1, _MOST_HITS)
_OFFSET = (0, 0, _MOST_OFFSET)
_SITES = (100, 1, 1_000)
_OFFSET_OF_SITES = (0, 0, 20_000)

_QUERY = (
    Parameter("q", 'Words, "phrases", -word, AND, OR, brackets, title:, author:, near:5(a b) and conditions.'),
    Parameter("site", "Registrable domain, or a part of its name; given several times, one of them."),
    Parameter("source", "A source, as the articles name it; several as for site."),
    Parameter("section", "A channel or section, as the pages name it; several as for site."),
    Parameter("classes", "A class, as the model names it; several as for site."),
    Parameter("language", "Code such as zh-Hans, zh-Hant, en; several as for site."),
    Parameter("label", "A label that readers have given; several as for site."),
    Parameter("starred", "1 for articles with a star."),
    Parameter("read", "1 for articles that were read."),
    Parameter("unread", "1 for those that were not."),
    *(Parameter(f"-{name}", f"The same as {name}, of articles that are left out.") for name in VALUED),
    Parameter("since", "A day, month or year, or a time before now: 2024-05-01, 2024-05, 7d."),
    Parameter("until", "The same for the end."),
    Parameter("sort", "relevance, newest, oldest or reprinted; by default relevance with words, newest without."),
    Parameter("expand", "1 to search related words, too."),
)

_ANSWERS: Final[Sequence[Endpoint]] = (
    Endpoint(
        "/api/search",
        "search",
        "The stories that fit a query best, or without words the newest.",
        _search,
        ApiSearch,
        (
            *_QUERY,
            Parameter("limit", "Hits wanted.", number=_LIMIT),
            Parameter("offset", "Hits to leave out at the beginning.", number=_OFFSET),
        ),
    ),
    Endpoint(
        "/api/timeline",
        "timeline",
        "The number of stories that fit a query over time.",
        _timeline,
        ApiTimeline,
        (
            *_QUERY,
            Parameter("by", "day, week, month or year; by default what suits the span."),
            Parameter("stack", "site or language, to count the six largest apart."),
        ),
    ),
    Endpoint(
        "/api/articles/{id}", "article", "An article with its text, HTML and images.", _article, ApiArticle, (_ID,)
    ),
    Endpoint(
        "/api/articles/{id}/marks",
        "marks",
        "What readers have marked of an article.",
        _marks_of_article,
        ApiMarks,
        (_ID,),
        form=(
            Parameter("deed", f"One of {', '.join(DEEDS)}, note."),
            Parameter("label", "With label and unlabel: labels, with commas between them."),
            Parameter("note", "With note: its text; an empty one removes it."),
        ),
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

_EXPORT: Final = Endpoint(
    "/api/export",
    "export",
    f"All articles that fulfil a query, as a file: at most {export.MOST_ROWS:,}.",
    export.show,
    str,
    (
        *(each for each in _ANSWERS[0].parameters if each.name not in {"limit", "offset"}),
        Parameter("format", f"One of {', '.join(FORMATS)}."),
        Parameter("columns", 'Names of columns with commas between them, or "all".'),
        Parameter("order", "shown: as the search lists them, the default; newest: by time."),
        Parameter("reprints", "1 for all articles; else one of each story."),
        Parameter("limit", "Most articles wanted.", number=export.LIMIT),
    ),
    tuple(form.media for form in FORMATS.values()),
)
ENDPOINTS: Final[Sequence[Endpoint]] = (*_ANSWERS, _EXPORT)


def show_description(visit: Visit) -> Response:
    return visit.json(describe(ENDPOINTS, version("newscrawler")))
