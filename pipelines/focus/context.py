"""Context layers: the distance of a page from the topic by its words (S06)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .judge import Vector

_SMOOTHING: Final = 200.0
"""Mass of the words of all layers that is added to each (Dirichlet prior)."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the layers; `targets` is a share of the pages, the most relevant."""

    layers: int = 2
    targets: float = 0.1
    decay: float = 0.5


DEFAULTS = Params()


def layers(
    relevance: Vector, sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32], params: Params = DEFAULTS
) -> npt.NDArray[np.int8]:
    """Return the layer of each fetched page: 0 a target, i for i links from one.

    `sources` and `targets` are rows of pages, for each link; all further out are in layer `params.layers` + 1.

    >>> layers(np.array([0.0, 1.0, 0.0], np.float32), np.array([0]), np.array([1]), Params(1, 0.3)).tolist()
    [1, 0, 2]
    """
    outside = params.layers + 1
    layer_of = np.full(len(relevance), outside, np.int8)
    count = max(1, int(params.targets * len(relevance)))
    layer_of[np.argsort(-relevance, kind="stable")[:count]] = 0
    for layer in range(1, outside):
        reached = sources[layer_of[targets] == layer - 1]
        layer_of[reached] = np.minimum(layer_of[reached], layer)
    return layer_of


def promise(
    counts: sparse.csr_matrix[Any], layer: npt.NDArray[np.int8], rarity: Vector, params: Params = DEFAULTS
) -> Vector:
    """Return the expected worth of each page's links, in [0, 1].

    It is `decay` to the power of the distance that the page's words predict, by naive Bayes with the layers as classes:
    a page in the middle of nowhere whose words are those of pages near the topic is followed (tunnelling).

    Cost: O(layers x (terms + buckets)).
    Source: S06; Diligenti et al., Focused crawling using context graphs, 2000.
    Differs: there is one classifier with the layers as classes instead of one for each layer; layers come from the
        crawl's own links; a page's evidence is divided by the square root of its terms, because words are not
        independent; the whole distribution counts, not the best layer alone.
    """
    weighted = sparse.csr_matrix((rarity[counts.indices], counts.indices, counts.indptr), counts.shape)
    lengths = np.sqrt(np.maximum(np.diff(counts.indptr), 1.0))
    inside = (layer[:, None] == np.arange(params.layers + 2)).astype(np.float32)
    mass = weighted.T @ inside
    overall = mass.sum(1, keepdims=True)
    background = _SMOOTHING * overall / max(float(overall.sum()), 1e-9) + 1e-9
    words = np.log((mass + background) / (mass.sum(0) + _SMOOTHING)).astype(np.float32)
    table = weighted @ words / lengths[:, None] + np.log((inside.sum(0) + 1.0) / (len(layer) + 1.0))
    likely = np.exp(table - table.max(1, keepdims=True))
    likely /= likely.sum(1, keepdims=True)
    worth = params.decay ** np.arange(params.layers + 2)
    expected: Vector = (likely @ worth).astype(np.float32)
    return expected
