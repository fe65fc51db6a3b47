"""The newsroom's five sites: their URLs, and the values their templates show."""

from __future__ import annotations

import gzip
import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from .content import load_articles
from .site import DemoPage, DemoSite, pick
from .template import Markup, link, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from .content import InventedArticle

MOVED = 5011
"""The Herald's article whose old URL is still linked, from the template `frame`."""
FORBIDDEN = "/internal/duty.html"
"""Linked from every page of the notice board and forbidden by its robots.txt."""

_RSS_LENGTH, _ATOM_LENGTH = 15, 10
_WANBAO_LISTS = {"bendi": 1, "wenti": 2, "caijing": 3, "fukan": 4}
_DECORATIONS = {"home": "?utm_source=home&utm_medium=feed&spm=1001.2014.3001", "story": "?from=related"}
_FILE_TYPES = {"pdf": "application/pdf", "doc": "application/msword"}


class Wanbao(DemoSite):
    """云埠晚报: an evening paper of 2004. Nested tables, FONT tags, GBK called gb2312."""

    name = "wanbao"
    title = "云埠晚报"
    encoding = "gbk"
    content_type = "text/html"
    per_section = 5
    channels: ClassVar[Mapping[str, str]] = {
        "bendi": "本埠新闻", "wenti": "文化体育", "caijing": "财经三农", "fukan": "澜水副刊",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        suffix = f"_{part}" if part > 1 else ""
        return f"/{article.published:%Y/%m/%d}/content_{article.number}{suffix}.htm"

    def list_path(self, slug: str, page: int = 1) -> str:
        return f"/list_{_WANBAO_LISTS[slug]}_{page}.htm"

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        return {"/about.htm": lambda: self.page("about")}

    def turns(self, path: Callable[[int], str], page: int, pages: int) -> list[Markup]:
        form = "[{}]" if path(1).startswith("/list") else "{}"
        numbers = {n: form.format(n) for n in range(1, pages + 1)}
        return [
            *([link(path(page - 1), "上一页")] if page > 1 else []),
            *(Markup(f"<b>{text}</b>") if n == page else link(path(n), text) for n, text in numbers.items()),
            *([link(path(page + 1), "下一页")] if page < pages else []),
        ]


class Daobao(DemoSite):
    """島報: a Taiwanese daily of the 2000s, in Big5, dates in years of the Republic."""

    name = "daobao"
    title = "島報"
    encoding = "big5"
    content_type = "text/html; charset=Big5"
    channels: ClassVar[Mapping[str, str]] = {"local": "地方", "life": "生活", "science": "科學", "culture": "文化"}

    def path(self, article: InventedArticle, part: int = 1) -> str:
        return f"/news/paper/{article.number}" + (f"/{part}" if part > 1 else "")

    def list_path(self, slug: str, page: int = 1) -> str:
        return f"/list/{slug}" + (f"/{page}" if page > 1 else "")

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        return {"/about": lambda: self.page("about"), "/robots.txt": lambda: self.robots("User-agent: *\nAllow: /\n")}

    def turns(self, path: Callable[[int], str], page: int, pages: int) -> list[Markup]:
        numbers = {n: f"第 {n} 頁" for n in range(1, pages + 1)}
        return [Markup(text) if n == page else link(path(n), text) for n, text in numbers.items()]

    def more_values(self, article: InventedArticle) -> dict[str, object]:
        """Return the date: of every other article in years of the Republic (1912: 1)."""
        when = article.published
        if article.number % 2:
            return {"date": f"中華民國{when.year - 1911}年{when.month}月{when.day}日 {when:%H:%M}"}
        return {"date": f"{when:%Y/%m/%d %H:%M}"}


class Kuaixun(DemoSite):
    """快讯网: a portal of today. Hashed class names, JSON-LD, decorated links."""

    name = "kuaixun"
    title = "快讯网"
    per_page = 5
    channels: ClassVar[Mapping[str, str]] = {
        "science": "科学", "tech": "科技", "money": "财经", "life": "生活", "culture": "文体",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        return f"/a/{article.published:%Y%m%d}{article.number}" + (f"_{part}" if part > 1 else "") + ".html"

    def list_path(self, slug: str, page: int = 1) -> str:
        return f"/c/{slug}" + (f"?page={page}" if page > 1 else "")

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        prints = {_print_path(article): partial(self._print, article) for article in self.articles}
        return prints | {
            "/rss.xml": lambda: self.xml("rss", "application/rss+xml", articles=self.listed[:_RSS_LENGTH]),
            "/app": lambda: self.page("app"),
            "/robots.txt": lambda: self.robots("User-agent: *\nDisallow: /api/\n"),
        }

    def page(self, template: str, modified: datetime | None = None, **values: Any) -> DemoPage:
        """Decorate the links of a page; at home show the newest of all channels."""
        decoration = _DECORATIONS.get(template, "")
        return super().page(template, modified, decoration=decoration, newest=self.listed[:12], **values)

    def more_values(self, article: InventedArticle) -> dict[str, object]:
        data = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": article.title,
            "datePublished": article.published.isoformat(),
            "author": [{"@type": "Person", "name": name} for name in article.authors],
            "publisher": {"@type": "Organization", "name": self.title},
            "articleSection": self.channels[article.channel],
            "image": f"{self.origin}/img/{article.number}.svg",
            "mainEntityOfPage": self.url(article),
        }
        return {
            "json": Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")),
            "print_path": _print_path(article),
            "tags": article.details_of("tags"),
            "likes": article.number % 97,
            "comments": pick(read(self.name, "comments.txt").split("\n"), article.key, 3),
        }

    def _print(self, article: InventedArticle) -> DemoPage:
        """Make the print version: the same text, naming the page proper as canonical."""
        return self.html(self.templates.fill("print", {"article": article}), article.published)


class Zhengfu(DemoSite):
    """云埠市人民政府公告栏: notices with files; some are in the sitemap alone."""

    name = "zhengfu"
    title = "云埠市人民政府公告栏"
    per_page = 5
    channels: ClassVar[Mapping[str, str]] = {
        "tongzhi": "通知公告", "gongshi": "公示公告", "renshi": "人事信息", "jiedu": "政策解读",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        suffix = f"_{part}" if part > 1 else ""
        return f"{_folder(article)}t{article.published:%Y%m%d}_{article.number}{suffix}.html"

    def list_path(self, slug: str, page: int = 1) -> str:
        """Return a path such as /zwgk/tongzhi/index.html; the second page is index_1.html."""
        return f"/zwgk/{slug}/index{f'_{page - 1}' if page > 1 else ''}.html"

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        attached = {
            _folder(article) + name: partial(_file, name) for article in self.articles for name, _ in _files(article)
        }
        sitemaps = [f"{self.origin}/sitemap-pages.xml", f"{self.origin}/sitemap-articles.xml.gz"]
        lists = [(self.origin + self.list_path(slug), "") for slug in self.channels]
        robots = f"User-agent: *\nDisallow: /internal/\n\nSitemap: {self.origin}/sitemap_index.xml\n"
        return attached | {
            FORBIDDEN: lambda: self.page("duty"),
            "/robots.txt": lambda: self.robots(robots),
            "/sitemap_index.xml": lambda: self.xml("sitemap_index", urls=sitemaps),
            "/sitemap-pages.xml": lambda: self.xml("sitemap", urls=lists),
            "/sitemap-articles.xml.gz": self._packed_sitemap,
        }

    def turns(self, path: Callable[[int], str], page: int, pages: int) -> list[Markup]:
        back = [link(path(1), "首页"), link(path(page - 1), "上一页")] if page > 1 else []
        on = [link(path(page + 1), "下一页"), link(path(pages), "尾页")] if page < pages else []
        return [Markup(f"共{pages}页"), *back, *on]

    def more_values(self, article: InventedArticle) -> dict[str, object]:
        return {
            "made": article.detail("made") or f"{article.published:%Y-%m-%d}",
            "document": article.detail("doc") or "无",
            "files": _files(article),
        }

    def _packed_sitemap(self) -> DemoPage:
        urls = [(self.url(article), article.published.isoformat()) for article in self.articles]
        return DemoPage(gzip.compress(self.xml("sitemap", urls=urls).body, mtime=0), "application/gzip")


class Herald(DemoSite):
    """The Port Harrow Herald: a local paper in HTML5, with tags and authors."""

    name = "herald"
    title = "The Port Harrow Herald"
    channels: ClassVar[Mapping[str, str]] = {
        "news": "News", "business": "Business", "science": "Science", "sport": "Sport", "culture": "Life & Culture",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        return f"/{article.published:%Y/%m}/{_slug(article.title, words=6)}/" + (f"page/{part}/" if part > 1 else "")

    def list_path(self, slug: str, page: int = 1) -> str:
        return f"/{slug}/" + (f"page/{page}/" if page > 1 else "")

    def lists(self) -> dict[str, tuple[str, tuple[InventedArticle, ...]]]:
        tags = {tag: None for article in self.listed for tag in article.details_of("tags")}
        names = {name: None for article in self.listed for name in article.authors}
        return (
            super().lists()
            | {f"tag/{_slug(tag)}": (tag, tuple(a for a in self.listed if tag in a.details_of("tags"))) for tag in tags}
            | {f"author/{_slug(name)}": (name, tuple(a for a in self.listed if name in a.authors)) for name in names}
        )

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        moved = next(article for article in self.articles if article.number == MOVED)
        urls = [(self.url(article), f"{article.published:%Y-%m-%d}") for article in self.articles]
        return {
            "/feed.atom": lambda: self.xml("atom", "application/atom+xml", articles=self.listed[:_ATOM_LENGTH]),
            "/sitemap.xml": lambda: self.xml("sitemap", urls=urls),
            "/robots.txt": lambda: self.robots("User-agent: *\nDisallow:\n"),
            "/login": lambda: self.page("login"),
            f"/story.php?id={MOVED}": partial(self.redirect, self.path(moved)),
        }

    def turns(self, path: Callable[[int], str], page: int, pages: int) -> list[Markup]:
        newer = [link(path(page - 1), "Newer", 'rel="prev"')] if page > 1 else []
        return newer + ([link(path(page + 1), "Older", 'rel="next"')] if page < pages else [])

    def more_values(self, article: InventedArticle) -> dict[str, object]:
        authors, tags = article.authors, article.details_of("tags")
        names = " and ".join(link(self.list_path(f"author/{_slug(name)}"), name, 'rel="author"') for name in authors)
        when = article.published
        return {
            "byline": Markup(names and f"By {names} · "),
            "tags": [link(self.list_path(f"tag/{_slug(tag)}"), tag, 'rel="tag"') for tag in tags],
            "date": f"{when.day} {when:%B %Y}, {when.hour % 12 or 12}.{when:%M} {'am' if when.hour < 12 else 'pm'}",
        }


SITES: dict[str, type[DemoSite]] = {site.name: site for site in (Wanbao, Daobao, Kuaixun, Zhengfu, Herald)}


def build_sites(port: int) -> dict[str, DemoSite]:
    """Build all sites, by name, in the order in which the home pages are announced."""
    homes = [(site.title, f"http://{name}.localhost:{port}/") for name, site in SITES.items()]
    articles = load_articles()
    return {
        name: site(articles[name], port, [home for home in homes if home[0] != site.title])
        for name, site in SITES.items()
    }


def _print_path(article: InventedArticle) -> str:
    return f"/print/{article.number}.html"


def _folder(article: InventedArticle) -> str:
    return f"/zwgk/{article.channel}/{article.published:%Y%m}/"


def _files(article: InventedArticle) -> list[tuple[str, str]]:
    return [
        (f"P{article.published:%Y%m%d}{article.number}_{n}.{label.rpartition('.')[2]}", label)
        for n, label in enumerate(article.details_of("files"), 1)
    ]


def _file(name: str) -> DemoPage:
    kind = name.rpartition(".")[2]
    head = b"%PDF-1.4\n%%EOF\n" if kind == "pdf" else b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64)
    return DemoPage(head, _FILE_TYPES[kind])


def _slug(text: str, words: int = 9) -> str:
    return "-".join(re.findall("[a-z0-9]+", text.lower().replace("'", ""))[:words])
