"""`scrapy rank`: show the best pages of a crawl by links; draw its link graph."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..run.command import NewsCommand, add_format, read_with
from ._graph_picture import PICTURES, draw, graphml, require_extra

if TYPE_CHECKING:
    import argparse

    from db.engine.database import Database
    from db.queries.status import Named

    from ..rank.blockrank import BlockScores
    from ..rank.graph import LinkGraph
    from ..rank.methods import Viewpoint
    from ..rank.numbering import Numbers
    from ..rank.surfer import Values
    from ..terminal.text import Field
    from ..web.inspection.link_graph import CrawlGraph

    _Sheet = tuple[str, Sequence[Field], Sequence[Sequence[object]], str]


TOPIC = "topic"
"""Name in `--by` for the pages' own relevance to the crawl's topic, instead of a method of link analysis."""
_MOST_TOP = 100_000
_NAMED = {".svg": 200, ".png": 200, ".graphml": 20_000}
"""Best pages that a picture chooses from, or that go into a file: more no program for looking at graphs can show."""
_PATH_CHARS = 24
_SEEDS = "seeds"
_OF_TOPIC = ("hits", "hubs")
_IP = "ip"
_GROUPS = ("site", "host", _IP)
_PLURALS = {"site": "sites", "host": "hosts", _IP: "IP addresses"}
_WITH_LISTS = ("hubs", "blocks", "block-hubs")
"""Methods by which lists are best: only pages whose links are known have a score."""


class Command(NewsCommand):
    usage = "[--by METHOD] [--from PAGES] [--topic LEAST] [--group NAME] [--top N] [--all] [--graph FILE]"
    summary = "Show the best pages by their links; draw the link graph"
    description = (
        "Methods: pagerank; hits (authorities) and hubs; site (SiteRank times DocRank); block (PageRank in which a "
        "link counts as much as the block it stands in); blocks (BlockRank: PageRank of the blocks themselves); "
        "block-hits and block-hubs (hubs are blocks); opic (cash handed on from page to page): their scores sum "
        "to 1 over all pages; topic (how near each page is to what the crawl looks for); nx:NAME, nx:sites:NAME or "
        "nx:pages:NAME (a function of networkx on the graph of hosts, sites or pages), or module:name. Listed are "
        "stored articles, by hubs and blocks lists as well; with --all every URL that is known. The graph is drawn "
        "(.svg, .png), or written for Gephi and others (.graphml)."
    )
    examples = (
        ("scrapy rank --by hits --top 50", "List the fifty best authorities"),
        ("scrapy rank --by pagerank --from seeds", "List what is near to the seeds"),
        ("scrapy rank --by hubs --topic 0.5 --across", "List hubs of the topic as in Kleinberg's paper"),
        ("scrapy rank --by nx:katz_centrality", "List by a function of networkx"),
        ("scrapy rank --graph crawl.svg", "Draw the best sites and pages"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--by", default="pagerank", metavar="METHOD", help="how pages are scored (pagerank)")
        parser.add_argument(
            "--from",
            dest="jumps",
            default="",
            metavar="PAGES",
            help="seeds or topic: where the surfer jumps to (pagerank, block, site)",
        )
        parser.add_argument(
            "--topic",
            default="",
            metavar="LEAST",
            help="only pages of this relevance or more, and their neighbours (hits, hubs)",
        )
        parser.add_argument("--across", action="store_true", help="only links from site to site (hits, hubs)")
        parser.add_argument("--group", default="site", metavar="NAME", help="site, host or ip, for --by site (site)")
        parser.add_argument("--top", default="20", metavar="N", help="pages to list, best first (20)")
        parser.add_argument("--all", action="store_true", help="list URLs that are no stored articles, too")
        add_format(parser, "table", "jsonl")
        parser.add_argument("--graph", type=Path, metavar="FILE", help="draw the graph: .svg, .png or .graphml")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..rank.surfer import ConvergenceError
        from ..terminal.output import Output

        options = _Options.parse(opts)
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
    jumps: str
    least: float | None
    across: bool
    group: str

    @property
    def ending(self) -> str:
        return "" if self.graph is None else self.graph.suffix.lower()

    @property
    def title(self) -> str:
        parts = (
            self.by,
            f" from {self.jumps}" if self.jumps else "",
            "" if self.least is None else f" among pages with relevance {self.least:g}",
            " across sites" if self.across else "",
            "" if self.group == "site" else f" of each {self.group}",
        )
        return "".join(parts)

    @staticmethod
    def parse(opts: argparse.Namespace) -> _Options:
        """Check options as they were typed; raises `ValueError`."""
        from ..rank.methods import JUMPING, METHODS, OF_BLOCKS
        from ..rank.networks import network, try_out

        by, top, graph = opts.by, opts.top, opts.graph
        if by not in METHODS and by not in OF_BLOCKS and by != TOPIC:
            if network(by) is None:
                known = ", ".join((*METHODS, *OF_BLOCKS, TOPIC))
                raise ValueError(f"--by {by!r} is unknown; use one of: {known}, or nx:NAME of networkx")
            try_out(by)
        for option, given, methods in (
            ("--from", opts.jumps, JUMPING),
            ("--topic", opts.topic, _OF_TOPIC),
            ("--across", opts.across, _OF_TOPIC),
            ("--group", opts.group != "site", ("site",)),
        ):
            if given and by not in methods:
                raise ValueError(f"{option} has no effect on --by {by}; it is for {', '.join(methods)}")
        if opts.jumps not in ("", _SEEDS, TOPIC):
            raise ValueError(f"--from {opts.jumps!r} is unknown; use seeds or topic")
        if opts.group not in _GROUPS:
            raise ValueError(f"--group {opts.group!r} is unknown; use one of: {', '.join(_GROUPS)}")
        least = _least(opts.topic)
        if not (top.isdecimal() and 1 <= int(top) <= _MOST_TOP):
            raise ValueError(f"--top {top!r} is no number from 1 to {_MOST_TOP}")
        if graph is not None and graph.suffix.lower() not in _NAMED:
            raise ValueError(f"--graph {str(graph)!r} has no ending that is known; use one of: {', '.join(_NAMED)}")
        if graph is not None and graph.suffix.lower() in PICTURES:
            require_extra()
        return _Options(
            by=by,
            top=int(top),
            graph=graph,
            everything=opts.all or (graph is not None and graph.suffix.lower() == ".graphml"),
            jumps=opts.jumps,
            least=least,
            across=opts.across,
            group=opts.group,
        )


def _least(topic: str) -> float | None:
    try:
        least = float(topic) if topic else None
    except ValueError:
        least = -1.0
    if least is not None and not 0 < least <= 1:
        raise ValueError(f"--topic {topic!r} is no relevance; it is a number above 0, up to 1")
    return least


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

    from db.queries.status import named
    from db.search.find import site_names

    from ..rank.surfer import best
    from ..web.inspection.link_graph import ARTICLES, LISTING, read_graph

    crawl = read_graph(database, now)
    graph, shown = crawl.links, crawl.shown
    scores, more = _scores(database, crawl, options)
    counted = graph.host_numbers > 0  # what links name may have no row: URLs that are read as feeds
    if not options.everything:
        counted &= shown[LISTING if options.by in _WITH_LISTS else ARTICLES]
    rows = np.flatnonzero(counted)
    top = rows[best(scores[rows], max(options.top, _NAMED.get(options.ending, 0)))]
    ids, site_ids = graph.ids[top].tolist(), graph.site_ids.tolist()
    named_pages, names = database.read(lambda connection: (named(connection, ids), site_names(connection, site_ids)))
    pages = {page: named_pages[key] for page, key in zip(top.tolist(), ids, strict=True) if key in named_pages}
    sites = {site: names[key] for site, key in enumerate(site_ids) if key in names}
    tables = [_pages(graph, scores, list(pages)[: options.top], pages, options), *more]
    drawn = _draw(graph, scores, sites, pages, options) if options.graph is not None else ()
    return _Result(len(graph), graph.rows, len(graph.targets), tables, *drawn)


def _scores(database: Database, crawl: CrawlGraph, options: _Options) -> tuple[Values, list[_Sheet]]:
    """Return the score of each page, and tables of what else was scored."""
    import numpy as np

    from db.queries.graph import names_of

    from ..rank import networks
    from ..rank.methods import METHODS, OF_BLOCKS

    graph, by = crawl.links, options.by
    if TOPIC in (by, options.jumps) and not crawl.relevance.any():
        raise ValueError(f"no page in {database.name} is near to a topic; crawl with one to rank by it")
    if by == TOPIC:
        return crawl.relevance, []
    if by in OF_BLOCKS:
        blocks = OF_BLOCKS[by](graph)
        return blocks.of_pages(len(graph)), _blocks(database, graph, blocks, options.top)
    of_network = networks.network(by)
    if of_network is None:
        view = _view(database, crawl, options)
        scores = METHODS[by](graph, view)
        return scores, [_groups(database, graph, options.group, scores, options.top)] if by == "site" else []
    network, nodes = networks.of_level(graph, of_network.level, partial(names_of, database), crawl.columns)
    try:
        values = networks.computed(of_network, network, int(nodes.max(initial=0)) + 1)
    except Exception as error:
        raise ValueError(f"--by {by} failed on {len(network):,} {of_network.level} ({error})") from error
    level = of_network.level.removesuffix("s")
    if level not in _GROUPS:
        return values[nodes], []
    return values[nodes], [_groups(database, graph, level, values[nodes] / np.bincount(nodes)[nodes], options.top)]


def _view(database: Database, crawl: CrawlGraph, options: _Options) -> Viewpoint:
    import numpy as np

    from ..rank import hits
    from ..rank.methods import Viewpoint

    graph = crawl.links
    pages = jumps = None
    if options.least is not None:
        root = crawl.relevance >= options.least
        if not root.any():
            best = crawl.relevance.max(initial=0.0)
            advice = "ask for less" if best else "crawl with a TOPIC first"
            raise ValueError(f"--topic {options.least:g}: the nearest page in {database.name} has {best:.2g}; {advice}")
        pages = hits.focused(graph, root)
    if options.jumps:
        jumps = crawl.relevance if options.jumps == TOPIC else crawl.columns["seed"].astype(np.float64)
        if not jumps.any():
            advice = "; crawl with a TOPIC first" if options.jumps == TOPIC else ""
            raise ValueError(f"--from {options.jumps}: {database.name} has none{advice}")
    return Viewpoint(
        jumps=jumps,
        pages=pages,
        links=hits.across(graph) if options.across else None,
        groups=None if options.group == "site" else _grouping(database, graph, options.group)[0],
    )


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
    title = f"{len(graph):,} pages, {len(graph.targets):,} links; size: {options.title}"
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
    return f"Best pages by {options.title}", fields, rows, "page"


def _score(value: float) -> str:
    return f"{value:.4g}"


def _count(number: int) -> str:
    return f"{number:,}"


def _grouping(database: Database, graph: LinkGraph, level: str) -> tuple[Numbers, Sequence[str]]:
    """Return the group of each page, and the names of groups.

    Hosts whose IP address is not known are groups of their own, by name.
    """
    import numpy as np

    from db.queries.graph import names_of

    if level == "site":
        return graph.site_numbers, names_of(database, "sites", graph.site_ids)
    hosts = names_of(database, "hosts", graph.host_ids)
    if level != _IP:
        return graph.host_numbers, hosts
    addresses = names_of(database, "ips", graph.host_ids)
    names = [address or host for address, host in zip(addresses, hosts, strict=True)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int32)[graph.host_numbers], list(numbers)


def _groups(database: Database, graph: LinkGraph, level: str, scores: Values, most: int) -> _Sheet:
    """Make the table of the best groups, with the sums of their pages' scores."""
    import numpy as np

    from ..rank.surfer import best
    from ..terminal.text import Field

    fields = (
        Field("rank", right=True),
        Field("score", right=True, show=_score),
        *(Field(name, right=True, show=_count) for name in ("pages", "fetched")),
        Field(level, cut=True, show=_readable),
    )
    numbers, names = _grouping(database, graph, level)
    size = len(names)
    of_groups = np.bincount(numbers, weights=scores, minlength=size).astype(np.float64, copy=False)
    pages = np.bincount(numbers, minlength=size)
    fetched = np.bincount(numbers[graph.fetched], minlength=size)
    listed = [group for group in best(of_groups, size).tolist() if names[group]][:most]
    rows = [
        (place, float(of_groups[group]), int(pages[group]), int(fetched[group]), names[group])
        for place, group in enumerate(listed, 1)
    ]
    return f"Best {_PLURALS[level]}", fields, rows, level


def _blocks(database: Database, graph: LinkGraph, blocks: BlockScores, most: int) -> list[_Sheet]:
    """Make the tables of the best blocks, and of the kinds of blocks."""
    import numpy as np

    from db.queries.graph import names_of
    from pipelines.records import BlockKind

    from ..rank.surfer import best
    from ..terminal.text import Field

    fields = (
        Field("rank", right=True),
        Field("score", right=True, show=_score),
        Field("block"),
        Field("URL", cut=True, key="url"),
    )
    top = best(blocks.scores, most)
    kinds = [BlockKind(kind).name.lower() for kind in blocks.kinds[top].tolist()]
    urls = names_of(database, "pages", graph.ids[blocks.pages[top]])
    rows = [
        (place, score, kind, url)
        for place, (score, kind, url) in enumerate(zip(blocks.scores[top].tolist(), kinds, urls, strict=True), 1)
    ]
    of_kinds = np.bincount(blocks.kinds, weights=blocks.scores, minlength=len(BlockKind))
    counts = np.bincount(blocks.kinds, minlength=len(BlockKind))
    sums = [
        (float(of_kinds[kind]), int(counts[kind]), kind.name.lower())
        for kind in sorted(BlockKind, key=lambda each: -of_kinds[each])
        if counts[kind]
    ]
    columns = (Field("score", right=True, show=_score), Field("blocks", right=True, show=_count), Field("block"))
    return [("Best blocks", fields, rows, "block"), ("Kinds of blocks", columns, sums, "kind")]


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
