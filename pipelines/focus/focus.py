"""Focused crawling: relevance of waiting pages, learned from fetched ones.

A page that waits is judged by its links: the pages that name it, the words of the links and of their neighbours, what
else those pages link to, and what came of it. All of it is learnt from a topic in words; nobody labels anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import context, hindsight, judge
from .hindsight import Hindsight
from .judge import Vector
from .terms import PageTerms
from .topic import USUAL, Feedback, Topic, described_relevance, learned_relevance, saturated

Numbers = npt.NDArray[np.int32]

PARTS: Final[Mapping[str, Mapping[str, float]]] = {
    "profile": {"similarity": 0.19},
    "anchor": {"query": 0.20, "description": 0.18, "beside": 0.27},
    "context": {"layers": 0.05},
    "sibling": {"siblings": 0.14, "neighbours": 0.12, "hubs": 0.35},
    "learned": {"promise": 0.19, "around": 0.06, "early": 0.0},
}
"""Signal -> its parts and their usual weights: the signal's own weight is to be their sum."""
_WEIGHTS: Final = np.array([weight for parts in PARTS.values() for weight in parts.values()], np.float32)


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of judging pages that wait.

    Attributes:
        pages: most fetched pages that are kept to learn from; beyond them the oldest quarter is forgotten.
        buckets: words are hashed to as many buckets, a power of two.
        neighbours: links on either side of a link that say what it is.
        reach: links after which a neighbour's word counts 1/e.
        prior: links of unknown worth that each page is taken to have.
        doubt: pages of use that each word of links is taken to have led to.
    """

    pages: int = 50_000
    buckets: int = 1 << 18
    neighbours: int = 3
    reach: float = 1.5
    prior: float = 3.0
    doubt: float = 3.0
    judge: judge.Params = judge.DEFAULTS
    context: context.Params = context.DEFAULTS
    hindsight: hindsight.Params = hindsight.DEFAULTS

    def __post_init__(self) -> None:
        if self.pages < 4:
            raise ValueError(f"pages is {self.pages}; it takes 4 or more")
        if self.buckets < 2 or self.buckets & (self.buckets - 1):
            raise ValueError(f"buckets is {self.buckets}; it takes a power of two")


DEFAULTS = Params()


class Focus:
    """Learner from fetched pages, numbered from 0 on, and judge of those they link to."""

    def __init__(self, topic: Topic, params: Params = DEFAULTS) -> None:
        self.params = params
        self._is_labelled = bool(topic.classes)
        self._wanted = np.zeros(params.buckets, np.float32)
        self._wanted[topic.wanted & (params.buckets - 1)] = 1.0
        self.like(topic)
        self.feedback: Feedback | None = None
        self._relevance: Vector = np.zeros(0, np.float32)
        self._seeds: set[int] = set()
        self._kept = _Kept()
        self._hindsight = Hindsight(_WEIGHTS, params.hindsight)
        self._last: dict[str, Vector] = {name: np.zeros(0, np.float32) for name in PARTS}

    def like(self, topic: Topic) -> None:
        """Take what is liked from a topic, in place of what was liked before."""
        self._liked = np.zeros(self.params.buckets, np.float32)
        for terms, weights in topic.liked:
            np.add.at(self._liked, terms & (self.params.buckets - 1), weights)

    def mark_seeds(self, numbers: Sequence[int]) -> None:
        self._seeds.update(numbers)

    def add(
        self, number: int, page: PageTerms, targets: Numbers, *, wasted: bool = False, relevance: float = 0.0
    ) -> None:
        """Add a fetched page, once.

        `targets` are numbers of the pages that links of `page` lead to, -1 for none. A `wasted` page is of no use
        whatever it says, such as another form of an article; `relevance` counts only when the topic is classes.

        Raises:
            ValueError: there is not one target per link, or one is less than -1.
        """
        if len(targets) != len(page):
            raise ValueError(f"{len(targets)} targets for {len(page)} links; it takes one for each")
        if len(targets) and targets.min() < -1:
            raise ValueError(f"a target is {targets.min()}; it takes the number of a page, or -1")
        self._kept.append(_columns(number, page, targets.astype(np.int32), wasted=wasted, relevance=relevance))
        if len(self._kept) > self.params.pages:
            self._kept = self._kept.newest(self.params.pages - self.params.pages // 4)

    def __len__(self) -> int:
        return len(self._kept)

    def signals(self, size: int) -> Mapping[str, Vector]:
        """Judge all pages; `size` is larger than any number given before.

        Values are in [0, 1], about 1/3 for the mean of the pages that wait. A page that no kept page links to has what
        it had before, at first 1/3. Cost: O(terms + links of the pages kept + buckets).
        """
        for name, before in self._last.items():
            self._last[name] = np.concatenate((before, np.full(max(0, size - len(before)), USUAL, np.float32)))
        if len(self._kept):
            linked, judged = self._judged(size)
            for name, values in judged.items():
                self._last[name] = np.where(linked[:size], values[:size], self._last[name])
        return {name: values.copy() for name, values in self._last.items()}

    def relevance(self) -> tuple[Numbers, Vector]:
        """Return the pages judged last and the relevance of each, by `feedback`."""
        numbers = self._kept.columns().numbers if len(self._kept) else np.zeros(0, np.int32)
        return numbers[: len(self._relevance)], self._relevance

    def _learn(self, counts: sparse.csr_matrix[Any], judgement: judge.Judgement, used: npt.NDArray[np.int64]) -> None:
        if self._is_labelled:  # nothing that the crawl teaches changes them
            self._relevance = judgement.relevance
            return
        wanted = np.flatnonzero(self._wanted[used])
        words = counts[:, wanted]
        words.data = saturated(words.data)
        evidence = np.sqrt(np.asarray(words.sum(1)).ravel())
        learned = judge.feedback(counts, judgement, used, self.params.buckets, self.params.judge)
        if learned is None:
            self.feedback = None
            self._relevance = described_relevance(evidence, len(wanted)).astype(np.float32)
        else:
            self.feedback, deviations = learned
            self._relevance = learned_relevance(deviations, evidence).astype(np.float32)

    def _judged(self, size: int) -> tuple[npt.NDArray[np.bool_], Mapping[str, Vector]]:
        params = self.params
        columns, used = _compact(self._kept.columns(), (self._wanted != 0) | (self._liked != 0))
        wanted, liked = self._wanted[used], self._liked[used]
        counts = _matrix(columns.terms, columns.term_counts, columns.weights, len(used))
        seeds = np.flatnonzero(np.isin(columns.numbers, np.fromiter(self._seeds, np.int64, len(self._seeds))))
        labels = columns.relevance if self._is_labelled else None
        judgement = judge.judge(counts, wanted, liked, seeds, params.judge, labels=labels)
        self._learn(counts, judgement, used)
        graph = _Links(columns, judgement.relevance, size + 1, params)
        words = _Words(columns, judgement, wanted)
        inside = graph.fetched[graph.targets]
        layer = context.layers(
            judgement.relevance, graph.sources[inside], graph.row[graph.targets[inside]], params.context
        )
        promise = context.promise(counts, layer, judgement.rarity, params.context)
        waiting = (graph.degree > 0) & ~graph.fetched
        waiting[size] = False
        if not waiting.any():
            return graph.degree > 0, {}
        parts = {
            "similarity": graph.mean_of_sources(judgement.similarity),
            "query": graph.best(words.query),
            "description": graph.best(words.wanted),
            "beside": graph.mean(graph.beside(words.query)),
            "layers": graph.mean_of_sources(promise),
            "siblings": graph.siblings(),
            "neighbours": graph.neighbours(),
            "promise": graph.mean(words.promise),
            "around": graph.shy_mean(words.around, words.has_around),
            "early": -np.log1p(np.arange(size + 1, dtype=np.float32)),
        }
        standing = {name: _standing(values, waiting) for name, values in parts.items()}
        usual = np.zeros(size + 1, np.float32)
        for part, weight in (item for some in PARTS.values() for item in some.items()):
            if part in standing:  # all but the hubs, which it is for
                usual += weight * standing[part]
        standing["hubs"] = _standing(graph.hubs(usual, waiting), waiting)
        table = np.stack([standing[part] for some in PARTS.values() for part in some], 1)
        signals = self._weighed(table, waiting, graph)
        # one link that names the topic, or one source that is on it, says more than all others together
        for name, sure in (("anchor", words.named), ("profile", self._relevance[graph.sources])):
            signals[name] = np.maximum(signals[name], USUAL + (1.0 - USUAL) * graph.best(sure))
        use = 1.0 - graph.waste(columns, words.links, params)
        return graph.degree > 0, {name: values * use for name, values in signals.items()}

    def _weighed(self, table: Vector, waiting: npt.NDArray[np.bool_], graph: _Links) -> dict[str, Vector]:
        pages = np.flatnonzero(waiting)
        weights = self._hindsight.weights(graph.fetched, graph.relevance_of)
        total = table @ weights
        # whatever is learnt, the topic counts as much beside other signals
        weights = weights * (float((table[pages] @ _WEIGHTS).std()) / max(float(total[pages].std()), 1e-9))
        self._hindsight.note(pages, total, table)
        signals, at = {}, 0
        for signal, parts in PARTS.items():
            columns = slice(at, at + len(parts))
            at = columns.stop
            mean = table[:, columns] @ weights[columns] / sum(parts.values())
            signals[signal] = np.clip(USUAL + mean / 6.0, 0.0, 1.0)
        return signals


def _standing(values: Vector, waiting: npt.NDArray[np.bool_]) -> Vector:
    """Scale values by deviations above the mean of the waiting pages, at most 4."""
    some = values[waiting]
    deviation = max(float(some.std()), 1e-9)
    standing: Vector = np.clip((values - some.mean()) / deviation, -4.0, 4.0).astype(np.float32)
    return standing


class _Links:
    def __init__(self, kept: _Columns, relevance: Vector, known: int, params: Params) -> None:
        self.params, self.known, self.relevance = params, known, relevance
        self.targets = np.where(kept.targets < 0, known - 1, kept.targets)
        self.sources = np.repeat(np.arange(len(kept.numbers), dtype=np.int32), kept.link_counts)
        self.out = kept.link_counts
        self.row = np.full(known, -1, np.int32)
        self.row[kept.numbers] = np.arange(len(kept.numbers), dtype=np.int32)
        self.degree = np.bincount(self.targets, minlength=known).astype(np.float32)
        self.typical = float(relevance.mean())
        self.relevance_of = np.zeros(known, np.float32)
        self.relevance_of[kept.numbers] = np.where(kept.wasted, 0.0, relevance)
        self.wasted = np.zeros(known, np.float32)
        self.wasted[kept.numbers] = kept.wasted
        self.fetched = self.row >= 0

    def mean(self, values: Vector) -> Vector:
        return (self.sum(values) / np.maximum(self.degree, 1.0)).astype(np.float32)

    def shy_mean(self, values: Vector, counted: npt.NDArray[np.bool_]) -> Vector:
        """Average over the links that count, and one more of value 0."""
        return self.sum(values) / (self.sum(counted.astype(np.float32)) + 1.0)

    def sum(self, values: Vector) -> Vector:
        return np.bincount(self.targets, values, self.known).astype(np.float32)

    def best(self, values: Vector) -> Vector:
        """Return the best of the links to a page, at least 0."""
        best = np.zeros(self.known, np.float32)
        np.maximum.at(best, self.targets, values)
        return best

    def mean_of_sources(self, values: Vector) -> Vector:
        """Average over the pages that link to a page, and one more that is typical."""
        return (self.sum(values[self.sources]) + float(values.mean())) / (self.degree + 1.0)

    def siblings(self) -> Vector:
        turned = np.bincount(self.sources, self.relevance_of[self.targets], len(self.out))
        count = np.bincount(self.sources, self.fetched[self.targets], len(self.out))
        prior = self.params.prior
        return self.mean_of_sources(((turned + prior * self.typical) / (count + prior)).astype(np.float32))

    def neighbours(self) -> Vector:
        fetched = self.fetched[self.targets].astype(np.float32)
        above = np.where(fetched > 0, self.relevance_of[self.targets] - self.typical, 0.0).astype(np.float32)
        return self.sum(self._spread(above)) / (self.sum(self._spread(fetched)) + 1.0)

    def beside(self, values: Vector) -> Vector:
        return self._spread(values) / (self._spread(np.ones_like(values)) + 0.5)

    def hubs(self, total: Vector, waiting: npt.NDArray[np.bool_]) -> Vector:
        some = total[waiting]
        steep = (total - np.quantile(some, 0.9)) / max(float(some.std()), 1e-9) * 1.5
        likely = np.where(self.fetched, self.relevance_of, 1.0 / (1.0 + np.exp(-np.clip(steep, -9.0, 9.0))))
        typical = float(likely[waiting].mean())
        whole = np.bincount(self.sources, likely[self.targets], len(self.out))
        others = whole[self.sources] - likely[self.targets] + self.params.prior * typical
        others /= self.out[self.sources] - 1.0 + self.params.prior
        return (self.sum(others.astype(np.float32)) + typical) / (self.degree + 1.0)

    def waste(self, kept: _Columns, words: sparse.csr_matrix[Any], params: Params) -> Vector:
        if not kept.wasted.any():
            return np.zeros(self.known, np.float32)
        each = 1.0 / np.maximum(self.degree, 1.0)[self.targets]
        useless = words.T @ (each * self.wasted[self.targets])
        if not useless.any():
            return np.zeros(self.known, np.float32)
        share = useless / (words.T @ (each * self.fetched[self.targets]) + params.doubt)
        shares = sparse.csr_matrix((share[words.indices], words.indices, words.indptr), words.shape)
        return self.mean(shares.max(axis=1).toarray().ravel())

    def _spread(self, values: Vector) -> Vector:
        """Sum over the neighbours of each link, nearer ones counting more."""
        sums = np.zeros(len(values), np.float32)
        for apart in range(1, self.params.neighbours + 1):
            weight = np.exp(-apart / self.params.reach) * (self.sources[apart:] == self.sources[:-apart])
            sums[apart:] += weight * values[:-apart]
            sums[:-apart] += weight * values[apart:]
        return sums


class _Words:
    def __init__(self, kept: _Columns, judgement: judge.Judgement, wanted: Vector) -> None:
        self.links = _matrix(kept.anchors, kept.anchor_counts, np.ones(len(kept.anchors), np.float32), len(wanted))
        rarity = judgement.rarity
        described = wanted * rarity
        described = described / max(float(np.linalg.norm(described)), 1e-9)
        columns = (judgement.query, described, judgement.promise)
        self.query, self.wanted, self.promise = _projected(self.links, rarity, columns)
        self.named = described_relevance(np.sqrt(self.links @ wanted), int(wanted.sum())).astype(np.float32)
        around = _matrix(kept.around, kept.around_counts, np.ones(len(kept.around), np.float32), len(wanted))
        (self.around,) = _projected(around, rarity, (judgement.odds,))
        self.has_around = kept.around_counts > 0


def _projected(links: sparse.csr_matrix[Any], rarity: Vector, columns: Sequence[Vector]) -> list[Vector]:
    table = np.stack([rarity * rarity, *(rarity * column for column in columns)], 1)
    sums = links @ table
    length = np.sqrt(np.maximum(sums[:, 0], 1e-12))
    return [np.ascontiguousarray(sums[:, one + 1] / length, np.float32) for one in range(len(columns))]


def _compact(kept: _Columns, used: npt.NDArray[np.bool_]) -> tuple[_Columns, npt.NDArray[np.int64]]:
    mask = np.uint32(len(used) - 1)
    hashed = [column & mask for column in (kept.terms, kept.anchors, kept.around)]
    for column in hashed:
        used[column] = True
    numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
    terms, anchors, around = (numbers[column] for column in hashed)
    return replace(kept, terms=terms, anchors=anchors, around=around), np.flatnonzero(used)


def _matrix(terms: npt.NDArray[Any], counts: npt.NDArray[Any], weights: Vector, width: int) -> sparse.csr_matrix[Any]:
    starts = np.zeros(len(counts) + 1, np.int32 if len(terms) < np.iinfo(np.int32).max else np.int64)
    np.cumsum(counts, out=starts[1:])
    return sparse.csr_matrix((weights, terms, starts), (len(counts), width))


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    numbers: npt.NDArray[np.int32]
    wasted: npt.NDArray[np.bool_]
    relevance: Vector
    term_counts: npt.NDArray[np.int32]
    link_counts: npt.NDArray[np.int32]
    terms: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]
    targets: npt.NDArray[np.int32]
    anchor_counts: npt.NDArray[np.uint8]
    anchors: npt.NDArray[Any]
    around_counts: npt.NDArray[np.uint8]
    around: npt.NDArray[Any]


def _columns(number: int, page: PageTerms, targets: Numbers, *, wasted: bool, relevance: float) -> _Columns:
    return _Columns(
        np.array([number], np.int32),
        np.array([wasted]),
        np.array([relevance], np.float32),
        np.array([len(page.terms)], np.int32),
        np.array([len(page)], np.int32),
        page.terms,
        page.weights,
        targets,
        page.anchor_counts,
        page.anchors,
        page.around_counts,
        page.around,
    )


def _joined(parts: Sequence[_Columns]) -> _Columns:
    return _Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Columns.__slots__))


@dataclass(slots=True)
class _Kept:
    parts: list[_Columns] = field(default_factory=list)
    size: int = 0

    def __len__(self) -> int:
        return self.size

    def append(self, page: _Columns) -> None:
        self.parts.append(page)
        self.size += 1

    def columns(self) -> _Columns:
        if len(self.parts) > 1:
            self.parts = [_joined(self.parts)]
        return self.parts[0]

    def newest(self, count: int) -> _Kept:
        all_ = self.columns()
        first = len(all_.numbers) - count
        term, link = int(all_.term_counts[:first].sum()), int(all_.link_counts[:first].sum())
        anchor, around = int(all_.anchor_counts[:link].sum()), int(all_.around_counts[:link].sum())
        starts = (
            first,
            first,
            first,
            first,
            first,
            term,
            term,
            link,
            link,
            anchor,
            link,
            around,
        )  # in the order of the columns
        columns = zip(_Columns.__slots__, starts, strict=True)
        rest = _Columns(*(getattr(all_, name)[start:].copy() for name, start in columns))
        return _Kept([rest], count)
