"""Articles of several pages in a whole crawl: real command, real HTTP, real database."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import Finished, crawl, crawl_arguments, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer, article

TITLE = "长江大桥昨日通车"
TEXTS = [
    [
        f"第{page}页第{n}段：工程第{page * 9 + n}个阶段由{n * 19 + page}人施工，历时{n + page * 3}个月后完成。"
        for n in range(1, 5)
    ]
    for page in range(1, 4)
]
WHOLE = "\n".join(line for page in TEXTS for line in page)
PATHS = ["/a/5.html", "/a/5_2.html", "/a/5_3.html"]


def part(n: int, of: int = 3) -> Answer:
    """Page `n` of an article, with a pager as sites have it."""
    title = TITLE + (f"({n})" if n > 1 else "")
    pager = [f'<a href="{PATHS[i]}">{i + 1}</a>' for i in range(of) if i != n - 1]
    if n > 1:
        pager.append(f'<a href="{PATHS[n - 2]}">上一页</a>')
    if n < of:
        pager.append(f'<a href="{PATHS[n]}">下一页</a>')
    body = "".join(f"<p>{line}</p>" for line in TEXTS[n - 1]) + f"<div class=page>{''.join(pager)}</div>"
    stamp = "<p>2024-03-01 08:30 来源：新华社</p>"
    return 200, {}, f"<title>{title}</title><h1>{title}</h1>{stamp}<div class=text>{body}</div>"


def site(*found: str, host: str = "a.localhost") -> dict:
    """A site whose home page links to these paths; /list/ is a channel of two pages."""
    home = "".join(f'<li><a href="{path}">这里是一个新闻标题 {path}</a></li>' for path in found)
    more = '<a href="/list/2.html">下一页</a>'
    listed = "".join(f'<li><a href="/b/{i}.html">第{i}条新闻的标题在这里</a></li>' for i in range(8))
    answers: dict = {(host, "/"): (200, {}, f"<title>首页</title><ul>{home}</ul>")}
    answers |= {(host, path): part(n) for n, path in enumerate(PATHS, 1)}
    answers |= {(host, f"/b/{i}.html"): article(f"第{i}条新闻的标题在这里") for i in range(8)}
    answers |= {(host, p): (200, {}, f"<title>要闻</title><ul>{listed}</ul>{more}") for p in ("/list/", "/list/2.html")}
    return answers


def run(server: OddServer, folder: Path, *settings: str) -> Finished:
    return crawl(cast("Newsroom", server), folder, *settings, seeds=[f"http://a.localhost:{server.port}/"])


@dataclass
class Crawled:
    """One whole crawl, exported, that several tests look at."""

    server: OddServer
    folder: Path
    exported: Path

    @property
    def base(self) -> str:
        return f"http://a.localhost:{self.server.port}"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("multipage")
    with OddServer(site(PATHS[0], "/list/")) as server:
        made = Crawled(server, folder, folder / "articles.jsonl")
        # the delay: so that a page is read before the next ones are fetched
        arguments = crawl_arguments(cast("Newsroom", server), folder, "HOST_DELAY=0.15", seeds=[f"{made.base}/"])
        done = scrapy(folder, *arguments, "-o", str(made.exported))
        assert done.returncode == 0, done.stderr
        yield made


def joined(folder: Path, host: str = "a") -> list[tuple]:
    named = f"url LIKE 'http://{host}.%' AND title LIKE '{TITLE}%'"
    return rows(folder, f"SELECT text FROM v_articles WHERE {named}")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl of hosts that each show the article in another way."""
    folder = tmp_path_factory.mktemp("broken")
    rules = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /a/5_")
    answers = site(PATHS[2], host="last.localhost") | site(PATHS[0], host="gone.localhost")
    answers |= site(PATHS[0], host="closed.localhost") | {("closed.localhost", "/robots.txt"): rules}
    answers["gone.localhost", PATHS[1]] = (404, {}, "gone")
    with OddServer(answers) as server:
        seeds = [f"http://{host}.localhost:{server.port}/" for host in ("last", "gone", "closed")]
        done = crawl(cast("Newsroom", server), folder, "DUPLICATES=keep", seeds=seeds)
        assert done.returncode == 0, done.stderr
        yield Crawled(server, folder, folder)


def test_pages_are_joined_and_fetched_once(crawled: Crawled) -> None:
    assert joined(crawled.folder) == [(WHOLE,)]
    asked = crawled.server.paths()
    assert {n for path, n in Counter(asked).items() if path.startswith("a/a/")} == {1}
    order = [path for path in asked if path.startswith("a/")]
    assert order.index("a/a/5_3.html") <= order.index("a/a/5.html") + 6, "parts come before the rest of their host"
    assert rows(crawled.folder, "SELECT count(*) FROM v_articles") == [(9,)]
    assert rows(crawled.folder, "SELECT reason FROM v_dropped WHERE url LIKE '%/list/2.html'") == [("list page",)]
    database = f"DATABASE_URL=sqlite:///{crawled.folder}/news.db"
    why = scrapy(crawled.folder, "why", crawled.base + PATHS[1], "-s", database)
    assert f"2 of {crawled.base}/a/5.html" in why.stdout
    assert "part of an article" in why.stdout


def test_part_found_first_brings_the_others(broken: Crawled) -> None:
    assert joined(broken.folder, "last") == [(WHOLE,)]
    assert {n for path, n in Counter(broken.server.paths()).items() if path.startswith("last/a/")} == {1}


def test_whole_article_is_exported(crawled: Crawled) -> None:
    items = {item["url"]: item for item in map(json.loads, crawled.exported.read_text("utf-8").splitlines())}
    assert len(items) == 9
    assert items[f"{crawled.base}/a/5.html"]["text"] == WHOLE


def test_limits_end_an_article_early_and_a_later_crawl_completes_it(tmp_path: Path) -> None:
    """The number of pages does; the depth, here that of the first part, does not."""
    with OddServer(site(PATHS[0])) as server:
        assert run(server, tmp_path, "MAX_PAGES=3").returncode == 0
        assert joined(tmp_path) == [("\n".join(TEXTS[0] + TEXTS[1]),)]
        assert run(server, tmp_path, "MAX_DEPTH=1").returncode == 0
    assert joined(tmp_path) == [(WHOLE,)]
    assert rows(tmp_path, "SELECT count(*) FROM article_version") == [(1,)]


def test_killed_between_two_parts(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def second() -> Answer:
        asked.set()
        go_on.wait(300)
        return part(2)

    with OddServer({**site(PATHS[0]), ("a.localhost", PATHS[1]): second}) as server:
        seeds = [f"http://a.localhost:{server.port}/"]
        first = start(tmp_path, *crawl_arguments(cast("Newsroom", server), tmp_path, seeds=seeds))
        assert asked.wait(300)
        first.process.kill()
        first.process.join()
        go_on.set()
        assert joined(tmp_path) == []
        assert rows(tmp_path, "SELECT count(*) FROM part") == [(1,)]
        assert run(server, tmp_path).returncode == 0
    assert joined(tmp_path) == [(WHOLE,)]
    counts = Counter(server.paths())
    assert (counts["a/a/5.html"], counts["a/a/5_2.html"], counts["a/a/5_3.html"]) == (1, 2, 1)


def test_part_that_is_gone_costs_only_itself(broken: Crawled) -> None:
    assert joined(broken.folder, "gone") == [("\n".join(TEXTS[0] + TEXTS[2]),)]


def test_part_that_robots_txt_forbids_is_not_waited_for(broken: Crawled) -> None:
    assert joined(broken.folder, "closed") == [("\n".join(TEXTS[0]),)]
    assert not any(path.startswith("closed/a/5_") for path in broken.server.paths())
