"""The web of the benchmarks: generated articles of about 50 KB with 60 links each, over hosts on loopback.

    uv run python -m tests.benchmarks.static_site [--pages 10000] [--hosts 50] [--latency 0] [--slow 0]
        [--links 60] [--paragraphs 8] [--filler 50] [--skew 0] [--log FILE]

A host is an address of 127.0.2.0/24 and a port; the ports are free ones. The server is a process of its own, so that it
takes no time from what is measured. Every page is rendered at its first request and kept as long as there is room. The
log has one line of JSON for each request, with the times at which it came and at which its answer was handed over, or
at which its client was gone.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import random
import resource
import socket
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import IO, NamedTuple, Self

from .commands import PROJECT, new_parser

NETWORK = "127.0.2.0/24"
PAGE_LINKS = 60
CLIENT_GONE = 0
_NET = "127.0.2."
_HOSTS_PER_PORT = 250
_GOLDEN = 0.6180339887498949
_MOST_KEPT_BYTES = 1 << 30
_SYLLABLES = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年"


class Request(NamedTuple):
    """One line of the log: times of the system's monotonic clock; status 0 says that the client went away."""

    start: float
    end: float
    host: str
    path: str
    status: int
    agent: str


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of the pages and of the hosts.

    Attributes:
        links: of every page.
        paragraphs: of its text, some 150 to 200 words each.
        filler: blocks of half a kilobyte that hold nothing.
        skew: the n-th host has 1 / n ** skew as many pages as the first; 0 makes all alike.
    """

    links: int = PAGE_LINKS
    paragraphs: int = 8
    filler: int = 50
    skew: float = 0.0

    def arguments(self) -> list[str]:
        """The options of the command that say so."""
        return [f"--{name}={value}" for name, value in dataclasses.asdict(self).items()]


@dataclass(frozen=True)
class Site:
    """Pages 0, 1, 2 ... over hosts in turn. The links of any page lead to every other one."""

    pages: int
    hosts: int
    ports: tuple[int, ...]
    shape: Shape = Shape()

    @cached_property
    def _bounds(self) -> list[float]:
        """The shares of all hosts in the pages, summed up."""
        return list(accumulate((n + 1) ** -self.shape.skew for n in range(self.hosts)))

    def place(self, number: int) -> int:
        """The place of a page's host among all hosts."""
        if not self.shape.skew:
            return number % self.hosts
        return bisect(self._bounds, number * _GOLDEN % 1 * self._bounds[-1])

    def host(self, number: int) -> str:
        """The host of a page, as it stands in its address."""
        place = self.place(number)
        return f"{_NET}{place % _HOSTS_PER_PORT + 1}:{self.ports[place // _HOSTS_PER_PORT]}"

    def address(self, number: int) -> str:
        """Where a page lives."""
        return f"http://{self.host(number)}/p/{number}.html"

    def targets(self, number: int) -> list[int]:
        """The pages that a page links to, the next one among them."""
        rng = random.Random(f"links of {number}")
        return [rng.randrange(self.pages) for _ in range(self.shape.links - 1)] + [(number + 1) % self.pages]

    def page(self, number: int) -> bytes:
        """One generated article with a text of its own; about 50 KB and 60 links in the usual shape."""
        rng = random.Random(number)
        shape = self.shape
        words = ["".join(rng.choices(_SYLLABLES, k=2)) for _ in range(50 * shape.paragraphs)]
        paragraphs = "".join(
            f"<p>{''.join(rng.choices(words, k=90))}，{''.join(rng.choices(words, k=60))}。</p>"
            for _ in range(shape.paragraphs)
        )
        links = "".join(f'<li><a href="{self.address(t)}">第{t}条新闻的标题文字</a></li>' for t in self.targets(number))
        filler = "<div class='x' data-a='" + "0123456789abcdef" * 30 + "'></div>"
        day = f"2025-01-{number % 28 + 1:02d}"
        return (
            f"<!doctype html><html><head><meta charset='utf-8'><title>第{number}条新闻的标题文字</title></head><body>"
            f"<div class='nav'>导航</div><h1>第{number}条新闻的标题文字</h1><p>{day} 08:30 来源：新闻</p>"
            f"<div class='text'>{paragraphs}</div><ul class='list'>{links}</ul>{filler * shape.filler}</body></html>"
        ).encode()


class Serving:
    """A site served by a process of its own, which ends with this one (or with `stop`).

    Args:
        pages, hosts: size of the site.
        latency: seconds that every answer takes.
        slow: seconds that every answer of the first host takes besides.
        log: file for the access log.
        shape: size of pages and hosts.
        holds: numbers of different pages, rising; those beyond the first are answered after a `release`, and so on.

    Attributes:
        site: the site.
        pid: process identifier of the server.
    """

    def __init__(
        self,
        pages: int,
        hosts: int,
        *,
        latency: float = 0.0,
        slow: float = 0.0,
        log: Path | None = None,
        shape: Shape = Shape(),
        holds: Sequence[int] = (),
    ) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.static_site", "--pages", str(pages), "--hosts", str(hosts)]
        command += ["--latency", str(latency), "--slow", str(slow), *(["--log", str(log)] if log else [])]
        command += [*shape.arguments(), *(f"--hold={pages}" for pages in holds)]
        self._process = subprocess.Popen(
            command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._process.stdout is not None
        ready = self._process.stdout.readline()
        if not ready.startswith("ports "):
            self.stop()
            raise RuntimeError("the server of the site did not start")
        self.site = Site(pages, hosts, tuple(map(int, ready.split()[1:])), shape)
        self.pid = self._process.pid
        self._log = log
        self._read = 0
        self._records: list[Request] = []

    def requests(self) -> list[Request]:
        """What the log says until now, in the order in which the requests ended."""
        assert self._log is not None
        with self._log.open("rb") as lines:
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):  # being written
                    break
                self._records.append(Request(*json.loads(line)))
                self._read += len(line)
        return self._records

    def release(self) -> None:
        """Let the server answer up to the next of the `holds`."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Holds:
    """Pages that are answered only after a word of the one who started the server."""

    def __init__(self, holds: Sequence[int]) -> None:
        self._holds = list(holds)
        self._asked: set[str] = set()
        self._waiting: list[Callable[[], None]] = []

    def ask(self, path: str, answer: Callable[[], None]) -> None:
        """Answer now, or when the hold is released."""
        if path.startswith("/p/") and path not in self._asked:
            if self._holds and len(self._asked) >= self._holds[0]:
                self._waiting.append(lambda: self.ask(path, answer))
                return
            self._asked.add(path)
        answer()

    def release(self) -> None:
        """Answer what waits, up to the next hold."""
        del self._holds[:1]
        waiting, self._waiting = self._waiting, []
        for ask in waiting:
            ask()


class _Connection(asyncio.Protocol):
    """One client: a request, its answer, the next request."""

    def __init__(
        self, site: Site, rendered: dict[int, bytes], latency: float, log: IO[str] | None, holds: _Holds
    ) -> None:
        self._site, self._rendered, self._latency, self._log = site, rendered, latency, log
        self._holds = holds
        self._transport: asyncio.Transport
        self._host = ""
        self._received = b""
        self._path: str | None = None
        self._agent = ""
        self._start = 0.0
        self._status = CLIENT_GONE
        self._timer: asyncio.TimerHandle | None = None
        self._full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(0)  # an answer has ended when the system has taken all of it
        self._host = "{}:{}".format(*transport.get_extra_info("sockname"))

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end or self._path is not None:
            return
        self._received = rest
        self._start = time.monotonic()
        lines = head.decode("latin-1").split("\r\n")
        self._path = lines[0].split(" ")[1]
        self._agent = next((line[12:] for line in lines if line.lower().startswith("user-agent: ")), "")
        self._holds.ask(self._path, self._answer_in_time)

    def _answer_in_time(self) -> None:
        if self._latency:
            self._timer = asyncio.get_running_loop().call_later(self._latency, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        if self._path is None:  # the client went away while its page was held
            return
        self._timer = None
        body, kind = self._body(self._path)
        self._status = 200 if kind else 404
        reason = "OK" if kind else "Not Found"
        head = f"HTTP/1.1 {self._status} {reason}\r\nContent-Type: {kind or 'text/plain'}\r\n"
        sent = time.monotonic()  # the client may have all of it long before a busy machine goes on here
        self._transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        if not self._full:
            self._ended(sent)

    def _body(self, path: str) -> tuple[bytes, str]:
        if path == "/robots.txt":
            return b"User-agent: *\nAllow: /\n", "text/plain"
        name = path.removeprefix("/p/").removesuffix(".html")
        if not name.isdigit() or int(name) >= self._site.pages:
            return b"", ""
        number = int(name)
        page = self._rendered.get(number) or self._site.page(number)
        if len(self._rendered) * len(page) < _MOST_KEPT_BYTES:
            self._rendered[number] = page
        return page, "text/html; charset=utf-8"

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._ended(time.monotonic())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._path is not None:
            if self._timer:
                self._timer.cancel()
            self._status = CLIENT_GONE
            self._ended(time.monotonic())

    def _ended(self, at: float) -> None:
        """Write the request into the log."""
        if self._log and self._path is not None:
            record = Request(self._start, at, self._host, self._path, self._status, self._agent)
            self._log.write(json.dumps(record) + "\n")
        self._path = None


def _listen(hosts: int) -> tuple[list[socket.socket], tuple[int, ...]]:
    """Sockets for all hosts, and the ports: free ones, each for up to 250 addresses."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    sockets: list[socket.socket] = []
    ports: list[int] = []
    while len(sockets) < hosts:
        addresses = [f"{_NET}{n + 1}" for n in range(min(_HOSTS_PER_PORT, hosts - len(sockets)))]
        batch = [socket.create_server((addresses[0], 0), backlog=128)]
        port = batch[0].getsockname()[1]
        try:
            batch += [socket.create_server((address, port), backlog=128) for address in addresses[1:]]
        except OSError:  # the port is taken at another address: choose again
            for opened in batch:
                opened.close()
            continue
        sockets += batch
        ports.append(port)
    return sockets, tuple(ports)


async def _serve(options: argparse.Namespace, shape: Shape, log: IO[str] | None) -> None:
    """Serve until standard input ends, that is, until the process that started this one has ended."""
    sockets, ports = _listen(options.hosts)
    site, rendered, holds = Site(options.pages, options.hosts, ports, shape), dict[int, bytes](), _Holds(options.hold)
    loop = asyncio.get_running_loop()
    for number, listening in enumerate(sockets):
        seconds = options.latency + (0.0 if number else options.slow)
        await loop.create_server(partial(_Connection, site, rendered, seconds, log, holds), sock=listening)
    sys.stdout.write(f"ports {' '.join(map(str, ports))}\n")
    sys.stdout.flush()
    ended = asyncio.Event()

    def read() -> None:
        words = os.read(0, 1024)
        for _ in words:
            holds.release()
        if not words:
            ended.set()

    loop.add_reader(0, read)
    await ended.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a site until standard input ends."""
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every answer takes")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds that those of the first host take besides")
    for name, value in dataclasses.asdict(Shape()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--log", type=Path, help="file for the access log")
    parser.add_argument(
        "--hold", type=int, action="append", default=[], help="different pages answered before a byte is read"
    )
    options = parser.parse_args(arguments)
    shape = Shape(**{name: getattr(options, name) for name in dataclasses.asdict(Shape())})
    log = options.log.open("w", buffering=1) if options.log else None
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(options, shape, log))
    if log:
        log.close()


if __name__ == "__main__":
    main()
