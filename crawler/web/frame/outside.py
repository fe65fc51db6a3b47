"""The server as seen through a proxy: client, scheme, host and path."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_PLACES = ("location", "hx-push-url")
"""Headers with paths of this server."""
_ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
_OWN_PATH = re.compile(r'( (?:href|src|action|hx-get|hx-post)=")(?=/(?!/))')
_OWN_FORM = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(given: Sequence[str]) -> list[Network]:
    """Read addresses and networks; raises `ValueError` with a sentence."""
    found: list[Network] = []
    for one in given:
        try:
            found.append(ipaddress.ip_network(one.strip()))
        except ValueError:
            msg = f"--trusted-proxy is {one!r}; give an address or a network, such as 127.0.0.1 or 10.0.0.0/24"
            raise ValueError(msg) from None
    return found


def root_path(given: str) -> str:
    """Return a path below which the server is shown, without a slash at its end.

    >>> root_path("/news/"), root_path("/")
    ('/news', '')

    Raises:
        ValueError: it is no path, or has characters that URLs escape.
    """
    path = given.rstrip("/")
    parts = path.split("/")
    if path and (not _ROOT.fullmatch(path) or "." in parts or ".." in parts):
        msg = f"--root-path is {given!r}; give a path such as /news"
        raise ValueError(msg)
    return path


def rooted(page: str, root: str, token: str = "") -> str:
    """Put a page below a path, and a token into all its forms that change something.

    What others have written cannot look like either: it is escaped, and has no quotation mark.

    >>> rooted('<a href="/x">', "/news"), rooted('<form action="/a" method="post">', "", "t")
    ('<a href="/news/x">', '<form action="/a" method="post"><input type="hidden" name="token" value="t">')
    """
    if root:
        page = _OWN_PATH.sub(rf"\g<1>{root}", page)
    if token:
        page = _OWN_FORM.sub(rf'\g<0><input type="hidden" name="token" value="{token}">', page)
    return page


class Outside:
    """ASGI middleware that believes trusted proxies and puts the server below a path.

    Of X-Forwarded-For the last address counts that is no trusted proxy's. A request may come with the path before it
    or without: proxies do either.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str] = (), root: str = "") -> None:
        self._networks = networks(proxies)
        self._root = root
        self._app = self._below if root else app
        self._inner = app
        self._outer = ProxyHeadersMiddleware(self._app, list(proxies)) if proxies else None  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._outer is None:
            await self._app(scope, receive, send)
            return
        headers = MutableHeaders(scope=scope)
        host = headers.get("x-forwarded-host")
        if host is not None and self._trusts(scope.get("client")):
            headers["host"] = host.rpartition(",")[2].strip()
        await self._outer(scope, receive, send)  # type: ignore[arg-type]

    def _trusts(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        return any(address in network for network in self._networks)

    async def _below(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        path = scope["path"]
        if path == self._root:
            path += "/"
        is_whole = path.startswith(f"{self._root}/")
        scope = {**scope, "root_path": self._root, "path": path if is_whole else self._root + path}

        async def send_rooted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in _PLACES:
                    if (place := headers.get(name, "")).startswith("/"):
                        headers[name] = self._root + place
            await send(message)

        await self._inner(scope, receive, send_rooted)
