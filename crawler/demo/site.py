"""Common parts of the newsroom's sites: their pages, and the contents of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from html import escape
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from .content import InventedArticle

HOT = 6
RELATED = 3
OUTSIDE = ("Example", "http://example.com/")
"""The one link that leaves the newsroom."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """A response: body, type, status, redirect target, time of the last change."""

    body: bytes
    content_type: str
    status: int = 200
    location: str = ""
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list: slug, name, articles, number from 1, number of pages."""

    slug: str
    name: str
    articles: tuple[InventedArticle, ...]
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class Story:
    """One page of an article, with its neighbours in the channel."""

    article: InventedArticle
    part: int
    newer: InventedArticle | None
    older: InventedArticle | None
    related: tuple[InventedArticle, ...]

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Paragraphs of this page."""
        return self.article.parts[self.part - 1]


class DemoSite(ABC):
    """One news site: its URLs and its pages.

    A subclass says how URLs look (`path`, `list_path`) and writes three sorts of HTML page; `routes` joins them.

    Args:
        articles: all of the site's, newest first.
        port: where the newsroom listens, because absolute URLs contain it.
        friends: title and URL of the neighbouring sites.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    channels: ClassVar[Mapping[str, str]]
    encoding: ClassVar[str] = "utf-8"
    content_type: ClassVar[str] = "text/html; charset=utf-8"
    per_page: ClassVar[int] = 6

    def __init__(self, articles: Sequence[InventedArticle], port: int, friends: Sequence[tuple[str, str]]) -> None:
        self.articles = tuple(articles)
        self.listed = tuple(article for article in articles if not article.hidden)
        self.origin = f"http://{self.name}.localhost:{port}"
        self.friends = (*friends, OUTSIDE)
        self.hot = tuple(sorted(self.listed, key=lambda article: _stable(article.key))[:HOT])

    @abstractmethod
    def path(self, article: InventedArticle, part: int = 1) -> str:
        """Return the path of a page of an article."""

    @abstractmethod
    def list_path(self, slug: str, page: int = 1) -> str:
        """Return the path of a page of a channel."""

    @abstractmethod
    def home(self) -> str:
        """Make the home page."""

    @abstractmethod
    def listing(self, listing: Listing) -> str:
        """Make a channel page."""

    @abstractmethod
    def story(self, story: Story) -> str:
        """Make an article page."""

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Further pages: feeds, sitemaps, robots.txt, redirects, forms."""
        return {}

    def url(self, article: InventedArticle, part: int = 1) -> str:
        """Return the URL of a page of an article."""
        return self.origin + self.path(article, part)

    def channel_link(self, article: InventedArticle) -> str:
        """Make a link to the channel that an article stands in."""
        return link(self.list_path(article.channel), self.channels[article.channel])

    def lists(self) -> dict[str, tuple[str, tuple[InventedArticle, ...]]]:
        """Return every list of articles: slug -> visible name, articles."""
        return {
            slug: (name, tuple(article for article in self.listed if article.channel == slug))
            for slug, name in self.channels.items()
        }

    def routes(self) -> dict[str, Callable[[], DemoPage]]:
        """Return all pages: path -> a function that makes the page."""
        routes: dict[str, Callable[[], DemoPage]] = {"/": lambda: self.html(self.home(), self.listed[0].published)}
        for slug, (name, articles) in self.lists().items():
            pages = max(1, -(-len(articles) // self.per_page))
            for page in range(1, pages + 1):
                shown = articles[(page - 1) * self.per_page : page * self.per_page]
                routes[self.list_path(slug, page)] = partial(self._list_page, Listing(slug, name, shown, page, pages))
        for article in self.articles:
            for part in range(1, len(article.parts) + 1):
                routes[self.path(article, part)] = partial(self._story_page, article, part)
        return routes | self.extras()

    def html(self, text: str, modified: datetime | None = None, *, status: int = 200) -> DemoPage:
        """Encode a page as the site does; what it cannot write becomes a reference."""
        return DemoPage(text.encode(self.encoding, "xmlcharrefreplace"), self.content_type, status, modified=modified)

    def not_found(self) -> DemoPage:
        """Make the response to an unknown URL."""
        text = f"<html><head><title>404</title></head><body><h1>404 - {escape(self.title)}</h1></body></html>"
        return self.html(text, status=404)

    def redirect(self, target: str) -> DemoPage:
        """Make a permanent redirect."""
        return DemoPage(b"Moved", "text/plain", 301, location=target)

    def _list_page(self, listing: Listing) -> DemoPage:
        """Render a channel page."""
        return self.html(self.listing(listing), listing.articles[0].published if listing.articles else None)

    def _story_page(self, article: InventedArticle, part: int) -> DemoPage:
        """Find an article's neighbours and render it."""
        channel = [other for other in self.listed if other.channel == article.channel]
        place = channel.index(article) if article in channel else 0
        ring = [other for other in channel[place + 1 :] + channel[:place] if other is not article]
        story = Story(
            article=article,
            part=part,
            newer=channel[place - 1] if place > 0 else None,
            older=channel[place + 1] if place + 1 < len(channel) else None,
            related=tuple(sorted(ring, key=lambda other: _stable(f"{article.key} {other.key}"))[:RELATED]),
        )
        return self.html(self.story(story), article.published)


def link(url: str, text: str, attributes: str = "") -> str:
    """Make an HTML link; URL and text are escaped, attributes are not."""
    return f'<a href="{escape(url)}"{attributes and " " + attributes}>{escape(text)}</a>'


def pick(choices: Sequence[str], key: str, count: int) -> list[str]:
    """Choose some of a list, always the same for the same key."""
    return sorted(choices, key=lambda choice: _stable(key + choice))[:count]


def _stable(text: str) -> bytes:
    """Hash a text to the same value in every process."""
    return blake2b(text.encode(), digest_size=8).digest()
