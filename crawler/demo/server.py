"""The newsroom's web server: five sites on one port, told apart by Host header."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import uvicorn

from .newsroom import FORBIDDEN, build_sites
from .site import DemoPage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from starlette.types import Receive, Scope, Send

    from .content import InventedArticle
    from .site import DemoSite

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 16 << 10
IDLE_SECONDS = 60
_MAX_LOG = 200_000
_OPENED = datetime(2024, 1, 1, tzinfo=UTC)
# Parameters that name a page; all other parameters only decorate.
_PARAMETERS = re.compile(r"(?:^|&)((?:page|id)=[^&]*)")
_PICTURE = re.compile(r"/img/([0-9]{1,9})\.svg")


@dataclass(frozen=True, slots=True)
class TruthArticle:
    """True content of an article's page, its text of all pages together.

    `published` is in ISO 8601 with zone, `reprint_of` the URL of the original or empty, `parts` the URLs of further
    pages. The kind "script" is converted between simplified and traditional characters.
    """

    url: str
    title: str
    authors: tuple[str, ...]
    source: str
    published: str
    text: str
    site: str
    reprint_of: str = ""
    reprint_kind: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """One line of the access log; start and end are of the monotonic clock."""

    start: float
    end: float
    host: str
    path: str
    status: int
    user_agent: str


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    etag: str
    modified: datetime


class Newsroom:
    """Five invented news sites, served over HTTP/1.1 until stopped.

    The server has a thread and an event loop of its own, so that a test or a command may block while it runs.
    """

    def __init__(self, port: int = 0, latency_seconds: float = 0.0) -> None:
        self.port = port
        self.latency_seconds = latency_seconds
        self._sites: dict[str, DemoSite] = {}
        self._routes: dict[str, dict[str, Callable[[], DemoPage]]] = {}
        self._answers: dict[tuple[str, str], _Answer] = {}
        self._log: list[DemoRequest] = []
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to serve.

        Raises:
            OSError: the port cannot be had.
            RuntimeError: it is serving already.
        """
        if self._thread is not None:
            msg = f"the newsroom is open already, on port {self.port}"
            raise RuntimeError(msg)
        # by the protocol asyncio sees that it may set TCP_NODELAY, without which bodies wait 40 ms for the client to
        # acknowledge their heads
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((ADDRESS, self.port))
            listener.listen(256)
        except OSError as error:
            listener.close()
            msg = f"the newsroom cannot listen on {ADDRESS}:{self.port} ({error.strerror})"
            raise OSError(error.errno, msg) from error
        self.port = listener.getsockname()[1]
        self._sites = build_sites(self.port)
        self._routes = {f"{name}.localhost": site.routes() for name, site in self._sites.items()}
        self._answers = {}
        config = uvicorn.Config(
            self._answer,
            loop="asyncio",
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="newsroom", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread is not None and self._server is not None:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join()
            self._thread = self._server = None

    def seeds(self) -> list[str]:
        """Return the home pages; only after `start`, which settles the port."""
        return [f"{site.origin}/" for site in self._sites.values()]

    def forbidden(self) -> list[str]:
        return [self._sites["zhengfu"].origin + FORBIDDEN]

    def truth(self) -> list[TruthArticle]:
        """Return every article of every site; only after `start`, for URLs hold the port."""
        urls = {article.key: site.url(article) for site in self._sites.values() for article in site.articles}
        return [_truth(site, article, urls) for site in self._sites.values() for article in site.articles]

    def requests(self) -> list[DemoRequest]:
        """Return the access log so far, in response order (it ends after 200,000 lines)."""
        return self._log.copy()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.monotonic()
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host, target = headers.get("host", "").lower(), scope["raw_path"].decode("latin-1")
        if query := scope["query_string"].decode("latin-1"):
            target += f"?{query}"
        if target.startswith("http://"):  # asked as a proxy is
            parts = urlsplit(target)
            host, target = parts.netloc, parts.path + (f"?{parts.query}" if parts.query else "")
        answer = self._find(host.partition(":")[0], target)
        status, fields, body = answer.status, answer.headers, answer.body
        if scope["method"] not in {"GET", "HEAD"}:
            status, fields, body = HTTPStatus.METHOD_NOT_ALLOWED, {"allow": "GET, HEAD", "content-length": "0"}, b""
        elif status == HTTPStatus.OK and _is_unchanged(answer, headers):
            status, fields, body = HTTPStatus.NOT_MODIFIED, {"etag": answer.etag}, b""
        raw = [(name.encode(), value.encode("latin-1")) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})
        if len(self._log) < _MAX_LOG:
            agent = headers.get("user-agent", "")
            self._log.append(DemoRequest(start, time.monotonic(), host, target, status, agent))

    def _find(self, host: str, target: str) -> _Answer:
        path, _, query = target.partition("?")
        parameters = _PARAMETERS.findall(query)
        route = f"{path}?{'&'.join(parameters)}" if parameters else path
        if (answer := self._answers.get((host, route))) is not None:
            return answer
        make = self._routes.get(host, {}).get(route)
        if make is not None:
            answer = self._answers[host, route] = _prepare(make())
            return answer
        site = self._sites.get(host.partition(".")[0]) if host in self._routes else None
        if site is None:
            return _prepare(DemoPage(b"no such site\n", "text/plain", 404))
        if picture := _PICTURE.fullmatch(route):
            return _prepare(_draw(int(picture[1])))
        return _prepare(site.not_found())


def _truth(site: DemoSite, article: InventedArticle, urls: dict[str, str]) -> TruthArticle:
    return TruthArticle(
        url=site.url(article),
        title=article.title,
        authors=article.authors,
        source=article.source,
        published=article.published.isoformat(),
        text="\n".join(article.paragraphs),
        site=site.name,
        reprint_of=urls.get(article.reprint_of, ""),
        reprint_kind=article.reprint_kind,
        parts=tuple(site.url(article, part) for part in range(2, len(article.parts) + 1)),
    )


def _prepare(page: DemoPage) -> _Answer:
    etag = f'"{blake2b(page.body, digest_size=8).hexdigest()}"'
    modified = (page.modified or _OPENED).astimezone(UTC)
    headers = {"content-type": page.content_type, "content-length": str(len(page.body))}
    if page.location:
        headers["location"] = page.location
    if page.status == HTTPStatus.OK:
        headers |= {"etag": etag, "last-modified": format_datetime(modified, usegmt=True)}
    return _Answer(page.status, headers, page.body, etag, modified)


def _is_unchanged(answer: _Answer, headers: dict[str, str]) -> bool:
    """Judge a conditional request (RFC 9110, section 13: If-None-Match counts more)."""
    if match := headers.get("if-none-match"):
        return answer.etag in match or match == "*"
    if since := headers.get("if-modified-since"):
        try:
            return answer.modified <= parsedate_to_datetime(since).astimezone(UTC)
        except ValueError:
            return False
    return False


def _draw(number: int) -> DemoPage:
    hue = number * 47 % 360
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360">'
        f'<rect width="640" height="360" fill="hsl({hue},45%,80%)"/>'
        f'<circle cx="{120 + number % 400}" cy="230" r="110" fill="hsl({(hue + 40) % 360},50%,60%)"/></svg>'
    )
    return DemoPage(text.encode(), "image/svg+xml")
