"""The articles of the newsroom as material for experiments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from .newsroom import build_sites

if TYPE_CHECKING:
    from .content import InventedArticle

_PORT: Final = 8765
"""Stands in the URLs alone: nothing listens there."""
_SUBJECTS: Final = {
    **dict.fromkeys(("bendi", "local", "news"), "local"),
    **dict.fromkeys(("caijing", "money", "business"), "business"),
    **dict.fromkeys(("wenti", "fukan", "culture"), "culture"),
    **dict.fromkeys(("science", "tech"), "science"),
    **dict.fromkeys(("tongzhi", "gongshi", "jiedu", "renshi"), "government"),
}
"""Channels of the sites that mean the same; the others keep their names."""


def sample_pages() -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the first page of each article with a row of what it holds."""
    for site in build_sites(_PORT).values():
        routes = site.routes()
        for article in site.articles:
            row = _row(article, article.parts[0]) | {"url": site.url(article), "host": f"{site.name}.example"}
            yield routes[site.path(article)]().body, row


def sample_texts() -> Iterator[dict[str, Any]]:
    """Yield each article with its channel, tags, page, and what it reprints."""
    for site in build_sites(_PORT).values():
        routes = site.routes()
        for article in site.articles:
            page = routes[site.path(article)]().body.decode(site.encoding, "replace")
            yield _row(article, article.paragraphs) | {"html": page, "original": article.reprint_of}


def _row(article: InventedArticle, paragraphs: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": article.key,
        "title": article.title,
        "text": "\n".join(paragraphs),
        "label": _SUBJECTS.get(article.channel, article.channel),
        "keys": list(article.details_of("tags")),
        "source": article.site,
    }
