"""The search page."""

from __future__ import annotations

from starlette.responses import Response

from ..frame.visit import Visit


def show(visit: Visit) -> Response:
    """Show what was found, or the newest articles."""
    return visit.page("search.html", section="search")
