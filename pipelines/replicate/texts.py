"""Experiments on texts: keywords, near-duplicates, harmful pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from db.records.evidence import REPEATING

from ..dedup import THRESHOLD, Method
from ..dedup import method as duplicate_method
from ..dedup.stream import Finder
from ..metadata.language import detect
from ..text.analysis import analyse
from ..text.frequencies import shipped as shipped_frequencies
from ..text.harmful import METHODS as HARM_METHODS
from ..text.harmful.model import shipped as shipped_harm
from ..text.keywords import method as keyword_method
from .table import Replication, Row, prf

Texts = Sequence[Mapping[str, Any]]

_FIRST: Final = 5
_KEYWORDS: Final[Sequence[tuple[str, str, Mapping[str, object]]]] = (
    ("tf-idf", "tfidf", {}),
    ("S21 centrality", "network", {}),
    ("S21 centre network", "network", {"form": "clustering"}),
    ("S22 naive Bayes", "bayes", {}),
    ("combined", "combined", {}),
)
_DUPLICATES: Final[Sequence[tuple[str, str, Mapping[str, object], Mapping[str, float]]]] = (
    ("S30 feature strings", "feature-string", {}, {}),
    ("S30, by frequency", "feature-string", {"by": "frequency"}, {}),
    ("S31 keyword index", "keywords", {}, {"found": 0.94, "share of comparisons": 0.0004}),
    ("S31, of 2 clusters", "keywords", {"least_stories": 2}, {}),
    ("combined", "combined", {}, {}),
)
_HARM: Final = {"blocks": {"P": 0.869, "R": 0.956, "F": 0.9102}}
_CLEAN: Final = ("clean", "ham")


def keywords(texts: Texts, seed: int) -> Replication:
    """Compare the first five keywords of each method with those that texts are given.

    P and R are means over texts; words are compared as they are indexed, in any language. `seed` changes nothing.

    Raises:
        ValueError: no text has keys.
    """
    known = [text for text in texts if text.get("keys")]
    if not known:
        raise ValueError('no text has its keywords; "keys": ["bridge", "river"] is expected in a row')
    analysed = [analyse(str(text["title"]), str(text["text"]), detect(str(text["text"]))) for text in known]
    wanted = [
        {_indexed(key, text.language) for key in row["keys"]} - {""} for row, text in zip(known, analysed, strict=True)
    ]
    rows = []
    for label, name, params in _KEYWORDS:
        extract = keyword_method(name, params)
        scores = []
        for text, keys in zip(analysed, wanted, strict=True):
            told = {_indexed(term, text.language) for term, _ in extract(text, shipped_frequencies())[:_FIRST]}
            scores.append(prf(len(told & keys), len(told), len(keys)))
        means = {figure: sum(score[figure] for score in scores) / len(scores) for figure in ("P", "R", "F")}
        rows.append(Row(label, means))
    return Replication(
        "S21: 任克强 et al. 2008, and 基于复杂网络的新闻网页关键词提取; S22: after KEA++ (Medelyan, Witten 2006)",
        rows,
        [
            f"{len(known)} texts, the first {_FIRST} keywords of each.",
            "The papers' pages and figures are not in the texts that are left of them.",
        ],
    )


def _indexed(term: str, language: str) -> str:
    return " ".join(analyse("", term, language).terms)


class _Stream(NamedTuple):
    right: int
    told: int
    compared: int


def near_duplicates(texts: Texts, seed: int) -> Replication:
    """Compare methods by the duplicates they find, and by the pairs they compare.

    Texts are read in their order. Those with the same `cluster`, or that repeat the same `original`, are duplicates of
    one another; a text is found if it is said to repeat another of its cluster. `seed` changes nothing.

    Raises:
        ValueError: no text repeats another.
    """
    clusters = [str(text.get("cluster") or text.get("original") or text["id"]) for text in texts]
    sizes = Counter(clusters)
    wanted = sum(size - 1 for size in sizes.values())
    if not wanted:
        raise ValueError('no text repeats another; "cluster" or "original" (the id of the repeated text) tells it')
    pairs = len(texts) * (len(texts) - 1) / 2
    rows = []
    for label, name, params, papers in _DUPLICATES:
        done = _find(duplicate_method(name, params), texts, clusters)
        ours = {
            "found": done.right / wanted,
            "precision": done.right / max(1, done.told),
            "share of comparisons": done.compared / pairs,
        }
        rows.append(Row(label, ours, papers))
    return Replication(
        "S30: 网页去重中的关键词和特征串提取; S31: 基于网页特征关键词的近似检测算法",
        rows,
        [
            f"{len(texts)} texts, {wanted} of them repeat an earlier one. The paper counts pairs of pages, here it is "
            "texts; its pages are whole, with their menus.",
            "S30 by the keywords of S22, and by the most frequent words. S31 looks up every keyword, and those alone "
            "that stand in two clusters or more.",
        ],
    )


def _find(method: Method, texts: Texts, clusters: Sequence[str]) -> _Stream:
    finder = Finder(method, THRESHOLD, [])
    right = told = 0
    for number, text in enumerate(texts):
        repeated = [
            pair for pair in finder.add(number, str(text["title"]), str(text["text"])) if pair.kind in REPEATING
        ]
        told += bool(repeated)
        right += any(clusters[pair.earlier] == clusters[number] for pair in repeated)
    return _Stream(right, told, finder.compared)


def harmful(texts: Texts, seed: int) -> Replication:
    """Compare the ways to judge harm on labelled texts; `seed` changes nothing.

    Raises:
        ValueError: the texts are all of one sort.
    """
    truth = [text.get("label") not in _CLEAN for text in texts]
    if len(set(truth)) < 2:
        raise ValueError('the texts are all of one sort; labels are "clean" and "ham" or those of harm, as "gambling"')
    model = shipped_harm()
    rows = []
    for name, judge in HARM_METHODS.items():
        told = [judge(str(text["title"]), str(text["text"]), (), model).is_harmful for text in texts]
        right = sum(one and other for one, other in zip(told, truth, strict=True))
        rows.append(
            Row(
                "S26 weighted blocks" if name == "blocks" else name,
                prf(right, sum(told), sum(truth)),
                _HARM.get(name, {}),
            )
        )
    return Replication(
        "S26: 龙珑, 邓伟, 绿色网络网页正文内容提取算法",
        rows,
        [
            f"{len(texts)} texts, {sum(truth)} of them harmful. The paper's figures are those of extraction, on pages "
            "that are not published; the model has seen public texts of these kinds.",
        ],
    )
