"""The web page as an ASGI application.

Every page and every endpoint of the API is a row in `PAGES`: its path and the function that answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from .frame.posting import Change, posting
from .frame.security import Protection
from .frame.visit import HERE, Show, WebOptions, WebSite, answering, refused
from .pages import (
    api,
    article,
    compare,
    crawl,
    desk,
    feed,
    graph,
    learn,
    marks,
    search,
    settings,
    sites,
    story,
    timeline,
    values,
    why,
    words,
)

PAGES: Final[Sequence[tuple[str, Show]]] = (
    ("/", search.show),
    ("/values", values.show),
    ("/timeline.csv", timeline.show),
    ("/compare", compare.show),
    ("/compare.csv", compare.show_csv),
    ("/article/{id}", article.show),
    ("/article/{id}/cite", article.show_citation),
    ("/article/{id}/page", article.show_page),
    ("/article/{id}/still", article.show_still),
    ("/article/{id}/view", article.show_view),
    ("/article/{id}/words", words.show),
    ("/story/{id}", story.show),
    ("/desk", desk.show),
    ("/desk/{id}", desk.show_one),
    ("/crawl", crawl.show),
    ("/sites", sites.show),
    ("/sites/{name:path}", sites.show_one),
    ("/graph", graph.show),
    ("/why", why.show),
    ("/settings", settings.show),
    ("/feed.atom", feed.show),
    ("/feed.rss", feed.show_rss),
    ("/feed.json", feed.show_json),
    *((endpoint.path, endpoint.show) for endpoint in api.ENDPOINTS),
    ("/api/openapi.json", api.show_description),
)
CHANGES: Final[Sequence[tuple[str, Change]]] = (
    ("/desk/save", desk.save),
    ("/desk/{id}/look", desk.look),
    ("/desk/{id}/rename", desk.rename),
    ("/desk/{id}/remove", desk.remove),
    ("/desk/{id}/alert", desk.alert),
    ("/desk/marks", marks.mark_many),
    ("/article/{id}/marks", marks.mark_one),
    ("/api/articles/{id}/marks", api.mark),
)
"""Forms that change the desk, by POST."""
_MOST_BODY = 64 << 10
_LEAST_PACKED = 1_000
_FAST = 4


def make_app(database_url: str, options: WebOptions | None = None) -> Starlette:
    """Return the application; it opens the database for reading at the first request."""
    options = options or WebOptions()
    site = WebSite(database_url, options)

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        site.workers.begin(site.warm)
        with site.desk.watched(database_url):
            yield
        site.close()

    routes: list[BaseRoute] = [Route(path, posting(site, change), methods=["POST"]) for path, change in CHANGES]
    routes += [Route(path, answering(site, show)) for path, show in PAGES]
    learning = [Route("/learn", learn.receiving(site), methods=["POST"])] if options.is_learning else []
    app = Starlette(
        routes=[*routes, *learning, Mount("/static", _Files(directory=HERE / "static"))],
        middleware=[
            Middleware(Protection, names=options.names, any_address=options.any_address),
            Middleware(GZipMiddleware, minimum_size=_LEAST_PACKED, compresslevel=_FAST),
        ],
        exception_handlers={HTTPException: refused(site)},
        lifespan=living,
        max_body_size=_MOST_BODY,
    )
    app.state.site = site
    return app


class _Files(StaticFiles):
    """Static files; those requested with the digest of their content are immutable."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        versioned = "v" in Request(scope).query_params
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if versioned else "no-cache"
        return response
