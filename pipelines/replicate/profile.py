"""Profiles of users with and without the weights of mark-up (S07)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..document.document import Document, parse
from ..document.tokens import cosine
from ..focus.profile import weigh_page
from ..focus.terms import list_texts
from ..records import Extraction
from ..text.words import MAX_CHARS, words
from ..training.profile import learn
from .table import Replication, Row, prf

LEARNED: Final = 100
TESTED: Final = 50
"""Liked pages to learn from, and pages of either kind to be judged, as in the paper."""
_TYPE: Final = "text/html; charset=utf-8"
_LEAST: Final = 6
"""Pages of a class that is liked, at least."""
_MISSED: Final = 10
"""Percent of the pages learned from that the threshold leaves out."""


def plain(document: Document, article: Extraction) -> dict[str, float]:
    """Count each word of a page, or its article, once where it stands; and its title."""
    texts = [article.text] if article.text else document.blocks.texts
    return dict(Counter(words("\n".join((document.title, *texts))[:MAX_CHARS])))


def marked(document: Document, article: Extraction) -> dict[str, float]:
    """Count the words of a page, those in telling elements more, as the paper does."""
    weights: dict[str, float] = {}
    for text, weight in list_texts(document, article):
        for word in words(text[:MAX_CHARS]):
            weights[word] = weights.get(word, 0.0) + weight
    return weights


_WAYS: Final[Mapping[str, Callable[[Document, Extraction], Mapping[str, float]]]] = {
    "term frequency": plain,
    "with weights of mark-up": marked,
    "and of the beginning": weigh_page,
}


def profile(material: Sequence[Mapping[str, Any]], seed: int) -> Replication:
    """Judge pages by profiles: precision and recall, the mean over the classes liked.

    Each class of 150 pages is liked once (of 6, if there is none): its profile is learned from 100, then 50 others of
    it and as many of other classes are judged. Liked is what comes nearer than all but a tenth of the pages learned
    from; "P=R" is the precision where as many count as liked as are, which is the recall, too.

    Raises:
        ValueError: no class has enough pages, or there is only one.

    Source: 利用网页结构特征建立用户模型 (S07).
    """
    pages: defaultdict[str, list[tuple[Document, Extraction]]] = defaultdict(list)
    for row in material:
        if row.get("html") and row.get("label"):
            document = parse(row["html"].encode("utf-8", "replace"), str(row.get("url") or ""), _TYPE)
            pages[str(row["label"])].append((document, Extraction(text=str(row.get("text") or ""))))
    liked = [name for name in sorted(pages) if len(pages[name]) >= LEARNED + TESTED]
    liked = liked or [name for name in sorted(pages) if len(pages[name]) >= _LEAST]
    if not liked or len(pages) < 2:
        counts = {name: len(of_class) for name, of_class in pages.items()}
        raise ValueError(
            f"pages of each class: {counts}; give rows with html and label, {_LEAST} of a class and others"
        )
    rows: list[Row] = []
    for name, read, is_whole in [(name, read, is_whole) for is_whole in (True, False) for name, read in _WAYS.items()]:
        weights = {
            label: [dict(read(page, Extraction() if is_whole else article)) for page, article in of_class]
            for label, of_class in pages.items()
        }
        results = [_judge(weights, label, np.random.default_rng(seed)) for label in liked]
        rows.append(
            Row(
                f"{'page' if is_whole else 'article'}: {name}",
                {key: sum(result[key] for result in results) / len(results) for key in results[0]},
            )
        )
    sizes = ", ".join(f"{name} {len(pages[name])}" for name in liked)
    notes = [
        f"Pages of each class that is liked: {sizes}; of each at most {LEARNED} are learned from, {TESTED} judged.",
        "A class stands for a user's liking. The paper does not say from which cosine on a page is liked.",
        "The paper takes whole pages, and finds both higher with the weights.",
    ]
    return Replication("S07", rows, notes)


def _judge(
    weights: Mapping[str, Sequence[Mapping[str, float]]], liked: str, rng: np.random.Generator
) -> dict[str, float]:
    own = [weights[liked][place] for place in rng.permutation(len(weights[liked]))]
    foreign = [page for label, of_class in weights.items() if label != liked for page in of_class]
    count = min(TESTED, len(own) // 3, len(foreign))
    tested, learned = own[:count], own[count : count + LEARNED]
    known = learn(page for page in learned if page)
    threshold = float(np.percentile(_near(known, learned), _MISSED))
    near, other = (
        _near(known, tested),
        _near(known, [foreign[place] for place in rng.permutation(len(foreign))[:count]]),
    )
    right = sum(value >= threshold for value in near)
    first = np.argsort([-value for value in (*other, *near)], kind="stable")[:count]
    even = {"P=R": float((first >= count).mean())}
    return prf(right, right + sum(value >= threshold for value in other), count) | even


def _near(known: Mapping[str, float], pages: Iterable[Mapping[str, float]]) -> list[float]:
    return [cosine(Counter(known), Counter(page)) for page in pages]
