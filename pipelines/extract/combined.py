"""All evidence together: trained networks say how likely each block is content.

No single method is right on all pages. Here each contributes numbers (`features`), networks weigh them (`network`), and
blocks are chosen so that the expected F1 of the text is highest; that expectation is the confidence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from db.records.reasons import PageReason

from ..decode.text import squeeze
from ..document.boxes import find_boxes, is_thread
from ..document.document import Document
from ..document.noise import is_above, is_aside, is_counter, is_extra, is_info, is_label, is_pointer, is_stamp
from ..document.view import HEADINGS, Flags, Values, measure
from ..models.files import load
from ..records import Extraction
from ..text_form import render
from .borders.captions import drop_captions
from .borders.copies import drop_copies
from .borders.inner import fill_gaps, whole_blocks, whole_series
from .borders.stories import other_stories
from .features import Table, features, is_dated
from .network import Layout, StagedNetwork


@dataclass(frozen=True, slots=True)
class Params:
    """Least expected F1, in [0, 1], and length of a text that is given out."""

    min_confidence: float = 0.15
    min_chars: int = 10


# The numbers below were chosen by hand; `uv run python -m tests.benchmarks.extraction --all` prints the scores that
# they reach.
_SURE: Final = 0.85
_SURE_UNDATED: Final = 0.65
"""Chance from which a line that looks like metadata is content all the same; the second on pages that state no date."""
_KNOWN_PLACE: Final = 3.0
"""Factor of the odds of blocks in a place that somebody has named; of 3, 10, 20, 50 and 200 the best by
`uv run python -m tests.benchmarks.suggestions`; all that the place holds is behind 3 and before 20."""
_LEAST_CHANCE: Final = 0.05
"""Boxes and comments are not looked for around blocks that are less likely content."""
_MOST_BOXED: Final = 0.35
"""Share of the text that boxes hold at most."""
_LIKELY: Final = 0.4
_LEAST_TEXT: Final = 200
"""Letters of likely content outside of comments from which comments are left out."""
_SENTENCE: Final = 30
"""Letters of a sentence; a Chinese character counts for two and a half."""
_SIDE: Final = 0.25
"""Share of the text that a side section holds at most."""
_INFO_CHARS: Final = 120
"""Longest line of date, source and names."""
_NAME_CHARS: Final = 30
_HEAP_CHARS: Final = 2000
"""Longest text with less than one punctuation mark in a hundred characters."""
_TOP_HEADINGS: Final = frozenset({"h1", "h2"})
_TITLES: Final = ("og:title", "twitter:title", "title")
_RULE = re.compile(
    r"[_=*＊·.\s-]{3,}|(?i:anzeige|advertisement|werbung|реклама|publicité|publicidad|annonse|pubblicità|reklama|广告|"
    r"廣告|広告|article content|"
    r"(?:advertisement\W{1,4})?(?:(?:story|article|text|content)\s)?continues?\s(?:reading\s)?(?:below|after\sadvert\w{0,12})|"
    r"more\sbelow|scroll(?:\sdown)?\sto\s(?:read\smore|continue(?:\sreading)?))(?:\W{1,4}(?i:advertisement))?\W{0,3}"
)
"""A line that only separates others, or announces an advert or what is behind it."""
_EARLY: Final = 6
_BYLINE_CHARS: Final = 60
"""A short byline may stand among the first `_EARLY` lines, behind the summary of the article."""
_LEAST_HEADING, _MOST_HEADING = 5, 120
"""Letters and digits of a headline."""
_AND = re.compile(r"\s?[,，、;|&]\s?|\s(?:and|und|et|y|e|и|та|og|och|en|i)\s")
_QUESTION = re.compile(r"[^:：\s][^:：]{0,20}[:：].{3,}[?？][\"”」』]?$")
"""A question of an interview, with the name of who asks."""
_MOST_ABOVE: Final = 1.0
"""Most text above the headline, beside that below it, that is not part of it."""
_FOREIGN = re.compile(r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff]")
_LINKED: Final = 0.8
"""Share of its characters from which a line is a link."""
_BYLINE = re.compile(
    r"(?:(?i:written |posted |words )?(?i:by|von|par|por|di|door|av|af)\s{1,3}|(?i:autor(?:es|ka)?|автор|text|"
    r"words)\s?:\s{0,3})"
    r"[A-ZÀ-ÞΑ-ΫА-Я][^!?。]{1,90}[^.!?。:]$|(?i:by)\s[^.!?]{3,80}$|[（(【\[]?(?:本报|本報)?(?:记者|記者)[^。！？]{2,30}$"
)


def network() -> StagedNetwork:
    return load("combined", StagedNetwork.of)


def extract(document: Document, params: Params) -> Extraction:
    """Return the main text of a page by all evidence there is.

    Cost: O(nodes + characters), about twice that of parsing the page.
    Source: the scheme of S10 (features of blocks, weights learned from labelled pages) with the quantities of S11-S19.
    Differs: the features act together in a network, and the threshold is the page's own.
    """
    return extract_by(network(), document, params)


def extract_by(networks: StagedNetwork, document: Document, params: Params) -> Extraction:
    if not len(document.blocks):
        return Extraction(reason=PageReason.NO_TEXT)
    table, mass = features(document, networks.odds, networks.line_odds), weigh(document)
    chances = networks.predict(table, Layout.of(document, mass))
    chances[_heaps(document)] = 0
    titles = _titles(document)
    others = other_stories(document, titles)
    if others is not None:
        chances[others] = 0
    blocks, confidence = _choose_whole(document, chances, mass, titles)
    is_prose = confidence >= params.min_confidence and bool(blocks)
    if not is_prose or int(document.blocks.chars[blocks].sum()) < params.min_chars:
        reason = PageReason.TEXT_TOO_SHORT if is_prose else PageReason.NO_PROSE
        return Extraction(reason=reason, confidence=round(confidence, 3), scores=tuple(chances.tolist()))
    extraction = render.extraction(document, blocks, confidence, chances.tolist(), _evidence(table, blocks))
    return replace(extraction, calibrated=True)


def choose_within(document: Document, place: Flags) -> list[int]:
    """Choose the blocks of a place that is known to hold the text.

    That it does multiplies the odds of each block there. What the network is sure of stays out all the same: links,
    adverts, captions.

    Cost: that of `extract`.
    """
    networks, mass = network(), weigh(document)
    chances = networks.predict(features(document, networks.odds, networks.line_odds), Layout.of(document, mass))
    chances = _KNOWN_PLACE * chances / (1 + (_KNOWN_PLACE - 1) * chances)
    chances[_heaps(document) | ~place] = 0
    blocks, _ = _choose_whole(document, chances, mass, _titles(document))
    return [block for block in blocks if place[block]]


def _choose_whole(document: Document, chances: Values, mass: Values, titles: str) -> tuple[list[int], float]:
    """Choose blocks; complete gaps, posts and lists, and trim both ends."""
    blocks, confidence = choose_outside(document, chances)
    blocks = whole_series(document, fill_gaps(document, blocks, chances), mass)
    blocks = whole_blocks(document, _trimmed(document, blocks, chances, mass, titles), chances, mass)
    return drop_captions(document, drop_copies(document, blocks, mass), mass), confidence


def choose(chances: Values, mass: Values) -> tuple[list[int], float]:
    """Return the blocks whose text has the highest expected F1, and that expectation.

    With chances p and masses m, taking the blocks S is expected to give F1 = 2 sum_S(p m) / (sum_S(m) + sum(p m)). The
    best S holds the likeliest blocks down to some chance: about half of the best F1, so that doubtful pages keep more.

    Cost: O(blocks log blocks).
    Source: Lipton, Elkan and Naryanaswamy, Optimal thresholding of classifiers to maximize F1, 2014.

    >>> choose(np.array([0.1, 0.9, 0.8]), np.array([1.0, 9.0, 9.0]))[0]
    [1, 2]
    """
    order = np.argsort(-chances, kind="stable")
    hits, sizes = np.add.accumulate(np.array((chances * mass, mass))[:, order], axis=1)
    expected = 2 * hits / (sizes + hits[-1] + 1e-9)
    best = int(expected.argmax())
    return sorted(order[: best + 1].tolist()), float(expected[best])


def weigh(document: Document) -> Values:
    return measure(document).letters + 1.0


def _heaps(document: Document) -> Flags:
    blocks = document.blocks
    heaps: Flags = (blocks.chars > _HEAP_CHARS) & (blocks.marks * 100 < blocks.chars)
    return heaps


def choose_outside(document: Document, chances: Values) -> tuple[list[int], float]:
    """Choose blocks outside of comments and boxes, unless there is nothing else.

    Comments weigh as much as a text and have no part in the choice; boxes are removed from it.
    """
    mass = weigh(document)
    boxes, comments = find_boxes(document, chances >= _LEAST_CHANCE)
    likely = (chances >= _LIKELY) & ~comments
    if comments.any() and float((chances * mass)[likely].sum()) >= _LEAST_TEXT and not is_thread(document):
        chances[comments] = 0
    blocks, confidence = choose(chances, mass)
    if boxes.any():
        outside = [index for index in blocks if not boxes[index]]
        if float(mass[outside].sum()) >= (1 - _MOST_BOXED) * float(mass[blocks].sum()):
            blocks = outside
    return blocks, confidence


def _trimmed(document: Document, kept: list[int], chances: Values, mass: Values, titles: str) -> list[int]:
    """Leave out metadata before the first sentence and imprints behind the last one."""
    texts, tags, blocks = document.blocks.texts, document.tags, document.blocks
    # Old pages, which state no date for machines, have few templates, and their bylines are part of many texts.
    # Where the text is in another script than Latin, that says the same of its lines of digits.
    dated = is_dated(document) or _is_foreign(texts[kept[mass[kept].argmax()]])
    least = _SURE if dated else _SURE_UNDATED
    stated = "\n".join(document.json_ld)

    def is_framed(line: str) -> bool:
        return (dated or _is_foreign(line)) and (is_above(line) or is_stamp(line) or _is_stated(line, stated))

    def is_body(index: int) -> bool:
        line = texts[index]
        if _QUESTION.match(line):
            return True
        is_headline = len(line) <= _MOST_HEADING and (dated or _is_foreign(line)) and _repeats(line, titles)
        return not is_headline and _is_prose(document, index) and not is_framed(line)

    kept = _below_headline(document, kept, mass)
    own = measure(document).headline
    first = next(filter(is_body, kept), -1)
    if first < 0:
        return kept
    last = next(filter(is_body, reversed(kept)))
    # What stands above the heading of the text, without a sentence, is not part of it.
    above = max((index for index in range(first) if tags[blocks.nodes[index]] in _TOP_HEADINGS), default=-1)
    contents = _contents(document, kept)
    beside = _side_sections(document, kept, mass, dated=dated)
    early = kept[min(_EARLY, len(kept)) - 1]
    sure, links = (chances >= least).tolist(), (blocks.link_chars >= _LINKED * blocks.chars).tolist()

    def stays(index: int) -> bool:
        line = texts[index]
        if index < first:
            heading = index < above or tags[blocks.nodes[index]] == "h1" or _repeats(line, titles)
            framed = _BYLINE.match(line) or is_framed(line)
            return not heading and not framed and (not is_info(line) or (sure[index] and not _is_foreign(line)))
        if index in beside or index in contents or _RULE.fullmatch(line):
            return False
        if index == own and tags[blocks.nodes[index]] == "h1":
            return False  # between a lead and the text
        if links[index] and is_pointer(line):
            return False
        if index > last:
            return not is_extra(line) and not is_framed(line) and (sure[index] or not is_info(line))
        byline = dated and len(line) <= _BYLINE_CHARS and _BYLINE.match(line)
        return index > early or not (is_counter(line) or byline)

    rest = [index for index in kept if stays(index)]
    while len(rest) > 1 and rest[-1] > last and tags[blocks.nodes[rest[-1]]] in HEADINGS:
        rest.pop()  # a heading without a text below it heads what was left out
    return rest


def _below_headline(document: Document, kept: list[int], mass: Values) -> list[int]:
    """Leave out what stands above the headline in a place of its own.

    Such a place is outside of the container that headline and text share: boxes that ask for consent, in whatever
    language, and notices of the site.
    """
    view, parents, ends = measure(document), document.parents, document.ends
    own = view.headline
    if own < 0 or document.tags[view.nodes[own]] not in _TOP_HEADINGS or kept[0] > own or kept[-1] <= own:
        return kept
    below = [index for index in kept if index > own]
    above = [index for index in kept if index < own]
    if not above or float(mass[above].sum()) > _MOST_ABOVE * float(mass[below].sum()):
        return kept
    node, core = view.nodes[own], view.nodes[below[mass[below].argmax()]]
    while node > 0 and not node <= core < ends[node]:
        node = parents[node]
    return [index for index in kept if index >= own or node <= view.nodes[index]]


def _is_foreign(line: str) -> bool:
    return not line.isascii() and bool(_FOREIGN.search(line))


def _is_stated(line: str, stated: str) -> bool:
    names = _AND.split(line.strip(" .")) if stated and len(line) <= _INFO_CHARS else ()
    return bool(names) and all(len(name) <= _NAME_CHARS and f'"{name}"' in stated for name in names)


def _titles(document: Document) -> str:
    metas = document.metas
    names = [document.title, *(metas[name][0] for name in _TITLES if name in metas)]
    return "\n".join(map(squeeze, names))


def _repeats(line: str, titles: str) -> bool:
    heading = squeeze(line)
    return _LEAST_HEADING <= len(heading) <= _MOST_HEADING and heading in titles


def _contents(document: Document, kept: list[int]) -> set[int]:
    texts, blocks = document.blocks.texts, document.blocks
    inside = set(kept)
    lines = {
        block: squeeze(texts[block])
        for _, href, _, _, block in document.links
        if href[:1] == "#"
        and block in inside
        and document.tags[blocks.nodes[block]][:1] != "h"
        and blocks.link_chars[block] >= _LINKED * blocks.chars[block]
    }
    if len(lines) <= 1:
        return set()
    nodes, tags = blocks.nodes, document.tags
    others = {squeeze(text) for node, text in zip(nodes, texts, strict=True) if tags[node] in HEADINGS}
    return {block for block, line in lines.items() if line.lstrip("0123456789") in others}


def _side_sections(document: Document, kept: list[int], mass: Values, *, dated: bool) -> set[int]:
    blocks, texts = document.blocks, document.blocks.texts
    blocks_beside: set[int] = set()
    total = float(mass[kept].sum())
    for index in range(kept[0] + 1, kept[-1] + 1):
        heads = is_label(texts[index])
        if not heads and not blocks.link_chars[index] and (dated or _is_foreign(texts[index])):
            heads = is_aside(texts[index])
        if not heads:
            continue
        first, last = measure(document).section(index)
        while last < len(texts) and blocks.link_chars[last] >= _LINKED * blocks.chars[last] > 0:
            last += 1
        inside = [block for block in kept if first <= block < last]
        is_whole = is_label(texts[index]) or "author" in texts[index].lower()
        if not is_whole or float(mass[inside].sum()) >= _SIDE * total:
            # such a line heads links only: what is prose goes on with the text
            prose = next(
                (at for at, block in enumerate(inside) if block != index and _is_prose(document, block)), len(inside)
            )
            inside = inside[:prose]
        if float(mass[inside].sum()) < _SIDE * total:
            blocks_beside.update(inside)
    return blocks_beside


def _is_prose(document: Document, index: int) -> bool:
    blocks, line = document.blocks, document.blocks.texts[index]
    size = blocks.chars[index] - blocks.link_chars[index] + 1.5 * blocks.han[index]
    if size < _SENTENCE or not blocks.marks[index]:
        return False
    return len(line) > _INFO_CHARS or not (is_info(line) or is_extra(line)) or line[-1] in '。！？.!?”"…'


_TELLING: Final = (
    "mass",
    "levels out of densest",
    "levels out of 0.5",
    "in content",
    "in stated body",
    "links from title",
)


def _evidence(table: Table, kept: list[int]) -> str:
    values = table.values[[table.names.index(name) for name in _TELLING]][:, kept]
    rows = dict(zip(_TELLING, values, strict=True))
    weight = np.expm1(rows["mass"]) + 1
    agreed = {
        "density": rows["levels out of densest"] == 0,
        "bulk of prose": rows["levels out of 0.5"] == 0,
        "names": rows["in content"] < 1,
        "structured data": rows["in stated body"] > 0,
        "headline": (rows["links from title"] >= 0) & (rows["links from title"] < 1),
    }
    total = float(weight.sum())
    return ", ".join(name for name, flags in agreed.items() if float(weight[flags].sum()) > 0.7 * total)
