"""Base of the newsroom's sites: their pages, and what all templates share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from .template import Markup, Templates, link, read

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
    body: bytes
    content_type: str
    status: int = 200
    location: str = ""
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Section:
    path: str
    name: str
    articles: tuple[InventedArticle, ...]


class DemoSite(ABC):
    """A news site: its URLs and its pages.

    A subclass defines its URLs (`path`, `list_path`) and the values that the templates `home`, `listing` and `story`
    show beyond the common ones (`more_values`). The first line of such a template is the page's title, the others are
    its body; `frame` stands around both. Articles are given newest first, `friends` as title and URL.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    channels: ClassVar[Mapping[str, str]]
    encoding: ClassVar[str] = "utf-8"
    content_type: ClassVar[str] = "text/html; charset=utf-8"
    per_page: ClassVar[int] = 6
    per_section: ClassVar[int] = 4

    def __init__(self, articles: Sequence[InventedArticle], port: int, friends: Sequence[tuple[str, str]]) -> None:
        self.articles = tuple(articles)
        self.listed = tuple(article for article in articles if not article.hidden)
        self.origin = f"http://{self.name}.localhost:{port}"
        self.templates = Templates(self, {"p": self.path, "u": self.url})
        self.friends = [link(url, title) for title, url in (*friends, OUTSIDE)]
        self.hot = tuple(sorted(self.listed, key=lambda article: _stable(article.key))[:HOT])

    @abstractmethod
    def path(self, article: InventedArticle, part: int = 1) -> str:
        """Return the path of a page of an article."""

    @abstractmethod
    def list_path(self, slug: str, page: int = 1) -> str:
        """Return the path of a page of a channel."""

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        return {}

    def more_values(self, article: InventedArticle) -> dict[str, object]:
        return {}

    def turns(self, path: Callable[[int], str], page: int, pages: int) -> list[Markup]:
        return []

    def url(self, article: InventedArticle, part: int = 1) -> str:
        return self.origin + self.path(article, part)

    def lists(self) -> dict[str, tuple[str, tuple[InventedArticle, ...]]]:
        """Return every list of articles: its name in URLs -> its visible name, articles."""
        return {
            slug: (name, tuple(article for article in self.listed if article.channel == slug))
            for slug, name in self.channels.items()
        }

    def routes(self) -> dict[str, Callable[[], DemoPage]]:
        """Return the whole site: path and query -> a function that makes the page."""
        routes: dict[str, Callable[[], DemoPage]] = {"/": self._home}
        for slug, (name, articles) in self.lists().items():
            pages = max(1, -(-len(articles) // self.per_page))
            for page in range(1, pages + 1):
                shown = articles[(page - 1) * self.per_page : page * self.per_page]
                routes[self.list_path(slug, page)] = partial(self._listing, slug, name, shown, page, pages)
        for article in self.articles:
            for part in range(1, len(article.parts) + 1):
                routes[self.path(article, part)] = partial(self._story, article, part)
        return routes | self.extras()

    def page(self, template: str, modified: datetime | None = None, **values: Any) -> DemoPage:
        values = {"article": None, "sections": (), "friends": self.friends, "decoration": "", **values}
        title, _, body = self.templates.fill(template, values).partition("\n")
        menu = [link(self.list_path(slug), name) for slug, name in self.channels.items()]
        style = Markup(f"\n{read(self.name, 'style.css')}\n")
        frame = {**values, "title": Markup(title), "body": Markup(body), "menu": menu, "style": style}
        return self.html(self.templates.fill("frame", frame), modified)

    def html(self, text: str, modified: datetime | None = None, *, status: int = 200) -> DemoPage:
        """Encode a page; characters that the site's set lacks become references."""
        return DemoPage(text.encode(self.encoding, "xmlcharrefreplace"), self.content_type, status, modified=modified)

    def xml(self, template: str, kind: str = "application/xml", **values: Any) -> DemoPage:
        """Make a feed, whose articles are given newest first, or a sitemap."""
        text = self.templates.fill(f"{template}.xml", values) + "\n"
        modified = values["articles"][0].published if "articles" in values else None
        return DemoPage(text.encode(), f"{kind}; charset=utf-8", modified=modified)

    def robots(self, text: str) -> DemoPage:
        return DemoPage(text.encode(), "text/plain; charset=utf-8")

    def not_found(self) -> DemoPage:
        text = f"<html><head><title>404</title></head><body><h1>404 - {escape(self.title)}</h1></body></html>"
        return self.html(text, status=404)

    def redirect(self, target: str) -> DemoPage:
        return DemoPage(b"Moved", "text/plain", 301, location=target)

    def _home(self) -> DemoPage:
        lists = self.lists()
        sections = [
            _Section(self.list_path(slug), name, lists[slug][1][: self.per_section])
            for slug, name in self.channels.items()
        ]
        return self.page("home", self.listed[0].published, sections=sections)

    def _listing(self, slug: str, name: str, articles: tuple[InventedArticle, ...], page: int, pages: int) -> DemoPage:
        modified = articles[0].published if articles else None
        turns = self.turns(partial(self.list_path, slug), page, pages)
        following = self.list_path(slug, page + 1) if page < pages else ""
        return self.page("listing", modified, name=name, articles=articles, pages=pages, turns=turns, next=following)

    def _story(self, article: InventedArticle, part: int) -> DemoPage:
        channel = [other for other in self.listed if other.channel == article.channel]
        place = channel.index(article) if article in channel else 0
        ring = [other for other in channel[place + 1 :] + channel[:place] if other is not article]
        name, pages = self.channels[article.channel], len(article.parts)
        values = {
            "article": article,
            "paragraphs": article.parts[part - 1],
            "rest": article.parts[part - 1][1:],
            "details": defaultdict(str, article.details),
            "channel": name,
            "channel_link": link(self.list_path(article.channel), name),
            "newer": channel[place - 1] if place > 0 else None,
            "older": channel[place + 1] if place + 1 < len(channel) else None,
            "related": sorted(ring, key=lambda other: _stable(f"{article.key} {other.key}"))[:RELATED],
            "parts": self.turns(partial(self.path, article), part, pages) if pages > 1 else (),
        }
        return self.page("story", article.published, **values, **self.more_values(article))


def pick(choices: Sequence[str], key: str, count: int) -> list[str]:
    """Choose some of a list, always the same for the same key."""
    return sorted(choices, key=lambda choice: _stable(key + choice))[:count]


def _stable(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
