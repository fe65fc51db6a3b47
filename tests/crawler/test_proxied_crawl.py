"""Whole crawls through proxies: the same rows as without, also when a proxy dies, and a password nowhere."""

from __future__ import annotations

import base64
import gzip
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.crawler.crawling import Finished, command, rows, scrapy
from tests.crawler.odd_server import Answer, OddServer, article
from tests.crawler.proxy_server import PASSWORD, USER, WRITTEN, ProxyServer

SOON = """
from crawler.fetch import proxies
from crawler.frontier import host_backoff
from crawler.response import outcome
proxies.FIRST_REST = outcome.HANDLES_PAUSE = 0.5
host_backoff._FIRST_LOOK_SECONDS = 0.2
"""
"""What is waited for in seconds, in less."""
HOSTS = ("a", "b", "c")
PAGES = 8
SPELLINGS = (PASSWORD, quote(PASSWORD, safe=""), WRITTEN, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())
"""All ways in which the password could be shown."""
CONTENTS = (
    "SELECT url, state, reason, depth, http_status, tries FROM url ORDER BY url",
    "SELECT url, title, text FROM article JOIN url USING (id) ORDER BY url",
    "SELECT s.url, t.url, block FROM link JOIN url s ON s.id = source JOIN url t ON t.id = target ORDER BY 1, 2",
    "SELECT count(*) FROM duplicate",
    "SELECT count(*) FROM host WHERE backoffs > 0 OR dead_reason IS NOT NULL",
    "SELECT count(*) FROM alarm",
)


def site() -> dict[tuple[str, str], Answer]:
    answers = {}
    for host in HOSTS:
        links = [f"/news/{n}.html" for n in range(PAGES)]
        listed = "".join(f'<li><a href="{link}">{host} 本市今日公布第{link}项港口建设计划</a></li>' for link in links)
        answers[f"{host}.localhost", "/"] = (200, {}, f"<title>{host}</title><h1>{host}</h1><ul>{listed}</ul>")
        for n, link in enumerate(links):
            elsewhere = f"http://{HOSTS[n % 3]}.localhost:PORT/"
            answers[f"{host}.localhost", link] = article(f"{host}港第{n}号码头", elsewhere)
    return answers


@pytest.fixture(scope="module")
def server() -> Iterator[OddServer]:
    with OddServer(site()) as running:
        yield running


def crawl(
    server: OddServer, folder: Path, *settings: str, seeds: Sequence[str] = (), before: str = "", delay: float = 0
) -> Finished:
    """Crawl all hosts, or these seeds; settings as NAME=VALUE."""
    seeds = seeds or [f"http://{host}.localhost:{server.port}/" for host in HOSTS]
    (folder / "seeds.txt").write_text("\n".join(seeds), "utf-8")
    given = (
        f"DATABASE_URL=sqlite:///{folder}/news.db",
        f"ALLOW_NETWORKS=127.0.0.1:{server.port}",
        f"HOST_DELAY={delay}",
        "CRAWL_PRESET=breadth",
        "WORKERS=1",
        *("KEYWORDS=", "CLASSES=", "HARMFUL=off"),
        *settings,
    )
    options = [x for one in given for x in ("-s", one)]
    return scrapy(folder, "crawl", "news", "-a", f"seeds={folder}/seeds.txt", *options, before=before)


def contents(folder: Path) -> list[list[tuple]]:
    return [rows(folder, sql) for sql in CONTENTS]


def warnings(done: Finished) -> list[str]:
    return [line.partition(": ")[2] for line in done.stderr.splitlines() if " WARNING: " in line or " ERROR: " in line]


@pytest.fixture(scope="module")
def direct(server: OddServer, tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple]]:
    """What a crawl without proxies brings."""
    folder = tmp_path_factory.mktemp("direct")
    unused = "import os; os.environ |= {'http_proxy': 'http://127.0.0.1:1', 'NO_PROXY': 'none.example'}"
    done = crawl(server, folder, before=unused)  # loopback is never asked through those
    assert (done.returncode, warnings(done)) == (0, [])
    found = contents(folder)
    assert len(found[1]) == len(HOSTS) * PAGES
    return found


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_crawl_through_a_proxy_with_a_password_brings_the_same(
    server: OddServer, direct: list[list[tuple]], tmp_path: Path, kind: str
) -> None:
    asked = len(server.asked)
    with ProxyServer(kind, login=True) as proxy:
        done = crawl(server, tmp_path, f"PROXY={proxy.url}")
    assert (done.returncode, warnings(done)) == (0, [])
    assert contents(tmp_path) == direct
    assert set(proxy.asked) == {f"127.0.0.1:{server.port}"}
    assert len(server.asked) - asked == len(rows(tmp_path, "SELECT 1 FROM url WHERE http_status IS NOT NULL"))


def test_crawl_through_a_list_brings_the_same_while_one_is_dead(
    server: OddServer, direct: list[list[tuple]], tmp_path: Path
) -> None:
    with ProxyServer("socks5") as dead, ProxyServer("http") as proxy:
        dead.stop()
        done = crawl(server, tmp_path, f"PROXY={dead.url} {proxy.url}")
        assert proxy.asked
    (warning,) = warnings(done)
    assert (
        warning
        == f"the proxy {dead.url} cannot be connected to (connection refused); start it, or correct PROXY; "
        + ("it rests for 5 s")
    )
    assert done.returncode == 0
    assert contents(tmp_path) == direct


def test_pages_of_a_seed_go_through_its_proxy_with_the_password_of_the_setting(
    server: OddServer, direct: list[list[tuple]], tmp_path: Path
) -> None:
    with ProxyServer("http", login=True) as proxy:
        seeds = [f"http://{host}.localhost:{server.port}/ proxy={proxy.address}" for host in HOSTS]
        done = crawl(server, tmp_path, f"PROXY=none {proxy.url}", seeds=seeds)
    assert (done.returncode, warnings(done)) == (0, [])
    assert contents(tmp_path) == direct
    assert len(proxy.asked) >= len(HOSTS)
    assert rows(tmp_path, "SELECT DISTINCT proxy FROM seed") == [(proxy.address,)]


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_proxy_that_dies_and_comes_back_costs_nothing(
    server: OddServer, direct: list[list[tuple]], tmp_path: Path, kind: str
) -> None:
    with ProxyServer(kind, login=True) as proxy:

        def kill() -> None:
            asked = len(server.asked)
            while len(server.asked) < asked + 9:
                time.sleep(0.01)
            proxy.stop()
            time.sleep(1.2)
            proxy.start()

        killer = threading.Thread(target=kill)
        killer.start()
        done = crawl(server, tmp_path, f"PROXY={proxy.url}", delay=0.1, before=SOON)
        killer.join()
    assert done.returncode == 0, done.stderr
    dead, waits, *there = warnings(done)
    assert dead.startswith(f"the proxy {proxy.address} cannot be connected to (connection refused); start it")
    assert waits.startswith(
        f"no proxy serves: {proxy.address} cannot be connected to (connection refused); waiting for"
    )
    assert {line.partition(" again after ")[0] for line in there} == {
        f"the proxy {proxy.address} serves",
        "the network is there",
    }
    assert contents(tmp_path) == direct


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_crawl_through_a_proxy_that_resolves_names_needs_no_dns(
    server: OddServer, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {f"{host}.example": "127.0.0.1" for host in HOSTS}
    monkeypatch.setattr("tests.crawler.proxy_server.RESOLVED", names)
    monkeypatch.setattr(server, "alias", lambda host: host.replace(".example", ".localhost"))
    seeds = [f"http://{name}:{server.port}/" for name in names]
    given = ("PROXY_RESOLVES=True", "SAME_IP_DELAY=0.001", "NETWORK_PATIENCE=0.5")
    with ProxyServer(kind, login=True) as proxy:
        done = crawl(server, tmp_path, f"PROXY={proxy.url}", *given, seeds=seeds)
        (tmp_path / "wrong").mkdir()
        wrong = crawl(server, tmp_path / "wrong", f"PROXY={proxy.address}", *given, seeds=seeds)
    assert done.returncode == 0
    assert len(rows(tmp_path, "SELECT 1 FROM article")) == len(HOSTS) * PAGES
    (warning,) = warnings(done)
    assert warning.startswith("PROXY_RESOLVES gives up the guard")
    assert wrong.returncode == 3
    assert warnings(wrong)[-1].startswith(f"no proxy serves: {proxy.address} asks for a user and a password")
    assert rows(tmp_path / "wrong", "SELECT DISTINCT state, tries FROM url") == [("pending", 0)]


def test_names_that_the_proxy_alone_can_resolve_are_told_so(server: OddServer, tmp_path: Path) -> None:
    with ProxyServer("http") as proxy:
        seeds = [f"http://{host}.invalid/" for host in HOSTS]
        done = crawl(server, tmp_path, f"PROXY={proxy.url}", "NETWORK_PATIENCE=0.5", seeds=seeds)
        assert proxy.connections == 0
    assert done.returncode == 3
    assert "PROXY_RESOLVES=True has the proxy resolve names" in warnings(done)[0]


def files(folder: Path) -> bytes:
    """All bytes that a crawl has left."""
    found = b""
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += gzip.decompress(data) if path.suffix == ".gz" else data
    return found


def test_password_stands_nowhere(server: OddServer, tmp_path: Path) -> None:
    archive = f"STORE_WARC={tmp_path}/archive"
    with ProxyServer("http", login=True) as proxy:
        done = crawl(server, tmp_path, f"PROXY={proxy.url}", archive, "LOG_LEVEL=DEBUG", "STORE_HTML=all")
        assert done.returncode == 0
        (tmp_path / "again").mkdir()
        quick = ("NETWORK_PATIENCE=0.5", "LOG_LEVEL=DEBUG", "LOG_JSON=True")
        wrong = crawl(server, tmp_path / "again", f"PROXY={proxy.url.replace('open', 'shut')}", *quick)
    assert wrong.returncode == 3
    said = "no proxy serves: .* asks for another user and password"
    assert rows(tmp_path / "again", "SELECT count(*) FROM url WHERE state <> 'pending' OR tries > 0") == [(0,)]
    database = f"DATABASE_URL={tmp_path}/news.db"
    given = ("-s", database, "-s", f"PROXY={proxy.url}")
    shown = [command(*arguments, *given) for arguments in (("status",), ("why", f"http://a.localhost:{server.port}/"))]
    shown += [command("config", "--format", "jsonl", *given), command("config", "-s", f"PROXY={proxy.url}:x")]
    assert [one.returncode for one in shown] == [0, 0, 0, 2]
    assert proxy.address in shown[2].stdout
    everything = files(tmp_path) + "".join(one.stdout + one.stderr for one in shown).encode()
    for spelled in (*SPELLINGS, SPELLINGS[1].replace("open", "shut")):
        assert spelled.encode() not in everything
    assert said.partition(": ")[0].encode() in everything


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        (f"http://{WRITTEN}@:3128", "a proxy has no name"),
        ("proxy.example", "a proxy has no port"),
        (f"https://{WRITTEN}@proxy.example:1", "http:// serves https pages as well"),
    ],
)
def test_proxy_that_is_none_is_one_sentence_and_nothing_starts(
    server: OddServer, tmp_path: Path, proxy: str, reason: str
) -> None:
    done = crawl(server, tmp_path, f"PROXY={proxy}")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("scrapy crawl: PROXY: ")
    assert reason in done.stderr
    assert not any(spelled in done.stderr for spelled in SPELLINGS)
    assert not (tmp_path / "news.db").exists()


def test_seed_whose_proxy_is_dead_waits_while_others_are_crawled(server: OddServer, tmp_path: Path) -> None:
    with ProxyServer("http") as dead:
        dead.stop()
        seeds = [f"http://{host}.localhost:{server.port}/ {f'proxy={dead.address}' * (host == 'a')}" for host in HOSTS]
        done = crawl(server, tmp_path, "NETWORK_PATIENCE=0.5", seeds=seeds, before=SOON)
    assert done.returncode == 3
    first, *_, last = warnings(done)
    assert first.startswith(f"the proxy {dead.address} cannot be connected to")
    assert last.startswith(
        f"no proxy serves: {dead.address} cannot be connected to (connection refused); the network was"
    )
    found = rows(tmp_path, "SELECT h.name, u.state, count(*) FROM url u JOIN host h ON h.id = host_id GROUP BY 1, 2")
    states = {(name.partition(".")[0], state) for name, state, _ in found}
    assert {state for name, state in states if name == "a"} == {"pending"}
    assert ("b", "pending") not in states
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(2 * PAGES,)]


def test_commands_that_fetch_go_through_proxies(server: OddServer, tmp_path: Path) -> None:
    url = f"http://a.localhost:{server.port}"
    with ProxyServer("socks5", login=True) as proxy, ProxyServer("http") as other:
        given = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "-s", f"PROXY={proxy.url}")
        page = scrapy(tmp_path, "extract", f"{url}/news/1.html", *given)
        assert "a港第1号码头" in page.stdout
        assert len(proxy.asked) == 1
        checked = scrapy(tmp_path, "check-seeds", f"{url}/", "-s", "HOST_DELAY=0", *given)
        assert checked.returncode == 0, checked.stdout
        assert len(proxy.asked) == 2, "one connection, kept"
        before = f"import os; os.environ['http_proxy'] = {other.url!r}"
        own = scrapy(
            tmp_path, "fetch", "--nolog", f"{url}/news/2.html", before=before
        )  # Scrapy's own, without settings
        assert "a港第2号码头" in own.stdout
        assert other.asked == [f"{url}/news/2.html"]


def test_check_of_seeds_tells_a_dead_proxy_of_one_from_that_of_all(server: OddServer, tmp_path: Path) -> None:
    with ProxyServer("http") as dead:
        dead.stop()
        seeds = tmp_path / "seeds.txt"
        urls = [f"http://{host}.localhost:{server.port}/" for host in HOSTS[:2]]
        seeds.write_text(f"{urls[0]} proxy={dead.address}\n{urls[1]}\n", "utf-8")
        given = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "-s", "HOST_DELAY=0")
        one = scrapy(tmp_path, "check-seeds", str(seeds), "--format", "jsonl", *given)
        assert one.returncode == 1
        assert f"no proxy serves: {dead.address} cannot be connected to (connection refused)" in one.stdout
        assert one.stdout.count('"is_bad": true') == 1
        all_of_them = scrapy(tmp_path, "check-seeds", str(seeds), *given, "-s", f"PROXY={dead.address}")
        assert all_of_them.returncode == 2
        last = all_of_them.stderr.splitlines()[-1]
        assert last.startswith(f"scrapy check-seeds: no proxy serves: {dead.address} cannot be connected to")
