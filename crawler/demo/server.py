"""The newsroom's web server: five sites on one port, told apart by Host header."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from .newsroom import FORBIDDEN, build_sites
from .site import DemoPage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .content import InventedArticle
    from .site import DemoSite

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 16 << 10
IDLE_SECONDS = 60.0
_MAX_LOG = 200_000
_OPENED = datetime(2024, 1, 1, tzinfo=UTC)
# Parameters that name a page; all other parameters only decorate.
_PARAMETERS = re.compile(r"(?:^|&)((?:page|id)=[^&]*)")
_PICTURE = re.compile(r"/img/([0-9]{1,9})\.svg")


@dataclass(frozen=True, slots=True)
class TruthArticle:
    """True content of an article's page.

    Attributes:
        url: of its (first) page.
        title, authors, source: as printed; the source may be empty.
        published: ISO 8601 with zone.
        text: paragraphs joined by line feeds, of all pages together.
        site: name of the site.
        reprint_of: URL of the original, or empty.
        reprint_kind: empty, "exact", "edited" or "script" (converted between simplified and traditional characters).
        parts: URLs of the second and further pages.
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
    """A page ready to be sent."""

    status: int
    head: bytes
    body: bytes
    etag: str
    modified: datetime


class Newsroom:
    """Five invented news sites, served over HTTP/1.1 until stopped.

    A page is made when it is first asked for and kept as bytes. The server has a thread and an event loop of its own,
    so that a test or a command may block while it runs.

    Args:
        port: 0 for any free port.
        latency_seconds: how long every answer takes.
    """

    def __init__(self, port: int = 0, latency_seconds: float = 0.0) -> None:
        self.port = port
        self.latency_seconds = latency_seconds
        self._sites: dict[str, DemoSite] = {}
        self._routes: dict[str, dict[str, Callable[[], DemoPage]]] = {}
        self._answers: dict[tuple[str, str], _Answer] = {}
        self._log: list[DemoRequest] = []
        self._close: Callable[[], object] | None = None
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
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
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
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(listener, ready)), name="newsroom", daemon=True
        )
        self._thread.start()
        ready.wait()

    def stop(self) -> None:
        """Stop serving and close all connections; nothing happens when it is not serving."""
        if self._thread is not None and self._close is not None:
            self._close()
            self._thread.join()
            self._thread = self._close = None

    def seeds(self) -> list[str]:
        """Return the home pages; only after `start`, which settles the port."""
        return [f"{site.origin}/" for site in self._sites.values()]

    def forbidden(self) -> list[str]:
        """Return pages that are linked and that robots.txt forbids."""
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

    async def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        """Serve until told to stop, in a thread; open connections are then cancelled."""
        server = await asyncio.start_server(self._serve, sock=listener, limit=MAX_HEAD_BYTES)
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._close = lambda: loop.call_soon_threadsafe(stopped.set)
        ready.set()
        await stopped.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after another."""
        try:
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                start = time.monotonic()
                if self.latency_seconds:
                    await asyncio.sleep(self.latency_seconds)
                if not await self._answer(head, start, writer):
                    return
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            return  # the client has gone, is silent, or talks nonsense
        except asyncio.CancelledError:  # the server stops; raised further, it would be reported as an error
            return
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, head: bytes, start: float, writer: asyncio.StreamWriter) -> bool:
        """Send one answer; return whether the connection stays open."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        target, _, version = rest.rpartition(" ")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if target.startswith("http://"):
            parts = urlsplit(target)
            headers["host"], target = parts.netloc, parts.path + (f"?{parts.query}" if parts.query else "")
        host = headers.get("host", "").lower()
        answer = self._find(host.partition(":")[0], target)
        stays = version == "HTTP/1.1" and method in {"GET", "HEAD"} and headers.get("connection", "").lower() != "close"
        status, answer_head, body = answer.status, answer.head, answer.body
        if method not in {"GET", "HEAD"}:
            status, body = HTTPStatus.METHOD_NOT_ALLOWED, b""
            answer_head = b"Allow: GET, HEAD\r\nContent-Length: 0\r\n"
        elif status == HTTPStatus.OK and _is_unchanged(answer, headers):
            status, body = HTTPStatus.NOT_MODIFIED, b""
            answer_head = f"ETag: {answer.etag}\r\n".encode()
        elif method == "HEAD":
            body = b""
        connection = "keep-alive" if stays else "close"
        first = f"HTTP/1.1 {int(status)} {HTTPStatus(status).phrase}\r\nConnection: {connection}\r\n"
        writer.write(b"".join((first.encode(), answer_head, b"\r\n", body)))
        await writer.drain()
        if len(self._log) < _MAX_LOG:
            agent = headers.get("user-agent", "")
            self._log.append(DemoRequest(start, time.monotonic(), host, target, int(status), agent))
        return stays

    def _find(self, host: str, target: str) -> _Answer:
        """Return the page of a URL; parameters that only decorate are ignored."""
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
    """Describe one article."""
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
    """Write a page's headers."""
    etag = f'"{blake2b(page.body, digest_size=8).hexdigest()}"'
    modified = (page.modified or _OPENED).astimezone(UTC)
    head = f"Content-Type: {page.content_type}\r\nContent-Length: {len(page.body)}\r\n"
    if page.location:
        head += f"Location: {page.location}\r\n"
    if page.status == HTTPStatus.OK:
        head += f"ETag: {etag}\r\nLast-Modified: {format_datetime(modified, usegmt=True)}\r\n"
    return _Answer(page.status, head.encode("latin-1"), page.body, etag, modified)


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
    """Draw a picture of two coloured areas."""
    hue = number * 47 % 360
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360">'
        f'<rect width="640" height="360" fill="hsl({hue},45%,80%)"/>'
        f'<circle cx="{120 + number % 400}" cy="230" r="110" fill="hsl({(hue + 40) % 360},50%,60%)"/></svg>'
    )
    return DemoPage(text.encode(), "image/svg+xml")
