"""Rank a database's pages by SiteRank times DocRank, site by site.

    pages by range of keys -> links of the pages of some sites -> DocRank inside each site, and sums of the links
    between sites -> SiteRank of all -> pages named, the best first

A task has the pages of some sites and their own links; nobody has the whole graph. The graph of sites is the sum of
the tasks' counts. Scores are those of `scrapy rank --by site`. Source: S04, see `crawler.rank.siterank`.
"""

from __future__ import annotations

import gzip
import heapq
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, cast

import numpy as np

from db.engine.database import open_for_crawl, open_for_reading, whole_url
from db.frontier.scores import ScoreBatch, set_scores
from db.queries.graph import PartReader
from db.queries.status import named
from db.records.url import Kind
from pipelines.records import BlockKind

from ..corpus.sources import key_ranges
from ..rank import expected, siterank
from ..rank.surfer import ConvergenceError
from ..terminal.text import harmless_json
from .columns import Array, Columns, collected, dealt, ends_of, pack, piece
from .frame import BatchTotals, Done, Lazily, Parts, run_step

if TYPE_CHECKING:
    from distributed import Client

    from db.engine.database import Database

    from .request import Request

_USUAL: Final = 8
"""Partitions when no number is wanted."""
_SIGNAL: Final = "siterank"


# ---------------------------------------------------------------- on workers


def deal_pages(url: str, parts: int, keys: tuple[int, int]) -> Done:
    """Task: read pages of a range of keys, and deal them to their sites' partitions."""
    with closing(open_for_reading(url)) as database, closing(PartReader(database)) as reader:
        ids, hosts, was_read = reader.pages(*keys)
        sites = reader.sites(hosts)
    columns = {"id": ids, "site": sites, "read": was_read}
    return Done(pack(dealt(columns, _home(sites, parts), parts)))


class _SitePages(NamedTuple):
    """Pages of a partition's sites, by key; only links of those that were read count."""

    ids: Array
    sites: Array
    was_read: Array


def read_links(url: str, parts: int, pages: _SitePages) -> Done:
    """Task: read the links of the pages of a partition.

    Returns links inside sites, targets of others by partition, counts between sites.
    """
    with closing(open_for_reading(url)) as database, closing(PartReader(database)) as reader:
        sources, targets, hosts = reader.links(pages.ids[pages.was_read])
        target_sites = reader.sites(hosts)
    source_sites = pages.sites[np.searchsorted(pages.ids, sources)]
    inside = source_sites == target_sites
    order = np.lexsort((targets[inside], sources[inside]))
    pairs, counts = np.unique(np.stack((source_sites[~inside], target_sites[~inside])), axis=1, return_counts=True)
    outside = {"target": targets[~inside], "target_site": target_sites[~inside]}
    columns = {
        "from": sources[inside][order],
        "to": targets[inside][order],
        "from_site": pairs[0],
        "to_site": pairs[1],
        "links": counts,
        **dealt(outside, _home(outside["target_site"], parts), parts),
    }
    return Done(pack(columns), {"links": len(sources)})


class _SiteLinks(NamedTuple):
    """Pages of a partition, links inside its sites, targets of links from others."""

    pages: _SitePages
    sources: Array
    targets: Array
    named: Array
    named_sites: Array


def rank_inside(links: _SiteLinks) -> Done:
    """Task: compute DocRank of the pages of a partition, and count the links to each."""
    pages = links.pages
    others = np.concatenate((links.named, links.targets))  # some have no row: URLs that are read as feeds
    of_others = np.concatenate((links.named_sites, pages.sites[np.searchsorted(pages.ids, links.sources)]))
    ids, first = np.unique(np.concatenate((pages.ids, others)), return_index=True)
    sites = np.concatenate((pages.sites, of_others))[first]
    of_sites, groups = np.unique(sites, return_inverse=True)
    sources, targets = (np.searchsorted(ids, column) for column in (links.sources, links.targets))
    in_links = np.bincount(targets, minlength=len(ids))
    in_links += np.bincount(np.searchsorted(ids, links.named), minlength=len(ids))
    columns = {
        "id": ids,
        "site": groups,
        "score": siterank.doc_scores(groups, sources, targets),
        "in_links": in_links,
        "sites": of_sites,
        "sizes": np.bincount(groups, minlength=len(of_sites)),
    }
    return Done(pack(columns), {"pages": len(ids)})


class _RankedPart(NamedTuple):
    ids: Array
    scores: Array
    in_links: Array


def name_pages(url: str, part: _RankedPart) -> Done:
    """Task: name the pages of a partition, the best first.

    Returns JSON for each page that has a row of its own, without its rank.
    """
    order = np.lexsort((part.ids, -part.scores))
    ids = part.ids[order].tolist()
    with closing(open_for_reading(url)) as database:
        pages = database.read(lambda connection: named(connection, ids))
    places, lines = [], []
    rows = zip(ids, order.tolist(), part.scores[order].tolist(), part.in_links[order].tolist(), strict=True)
    for key, place, score, in_links in rows:
        page = pages.get(key)
        if page is not None and page.kind == Kind.PAGE:
            row = {"score": score, "links_in": in_links, "state": page.state, "title": page.title, "url": page.url}
            places.append(place)
            lines.append(harmless_json(json.dumps(row, ensure_ascii=False)).encode("utf-8", "replace"))
    columns = {
        "id": part.ids[places],
        "score": part.scores[places],
        "lines": np.frombuffer(b"".join(lines), np.uint8),
        "line_ends": ends_of([len(one) for one in lines]),
    }
    return Done(pack(columns), {"named": len(lines)})


class _SignalPart(NamedTuple):
    ids: Array
    values: Array


def score_queued(url: str, weight: float, part: _SignalPart) -> Done:
    """Task: give the queued URLs of a partition their new score."""
    with closing(open_for_reading(url)) as database, closing(PartReader(database)) as reader:
        ids, scores, texts = reader.queued(part.ids)
    order = np.argsort(part.ids)
    values = part.values[order][np.searchsorted(part.ids, ids, sorter=order)]
    signals = [json.loads(text) for text in texts]
    before = np.array([signal.get(_SIGNAL, 0.0) for signal in signals], np.float64)
    parts = [
        json.dumps({**signal, _SIGNAL: float(f"{value:.5g}")})
        for signal, value in zip(signals, values.tolist(), strict=True)
    ]
    columns: Columns = {
        "id": ids,
        "score": scores + weight * (values - before),
        "parts": np.frombuffer("\n".join(parts).encode(), np.uint8),
    }
    return Done(pack(columns), {"scored": len(ids)})


def _home(sites: Array, parts: int) -> Array:
    return (sites.view(np.uint64) % np.uint64(parts)).astype(np.int64)


# ---------------------------------------------------------------- in the process that was started


def batch(request: Request) -> BatchTotals:
    """Write the pages of a database by rank, or new scores of its queued URLs.

    Pages are those of `scrapy rank --by site --all`, scores have the signal `siterank` as a rescore gives it.

    Raises:
        ValueError: the source is no database, or the scores do not settle.
        BatchStopped, DatabaseProblem: the batch cannot go on.
    """
    if request.output is None:
        request.needs_database()
    database = whole_url(request.source)
    with closing(open_for_reading(database)) as reader:
        name = reader.name
    weight = request.config.priority.weights.get(_SIGNAL, 0.0)
    if request.output is None and not weight:
        raise ValueError("siterank has no weight in CRAWL_PRESET and CRAWL_PRIORITY, so no score has it; name --output")
    parts = partial((request if request.output else request.beside(name)).parts, {"database": name, "weight": weight})
    folder = parts("pages").folder.parent
    try:
        with ExitStack() as stack:
            opened = None if request.output else stack.enter_context(closing(open_for_crawl(database)))
            client = stack.enter_context(request.connected())
            steps = RankSteps(client, parts, database, request.partitions or _USUAL)
            ranks = steps.rank()
            if request.output is not None:
                _write(steps.name(ranks), folder / "whole", request.output)
            elif opened is not None:
                _rescore(opened, steps.rescore(ranks, weight))
    except ConvergenceError as problem:
        raise ValueError(str(problem)) from None
    shutil.rmtree(folder)
    return steps.totals


def _write(named_pages: Sequence[Columns], unfinished: Path, output: Path) -> None:
    with ExitStack() as stack:
        out: BinaryIO = stack.enter_context(unfinished.open("wb"))
        if output.suffix == ".gz":
            out = cast("BinaryIO", stack.enter_context(gzip.GzipFile("", "wb", fileobj=out, mtime=0)))
        for place, line in enumerate(heapq.merge(*map(_lines, named_pages)), 1):
            out.write(b'{"record": "page", "rank": %d, ' % place + line[-1][1:] + b"\n")
    unfinished.replace(output)


def _rescore(database: Database, scored: Sequence[Columns]) -> None:
    for columns in scored:
        texts = columns["parts"].tobytes().decode().split("\n")
        batch = ScoreBatch(columns["id"], columns["score"], texts[: len(columns["id"])], BlockKind.PART)
        for one in batch.batches():
            database.write(partial(set_scores, batches=[one]))


class _Ranks(NamedTuple):
    """By partition: pages with their DocRank, see `rank_inside`; SiteRank of sites."""

    inside: Sequence[Columns]
    sites: Sequence[Array]


class RankSteps:
    """Steps of ranking a database, each of which goes on where it was.

    `parts` returns the folder of a step's results; workers must be able to open `database`. Memory: the graph of sites.
    """

    def __init__(self, client: Client, parts: Callable[[str], Parts], database: str, count: int) -> None:
        self.totals = BatchTotals()
        self._client = client
        self._parts = parts
        self._database = database
        self._count = count

    def rank(self) -> _Ranks:
        count = self._count
        pages = self._step("pages", partial(deal_pages, self._database, count), key_ranges(count))

        def of_sites(number: int) -> _SitePages:
            ids, sites, was_read = collected(pages, number, "id", "site", "read")
            order = np.argsort(ids)
            return _SitePages(ids[order], sites[order], was_read[order])

        links = self._step("links", partial(read_links, self._database, count), Lazily(count, of_sites))

        def of_links(number: int) -> _SiteLinks:
            site_links, others = links[number], collected(links, number, "target", "target_site")
            return _SiteLinks(of_sites(number), site_links["from"], site_links["to"], others[0], others[1])

        inside = self._step("inside", rank_inside, Lazily(count, of_links))
        return _Ranks(inside, _site_scores(inside, links))

    def name(self, ranks: _Ranks) -> list[Columns]:
        """Return named pages with their rank, the best of each partition first."""

        def scored(number: int) -> _RankedPart:
            pages = ranks.inside[number]
            return _RankedPart(pages["id"], pages["score"] * ranks.sites[number][pages["site"]], pages["in_links"])

        return self._step("named", partial(name_pages, self._database), Lazily(self._count, scored))

    def rescore(self, ranks: _Ranks, weight: float) -> list[Columns]:
        """Return scores of the queued URLs with the signal `siterank`, as a rescore does."""
        total = sum(len(pages["id"]) for pages in ranks.inside)

        def signals(number: int) -> _SignalPart:
            pages = ranks.inside[number]
            values = expected.scaled(ranks.sites[number] / np.maximum(pages["sizes"], 1), total)
            return _SignalPart(pages["id"], values[pages["site"]])

        return self._step("scored", partial(score_queued, self._database, weight), Lazily(self._count, signals))

    def _step(self, stage: str, task: Callable[[Any], Done], inputs: Sequence[Any]) -> list[Columns]:
        return run_step(self._client, self._parts(stage), task, inputs, self.totals)


def _site_scores(inside: Sequence[Columns], links: Sequence[Columns]) -> list[Array]:
    sites, sizes = (np.concatenate([one[name] for one in inside]) for name in ("sites", "sizes"))
    order = np.argsort(sites)
    sources, targets, weights = (
        np.concatenate([one[name] for one in links]) for name in ("from_site", "to_site", "links")
    )
    sources, targets = (np.searchsorted(sites[order], column) for column in (sources, targets))
    scores = np.empty(len(sites))
    scores[order] = siterank.of_links(sources, targets, weights.astype(np.float64), sizes[order])
    return np.split(scores, ends_of([len(one["sites"]) for one in inside])[1:-1])


def _lines(columns: Columns) -> Iterator[tuple[float, int, bytes]]:
    for place, (score, key) in enumerate(zip(columns["score"].tolist(), columns["id"].tolist(), strict=True)):
        yield -score, key, piece(columns["lines"], columns["line_ends"], place).tobytes()
