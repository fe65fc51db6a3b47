"""Relevance of the fetched pages by pseudo-relevance feedback from the topic.

The pages that resemble the topic most stand in for labelled ones (Rocchio), and from them come odds of words, which
judge the pages again. Where the topic is classes, the pages are labelled, by their memberships.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .topic import Feedback

Vector = npt.NDArray[np.float32]

_LABELLED: Final = 0.5
"""Membership from which a page stands for the topic."""
_NAMED: Final = 10
"""Pages that stand for the description when the seeds are compared with it."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of judging pages.

    Attributes:
        liked: weight of examples and profile, the description having 1.
        seeds: the same for the seeds of the crawl, if they seem to be examples of the topic.
        cautious: how far the seeds must stand out, in deviations, to be taken for examples by half.
        nearest: most pages that feed back into the query.
        share: most of the pages fetched that do so, and that count as on the topic, as a share.
        typical: most pages that count as on the topic for the odds of words.
        common: weight of the mean page, taken from the query.
        wide: most pages that count as on the topic, for each that resembles it.
        fewest: pages on the topic that must share a word for it to have odds.
        enough: pages that must resemble the topic for feedback to single pages, of `words` words.
        low, high: quantiles of the pages' scores that become 0 and 1.
    """

    liked: float = 2.0
    seeds: float = 0.5
    cautious: float = -0.6
    nearest: int = 60
    share: float = 0.33
    typical: int = 120
    common: float = 0.3
    wide: int = 3
    fewest: int = 2
    enough: int = 5
    words: int = 256
    low: float = 0.3
    high: float = 0.98


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Relevance of the fetched pages, and vectors over buckets of words.

    Attributes:
        relevance: of each page, 0 to 1.5.
        similarity: of each page to the topic as it was given, cosine.
        topic, query, telling: unit vectors of the topic as given, with what is like it, less what all pages share.
        similar: how many pages resemble the topic at all.
        promise: how much more relevant pages with the word are than the mean page.
    """

    relevance: Vector
    similarity: Vector
    rarity: Vector
    topic: Vector
    query: Vector
    telling: Vector
    similar: int
    odds: Vector
    promise: Vector


def judge(
    counts: sparse.csr_matrix[Any],
    wanted: Vector,
    liked: Vector,
    seeds: npt.NDArray[np.int64],
    params: Params = DEFAULTS,
    *,
    labels: Vector | None = None,
) -> Judgement:
    """Judge all fetched pages.

    Args:
        counts: pages x buckets of words, positive weights.
        wanted, liked: weights of buckets in the description, and in examples and profile; all 0 for none.
        labels: relevance of each page, in [0, 1], where it is known; then `wanted`, `liked` and `seeds` do not count.

    Source: Rocchio, Relevance feedback in information retrieval, 1971; odds after Robertson and Sparck Jones,
        Relevance weighting of search terms, 1976.
    Differs: no page is labelled; seeds count little, and most the words that several of them share.
    """
    pages = counts.shape[0]
    present = sparse.csr_matrix((np.ones(counts.nnz, np.float32), counts.indices, counts.indptr), counts.shape)
    with_word = _sums(present)
    # Two words of a page may share a bucket, which then counts the page twice.
    rarity = np.log((2 + pages) / (1 + np.minimum(with_word, pages))).astype(np.float32)
    rows = _vectors(counts, rarity)
    topic = np.zeros_like(wanted)
    if labels is None:
        topic = _unit(wanted * rarity) + params.liked * _unit(liked * rarity)
        if len(seeds):
            shared = np.sqrt(_sums(present[seeds]) / len(seeds))
            trust = params.seeds * _trust(rows, _unit(wanted * rarity), seeds, params) if topic.any() else 1.0
            topic = topic + trust * _unit(_sums(rows[seeds]) * shared)
        topic = _unit(topic)
    similarity = rows @ topic if labels is None else labels
    most = max(3, int(params.share * pages))
    similar = int(np.count_nonzero(similarity > 0 if labels is None else similarity >= _LABELLED))
    near = _best(similarity, min(params.nearest, most, similar))
    centre = _unit(rows[near].T @ similarity[near])
    telling = topic + centre - params.common * _unit(_sums(rows)) * (similar > 0)
    first = rows @ telling if labels is None else labels
    typical = _best(first, min(params.typical, most, params.wide * similar if labels is None else similar))
    inside = _sums(present[typical])
    odds = _logit(inside, len(typical)) - _logit(with_word - inside, max(pages - len(typical), 0))
    odds[inside < params.fewest] = 0.0
    relevance = _scaled(standardize(rows @ odds) + standardize(first), params) if labels is None else labels
    promise = (present.T @ (relevance - relevance.mean())) / (with_word + 2.0)
    query = _unit(topic + centre)
    return Judgement(relevance, similarity, rarity, topic, query, telling, similar, odds, promise.astype(np.float32))


def feedback(
    counts: sparse.csr_matrix[Any],
    judgement: Judgement,
    used: npt.NDArray[np.int64],
    buckets: int,
    params: Params = DEFAULTS,
) -> tuple[Feedback, Vector] | None:
    """Make of a judgement what judges pages one by one, and the pages' deviations.

    It is None while too few pages resemble the topic, or all do alike.
    """
    if judgement.similar < params.enough:
        return None
    weights = judgement.telling * judgement.rarity
    strength = np.abs(weights)
    few = min(params.words, len(strength))
    chosen = np.sort(np.argpartition(-strength, few - 1)[:few])
    telling = np.zeros_like(weights)
    telling[chosen] = weights[chosen]
    similarity = _vectors(counts, np.ones_like(weights)) @ telling
    mean, deviation = float(similarity.mean()), float(similarity.std())
    if deviation < 1e-6:
        return None
    learned = Feedback(used[chosen].astype(np.uint32), telling[chosen], mean, deviation, buckets)
    return learned, (similarity - mean) / deviation


def _trust(rows: sparse.csr_matrix[Any], wanted: Vector, seeds: npt.NDArray[np.int64], params: Params) -> float:
    similarity = rows @ wanted
    similarity[seeds] = 0.0
    named = _best(similarity, _NAMED)
    named = named[similarity[named] > 0]
    others = np.ones(len(similarity), np.bool_)
    others[seeds] = others[named] = False
    if len(named) < 3 or not others.any():
        return 0.5
    similar = rows @ _unit(_sums(rows[named]))
    above = (similar[seeds].mean() - similar[others].mean()) / max(float(similar[others].std()), 1e-9)
    return float(1.0 / (1.0 + np.exp(4.0 * (params.cautious - above))))


def standardize(values: Vector) -> Vector:
    """Standardise values to mean 0 and deviation 1; all 0 when they are equal.

    >>> standardize(np.array([1.0, 3.0], np.float32)).tolist()
    [-1.0, 1.0]
    """
    deviation = float(values.std()) if values.size else 0.0
    return ((values - values.mean()) / deviation if deviation > 1e-9 else np.zeros_like(values)).astype(np.float32)


def _vectors(counts: sparse.csr_matrix[Any], rarity: Vector) -> sparse.csr_matrix[Any]:
    """Return rows of unit length: (1 + log weight) x rarity."""
    data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(rows, data * data, counts.shape[0]))
    data /= np.maximum(length, 1e-9)[rows]
    return sparse.csr_matrix((data.astype(np.float32), counts.indices, counts.indptr), counts.shape)


def _sums(rows: sparse.csr_matrix[Any]) -> Vector:
    return np.bincount(rows.indices, rows.data, rows.shape[1]).astype(np.float32)


def _unit(vector: npt.NDArray[Any]) -> Vector:
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


def _best(values: Vector, count: int) -> npt.NDArray[np.int64]:
    return np.argsort(-values, kind="stable")[:count]


def _logit(inside: Vector, count: int) -> Vector:
    logit: Vector = np.log((inside + 0.5) / (count + 1.0)).astype(np.float32)
    return logit


def _scaled(values: Vector, params: Params) -> Vector:
    low, high = np.quantile(values, (params.low, params.high))
    scaled: Vector = np.clip((values - low) / max(float(high - low), 1e-9), 0.0, 1.5).astype(np.float32)
    return scaled
