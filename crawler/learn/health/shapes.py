"""What kind of page an address probably leads to: its shape, so that pages are compared with their like.

A crawl meets the pages of a host in no fair order: lists first, then articles, then old archives. The share of articles
among "the last forty pages" says more about that order than about the site. Among the last forty pages whose addresses
look like `/news/2024/9/9.html` it says much.

Pure, and linear in the length of the address.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pipelines.records import BlockKind

MOST_WORDS = 12
"""Different names of folders that are kept apart on a host; the others count as one."""
_MOST_PARTS = 6
_MOST_CHARS = 80

_LISTS = frozenset(
    [
        "index",
        "default",
        "home",
        "main",
        "list",
        "lists",
        "channel",
        "channels",
        "category",
        "categories",
        "cat",
        "tag",
        "tags",
        "topic",
        "topics",
        "search",
        "node",
        "archive",
        "archives",
        "author",
        "authors",
        "user",
        "users",
        "page",
        "pages",
        "section",
        "sections",
        "forum",
        "member",
        "members",
        "login",
        "register",
        "feed",
        "rss",
        "label",
        "keyword",
        "calendar",
        "album",
        "photos",
        "gallery",
        "video",
        "videos",
        "special",
        "zt",
    ]
)
"""Names of folders and files that tell pages of a kind of their own; kept apart however many there are."""
_GROUPS = {
    BlockKind.NAVIGATION: "n",
    BlockKind.FOOTER: "n",
    BlockKind.OTHER: "n",
    BlockKind.PAGINATION: "p",
    BlockKind.SEED: "s",
}
_NUMBERED_LIST = re.compile(r"([a-z]{2,12})[-_]?\d{0,7}")
_DATE = re.compile(r"((?:19|20)\d\d)(?:[-_]?(?:0[1-9]|1[0-2])(?:[-_]?[0-3]\d)?)?")
_DIGITS_OF_YEAR = 4
_LONG = 24


def shape(url: str, found_in: int, words: list[str]) -> str:
    """What an address has in common with others of its kind.

    Numbers become `9`, headlines in addresses `slug`, other words of the file `w`; years stay, because an archive may
    look otherwise than today's pages. Names of folders stay as long as there are few of them. The first letter says in
    which kind of block the link stood: a menu seldom leads to what a list of headlines leads to.

    Args:
        url: canonical.
        found_in: a `BlockKind`.
        words: names of folders of this host that are kept apart; grows up to `MOST_WORDS`.

    Returns:
        At most 80 characters.

    >>> shape("http://a.example/news/2024/03/12/123456.html", 1, [])
    'a/news/2024/9/9/9.html'
    >>> shape("http://a.example/tag/weather?page=3", 3, [])
    'n/tag/w?page'
    """
    parts = urlsplit(url)
    *folders, last = parts.path.lower().split("/")[1:] or [""]
    names = [_folder(name, words) for name in folders[:_MOST_PARTS]]
    stem, dot, ending = last.rpartition(".")
    if not dot or len(ending) > 5:
        stem, dot, ending = last, "", ""
    names.append(_file(stem) + dot + ending)
    query = ",".join(sorted({pair.partition("=")[0][:12] for pair in parts.query.split("&")[:5] if pair}))
    group = _GROUPS.get(BlockKind(found_in), "a")
    return f"{group}/{'/'.join(names)}{'?' if query else ''}{query}"[:_MOST_CHARS]


def _folder(name: str, words: list[str]) -> str:
    dated = _DATE.fullmatch(name)
    if dated:
        return dated[1] if len(name) == _DIGITS_OF_YEAR else f"{dated[1]}d"
    common = _common(name)
    if common or not name:
        return common
    if name not in words:
        if len(words) >= MOST_WORDS or len(name) > _LONG or not name.isalpha():
            return "w"
        words.append(name)
    return name


def _file(stem: str) -> str:
    if "%" in stem or stem.count("-") >= 2:
        return "slug"  # words, of another alphabet perhaps
    common = _common(stem)  # no years: a number may look like one
    if common or not stem:
        return common
    return "slug" if len(stem) > _LONG else "w"


def _common(name: str) -> str:
    """What folders and files have in common; empty for a word."""
    listed = _NUMBERED_LIST.fullmatch(name)
    if listed and listed[1] in _LISTS:
        return listed[1]
    if name.isdigit():
        return "9"
    digits = sum(map(str.isdigit, name))
    return "w9" if digits >= 4 or (digits and len(name) <= _LONG) else ""
