"""Keywords by their place in the network of an article's words (S21)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..analysis import AnalysedText
from ..frequencies import Frequencies

if TYPE_CHECKING:
    import networkx as nx

NAME = "network"


class Form(StrEnum):
    """Centrality of all words, or betweenness to a centre network."""

    CENTRALITY = "centrality"
    CLUSTERING = "clustering"


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of `network`.

    Attributes:
        title: how much a neighbourhood in the title counts; one in the text counts 1.
        betweenness: share of betweenness in the centrality; the rest is closeness.
        clustering: share of the clustering coefficient beside the weighted degree, in the second form.
        centre: so many words of the most degree and clustering are the centre network, in the second form.
        most_words: the commonest words that are nodes.
    """

    form: Form = Form.CENTRALITY
    title: float = 3.0
    betweenness: float = 0.5
    clustering: float = 0.2
    centre: int = 20
    most_words: int = 100


DEFAULTS = Params()


def extract(text: AnalysedText, frequencies: Frequencies, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return (word, weight in [0, 1]) by centrality in the network, heaviest first.

    A word that many shortest ways between others lead over, or from which all others are near, holds the text together.

    Cost:    O(words x edges) for at most `most_words` words; 50 ms for an article: not for every page of a crawl.
    Source:  S21, 任克强 et al., 基于带权语言网络的网页关键词抽取, 2008, and 基于复杂网络的新闻网页关键词提取: a
             directed network (有向加权网络), an edge from each word to the next of its sentence, distance 1 / weight;
             betweenness and closeness, or weighted degree and clustering, and then the shortest paths between words
             and the centre network of the best of these (中心介数).
    Differs: only words that tell something are nodes. "Increment" of betweenness and closeness is read as the part
             above the mean word's, closeness as nearness from all others. Words that no path to the centre network
             leads over follow by degree and clustering. Of long articles the commonest words are nodes. Emphasis is
             gone with the page.
    """
    import networkx as nx  # noqa: PLC0415 - for this method alone

    graph = build(text, params)
    if not graph:
        return []
    if params.form is Form.CENTRALITY:
        between = _increments(nx.betweenness_centrality(graph, weight="distance"))
        near = _increments(nx.closeness_centrality(graph, distance="distance"))
        weights = {word: params.betweenness * between[word] + (1 - params.betweenness) * near[word] for word in graph}
    else:
        shape = connectedness(graph, params.clustering)
        centre = sorted(graph, key=lambda word: -shape[word])[: params.centre]
        ways = _share(nx.betweenness_centrality_subset(graph, sources=list(graph), targets=centre, weight="distance"))
        weights = {word: 0.99 * ways[word] + 0.01 * shape[word] for word in graph}
    return sorted(((graph.nodes[word]["word"], weights[word]) for word in graph), key=lambda item: -item[1])


def connectedness(graph: nx.DiGraph, clustering: float) -> dict[str, float]:
    """Mix the weighted degrees, as shares of the largest, with clustering.

    Source: S21, second form: 得出各个节点的加权度以及聚类系数.
    """
    import networkx as nx  # noqa: PLC0415

    degree = _share(dict(graph.degree(weight="weight")))
    close = nx.clustering(graph)
    return {word: (1 - clustering) * degree[word] + clustering * close[word] for word in graph}


def build(text: AnalysedText, params: Params = DEFAULTS) -> nx.DiGraph:
    """Build the directed network of a text.

    Nodes are terms, with the `word` as it stands in the text first and its `count`; edges have `weight` and `distance`.
    """
    import networkx as nx  # noqa: PLC0415

    nodes = {term for term, _ in text.counts.most_common(params.most_words)}
    weights: dict[tuple[str, str], float] = {}
    spelled: dict[str, str] = {}
    for sentence in text.sentences:
        before = None
        for at in range(sentence.first, sentence.last):
            term = text.terms[at]
            if not text.telling[at] or term not in nodes:
                continue
            spelled.setdefault(term, text.text[text.starts[at] : text.ends[at]])
            if before is not None and before != term:
                weights[before, term] = weights.get((before, term), 0.0) + (
                    params.title if at < text.title_words else 1.0
                )
            before = term
    graph = nx.DiGraph()
    graph.add_nodes_from((term, {"word": word, "count": text.counts[term]}) for term, word in spelled.items())
    graph.add_edges_from(
        (one, other, {"weight": weight, "distance": 1.0 / weight}) for (one, other), weight in weights.items()
    )
    return graph


def _share(values: dict[str, float]) -> dict[str, float]:
    most = max(values.values()) or 1.0
    return {key: value / most for key, value in values.items()}


def _increments(values: dict[str, float]) -> dict[str, float]:
    mean = sum(values.values()) / len(values)
    return _share({key: max(0.0, value - mean) for key, value in values.items()})
