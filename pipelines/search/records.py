"""Records of a search: what is asked, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from db.records.desk import MarkedArticles

SIGNALS: Mapping[str, float] = {
    "text": 1.0,
    "freshness": 0.1,
    "links": 0.05,
    "clicks": 0.5,
    "heat": 0.0,
    "updates": 0.0,
}
"""Weights of the signals that the score of a hit is made of: each is in [0, 1], `clicks` in [-0.5, 0.5].

`heat` and `updates` are those of S37: how many readers opened an article, and how often its text changes.
"""


RELEVANCE, NEWEST, OLDEST, REPRINTED = SORTS = ("relevance", "newest", "oldest", "reprinted")
"""Orders of hits: by score, by time, or by the number of reprints."""

MARKS: Final = ("starred", "read", "unread")
"""Fields of a query whose only value is `ON`: what readers have marked."""
ON: Final = "1"
VALUED: Final = ("site", "source", "section", "classes", "language", "label", *MARKS)
"""Fields of a query that take several values, and values that no article may have."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search as the reader wrote it; empty fields are no conditions.

    Attributes:
        text: a query in the language of `pipelines.search.language`; empty finds all articles, the newest first.
        site: registrable domain or a part of its name.
        expand: search also words that go with those of the text in the articles found.
        either: further values of the fields `VALUED`, each with the name of its field: of the values of a field any
            will do.
        without: the same of values that no article may have.
        sort: one of `SORTS`; empty for relevance where there are words, and the newest first where there are none.
        is_thorough: count all that match, up to 10,000, also where fewer are ranked; `SearchResult.volume` is made.
        label: one that readers have given; `starred`, `read` and `unread` are `ON`.
        marked: what readers have marked; None where there is no desk, and such conditions are wrong.
        since, until: days, times or periods before now, as people write them: `2024-05-01`, `2024年5月`, `7d`.
    """

    text: str = ""
    site: str = ""
    since: str = ""
    until: str = ""
    language: str = ""
    section: str = ""
    classes: str = ""
    source: str = ""
    limit: int = 10
    offset: int = 0
    expand: bool = False
    either: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    sort: str = ""
    is_thorough: bool = False
    label: str = ""
    starred: str = ""
    read: str = ""
    unread: str = ""
    marked: MarkedArticles | None = field(default=None, compare=False)


def several_values(given: Callable[[str], Sequence[str]]) -> dict[str, Any]:
    """Return the fields of a `SearchQuery` for parameters given several times.

    `given` returns the values of one; `-site` has the sites that are left out.

    >>> parameters = {"site": ["a.test", "b.test"], "-site": ["c.test"]}
    >>> found = several_values(lambda name: parameters.get(name, []))
    >>> found["site"], found["either"], found["without"]
    ('a.test', (('site', 'b.test'),), (('site', 'c.test'),))
    """
    fields: dict[str, Any] = {"either": (), "without": ()}
    for name in VALUED:
        first, *others = *given(name), ""
        fields[name] = first
        fields["either"] += tuple((name, value) for value in others if value)
        fields["without"] += tuple((name, value) for value in given(f"-{name}"))
    return fields


class Span(NamedTuple):
    """A piece of a text, and whether the query's words stand in it."""

    text: str
    is_match: bool


def text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


@dataclass(frozen=True, slots=True)
class Hit:
    """An article that was found; of a cluster of duplicates the one that fits best."""

    id: int
    url: str
    site: str
    title: Sequence[Span]
    snippet: Sequence[Span]
    authors: str
    source: str
    published_at: str | None
    published_utc: str | None
    first_seen: str
    language: str
    section: str
    reprints: int
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


class Facet(NamedTuple):
    value: str
    articles: int


class Volume(NamedTuple):
    """Number of stories of a day since 1970, a site and a language."""

    day: int
    site: str
    language: str
    stories: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query.

    Attributes:
        total: stories that fulfil the query, one a cluster.
        is_exact: whether `total` and `facets` count all that fit, not only the best and newest that were looked at.
        facets: of site, language, source, section, classes and label the most frequent values first, of month the
            latest; all values if the query is thorough, else twenty. With a desk also the numbers of `MARKS`.
        also: words that were searched, too, because the query is to be expanded.
        notes: sentences on what was understood otherwise than it was written, a date for instance.
        partial: stories with some of the words, which follow those with all.
        listed: stories that can be had by `limit` and `offset`.
        volume: the stories that `total` counts, if the query is thorough. Like those of facets they count once each, as
            the article that is listed.
    """

    hits: Sequence[Hit]
    total: int
    is_exact: bool
    facets: Mapping[str, Sequence[Facet]]
    notes: Sequence[str] = ()
    also: Sequence[str] = ()
    partial: int = 0
    listed: int = 0
    volume: Sequence[Volume] = ()
