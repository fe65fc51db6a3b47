"""Reading times, as reported by the script of the article page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..frame.access import Need
from ..frame.readers import COOKIE, Readers
from ..frame.visit import Visit, WebSite, denied


def receiving(site: WebSite) -> Callable[[Request], Any]:
    """Return the endpoint: 204 if a time was recorded, else 400."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        visit = Visit(site, request)
        cookie = request.cookies.get(COOKIE)
        return await site.in_thread(
            visit,
            lambda: (
                denied(visit, Need.READER) or Response(status_code=204 if _record(site.readers, cookie, body) else 400)
            ),
        )

    return answer


def _record(readers: Readers, cookie: str | None, body: bytes) -> bool:
    try:
        sent = json.loads(body)
        number, seconds, is_ended = int(sent["click"]), float(sent["seconds"]), sent["ended"] is True
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return False
    return readers.stayed(cookie, number, seconds, is_ended=is_ended)
