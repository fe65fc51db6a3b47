"""The guard: which addresses are open, and that no connection goes round it."""

import asyncio
import socket
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.crawler import Crawler

from crawler.fetch.guard import AddressRefused, Guard
from crawler.fetch.one_shot import _Client
from crawler.options.config import fetch_options
from crawler.spiders.news import NewsSpider
from tests.crawler.fetching import handler, settings
from tests.table import each_row

NEEDS_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no 127.0.0.2")

PUBLIC = ["1.1.1.1", "114.114.114.114", "223.5.5.5", "2606:4700:4700::1111", "2400:3200::1", "::ffff:1.1.1.1"]
PUBLIC += ["64:ff9b::101:101", "2002:101:101::1"]

CLOSED_TEXT = """0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1
172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1
2002:a00:1::1 2002:a9fe:a9fe::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1
2606:4700::1%1"""
CLOSED = CLOSED_TEXT.split()


class Server(ThreadingHTTPServer):
    """Answers 200, or redirects; remembers every connection."""

    daemon_threads = True

    def __init__(self, address: str) -> None:
        self.connections: list[str] = []
        super().__init__((address, 0), Handler)

    def get_request(self) -> tuple[socket.socket, object]:
        connection, peer = super().get_request()
        self.connections.append(connection.getsockname()[0])
        return connection, peer


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def do_GET(self) -> None:  # the name is the base class's
        target = self.path.partition("?to=")[2]
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server("0.0.0.0") as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def _follow(urls: Sequence[str], settings: dict[str, object]) -> list[tuple[str, object]]:
    """Fetch URLs and what they redirect to."""
    own = handler(**{"ALLOW_NETWORKS": [], **settings})
    found: list[tuple[str, object]] = []
    left = list(urls)
    try:
        while left:
            url = left.pop(0)
            try:
                response = await own.download_request(Request(url))
            except Exception as error:  # noqa: BLE001 - what is looked at
                found.append((url, type(error).__name__))
                continue
            found.append((url, response.status))
            if response.status == 302:
                left.append(response.headers["Location"].decode())
    finally:
        await own.close()
    return found


def follow(urls: Sequence[str], **settings: object) -> list[tuple[str, object]]:
    return asyncio.run(_follow(urls, settings))


@each_row("address", PUBLIC)
def test_public(address: str) -> None:
    assert Guard().permits(address)
    assert Guard().permits(address, 80)


@each_row("address", [*CLOSED, "", "localhost", "127.1", "1.1.1.1 ", "[::1]", "1.1.1.1:80", "\0"])
def test_closed(address: str) -> None:
    assert not Guard().permits(address)
    assert not Guard().permits(address, 80)


def test_opened() -> None:
    guard = Guard(["127.0.1.0/24", " 127.0.0.1:8710", "[::1]:81", "fd00::/8", "10.0.0.0/8:443", ""])
    assert guard.permits("127.0.1.200", 5)
    assert guard.permits("::ffff:127.0.1.200")
    assert guard.permits("127.0.0.1", 8710)
    assert not guard.permits("127.0.0.1", 8711)
    assert not guard.permits("127.0.0.1")
    assert guard.permits("::1", 81)
    assert not guard.permits("::1", 80)
    assert guard.permits("fd12::1", 80)
    assert guard.permits("10.9.9.9", 443)
    assert not guard.permits("10.9.9.9", 80)
    assert not guard.permits("127.0.2.1")


WRONG = "localhost 127.0.0.1/33 127.0.0.1/8 127.0.0.1: 127.0.0.1:0 127.0.0.1:65536 127.0.0.1:x"
WRONG_V6 = "[::1 [::1]8 [::1]: [] 127.1 http://127.0.0.1"


@each_row("text", [*f"{WRONG} {WRONG_V6}".split()])
def test_wrong_network(text: str) -> None:
    with pytest.raises(ValueError, match="ALLOW_NETWORKS") as caught:
        Guard(["10.0.0.0/8", text])
    assert repr(text) in str(caught.value)


@each_row("value", ["127.0.0.1:80, 10.0.0.0/8", ["127.0.0.1:80", "10.0.0.0/8"], "127.0.0.1:80,10.0.0.0/8,"])
def test_setting(value: object) -> None:
    guard = fetch_options(settings(ALLOW_NETWORKS=value)).guard
    assert guard.permits("10.1.1.1")
    assert guard.permits("127.0.0.1", 80)
    assert not guard.permits("127.0.0.1", 81)
    assert not fetch_options(settings(ALLOW_NETWORKS=[])).guard.permits("127.0.0.1")


@given(st.ip_addresses())
def test_ipv4_inside_ipv6_counts_as_itself(address: object) -> None:
    text = str(address)
    if ":" not in text:
        assert Guard().permits(text) == Guard().permits(f"::ffff:{text}")
    assert isinstance(Guard().permits(text), bool)


def test_message() -> None:
    assert (
        str(AddressRefused("h.cn", "10.0.0.1"))
        == "h.cn is at 10.0.0.1, which is not public (or its port is not the web's); ALLOW_NETWORKS can open it"
    )


def test_everything_local_is_refused_by_default(server: Server) -> None:
    hosts = ["127.0.0.1", "127.1", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1", "017700000001", "0.0.0.0", "0"]
    hosts += ["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]"]
    hosts += ["localhost", "x.localhost", "LOCALHOST.", "169.254.169.254", "0xa9fea9fe", "100.100.100.200", "10.1"]
    urls = [f"{scheme}://{host}:{server.server_port}/" for host in hosts for scheme in ("http", "https")]
    results = follow(urls)
    assert len(results) == len(urls)
    assert {result for _, result in results} == {"AddressRefused"}, results
    assert server.connections == []


@NEEDS_LINUX
def test_opened_port_and_what_it_redirects_to(server: Server) -> None:
    port = server.server_port
    with Server("127.0.0.1") as admin:
        urls = [f"http://{host}:{port}/" for host in ("127.0.0.1", "127.1", "x.localhost", "localhost")]
        urls += [f"http://127.0.0.1:{port}/?to=http://127.0.0.1:{admin.server_port}/"]
        urls += [f"http://127.0.0.1:{port}/?to=http://x.localhost:{port}/end", f"http://127.0.0.2:{port}/"]
        results = dict(follow(urls, ALLOW_NETWORKS=[f"127.0.0.1:{port}"]))
        assert [results[url] for url in urls] == [200, 200, 200, 200, 302, 302, "AddressRefused"]
        assert results[f"http://127.0.0.1:{admin.server_port}/"] == "AddressRefused"
        assert results[f"http://x.localhost:{port}/end"] == 200
        assert set(server.connections) == {"127.0.0.1"}
        admin.socket.settimeout(0)
        with pytest.raises(BlockingIOError):
            admin.socket.accept()


def test_no_other_scheme_has_a_handler() -> None:
    for spider in (NewsSpider, _Client):
        handlers = Crawler(spider, settings()).settings.getwithbase("DOWNLOAD_HANDLERS")
        assert dict(handlers) == dict.fromkeys(("http", "https"), "crawler.fetch.handler.GuardedHandler")


@NEEDS_LINUX
def test_names_that_change_their_address_gain_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [("127.0.0.2",), ("127.0.0.1",), ("127.0.0.1", "127.0.0.2"), ("::1", "10.0.0.1"), ()]
    turn = iter(answers)
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: next(turn))
    monkeypatch.setattr("crawler.fetch.dns.KEEP_SECONDS", 0.0)
    # each answer on a connection of its own: a kept one needs no look-up, its address has been checked
    urls = [f"http://rebind.test:{server.server_port}/{n}" for n in range(len(answers))]
    results = [result for url in urls for _, result in follow([url], ALLOW_NETWORKS="127.0.0.2")]
    assert results == [200, "AddressRefused", 200, "AddressRefused", "FetchError"]
    assert server.connections == ["127.0.0.2", "127.0.0.2"]


@each_row("port", [22, 25, 110, 2049, 5060, 6667, 10080])
def test_ports_of_other_services_are_closed_unless_they_are_named(port: int) -> None:
    assert not Guard().permits("1.1.1.1", port)
    assert not Guard(["127.0.0.0/8"]).permits("127.0.0.1", port)
    assert Guard(["127.0.0.0/8", f"127.0.0.1:{port}"]).permits("127.0.0.1", port)
    assert all(Guard().permits("1.1.1.1", usual) for usual in (None, 80, 443, 81, 3000, 5000, 8000, 8080, 8443, 9000))
