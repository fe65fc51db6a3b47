"""Signing in with the password of a role, and out again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from ...manage.passwords import Role
from ..frame.access import SIGN_IN, Verdict, own_path
from ..frame.posting import Form, form_of, led_to
from ..frame.visit import BadRequest, Visit, WebSite, respond

_STATUS: Final = {Verdict.WRONG: 403, Verdict.TOO_OFTEN: 429, Verdict.PLAIN: 403}
_MOST_NEXT: Final = 2_000


def show(visit: Visit) -> Response:
    """Show the form; whoever has signed in is led on."""
    back = own_path(visit.request.query_params.get("next", "/"))
    if visit.visitor.session is not None and not visit.visitor.may_sign_in:
        return led_to(back)
    return _page(visit, back)


def receiving(site: WebSite) -> Callable[[Request], Any]:
    """Return the endpoint of the form: 303 with a session, or the form once more."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        visit = Visit(site, request)
        try:
            form = form_of(body)
        except BadRequest as wrong:
            return visit.problem(400, "problem.bad", str(wrong))
        role = next((one for one in Role if one.value == form.get("role")), None)
        verdict, seconds = await site.access.try_password(request, role, form.get("password", ""))
        back = own_path(form.get("next", "/"))
        if verdict is Verdict.RIGHT and role is not None:
            response = led_to(back)
            site.access.begin(request, response, role)
            site.access.note(request, role, "sign in")
            return response
        response = await site.in_thread(visit, lambda: respond(visit, lambda one: _page(one, back, verdict)))
        if seconds:
            response.headers["Retry-After"] = f"{math.ceil(seconds)}"
        return response

    return answer


def sign_out(visit: Visit, _form: Form) -> Response:
    """End the session on the server, too."""
    response = led_to(SIGN_IN if visit.visitor.session is not None else "/")
    visit.site.access.end(visit.request, response)
    return response


def _page(visit: Visit, back: str, verdict: Verdict | None = None) -> Response:
    return visit.page(
        "sign_in.html",
        status=200 if verdict is None else _STATUS[verdict],
        section="sign_in",
        back=back[:_MOST_NEXT],
        verdict="" if verdict is None else verdict.value,
        is_safe=visit.site.access.is_safe(visit.request),
    )
