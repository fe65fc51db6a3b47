"""Read the link graph of a crawl, for `scrapy rank` and the web page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from db.engine.database import Database
from db.queries.graph import KINDS, GraphReader, LinkRows, TermRows, UrlRows
from db.records.url import Kind

from ...rank.graph import LinkGraph
from ...rank.numbering import Ids
from ...rank.surfer import Values

ARTICLES, LISTING = "articles", "articles and lists"
"""Pages that `read_graph` tells apart from all others."""


def read_graph(database: Database, now: float) -> tuple[LinkGraph, Values, Mapping[str, NDArray[np.bool_]]]:
    """Read the link graph as of a Unix time, with relevance (or 0) and kinds of pages.

    Raises:
        DatabaseProblem: the database cannot be read.
    """
    graph, reader = LinkGraph(), GraphReader(database)
    near: list[tuple[Ids, Values]] = [(np.zeros(0, np.int64), np.zeros(0))]
    try:
        for rows in reader.read(now):
            if isinstance(rows, UrlRows):
                pages = rows.kinds == KINDS.index(Kind.PAGE)
                graph.add_pages(rows.ids[pages], rows.hosts[pages], rows.sites[pages])
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
    return graph, relevance, {ARTICLES: is_article, LISTING: is_article | np.isin(graph.ids, lists)}
