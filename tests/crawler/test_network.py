"""The network goes and comes back: real sockets on loopback, where every name under localhost leads."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket

import pytest

from tests.crawler.crawling import Finished, Running, rows, scrapy, start
from tests.waiting import wait_for

HOSTS = 5
PAGES = 12
LINKS = "".join(f'<a href="/p{n}">page {n}</a> ' for n in range(PAGES - 1))
PAGE = f"<html><title>t</title><body><h1>A page</h1><p>It says little.</p>{LINKS}</body></html>".encode()


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.server.asked += 1  # type: ignore[attr-defined]
        body = b"" if self.path == "/robots.txt" else PAGE
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    asked = 0


@contextmanager
def serving(port: int) -> Iterator[_Server]:
    with _Server(("127.0.0.1", port), _Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which nobody listens, held so that no other server is given it."""
    with socket() as held:
        held.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def arguments(folder: Path, port: int, *settings: str, hosts: int = HOSTS, also: tuple[str, ...] = ()) -> list[str]:
    seeds = [*(f"http://h{n}.localhost:{port}/" for n in range(hosts)), *also]
    (folder / "seeds.txt").write_text("\n".join(seeds), encoding="utf-8")
    given = (
        f"DATABASE_URL=sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS=127.0.0.0/8",
        "CRAWL_PRESET=breadth",
        *settings,
    )
    return ["crawl", "news", "-a", f"seeds={folder}/seeds.txt", *[x for one in given for x in ("-s", one)]]


def warnings(done: Finished) -> list[str]:
    return [line for line in done.stderr.splitlines() if " WARNING: " in line or " ERROR: " in line]


def test_network_that_is_down_is_named_once_and_ends_with_3(tmp_path: Path, port: int) -> None:
    done = scrapy(tmp_path, *arguments(tmp_path, port, "NETWORK_PATIENCE=1.5"))
    assert done.returncode == 3, done.stderr
    waiting, stopped = warnings(done)
    assert "hosts answers: all connections are refused, as by a firewall or proxy; waiting for the network" in waiting
    assert "the network was down for " in stopped
    assert rows(tmp_path, "SELECT DISTINCT state FROM url") == [("pending",)]
    assert rows(tmp_path, "SELECT count(*) FROM host WHERE dead_reason IS NOT NULL") == [(0,)]
    with serving(port):
        again = scrapy(tmp_path, *arguments(tmp_path, port, "HOST_DELAY=0", 'HOST_BACKOFF={"seconds": 0.2}'))
    assert again.returncode == 0, again.stderr
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND http_status = 200")[0] >= (HOSTS * PAGES,)


@pytest.mark.slow
def test_crawl_waits_for_the_network_and_loses_no_url(tmp_path: Path, port: int) -> None:
    with serving(port) as server:
        running: Running = start(
            tmp_path, *arguments(tmp_path, port, "HOST_DELAY=0.3", 'HOST_BACKOFF={"seconds": 0.2}')
        )
        wait_for(lambda: server.asked >= 4 * HOSTS, "the crawl does not begin")
    time.sleep(2)
    with serving(port):
        done = running.finish()
    assert done.returncode == 0, done.stderr
    gone, there = warnings(done)
    assert "waiting for the network" in gone
    assert "the network is there again" in there
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state IN ('failed', 'skipped')") == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND http_status = 200")[0] >= (HOSTS * PAGES,)
    assert rows(tmp_path, "SELECT count(*) FROM alarm") == [(0,)]


def test_dead_hosts_beside_a_living_one_are_no_outage_and_told_in_one_line(tmp_path: Path, port: int) -> None:
    with serving(port):
        dead = tuple(f"http://127.0.0.{n}:{port}/" for n in range(2, 8))  # refused there
        fast = ("HOST_DELAY=0", 'HOST_BACKOFF={"seconds": 0.1, "backoffs": 2, "wait": 2}', "HEALTH_WINDOW=0")
        done = scrapy(tmp_path, *arguments(tmp_path, port, *fast, hosts=1, also=dead))
    assert done.returncode == 0, done.stderr
    assert len(warnings(done)) == 1, warnings(done)
    (told,) = warnings(done)
    assert "6 hosts (127.0.0." in told
    assert "robots unreachable" in told
    assert rows(tmp_path, "SELECT count(*) FROM host WHERE dead_reason IS NOT NULL") == [(6,)]
