"""The crawl's order as a class that a simulator can drive: `add_seeds`, `observe`, `next_urls`.

What scores URLs when they are found and scores the queue again is `crawler.rank`, as in a crawl. Only the table is
replaced: by a sorted list for what was scored at the last round, and a heap for what was found since.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np

from crawler.rank.finds import Finds, Values, segments
from crawler.rank.numbering import Column
from crawler.rank.priority import FOCUS_SIGNALS, GRAPH_SIGNALS, Priority
from crawler.rank.ranking import Ranking
from crawler.rank.rounds import Rounds
from pipelines.focus.terms import PageTerms, read_text
from pipelines.focus.topic import Topic, is_entry, make_topic
from pipelines.records import BlockKind
from pipelines.urls import host_key, site_key

_BLOCKS = {"content": BlockKind.BODY, "nav": BlockKind.NAVIGATION, "footer": BlockKind.FOOTER}
_TODAY = 20_000.0


class CrawlOrder:
    """Hands out URLs in the order in which a crawl with the same weights would fetch them.

    Args:
        preset: a name in `crawler.rank.priority.PRESETS`; when left out `pagerank`, with a topic `focused`.
        weights: signal=weight, on top of the preset.
    """

    def __init__(self, preset: str = "", **weights: float) -> None:
        self._chosen, self._weights = preset, weights
        self._begin(Priority(preset or "pagerank", weights))

    def _begin(self, priority: Priority) -> None:
        """Know nothing yet."""
        self._priority = priority
        self._ranking = Ranking(self._priority)
        self._rounds = Rounds()
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []
        self._depths: list[int] = []
        self._blocks: list[int] = []
        self._segments: list[int] = []
        self._site_of: dict[str, tuple[int, int]] = {}
        self._sites: dict[str, int] = {}
        self._homes: list[tuple[int, int]] = []
        self._waits = bytearray()
        self._scores = Column(np.float64)
        names = (*GRAPH_SIGNALS, *FOCUS_SIGNALS, *self._priority.networks)
        self._values = {name: Column(np.float64) for name in names if name in self._priority.weights}
        self._legacy: dict[str, list[float]] = {name: [] for name in self._values}
        self._told = 0
        self._topic: Topic | None = None
        self._terms: list[tuple[int, PageTerms, list[int]]] = []
        self._fetched: list[tuple[int, list[int], bytes]] = []
        self._done = 0
        self._sorted: list[int] = []
        self._at = 0
        self._heap: list[tuple[float, int]] = []

    def set_topic(self, description: str, examples: Sequence[str]) -> None:
        """Look for something: a description in words, and texts of pages like it."""
        try:
            found = make_topic(description, [read_text(text) for text in examples])
        except ValueError:  # nothing but stop words: the seeds say what is looked for
            found = Topic(np.zeros(0, np.uint32))
        self._begin(Priority(self._chosen or "focused", self._weights))
        self._topic = found
        self._ranking = Ranking(self._priority, found)

    def add_seeds(self, urls: Sequence[str]) -> None:
        """Begin with these."""
        new = [url for url in dict.fromkeys(urls) if url not in self._numbers]
        self._find(new, [int(BlockKind.SEED)] * len(new), 0, self._priority.of_seeds)
        self._score_new()
        self._tell()
        examples = [self._numbers[url] for url in urls if not is_entry(url)]
        self._ranking.mark_examples(np.array(examples, np.int64) + 1)

    def observe(self, url: str, text: str, links: Sequence[tuple[str, str, str]]) -> None:
        """A page was fetched: take over its links."""
        terms = None
        if self._topic is not None:
            terms = read_text(text, [(anchor.replace("_", " "), target) for target, anchor, _ in links])
        self.take(url, [target for target, _, _ in links], [_BLOCKS[block] for _, _, block in links], terms)

    def take(self, url: str, links: Sequence[str], blocks: Sequence[int], terms: PageTerms | None) -> None:
        """Take over a page that was fetched: its links, "" for those not followed, and with a topic its terms."""
        known = self._numbers
        page = known[url]
        new = {target: block for target, block in zip(links, blocks, strict=True) if target and target not in known}
        if new:
            parts = {name: float(column.values[page]) for name, column in self._values.items()}
            legacy: dict[str, Values | float] = {}
            legacy |= self._priority.inherited(parts, len(links), len(links) - len(new))
            if terms is not None and self._topic is not None:
                anchors = dict(zip(links, self._topic.anchors(terms), strict=True))
                likeness = self._topic.relevance(terms)
                legacy |= self._priority.alike(likeness, [anchors[target] for target in new], parts)
            self._find(list(new), [*new.values()], self._depths[page] + 1, legacy)
        targets = [known[target] if target else -1 for target in links]
        followed = [(target, block) for target, block in zip(targets, blocks, strict=True) if target >= 0]
        self._fetched.append((page, [target for target, _ in followed], bytes(block for _, block in followed)))
        if terms is not None:
            self._terms.append((page, terms, targets))
        self._done += 1

    def next_urls(self, k: int) -> list[str]:
        """The best that wait."""
        self._score_new()
        if self._rounds.due(self._done):
            self._round()
        chosen: list[str] = []
        while len(chosen) < k:
            number = self._next()
            if number < 0:
                break
            self._waits[number] = 0
            chosen.append(self._urls[number])
        return chosen

    # ------------------------------------------------------------ the queue

    def _find(self, urls: list[str], blocks: list[int], depth: int, legacy: Mapping[str, Values | float]) -> None:
        """Enter new URLs; they are scored together with those of the next pages."""
        size, first = len(urls), len(self._urls)
        self._numbers.update(zip(urls, range(first, first + size), strict=True))
        self._urls.extend(urls)
        self._depths.extend(repeat(depth, size))
        self._blocks.extend(blocks)
        self._segments.extend(map(segments, urls))
        self._waits.extend(b"\1" * size)
        for name, values in self._legacy.items():
            value = legacy.get(name, 0.0)
            values.extend(repeat(value, size) if isinstance(value, float) else value.tolist())

    def _score_new(self) -> None:
        """Score what was found since the last time."""
        first = len(self._scores)
        if first == len(self._urls):
            return
        legacy = {name: np.array(values) for name, values in self._legacy.items()}
        scores = self._priority.score(self._priority.first(self._finds(first), legacy))
        self._scores.extend(scores)
        for name, column in self._values.items():
            column.extend(legacy[name])
            self._legacy[name].clear()
        for number, score in enumerate(scores.tolist(), first):
            heapq.heappush(self._heap, (-score, number))

    def _finds(self, first: int) -> Finds:
        """What is known of URLs from a number on."""
        return Finds(
            np.array(self._depths[first:], np.int32),
            np.array(self._blocks[first:], np.uint8),
            np.zeros(len(self._urls) - first),
            np.array(self._segments[first:], np.uint8),
            _TODAY,
        )

    def _next(self) -> int:
        """The best URL that waits, or -1."""
        waits, heap, by_score = self._waits, self._heap, self._sorted
        while self._at < len(by_score) and not waits[by_score[self._at]]:
            self._at += 1
        while heap and not waits[heap[0][1]]:
            heapq.heappop(heap)
        if self._at == len(by_score):
            return heap[0][1] if heap else -1
        number = by_score[self._at]
        return heap[0][1] if heap and -heap[0][0] > self._scores.values[number] else number

    # ------------------------------------------------------------ rounds

    def _round(self) -> None:
        """Tell the ranking what came since the last time, and sort the queue by its answer."""
        self._rounds.begin(self._done)
        self._tell()
        rescored = self._ranking.rescore(_TODAY)
        numbers = rescored.ids - 1
        self._scores.values[numbers] = rescored.scores
        for name, column in self._values.items():
            column.values[numbers] = rescored.values[name]
        waiting = np.flatnonzero(np.frombuffer(self._waits, np.uint8))
        self._sorted = waiting[np.argsort(-self._scores.values[waiting], kind="stable")].tolist()
        self._at, self._heap = 0, []

    def _tell(self) -> None:
        """Hand new URLs and fetched pages to the ranking, as the tables would."""
        new = slice(self._told, len(self._numbers))
        self._homes += [self._home(url) for url in self._urls[new]]
        hosts, sites = (
            (np.array(column, np.int64) for column in zip(*self._homes[new], strict=True))
            if len(self._homes) > self._told
            else (np.zeros(0, np.int64),) * 2
        )
        finds = self._finds(self._told)
        ids = np.arange(self._told, len(self._numbers), dtype=np.int64) + 1
        self._ranking.add_urls(ids, hosts, sites, finds, np.ones(len(ids), np.bool_))
        self._told = len(self._numbers)
        sources = np.array([page for page, _, _ in self._fetched], np.int64) + 1
        counts = np.array([len(targets) for _, targets, _ in self._fetched], np.int32)
        targets = np.array([target for _, targets, _ in self._fetched for target in targets], np.int64) + 1
        blocks = np.frombuffer(b"".join(blocks for _, _, blocks in self._fetched), np.uint8)
        self._ranking.add_links(sources, counts, targets, blocks)
        self._fetched = []
        pages = np.array([page for page, _, _ in self._terms], np.int64) + 1
        linked = [np.array(numbers, np.int64) + 1 for _, _, numbers in self._terms]
        unknown = np.full(len(pages), np.nan)
        self._ranking.add_terms(
            pages, [terms for _, terms, _ in self._terms], linked, unknown, np.zeros(len(pages), np.bool_)
        )
        self._terms = []

    def _home(self, url: str) -> tuple[int, int]:
        """Numbers of a URL's host and site."""
        host = host_key(url)
        if host not in self._site_of:
            self._site_of[host] = (len(self._site_of) + 1, self._sites.setdefault(site_key(host), len(self._sites) + 1))
        return self._site_of[host]


class OneSignal(CrawlOrder):
    """Order by one signal, and where that is equal by depth; the simulator needs a dot for each colon in its name."""

    def __init__(self, signal: str) -> None:
        super().__init__("breadth", **{"depth": 1e-3, signal.replace(".", ":"): 1.0})
