"""The newsroom's articles, read from `articles/<site>.txt`.

The format, in UTF-8; blank lines separate entries, and lines that start with `# ` between entries are comments:

    === 1001                                     the article's number
    Title
    2024-03-05 08:20 | channel | authors | source | key=value;key=value;flag
    One paragraph a line.
    ---                                          the article goes on on a further page

Authors are separated by `、` or `,`. The last field may be left out; its keys are read by the site's templates, and the
flag `hidden` keeps an article out of all lists. A reprint names its original in the first line:

    === 2101 exact wanbao/1009                   no title and no paragraphs: both are the original's
    === 4101 script kuaixun/2021                 the same in the other script; authors and source are given
    === 2111 edited wanbao/1001                  written out; `$2` is the original's second paragraph
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from importlib.resources import files
from itertools import groupby

from opencc import OpenCC

SITES = ("wanbao", "daobao", "kuaixun", "zhengfu", "herald")
REPRINT_KINDS = ("exact", "edited", "script")

_CHINA, _QUEENSLAND = timezone(timedelta(hours=8)), timezone(timedelta(hours=10))
_PART_BREAK = "---"
_QUOTES = {"daobao": str.maketrans("“”‘’", "「」『』")}
_PLAIN_QUOTES = str.maketrans("「」『』", "“”‘’")


@dataclass(frozen=True, slots=True)
class InventedArticle:
    """One article as it stands in the newsroom; its `number` is unique there.

    `parts` are the paragraphs of each page, `details` are shown by this site's pages only (tags, document number,
    attached files). A `hidden` one is in the sitemap alone. `reprint_of` is `site/number` of the original, or empty.
    """

    site: str
    number: int
    title: str
    authors: tuple[str, ...]
    source: str
    published: datetime
    channel: str
    parts: tuple[tuple[str, ...], ...]
    details: tuple[tuple[str, str], ...] = ()
    hidden: bool = False
    reprint_of: str = ""
    reprint_kind: str = ""

    @property
    def key(self) -> str:
        return f"{self.site}/{self.number}"

    @property
    def paragraphs(self) -> tuple[str, ...]:
        return tuple(paragraph for part in self.parts for paragraph in part)

    @property
    def summary(self) -> str:
        """First paragraph without its dateline, cut short."""
        text = re.sub(r"^【[^】]*】", "", self.parts[0][0])
        limit, mark = (160, "...") if self.site == "herald" else (60, "……")
        return text if len(text) <= limit else text[:limit].rstrip() + mark

    def detail(self, name: str) -> str:
        return dict(self.details).get(name, "")

    def details_of(self, name: str) -> tuple[str, ...]:
        return tuple(value for value in self.detail(name).split(",") if value)


@lru_cache(maxsize=1)
def load_articles() -> dict[str, tuple[InventedArticle, ...]]:
    """Read the articles of each site, newest first.

    Raises:
        ValueError: a file is not in the format; the message names file and entry.
    """
    read: dict[str, InventedArticle] = {}
    for site in SITES:
        text = files(__package__).joinpath("articles", f"{site}.txt").read_text(encoding="utf-8")
        for lines in _entries(text):
            try:
                article = _parse(site, lines)
            except (ValueError, IndexError) as error:
                msg = f"articles/{site}.txt, entry {lines[0]!r}: {error}"
                raise ValueError(msg) from error
            if article.key in read:
                msg = f"articles/{site}.txt, entry {lines[0]!r}: the number is taken"
                raise ValueError(msg)
            read[article.key] = article
    complete = [_resolve(article, read) for article in read.values()]
    return {
        site: tuple(sorted(articles, key=lambda article: (article.published, article.number), reverse=True))
        for site, articles in groupby(complete, key=lambda article: article.site)
    }


def _entries(text: str) -> list[list[str]]:
    entries: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("=== "):
            entries.append([line])
        elif line and not line.startswith("# "):
            if not entries:
                msg = f"text before the first entry: {line!r}"
                raise ValueError(msg)
            entries[-1].append(line)
    return entries


def _parse(site: str, lines: list[str]) -> InventedArticle:
    head = lines[0].split()[1:]
    number = int(head[0])
    kind, original = head[1:] or ("", "")
    if kind and kind not in REPRINT_KINDS:
        msg = f"{kind!r} is not one of {', '.join(REPRINT_KINDS)}"
        raise ValueError(msg)
    body = lines[1:] if kind in {"exact", "script"} else lines[2:]
    title = "" if kind in {"exact", "script"} else lines[1]
    date, channel, authors, source, *rest = (field.strip() for field in body[0].split("|"))
    details = tuple(pair.partition("=")[::2] for pair in (rest[0].split(";") if rest else ()) if pair)
    parts = tuple(
        tuple(group) for is_break, group in groupby(body[1:], key=lambda line: line == _PART_BREAK) if not is_break
    )
    return InventedArticle(
        site=site,
        number=number,
        title=title,
        authors=tuple(name.strip() for name in re.split("[、,]", authors) if name.strip()),
        source=source,
        published=datetime.fromisoformat(date).replace(tzinfo=_QUEENSLAND if site == "herald" else _CHINA),
        channel=channel,
        parts=parts,
        details=tuple(detail for detail in details if detail[1]),
        hidden=("hidden", "") in details,
        reprint_of=original,
        reprint_kind=kind,
    )


def _resolve(article: InventedArticle, read: dict[str, InventedArticle]) -> InventedArticle:
    if not article.reprint_kind:
        return article
    original = read[article.reprint_of]
    if article.reprint_kind == "exact":
        return replace(article, title=original.title, parts=original.parts)
    if article.reprint_kind == "script":
        parts = tuple(tuple(_convert(line, article.site) for line in part) for part in original.parts)
        return replace(article, title=_convert(original.title, article.site), parts=parts)
    whole = original.paragraphs
    written = [[whole[int(line[1:]) - 1] if line[0] == "$" else line for line in part] for part in article.parts]
    return replace(article, parts=tuple(map(tuple, written)))


def _convert(text: str, site: str) -> str:
    if site in _QUOTES:
        return str(_converter("s2tw").convert(text)).translate(_QUOTES[site])
    return str(_converter("tw2s").convert(text)).translate(_PLAIN_QUOTES)


@lru_cache(maxsize=2)
def _converter(name: str) -> OpenCC:
    return OpenCC(name)
