"""The guard: which addresses are open, and that no connection of a real crawl goes round it."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from crawler.guard import AddressRefused, Guard, guard_from_settings

NEEDS_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no 127.0.0.2")
ROOT = Path(__file__).resolve().parents[2]

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

SCRIPT = """
import json, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess
import crawler.names as names

urls, options, answers = json.loads(sys.argv[1])
results = []

if answers:
    # A name server that changes its mind, and nobody remembers what it said.
    turn = iter(answers)
    names._ask = lambda name: tuple(next(turn))
    names.KEEP_SECONDS = 0.0

class Spider(scrapy.Spider):
    name = "guarded"

    async def start(self):
        for url in urls:
            meta = {"proxy": options["PROXY"]} if "PROXY" in options else {}
            yield scrapy.Request(url, self.parse, errback=self.failed, dont_filter=True, meta=meta)

    def parse(self, response):
        results.append([response.request.url, response.status])
        if response.status == 302:
            target = response.headers["Location"].decode()
            yield scrapy.Request(target, self.parse, errback=self.failed, dont_filter=True)

    def failed(self, failure):
        error = failure.value
        results.append([failure.request.url, type(error).__name__, getattr(error, "address", str(error))])

process = AsyncCrawlerProcess({
    "TWISTED_DNS_RESOLVER": "crawler.names.GuardedResolver",
    "DOWNLOAD_HANDLERS": {
        "http": "crawler.download.GuardedHandler", "https": "crawler.download.GuardedHandler",
        "file": None, "ftp": None, "s3": None, "data": None,
    },
    "HTTPPROXY_ENABLED": False, "REDIRECT_ENABLED": False, "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True, "CONCURRENT_REQUESTS": 1, "WARN_ON_GENERATOR_RETURN_VALUE": False,
    "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "ERROR", **options,
})
process.crawl(Spider)
process.start()
print(json.dumps(results))
"""


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


def crawl(urls: list[str], options: dict[str, object], answers: list[list[str]] | None = None) -> list[list[object]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([urls, options, answers])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Unhandled" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert Guard().permits(address)
    assert Guard().permits(address, 80)


@pytest.mark.parametrize("address", [*CLOSED, "", "localhost", "127.1", "1.1.1.1 ", "[::1]", "1.1.1.1:80", "\0"])
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


@pytest.mark.parametrize("text", [*f"{WRONG} {WRONG_V6}".split()])
def test_wrong_network(text: str) -> None:
    with pytest.raises(ValueError, match="ALLOW_NETWORKS") as caught:
        Guard(["10.0.0.0/8", text])
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    "value", ["127.0.0.1:80, 10.0.0.0/8", ["127.0.0.1:80", "10.0.0.0/8"], "127.0.0.1:80,10.0.0.0/8,"]
)
def test_setting(value: object) -> None:
    guard = guard_from_settings(Settings({"ALLOW_NETWORKS": value}))
    assert guard.permits("10.1.1.1")
    assert guard.permits("127.0.0.1", 80)
    assert not guard.permits("127.0.0.1", 81)
    assert not guard_from_settings(Settings()).permits("127.0.0.1")


@settings(deadline=None, max_examples=200)
@given(st.ip_addresses())
def test_ipv4_inside_ipv6_counts_as_itself(address: object) -> None:
    text = str(address)
    if ":" not in text:
        assert Guard().permits(text) == Guard().permits(f"::ffff:{text}")
    assert isinstance(Guard().permits(text), bool)


def test_message() -> None:
    assert (
        str(AddressRefused("h.cn", "10.0.0.1"))
        == "h.cn is at 10.0.0.1, which is not public; ALLOW_NETWORKS can open it"
    )


def test_everything_local_is_refused_by_default(server: Server) -> None:
    hosts = ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"]
    hosts += ["localhost", "x.localhost", "LOCALHOST."]
    urls = [f"{scheme}://{host}:{server.server_port}/" for host in hosts for scheme in ("http", "https")]
    # robots.txt is fetched too, or would be.
    results = crawl(urls, {"ROBOTSTXT_OBEY": True})
    assert len(results) == len(urls)
    assert {result[1] for result in results} == {"AddressRefused"}, results
    assert server.connections == []


@NEEDS_LINUX
def test_opened_port_and_what_it_redirects_to(server: Server) -> None:
    port = server.server_port
    with Server("127.0.0.1") as admin:
        urls = [f"http://{host}:{port}/" for host in ("127.0.0.1", "127.1", "x.localhost", "localhost")]
        urls += [f"http://127.0.0.1:{port}/?to=http://127.0.0.1:{admin.server_port}/"]
        urls += [f"http://127.0.0.1:{port}/?to=http://x.localhost:{port}/end", f"http://127.0.0.2:{port}/"]
        results = {result[0]: result[1] for result in crawl(urls, {"ALLOW_NETWORKS": [f"127.0.0.1:{port}"]})}
        assert [results[url] for url in urls] == [200, 200, 200, 200, 302, 302, "AddressRefused"]
        assert results[f"http://127.0.0.1:{admin.server_port}/"] == "AddressRefused"
        assert results[f"http://x.localhost:{port}/end"] == 200
        assert server.connections == ["127.0.0.1"] * 7
        admin.socket.settimeout(0)
        with pytest.raises(BlockingIOError):
            admin.socket.accept()


def test_other_schemes_and_proxies_are_refused(server: Server) -> None:
    urls = ["http://h.cn/", "https://h.cn/", "file:///etc/passwd", "data:,x", "ftp://127.0.0.1/"]
    options = {"ALLOW_NETWORKS": "127.0.0.0/8", "PROXY": f"http://127.0.0.1:{server.server_port}"}
    assert [result[1] for result in crawl(urls, options)] == ["NotSupported"] * len(urls)
    assert server.connections == []


@NEEDS_LINUX
def test_handler_alone_is_enough(server: Server) -> None:
    urls = [f"http://{host}:{server.server_port}/" for host in ("127.1", "x.localhost", "127.0.0.2")]
    options = {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver", "ALLOW_NETWORKS": "127.0.0.2"}
    results = {result[0]: result[1] for result in crawl(urls, options)}
    assert [results[url] for url in urls] == ["AddressRefused", "AddressRefused", 200]
    assert server.connections == ["127.0.0.2"]


@NEEDS_LINUX
def test_names_that_change_their_address_gain_nothing(server: Server) -> None:
    answers = [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "10.0.0.1"], []]
    urls = [f"http://rebind.test:{server.server_port}/{turn}" for turn in range(len(answers))]
    results = crawl(urls, {"ALLOW_NETWORKS": "127.0.0.2"}, answers)
    assert [result[1] for result in sorted(results)] == [
        200,
        "AddressRefused",
        200,
        "AddressRefused",
        "FetchError",
    ]
    assert server.connections == ["127.0.0.2", "127.0.0.2"]
