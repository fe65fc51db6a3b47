"""Crawl the demo newsroom through real proxies, with a password, also while they are killed, and compare.

    uv run python -m tests.benchmarks.proxies [--pages 3000]

First the newsroom is crawled without a proxy, then through tinyproxy (CONNECT) and microsocks (SOCKS5), each once in
peace and once with the proxy killed after 60 requests and started again two seconds later. What was stored has to be
the same each time: URLs with their states and tries, articles, duplicates, links. Then pages of 54 KB are fetched by
the download handler alone, to see what they cost. Proxies that are not installed are skipped (Debian's packages:
tinyproxy, microsocks). The exit code is 1 when anything differs.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scrapy import Request

from crawler.demo.server import Newsroom
from tests.crawler.fetching import handler

from .commands import crawl_command, new_parser
from .crawl_speed import watch

LOGIN = "reader:open-sesame"
_USER, _PASSWORD = LOGIN.split(":")
PAGE = b"<html><body>" + b"".join(b"<p>%d</p>" % n for n in range(5_000)) + b"</body></html>"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
CONTENTS = {
    "URLs": "SELECT url, state, reason, depth, http_status, tries FROM url ORDER BY url",
    "articles": "SELECT url, title, authors, published_at, text FROM v_articles ORDER BY url",
    "duplicates": "SELECT url, duplicate_of FROM v_articles WHERE duplicate_of IS NOT NULL ORDER BY url",
    "links": "SELECT source, target, block FROM link ORDER BY 1, 2, 3",
}
_KILL_AFTER, _DEAD_SECONDS = 60, 2.0
_START_SECONDS = 10.0
_AT_ONCE = 64


def tinyproxy(folder: Path, port: int) -> list[str]:
    """The command that serves CONNECT."""
    conf = folder / f"tinyproxy-{port}.conf"
    lines = [f"Port {port}", "Listen 127.0.0.1", "Timeout 60", "MaxClients 200", "LogLevel Critical", "Syslog Off"]
    conf.write_text("\n".join([*lines, f'LogFile "{folder}/tinyproxy.log"', f"BasicAuth {_USER} {_PASSWORD}"]) + "\n")
    return ["tinyproxy", "-d", "-c", str(conf)]


def microsocks(_folder: Path, port: int) -> list[str]:
    """The command that serves SOCKS5."""
    return ["microsocks", "-i", "127.0.0.1", "-p", str(port), "-u", _USER, "-P", _PASSWORD]


PROXIES: dict[str, tuple[str, Callable[[Path, int], list[str]]]] = {
    "tinyproxy": ("http", tinyproxy),
    "microsocks": ("socks5", microsocks),
}


class Running:
    """A proxy that runs, and can be killed and started again at the same port."""

    def __init__(self, name: str, folder: Path) -> None:
        self.scheme, command = PROXIES[name]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._command = command(folder, self.port)
        self._log = folder / f"{name}.out"
        self.start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://{LOGIN}@127.0.0.1:{self.port}"

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        until = time.monotonic() + _START_SECONDS
        while True:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if time.monotonic() > until or self._process.poll() is not None:
                raise SystemExit(f"{self._command[0]} did not start: {self._log.read_text(errors='replace')[-300:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def kill_and_start(self, newsroom: Newsroom) -> None:
        """Die for a while once the newsroom was asked often enough."""
        asked = len(newsroom.requests())
        while len(newsroom.requests()) < asked + _KILL_AFTER:
            time.sleep(0.005)
        self.kill()
        time.sleep(_DEAD_SECONDS)
        self.start()


def crawl(newsroom: Newsroom, folder: Path, proxy: str) -> tuple[dict[str, list[tuple]], str]:
    """Crawl it all; returns what is stored, and what it took."""
    folder.mkdir()
    (folder / "seeds.txt").write_text("\n".join(newsroom.seeds()), encoding="utf-8")
    settings = {
        "DATABASE_URL": f"sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS": f"127.0.0.1:{newsroom.port}",
        "HOST_DELAY": "0",
        "CRAWL_PRESET": "breadth",
        "PROXY": proxy,
    }
    usage, pid = watch(crawl_command(folder / "seeds.txt", settings))
    if "Finished: nothing is left" not in usage.output:
        raise SystemExit(f"the crawl through {proxy.rpartition('@')[2]} did not finish:\n{usage.output[-2000:]}")
    if _PASSWORD in usage.output:
        raise SystemExit("the password was shown")
    with sqlite3.connect(folder / "news.db") as database:
        found = {name: database.execute(sql).fetchall() for name, sql in CONTENTS.items()}
    pages = len(found["URLs"])
    return found, f"{1_000 * usage.own.get(pid, 0.0) / pages:5.1f} ms CPU a URL with the start, {usage.wall:4.1f} s"


def compared(direct: dict[str, list[tuple]], found: dict[str, list[tuple]]) -> str:
    """In which tables two crawls differ."""
    return ", ".join(name for name in CONTENTS if direct[name] != found[name])


def serve(port: int) -> None:
    """In a process of its own: answer every request with the same page."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (await reader.readline()).strip():
            while (await reader.readline()).strip():
                pass
            writer.write(HEAD % len(PAGE) + PAGE)
            await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(run())


async def cost(urls: list[str], proxy: str) -> float:
    """CPU milliseconds a page."""
    own, waiting = handler(PROXY=proxy), list(urls)

    async def fetch() -> None:
        while waiting:
            response = await own.download_request(Request(waiting.pop()))
            assert response.body == PAGE

    began = time.process_time()
    await asyncio.gather(*(fetch() for _ in range(_AT_ONCE)))
    took = time.process_time() - began
    await own.close()
    return took * 1_000 / len(urls)


@contextmanager
def serving() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    server = multiprocessing.get_context("fork").Process(target=serve, args=(port,), daemon=True)
    server.start()
    time.sleep(1)
    yield port
    server.kill()


def main() -> int:
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=3_000)
    given = parser.parse_args()
    installed = [name for name in PROXIES if shutil.which(name)]
    for name in sorted(PROXIES.keys() - set(installed)):
        print(f"{name:26} skipped: not installed")
    differ = False
    with tempfile.TemporaryDirectory(prefix="proxies-") as place, ExitStack() as stack:
        folder = Path(place)
        running = {name: Running(name, folder) for name in installed}
        for proxy in running.values():
            stack.callback(proxy.kill)
        with Newsroom() as newsroom:
            direct, took = crawl(newsroom, folder / "direct", "none")
            print(f"{'direct':26} {', '.join(f'{len(direct[name])} {name}' for name in CONTENTS)}; {took}", flush=True)
            for name, proxy in running.items():
                for word in ("", ", killed in between"):
                    killer = threading.Thread(target=proxy.kill_and_start, args=(newsroom,), daemon=True)
                    if word:
                        killer.start()
                    found, took = crawl(newsroom, folder / f"{name}{len(word)}", proxy.url)
                    difference = compared(direct, found)
                    differ = differ or bool(difference)
                    said = f"other {difference}" if difference else "the same"
                    print(f"{name + word:26} {said}; {took}", flush=True)
        with serving() as port:
            urls = [f"http://127.0.0.1:{port}/{n}" for n in range(given.pages)]
            costs = {"direct": asyncio.run(cost(urls, "none"))}
            costs |= {name: asyncio.run(cost(urls, proxy.url)) for name, proxy in running.items()}
        print(f"a page of 54 KB: {', '.join(f'{name} {ms:.3f}' for name, ms in costs.items())} ms CPU")
    return int(differ)


if __name__ == "__main__":
    raise SystemExit(main())
