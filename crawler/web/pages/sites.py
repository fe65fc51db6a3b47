"""The list of sites, and the page of one site."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from db.queries.board import SiteNow
from db.queries.sites import SiteHost, site_detail
from pipelines.site_memory.knowledge import SiteModel, unpack
from pipelines.urls import site_key

from ..drawing.charts import Chart, Series, columns
from ..frame.visit import NotHere, Visit
from .board import Picture, board_page, count_all

MOST_NAME = 300
_ON_PAGE = 50
_MOST_PAGES = 1000
_ORDERS: Final = {
    "articles": lambda each: (-each.articles, each.name),
    "pages": lambda each: (-each.pages, each.name),
    "yield": lambda each: (-share(each.articles, each.pages), -each.articles, each.name),
    "reprints": lambda each: (-share(each.reprints, each.originals + each.reprints), -each.articles, each.name),
    "trouble": lambda each: (-each.alarms, -each.dead, -each.resting, -each.articles, each.name),
    "name": lambda each: (each.name,),
}


@dataclass(frozen=True, slots=True)
class _LearnedTemplates:
    """Knowledge of a host in the site model; `templates` are shares of its pages."""

    host: str
    articles: int
    templates: Sequence[float]
    texts: int


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def show(visit: Visit) -> Response:
    counted = count_all(visit)
    asked, sort = visit.text("q", MOST_NAME), visit.text("sort")
    sort = sort if sort in _ORDERS else "articles"
    matching = sorted(named_like(asked, counted.value.sites if counted else ()), key=_ORDERS[sort])
    pages = max(1, -(-len(matching) // _ON_PAGE))
    page = min(visit.whole("page", 1, 1, _MOST_PAGES), pages)
    return board_page(
        visit,
        "sites.html",
        section="sites",
        counted=counted,
        asked=asked,
        sort=sort,
        orders=list(_ORDERS),
        total=len(matching),
        sites=matching[(page - 1) * _ON_PAGE : page * _ON_PAGE],
        most=max((each.articles for each in matching), default=0),
        page=page,
        pages=pages,
        share=share,
    )


def named_like(asked: str, sites: Sequence[SiteNow]) -> list[SiteNow]:
    part = asked.strip().lower()
    return [each for each in sites if part in each.name]


def show_one(visit: Visit) -> Response:
    """Show one site.

    Raises:
        NotHere: the crawl does not know it.
    """
    name, now = str(visit.request.path_params["name"]), time.time()
    site = visit.read(
        lambda connection: site_detail(connection, name, now) or site_detail(connection, site_key(name.lower()), now)
    )
    if site is None:
        raise NotHere("problem.site")
    hosts = [each.host for each in site.hosts]
    pages, articles = sum(each.pages for each in hosts), sum(each.articles for each in hosts)
    t = visit.language
    published = Chart(
        t("site.published"),
        list(site.published),
        [Series(t("crawl.articles"), list(site.published.values()))],
        ticks=_marks(list(site.published)),
    )
    return board_page(
        visit,
        "site.html",
        section="sites",
        site=site,
        pages=pages,
        articles=articles,
        fruit=share(articles, pages),
        reprints=share(site.reprints, site.originals + site.reprints),
        waiting=sum(each.waiting for each in hosts),
        published=Picture.of(published, columns) if site.published else None,
        learned=[_learned(each) for each in site.hosts if each.model],
        now=now,
    )


def _marks(spans: Sequence[str]) -> list[tuple[float, str]]:
    every = max(1, -(-len(spans) // 4))
    return [((n + 0.5) / len(spans), spans[n]) for n in range(every // 2, len(spans), every)]


def _learned(each: SiteHost) -> _LearnedTemplates:
    model: SiteModel = unpack(each.model)
    weights = sorted((template.pages for template in model.templates), reverse=True)
    recurring: Any = sum(1 for count in model.texts.values() if count >= _OFTEN)
    return _LearnedTemplates(each.host.name, each.learned, [weight / sum(weights) for weight in weights], recurring)


_OFTEN = 2.0
"""Pages, of the last fifty or so, on which a text must stand to count as recurring."""
