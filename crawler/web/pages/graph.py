"""The page of the link graph: the best sites and their best pages."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup
from starlette.responses import Response

from db.engine.database import Database
from db.frontier import counts
from db.queries.status import Named, named
from db.search.find import site_names

from ...rank import pagerank, siterank
from ...rank.graph import LinkGraph
from ...rank.surfer import Values, best
from ..drawing.link_map import Circle, draw
from ..frame.language import Language
from ..frame.visit import NotHere, Visit
from ..inspection.link_graph import read_newest
from .board import board_page

_DRAWN, _SITES, _PAGES = 36, 300, 24
"""Sites in the picture, sites that can be looked into, pages of each."""
_DRAWN_PAGES = 20
_MOST_URLS = 100_000
"""URLs that are read, the newest: they take a second or two, all of a large crawl minutes."""
_NONE = -1

Pairs = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class _RankedPage:
    id: int
    name: Named
    score: float
    links_in: int


@dataclass(frozen=True, slots=True)
class _RankedSite:
    """One of the best sites: its SiteRank (in sum 1), and its best pages by PageRank.

    `links` are between these pages, by their positions.
    """

    name: str
    score: float
    pages: int
    fetched: int
    best: Sequence[_RankedPage]
    links: Pairs


@dataclass(frozen=True, slots=True)
class _RankedSites:
    """The best sites of a crawl, and the number of links between them, by position.

    Attributes:
        pages, links: that were read.
        is_sample: there are more pages than were read.
    """

    pages: int
    links: int
    is_sample: bool
    sites: Sequence[_RankedSite]
    between: Pairs


def show(visit: Visit) -> Response:
    """Show the sites, or the pages of the site named in `site`.

    Raises:
        NotHere: the site is none of the best.
    """
    site = visit.site
    made = site.kept.get("graph", lambda: rank_sites(site.database(), time.time()))
    asked = visit.text("site", 300).lower()
    chosen = None
    if made is not None and asked:
        chosen = next((each for each in made.value.sites if each.name == asked), None)
        if chosen is None:
            raise NotHere("problem.ranked")
    picture = None
    if made is not None and made.value.sites:
        key = f"map {visit.language.code} {asked}"
        drawing = site.kept.get(key, lambda: _draw(made.value, chosen, visit.language))
        picture = drawing.value if drawing else None
    return board_page(visit, "graph.html", section="graph", made=made, chosen=chosen, picture=picture)


def rank_sites(database: Database, now: float) -> _RankedSites:
    """Rank sites and pages as of a Unix time.

    Cost: a read of the newest URLs and of the links of those fetched among them; 13 bytes a link and 60 a page.
    """
    is_sample = sum(database.read(counts.states).values()) > _MOST_URLS
    graph = read_newest(database, now, _MOST_URLS)
    if not len(graph):
        return _RankedSites(0, 0, is_sample, (), {})
    of_page = graph.site_numbers
    scores, of_sites = pagerank.score(graph), siterank.site_scores(graph)
    pages = np.bincount(of_page, minlength=len(of_sites))
    fetched = np.bincount(of_page[graph.fetched], minlength=len(of_sites))
    # of a site that was only linked to nothing is known
    chosen = [n for n in best(np.where(fetched > 0, of_sites, 0.0), _SITES).tolist() if n and fetched[n]]
    top = {n: _best_pages(np.flatnonzero(of_page == n), scores) for n in chosen}
    ids = graph.ids
    wanted = [int(ids[page]) for pages_of in top.values() for page in pages_of]
    keys = graph.site_ids[chosen].tolist()
    named_pages, names = database.read(lambda connection: (named(connection, wanted), site_names(connection, keys)))
    between, inside = _links(graph, chosen, top)
    links_in = graph.in_links()
    ranked_sites = []
    for place, (n, key) in enumerate(zip(chosen, keys, strict=True)):
        # those that links name may have no row any more
        there = {page: named_pages[int(ids[page])] for page in top[n] if int(ids[page]) in named_pages}
        places = {page: at for at, page in enumerate(there)}
        ranked = [_RankedPage(int(ids[p]), name, float(scores[p]), int(links_in[p])) for p, name in there.items()]
        pairs = {(places[a], places[b]): 1 for a, b in inside[place] if a in places and b in places}
        numbers = float(of_sites[n]), int(pages[n]), int(fetched[n])
        ranked_sites.append(_RankedSite(names.get(key, str(key)), *numbers, ranked, pairs))
    return _RankedSites(len(graph), len(graph.targets), is_sample, ranked_sites, between)


def _best_pages(pages: Any, scores: Values) -> list[int]:
    best_pages: list[int] = pages[best(scores[pages], _PAGES)].tolist()
    return best_pages


def _links(
    graph: LinkGraph, chosen: Sequence[int], top: Mapping[int, Sequence[int]]
) -> tuple[dict[tuple[int, int], int], Mapping[int, list[tuple[int, int]]]]:
    site_places = np.full(len(graph.site_ids), _NONE, np.int32)
    site_places[list(chosen)] = np.arange(len(chosen))
    sources, targets = graph.fetched[graph.link_rows()], graph.targets
    a, b = site_places[graph.site_numbers[sources]], site_places[graph.site_numbers[targets]]
    other = (a >= 0) & (b >= 0) & (a != b)
    pairs, counts = np.unique(np.stack((a[other], b[other])), axis=1, return_counts=True)
    between = {(int(x), int(y)): int(n) for (x, y), n in zip(pairs.T, counts, strict=True)}
    is_top = np.zeros(len(graph), np.bool_)
    is_top[[page for pages in top.values() for page in pages]] = True
    inside_site = (a >= 0) & (a == b) & is_top[sources] & is_top[targets] & (sources != targets)
    inside: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, x, y in zip(
        a[inside_site].tolist(), sources[inside_site].tolist(), targets[inside_site].tolist(), strict=True
    ):
        inside[place].append((x, y))
    return between, inside


def _draw(made: _RankedSites, chosen: _RankedSite | None, t: Language) -> Markup:
    if chosen is not None:
        pages = chosen.best[:_DRAWN_PAGES]
        circles = [
            Circle(
                each.name.title or _path(each.name.url),
                f"{each.name.title} {each.name.url}".strip(),
                each.score,
                f"/article/{each.id}" if each.name.title else f"/why?url={quote(each.name.url, safe='')}",
                1 if each.name.title else 6,
            )
            for each in pages
        ]
        links = {pair: n for pair, n in chosen.links.items() if max(pair) < len(pages)}
        return draw(t("graph.pages_of", site=chosen.name), circles, links)
    sites = made.sites[:_DRAWN]
    circles = [
        Circle(
            each.name,
            f"{each.name}: {t('graph.rank')} {each.score:.3f}, {each.fetched:,} {t('crawl.pages')}",
            each.score,
            f"/graph?site={quote(each.name, safe='')}",
        )
        for each in sites
    ]
    return draw(t("graph.title"), circles, {pair: n for pair, n in made.between.items() if max(pair) < len(sites)})


def _path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]
