"""Read the link graph of a crawl, for `scrapy rank` and the web page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db.engine.database import Database
from db.queries.graph import KINDS, STATES, GraphReader, LinkRows, Params, TermRows, UrlRows
from db.records.url import Kind, State
from pipelines.records import BlockKind

from ...rank.graph import LinkGraph
from ...rank.numbering import Ids
from ...rank.surfer import Values

ARTICLES, LISTING = "articles", "articles and lists"
"""Pages that `read_graph` tells apart from all others."""


@dataclass(frozen=True, slots=True, eq=False)
class CrawlGraph:
    """A link graph, and what is known of its pages.

    Attributes:
        relevance: to the topic of the crawl, or 0.
        shown: `ARTICLES` and `LISTING` among the pages.
        columns: `depth`, `queued` and `seed`, for networks of pages.
    """

    links: LinkGraph
    relevance: Values
    shown: Mapping[str, NDArray[np.bool_]]
    columns: Mapping[str, NDArray[Any]]


def read_graph(database: Database, now: float) -> CrawlGraph:
    """Read the link graph as of a Unix time.

    Raises:
        DatabaseProblem: the database cannot be read.
    """
    graph, reader = LinkGraph(), GraphReader(database)
    known: list[tuple[Ids, NDArray[Any]]] = []
    near: list[tuple[Ids, Values]] = [(np.zeros(0, np.int64), np.zeros(0))]
    try:
        for rows in reader.read(now):
            if isinstance(rows, UrlRows):
                pages = rows.kinds == KINDS.index(Kind.PAGE)
                graph.add_pages(rows.ids[pages], rows.hosts[pages], rows.sites[pages])
                waits = np.isin(rows.states, [STATES.index(State.PENDING), STATES.index(State.LEASED)])
                each = rows.depths, waits, rows.found_in == BlockKind.SEED
                known.append((rows.ids[pages], np.stack([column[pages] for column in each], 1)))
            elif isinstance(rows, LinkRows):
                graph.add_links(rows.sources, rows.counts, rows.targets, rows.blocks)
            elif isinstance(rows, TermRows):
                near.append((rows.ids, rows.relevance))
        articles, lists = reader.articles(), reader.lists()
    finally:
        reader.close()
    relevance = np.zeros(len(graph))
    ids, values = (np.concatenate(column) for column in zip(*near, strict=True))
    pages = graph.numbers(ids)
    relevance[pages[pages >= 0]] = values[pages >= 0]
    is_article = np.isin(graph.ids, articles)
    features = np.zeros((len(graph), 3), np.int64)
    for found, rows_of in known:
        features[graph.numbers(found)] = rows_of
    depth, queued, seed = features.T
    return CrawlGraph(
        graph,
        relevance,
        {ARTICLES: is_article, LISTING: is_article | np.isin(graph.ids, lists)},
        {"depth": depth, "queued": queued.astype(np.bool_), "seed": seed.astype(np.bool_)},
    )


def read_newest(database: Database, now: float, most: int) -> LinkGraph:
    """Read the links among the `most` URLs found last, as of a Unix time.

    Raises:
        DatabaseProblem: the database cannot be read.
    """
    graph, reader = LinkGraph(), GraphReader(database, Params(most=most))
    try:
        for rows in reader.read(now):
            if isinstance(rows, UrlRows):
                pages = rows.kinds == KINDS.index(Kind.PAGE)
                graph.add_pages(rows.ids[pages], rows.hosts[pages], rows.sites[pages])
            elif isinstance(rows, LinkRows):
                graph.add_links(rows.sources, rows.counts, rows.targets, rows.blocks)
    finally:
        reader.close()
    return graph
