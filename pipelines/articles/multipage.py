"""Articles of several pages: which belong together, their order and text.

Lines at the seam of two parts that stood there before are left out; inside a part nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import unescape
from typing import NamedTuple, Self

from db.records.article import GUESS, NewArticle
from db.records.part import Chain, Joiner, Part

from ..dedup.normalize import normalize
from ..records import Description, Signature

MAX_PARTS = 50
"""Most pages of one article."""

# Chosen by hand.
_SEAM_LINES = 6
_OVERLAP_LINES = 3
_MOST_IMAGES = 100
_LEAST_SHARED_CHARS = 6
_PAGE_MARK = re.compile(
    r"(?:[\s_\-–—|:：]{0,3}(?:[(（\[【]\s?\d{1,3}(?:\s?/\s?\d{1,3})?\s?[)）\]】]|[(（\[【]?第\s?\d{1,3}\s?[页頁][)）\]】]?|"
    r"[(（\[]?page \d{1,3}(?: of \d{1,3})?[)）\]]?|_\d{1,3}))$",
    re.IGNORECASE,
)
_PAGER_WORD = re.compile(
    r"(?:[上下]一?|前一|后一|尾|末|首)[页頁]|第\s?\d{1,3}(?:\s?/\s?\d{1,3})?\s?[页頁]|[共全]\s?\d{1,3}\s?[页頁]|"
    r"page \d{1,3}(?: of \d{1,3})?|next page|previous page",
    re.IGNORECASE,
)
_PAGER_CHARS = 60
_TAG = re.compile(r"<[^<>]{1,40}>")
_EMPTY_LIST = re.compile(r"<(ul|ol)>\n?</\1>\n?")


def continues(title: str, other: str) -> bool:
    """Tell whether two headlines are of one article: they differ in page numbers only.

    A page without a headline can be a part of any; one headline may be the other one shortened.

    >>> continues("长江大桥通车", "长江大桥通车(2)")
    True
    >>> continues("长江大桥通车", "市图书馆新馆开放")
    False
    """
    if title == other:  # nearly always, and much faster
        return True
    short, long = sorted((_bare(title), _bare(other)), key=len)
    return not short or short == long or (len(short) >= _LEAST_SHARED_CHARS and short in long)


def arrange(parts: Sequence[Part]) -> list[Chain]:
    """Put the parts of a group in order by their next and previous pages.

    Where these contradict each other, next is believed; a page without a previous one begins an article. A gap is
    closed when the parts on both sides name its URL. The chains have a fixed order; each part is in exactly one.
    Cost: O(n log n) for n parts, and O(n) more for each link that may close a ring.
    """
    order = sorted(parts, key=lambda part: (part.number or MAX_PARTS, part.position or MAX_PARTS, part.id))
    ties = _Ties(order)
    chains: list[Chain] = []
    repeats: dict[int, list[int]] = {}
    for head in order:
        if head.id not in ties.before:
            twin = ties.twin(head)
            if twin is None:
                chains.append(ties.walk(head))
            else:
                repeats.setdefault(twin, []).append(head.id)
    chains = [_with_repeats(chain, repeats) for chain in chains]
    placed = {key for chain in chains for key in (*chain.parts, *chain.repeats, *chain.surplus)}
    # what followed only a page that repeats another one
    chains += [Chain((part.id,)) for part in order if part.id not in placed]
    return chains


class _Ties:
    def __init__(self, order: Sequence[Part]) -> None:
        self.by_id: dict[int | None, Part] = {part.id: part for part in order}
        self.after: dict[int, int] = {}
        self.before: dict[int, int] = {}
        self.gaps: dict[int, int] = {}
        refused = [(a, b) for a in order if (b := self.by_id.get(a.next_id)) is not None and not self._tie(a, b)]
        for part in order:
            if (previous := self.by_id.get(part.previous_id)) is not None:
                self._tie(previous, part)
        for first, second in refused:  # of two pages with the same next one, that which itself has been tied
            holder = self.before.get(second.id)
            if holder is not None and first.id in self.before and holder not in self.before:
                del self.after[holder], self.before[second.id]
                if not self._tie(first, second):
                    self._tie(self.by_id[holder], second)
        named = {part.next_id: part for part in order if part.next_id is not None and part.next_id not in self.by_id}
        for part in order:
            gap = part.previous_id
            if gap is not None and gap in named and self._tie(named[gap], part):
                self.gaps[named[gap].id] = gap

    def _tie(self, first: Part, second: Part) -> bool:
        """Tie two parts if both are free and agree and no ring is closed."""
        free = first.id not in self.after and second.id not in self.before
        if not free or not continues(first.title, second.title) or first.id in self.onwards(second.id):
            return False
        self.after[first.id] = second.id
        self.before[second.id] = first.id
        return True

    def onwards(self, key: int | None) -> Iterator[int]:
        while key is not None:
            yield key
            key = self.after.get(key)

    def twin(self, head: Part) -> int | None:
        """The part in whose place a page would stand: its other URL."""
        place = None if head.previous_id is None else self.after.get(head.previous_id)
        if place is None and head.next_id is not None:
            place = self.before.get(head.next_id)
        if place is None or place == head.id or not continues(self.by_id[place].title, head.title):
            return None
        twin = self.by_id[place]
        return place if twin.number == head.number or twin.text_hash == head.text_hash else None

    def walk(self, head: Part) -> Chain:
        parts: list[int] = []
        repeats: list[int] = []
        surplus: list[int] = []
        missing: list[int | None] = [head.previous_id]
        texts: set[int] = set()
        ended = False
        for key in self.onwards(head.id):
            last = self.by_id[key]
            ended = last.text_hash != 0 and last.text_hash in texts
            (repeats if ended else parts if len(parts) < MAX_PARTS else surplus).append(key)
            texts.add(last.text_hash)
            missing.append(self.gaps.get(key))
        # a server that answers any number with the same page goes on for ever
        if not ended and len(parts) < MAX_PARTS:
            missing.append(last.next_id)
        unknown = tuple(key for key in missing if key is not None and key not in self.by_id)
        return Chain(tuple(parts), tuple(repeats), tuple(surplus), unknown)


def _with_repeats(chain: Chain, repeats: dict[int, list[int]]) -> Chain:
    other_urls = [key for part in (*chain.parts, *chain.repeats, *chain.surplus) for key in repeats.get(part, ())]
    return replace(chain, repeats=(*chain.repeats, *other_urls)) if other_urls else chain


def join(articles: Sequence[NewArticle]) -> NewArticle:
    """Make one article of its parts (at least one, in order): all texts, all images.

    Other data are those of the first part that has any. Lines that each part repeats at its seams are kept once, above
    where they stand first, below where they stand last; page numbers go.
    Cost: O(characters).
    """
    first = articles[0]
    if len(articles) == 1:
        return first
    texts, htmls = [], []
    for text, html in _without_repeats(_saying_more(articles)):
        if text:
            texts.append(text)
            htmls.append(html)
    dated = min(articles, key=lambda one: (not one.published_at, one.published_precision == GUESS))
    images = dict(pair for one in reversed(articles) for pair in reversed(one.images))
    ordered = dict.fromkeys(url for one in articles for url, _ in one.images)
    chars = sum(len(one.text) for one in articles)
    return replace(
        first,
        title=_PAGE_MARK.sub("", first.title) or first.title,
        authors=_first(articles, lambda one: one.authors),
        source=_first(articles, lambda one: one.source),
        published_at=dated.published_at,
        published_utc=dated.published_utc,
        published_precision=dated.published_precision,
        published_from=dated.published_from,
        description=_first(articles, lambda one: one.description),
        tags=_first(articles, lambda one: one.tags),
        section=_first(articles, lambda one: one.section),
        text="\n".join(texts),
        html="\n".join(htmls),
        quality=sum(one.quality * len(one.text) for one in articles) / max(1, chars),
        related=_first(articles, lambda one: one.related),
        images=tuple((url, images[url]) for url in ordered)[:_MOST_IMAGES],
        seen=max(one.seen for one in articles),
    )


def _saying_more(articles: Sequence[NewArticle]) -> list[NewArticle]:
    earlier_lines: set[str] = set()
    parts: list[NewArticle] = []
    for one in articles:
        lines = set(one.text.split("\n"))
        if not parts or not lines <= earlier_lines:
            parts.append(one)
        earlier_lines |= lines
    return parts


def _first(articles: Sequence[NewArticle], value: Callable[[NewArticle], str]) -> str:
    return next(filter(None, map(value, articles)), "")


def _without_repeats(articles: Sequence[NewArticle]) -> Iterator[tuple[str, str]]:
    pages = [_Page.of(one.text) for one in articles]
    title = {_bare(articles[0].title)} - {""}
    above: set[str] = set()
    for n, (one, page) in enumerate(zip(articles, pages, strict=True)):
        below = {line for later in pages[n + 1 :] for line in later.lines[later.foot :]}
        before = set(pages[n - 1].lines[-_OVERLAP_LINES:]) if n else set()
        lines = page.lines
        dropped = {i for i in range(page.foot, len(lines)) if lines[i] in below}
        if n:
            repeated = above | before
            dropped |= {i for i in range(page.head) if lines[i] in repeated or _bare(lines[i]) in title}
        dropped |= {i for i in (*range(page.head), *range(page.foot, len(lines))) if _is_pager(lines[i])}
        above.update(lines[: page.head])
        kept_lines = [line for i, line in enumerate(lines) if i not in dropped]
        yield "\n".join(kept_lines), _cut(one.html, [lines[i] for i in sorted(dropped)])


class _Page(NamedTuple):
    lines: list[str]
    head: int
    foot: int

    @classmethod
    def of(cls, text: str) -> Self:
        lines = text.split("\n")
        head = min(_SEAM_LINES, (len(lines) + 1) // 2)
        return cls(lines, head, max(head, len(lines) - _SEAM_LINES))


def _is_pager(line: str) -> bool:
    if len(line) > _PAGER_CHARS or not _PAGER_WORD.search(line):
        return False
    return not any(map(str.isalpha, _PAGER_WORD.sub("", line)))


def _cut(html: str, lines: Sequence[str]) -> str:
    rest = list(lines)
    lines_left = []
    for line in html.split("\n"):
        if rest and unescape(_TAG.sub("", line)).strip() == rest[0].strip():
            del rest[0]
        else:
            lines_left.append(line)
    return _EMPTY_LIST.sub("", "\n".join(lines_left)).strip("\n")


@lru_cache(maxsize=1024)
def _bare(title: str) -> str:
    return normalize(_PAGE_MARK.sub("", title.strip()))


def make_joiner(sign: Callable[[str, str], Signature], describe: Callable[[str, str, str], Description]) -> Joiner:
    """Build the store's functions on texts, given those that sign and describe them."""

    def joined(articles: Sequence[NewArticle]) -> NewArticle:
        article = join(articles)
        signed = sign(article.title, article.text)
        described = describe(article.title, article.text, article.language)
        values = described.values()
        if article.harm_kind and described.harm is not None and (article.harm or 0.0) > described.harm:
            # by the title of the document, which the joined text is without
            values |= {name: getattr(article, name) for name in ("harm", "harm_kind", "harm_detail")}
        return replace(article, text_hash=signed.exact, features=signed.features, length=signed.length, **values)

    return Joiner(continues, arrange, joined)
