"""Protection of the web server: accepted host names, headers, origins.

The pages show text by strangers. They contain no inline scripts, load nothing from elsewhere and cannot be framed.
A website open in the same browser can neither read nor change anything here: it would have to send this server's name
in `Host` (which defeats DNS rebinding) or come from the same origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...fetch.guard import is_address

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
NOTHING_RUNS = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Policy for content by strangers."""
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # other servers learn nothing; forms of ours would have no origin without it (Fetch Standard, "null")
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
    "Cache-Control": "no-store",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
READING = ("GET", "HEAD")
_OWN_SITE = ("same-origin", "none")
_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253}))(?::\d{1,5})?", re.IGNORECASE)


class Protection:
    """ASGI middleware that rejects foreign host names and origins, and adds headers.

    Besides the names of loopback it accepts `names`, and all IP addresses with `any_address`.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] = (), *, any_address: bool = False) -> None:
        self._app = app
        self._names = frozenset((*LOOPBACK, *(name.lower() for name in names)))
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        app = self._app
        if not self.is_ours(headers.get("host", "")):
            app = PlainTextResponse(
                "This server does not answer to that name. Use localhost or 127.0.0.1, or give the name when you start "
                "it: scrapy serve --name NAME\n",
                status_code=400,
            )
        elif scope["method"] not in READING and not is_same_origin(headers, scope["scheme"]):
            app = PlainTextResponse("Only pages of this server may change something here.\n", status_code=403)
        await app(scope, receive, send_guarded)

    def is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = (match[1] or match[2]).lower()
        return name in self._names or (self._any_address and is_address(name))


def is_same_origin(headers: Headers, scheme: str = "http") -> bool:
    """Tell whether a request came from a page of this server, with TLS if it has TLS."""
    given_scheme, _, host = headers.get("origin", "").partition("://")
    is_ours = host == headers.get("host") and headers.get("sec-fetch-site", "same-origin") in _OWN_SITE
    return bool(host) and is_ours and (scheme != "https" or given_scheme == "https")
