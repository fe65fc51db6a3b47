"""Features of a whole page: the evidence by which its kind is judged.

Amounts are logarithms; nothing depends on the language, the length of the markup or the page's own URL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from math import log1p
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ..decode.characters import Counts
from ..decode.text import squeeze
from ..document.document import Document, sum_sub_trees
from ..document.structured_data import find_types, read
from ..document.view import Values, measure
from ..records import Extraction, Links, Metadata

# The numbers below were chosen by hand; the model (`scrapy train kinds`) weighs the features that they make.
_LOW: Final = 0.25
_LIKELY: Final = 0.85
_UNLIKELY: Final = 0.5
"""Stand-ins for the confidence of a method that does not calibrate it, from `_LOW` on and below it."""
_SENTENCE: Final = 60
_HEADLINE: Final = 20
"""Letters of a linked headline, more than of a user's name."""
_SHORT: Final = 30
_SUMMARY: Final = 20
_PRICE_CHARS: Final = 40
"""Longest line that is a price."""
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_FIELDS: Final = ("password", "email", "text", "search", "choice", "textarea", "select", "button")
_PASSWORD, _EMAIL, _TEXT, _SEARCH, _CHOICE, _TEXTAREA, _SELECT, _BUTTON = range(8)
_INPUTS: Final = {
    "password": _PASSWORD, "email": _EMAIL, "tel": _EMAIL, "text": _TEXT, "": _TEXT, "search": _SEARCH,
    "checkbox": _CHOICE, "radio": _CHOICE, "submit": _BUTTON, "button": _BUTTON, "image": _BUTTON,
}  # fmt: skip
_FIELD_TAGS: Final = {"input": -1, "textarea": _TEXTAREA, "select": _SELECT, "button": _BUTTON}
_FORM_TAGS: Final = frozenset({"form", *_FIELD_TAGS})
_ASKED: Final = [_PASSWORD, _EMAIL, _TEXT, _CHOICE, _TEXTAREA, _SELECT]
"""Fields that a visitor fills in, other than for a search."""
_SEARCHED = re.compile(r"search|query|keyword|^[qks]$")
_PRICE = re.compile(
    r"(?:[$€£¥￥₽₹₩]|\b(?:usd|eur|rs|r\$))\s?\d|\d\s?(?:[€£₽元円₴]|руб|zł|kč|kr\b|грн|eur\b|usd\b|lei\b|ft\b)"
)
_MEMBER: Final = ("user", "member", "author", "poster", "profile", "avatar", "nickname", "byline")
"""Names of containers that show who wrote something."""
_MOST_MEMBERS: Final = 400
_NAME_CHARS: Final = 40
_USER_LINE = re.compile(r"[/?&.](?:users?|u|uid|members?|profiles?|people|authors?|space)[/=-].*")
"""Rest of the line from the part of a URL, in small letters, that tells of a page about a person."""
_LIST_PATH = re.compile(
    r"(?:^|/)(?:index|default|home|main|list|channel|category|categories|tag|tags|topics?|search|node|archives?|"
    r"author|page|section|forum|node_\d{1,7}|list(?:[-_]?\d{1,5}){0,3}|index_\d{1,5})"
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
_MOST_LINKS: Final = 100
_SHORT_PATH: Final = 12
_NUMBER = re.compile(r"\d{5}")
_DAY = re.compile(r"(?:19|20)\d\d[-/_]?(?:0?[1-9]|1[0-2])(?:[-/_]|\d\d)")
_sum, _largest = np.add.reduce, np.maximum.reduce
"""Sums and maxima as numpy's methods find them, which pass through Python first."""
_NUMBERED_LINE = re.compile(rf"{_NUMBER.pattern}.*")
_DATED_LINE = re.compile(rf"{_DAY.pattern}.*")


Amount = float | np.number[Any]


class _Features:
    def __init__(self, document: Document, extraction: Extraction) -> None:
        blocks, view = document.blocks, measure(document)
        self.document, self.view = document, view
        self.size = len(blocks)
        self.count = len(document.tags)
        is_prose = (view.mass >= _SENTENCE) & ~view.linked & (blocks.stops + (view.mass >= 200) > 0)
        self.prose = np.where(is_prose, view.mass, 0.0)
        self.kept: NDArray[np.int64] = np.asarray(extraction.blocks, np.int64)
        self.total = max(float(_sum(view.mass)), 1.0)
        self.headlines = view.linked & (view.links * view.breadth >= _HEADLINE)
        tags, parents = document.tags, document.parents
        self.dense = view.sums(self.prose)
        """Prose of each sub-tree."""
        self.levels = np.array(
            [_HEADINGS.get(tags[node]) or _HEADINGS.get(tags[parents[node]], 0) for node in blocks.nodes], np.int64
        )
        """Level of the heading that each block is, 0 for others."""
        self.members = _members(document.names)
        self.values: dict[str, float] = {}

    def add(self, name: str, value: Amount) -> None:
        self.values[name] = float(value)

    def add_amount(self, name: str, value: Amount) -> None:
        """Add a feature of which orders of magnitude count, not differences."""
        self.values[name] = log1p(max(float(value), 0.0))

    def at(self, nodes: Sequence[int]) -> Values | Counts:
        """Count `nodes` in each sub-tree."""
        if not nodes:
            return np.zeros(self.count)
        return sum_sub_trees(np.bincount(nodes, minlength=self.count), self.view.ends)


def features(document: Document, extraction: Extraction, metadata: Metadata, links: Links) -> dict[str, float]:
    """Return the features by name of a page with at least one block.

    Cost: O(nodes + blocks + links), less than a millisecond for a page of a thousand elements.
    """
    page = _Features(document, extraction)
    _text(page, extraction)
    _around(page)
    _headed(page, metadata)
    _repeated(page)
    _voices(page, metadata, links)
    _forms(page)
    _stated(page, metadata)
    _addressed(page, metadata, links)
    return page.values


def _text(page: _Features, extraction: Extraction) -> None:
    confidence = extraction.confidence
    if not extraction.calibrated:
        confidence = _LIKELY if confidence >= _LOW else _UNLIKELY
    text_blocks, mass, blocks = page.kept, page.view.mass, page.document.blocks
    page.add("confidence", confidence)
    sizes = mass[text_blocks]
    text = float(_sum(sizes))
    page.add_amount("text", text)
    page.add("text share", text / page.total)
    page.add_amount("text blocks", len(text_blocks))
    prose_sizes = page.prose[text_blocks]
    prose = float(_sum(prose_sizes))
    page.add_amount("prose", prose)
    page.add("prose share", prose / max(text, 1.0))
    page.add_amount("prose blocks", np.count_nonzero(prose_sizes > 0))
    page.add_amount("longest block", _largest(sizes, initial=0.0))
    page.add_amount("mean block", text / max(len(text_blocks), 1))
    short = sizes[sizes < _SHORT]
    page.add("short share", float(_sum(short)) / max(text, 1.0))
    page.add("short blocks", len(short) / len(sizes) if len(sizes) else 1.0)
    chars = max(float(_sum(page.view.chars[text_blocks])), 1.0)
    page.add("linked in text", float(_sum(page.view.links[text_blocks])) / chars)
    for name, counts in (("stops", blocks.stops), ("marks", blocks.marks), ("digits", blocks.digits)):
        page.add(f"{name} in text", float(_sum(counts[text_blocks])) / max(text, 30.0))
    if len(text_blocks):
        first, last = int(text_blocks[0]), int(text_blocks[-1])
        span = slice(first, last + 1)
        inside = max(float(_sum(mass[span])), 1.0)
        page.add("gaps in text", 1 - text / inside)
        linked = np.count_nonzero(page.view.linked[span])
        page.add_amount("links between", linked)
        page.add("links between share", linked / (last + 1 - first))
        page.add_amount("text before", _sum(mass[:first]))
        page.add_amount("text behind", _sum(mass[last + 1 :]))
        page.add("begins at", first / page.size)
    else:
        for name in ("gaps in text", "links between", "links between share", "text before", "text behind", "begins at"):
            page.add(name, 0.0)
    _chances(page, extraction, confidence, text)


def _chances(page: _Features, extraction: Extraction, confidence: float, text: float) -> None:
    """Add what the chances of blocks to be text say of the page."""
    if extraction.scores and extraction.calibrated:
        mass = page.view.mass
        chances = np.asarray(extraction.scores)
        expected = chances * mass
        all_expected = float(_sum(expected))
        page.add_amount("expected text", all_expected)
        page.add("best chance", _largest(chances))
        page.add("mean chance", all_expected / page.total)
        page.add("chance of text", float(_sum(expected[page.kept])) / max(text, 1.0))
        doubt = float(_sum(chances * (1 - chances) * mass))
        page.add("doubt", doubt / max(all_expected, 1.0))
    else:
        page.add_amount("expected text", confidence * text)
        page.add("best chance", confidence)
        page.add("mean chance", confidence * text / page.total)
        page.add("chance of text", confidence)
        page.add("doubt", 1 - confidence)


def _around(page: _Features) -> None:
    blocks = page.document.blocks
    page.add_amount("all text", page.total)
    page.add_amount("all blocks", page.size)
    prose = float(_sum(page.prose))
    page.add_amount("all prose", prose)
    page.add("all prose share", prose / page.total)
    page.add("all short share", float(_sum(page.view.mass[page.view.mass < _SHORT])) / page.total)
    page.add("all stops", float(_sum(blocks.stops)) / max(page.total, 30.0))
    page.add("all digits", float(_sum(blocks.digits)) / float(_sum(page.view.chars)))
    page.add_amount("longest of all", _largest(page.view.mass, initial=0.0))
    ordered = np.sort(page.prose)[::-1]
    page.add_amount("fifth paragraph", float(ordered[4]) if page.size > 4 else 0.0)
    dense = page.dense
    depths = page.document.depths
    for share in (0.5, 0.9):
        holds = np.flatnonzero(dense >= share * max(prose, 1.0))
        core = max(holds.tolist(), key=depths.__getitem__, default=0)
        document = page.document
        page.add(f"links beside {share}", document.LT[core] / max(document.T[core], 1))
        page.add(f"prose per tag {share}", float(np.log1p(dense[core] / max(document.TG[core], 1))))
        page.add_amount(f"tags within {share}", document.TG[core])
        page.add(f"share within {share}", document.T[core] / max(document.T[0], 1))
        page.add_amount(f"depth {share}", depths[core])


def _headed(page: _Features, metadata: Metadata) -> None:
    document = page.document
    blocks = document.blocks
    levels, heads = page.levels, page.levels > 0
    page.add_amount("h1", np.count_nonzero(levels == 1))
    page.add_amount("h2 and h3", np.count_nonzero((levels == 2) | (levels == 3)))
    linked = levels[heads & page.view.linked].tolist()
    page.add_amount("linked headings", len(linked))
    page.add("linked headings share", len(linked) / max(int(np.count_nonzero(heads)), 1))
    page.add("h1 linked", 1 in linked)
    text_blocks = page.kept
    page.add_amount("headings in text", np.count_nonzero(heads[text_blocks]))
    under = np.zeros(page.size, np.bool_)
    for back in (1, 2, 3):
        under[back:] |= page.headlines[:-back]
    body = text_blocks[(page.view.mass[text_blocks] >= _SUMMARY) & ~page.view.linked[text_blocks]]
    summaries = np.count_nonzero(under[body])
    page.add_amount("summaries in text", summaries)
    page.add("summaries share of text", summaries / len(body) if len(body) else 0.0)
    title = metadata.title or document.title
    wanted = squeeze(title)
    page.add_amount("title", len(wanted) + 1.5 * sum("\u3040" <= char <= "\u9fff" for char in wanted))
    page.add("title in title", float(bool(wanted) and wanted in squeeze(document.title)))
    first = int(text_blocks[0]) if len(text_blocks) else -1
    place, passed = -1, 0
    if first >= 0 and len(wanted) >= 5:
        for index in range(min(first + 1, page.size - 1), max(-1, first - 60), -1):
            if page.view.linked[index]:
                passed += 1
            elif blocks.texts[index][:2].lower() == title[:2].lower() and squeeze(blocks.texts[index]) == wanted:
                place = index
                break
    page.add("headed", float(place >= 0))
    page.add_amount("links under headline", passed if place >= 0 else 30)
    page.add("headline is heading", float(place >= 0 and bool(heads[place])))
    page.add_amount("text under headline", _sum(page.view.mass[place + 1 : first]) if place >= 0 else 500)


def _members(names: Sequence[str]) -> list[int]:
    """Nodes whose names say that they show who wrote something."""
    every = set(names)
    joined = "\n".join(every)
    words = [word for word in _MEMBER if word in joined]
    member_names = {name for word in words for name in every if word in name}
    return list(compress(range(len(names)), map(member_names.__contains__, names))) if member_names else []


def _repeated(page: _Features) -> None:
    document = page.document
    images = page.at([node for node, _, _ in document.images])
    times = page.at([node for node, _ in document.times])
    texts = document.blocks.texts
    short = np.flatnonzero((document.blocks.digits > 0) & (page.view.chars <= _PRICE_CHARS)).tolist()
    prices = page.at([document.blocks.nodes[block] for block in short if _PRICE.search(texts[block].lower())])
    people = page.at(page.members)
    text, heads, prose = page.view.sums(page.view.mass), page.view.sums(page.headlines), page.dense
    linked = (heads >= 1) & (heads <= 3)
    kinds = {
        "cards": linked,
        "teasers": linked & (text >= 40),
        "tiles": (images >= 1) & (document.LTG >= 1) & (document.T <= 400),
        "goods": (prices >= 1) & (document.LTG >= 1) & (document.T <= 600),
        "dated": (times >= 1) & (heads >= 1),
        "posts": (people >= 1) & (text >= 40),
        "dated posts": (people >= 1) & (times >= 1) & (text >= 20),
        "sections": prose >= 100,
    }
    page.add_amount("price tags", float(prices[0]))
    flags = np.array(list(kinds.values()))
    chosen = np.flatnonzero(np.logical_or.reduce(flags))
    tags, parents = document.tags, document.parents
    numbers: dict[tuple[int, str], int] = {}
    group = np.array(
        [numbers.setdefault((parents[node] if node else 0, tags[node]), len(numbers)) for node in chosen.tolist()],
        np.int64,
    )
    # a row of groups for each kind, counted at once
    rows, places = np.nonzero(flags[:, chosen])
    cells, shape = rows * len(numbers) + group[places], (len(kinds), len(numbers))
    members = np.bincount(cells, minlength=len(kinds) * len(numbers)).reshape(shape)
    held = np.bincount(cells, text[chosen[places]], len(kinds) * len(numbers)).reshape(shape)
    most = _largest(members, 1, initial=0).tolist()
    hold = _largest(held, 1, where=members > 2, initial=0.0).tolist()
    for name, size, mass in zip(kinds, most, hold, strict=True):
        page.add_amount(name, size)
        page.add(f"{name} hold", mass / page.total)


def _voices(page: _Features, metadata: Metadata, links: Links) -> None:
    """Count the people who speak; tell one story from many posts.

    One story has one headline, a time, and prose in one go.
    """
    blocks, ends, kept = page.document.blocks, page.document.ends, page.kept
    starts = np.maximum.accumulate(np.asarray(blocks.starts, np.int64))  # what follows an element starts in its parent
    members = np.array(page.members[:_MOST_MEMBERS], np.int64)
    names: set[str] = set()
    for node, block in zip(members.tolist(), np.searchsorted(starts, members).tolist(), strict=True):
        if block < page.size and starts[block] < ends[node] and len(blocks.texts[block]) <= _NAME_CHARS:
            names.add(blocks.texts[block])
    page.add_amount("names", len(names))
    people = _USER_LINE.findall("\n".join([url[8:] for url in links.urls[:_MOST_MEMBERS]]).lower())
    page.add_amount("people", len(people))
    first, last = (int(starts[kept[0]]), int(starts[kept[-1]])) if len(kept) else (0, -1)
    page.add_amount("members in text", np.count_nonzero((members > first) & (members < last)))
    page.add_amount("times in text", sum(first < node < last for node, _ in page.document.times))
    # a line or two between are a picture's
    mass = page.view.mass[kept]
    begun = [0, *(np.flatnonzero(kept[1:] - kept[:-1] > 3) + 1).tolist()]
    page.add("longest run", _largest(np.add.reduceat(mass, begun)) / max(_sum(mass), 1.0) if len(kept) else 0)
    h1 = np.flatnonzero(page.levels == 1)
    page.add("one headline", len(h1) == 1 and not page.view.linked[h1[0]])
    is_dated = bool(metadata.published_at) and metadata.published_from != "url"
    page.add("headed and dated", page.values["headed"] * is_dated)
    page.add_amount("dated prose", _sum(page.prose[kept]) * is_dated)
    stated = read(page.document)
    page.add_amount("stated body", len(stated.body))
    page.add("states headline", float(bool(stated.headline) and squeeze(stated.headline) == squeeze(metadata.title)))


def _forms(page: _Features) -> None:
    document = page.document
    tags = document.tags
    starts: list[int] = []
    counts = [[0] * (len(_FIELDS) + 1)]  # fields of no form come first, those that nobody sees last
    for node in compress(range(page.count), map(_FORM_TAGS.__contains__, tags)):
        if tags[node] == "form":
            starts.append(node)
            counts.append([0] * (len(_FIELDS) + 1))
        else:
            counts[-1][_field(tags[node], document.elements[node])] += 1
    asked = [sum([fields[kind] for kind in _ASKED]) for fields in counts]
    most = max(asked[1:], default=0)
    largest = asked.index(most, 1) - 1 if most else -1
    form = counts[1 + largest] if most else [0] * len(_FIELDS)
    for kind, name in enumerate(_FIELDS):
        page.add_amount(f"{name} fields", sum([fields[kind] for fields in counts]))
        page.add_amount(f"{name} fields of form", form[kind])
    page.add_amount("forms", len(starts))
    node = starts[largest] if largest >= 0 else -1
    before = page.view.nodes < node if node >= 0 else np.ones(page.size, np.bool_)
    page.add("form at", np.count_nonzero(before) / page.size)
    page.add("form behind text", float(_sum(page.view.mass[before])) / page.total)
    page.add("form behind prose", float(_sum(page.prose[before])) / max(float(_sum(page.prose)), 1.0))
    page.add("text in form", document.T[node] / max(document.T[0], 1) if node >= 0 else 0.0)
    page.add_amount("fields per text", 100 * sum(asked) / page.total)


def _field(tag: str, element: Any) -> int:
    number = _FIELD_TAGS[tag]
    if tag == "input":
        number = _INPUTS.get(str(element.get("type", "")).lower(), -1)
        if number == _TEXT and _SEARCHED.search(str(element.get("name", "")).lower()):
            number = _SEARCH
    return number


def _stated(page: _Features, metadata: Metadata) -> None:
    """The page's own words, and the origin of author and time."""
    document = page.document
    for origin in ("json-ld", "meta", "visible", "script"):
        page.add(f"time from {origin}", metadata.published_from == origin)
    page.add("time to the minute", "T" in metadata.published_at)
    page.add_amount("authors", len(metadata.authors))
    page.add("source", bool(metadata.source))
    page.add("paged", bool(metadata.next_page or metadata.previous_page))
    page.add_amount("time elements", len(document.times))
    page.add_amount("summary", len(metadata.summary))
    page.add_amount("keywords", len(metadata.keywords))
    page.add("section", bool(metadata.section))
    types = find_types(document)
    for name, wanted in _STATED_TYPES.items():
        page.add(f"states {name}", not types.isdisjoint(wanted))
    kinds = {value.lower() for value in document.metas.get("og:type", ())}
    og_kinds = ("article", "website", "product")
    for name in og_kinds:
        page.add(f"og {name}", any(name in kind for kind in kinds))
    page.add("og other", bool(kinds) and not any(name in kind for name in og_kinds for kind in kinds))
    counts = Counter(document.tags)
    for tag in ("video", "audio", "iframe", "article", "table", "li", "p", "img"):
        page.add_amount(f"tag {tag}", counts[tag])


def _addressed(page: _Features, metadata: Metadata, links: Links) -> None:
    canonical = urlsplit(metadata.canonical)
    page.add("canonical", bool(canonical.netloc))
    for name, value in shape(canonical.path, canonical.query).items():
        page.add(f"canonical {name}", value if canonical.netloc else 0.0)
    count = max(min(len(links), _MOST_LINKS), 1)
    host = canonical.netloc or urlsplit(page.document.url).netloc
    parted = [f"{url}/".split("/", 3) for url in links.urls[:_MOST_LINKS]]
    paths = [parts[3] for parts in parted]
    joined = "\n".join(paths)
    last = [path.rstrip("/").rpartition("/")[2] for path in paths]
    counts = {
        "deep": sum([path.count("/") > 2 for path in paths]),
        "slug": sum([name.count("-") + name.count("_") > 2 for name in last]),
        "number": len(_NUMBERED_LINE.findall(joined)),
        "dated": len(_DATED_LINE.findall(joined)),
        "short": sum([len(path) <= _SHORT_PATH for path in paths]),
        "outside": sum([parts[2] != host for parts in parted]),
    }
    page.add_amount("links", len(links))
    page.add("link share", page.document.LT[0] / max(page.document.T[0], 1))
    page.add_amount("headlines", np.count_nonzero(page.headlines))
    for name, times in counts.items():
        page.add_amount(f"{name} links", times)
        page.add(f"{name} links share", times / count)


def shape(path: str, query: str) -> dict[str, float]:
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


NOWHERE: Final = "http://example.com/text.html"
"""A URL that tells nothing."""


def describe_url(url: str) -> dict[str, float]:
    """Describe the shape of a URL; one that is not known is like `NOWHERE`."""
    parts = urlsplit(url or NOWHERE)
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
    "business": {
        "localbusiness", "service", "professionalservice", "faqpage", "aboutpage", "contactpage", "postaladdress",
    },
    "thread": {"discussionforumposting", "qapage", "question", "answer"},
    "media": {"videoobject", "audioobject", "podcastepisode", "imagegallery"},
    "page": {"webpage"},
}  # fmt: skip
