"""Scores of the whole queue: the pages of a crawl as arrays, and their signals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pipelines.focus.focus import Focus
from pipelines.focus.terms import PageTerms
from pipelines.focus.topic import USUAL, Feedback, Topic
from pipelines.records import BlockKind

from . import blockrank, expected, hits, networks, pagerank, siterank
from .finds import Finds, Values, address, depth
from .graph import LinkGraph
from .numbering import Column, Ids, Numbers
from .opic import Opic
from .priority import FOCUS_SIGNALS, Priority
from .surfer import Params as Surfer

logger = logging.getLogger(__name__)

_SURFER = Surfer(tolerance=1e-4)
_SEEN = expected.Params(power=0.0)
_DOUBT_PAGES = 4.0  # chosen by hand, as is the next
_USUAL_YIELD = 0.5
"""Articles a page of a host that nothing is known of; it counts as much as `_DOUBT_PAGES` pages."""
_SOON = 20_000
"""Best pages, whose scores are written before all others."""
_MOST = 200_000
"""Pages that get new scores in one round; the others, far from their turn, get them in the next rounds."""
_NOTICED = 1e-4
"""Moves of a score below this part of its range are not written."""
PAGE_BYTES, LINK_BYTES = 100, 13
"""Memory of a page and of a link, those of a round among them; a page takes 60 where `experience` does not count."""
_REJUDGED = 0.02
"""Moves of a fetched page's relevance below this are not written."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """New scores of queued pages; those that are or were among the highest come first.

    `left` more scores have moved, and wait for the next round.
    """

    ids: Ids
    hosts: Ids
    scores: Values
    values: dict[str, Values]
    left: int


class Ranking:
    """The link graph of a crawl, features of its pages, and the scores computed.

    `names` are those of nodes for signals of networks; each of these is computed inside of `bounded()`, which may end
    it with a TimeoutError.

    Cost: about 60 bytes a page and 5 a link; a round starts from the scores of the one before.
    """

    def __init__(
        self,
        priority: Priority,
        topic: Topic | None = None,
        *,
        names: networks.Names | None = None,
        bounded: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.graph = LinkGraph()
        self._priority = priority
        self._focus = Focus(topic) if topic is not None else None
        self._relevance = Column(np.float64)
        self._compared = Column(np.bool_)
        self._experience = expected.Experience()
        self._opic = Opic(self.graph)
        self._depths = Column(np.int32)
        self._blocks = Column(np.uint8)
        self._dated = Column(np.float64)
        self._segments = Column(np.uint8)
        self._queued = Column(np.bool_)
        self._scores = Column(np.float64)
        self._yields: dict[int, float] = {}
        self._before: dict[str, Values] = {}
        self._names = names
        self._bounded = bounded
        self._failed: set[str] = set()
        self._too_slow: set[str] = set()
        self._hits_now: hits.HitsScores | None = None
        self._whole: Values = np.zeros(0)
        """Expected rank of all pages in the last round, scaled."""

    @property
    def size(self) -> int:
        """Estimated bytes of memory while scoring."""
        return PAGE_BYTES * len(self.graph) + LINK_BYTES * len(self.graph.targets)

    def add_urls(self, ids: Ids, hosts: Ids, sites: Ids, urls: Finds, queued: NDArray[np.bool_]) -> None:
        """Add URLs, or update their features; `queued` ones wait to be fetched."""
        pages = self.graph.add_pages(ids, hosts, sites)
        self._grow()
        self._depths.values[pages] = urls.depths
        self._blocks.values[pages] = urls.blocks
        self._dated.values[pages] = urls.dated
        self._segments.values[pages] = urls.segments
        self._queued.values[pages] = queued
        self._scores.values[pages] = np.nan  # who found them may have given them another score

    def add_links(self, sources: Ids, counts: Numbers, targets: Ids, blocks: NDArray[np.uint8]) -> None:
        self.graph.add_links(sources, counts, targets, blocks)
        self._grow()
        self.remove(sources)

    @property
    def feedback(self) -> Feedback | None:
        return None if self._focus is None else self._focus.feedback

    def add_terms(
        self,
        pages: Ids,
        words: Sequence[PageTerms],
        targets: Sequence[Ids],
        relevance: Values,
        wasted: NDArray[np.bool_],
    ) -> None:
        """Add the words of fetched pages and of their links; they are not replaced later.

        `targets` are the pages that the links of each page lead to; `wasted` pages were of no use.
        """
        if self._focus is None or not len(pages):
            return
        ids = np.concatenate((pages, *targets))
        unknown = np.zeros(len(ids), np.int64)
        numbers = self.graph.add_pages(ids, unknown, unknown)
        self._grow()
        self._relevance.values[numbers[: len(pages)]] = relevance
        ends = len(pages) + np.cumsum([len(one) for one in targets])
        columns = (words, ends.tolist(), targets, wasted.tolist(), relevance.tolist())
        for page, terms, last, one, useless, near in zip(numbers.tolist(), *columns, strict=False):
            if not self._compared.values[page]:
                self._compared.values[page] = True
                self._focus.add(page, terms, numbers[last - len(one) : last], wasted=useless, relevance=near)

    def like(self, topic: Topic | None) -> None:
        if self._focus is not None and topic is not None:
            self._focus.like(topic)

    def mark_examples(self, ids: Ids) -> None:
        if self._focus is not None:
            self._focus.mark_seeds(self.graph.numbers(ids).tolist())

    def remove(self, ids: Ids) -> None:
        """Mark URLs as no longer queued."""
        pages = self.graph.numbers(ids)
        self._queued.values[pages[pages >= 0]] = False

    def set_yields(self, hosts: Ids, pages: NDArray[np.int64], articles: NDArray[np.int64]) -> None:
        share = (articles + _DOUBT_PAGES * _USUAL_YIELD) / (pages + _DOUBT_PAGES)
        self._yields = dict(zip(hosts.tolist(), np.minimum(1.0, share).tolist(), strict=True))

    def rescore(self, today: float) -> Rescored:
        """Score the whole queue; return the scores that have moved since the last time."""
        queued = np.flatnonzero(self._queued.values).astype(np.int32)
        self._hits_now = None
        finds = self._finds(queued, today)
        values = self._priority.of_finds(finds)
        for name, signal in _SIGNALS.items():
            if name in self._priority.weights:
                values[name] = signal(self, queued)
        values |= self._of_networks(queued)
        likeness = {} if self._focus is None else self._focus.signals(len(self.graph))
        for name in FOCUS_SIGNALS:
            if name in self._priority.weights:
                relevance = likeness[name][queued].astype(np.float64) if likeness else np.full(len(queued), USUAL)
                values[name] = np.where(finds.blocks == BlockKind.SEED, 1.0, relevance)  # nobody can know of them yet
        scores = self._priority.score(values)
        noticed = _NOTICED * sum(map(abs, self._priority.weights.values()))
        before = self._scores.values[queued]
        moved = np.flatnonzero(~(np.abs(scores - before) < noticed))
        left = max(0, len(moved) - _MOST)
        moved = moved[_in_writing_order(np.fmax(scores[moved], before[moved]), self.graph.host_numbers[queued[moved]])]
        self._scores.values[queued[moved]] = scores[moved]
        return Rescored(
            ids=self.graph.ids[queued[moved]],
            hosts=self.graph.host_ids[self.graph.host_numbers[queued[moved]]],
            scores=scores[moved],
            values={name: column[moved] for name, column in values.items()},
            left=left,
        )

    def rejudge(self) -> tuple[Ids, Values]:
        """Return the fetched pages whose relevance has moved since it was stored, with it."""
        if self._focus is None or self._focus.feedback is None:
            return np.zeros(0, np.int64), np.zeros(0)
        pages, relevance = self._focus.relevance()
        moved = np.abs(relevance - self._relevance.values[pages]) > _REJUDGED
        self._relevance.values[pages[moved]] = relevance[moved]
        return self.graph.ids[pages[moved]], relevance[moved].astype(np.float64)

    def _finds(self, pages: Numbers, today: float = 0.0) -> Finds:
        return Finds(
            depths=self._depths.values[pages],
            blocks=self._blocks.values[pages],
            dated=self._dated.values[pages],
            segments=self._segments.values[pages],
            today=today,
        )

    def _grow(self) -> None:
        more = len(self.graph) - len(self._depths)
        if more:
            for column in (self._depths, self._blocks, self._dated, self._segments, self._queued, self._compared):
                column.extend(np.zeros(more))
            for unknown in (self._scores, self._relevance):
                unknown.extend(np.full(more, np.nan))

    # ------------------------------------------------------------ signals of the graph

    def _pagerank(self, queued: Numbers) -> Values:
        self._warm("pagerank", lambda start: pagerank.score(self.graph, _SURFER, start=start))
        self._whole = self._expected(expected.DEFAULTS)
        return self._whole[queued]

    def _learnt(self, queued: Numbers) -> Values:
        if "pagerank" not in self._priority.weights:
            self._pagerank(queued)
        of_seen, whole = self._expected(_SEEN), self._whole
        finds = self._finds(queued)
        features = np.stack([of_seen[queued], whole[queued], address(finds), depth(finds)], 1)
        self._experience.learn(self.graph, whole, features, queued)
        return self._experience.value(features, self.graph.host_numbers[queued])

    def _expected(self, params: expected.Params) -> Values:
        ranks = expected.score(self.graph, self._before["pagerank"], params, waiting=self._queued.values)
        return expected.scaled(ranks, len(self.graph))

    def _blockrank(self, queued: Numbers) -> Values:
        params = blockrank.Params(surfer=_SURFER)
        rank = self._warm("blockrank", lambda start: blockrank.score(self.graph, params, start=start))
        return expected.scaled(rank[queued], len(self.graph))

    def _siterank(self, queued: Numbers) -> Values:
        # DocRank inside the site would cost as much as PageRank, which says nearly the same of queued pages
        groups = self.graph.site_numbers
        of_sites = siterank.site_scores(self.graph, _SURFER, groups=groups)
        shares = of_sites / np.maximum(np.bincount(groups), 1)
        return expected.scaled(shares[groups[queued]], len(self.graph))

    def _personal(self, queued: Numbers) -> Values:
        jumps = self._jumps()
        rank = self._warm("personal", lambda start: pagerank.score(self.graph, _SURFER, teleport=jumps, start=start))
        return expected.scaled(rank[queued], len(self.graph))

    def _jumps(self) -> Values | None:
        """Return pages on the topic by relevance, or seeds; None if there is neither."""
        relevance: Values = np.nan_to_num(self._relevance.values)
        seeds: Values = (self._blocks.values == BlockKind.SEED).astype(np.float64)
        return relevance if relevance.any() else seeds if seeds.any() else None

    def _on_topic(self) -> Values | None:
        """Weigh pages by relevance, unread ones 1; None without a page on the topic."""
        relevance: Values = np.nan_to_num(self._relevance.values)
        if not relevance.any():
            return None
        return np.where(self.graph.row_of < 0, 1.0, relevance)

    def _hits_of_all(self) -> hits.HitsScores:
        if self._hits_now is None:
            self._hits_now = hits.score(self.graph, pages=self._on_topic())
        return self._hits_now

    def _hits(self, queued: Numbers) -> Values:
        return expected.scaled(self._hits_of_all().authorities[queued], len(self.graph))

    def _hubs(self, queued: Numbers) -> Values:
        # nothing in the links to a page tells whether it is a hub: what is not read yet has the mean
        hubs, known = self._hits_of_all().hubs, self.graph.row_of >= 0
        mean = hubs[known].mean() if known.any() else 0.0
        return expected.scaled(np.where(known, hubs, mean)[queued], len(self.graph))

    def _of_networks(self, queued: Numbers) -> dict[str, Values]:
        """Compute signals of networks; those that fail are 0."""
        values: dict[str, Values] = {}
        made: dict[str, tuple[Any, NDArray[Any]]] = {}
        for name, (level, *_) in self._priority.networks.items():
            values[name] = np.zeros(len(queued))
            if name in self._too_slow:
                continue
            try:
                with self._bounded():
                    if level not in made:
                        made[level] = self._network(level)
                    network, nodes = made[level]
                    size = int(nodes.max(initial=0)) + 1
                    computed = networks.computed(self._priority.networks[name], network, size)
                    values[name] = networks.shared_scale(computed)[nodes[queued]]
            except Exception as error:  # noqa: BLE001 - of whatever kind: the signal is not of the project
                if isinstance(error, TimeoutError):
                    self._too_slow.add(name)
                if name not in self._failed:
                    self._failed.add(name)
                    problem = f"{type(error).__name__}: {error}"
                    logger.error("signal %s failed (%s); it is 0 then, which is said only once", name, problem)
        return values

    def _network(self, level: str) -> tuple[Any, NDArray[Any]]:
        columns = {"depth": self._depths.values, "queued": self._queued.values}
        return networks.of_level(self.graph, level, self._names, columns)

    def _cash(self, queued: Numbers) -> Values:
        self._opic.observe(self.graph.rows)
        return expected.scaled(self._opic.cash[queued], len(self.graph))

    def _host(self, queued: Numbers) -> Values:
        of_hosts = np.array([self._yields.get(key, _USUAL_YIELD) for key in self.graph.host_ids.tolist()])
        return np.asarray(of_hosts[self.graph.host_numbers[queued]])

    def _warm(self, name: str, compute: Callable[[Values | None], Values]) -> Values:
        self._before[name] = scores = compute(self._before.get(name))
        return scores


def _in_writing_order(scores: Values, hosts: Numbers) -> NDArray[np.int64]:
    """Choose the best `_MOST`: `_SOON` of them by score, then by host for fast writes."""
    order = np.argsort(-scores, kind="stable")[:_MOST]
    later = np.sort(order[_SOON:])
    return np.concatenate((order[:_SOON], later[np.argsort(hosts[later], kind="stable")]))


_SIGNALS: Final[dict[str, Callable[[Ranking, Numbers], Values]]] = {
    "pagerank": Ranking._pagerank,
    "experience": Ranking._learnt,
    "personal": Ranking._personal,
    "blockrank": Ranking._blockrank,
    "siterank": Ranking._siterank,
    "hits": Ranking._hits,
    "hubs": Ranking._hubs,
    "opic": Ranking._cash,
    "host": Ranking._host,
}
