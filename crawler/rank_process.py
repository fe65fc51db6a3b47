"""The process that holds the link graph: it reads the database as it grows, and scores the queue when it is asked to.

Nothing here is needed again when it dies: the next process reads everything anew.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from db.database import Database, open_for_reading
from db.frontier import Scores
from db.graph import KINDS, STATES, FetchedRows, GraphReader, LinkRows, Params, Rows, TermRows, UrlRows
from db.tables import Kind, State
from pipelines.focus import record
from pipelines.focus.topic import Topic, is_entry
from pipelines.records import BlockKind

from .rank.finds import DAY, Finds, segments
from .rank.priority import Priority
from .rank.ranking import Ranking, Rescored

_PAGE = KINDS.index(Kind.PAGE)
_QUEUED = [STATES.index(State.PENDING), STATES.index(State.LEASED)]


@dataclass(frozen=True, slots=True)
class Question:
    """A round that is due.

    Attributes:
        database_url: where the crawl is.
        priority: which signals count for how much.
        topic: what the crawl looks for, if for something.
        now: Unix time.
    """

    database_url: str
    priority: Priority
    topic: Topic | None
    now: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a round brought.

    Attributes:
        chunks: new scores to write, each in a transaction of its own; those that move the order most first.
        best: for each chunk, the hosts it touches and the best score that each gets.
        moved: how many scores there are.
        pages: pages of the link graph.
        seconds: CPU time the round took.
    """

    chunks: list[Scores]
    best: list[dict[int, float]]
    moved: int
    pages: int
    seconds: float


class _Crawl:
    """One crawl's database and what is known of it."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._database: Database = open_for_reading(question.database_url)
        self._reader = GraphReader(self._database, Params(texts=True))
        self._ranking = Ranking(question.priority, question.topic)

    def rescore(self, now: float) -> Rescored:
        """Read what is new, and score."""
        today = now // DAY
        for rows in self._reader.read(now):
            self._take(rows, today)
        if "host" in self.question.priority.weights:
            self._ranking.set_yields(*self._reader.yields())
        return self._ranking.rescore(today)

    def _take(self, rows: Rows, today: float) -> None:
        """Take over some rows of the tables."""
        if isinstance(rows, UrlRows):
            pages = np.flatnonzero(rows.kinds == _PAGE)
            finds = Finds(
                depths=rows.depths[pages],
                blocks=rows.found_in[pages],
                dated=rows.dated[pages],
                segments=np.fromiter((segments(rows.urls[page]) for page in pages.tolist()), np.uint8, len(pages)),
                today=today,
            )
            queued = np.isin(rows.states[pages], _QUEUED)
            self._ranking.add_urls(rows.ids[pages], rows.hosts[pages], rows.sites[pages], finds, queued)
            seeds = [page for page in pages[finds.blocks == BlockKind.SEED].tolist() if not is_entry(rows.urls[page])]
            self._ranking.mark_examples(rows.ids[seeds])
        elif isinstance(rows, LinkRows):
            self._ranking.add_links(rows.sources, rows.counts, rows.targets, rows.blocks)
        elif isinstance(rows, FetchedRows):
            self._ranking.remove(rows.ids)
        elif isinstance(rows, TermRows):
            for page, data in zip(rows.ids.tolist(), rows.terms, strict=True):
                self._ranking.add_terms(page, *record.unpack(data))

    def close(self) -> None:
        """Let go of the database."""
        self._reader.close()
        self._database.close()


_crawls: list[_Crawl] = []


def prepare() -> None:
    """First thing in the process: Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()


def rank(question: Question) -> Answer:
    """Hold a round.

    Raises:
        DatabaseProblem: the database cannot be read.
    """
    began = time.process_time()
    if not _crawls or _crawls[0].question.database_url != question.database_url:
        for old in _crawls:
            old.close()
        _crawls[:] = [_Crawl(question)]
    try:
        rescored = _crawls[0].rescore(question.now)
    except BaseException:
        _crawls.pop().close()  # half of what is new may be missing: everything is read anew
        raise
    texts = question.priority.texts(rescored.values)
    chunks = list(Scores(rescored.ids, rescored.scores, texts, BlockKind.PART).batches())
    return Answer(chunks, list(_best(rescored, chunks)), len(texts), rescored.pages, time.process_time() - began)


def _best(rescored: Rescored, chunks: Sequence[Scores]) -> Iterator[dict[int, float]]:
    """Hosts of each chunk, and the best score of each."""
    hosts = iter(rescored.hosts.tolist())
    for chunk in chunks:
        best: dict[int, float] = {}
        for score, host_id in zip(chunk.scores.tolist(), hosts, strict=False):
            best[host_id] = max(score, best.get(host_id, score))
        yield best
