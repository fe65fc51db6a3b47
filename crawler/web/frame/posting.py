"""Requests that change something: a form, and an answer that leads to a page.

They come from pages of this server alone (`security.Protection`), and a browser that goes back or reloads does not
repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from .visit import BadRequest, Visit, WebSite, respond

_MOST_FIELDS = 1_000

Form = Mapping[str, str]
Change = Callable[[Visit, Form], Response]


def posting(site: WebSite, change: Change) -> Callable[[Request], Any]:
    """Return the endpoint of a form."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        visit = Visit(site, request)
        return await site.in_thread(visit, lambda: respond(visit, lambda one: change(one, _form(body))))

    return answer


def led_to(path: str) -> Response:
    """Return an answer after which the browser asks for a page of this server."""
    return RedirectResponse(path, status_code=303, headers={"Cache-Control": "no-store"})


def _form(body: bytes) -> Form:
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise BadRequest(f"the form has more than {_MOST_FIELDS:,} fields") from None
