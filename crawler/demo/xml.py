"""The newsroom's machine-readable lists: RSS, Atom, sitemaps and robots.txt."""

from __future__ import annotations

from email.utils import format_datetime
from html import escape
from typing import TYPE_CHECKING

from .site import DemoPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .content import InventedArticle
    from .site import DemoSite

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def rss(site: DemoSite, articles: Sequence[InventedArticle]) -> DemoPage:
    """Make an RSS 2.0 feed with decorated links, as feeds of campaigns have them."""
    items = "".join(
        f"<item><title>{escape(article.title)}</title>"
        f"<link>{escape(site.url(article) + '?utm_source=rss&utm_medium=feed')}</link>"
        f'<guid isPermaLink="false">{article.number}</guid>'
        f"<pubDate>{format_datetime(article.published)}</pubDate>"
        f"<description>{escape(article.summary)}</description></item>\n"
        for article in articles
    )
    text = (
        f'{_HEAD}<rss version="2.0"><channel><title>{escape(site.title)}</title><link>{site.origin}/</link>'
        f"<description>{escape(site.title)}</description>\n{items}</channel></rss>\n"
    )
    return DemoPage(text.encode(), "application/rss+xml; charset=utf-8", modified=articles[0].published)


def atom(site: DemoSite, articles: Sequence[InventedArticle]) -> DemoPage:
    """Make an Atom 1.0 feed."""
    entries = "".join(
        f"<entry><title>{escape(article.title)}</title>"
        f'<link rel="alternate" href="{escape(site.url(article))}"/><id>{escape(site.url(article))}</id>'
        f"<published>{article.published.isoformat()}</published><updated>{article.published.isoformat()}</updated>"
        + "".join(f"<author><name>{escape(name)}</name></author>" for name in article.authors)
        + f"<summary>{escape(article.summary)}</summary></entry>\n"
        for article in articles
    )
    text = (
        f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom"><title>{escape(site.title)}</title><id>{site.origin}/</id>'
        f'<link rel="self" href="{site.origin}/feed.atom"/><link rel="alternate" href="{site.origin}/"/>'
        f"<author><name>{escape(site.title)}</name></author>"
        f"<updated>{articles[0].published.isoformat()}</updated>\n{entries}</feed>\n"
    )
    return DemoPage(text.encode(), "application/atom+xml; charset=utf-8", modified=articles[0].published)


def sitemap(urls: Iterable[tuple[str, str]]) -> str:
    """Write a sitemap of URL and last change (ISO, may be empty)."""
    rows = "".join(
        f"<url><loc>{escape(url)}</loc>{changed and f'<lastmod>{changed}</lastmod>'}</url>\n" for url, changed in urls
    )
    return f'{_HEAD}<urlset xmlns="{_SITEMAP}">\n{rows}</urlset>\n'


def sitemap_index(urls: Iterable[str]) -> str:
    """Write a sitemap of sitemaps."""
    rows = "".join(f"<sitemap><loc>{escape(url)}</loc></sitemap>\n" for url in urls)
    return f'{_HEAD}<sitemapindex xmlns="{_SITEMAP}">\n{rows}</sitemapindex>\n'


def xml_page(text: str) -> DemoPage:
    """Serve a sitemap."""
    return DemoPage(text.encode(), "application/xml; charset=utf-8")


def robots(text: str) -> DemoPage:
    """Serve a robots.txt."""
    return DemoPage(text.encode(), "text/plain; charset=utf-8")
