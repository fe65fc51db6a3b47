"""Choice among all that may be a page's authors, or nobody, by a small network."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..document.document import Document
from ..models.files import load
from ..models.network import DenseNetwork
from . import person_names

SOURCES: Final = (
    "data", "author", "article:author", "meta", "card", "byline", "dated", "head", "end", "signed", "linked", "marked",
    "bare", "alone", "about", "repeated", "beside date", "house", "account", "office",
)  # fmt: skip
_STATED: Final = frozenset(SOURCES[:5])
_NEAR: Final = 3
_SHORT_LINE: Final = 60
_MOST_LINES: Final = 2000
_DATE = re.compile(r"(?:19|20)\d\d|\d月|\d{1,2}[.:h]\d\d|\d{1,2}\.?\s[^\W\d_]{3,10}|[^\W\d_]{3,10}\s\d{1,2}\b")


@dataclass(slots=True)
class AuthorCandidate:
    """Names that may be the authors of a page; -1 for no `block`.

    `sources` are some of `SOURCES`.
    """

    names: tuple[str, ...]
    sources: set[str] = field(default_factory=set)
    block: int = -1


@dataclass(frozen=True, slots=True)
class PageOfAuthors:
    """The page around the names, with which their places are compared.

    `head` and `kept` are the blocks of headline and text, `sites` the folded names of the site, `tails` what follows
    the headline in `<title>`, `editors` the lines that name editors.
    """

    head: int
    kept: Sequence[int]
    sites: Collection[str]
    tails: Sequence[str]
    editors: Sequence[str]
    is_cjk: bool
    is_thread: bool

    def is_of_site(self, name: str) -> bool:
        """Tell whether a name is, or is part of, what the page's title says of its site."""
        lower = name.lower()
        return any(lower in tail or (len(tail) > 1 and tail in lower) for tail in self.tails)

    def is_editor(self, name: str) -> bool:
        return any(name in line for line in self.editors)


def describe(document: Document, candidates: Sequence[AuthorCandidate], page: PageOfAuthors) -> NDArray[np.float64]:
    """Describe each candidate by a row of numbers; the last row stands for nobody.

    Cost: O(candidates * (blocks + candidates)), of at most 2,000 blocks.
    """
    texts = document.blocks.texts
    short = [text for text in texts[:_MOST_LINES] if len(text) <= _SHORT_LINE]
    prose = [index for index in page.kept[:_MOST_LINES] if len(texts[index]) > _SHORT_LINE]
    first, last = (page.kept[0], page.kept[-1]) if page.kept else (-1, len(texts))
    inside = set(page.kept)
    shown = sorted({one.block for one in candidates if one.block >= 0}, key=lambda at: (at < page.head, at))
    folded = [frozenset(map(person_names.fold, one.names)) for one in candidates]
    of_stated = [names for one, names in zip(candidates, folded, strict=True) if one.sources & _STATED]
    of_shown = [names for one, names in zip(candidates, folded, strict=True) if one.sources - _STATED]
    rows = []
    for one, names in zip(candidates, folded, strict=True):
        count, name, at = len(one.names), one.names[0], one.block
        is_shown, is_below = at >= 0, at >= max(page.head, 0)
        beside = (texts[near] for near in range(max(at - 2, 0), min(at + 3, len(texts)))) if is_shown else ()
        rows.append(
            (
                *(source in one.sources for source in SOURCES),
                len(one.sources) / 4,
                # what the others say
                sum(bool(names & other) for other in of_stated) / 3, sum(bool(names & other) for other in of_shown) / 3,
                sum(names == other for other in of_stated) / 2, sum(names == other for other in of_shown) / 2,
                any(names < other for other in folded), any(names > other for other in folded),
                bool(of_stated) and not one.sources & _STATED, bool(of_shown) and not one.sources - _STATED,
                # the names
                log1p(count), count == 1, count > 3,
                sum(map(person_names.is_person, one.names)) / count, sum(map(person_names.is_name, one.names)) / count,
                " " in name, name.islower(), name.isupper(), name.isascii(), any(map(str.isdigit, name)),
                person_names.is_handle(name), person_names.is_office(name), len(name) / 20,
                any(person in page.sites for person in names), page.is_of_site(name),
                any(map(page.is_editor, one.names)),
                # the place
                is_shown and person_names.has_label(texts[at]), is_shown, is_below,
                log1p(at - page.head) if is_below else 0.0, 0 < at - page.head <= _NEAR,
                is_shown and not is_below, is_shown and at < first, at == first, at in inside, is_shown and at >= last,
                log1p(at - last) if is_shown and at > last else 0.0,
                log1p(first - at) if is_shown and at < first else 0.0,
                shown.index(at) == 0 if is_shown else False, log1p(shown.index(at)) if is_shown else 0.0,
                any(len(line) <= 2 * _SHORT_LINE and _DATE.search(line) for line in beside),
                min(sum(name in line for line in short), 4) / 4,
                any(name in texts[index] for index in prose if index != at),
                # the page
                page.is_cjk, page.is_thread, 0, 0, 0, 0,
            )
        )  # fmt: skip
    nobody = [0.0] * _FEATURES
    nobody[-6:] = (page.is_cjk, page.is_thread, 1, log1p(len(candidates)), bool(of_stated), bool(of_shown))
    rows.append(tuple(nobody))
    return np.array(rows, np.float64)


_FEATURES: Final = len(SOURCES) + 48


def choose(rows: NDArray[np.float64], network: DenseNetwork | None = None) -> int:
    """Return the number of the likeliest candidate; `network` None is the shipped one.

    Cost: O(rows).
    """
    network = network or load("authors", DenseNetwork.of)
    return int(np.argmax(network.outputs(network.standardise(rows.T)).sum(axis=0)))
