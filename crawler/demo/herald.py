"""The Port Harrow Herald: an English local paper in HTML5, with some dead ends."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING, ClassVar

from .site import DemoPage, DemoSite, Listing, Story, link
from .xml import atom, robots, sitemap, xml_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .content import InventedArticle

FEED_LENGTH = 10
MOVED = 5011
"""The article whose old URL is still linked."""

_LOGIN = '<h1>Log in</h1><form method="post"><input name="email"><input name="password" type="password"></form>'
_STYLE = """
body{margin:0 auto;max-width:1020px;font:18px/1.6 Georgia,serif;color:#1b1b1b;padding:0 16px}
header.site{border-bottom:3px solid #111;padding:18px 0}
header.site a{color:#111;text-decoration:none;font-size:40px;font-weight:700}
nav.site{font-family:sans-serif;font-size:15px;padding:8px 0;border-bottom:1px solid #ccc}
nav.site a{margin-right:20px}
a{color:#0b4f7d}
.layout{display:grid;grid-template-columns:1fr 260px;gap:36px}
aside{font-family:sans-serif;font-size:15px}
article h1{font-size:36px;line-height:1.2}
.byline,.dateline,footer{color:#666;font-family:sans-serif;font-size:14px}
.promo{background:#f1efe8;padding:12px}
"""


class Herald(DemoSite):
    """The local paper."""

    name = "herald"
    title = "The Port Harrow Herald"
    channels: ClassVar[Mapping[str, str]] = {
        "news": "News", "business": "Business", "science": "Science", "sport": "Sport", "culture": "Life & Culture",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        """/2024/01/ferry-timetable-cut-leaves-night-workers/."""
        return f"/{article.published:%Y/%m}/{_slug(article.title, words=6)}/" + (f"page/{part}/" if part > 1 else "")

    def list_path(self, slug: str, page: int = 1) -> str:
        """/news/ and /news/page/2/."""
        return f"/{slug}/" + (f"page/{page}/" if page > 1 else "")

    def lists(self) -> dict[str, tuple[str, tuple[InventedArticle, ...]]]:
        """Sections, tags and authors."""
        tags = {tag: None for article in self.listed for tag in article.details_of("tags")}
        names = {name: None for article in self.listed for name in article.authors}
        return (
            super().lists()
            | {f"tag/{_slug(tag)}": (tag, tuple(a for a in self.listed if tag in a.details_of("tags"))) for tag in tags}
            | {f"author/{_slug(name)}": (name, tuple(a for a in self.listed if name in a.authors)) for name in names}
        )

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Return feed, sitemap, login, the old URL, and a robots.txt without the sitemap."""
        moved = next(article for article in self.articles if article.number == MOVED)
        return {
            "/feed.atom": lambda: atom(self, self.listed[:FEED_LENGTH]),
            "/sitemap.xml": lambda: xml_page(
                sitemap((self.url(article), f"{article.published:%Y-%m-%d}") for article in self.articles)
            ),
            "/robots.txt": lambda: robots("User-agent: *\nDisallow:\n"),
            "/login": lambda: self.html(self._frame("Log in", _LOGIN)),
            f"/story.php?id={MOVED}": partial(self.redirect, self.path(moved)),
        }

    def home(self) -> str:
        """Show the newest article in full width, then the sections."""
        first = self.listed[0]
        sections = "".join(
            f"<section><h2>{link(self.list_path(slug), name)}</h2>{self._items(self.lists()[slug][1][:4])}</section>"
            for slug, name in self.channels.items()
        )
        friends = " · ".join(link(url, title) for title, url in self.friends)
        return self._frame(
            self.title,
            f"<section><h1>{link(self.path(first), first.title)}</h1><p>{escape(first.summary)}</p></section>{sections}"
            f"<p class=byline>Neighbours: {friends}</p>",
        )

    def listing(self, listing: Listing) -> str:
        """Show a section, tag or author page."""
        turns = []
        if listing.page > 1:
            turns.append(link(self.list_path(listing.slug, listing.page - 1), "Newer", 'rel="prev"'))
        if listing.page < listing.pages:
            turns.append(link(self.list_path(listing.slug, listing.page + 1), "Older", 'rel="next"'))
        return self._frame(
            f"{listing.name} | {self.title}",
            f"<h1>{escape(listing.name)}</h1>{self._items(listing.articles)}<nav class=pages>{' '.join(turns)}</nav>",
        )

    def story(self, story: Story) -> str:
        """Show an ARTICLE element with everything in its place."""
        article = story.article
        text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in story.paragraphs)
        authors = " and ".join(
            link(self.list_path(f"author/{_slug(name)}"), name, 'rel="author"') for name in article.authors
        )
        tags = " ".join(
            link(self.list_path(f"tag/{_slug(tag)}"), tag, 'rel="tag"') for tag in article.details_of("tags")
        )
        head = (
            f'<link rel="canonical" href="{self.url(article)}">'
            f'<meta name="description" content="{escape(article.summary)}">'
            f'<meta property="article:published_time" content="{article.published.isoformat()}">'
            + "".join(f'<meta name="author" content="{escape(name)}">' for name in article.authors)
        )
        return self._frame(
            f"{article.title} | {self.title}",
            f"<article><header><p class=dateline>{self.channel_link(article)}</p>"
            f"<h1>{escape(article.title)}</h1><p class=byline>{authors and f'By {authors} · '}"
            f'<time datetime="{article.published.isoformat()}">{_long_date(article)}</time></p></header>\n{text}\n'
            f"<footer>Filed under {tags}</footer></article>"
            f"<section class=related><h2>More from the Herald</h2>{self._items(story.related)}</section>",
            head,
        )

    def _items(self, articles: Iterable[InventedArticle]) -> str:
        """List articles, one a line."""
        rows = "".join(
            f"<li>{link(self.path(article), article.title)} "
            f'<time class=byline datetime="{article.published.isoformat()}">'
            f"{article.published.day} {article.published:%b %Y}</time></li>"
            for article in articles
        )
        return f"<ul>{rows}</ul>"

    def _frame(self, title: str, body: str, head: str = "") -> str:
        """Masthead, side column, imprint."""
        menu = "".join(link(self.list_path(slug), name) for slug, name in self.channels.items())
        hot = "".join(f"<li>{link(self.path(article), article.title)}</li>" for article in self.hot)
        return f"""<!DOCTYPE html><html lang="en-AU"><head><meta charset="utf-8"><title>{escape(title)}</title>
<link rel="alternate" type="application/atom+xml" href="/feed.atom">{head}<style>{_STYLE}</style></head><body>
<header class=site>{link("/", self.title)}</header>
<nav class=site>{menu}{link("/competitions/", "Competitions")}{link("/login?next=/", "Log in", 'rel="nofollow"')}</nav>
<div class=layout><main>{body}</main><aside><h3>Most read</h3><ol>{hot}</ol>
<p>From our files: {link(f"/story.php?id={MOVED}", "the bell of the Adelaide Moon")}</p>
<div class=promo><b>Advertisement</b><br>Verity's Hardware, Wharf Street.
If we haven't got it, you don't need it.</div></aside></div>
<footer>© The Port Harrow Herald. Printed on Thursdays, when the press is in the mood.
{link("/feed.atom", "Feed")} · <a href="mailto:desk@herald.example">Write to the desk</a></footer></body></html>"""


def _slug(text: str, words: int = 9) -> str:
    """Make a path segment of the first words of a title."""
    return "-".join(re.findall("[a-z0-9]+", text.lower().replace("'", ""))[:words])


def _long_date(article: InventedArticle) -> str:
    """18 January 2024, 7.30 am."""
    when = article.published
    return f"{when.day} {when:%B %Y}, {when.hour % 12 or 12}.{when:%M} {'am' if when.hour < 12 else 'pm'}"
