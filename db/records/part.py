"""Parts of articles of several pages; see `db.articles.multipage`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from .article import NewArticle


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a page as it states it: number (0 unknown), next and previous URL."""

    number: int = 0
    next_id: int | None = None
    previous_id: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A stored part without its text; names as in the table."""

    id: int
    group_id: int
    first_id: int
    position: int
    joined: int
    number: int
    next_id: int | None
    previous_id: int | None
    title: str
    text_hash: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The pages of one article.

    Attributes:
        parts: pages it is made of, in order.
        repeats: pages that say what one of the parts says: other URLs, servers that answer any number with page 1.
        surplus: pages beyond the longest article.
        missing: URLs that would bring another part.
    """

    parts: tuple[int, ...]
    repeats: tuple[int, ...] = ()
    surplus: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Joiner:
    """Functions that arrange and join parts; in `arrange` every part is in one chain.

    `continues` tells whether pages with these two titles can be parts of one article.
    """

    continues: Callable[[str, str], bool]
    arrange: Callable[[Sequence[Part]], Sequence[Chain]]
    join: Callable[[Sequence[NewArticle]], NewArticle]


class Fate(StrEnum):
    CAME = "came"
    """It was read, or cannot be."""
    STAYED = "stayed"
    GONE = "gone"
    MOVED = "moved"
    """A revisit found it moved for good: there it will be a part again."""


@dataclass(frozen=True, slots=True)
class Arrival:
    id: int
    article: NewArticle | None
    place: Place | None
    fate: Fate = Fate.CAME


@dataclass(frozen=True, slots=True)
class Ready:
    """An article to store, its URL, and the page that completed it (0 if none)."""

    url: str
    article: NewArticle
    chain: Chain
    by: int


@dataclass(slots=True)
class Gathered:
    parts: set[int] = field(default_factory=set)
    ready: list[Ready] = field(default_factory=list)
