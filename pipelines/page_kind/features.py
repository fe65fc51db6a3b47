"""Features of a whole page: the evidence by which its kind is judged.

What the text is like and how sure it is, what stands around it, what repeats, which forms there are, what the page says
of itself. Amounts are logarithms; nothing goes by the language, the length of the markup or the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decode.characters import Counts
from ..decode.text import squeeze
from ..document.class_names import CATEGORIES, TAG_CATEGORIES, find_categories
from ..document.document import Document, sum_sub_trees
from ..document.noise import COMMENT, DATE
from ..records import BlockKind, Extraction, Links, Metadata

Values = NDArray[np.float64]

_LOW: Final = 0.25
_LIKELY: Final = 0.85
_UNLIKELY: Final = 0.5
"""Stand-ins for the confidence of a method that does not calibrate it, from `_LOW` on and below."""
_SENTENCE: Final = 60
_HEADLINE: Final = 20
"""A linked headline is longer than a user's name; a Chinese character counts for two and a half letters."""
_SHORT: Final = 30
_LINE_CHARS: Final = 60
"""Lines in which a date or price is looked for."""
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_FIELDS: Final = {"password": 0, "email": 1, "tel": 1, "text": 2, "": 2, "search": 3, "checkbox": 4, "radio": 4}
_FIELD_NAMES: Final = ("password", "email", "text", "search", "choice", "textarea", "select", "button")
_TEXTAREA, _SELECT, _BUTTON = 5, 6, 7
_SEARCH = re.compile(r"search|query|keyword|^[qks]$|\bs\b")
_SUBMITS: Final = frozenset({"submit", "button", "image"})
_PRICE = re.compile(
    r"(?:[$€£¥￥₽₹₩]|\b(?:usd|eur|rs|r\$))\s?\d|\d\s?(?:[€£₽元円₴]|руб|zł|kč|kr\b|грн|eur\b|usd\b|lei\b|ft\b)"
)
_MEMBER = re.compile(r"user|member|author|poster|profile|avatar|nickname|byline")
_PRODUCT = re.compile(r"product|price|cart|basket|sku|add-?to|buy|shop|offer")
_PROSE_TAGS: Final = frozenset({"p", "br", "span", "strong", "b", "font", "em", "i", "h1", "h2", "h3", "h4"})
_LIST_PATH = re.compile(
    r"(?:^|/)(?:index|default|home|main|list|channel|category|categories|tag|tags|topics?|search|node|archives?|"
    r"author|page|section|forum|node_\d{1,7}|list[-_]?\d{0,5}|index_\d{1,5})"
    r"(?:\.\w{2,5})?/?$|/(?:tag|tags|category|search|channel|page|list|author|section)/",
    re.IGNORECASE,
)
_PAGE_QUERY = re.compile(r"(?:^|&)(?:page|pageno|p|pn)=\d", re.IGNORECASE)
_STANDING_PATH = re.compile(
    r"/(?:about|aboutus|contact|contactus|copyright|privacy|sitemap|help|terms|guanyu|lianxi)(?:[-_]?us)?(?:\.\w{2,5})?/?$",
    re.IGNORECASE,
)
_ARTICLE_PATH = re.compile(
    r"\d{4}[-/]?\d{2}[-/]?\d{0,2}|\d{5,}|/(?:article|articles|news|post|detail|content|story|a|p)/[^/]{3,}|\.s?html?$",
    re.IGNORECASE,
)
_FORM_PATH = re.compile(r"log-?in|sign-?(?:in|up)|regist|password|account|subscribe|contact|feedback", re.IGNORECASE)
_NUMBER = re.compile(r"\d{5}")
_DAY = re.compile(r"(?:19|20)\d\d[-/_]?(?:0?[1-9]|1[0-2])(?:[-/_]|\d\d)")
_TYPE = re.compile(r'"@type"\s{0,3}:\s{0,3}\[?\s{0,3}"(?:https?://schema\.org/)?(\w{2,40})"')
_LEVEL_OF: Final = {kind: f"links {kind.name.lower()}" for kind in BlockKind if kind <= BlockKind.OTHER}


class _Page:
    """Quantities that several groups of features need, and the features so far."""

    def __init__(self, document: Document, extraction: Extraction) -> None:
        blocks = document.blocks
        self.document = document
        self.size = len(blocks)
        self.count = len(document.tags)
        self.nodes: Counts = np.asarray(blocks.nodes, np.int64)
        self.ends: Counts = np.asarray(document.ends, np.int64)
        self.parents: Counts = np.maximum(np.asarray(document.parents, np.int64), 0)
        self.chars = np.maximum(np.asarray(blocks.chars, np.float64), 1)
        self.links = np.asarray(blocks.link_chars, np.float64)
        self.wide = 1 + 1.5 * blocks.han / self.chars
        self.mass = (blocks.chars - self.links) * self.wide
        self.is_linked = self.links * 2 > self.chars
        self.prose = np.where(
            (self.mass >= _SENTENCE) & ~self.is_linked & (blocks.stops + (self.mass >= 200) > 0), self.mass, 0.0
        )
        self.kept: NDArray[np.int64] = np.asarray(extraction.blocks, np.int64)
        self.total = max(float(self.mass.sum()), 1.0)
        self.values: dict[str, float] = {}

    def add(self, name: str, value: float) -> None:
        """Note a feature."""
        self.values[name] = float(value)

    def add_amount(self, name: str, value: float) -> None:
        """Note a feature of which orders of magnitude count, not differences."""
        self.values[name] = float(np.log1p(max(float(value), 0.0)))

    def sums(self, values: ArrayLike) -> Values:
        """Sums of a quantity of the blocks over every node's sub-tree."""
        return sum_sub_trees(np.bincount(self.nodes, np.asarray(values, np.float64), self.count), self.ends)

    def at(self, nodes: Iterable[int]) -> Values:
        """Counts of nodes over every node's sub-tree."""
        return sum_sub_trees(np.bincount(np.fromiter(nodes, np.int64), minlength=self.count), self.ends)


def features(document: Document, extraction: Extraction, metadata: Metadata, links: Links) -> dict[str, float]:
    """Return the features of a page by name.

    Args:
        document: a parsed page with at least one block.
        extraction: its text.
        metadata: its metadata.
        links: its links.

    Cost: O(nodes + blocks + links), less than a millisecond for a page of a thousand elements.
    """
    page = _Page(document, extraction)
    _text(page, extraction)
    _around(page)
    _lines(page)
    _linked(page, links)
    _headed(page, metadata)
    _repeated(page)
    _forms(page)
    _named(page)
    _stated(page, metadata)
    _addressed(page, metadata, links)
    return page.values


def _text(page: _Page, extraction: Extraction) -> None:
    """Add features of the text and of the confidence in it."""
    confidence = extraction.confidence
    if not extraction.calibrated:
        confidence = _LIKELY if confidence >= _LOW else _UNLIKELY
    kept, mass, blocks = page.kept, page.mass, page.document.blocks
    page.add("confidence", confidence)
    own = mass[kept]
    text = float(own.sum())
    page.add_amount("text", text)
    page.add("text share", text / page.total)
    page.add_amount("text blocks", len(kept))
    prose = float(page.prose[kept].sum())
    page.add_amount("prose", prose)
    page.add("prose share", prose / max(text, 1.0))
    page.add_amount("prose blocks", float((page.prose[kept] > 0).sum()))
    page.add_amount("longest block", float(own.max(initial=0.0)))
    page.add_amount("mean block", text / max(len(kept), 1))
    page.add("short share", float(own[own < _SHORT].sum()) / max(text, 1.0))
    page.add("short blocks", float((own < _SHORT).mean()) if len(kept) else 1.0)
    chars = max(float(page.chars[kept].sum()), 1.0)
    page.add("linked in text", float(page.links[kept].sum()) / chars)
    for name, counts in (("stops", blocks.stops), ("marks", blocks.marks), ("digits", blocks.digits)):
        page.add(f"{name} in text", float(counts[kept].sum()) / max(text, 30.0))
    if len(kept):
        first, last = int(kept[0]), int(kept[-1])
        span = slice(first, last + 1)
        inside = max(float(mass[span].sum()), 1.0)
        page.add("gaps in text", 1 - text / inside)
        page.add_amount("links between", float(page.is_linked[span].sum()))
        page.add("links between share", float(page.is_linked[span].mean()))
        page.add_amount("text before", float(mass[:first].sum()))
        page.add_amount("text behind", float(mass[last + 1 :].sum()))
        page.add("begins at", first / page.size)
    else:
        for name in ("gaps in text", "links between", "links between share", "text before", "text behind", "begins at"):
            page.add(name, 0.0)
    if extraction.scores and extraction.calibrated:
        chances = np.asarray(extraction.scores)
        expected = chances * mass
        page.add_amount("expected text", float(expected.sum()))
        page.add("best chance", float(chances.max()))
        page.add("mean chance", float(expected.sum()) / page.total)
        page.add("chance of text", float(expected[kept].sum()) / max(text, 1.0))
        doubt = float((chances * (1 - chances) * mass).sum())
        page.add("doubt", doubt / max(float(expected.sum()), 1.0))
    else:
        page.add_amount("expected text", confidence * text)
        page.add("best chance", confidence)
        page.add("mean chance", confidence * text / page.total)
        page.add("chance of text", confidence)
        page.add("doubt", 1 - confidence)


def _around(page: _Page) -> None:
    """Add features of the text of the whole page and of the container that holds the prose."""
    blocks = page.document.blocks
    page.add_amount("all text", page.total)
    page.add_amount("all blocks", page.size)
    prose = float(page.prose.sum())
    page.add_amount("all prose", prose)
    page.add("all prose share", prose / page.total)
    page.add("all short share", float(page.mass[page.mass < _SHORT].sum()) / page.total)
    page.add("all stops", float(blocks.stops.sum()) / max(page.total, 30.0))
    page.add("all digits", float(blocks.digits.sum()) / float(page.chars.sum()))
    page.add_amount("longest of all", float(page.mass.max(initial=0.0)))
    ordered = np.sort(page.prose)[::-1]
    page.add_amount("fifth paragraph", float(ordered[4]) if page.size > 4 else 0.0)
    dense = page.sums(page.prose)
    depths = np.asarray(page.document.depths, np.int64)
    for share in (0.5, 0.9):
        holds = np.flatnonzero(dense >= share * max(prose, 1.0))
        core = int(holds[np.argmax(depths[holds])]) if len(holds) else 0
        document = page.document
        page.add(f"links beside {share}", document.LT[core] / max(document.T[core], 1))
        page.add(f"prose per tag {share}", float(np.log1p(dense[core] / max(document.TG[core], 1))))
        page.add_amount(f"tags within {share}", document.TG[core])
        page.add(f"share within {share}", document.T[core] / max(document.T[0], 1))
        page.add_amount(f"depth {share}", depths[core])


def _lines(page: _Page) -> None:
    """Add how many short lines hold dates, prices and calls to comment, and how many repeat."""
    texts = page.document.blocks.texts
    lines = [text if len(text) <= _LINE_CHARS else "" for text in texts]
    joined = "\n".join(lines).lower()
    starts = np.fromiter(accumulate((len(line) + 1 for line in joined.split("\n")), initial=0), np.int64)

    def flags(pattern: re.Pattern[str]) -> Values:
        found = np.zeros(page.size)
        found[np.searchsorted(starts, [match.start() for match in pattern.finditer(joined)], "right") - 1] = 1
        return found

    page.dates = flags(DATE)
    page.prices = flags(_PRICE)
    for name, found in (("dates", page.dates), ("prices", page.prices), ("comment cues", flags(COMMENT))):
        page.add_amount(name, float(found.sum()))
    kept = np.zeros(page.size, np.bool_)
    kept[page.kept] = True
    page.add_amount("dates in text", float(page.dates[kept].sum()))
    page.add_amount("prices in text", float(page.prices[kept].sum()))
    seen: dict[str, int] = {}
    for line in lines:
        if line:
            seen[line] = seen.get(line, 0) + 1
    again = [times for times in seen.values() if times > 2]
    page.add_amount("repeated lines", len(again))
    page.add_amount("most repeated", max(again, default=0))
    page.add("repeats", sum(again) / max(page.size, 1))


def _linked(page: _Page, links: Links) -> None:
    """Add features of links and linked headlines."""
    document = page.document
    page.add_amount("links", len(links))
    page.add("link share", document.LT[0] / max(document.T[0], 1))
    page.add_amount("links per text", document.LT[0] / max(float(page.mass[page.kept].sum()), 1.0))
    counts = np.bincount(np.frombuffer(links.blocks, np.uint8), minlength=len(BlockKind)) if len(links) else None
    for kind, name in _LEVEL_OF.items():
        page.add_amount(name, 0 if counts is None else counts[kind])
    weight = page.links * page.wide
    page.headlines = page.is_linked & (weight >= _HEADLINE)
    page.add_amount("headlines", float(page.headlines.sum()))
    long = page.is_linked & (weight >= 2 * _HEADLINE)
    page.add_amount("long headlines", float(long.sum()))
    under = np.zeros(page.size, np.bool_)
    for back in (1, 2, 3):
        under[back:] |= page.headlines[:-back]
    prose = (page.mass >= 40) & ~page.is_linked
    page.add_amount("summaries", float((under & prose).sum()))
    page.add("summaries share", float((under & prose).sum()) / max(float(prose.sum()), 1.0))
    kept = page.kept
    body = kept[prose[kept]]
    page.add_amount("summaries in text", float(under[body].sum()))
    page.add("summaries share of text", float(under[body].mean()) if len(body) else 0.0)
    ahead = int(kept[0]) if len(kept) else page.size
    page.add_amount("headlines before", float(page.headlines[:ahead].sum()))


def _headed(page: _Page, metadata: Metadata) -> None:
    """Add features of headings, and of the headline and its place before the text."""
    document = page.document
    blocks, tags = document.blocks, document.tags
    levels = np.fromiter((_HEADINGS.get(tag, 0) for tag in tags), np.int64, page.count)
    at = levels[page.nodes]
    at = np.where(at > 0, at, levels[page.parents[page.nodes]])
    page.heads = at > 0
    page.add_amount("h1", float((levels == 1).sum()))
    page.add_amount("h2 and h3", float(((levels == 2) | (levels == 3)).sum()))
    linked = page.heads & page.is_linked
    page.add_amount("linked headings", float(linked.sum()))
    page.add("linked headings share", float(linked.sum()) / max(float(page.heads.sum()), 1.0))
    page.add("h1 linked", float(bool((linked & (at == 1)).any())))
    kept = page.kept
    inside = np.zeros(page.size, np.bool_)
    inside[kept] = True
    page.add_amount("headings in text", float((page.heads & inside).sum()))
    title = metadata.title or document.title
    wanted = squeeze(title)
    page.add_amount("title", len(wanted) + 1.5 * sum("\u3040" <= char <= "\u9fff" for char in wanted))
    page.add("title in title", float(bool(wanted) and wanted in squeeze(document.title)))
    first = int(kept[0]) if len(kept) else -1
    place, passed = -1, 0
    if first >= 0 and len(wanted) >= 5:
        for index in range(min(first + 1, page.size - 1), max(-1, first - 60), -1):
            if page.is_linked[index]:
                passed += 1
            elif blocks.texts[index][:2].lower() == title[:2].lower() and squeeze(blocks.texts[index]) == wanted:
                place = index
                break
    page.add("headed", float(place >= 0))
    page.add_amount("links under headline", passed if place >= 0 else 30)
    page.add("headline is heading", float(place >= 0 and bool(page.heads[place])))
    page.add_amount("text under headline", float(page.mass[place + 1 : first].sum()) if place >= 0 else 500)


def _repeated(page: _Page) -> None:
    """Add features of siblings that are alike: cards, teasers, goods, posts."""
    document = page.document
    known: dict[str, int] = {}
    tags = np.fromiter((known.setdefault(tag, len(known)) for tag in document.tags), np.int64, page.count)
    text = page.sums(page.mass)
    heads = page.sums(page.headlines)
    images = page.at(node for node, _, _ in document.images)
    dates = page.sums(page.dates) + page.at(node for node, _ in document.times)
    prices = page.sums(page.prices)
    member: dict[str, bool] = {}
    flags = np.fromiter(
        (member[name] if name in member else member.setdefault(name, bool(_MEMBER.search(name))) for name in document.names),
        np.bool_,
        page.count,
    )
    people = sum_sub_trees(flags, page.ends)
    prose = page.sums(page.prose)
    linked = (heads >= 1) & (heads <= 3)
    kinds = {
        "cards": linked,
        "teasers": linked & (text >= 40),
        "tiles": (images >= 1) & (document.LTG >= 1) & (document.T <= 400),
        "goods": (prices >= 1) & (document.LTG >= 1) & (document.T <= 600),
        "dated": (dates >= 1) & (heads >= 1),
        "posts": (people >= 1) & (text >= 40),
        "dated posts": (people >= 1) & (dates >= 1) & (text >= 20),
        "sections": prose >= 100,
    }
    page.add_amount("price tags", float(prices[0]) if page.count else 0)
    any_kind = np.zeros(page.count, np.bool_)
    for flagged in kinds.values():
        any_kind |= flagged
    chosen = np.flatnonzero(any_kind)
    keys, group = np.unique(page.parents[chosen] * len(known) + tags[chosen], return_inverse=True)
    for name, flagged in kinds.items():
        picked = flagged[chosen]
        members = np.bincount(group, picked, len(keys)) if len(keys) else np.zeros(1)
        held = np.bincount(group, picked * text[chosen], len(keys)) if len(keys) else np.zeros(1)
        best = int(np.argmax(members))
        page.add_amount(name, float(members[best]))
        several = members > 2
        page.add(f"{name} hold", float(held[several].max(initial=0.0)) / page.total)


def _forms(page: _Page) -> None:
    """Add which fields the forms have, and what stands before them."""
    document = page.document
    tags, elements = document.tags, document.elements
    fields = np.zeros(len(_FIELD_NAMES))
    forms: dict[int, NDArray[np.float64]] = {}
    starts = [node for node, tag in enumerate(tags) if tag == "form"]
    inner = -1
    position = 0
    for node, tag in enumerate(tags):
        if tag == "input":
            kind = str(elements[node].get("type", "")).lower()
            if kind in _SUBMITS:
                number = _BUTTON
            else:
                number = _FIELDS.get(kind, -1)
                if number == 2 and _SEARCH.search(str(elements[node].get("name", "")).lower()):
                    number = 3
        elif tag == "textarea":
            number = _TEXTAREA
        elif tag == "select":
            number = _SELECT
        elif tag == "button":
            number = _BUTTON
        else:
            continue
        if number < 0:
            continue
        fields[number] += 1
        while position < len(starts) and starts[position] < node:
            inner = starts[position]
            position += 1
        if inner >= 0:
            forms.setdefault(inner, np.zeros(len(_FIELD_NAMES)))[number] += 1
    for name, value in zip(_FIELD_NAMES, fields, strict=True):
        page.add_amount(f"{name} fields", value)
    page.add_amount("forms", len(starts))
    # The form that asks for most.
    largest, asked = -1, np.zeros(len(_FIELD_NAMES))
    for node, has in forms.items():
        if has[[0, 1, 2, 4, 5, 6]].sum() > asked[[0, 1, 2, 4, 5, 6]].sum():
            largest, asked = node, has
    for name, value in zip(_FIELD_NAMES, asked, strict=True):
        page.add_amount(f"{name} fields of form", value)
    before = page.nodes < largest if largest >= 0 else np.ones(page.size, np.bool_)
    page.add("form at", float(before.mean()))
    page.add("form behind text", float(page.mass[before].sum()) / page.total)
    page.add("form behind prose", float(page.prose[before].sum()) / max(float(page.prose.sum()), 1.0))
    page.add("text in form", document.T[largest] / max(document.T[0], 1) if largest >= 0 else 0.0)
    page.add_amount("all fields per text", 100 * fields[[0, 1, 2, 4, 5, 6]].sum() / page.total)


def _named(page: _Page) -> None:
    """Add shares of the page's text in containers by the category of their names."""
    document = page.document
    inside = np.zeros((len(CATEGORIES), page.count + 1), np.int64)
    ends = document.ends
    for node in np.flatnonzero(document.T).tolist():
        name = document.names[node]
        for number in (*TAG_CATEGORIES.get(document.tags[node], ()), *(find_categories(name) if name else ())):
            inside[number, node] += 1
            inside[number, ends[node]] -= 1
    covered = np.cumsum(inside, axis=1)[:, page.nodes] > 0
    shares = covered @ page.mass / page.total
    for name, share in zip(CATEGORIES, shares.tolist(), strict=True):
        page.add(f"in {name}", share)
    goods = sum(bool(_PRODUCT.search(name)) for name in document.names if name)
    page.add_amount("names of goods", goods)
    tags = document.tags
    for tag in ("video", "audio", "iframe", "article", "table", "li", "p", "img"):
        page.add_amount(f"tag {tag}", tags.count(tag))


def _stated(page: _Page, metadata: Metadata) -> None:
    """Add what the page says of itself, and what was found of its author and time."""
    document = page.document
    for origin in ("json-ld", "meta", "visible", "script"):
        page.add(f"time from {origin}", metadata.published_from == origin)
    page.add("time to the minute", metadata.published_precision in {"minute", "second"})
    page.add_amount("authors", len(metadata.authors))
    page.add("source", bool(metadata.source))
    page.add("paged", bool(metadata.next_page or metadata.previous_page))
    page.add_amount("time elements", len(document.times))
    page.add_amount("summary", len(metadata.summary))
    page.add_amount("keywords", len(metadata.keywords))
    page.add("section", bool(metadata.section))
    types = {found.lower() for text in document.json_ld for found in _TYPE.findall(text)}
    for name, wanted in _STATED_TYPES.items():
        page.add(f"states {name}", not types.isdisjoint(wanted))
    kinds = {value.lower() for value in document.metas.get("og:type", ())}
    for name in ("article", "website", "product"):
        page.add(f"og {name}", any(name in kind for kind in kinds))
    page.add("og other", bool(kinds) and not any(name in kind for name in ("article", "website", "product") for kind in kinds))


def _addressed(page: _Page, metadata: Metadata, links: Links) -> None:
    """Add shapes of the page's canonical URL and of its links, and what links lead to."""
    own = urlsplit(metadata.canonical)
    page.add("canonical", bool(own.netloc))
    for name, value in shape(own.path, own.query).items():
        page.add(f"canonical {name}", value if own.netloc else 0.0)
    deep = slugs = numbers = dated = short = outside = 0
    host = own.netloc or urlsplit(page.document.url).netloc
    for url in links.urls[:300]:
        place = url.split("/", 3)
        path = place[3] if len(place) > 3 else ""
        outside += place[2] != host
        last = path.rstrip("/").rpartition("/")[2]
        slugs += last.count("-") + last.count("_") >= 3
        numbers += bool(_NUMBER.search(path))
        dated += bool(_DAY.search(path))
        deep += path.count("/") >= 2
        short += len(path) <= 12
    count = max(min(len(links), 300), 1)
    for name, value in (("deep", deep), ("slug", slugs), ("number", numbers), ("dated", dated), ("short", short), ("outside", outside)):
        page.add_amount(f"{name} links", value)
        page.add(f"{name} links share", value / count)


def shape(path: str, query: str) -> dict[str, float]:
    """Return what a path and a query look like."""
    last = path.rstrip("/").rpartition("/")[2]
    return {
        "is root": float(path in {"", "/"} and not query),
        "depth": float(min(path.strip("/").count("/") + 1, 6)) if path.strip("/") else 0.0,
        "slug words": float(min(last.count("-") + last.count("_"), 8)),
        "number": float(bool(_NUMBER.search(path) or _NUMBER.search(query))),
        "date": float(bool(_DAY.search(path))),
        "page": float(last.endswith((".html", ".htm", ".shtml", ".aspx", ".php", ".asp"))),
        "folder": float(path.endswith("/") and len(path) > 1),
        "query": float(bool(query)),
    }


def describe_url(url: str) -> dict[str, float]:
    """Return what a URL looks like."""
    parts = urlsplit(url)
    return {
        **shape(parts.path, parts.query),
        "list": float(bool(_LIST_PATH.search(parts.path) or _PAGE_QUERY.search(parts.query))),
        "standing": float(bool(_STANDING_PATH.search(parts.path))),
        "form": float(bool(_FORM_PATH.search(parts.path))),
        "article": float(bool(_ARTICLE_PATH.search(parts.path))),
    }


_STATED_TYPES: Final = {
    "article": {
        "article", "newsarticle", "blogposting", "reportagenewsarticle", "opinionnewsarticle", "analysisnewsarticle",
        "liveblogposting", "socialmediaposting", "scholarlyarticle", "techarticle", "report", "reviewnewsarticle",
    },
    "product": {"product", "offer", "aggregateoffer", "productgroup", "individualproduct"},
    "list": {"itemlist", "collectionpage", "searchresultspage", "blog", "productcollection", "offercatalog"},
    "business": {"localbusiness", "service", "professionalservice", "faqpage", "aboutpage", "contactpage", "postaladdress"},
    "thread": {"discussionforumposting", "qapage", "question", "answer"},
    "media": {"videoobject", "audioobject", "podcastepisode", "imagegallery"},
    "page": {"webpage"},
}  # fmt: skip
