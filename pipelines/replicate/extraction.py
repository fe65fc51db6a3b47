"""Experiments on the main text of pages: S10 to S13, S17, S19."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

import numpy as np

from ..document.document import Document
from ..extract import extractor, fusion
from ..extract.weighted import EDGES, WUQI2011, WeightedModel, extract_by
from ..training import naive_bayes
from ..training import weighted as weights_training
from ..training.examples import Example
from .table import Replication, Row, text_scores

_FIVE: Final = {name: EDGES[name] for name in ("chars", "marks", "spaces", "bold", "breaks")}
_THRESHOLDS: Final = np.arange(0.02, 0.96, 0.02)
_PARTICLES, _GENERATIONS = 100, 200
_RIGHT: Final = 0.9
_LCS: Final = "P and R are means over pages: LCS over the characters extracted, and over those known."

Way = Callable[[Document], str]


def weights(pages: Sequence[Example], seed: int) -> Replication:
    """Learn weights of the paper's five features by a swarm; test on other sites.

    Raises:
        ValueError: the pages are all of one site, or hold no known text.

    Source: S10.
    """
    training, tested = _halves(pages, seed)
    rng = np.random.default_rng(seed)
    learned, _ = weights_training.learn(
        training, rng, particles=_PARTICLES, generations=_GENERATIONS, edges=_FIVE, without=WUQI2011.without
    )
    even = replace(learned, features=tuple(replace(feature, weight=1.0) for feature in learned.features))
    even = max(
        (replace(even, threshold=float(threshold)) for threshold in _THRESHOLDS),
        key=lambda model: _scores(training, _by(model))["F"],
    )
    found = ", ".join(f"{feature.name} {feature.weight:.4g}" for feature in learned.features)
    return Replication(
        "S10: 吴麒, 陈兴蜀, 谭骏, 基于权值优化的网页正文内容提取算法, 2011",
        [
            Row("learned by a swarm", _scores(tested, _by(learned)), {"P": 0.867, "R": 0.958, "F": 0.9104}),
            Row("equal weights", _scores(tested, _by(even)), {"P": 0.871, "R": 0.921, "F": 0.895}),
            Row("weights as printed", _scores(tested, _by(WUQI2011))),
            Row("seven more features (learned)", _scores(tested, _named("weighted"))),
        ],
        [
            f"{len(training)} pages to learn from, {len(tested)} of other sites to test; the paper has 2,500 of 2006.",
            f"The swarm found {found}, e {learned.threshold:.4g}; equal weights do best with e {even.threshold:.3g}.",
            "The printed threshold, .2922, lies .0104 above the least possible score: any sign of content is enough.",
            "The last row is the shipped model; it has seen public pages, perhaps these.",
            _LCS,
        ],
    )


def density(pages: Sequence[Example], seed: int) -> Replication:
    """Score text and symbol density (S11); `seed` changes nothing."""
    return _single("density", pages, "S11: 洪鸿辉 et al., 基于文本及符号密度的网页正文提取方法, 2019", {})


def decay(pages: Sequence[Example], seed: int) -> Replication:
    """Score the decay of information (S13); `seed` changes nothing."""
    return _single(
        "decay", pages, "S13: 陈阳, 陈兴蜀, 吴麒, 基于信息量衰减幅度的网页正文提取, 2012", {"pages right": 0.95}
    )


def leaves(pages: Sequence[Example], seed: int) -> Replication:
    """Score the three features of leaves (S17); `seed` changes nothing."""
    return _single("leaves", pages, "S17: 孔胜, 王宇, 一种基于正文特征的新闻网页抽取方法", {"pages right": 0.95})


def titles(pages: Sequence[Example], seed: int) -> Replication:
    """Score correlation with the title (S19); `seed` changes nothing."""
    known = _known(pages)
    printed = {"link_share": 0.03, "mark_density": 0.1, "overlap": 1.0}
    return Replication(
        "S19: 网页主题信息提取",
        [
            Row("calibrated", _scores(known, _named("titlematch"))),
            Row("p, m, s as printed", _scores(known, _named("titlematch", printed))),
            Row("combined", _scores(known, _named("combined"))),
        ],
        [f"{len(known)} pages; the paper's figures are not in the text that is left of it.", _LCS],
    )


def fuse(pages: Sequence[Example], seed: int) -> Replication:
    """Score pruning and fusing, with and without naive Bayes of other sites (S12).

    Raises:
        ValueError: the pages are all of one site, or no leaf is worthless.

    Source: S12.
    """
    training, tested = _halves(pages, seed)
    params = fusion.Params()
    words = naive_bayes.learn(naive_bayes.labelled_leaves(training, params))
    paper = replace(params, log_odds=0.0)
    rate = fmean(fusion.fusion_rate(page.document) for page in pages)

    def way(model: fusion.WordModel | None, chosen: fusion.Params = params) -> Way:
        return lambda document: fusion.extract_by(document, chosen, model).text

    return Replication(
        "S12: 王海艳, 曹攀, 基于节点属性与正文内容的海量Web信息抽取方法, 2016",
        [
            Row("pruning and fusing", {"fusion rate": rate}, {"fusion rate": 0.628}),
            Row("densities alone", _scores(tested, way(None))),
            Row("with naive Bayes", _scores(tested, way(words))),
            Row("with naive Bayes, odds 1 (the paper's)", _scores(tested, way(words, paper))),
            Row("the same, the first leaf judges", _scores(tested, way(words, replace(paper, judge_first=True)))),
        ],
        [
            f"Words of {len(training)} pages, {len(tested)} pages of other sites to test.",
            "The paper counts the nodes of a DOM tree with its texts (1,700 to 600), here elements are counted.",
            _LCS,
        ],
    )


def _single(name: str, pages: Sequence[Example], source: str, paper: Mapping[str, float]) -> Replication:
    known = _known(pages)
    rows = [Row(each, _scores(known, _named(each)), paper if each == name else {}) for each in (name, "combined")]
    return Replication(source, rows, [f"{len(known)} pages; right are those of F {_RIGHT} and more.", _LCS])


def _known(pages: Sequence[Example]) -> list[Example]:
    known = [page for page in pages if page.article and page.text]
    if not known:
        raise ValueError("no page has a known text")
    return known


def _halves(pages: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """Deal pages into two halves by their sites."""
    of_site: dict[str, list[Example]] = defaultdict(list)
    for page in _known(pages):
        of_site[page.site or page.id].append(page)
    if len(of_site) < 2:
        raise ValueError("the pages are all of one site; those of another are needed to test what was learned")
    halves: tuple[list[Example], list[Example]] = ([], [])
    sites = sorted(of_site)
    np.random.default_rng(seed).shuffle(sites)
    for site in sites:
        halves[len(halves[0]) > len(halves[1])].extend(of_site[site])
    return halves


def _scores(pages: Sequence[Example], way: Way) -> dict[str, float]:
    pairs = [(way(page.document), page.text) for page in pages]
    right = fmean(text_scores([pair])["F"] >= _RIGHT for pair in pairs)
    return text_scores(pairs) | {"pages right": right}


def _named(name: str, params: Mapping[str, object] | None = None) -> Way:
    extract = extractor(name, params)
    return lambda document: extract(document).text


def _by(model: WeightedModel) -> Way:
    return lambda document: extract_by(document, model).text
