"""Hold the link graph in a process of its own, and score the queue on request.

The process keeps nothing that is not in the database: when it dies, the next one reads everything again.
"""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from db.articles.relevance import RelevanceBatch
from db.engine.database import Database, open_for_reading
from db.frontier.scores import ScoreBatch
from db.queries.graph import (
    KINDS,
    STATES,
    FetchedRows,
    GraphReader,
    LinkRows,
    Params,
    Rows,
    TermRows,
    UrlRows,
    names_of,
)
from db.records.url import Kind, State
from pipelines.focus import record
from pipelines.focus.terms import PageTerms
from pipelines.focus.topic import Feedback, Topic, is_entry
from pipelines.records import BlockKind

from .finds import DAY, Finds, Values, segments
from .numbering import Ids, Numbers
from .priority import Priority

logger = logging.getLogger(__name__)

_FEWEST = 100
"""URLs that are ranked however much memory they take."""
_NETWORK_SECONDS = 60.0
"""Time of one signal of a network in a round. Chosen by hand."""
_PAGE = KINDS.index(Kind.PAGE)
_QUEUED = [STATES.index(State.PENDING), STATES.index(State.LEASED)]


@dataclass(frozen=True, slots=True)
class RankRequest:
    """A rescore that is due.

    Articles with a relevance below `least` are off topic. Beyond `memory` bytes the URLs found first are left out of
    the graph, and keep their scores.
    """

    database_url: str
    priority: Priority
    topic: Topic | None
    least: float
    now: float
    memory: int = 1 << 31


@dataclass(frozen=True, slots=True)
class RankResponse:
    """New scores in `chunks`, each to be written in a transaction of its own.

    Those that move the order most come first; `left` more have moved, for the next round. `fetched` counts the pages of
    the graph whose links are known; `judged` are fetched pages whose relevance has moved, with it.
    """

    chunks: list[ScoreBatch]
    ids: Ids
    hosts: Ids
    scores: Values
    left: int
    fetched: int
    judged: list[RelevanceBatch]
    feedback: Feedback | None


class _OpenGraph:
    def __init__(self, request: RankRequest) -> None:
        self.request = request
        self._database: Database = open_for_reading(request.database_url)
        self._begin()

    def _begin(self, most: int | None = None) -> None:
        """Start an empty graph of the `most` newest URLs; by default what memory holds."""
        from .ranking import PAGE_BYTES, Ranking  # noqa: PLC0415 - scipy is of no use in the process that asks

        most = most or self.request.memory // PAGE_BYTES
        self._reader = GraphReader(self._database, Params(texts=True, most=max(most, _FEWEST)))
        self.ranking = Ranking(
            self.request.priority, self.request.topic, names=partial(names_of, self._database), bounded=_bounded
        )

    def read(self, now: float) -> None:
        """Read what is new; if the graph gets too large, start again with fewer URLs."""
        while not self._fits(now):
            most = len(self.ranking.graph) // 2
            self._reader.close()
            self._begin(most)
            logger.info(
                "the graph of links is full (MEMORY_MB, rank): the newest %d URLs are ranked from here on", most
            )
        if "host" in self.request.priority.weights:
            self.ranking.set_yields(*self._reader.yields())

    def _fits(self, now: float) -> bool:
        for rows in self._reader.read(now):
            self._take(rows, now // DAY)
            if self.ranking.size > self.request.memory and len(self.ranking.graph) > _FEWEST:
                return False
        return True

    def _take(self, rows: Rows, today: float) -> None:
        if isinstance(rows, UrlRows):
            pages = np.flatnonzero(rows.kinds == _PAGE)
            finds = Finds(
                depths=rows.depths[pages],
                blocks=rows.found_in[pages],
                dated=rows.dated[pages],
                segments=np.fromiter((segments(rows.urls[page]) for page in pages.tolist()), np.uint8, len(pages)),
                today=today,
            )
            # parts of articles go before all else, whatever their signals
            queued = np.isin(rows.states[pages], _QUEUED) & (finds.blocks != BlockKind.PART)
            self.ranking.add_urls(rows.ids[pages], rows.hosts[pages], rows.sites[pages], finds, queued)
            seeds = [page for page in pages[finds.blocks == BlockKind.SEED].tolist() if not is_entry(rows.urls[page])]
            self.ranking.mark_examples(rows.ids[seeds])
        elif isinstance(rows, LinkRows):
            self.ranking.add_links(*self._links_in_graph(rows))
        elif isinstance(rows, FetchedRows):
            self.ranking.remove(rows.ids)
        elif isinstance(rows, TermRows):
            self._take_terms(rows)

    def _links_in_graph(self, rows: LinkRows) -> tuple[Ids, Numbers, Ids, NDArray[np.uint8]]:
        if self._reader.is_whole:
            return rows.sources, rows.counts, rows.targets, rows.blocks
        is_in_graph = self.ranking.graph.numbers(rows.targets) >= 0
        places = np.repeat(np.arange(len(rows.sources)), rows.counts)[is_in_graph]
        counts = np.bincount(places, minlength=len(rows.sources)).astype(np.int32)
        return rows.sources, counts, rows.targets[is_in_graph], rows.blocks[is_in_graph]

    def _take_terms(self, rows: TermRows) -> None:
        """Add the words of pages; unreadable ones are logged and skipped."""
        read: list[int] = []
        words: list[PageTerms] = []
        targets: list[Ids] = []
        for place, data in enumerate(rows.terms):
            try:
                terms, linked = record.unpack(data)
            except ValueError as problem:
                logger.warning("words of page %d: %s", rows.ids[place], problem)
                continue
            read.append(place)
            words.append(terms)
            targets.append(linked)
        self.ranking.add_terms(rows.ids[read], words, targets, rows.relevance[read], rows.wasted[read])

    def close(self) -> None:
        self._reader.close()
        self._database.close()


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise TimeoutError in the main thread when a signal takes too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it took more than {_NETWORK_SECONDS:g} seconds and is not tried again")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _NETWORK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


_graphs: list[_OpenGraph] = []


def prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()


def rank(request: RankRequest) -> RankResponse:
    """Score the queue again.

    Raises:
        DatabaseProblem: the database cannot be read.
    """
    if not _graphs or _graphs[0].request.database_url != request.database_url:
        for old in _graphs:
            old.close()
        _graphs[:] = [_OpenGraph(request)]
    graph = _graphs[0]
    graph.request = request
    graph.ranking.like(request.topic)
    try:
        graph.read(request.now)
    except BaseException:
        _graphs.pop().close()  # half of what is new may be missing: everything is read anew
        raise
    rescored = graph.ranking.rescore(request.now // DAY)
    texts = request.priority.texts(rescored.values)
    chunks = list(ScoreBatch(rescored.ids, rescored.scores, texts, BlockKind.PART).batches())
    return RankResponse(
        chunks,
        rescored.ids,
        rescored.hosts,
        rescored.scores,
        rescored.left,
        graph.ranking.graph.rows,
        list(RelevanceBatch(*graph.ranking.rejudge(), request.least).batches()),
        graph.ranking.feedback,
    )
