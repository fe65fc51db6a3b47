"""Rows of the full-text index, and answers of it that are ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

_DAY_SECONDS = 86_400
_FAR = 1 << 40
JOINED_BY = "、"


class IndexTerms(NamedTuple):
    """An article's terms in the index.

    `words` are its different tokens, joined by blanks; no token has a blank, quotation mark or operator in it. `terms`
    are the same as numbers with their counts: about 4 bytes a token, 2.6 KB for 1,000 Chinese characters.
    """

    words: str
    terms: bytes


MakeTerms = Callable[[str, str, str, str, str, str, str], IndexTerms]
TERM_FIELDS = ("title", "text", "authors", "source", "language", "description", "tags")
"""Fields of an article that its terms are made of, in the order in which `MakeTerms` takes them."""


class IndexForm(NamedTuple):
    """The form of the index that this version writes.

    `is_current` tells whether packed terms are of this form; `said` is called with a sentence about the progress.
    """

    make: MakeTerms
    is_current: Callable[[bytes], bool]
    said: Callable[[str], None]


class IndexedArticle(NamedTuple):
    """An article's row in the full-text index; words and terms as in `IndexTerms`.

    Attributes:
        time: Unix time of its publication, of its first sight where that is unknown.
        day: the same as a day since 1970, in its site's zone.
    """

    article_id: int
    site_id: int
    cluster_id: int
    time: int
    day: int
    language: str
    source: str
    section: str
    classes: str
    words: str
    terms: bytes


class SearchCandidate(NamedTuple):
    number: int
    article_id: int
    site_id: int
    cluster_id: int
    time: int
    day: int
    language: str
    source: str
    section: str
    classes: str
    terms: bytes


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Conditions on articles; an empty value or None matches everything.

    Attributes:
        sites: identifiers, one of which must match.
        since, until: Unix time.
        first_day, last_day: days since 1970, in the zone of the site.
        languages: codes, or their beginnings before a dash; like sources, sections and classes one of them must match.
        without: conditions none of which may be fulfilled.
        ids: of articles, one of which it must be.
    """

    sites: Sequence[int] | None = None
    since: float | None = None
    until: float | None = None
    first_day: int | None = None
    last_day: int | None = None
    languages: Sequence[str] = ()
    sources: Sequence[str] = ()
    sections: Sequence[str] = ()
    classes: Sequence[str] = ()
    without: Sequence[SearchFilter] = ()
    ids: frozenset[int] | None = None

    def admits(self, one: SearchCandidate) -> bool:
        return (
            (self.ids is None or one.article_id in self.ids)
            and (self.sites is None or one.site_id in self.sites)
            and (self.since is None or one.time >= self.since)
            and (self.until is None or one.time <= self.until)
            and (self.first_day is None or one.day >= self.first_day)
            and (self.last_day is None or one.day <= self.last_day)
            and (
                not self.languages
                or any(one.language == each or one.language.startswith(f"{each}-") for each in self.languages)
            )
            and (not self.sources or one.source in self.sources)
            and (not self.sections or one.section in self.sections)
            and (not self.classes or not set(self.classes).isdisjoint(one.classes.split(JOINED_BY)))
            and not any(each.admits(one) for each in self.without)
        )

    def among(self, ids: frozenset[int] | None) -> SearchFilter:
        """Return the same conditions on articles of these ids alone; None for all."""
        if ids is None:
            return self
        return replace(self, ids=ids if self.ids is None else self.ids & ids)

    def days(self) -> tuple[int, int] | None:
        """Return the first and last day that may match, None for all."""
        if (self.since, self.until, self.first_day, self.last_day) == (None,) * 4:
            return None
        # a zone's day may be another than that of UTC
        since = -_FAR if self.since is None else int(self.since // _DAY_SECONDS) - 1
        until = _FAR if self.until is None else int(self.until // _DAY_SECONDS) + 1
        first = -_FAR if self.first_day is None else self.first_day
        return max(since, first), min(until, _FAR if self.last_day is None else self.last_day)

    @property
    def is_marked(self) -> bool:
        """True if `db.search.find.need_of` tells all of the conditions."""
        has_moments = (self.since, self.until) != (None, None)
        has_others = has_moments or bool(self.without) or self.ids is not None
        return not (has_others or any(each != each.lower() or "-" in each for each in self.languages))

    def __bool__(self) -> bool:
        return self != SearchFilter()


class SearchedText(NamedTuple):
    """All that is searched of an article: `TERM_FIELDS`."""

    title: str
    text: str
    authors: str
    source: str
    language: str
    description: str
    tags: str


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """Articles that may match a query; numbers of articles are approximate.

    `is_complete` means that they are all that have any of the words; `frequencies` has the articles with each word.
    """

    rows: Sequence[SearchCandidate]
    is_complete: bool
    documents: int = 0
    frequencies: dict[str, float] = field(default_factory=dict)

    def __add__(self, other: CandidateSet) -> CandidateSet:
        words = self.frequencies.keys() | other.frequencies.keys()
        return CandidateSet(
            [*self.rows, *other.rows],
            self.is_complete and other.is_complete,
            self.documents + other.documents,
            {word: self.frequencies.get(word, 0.0) + other.frequencies.get(word, 0.0) for word in words},
        )


class FoundArticle(NamedTuple):
    """An article to show, with its text wherever that is kept.

    `members` counts its cluster; `score_parts` are those of its URL. Visits found its text changed `changes` times in
    `watched` seconds.
    """

    id: int
    url: str
    site: str
    title: str
    text: str
    authors: str
    source: str
    published_at: str | None
    published_utc: str | None
    first_seen: str
    language: str
    section: str
    members: int
    score_parts: str | None
    changes: float = 0.0
    watched: float = 0.0
