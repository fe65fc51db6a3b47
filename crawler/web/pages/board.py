"""Parts shared by the operator's pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import Response

from db.queries.board import DatabaseCounts, census

from ..drawing.charts import SERIES, Chart, bar, spread
from ..frame.kept import Kept
from ..frame.language import Language
from ..frame.visit import Visit

_MOST_ROWS = 24


@dataclass(frozen=True, slots=True)
class Picture:
    chart: Chart
    svg: Markup

    @classmethod
    def of(cls, chart: Chart, draw: Callable[[Chart], Markup]) -> Picture:
        return cls(chart, draw(chart))

    def legend(self) -> Iterator[tuple[str, int]]:
        if len(self.chart.series) > 1:
            yield from ((each.name, n % SERIES + 1) for n, each in enumerate(self.chart.series))

    def rows(self) -> Iterator[tuple[str, list[str]]]:
        for place in spread(len(self.chart.places), _MOST_ROWS):
            values = (each.values[place] for each in self.chart.series)
            yield self.chart.places[place], ["–" if value is None else self.chart.show(value) for value in values]


def board_page(visit: Visit, template: str, **values: Any) -> Response:
    """Render a template with the functions shared by the operator's templates."""
    return visit.page(
        template,
        bar=bar,
        clock=lambda at: datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S"),
        reason=lambda counted: reason_name(counted, visit.language),
        seconds=seconds,
        site_path=site_path,
        **values,
    )


def site_path(name: str) -> str:
    """Return the URL of a site's page.

    >>> site_path("a/b.example")
    '/sites/a%2Fb.example'
    """
    return f"/sites/{quote(name, safe='')}"


def seconds(value: float | None) -> str:
    """Return a short time in a unit that is read easily.

    >>> seconds(0.0374), seconds(2.5), seconds(None)
    ('37 ms', '2.5 s', '–')
    """
    if value is None:
        return "–"
    return f"{value:.1f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def count_all(visit: Visit) -> Kept[DatabaseCounts] | None:
    """Return the latest counts over the whole database; None until there are some."""
    read = visit.site.read
    return visit.site.kept.get("census", lambda: read(lambda connection: census(connection, time.time())))


def reason_name(counted: str, t: Language) -> str:
    """Translate a reason; unknown details stay as they are."""
    if not counted:
        return t("crawl.others")
    reason, colon, detail = counted.partition(": ")
    name = t.named("reason", reason)
    return t("facet.is", facet=name, value=t.named(reason, detail)) if colon else name
