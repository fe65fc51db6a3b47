"""Item pipelines and exporters of others beside the crawl: the real command, with a module from outside the project."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from xml.etree import ElementTree

import pytest

from crawler.demo.server import Newsroom
from db.records.article import BESIDE_THE_VIEW, COLUMNS, JOINED_BY, LISTS
from tests.crawler.crawling import Finished, crawl_arguments, rows, scrapy
from tests.crawler.odd_server import OddServer, article
from tests.crawler.test_multipage import PATHS, WHOLE, site

MODULE = '''
import asyncio
import json

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem, NotConfigured
from twisted.internet import reactor
from twisted.internet.defer import Deferred


class Early:
    """At a low number; with the spider as argument, as Scrapy had it for long."""

    def open_spider(self, spider):
        self.file = open("early.txt", "a")
        assert spider.name == "news"

    def process_item(self, item, spider):
        self.file.write(item.url + "\\n")
        return item

    def close_spider(self, spider):
        self.file.close()


class Judge:
    """Does to some articles what a pipeline can do."""

    def process_item(self, item):
        if item.url.endswith("/b/1.html"):
            raise DropItem("not wanted")
        if item.url.endswith("/b/2.html"):
            raise ZeroDivisionError("by a pipeline")
        if item.url.endswith("/b/4.html"):
            item.title = "another title"
        return item


class Slow:
    """Asynchronous; counts how many articles it has at a time."""

    under_way = most = 0

    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.crawler = crawler
        return made

    async def process_item(self, item):
        Slow.under_way += 1
        Slow.most = max(Slow.most, Slow.under_way)
        await asyncio.sleep(0.3)
        Slow.under_way -= 1
        return item

    def close_spider(self):
        with open("most.txt", "w") as file:
            file.write(f"{self.crawler.spider.name} {Slow.most}")


class Late:
    """At a high number; answers by a Deferred."""

    def process_item(self, item):
        later = Deferred()
        with open("late.txt", "a") as file:
            file.write(json.dumps(ItemAdapter(item).asdict()) + "\\n")
        reactor.callLater(0.01, later.callback, item if not item.url.endswith("/b/3.html") else None)
        return later


class Absent:
    def __init__(self):
        raise NotConfigured("it is not wanted here")
'''
PLACES = {"theirs.Early": 50, "theirs.Judge": 500, "theirs.Slow": 700, "theirs.Absent": 800, "theirs.Late": 950}
FORMATS = ("jsonl", "json", "csv", "xml")


@dataclass
class Crawled:
    server: OddServer
    folder: Path
    output: str

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text("utf-8").splitlines()

    def path(self, url: str) -> str:
        return url.removeprefix(f"http://a.localhost:{self.server.port}")


def command(folder: Path, server: OddServer, module: str, *more: str) -> Finished:
    """Crawl, with a module to import from the folder; whatever that writes goes there, too."""
    (folder / "theirs.py").write_text(module.replace('open("', f'open("{folder}/'), encoding="utf-8")
    settings = ("WORKERS=1", "SOFT_404_PROBE=False", "CONCURRENT_REQUESTS=3", "HOST_CONNECTIONS=3")
    seeds = [f"http://a.localhost:{server.port}/"]
    arguments = crawl_arguments(cast("Newsroom", server), folder, *settings, seeds=seeds)
    return scrapy(folder, *arguments, *more, before=f"import sys; sys.path.insert(0, {str(folder)!r})")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl with pipelines of all kinds, which writes files of all kinds."""
    folder = tmp_path_factory.mktemp("pipelines")
    with OddServer(site(PATHS[0], "/list/")) as server:
        feeds = [x for form in FORMATS for x in ("-o", f"{folder}/articles.{form}")]
        done = command(folder, server, MODULE, "-s", f"ITEM_PIPELINES={json.dumps(PLACES)}", *feeds)
        assert done.returncode == 0, done.stderr
        yield Crawled(server, folder, done.stderr)


def test_pipelines_get_each_article_once_whatever_their_place(crawled: Crawled) -> None:
    stored = {url for (url,) in rows(crawled.folder, "SELECT url FROM v_articles")}
    assert len(stored) == 9
    early = Counter(crawled.lines("early.txt"))
    assert set(early) == stored, "and no list page, and no part"
    assert max(early.values()) == 1
    late = [crawled.path(json.loads(line)["url"]) for line in crawled.lines("late.txt")]
    assert sorted(late) == sorted([PATHS[0], *(f"/b/{n}.html" for n in (0, 3, 4, 5, 6, 7))])


def test_summary_counts_what_pipelines_dropped_and_failed_on(crawled: Crawled) -> None:
    said = " ".join(re.sub("[│─]", " ", crawled.output).split())
    assert "articles that an item pipeline dropped 1 " in said
    assert "articles that an item pipeline failed on 2 " in said


def test_items_are_rows_of_the_view(crawled: Crawled) -> None:
    names = ", ".join(COLUMNS)
    stored = {row[COLUMNS.index("url")]: row for row in rows(crawled.folder, f"SELECT {names} FROM v_articles")}
    for line in crawled.lines("late.txt"):
        item = json.loads(line)
        assert tuple(item) == (*COLUMNS, *BESIDE_THE_VIEW)
        if not item["url"].endswith("/b/4.html"):
            joined = {name: JOINED_BY.join(item[name]) for name in LISTS}
            joined["related"] = "\n".join(f"{one['url']} {one['title']}" for one in item["related"])
            values = {**item, **joined}
            found = dict(zip(names.split(", "), stored[item["url"]], strict=True))
            moving = {"duplicate_of", "similarity", "duplicate_kind", "duplicate_method", "similar_to"}
            assert {k: v for k, v in found.items() if k not in moving} == {
                k: values[k] for k in found if k not in moving
            }
            assert item["html"]
            assert item["fetched_at"] <= item["updated"]


def test_article_of_several_pages_is_one_item(crawled: Crawled) -> None:
    (item,) = [one for line in crawled.lines("late.txt") if (one := json.loads(line))["url"].endswith(PATHS[0])]
    assert item["text"] == WHOLE
    assert item["source"] == "新华社"
    exported = [json.loads(line) for line in crawled.lines("articles.jsonl")]
    assert [one["text"] for one in exported if one["url"] == item["url"]] == [WHOLE]


def test_dropped_or_failed_item_stays_in_the_database_and_is_told(crawled: Crawled) -> None:
    exported = {crawled.path(json.loads(line)["url"]) for line in crawled.lines("articles.jsonl")}
    assert exported.isdisjoint(f"/b/{n}.html" for n in (1, 2, 3))
    states = dict(rows(crawled.folder, "SELECT url, state FROM url WHERE url LIKE '%/b/%'"))
    assert set(states.values()) == {"done"}
    assert "Dropped: not wanted" in crawled.output
    assert crawled.output.count("ZeroDivisionError: by a pipeline") == 1
    assert crawled.output.count("TypeError: an item pipeline returned None; it has to return the item") == 1
    assert all(f"/b/{n}.html" in crawled.output for n in (1, 2, 3))
    assert "<html" not in crawled.output, "no page is shown with its bytes"
    assert "Disabled theirs.Absent: it is not wanted here" in crawled.output


def test_change_of_an_item_reaches_files_and_leaves_the_database(crawled: Crawled) -> None:
    titles = {crawled.path(one["url"]): one["title"] for one in map(json.loads, crawled.lines("articles.jsonl"))}
    assert titles["/b/4.html"] == "another title"
    stored = rows(crawled.folder, "SELECT title FROM v_articles WHERE url LIKE '%/b/4.html'")
    assert stored == [("第4条新闻的标题在这里",)]


def test_slow_pipeline_holds_up_fetching(crawled: Crawled) -> None:
    spider, most = crawled.lines("most.txt")[0].split()
    assert spider == "news"
    assert 1 <= int(most) <= 6, "CONCURRENT_REQUESTS bounds pages under way, and articles behind them"


def test_files_of_all_formats_say_the_same(crawled: Crawled) -> None:
    lines = {one["url"]: one for one in map(json.loads, crawled.lines("articles.jsonl"))}
    assert {one["url"]: one for one in json.loads((crawled.folder / "articles.json").read_text("utf-8"))} == lines
    with (crawled.folder / "articles.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == [*COLUMNS, "images"]
    for name in ("id", "text", "title"):
        assert {row["url"]: row[name] for row in table} == {url: one[name] for url, one in lines.items()}
    tree = ElementTree.parse(crawled.folder / "articles.xml")
    assert {item.findtext("url"): item.findtext("title") for item in tree.iter("item")} == {
        url: one["title"] for url, one in lines.items()
    }


def test_wrong_component_is_named_before_anything_starts(tmp_path: Path) -> None:
    with OddServer({("a.localhost", "/"): article("首页")}) as server:
        done = command(tmp_path, server, MODULE, "-s", 'ITEM_PIPELINES={"theirs.Nobody": 300}')
    assert done.returncode == 2
    assert "ITEM_PIPELINES names 'theirs.Nobody', which cannot be imported" in done.stderr
    assert done.stderr.startswith("scrapy crawl: ")
    assert len(done.stderr.splitlines()) == 1
    assert server.asked == []
