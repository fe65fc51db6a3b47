"""Requests to the application itself, without a server."""

from __future__ import annotations

import asyncio
from typing import Any, Self

import httpx

from crawler.web.app import make_app
from crawler.web.frame.visit import WebOptions


class Asker:
    """A client of an application of its own; cookies are not kept."""

    def __init__(self, database_url: str, options: WebOptions | None = None, base: str = "http://localhost") -> None:
        self.app = make_app(database_url, options)
        self._base = base
        self._loop = asyncio.Runner()

    def get(self, path: str, *, method: str = "GET", **headers: str) -> httpx.Response:
        """Ask for a path; underscores of headers stand for hyphens."""
        return self._loop.run(
            self._ask(path, method, {name.replace("_", "-"): value for name, value in headers.items()})
        )

    def post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        """Send a form as a page of this server does."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._loop.run(self._ask(path, "POST", {"Origin": self._base, **names}, form))

    async def _ask(
        self, path: str, method: str, headers: dict[str, Any], form: dict[str, str] | None = None
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url=self._base) as client:
            return await client.request(method, path, headers=headers, data=form)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.app.state.site.close()
        self._loop.close()
