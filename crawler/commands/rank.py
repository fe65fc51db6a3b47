"""`scrapy rank`: show the best pages of a crawl by links; draw its link graph."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..run.command import NewsCommand, add_format, read_with
from ._graph_picture import PICTURES, draw, graphml, require_extra

if TYPE_CHECKING:
    import argparse

    from db.engine.database import Database
    from db.queries.status import Named

    from ..rank.graph import LinkGraph
    from ..rank.surfer import Values
    from ..terminal.text import Field

    _Sheet = tuple[str, Sequence[Field], Sequence[Sequence[object]], str]


TOPIC = "topic"
"""Name in `--by` for the pages' own relevance to the crawl's topic, instead of a method of link analysis."""
_MOST_TOP = 100_000
_NAMED = {".svg": 200, ".png": 200, ".graphml": 20_000}
"""Best pages that a picture chooses from, or that go into a file: more no program for looking at graphs can show."""
_PATH_CHARS = 24


class Command(NewsCommand):
    usage = "[--by METHOD] [--top N] [--all] [--graph FILE] [--format NAME]"
    summary = "Show the best pages by their links; draw the link graph"
    description = (
        "Methods: pagerank; hits (authorities) and hubs; site (SiteRank times DocRank); block (PageRank in which a "
        "link counts as much as the block it stands in); opic (cash handed on from page to page): their scores sum "
        "to 1 over all pages; topic (how near each page is to what the crawl looks for). Listed are stored "
        "articles, by hubs lists as well; with --all every URL that is known. The graph is drawn (.svg, .png), or "
        "written for Gephi and others (.graphml)."
    )
    examples = (
        ("scrapy rank --by hits --top 50", "List the fifty best authorities"),
        ("scrapy rank --graph crawl.svg", "Draw the best sites and pages"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--by", default="pagerank", metavar="METHOD", help="how pages are scored (pagerank)")
        parser.add_argument("--top", default="20", metavar="N", help="pages to list, best first (20)")
        parser.add_argument("--all", action="store_true", help="list URLs that are no stored articles, too")
        add_format(parser, "table", "jsonl")
        parser.add_argument("--graph", type=Path, metavar="FILE", help="draw the graph: .svg, .png or .graphml")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..rank.surfer import ConvergenceError
        from ..terminal.output import Output

        options = _Options.parse(opts.by, opts.top, opts.graph, everything=opts.all)
        self.refuse_outputs(options.graph)
        try:
            name, ranking = read_with(self, lambda database: rank(database, options, time.time()))
        except ConvergenceError as problem:
            raise ValueError(str(problem)) from None
        output = Output(opts.format, wide=opts.wide)
        output.say(f"Database: {name}")
        output.say(f"{ranking.pages:,} pages, {ranking.rows:,} of them fetched, {ranking.links:,} links")
        for title, fields, rows, record in ranking.tables:
            output.show(title, fields, rows, record)
        if options.graph is not None:
            options.graph.write_bytes(ranking.picture)
            output.say(f"{ranking.drawn}: {options.graph}")
            if ranking.problem:
                sys.stderr.write(f"scrapy rank: {ranking.problem}\n")


@dataclass(frozen=True, slots=True)
class _Options:
    by: str
    top: int
    graph: Path | None
    everything: bool

    @property
    def ending(self) -> str:
        return "" if self.graph is None else self.graph.suffix.lower()

    @staticmethod
    def parse(by: str, top: str, graph: Path | None, *, everything: bool) -> _Options:
        """Check options as they were typed; raises `ValueError`."""
        from ..rank.methods import METHODS

        if by not in METHODS and by != TOPIC:
            raise ValueError(f"--by {by!r} is unknown; use one of: {', '.join((*METHODS, TOPIC))}")
        if not (top.isdecimal() and 1 <= int(top) <= _MOST_TOP):
            raise ValueError(f"--top {top!r} is no number from 1 to {_MOST_TOP}")
        if graph is not None and graph.suffix.lower() not in _NAMED:
            raise ValueError(f"--graph {str(graph)!r} has no ending that is known; use one of: {', '.join(_NAMED)}")
        if graph is not None and graph.suffix.lower() in PICTURES:
            require_extra()
        return _Options(by, int(top), graph, everything or (graph is not None and graph.suffix.lower() == ".graphml"))


@dataclass(frozen=True, slots=True)
class _Result:
    """Sizes of the graph, tables, the picture, its caption and what is wrong with it.

    A table is its title, columns, rows and name for scripts.
    """

    pages: int
    rows: int
    links: int
    tables: Sequence[_Sheet]
    picture: bytes = b""
    drawn: str = ""
    problem: str = ""


def rank(database: Database, options: _Options, now: float) -> _Result:
    """Score the pages of a crawl as of a Unix time.

    Raises:
        DatabaseProblem: the database cannot be read.
        ConvergenceError: the scores do not settle.
        ValueError: no page was compared with a topic, but that is asked for.
    """
    import numpy as np

    from db.queries.status import named, site_names

    from ..rank.methods import METHODS
    from ..rank.surfer import best
    from ..web.inspection.link_graph import ARTICLES, LISTING, read_graph

    graph, relevance, shown = read_graph(database, now)
    if options.by == TOPIC and not relevance.any():
        raise ValueError(f"no page in {database.name} is near to a topic; crawl with one to rank by it")
    scores = relevance if options.by == TOPIC else METHODS[options.by](graph)
    counted = graph.host_numbers > 0  # what links name may have no row: URLs that are read as feeds
    if not options.everything:
        counted &= shown[LISTING if options.by == "hubs" else ARTICLES]
    rows = np.flatnonzero(counted)
    top = rows[best(scores[rows], max(options.top, _NAMED.get(options.ending, 0)))]
    ids, site_ids = graph.ids[top].tolist(), graph.site_ids.tolist()
    named_pages, names = database.read(lambda connection: (named(connection, ids), site_names(connection, site_ids)))
    pages = {page: named_pages[key] for page, key in zip(top.tolist(), ids, strict=True) if key in named_pages}
    sites = {site: names[key] for site, key in enumerate(site_ids) if key in names}
    tables = [_pages(graph, scores, list(pages)[: options.top], pages, options)]
    if options.by == "site":
        tables.append(_sites(graph, scores, sites, options.top))
    drawn = _draw(graph, scores, sites, pages, options) if options.graph is not None else ()
    return _Result(len(graph), graph.rows, len(graph.targets), tables, *drawn)


def _draw(
    graph: LinkGraph, scores: Values, sites: Mapping[int, str], pages: Mapping[int, Named], options: _Options
) -> tuple[bytes, str, str]:
    import numpy as np

    if options.ending == ".graphml":
        chosen = np.fromiter(pages, np.int32)
        made = graph.to_networkx({page: name.url for page, name in pages.items()}, scores, chosen)
        return graphml(made).encode(), f"{len(made):,} pages, {made.number_of_edges():,} links", ""
    of_pages = {page: (name.title or _path(name.url), _path(name.url), f"page {page}") for page, name in pages.items()}
    of_sites = {site: (_readable(host), host) for site, host in sites.items()}
    title = f"{len(graph):,} pages, {len(graph.targets):,} links; size: {options.by}"
    picture, problem = draw(graph, scores, of_sites, of_pages, title=title, ending=options.ending)
    return picture, "The best sites and pages", problem


def _pages(
    graph: LinkGraph, scores: Values, top: Sequence[int], known: Mapping[int, Named], options: _Options
) -> _Sheet:
    from ..terminal.text import Field

    fields = (
        Field("rank", right=True),
        Field("score", drop=1, right=True, show=_score),
        Field("links in", drop=2, right=True, show=_count),
        Field("state" if options.everything else "", drop=3, key="state"),
        Field("headline", key="title"),
        Field("URL", cut=True, key="url"),
    )
    rows = []
    in_links = graph.in_links()
    for place, page in enumerate(top, 1):
        name = known[page]
        rows.append((place, float(scores[page]), int(in_links[page]), name.state, name.title, name.url))
    return f"Best pages by {options.by}", fields, rows, "page"


def _score(value: float) -> str:
    return f"{value:.4g}"


def _count(number: int) -> str:
    return f"{number:,}"


def _sites(graph: LinkGraph, scores: Values, names: Mapping[int, str], most: int) -> _Sheet:
    import numpy as np

    from ..rank.surfer import best
    from ..terminal.text import Field

    fields = (
        Field("rank", right=True),
        Field("score", right=True, show=_score),
        *(Field(name, right=True, show=_count) for name in ("pages", "fetched")),
        Field("site", cut=True, show=_readable),
    )
    rows = []
    site_numbers, size = graph.site_numbers, len(graph.site_ids)
    of_sites = np.bincount(site_numbers, weights=scores, minlength=size).astype(np.float64, copy=False)
    pages = np.bincount(site_numbers, minlength=size)
    fetched = np.bincount(site_numbers[graph.fetched], minlength=size)
    listed = [site for site in best(of_sites, size).tolist() if site in names][:most]
    for place, site in enumerate(listed, 1):
        rows.append((place, float(of_sites[site]), int(pages[site]), int(fetched[site]), names[site]))
    return "Best sites", fields, rows, "site"


def _readable(host: str) -> str:
    """Decode a host name: 新华网.中国 for what stands in URLs as xn--..."""
    try:
        return host.encode("ascii").decode("idna") if "xn--" in host else host
    except UnicodeError:
        return host


def _path(url: str) -> str:
    """Return what tells a page from others of its site: the end of a long path."""
    parts = urlsplit(url)
    path = unquote(parts.path + (f"?{parts.query}" if parts.query else ""))
    return path if len(path) <= _PATH_CHARS else f"…{path[1 - _PATH_CHARS :]}"
