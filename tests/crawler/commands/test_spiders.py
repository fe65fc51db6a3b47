"""Spiders of the user beside the news spider: Scrapy's own commands, spiders of any kind, subclasses, components."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import Finished, crawl_arguments, rows, scrapy

OWN = "tests.crawler.own_spiders"
MODULES = ("-s", f"SPIDER_MODULES=crawler.spiders,{OWN}")
PAGES = {
    "/": "<title>home</title>" + "".join(f'<a href="/{one}">x</a>' for one in ("a", "moved", "secret", "busy", "lost")),
    "/a": '<title>a</title><a href="/b">b</a>',
    "/b": '<title>b</title><a href="/c">c</a>',
    "/c": "<title>c</title>",
    "/busy": "<title>no longer busy</title>",
    "/lost": "<title>found</title>",
    "/robots.txt": "User-agent: *\nDisallow: /secret",
}


class _Site(ThreadingHTTPServer):
    """Sets a cookie, moves a page, is busy or silent at first, has a robots.txt; `asked` tells what was requested."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    server: _Site

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/lost" and self.server.asked.count("/lost") < 3:
            return
        busy = self.path == "/busy" and self.server.asked.count("/busy") < 3
        page = PAGES.get(self.path, "").encode()
        self.send_response(503 if busy else 302 if self.path == "/moved" else 200)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Set-Cookie", "seen=1")
        if self.path == "/moved":
            self.send_header("Location", "/a")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[_Site]:
    with _Site() as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom(port=0) as server:
        yield server


def items(done: Finished) -> list[dict]:
    return sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda item: item["url"])


@pytest.mark.parametrize("name", ["plain", "guarded"])
def test_ordinary_spider_has_scrapys_scheduler_retries_redirects_cookies_and_robots(
    tmp_path: Path, site: _Site, name: str
) -> None:
    allowed = () if name == "plain" else ("-s", "ALLOW_NETWORKS=127.0.0.1")
    database = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    done = scrapy(tmp_path, "crawl", name, "-a", f"url={site.url()}", "-o", "-:jsonl", *MODULES, *allowed, *database)
    assert done.returncode == 0, done.stderr
    assert items(done) == [
        {"title": "HOME", "url": site.url(), "cookie": ""},
        {"title": "A", "url": site.url("/a"), "cookie": "seen=1"},
        {"title": "B", "url": site.url("/b"), "cookie": "seen=1"},
        {"title": "NO LONGER BUSY", "url": site.url("/busy"), "cookie": "seen=1"},
        {"title": "FOUND", "url": site.url("/lost"), "cookie": "seen=1"},
    ]
    assert "/secret" not in site.asked, "robots.txt"
    assert "/c" not in site.asked, "DEPTH_LIMIT"
    assert site.asked.count("/busy") == 3
    assert "Dumping Scrapy stats" in done.stderr
    assert not (tmp_path / "news.db").exists()


def test_guarded_spider_is_kept_from_private_addresses(tmp_path: Path, site: _Site) -> None:
    done = scrapy(tmp_path, "crawl", "guarded", "-a", f"url={site.url()}", "-o", "-:jsonl", *MODULES)
    assert (items(done), site.asked) == ([], [])
    assert "ALLOW_NETWORKS can open it" in done.stderr


def test_spider_in_a_file_runs(tmp_path: Path, site: _Site) -> None:
    (tmp_path / "one_file.py").write_text(
        "import scrapy\nfrom twisted.internet import reactor  # which is Scrapy's already\n\n\n"
        "class One(scrapy.Spider):\n    name = 'one'\n"
        f"    start_urls = ['{site.url('/moved')}']\n\n"
        "    def parse(self, response):\n        yield {'url': response.url}\n"
    )
    done = scrapy(tmp_path, "runspider", str(tmp_path / "one_file.py"), "-o", "-:jsonl")
    assert items(done) == [{"url": site.url("/a")}]


def test_news_spider_in_a_file_is_checked_and_crawls_as_one_of_the_project(tmp_path: Path) -> None:
    file, database = tmp_path / "morning.py", tmp_path / "news.db"
    file.write_text(
        "from crawler.spiders.news import NewsSpider\n\n\nclass Morning(NewsSpider):\n    name = 'morning'\n"
        f"    custom_settings = {{'DATABASE_URL': {f'{tmp_path}/news.db'!r}, 'MAX_PAGES': 5, 'HOST_DELAY': 0}}\n"
    )
    for wrong, said in {
        (str(file),): "no seeds given",
        (str(file), "-a", "seeds=demo", "-s", "MAX_PAGE=5"): "did you mean MAX_PAGES?",
        ("evening.py",): "there is no file evening.py",
        (): "name the file",
    }.items():
        done = scrapy(tmp_path, "runspider", *wrong)
        assert (done.returncode, said in done.stderr, len(done.stderr.splitlines())) == (2, True, 1), done.stderr
    assert not database.exists()
    stopped = scrapy(tmp_path, "runspider", str(file), "-a", "seeds=demo", "-s", "CLOSESPIDER_PAGECOUNT=1")
    assert stopped.returncode == 3, stopped.stderr
    done = scrapy(tmp_path, "runspider", str(file), "-a", "seeds=demo")
    assert done.returncode == 0, done.stderr
    assert "Finished" in done.stderr


@pytest.mark.slow
def test_folder_with_settings_that_begin_with_ours_is_a_project(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mysettings\n")
    (tmp_path / "mysettings.py").write_text(
        "from crawler.settings import *\nSPIDER_MODULES = ['crawler.spiders', 'myspiders']\nMAX_PAGES = 7\n"
    )
    (tmp_path / "myspiders.py").write_text("import scrapy\n\n\nclass One(scrapy.Spider):\n    name = 'one'\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    printed = [
        subprocess.check_output(
            [sys.executable, "-m", "scrapy", *line], cwd=tmp_path, env=environment, encoding="utf-8"
        ).split()
        for line in (("list",), ("settings", "--get", "MAX_PAGES"))
    ]
    assert printed == [["news", "one"], ["7"]]


@pytest.mark.parametrize("command", ["parse", "fetch"])
def test_news_spider_of_one_page_is_sent_to_extract(tmp_path: Path, command: str) -> None:
    done = scrapy(tmp_path, command, "--spider=news", "http://127.0.0.1/")
    assert "one page alone is read by 'scrapy extract URL'" in done.stderr


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (("fetch", "--nolog"), "<title>a</title>"),
        (("shell", "--nolog", "-c", "(response.status, response.url[-2:])"), "(200, '/a')"),
        (("parse", "--nolog", "--spider=plain", "--noitems", *MODULES), "/b"),
        (("fetch", "--nolog", "--headers"), "< Set-Cookie: seen=1"),
    ],
    ids=["fetch", "shell", "parse", "headers"],
)
def test_commands_of_scrapy_fetch_a_page(tmp_path: Path, site: _Site, command: tuple[str, ...], printed: str) -> None:
    done = scrapy(tmp_path, *command, site.url("/moved"))
    assert printed in done.stdout, done.stderr
    assert site.asked[-2:] == ["/moved", "/a"]


def test_spiders_are_listed_checked_and_generated(tmp_path: Path) -> None:
    listed = scrapy(tmp_path, "list", *MODULES).stdout.split()
    assert {"news", "plain", "mynews"} <= set(listed)
    assert scrapy(tmp_path, "check", *MODULES).returncode == 0
    made = scrapy(tmp_path, "genspider", "-d", "basic")
    assert "class $classname(scrapy.Spider)" in made.stdout


def test_bench_runs(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "bench", "-s", "CLOSESPIDER_TIMEOUT=1")
    assert done.returncode == 0
    assert "closespider_timeout" in done.stderr


def test_unknown_spider_is_one_sentence(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "nwes")
    assert done.returncode == 2
    assert "there is no spider 'nwes'; there is news" in done.stderr


@pytest.mark.parametrize(
    ("spider", "arguments", "said"),
    [
        ("mynews", ("-a", "seed=x"), "there is no argument -a seed=..."),
        ("mynews", ("-s", "MAX_PAGE=5"), "did you mean MAX_PAGES?"),
        ("mynews", ("-s", "DEPTH_LIMIT=5"), "MAX_DEPTH limits"),
        ("mynews", (), "no seeds given"),
        ("limited", ("-a", "seeds=demo"), "DEPTH_LIMIT has no effect on this crawl: MAX_DEPTH limits"),
    ],
)
def test_subclass_of_the_news_spider_is_checked(
    tmp_path: Path, spider: str, arguments: tuple[str, ...], said: str
) -> None:
    database = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    done = scrapy(tmp_path, "crawl", spider, *arguments, *MODULES, *database)
    assert (done.returncode, said in done.stderr, len(done.stderr.splitlines())) == (2, True, 1), done.stderr


def test_subclass_crawls_with_its_settings_and_the_users_components_run(tmp_path: Path, newsroom: Newsroom) -> None:
    own = {
        "EXTENSIONS": "CountingExtension",
        "DOWNLOADER_MIDDLEWARES": "CountingDownloads",
        "SPIDER_MIDDLEWARES": "CountingPages",
    }
    components = [f'{name}={{"{OWN}.{made}": 500}}' for name, made in own.items()]
    seeds = [f"http://herald.localhost:{newsroom.port}/"]
    arguments = crawl_arguments(newsroom, tmp_path, *components, "MYPLUGIN_X=1", "WORKERS=1", seeds=seeds)
    done = scrapy(tmp_path, "crawl", "mynews", "-a", "region=eu", *MODULES, *arguments[2:])
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT max(depth) FROM url WHERE state = 'done'") == [(1,)]
    seen = dict(re.findall(r"(Counting\w+) saw (\{.*\})", done.stderr))
    counted = {name: json.loads(text.replace("'", '"')) for name, text in seen.items()}
    articles = rows(tmp_path, "SELECT count(*) FROM article")[0][0]
    assert counted["CountingExtension"]["items"] == articles > 5
    assert counted["CountingDownloads"]["requests"] == counted["CountingDownloads"]["responses"] > articles
    assert counted["CountingPages"]["pages"] == counted["CountingDownloads"]["responses"]


@pytest.mark.parametrize("limit", ["CLOSESPIDER_ITEMCOUNT=3", "CLOSESPIDER_PAGECOUNT=5"])
def test_limits_of_scrapys_close_spider_stop_a_crawl_that_goes_on_later(
    tmp_path: Path, newsroom: Newsroom, limit: str
) -> None:
    done = scrapy(tmp_path, *crawl_arguments(newsroom, tmp_path, limit, "WORKERS=1"))
    assert done.returncode == 3, done.stderr
    stored = rows(tmp_path, "SELECT count(*) FROM article")[0][0]
    assert stored < 100
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]
