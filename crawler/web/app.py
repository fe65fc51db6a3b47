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

from .frame.access import SIGN_IN, Need
from .frame.outside import Outside
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
    operate,
    search,
    settings,
    sign_in,
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
    ("/feed.atom", feed.show),
    ("/feed.rss", feed.show_rss),
    ("/feed.json", feed.show_json),
    *((each.path, each.show) for each in api.ENDPOINTS if each.path not in api.OF_OPERATORS),
    ("/api/openapi.json", api.show_description),
)
OPERATOR_PAGES: Final[Sequence[tuple[str, Show]]] = (
    ("/crawl", crawl.show),
    ("/sites", sites.show),
    ("/sites/{name:path}", sites.show_one),
    ("/graph", graph.show),
    ("/why", why.show),
    ("/settings", settings.show),
    *((each.path, each.show) for each in api.ENDPOINTS if each.path in api.OF_OPERATORS),
)
"""Pages that readers do not see, where readers and operators are told apart."""
MANAGING_PAGES: Final[Sequence[tuple[str, Show]]] = (
    ("/operate", operate.show),
    ("/operate/preview/{id}", operate.show_preview),
    ("/operate/drop", operate.show_drop),
)
"""Pages from which operators change the crawl."""
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
OPERATOR_CHANGES: Final[Sequence[tuple[str, Change]]] = (
    ("/operate/ask", operate.ask),
    ("/operate/start", operate.start),
    ("/operate/preview", operate.preview),
    ("/operate/preview/{id}/add", operate.add),
    ("/operate/revisit", operate.revisit),
    ("/operate/drop", operate.drop),
    ("/operate/limits", operate.limit),
)
"""Forms that change the crawl, for operators of a server with --manage."""
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

    routes: list[BaseRoute] = [
        Route(path, posting(site, change, need), methods=["POST"])
        for need, changes in ((Need.READER, CHANGES), (Need.CHANGES, OPERATOR_CHANGES))
        for path, change in changes
    ]
    routes += [
        Route(path, answering(site, show, need))
        for need, pages in ((Need.READER, PAGES), (Need.OPERATOR, OPERATOR_PAGES), (Need.CHANGES, MANAGING_PAGES))
        for path, show in pages
    ]
    routes += [
        Route(SIGN_IN, sign_in.receiving(site), methods=["POST"]),
        Route(SIGN_IN, answering(site, sign_in.show, Need.NOTHING)),
        Route("/sign-out", posting(site, sign_in.sign_out, Need.NOTHING), methods=["POST"]),
    ]
    learning = [Route("/learn", learn.receiving(site), methods=["POST"])] if options.is_learning else []
    app = Starlette(
        routes=[*routes, *learning, Mount("/static", _Files(directory=HERE / "static"))],
        middleware=[
            Middleware(Outside, proxies=options.access.proxies, root=options.access.root_path),
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
