"""Choice among all that may be a page's headline, by a small network.

It is asked where no heading repeats what `<title>` or the metadata say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from ..document.document import Document
from ..document.noise import is_info, is_label, is_stamp
from ..document.tokens import terms
from ..models.files import load
from ..models.network import DenseNetwork

_OPENING_BLOCKS: Final = 12
_SHORT, _LONG, _TYPICAL = 8, 100, 30
_PLAIN: Final = 5
_EMPHASIS: Final = frozenset({"h4", "h5", "h6", "strong", "b", "font", "big", "center"})
_ENDS: Final = frozenset(".。;；,，")


@dataclass(slots=True)
class TitleCandidate:
    """Something that may be the headline; -1 for no `block`.

    Attributes:
        text, key: as it would be stored, and its letters and digits in lower case.
        level: 1 to 3 of a heading, 5 of another line, 9 when no block shows it.
        is_named: whether the element that shows it is named after headlines.
    """

    text: str
    key: str
    block: int = -1
    level: int = 9
    shown: int = 0
    sources: set[str] = field(default_factory=set)
    is_named: bool = False


class StatedTitles(NamedTuple):
    """Titles that a page states, folded, without the name of the site and whole."""

    title: str
    whole_title: str
    shared: str
    whole_shared: str
    data: str
    texts: tuple[str, str, str]
    """Of `<title>`, for sharing, of the JSON-LD."""


def describe(
    document: Document,
    candidates: Sequence[TitleCandidate],
    stated: StatedTitles,
    first_body_block: int,
    site: Collection[str],
) -> NDArray[np.float64]:
    """Describe each candidate of a page by a row of numbers.

    Cost: O(candidates^2 + their characters).
    """
    blocks, first = document.blocks, first_body_block
    opening_terms = set(terms(" ".join(blocks.texts[first : first + _OPENING_BLOCKS]))) if first >= 0 else set()
    path = unquote(urlsplit(document.url).path)[:300]
    slug = {word for word in terms(path) if len(word) > 2 and not word.isdecimal()}
    of_title, of_shared, of_data = (set(terms(text)) for text in stated.texts)
    title, whole_title, shared, whole_shared, data, _ = stated
    above = [one for one in candidates if 0 <= one.block <= first and one.level <= 3]
    nearest = max((one.block for one in above), default=-1)
    highest = min((one.level for one in above), default=0)
    tops = sum(one.level == 1 for one in candidates)
    keys = [one.key for one in candidates]
    repeated = [_share(set(terms(one.text)), opening_terms) for one in candidates]
    most, of_whole = max(repeated, default=0.0), _share(of_title, opening_terms)
    rows = []
    for one, share in zip(candidates, repeated, strict=True):
        key, block, level = one.key, one.block, one.level
        size, words = len(key), set(terms(one.text))
        is_above, is_below = 0 <= block <= first, 0 <= first < block
        node, start = (blocks.nodes[block], blocks.starts[block]) if block >= 0 else (0, 0)
        rows.append(
            (
                # where it stands
                level == 1, level == 2, level == 3, level == _PLAIN, block < 0,
                level == 1 and tops == 1, level == 1 and tops > 1, level == highest,
                block >= 0 and (document.tags[node] in _EMPHASIS or document.tags[start] in _EMPHASIS), one.is_named,
                is_above, log1p(first - block) if is_above else 0.0,
                is_below, log1p(block - first) if is_below else 0.0, 0 <= block == first, 0 <= block == nearest,
                first >= 0, blocks.link_chars[block] / max(1, blocks.chars[block]) if block >= 0 else 0.0,
                min(one.shown, 3) / 3,
                # what the titles say
                key == title, key == whole_title, key == shared, key == whole_shared, key == data,
                (key == title) + (key == shared) + (key == data),
                key in whole_title, whole_title.startswith(key), size / max(len(whole_title), 1) * (key in whole_title),
                size / max(len(title), 1) * (key in whole_title), key in whole_shared, key in data,
                0 < len(shared) < size and shared in key, 0 < len(data) < size and data in key,
                _likeness(words, of_title), _likeness(words, of_shared), _likeness(words, of_data),
                bool(whole_title), bool(whole_shared), bool(data), len(one.sources) / 4,
                sum(key in other for other in keys) / 5, sum(other in key for other in keys) / 5,
                # its words
                log1p(size), size < 4, size < _SHORT, size > _LONG, min(2.0, size / _TYPICAL),
                share, most - share, of_whole, share - of_whole, _share(words, slug), _share(slug, words),
                is_info(one.text), is_label(one.text), is_stamp(one.text),
                key in site, any(len(name) > 4 and name in key for name in site),
                sum(map(str.isdecimal, key)) / max(size, 1), one.text[-1] in _ENDS, one.text.isupper(),
            )
        )  # fmt: skip
    return np.array(rows, np.float64)


def choose(rows: NDArray[np.float64], network: DenseNetwork | None = None) -> int:
    """Return the number of the likeliest candidate; `network` None is the shipped one.

    Cost: O(rows).
    """
    network = network or load("title", DenseNetwork.of)
    return int(np.argmax(network.outputs(network.standardise(rows.T))))


def _share(words: set[str], others: set[str]) -> float:
    return len(words & others) / max(len(words), 1)


def _likeness(words: set[str], others: set[str]) -> float:
    return 2 * len(words & others) / (len(words) + len(others)) if words and others else 0.0
