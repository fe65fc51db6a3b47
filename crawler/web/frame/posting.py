"""Requests that change something: a form, and an answer that leads to a page.

They come from pages of this server alone (`security.Protection`), with the token of the session for whoever has signed
in, and a browser that goes back or reloads does not repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from .access import TOKEN, Need
from .visit import BadRequest, Visit, WebSite, denied, respond

_MOST_FIELDS = 1_000

Form = Mapping[str, str]
Change = Callable[[Visit, Form], Response]


def posting(site: WebSite, change: Change, need: Need = Need.READER) -> Callable[[Request], Any]:
    """Return the endpoint of a form."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        visit = Visit(site, request)
        return await site.in_thread(
            visit, lambda: denied(visit, need) or respond(visit, lambda one: _change(one, body, change))
        )

    return answer


def _change(visit: Visit, body: bytes, change: Change) -> Response:
    form = form_of(body)
    session = visit.visitor.session
    if session is not None and not session.knows(form.get(TOKEN, "")):
        return visit.problem(403, "problem.token")
    return change(visit, form)


def led_to(path: str) -> Response:
    """Return an answer after which the browser asks for a page of this server."""
    return RedirectResponse(path, status_code=303, headers={"Cache-Control": "no-store"})


def form_of(body: bytes) -> Form:
    """Read a form; raises `BadRequest`."""
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise BadRequest(f"the form has more than {_MOST_FIELDS:,} fields") from None
