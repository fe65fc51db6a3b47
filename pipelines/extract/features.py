"""Features of every block of a page: the evidence that `combined` weighs.

Each method of the papers (S10 to S20) contributes the quantities that it is built on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decode.characters import Counts
from ..document.class_names import CATEGORIES, TAG_CATEGORIES, find_categories
from ..document.document import Document
from ..document.noise import COMMENT, DATE, IMPRINT, INFO, LABEL, TAIL
from ..document.structured_data import read
from ..document.tokens import terms
from ..document.view import Flags, Values, measure, number_keys, sum_blocks, sums_before
from .density import scores

_COUNT: Final = 199
"""Features of a block, all that `features` adds to a table."""
LEVELS: Final = 5
"""Containers around a block that are described."""
UNNAMED: Final = 2.0
SCORES: Final = ("name", "name around", "worst name", "best name", "all names")
NAMED: Final = {f"in {category}": UNNAMED for category in CATEGORIES} | dict.fromkeys(SCORES, 0.0)
"""Features that depend on the names of containers, with their values for a block in no container of that name."""
_IN: Final = (*(f"in {category}" for category in CATEGORIES), "in unseen")
_OF_LEVELS: Final = tuple(
    f"{name} of {level}"
    for level in range(LEVELS)
    for name in ("text", "prose", "prose share", "links", "text per tag", "density", "rows")
)
_AMOUNTS_OF_LEVELS: Final = [at for at, name in enumerate(_OF_LEVELS) if name.startswith(("text per tag", "rows"))]
_TITLED_OF_LEVELS: Final = tuple(f"title {name} of {level}" for level in range(LEVELS) for name in ("terms", "density"))
# Chosen by hand; the networks weigh the features that they make.
FAR: Final = 200
"""Blocks from which on no distance is told apart."""
_KINDS: Final[dict[str, int]] = {
    "h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 4, "h6": 4, "p": 5, "li": 6, "td": 7, "th": 7, "dt": 8, "dd": 8,
    "blockquote": 9, "pre": 9, "div": 10, "section": 10, "article": 10, "center": 10, "body": 11, "html": 11,
}  # fmt: skip
_EMPHASIS: Final = frozenset({"strong", "b", "h1", "h2", "h3", "h4"})
_TEXTUAL: Final = frozenset({"p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "span", "strong", "b", "font", "a", "em"})
_ENDS: Final = {**dict.fromkeys('。！？.!?”"…」』', 2.0), **dict.fromkeys(":：,，;；", 1.0)}
_CUE_CHARS: Final = 160
# With the end of the line before it in place of `^`: a search skips to the ends of lines.
_LABELS, _TAILS = (re.compile(f"\n{cue.pattern.removeprefix('^')}", cue.flags) for cue in (LABEL, TAIL))
_CUES: Final = {
    "label": _LABELS, "tail": _TAILS, "imprint": IMPRINT, "comment cue": COMMENT, "info": INFO, "date": DATE,
}  # fmt: skip
_LASTING: Final = 4
"""Cues whose distance counts, the first of them."""
_NAME_WORD = re.compile(r"[a-z]{2,30}[0-9]?")
_NAME_WORDS: Final = 14
_FEW_TABLES: Final = 3
_SILENT: Final = frozenset({"div", "span", "body", "html"})
"""Tags that say nothing about their content."""
_SUMMARIES: Final = ("og:title", "description", "og:description")
_TERMS: Final = 24
"""Terms of title and summary that are looked for,"""
_TERM: Final = 4
"""of so many letters at least."""
_STATED: Final = 200
_LINE_CHARS: Final = 300
"""Longest line whose terms are looked at."""
_BAD: Final = -2.0
_DATED: Final = frozenset({"article:published_time", "og:published_time", "date", "pubdate", "datepublished"})


@dataclass(frozen=True, slots=True)
class Table:
    """A row per feature, a column per block; amounts as logarithms."""

    names: tuple[str, ...]
    values: NDArray[np.float32]


def nearest(flags: Flags) -> tuple[Counts, Counts]:
    """Return the nearest flagged places before and behind each; `FAR` off for none."""
    size = len(flags)
    before, behind = np.full(size + 1, -FAR), np.full(size + 1, size + FAR)
    places = flags.nonzero()[0]
    before[places + 1] = behind[places] = places
    return np.maximum.accumulate(before)[:-1], np.minimum.accumulate(behind[::-1])[-2::-1]


class _Features:
    def __init__(self, document: Document) -> None:
        view, marks = measure(document), document.blocks.marks
        self.document, self.view = document, view
        self.size = len(document.blocks)
        self.order = np.arange(self.size)
        # A heap of keywords has no marks, and one huge line must not outweigh the page.
        sentence = ((marks >= 1) & (view.mass >= 30)) | (view.mass >= 100)
        sentence &= ~view.linked & ((view.mass < 3000) | (marks * 300 > view.mass))
        self.prose: Values = np.minimum(view.mass, 5000) * sentence
        self.mass_before, self.prose_before = sums_before(np.array((view.mass, self.prose)))
        """Of each block, and behind the last one."""
        self.total = max(float(view.mass.sum()), 1.0)
        self.total_prose = max(float(self.prose.sum()), 1.0)
        columns = (np.ones(self.size), view.mass, self.prose, view.links)
        self.lines, self.text, self.dense, self.linked = sum_blocks(view.nodes, view.ends, *columns)
        """Of each node."""
        self.kinds = np.array([_KINDS.get(tag, 0) for tag in view.tags])
        self.stated = "".join(read(document).body.split())
        self.levels_out: dict[int, Counts] = {}
        self.names: list[str] = []
        self.values = np.empty((_COUNT, self.size), np.float32)
        self.amounts: list[int] = []

    def add(self, name: str, values: ArrayLike) -> None:
        self.values[len(self.names)] = values
        self.names.append(name)

    def add_amount(self, name: str, values: ArrayLike) -> None:
        self.amounts.append(len(self.names))
        self.add(name, values)

    def add_all(self, names: Sequence[str], values: ArrayLike) -> None:
        self.values[len(self.names) : len(self.names) + len(names)] = values
        self.names += names

    def table(self) -> Table:
        amounts = self.values[self.amounts]
        self.values[self.amounts] = np.copysign(np.log1p(np.abs(amounts)), amounts)
        return Table(tuple(self.names), self.values)


def features(document: Document, odds: Mapping[str, float], line_odds: Mapping[str, float]) -> Table:
    """Return the features of every block of a document, which has at least one.

    `odds` tells how strongly a word in the name of a container speaks for content (see `score_names`), `line_odds` the
    same of a term of a line (see `score_lines`).
    Cost: O(nodes + characters of short lines), about one and a half times that of parsing the page.
    """
    page = _Features(document)
    _own(page)
    _places(page)
    _containers(page)
    _named(page)
    _cues(page)
    _alike(page)
    _stated(page)
    _neighbours(page)
    _groups(page)
    _whole(page)
    _era(page)
    _titled(page)
    _readable(page)
    line_scores = ((index, score_terms(line_odds, found)) for index, found in lines_of(document))
    for name, values in score_lines(document, line_scores).items():
        page.add(name, values)
    for name, values in score_names(page.view.parents, page.view.nodes, names_of(document), odds).items():
        page.add(name, values)
    return page.table()


def _own(page: _Features) -> None:
    blocks, tags, view, kinds = page.document.blocks, page.document.tags, page.view, page.kinds
    page.add_amount("mass", view.mass)
    page.add("links", view.links / view.chars)
    page.add_amount("marks", blocks.marks)
    page.add_amount("stops", blocks.stops)
    page.add("mark density", blocks.marks / view.chars)
    page.add("digits", blocks.digits / view.chars)
    page.add("capitals", blocks.capitals / view.chars)
    page.add("is heading", (kinds >= 1) & (kinds <= 4))
    page.add("is h1", kinds == 1)
    page.add("is h2", (kinds == 2) | (kinds == 3))
    for name, kind in (("p", 5), ("li", 6), ("cell", 7), ("dl", 8), ("quote", 9), ("div", 10), ("body", 11)):
        page.add(f"is {name}", kinds == kind)
    page.add("is strong", [tags[node] in _EMPHASIS for node in blocks.starts])
    page.add("ends", [_ENDS.get(text[-1], 0.0) for text in blocks.texts])
    count = len(tags)
    page.add_amount("lines in node", np.bincount(view.nodes, minlength=count)[view.nodes])
    page.add_amount("mass of node", np.bincount(view.nodes, view.mass, count)[view.nodes])


def _places(page: _Features) -> None:
    order, view, mass_upto, prose_upto = page.order, page.view, page.mass_before[1:], page.prose_before[1:]
    mass_before, prose_before = mass_upto - view.mass, prose_upto - page.prose
    page.add("place", order / page.size)
    page.add("text before", mass_before / page.total)
    page.add("prose before", prose_before / page.total_prose)
    page.add("prose after", 1 - prose_upto / page.total_prose)
    page.add_amount("amount before", prose_before)
    page.add_amount("amount after", page.prose.sum() - prose_upto)
    title = view.headline
    passed = np.add.accumulate(view.linked)
    page.add_amount("from title", order - title if title >= 0 else -999.0)
    page.add_amount("links from title", passed - passed[title] if title >= 0 else -999.0)
    page.add_amount("text from title", mass_upto - mass_upto[title] if title >= 0 else mass_upto)
    heading = view.tags.index("h1") if "h1" in view.tags else -1
    page.add_amount("from h1", order - heading if heading >= 0 else -999.0)


def _containers(page: _Features) -> None:
    document, view = page.document, page.view
    text, dense, linked = page.text, page.dense, page.linked
    score = scores(document)
    densest = int(score.argmax())
    quantities = (
        text / page.total,
        dense / page.total_prose,
        dense / np.maximum(text, 1),
        linked / np.maximum(text + linked, 1),
        text / np.maximum(document.TG, 1),
        score / max(float(score[densest]), 1e-9),
        page.lines,
    )
    page.amounts += [len(page.names) + at for at in _AMOUNTS_OF_LEVELS]
    page.add_all(_OF_LEVELS, _by_level(np.array(quantities)[:, view.around[:LEVELS]]))
    depths = np.asarray(document.depths, np.int64)
    page.add_amount("depth", depths[view.nodes])
    # The deepest container of half, and of four fifths, of the prose: how far up a block joins the way to it.
    for share in (0.5, 0.8):
        holds = (dense >= share * page.total_prose).nonzero()[0]
        core = int(holds[depths[holds].argmax()]) if len(holds) else 0
        page.add_amount(f"levels out of {share}", _levels_out(page, core))
        page.add(f"links in {share}", linked[core] / max(text[core] + linked[core], 1))
        page.add(f"text in {share}", text[core] / page.total)
    page.add_amount("levels out of densest", _levels_out(page, densest))


def _by_level(values: Values) -> Values:
    """Order rows (quantities, levels, blocks) by level, then by quantity."""
    return values.swapaxes(0, 1).reshape(-1, values.shape[-1])


def _levels_out(page: _Features, core: int) -> Counts:
    """Count the levels from each block up to the way from the root to `core`."""
    if core not in page.levels_out:
        way = [core]
        while way[-1] > 0:
            way.append(page.document.parents[way[-1]])
        # Upwards the ranges of the sub-trees grow on both sides.
        starts, nodes = np.array(way[::-1], np.int64), page.view.nodes
        before = len(way) - starts.searchsorted(nodes, "right")
        page.levels_out[core] = np.maximum(before, page.view.ends[way].searchsorted(nodes, "right"))
    return page.levels_out[core]


def _named(page: _Features) -> None:
    document, view = page.document, page.view
    text, ends, hidden = document.T, document.ends, document.hidden
    whole = max(int(text[0]), 1)
    labels, of = view.labels
    near = np.full((len(_IN), len(of)), UNNAMED, np.float32)
    found: list[tuple[int, ...]] = [()] * len(labels)
    for label in set(of[page.lines > 0].tolist()):
        tag, name = labels[label]
        found[label] = (*TAG_CATEGORIES.get(tag, ()), *(find_categories(name) if name else ()))
    telling = np.fromiter(map(bool, found), np.bool_, len(found))[of] & (page.lines > 0)
    holding, shares = telling.nonzero()[0], text[telling] / whole
    for node, label, share in zip(holding.tolist(), of[holding].tolist(), shares.tolist(), strict=True):
        for number in found[label]:
            near[number, node : ends[node]] = share
    for node in hidden:
        near[-1, node : ends[node]] = text[node] / whole
    page.add_all(_IN, near.take(view.nodes, axis=1))


def _cues(page: _Features) -> None:
    texts, order = page.document.blocks.texts, page.order
    lowered = zip(texts, page.view.lowered.split("\n"), strict=True)
    lines = [line if len(text) <= _CUE_CHARS else "" for text, line in lowered]
    joined = "\n".join(["", *lines])
    ends = list(accumulate([len(line) + 1 for line in lines]))
    flags = np.zeros((len(_CUES), page.size))
    for row, pattern in zip(flags, _CUES.values(), strict=True):
        for match in pattern.finditer(joined):
            row[bisect_right(ends, match.end() - 2)] = 1
    label, tail, imprint, comment, info, date = flags
    for name, values in (("label", label), ("tail", tail), ("imprint", imprint), ("info", info), ("date", date)):
        page.add(f"is {name}", values)
    page.add("is comment cue", comment)
    title = max(page.view.headline, 0)
    headings = (page.kinds == 1) | (page.kinds == 2)
    passed = np.add.accumulate(np.array((label, comment, date, headings, tail)), axis=1)
    passed -= passed[:, title : title + 1].copy()
    for name, values in zip(("labels", "comment cues", "dates", "headings", "tails"), passed, strict=True):
        page.add_amount(f"{name} from title", values)
    page.add_amount("comment cues ahead", np.add.accumulate(comment[::-1])[::-1])
    upto = page.mass_before[1:]
    last = np.maximum.accumulate(np.where(flags[:_LASTING] > 0, order, -999), axis=1)
    since = np.minimum(order - last, FAR)
    text_since = np.minimum(upto - np.where(last >= 0, upto[np.maximum(last, 0)], -9999.0), 5000)
    for name, blocks, text in zip(_CUES, since, text_since, strict=False):
        page.add_amount(f"blocks since {name}", blocks)
        page.add_amount(f"text since {name}", text)


def _alike(page: _Features) -> None:
    """The container with most siblings of its kind: posts, comments, teasers."""
    view = page.view
    count = len(view.ends)
    held = page.dense
    labels, of = view.labels
    nodes = ((held > 0) & ~view.by_label(lambda tag, _: tag in _TEXTUAL)).nonzero()[0]
    kinds = number_keys(view.parents[nodes] * len(labels) + of[nodes])
    counts = np.bincount(kinds)
    # the first of each kind has the rank 1
    by_kind = kinds.argsort(kind="stable")
    rank, sizes, totals = np.zeros((3, count))
    rank[nodes[by_kind]] = np.arange(1, len(nodes) + 1) - np.repeat(np.add.accumulate(counts) - counts, counts)
    sizes[nodes], totals[nodes] = counts[kinds], np.bincount(kinds, held[nodes])[kinds]
    levels = sizes[view.around].argmax(axis=0)
    chosen = view.around[levels, page.order]
    best = sizes[chosen]
    several = best > 1
    page.add_amount("alike", best)
    page.add_amount("alike rank", np.where(several, rank[chosen], 0))
    page.add("alike share", np.where(several, held[chosen] / np.maximum(totals[chosen], 1), 1))
    page.add_amount("alike mean", np.where(several, totals[chosen] / np.maximum(best, 1), 0))
    page.add_amount("alike held", np.where(several, held[chosen], 0))


def _stated(page: _Features) -> None:
    """1 in structured data, -1 missing from them, 0 without any; and repeats."""
    document, texts = page.document, page.document.blocks.texts
    inside, summary = np.zeros(page.size), np.zeros(page.size)
    body = page.stated
    if len(body) >= 200:
        for index in np.flatnonzero(page.view.mass >= 10).tolist():
            line = "".join(texts[index].split())
            inside[index] = 1 if line[:30] in body or line[-30:] in body else -1
    described = "".join(
        "".join(document.metas[name][0].split()) for name in ("description", "og:description") if name in document.metas
    )
    if len(described) >= 30:
        for index in np.flatnonzero(page.view.mass >= 30).tolist():
            line = "".join(texts[index][:40].split())[:15]
            if len(line) == 15 and line in described:
                summary[index] = 1
    page.add("in stated body", inside)
    page.add("in summary", summary)
    counts: dict[str, int] = {}
    which = []
    for text in texts:
        counts[text] = at = counts.get(text, 0) + 1
        which.append(at)
    page.add_amount("times on page", [counts[text] for text in texts])
    page.add_amount("which time", which)


def _neighbours(page: _Features) -> None:
    size, order, view = page.size, page.order, page.view
    padded = np.zeros((3, size + 6))
    padded[:, 3:-3] = view.mass, view.links / view.chars, page.prose
    for name, values, amount in zip(("mass", "links", "prose"), padded, (True, False, True), strict=True):
        for by in (-3, -2, -1, 1, 2, 3):
            (page.add_amount if amount else page.add)(f"{name} at {by}", values[3 + by : 3 + by + size])
    for name, before in (("prose", page.prose_before), ("links", sums_before(view.links))):
        for reach in (4, 10):
            page.add_amount(f"{name} in {reach} before", before[:-1] - before[np.maximum(order - reach, 0)])
            page.add_amount(f"{name} in {reach} behind", before[np.minimum(order + reach + 1, size)] - before[1:])
    last, ahead = nearest(page.prose > 0)
    page.add_amount("since prose", np.minimum(order - last, FAR))
    page.add_amount("until prose", np.minimum(ahead - order, FAR))


def _groups(page: _Features) -> None:
    """Blocks alike by tags and names of their nodes and parents (S14)."""
    of = page.view.groups
    count = np.bincount(of)
    for name, values, amount in (
        ("size", count, True),
        ("mass", np.bincount(of, page.view.mass) / count, True),
        ("prose", np.bincount(of, page.prose) / page.total_prose, False),
        ("links", np.bincount(of, page.view.links) / np.bincount(of, page.view.chars), False),
        ("prose rows", np.bincount(of, page.prose > 0) / count, False),
    ):
        (page.add_amount if amount else page.add)(f"group {name}", values[of])


def _whole(page: _Features) -> None:
    blocks, view = page.document.blocks, page.view
    chars = float(view.chars.sum())
    for name, value in (
        ("blocks", page.size), ("text", page.total), ("prose", page.total_prose), ("longest", float(view.mass.max())),
    ):  # fmt: skip
        page.add_amount(f"page {name}", value)
    for name, value in (
        ("prose share", page.total_prose / page.total),
        ("link share", float(view.links.sum()) / chars),
        ("han", float(blocks.han.sum()) / chars),
    ):
        page.add(f"page {name}", value)


def _era(page: _Features) -> None:
    document, metas = page.document, page.document.metas
    paragraphs = document.tags.count("p")
    for name, value in (
        ("dated", is_dated(document)),
        ("for phones", "viewport" in metas),
        ("for networks", "og:title" in metas),
        ("states article", read(document).found),
        ("is article", metas.get("og:type", [""])[0].lower().startswith("article")),
        ("paragraphs", paragraphs / page.size),
        ("of tables", document.tags.count("table") > _FEW_TABLES),
    ):
        page.add(f"page {name}", value)


def _titled(page: _Features) -> None:
    """Where the words of the title and the summary stand."""
    document, view, size = page.document, page.view, page.size
    metas = document.metas
    stated = [document.title, read(document).headline, *(metas[name][0] for name in _SUMMARIES if name in metas)]
    wanted = [term for term in dict.fromkeys(terms(" ".join(stated))) if len(term) >= _TERM or not term.isascii()]
    # a search for each term is much faster than a look at each word
    text, found = view.lowered, [0] * size
    ends = list(accumulate([len(line) + 1 for line in text.split("\n")]))
    for term in wanted[:_TERMS]:
        place = text.find(term)
        while place >= 0:
            block = bisect_right(ends, place, 0, size - 1)
            found[block] += 1
            place = text.find(term, max(ends[block], place + 1))  # a term counts once in a block
    counts = np.array(found, np.float64)
    page.add("title terms", counts / max(min(len(wanted), _TERMS), 1))
    inside = view.sums(np.where(view.linked, 0.0, counts))
    total, around = max(float(inside[0]), 1.0), view.around[:LEVELS]
    shares = inside[around] / total
    densities = shares / (page.text[around] / page.total + 0.02)
    page.add_all(_TITLED_OF_LEVELS, _by_level(np.array((shares, densities))))


def _readable(page: _Features) -> None:
    """The node that paragraphs give most to.

    Each gives its points to its parent, and half of them to that one's. Source: the score of Arc90, Readability, 2009.
    """
    document, view = page.document, page.view
    count = len(document.tags)
    points = np.where(page.prose > 0, 1 + document.blocks.marks + np.minimum(view.mass / 100, 3), 0.0)
    holder = view.parents[view.nodes]
    score = np.bincount(holder, points, count) + 0.5 * np.bincount(view.parents[holder], points, count)
    score *= 1 - page.linked / np.maximum(page.text + page.linked, 1)
    best = int(score.argmax())
    page.add_amount("levels out of readable", _levels_out(page, best))
    whole = max(float(score[best]), 1e-9)
    page.add("readable", score[holder] / whole)
    page.add("readable above", score[view.parents[holder]] / whole)
    body, passed = page.stated, np.zeros(1)
    if len(body) >= _STATED:
        first = (page.values[page.names.index("in stated body")] > 0).argmax()
        chars_before = sums_before(view.chars)[:-1]
        passed = (chars_before - chars_before[first]) / len(body)
    page.add("stated text passed", np.minimum(np.maximum(passed, -2), 4))


def lines_of(document: Document) -> list[tuple[int, list[str]]]:
    """Return the terms of each line, by block, that is neither long nor a link."""
    lines = zip(document.blocks.texts, measure(document).linked.tolist(), strict=True)
    return [
        (index, terms(line)) for index, (line, linked) in enumerate(lines) if not linked and len(line) <= _LINE_CHARS
    ]


def score_terms(odds: Mapping[str, float], words: Sequence[str]) -> tuple[float, float]:
    """Return the sum of the odds of a line's different terms and the lowest of them.

    The sum is divided by the root of the count of all these terms.
    """
    if odds.keys().isdisjoint(words):
        return 0.0, 0.0
    distinct = dict.fromkeys(words)
    values = [odds[word] for word in distinct if word in odds]
    return sum(values) / len(distinct) ** 0.5, min(values)


def score_lines(document: Document, scored: Iterable[tuple[int, tuple[float, float]]]) -> dict[str, Values]:
    """Describe each block by the words of its line and those around it.

    Cost: O(blocks).
    """
    size = len(document.blocks)
    own, worst = np.zeros(size), np.zeros(size)
    for index, (whole, lowest) in scored:
        own[index], worst[index] = whole, lowest
    rows = {"words": own, "worst word": worst}
    padded = np.concatenate((np.zeros(3), own, np.zeros(3)))
    for by in (-2, -1, 1, 2):
        rows[f"words at {by}"] = padded[3 + by : 3 + by + size]
    order = np.arange(size)
    headings = np.array([tag in _EMPHASIS for tag in measure(document).tags])
    heading = np.maximum.accumulate(np.where(headings, order, -1))
    rows["words of heading"] = np.where(heading >= 0, own[heading], 0.0)
    bad = np.maximum.accumulate(np.where(own <= _BAD, order, -FAR))
    rows["since bad words"] = np.log1p(np.minimum(order - bad, FAR))
    return rows


def is_dated(document: Document) -> bool:
    return bool(document.json_ld or document.times or _DATED & document.metas.keys())


@dataclass(frozen=True, slots=True)
class Names:
    """Words of the tags and names of a page's nodes.

    Attributes:
        words: of each different tag and name of nodes that hold text.
        of: for each node, ascending, that holds text and has such words: its number, and the place of its words.
    """

    words: list[tuple[str, ...]]
    nodes: Counts
    of: Counts


def names_of(document: Document) -> Names:
    labels, of = measure(document).labels
    words: list[tuple[str, ...]] = [()] * len(labels)
    for label in set(of[document.T > 0].tolist()):
        words[label] = name_words(*labels[label])
    nodes = (np.fromiter(map(bool, words), np.bool_, len(words))[of] & (document.T > 0)).nonzero()[0]
    return Names(words, nodes, of[nodes])


@lru_cache(maxsize=16384)
def name_words(tag: str, name: str) -> tuple[str, ...]:
    """Return the words of a container's tag and name, each once.

    >>> name_words("ul", "post-tags")
    ('<ul>', 'post', 'tags')
    """
    words = dict.fromkeys(_NAME_WORD.findall(name)[:_NAME_WORDS])
    return tuple(words) if tag in _SILENT else (f"<{tag}>", *words)


def score_words(odds: Mapping[str, float], words: Sequence[str]) -> float:
    return float(sum(map(odds.get, words, repeat(0.0))) / len(words) ** 0.5) if words else 0.0


def score_names(parents: Counts, nodes: Counts, names: Names, odds: Mapping[str, float]) -> dict[str, Values]:
    """Score the names of the containers of each block, by feature.

    `parents` is that of each node, the root's own; `nodes` are those of the blocks.
    Cost: O(nodes x log levels).
    """
    size, count = len(parents), len(names.nodes)
    # Named nodes are numbered from 1 on; 0 stands outside of all.
    number = np.zeros(size, np.int64)
    number[names.nodes] = np.arange(1, count + 1)
    up = np.where(number > 0, np.arange(size), parents)
    while True:  # pointers double their reach until they are at a named node or at the root
        further = up[up]
        if (further == up).all():
            break
        up = further
    outer = np.zeros(count + 1, np.int64)
    outer[1:] = number[up[parents[names.nodes]]]
    outer[1:][names.nodes == 0] = 0
    scores = np.zeros(len(names.words))
    for label in set(names.of.tolist()):
        scores[label] = score_words(odds, names.words[label])
    near = np.concatenate(([0.0], scores[names.of]))
    worst, best, total, beyond = np.minimum(near, 0), np.maximum(near, 0), near, outer
    while beyond.any():
        worst, best = np.minimum(worst, worst[beyond]), np.maximum(best, best[beyond])
        total, beyond = total + total[beyond], beyond[beyond]
    of = number[up[nodes]]
    return {name: each[of] for name, each in zip(SCORES, (near, near[outer], worst, best, total), strict=True)}
