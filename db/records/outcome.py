"""Outcomes of fetches for the page transaction, and what that made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from .article import NewArticle
from .part import Place
from .reasons import ArticleResult, Reason
from .url import Found, Lease, NewUrl
from .visit import Revisit


@dataclass(frozen=True, slots=True)
class Edges:
    """Links of a page: targets, and the kind of block each stands in, as columns."""

    targets: Sequence[int] = ()
    blocks: bytes = b""


NO_EDGES = Edges()


DOM_TYPE = "text/html; charset=utf-8"
"""Content type of the document that a browser made of a page."""


@dataclass(frozen=True, slots=True)
class ArchivePlace:
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class StoredPage:
    """Raw bytes of a page to keep; empty when only an archive has them."""

    content_type: str
    encoding: str
    body: bytes
    archived: ArchivePlace | None = None
    dom: bytes | None = None

    @classmethod
    def from_row(cls, row: Any) -> Self:
        place = None if row.warc_file is None else ArchivePlace(row.warc_file, row.warc_offset)
        return cls(row.content_type, row.encoding, row.body, place, row.dom)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one lease.

    Attributes:
        state, reason, detail: its new state; `PENDING` means another try at `next_visit`.
        counted: it counts against the page limits (answered, and no redirect).
        ready_at: Unix time from which the host may be asked again.
        seconds: how long the answer took.
        address: IP address that answered; empty when unknown.
        tried: the host was asked at all: if not, the try does not count.
        same_as: the URL this one is another address of.
        robots: new rules of hosts: (host, "rules" | "none" | "unreachable" | "refused", text).
        seed_host: (seed, host name) to count as the seed's own from now on.
        reverted: the URL is what it was before this visit, and so is all that came of it.
        visit: of a revisit that teaches something of the URL.
        stated: of a feed or sitemap: URLs of pages with the time (Unix seconds) at which it says they changed.
        age: at the first visit, seconds since its article was published, as far as is known.
        alive: the article stored under it is there (True) or gone (False), when this visit says so.
        page_kind: None when the page was not read.
        terms: relevance of the page to the crawl's topic, and its words: see `PageTerms`.
    """

    lease: Lease
    state: str
    reason: Reason | None = None
    detail: str = ""
    counted: bool = False
    http_status: int | None = None
    fetched_at: float = 0.0
    etag: str | None = None
    last_modified: str | None = None
    next_visit: float | None = None
    unread: int = 0
    ready_at: float = 0.0
    seconds: float = 0.0
    address: str = ""
    failed: bool = False
    tried: bool = True
    same_as: int | None = None
    article: NewArticle | None = None
    place: Place | None = None
    new_urls: Sequence[NewUrl] = ()
    links: Edges = NO_EDGES
    robots: Sequence[tuple[int, str, str]] = ()
    seed_host: tuple[int, str] | None = None
    reverted: bool = False
    visit: Revisit | None = None
    stated: Sequence[tuple[int, float]] = ()
    age: float = 0.0
    alive: bool | None = None
    raw: StoredPage | None = None
    page_kind: str | None = None
    terms: tuple[float, bytes] | None = None


NextVisit = Callable[[Outcome, int], float | None]
"""Returns when a URL is visited again after a revisit with so many news; None for never."""


def never(_outcome: Outcome, _news: int) -> None:
    """Plan no further visit."""


@dataclass(frozen=True, slots=True)
class Joined:
    url: str
    article: NewArticle
    what: ArticleResult


@dataclass(slots=True)
class Stored(Found):
    """The transaction's answer to an outcome.

    Attributes:
        same_as: the stored page that a duplicate repeats, or a "same page" is another address of.
        same_host: that is a page of the same host.
        joined: articles of several pages that are complete, now that this one is stored.
        freed: articles that were copies or merged, and stand for themselves now.
    """

    article: ArticleResult | None = None
    changed: bool = False
    next_visit: float | None = None
    same_as: int | None = None
    same_host: bool = False
    joined: list[Joined] = field(default_factory=list)
    freed: list[int] = field(default_factory=list)

    @property
    def beside(self) -> list[int]:
        return [one.article.id for one in self.joined if one.what.is_exported] + self.freed

    @property
    def is_again(self) -> bool:
        """Tell whether the page is another address of a stored one, maybe the better."""
        return self.has_moved or self.article is ArticleResult.SAME_PAGE

    @property
    def has_moved(self) -> bool:
        return self.article is ArticleResult.UPDATED and self.same_as is not None
