"""Articles that are described after they are stored (`DESCRIBE=later`): the real command, a server on loopback."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import text

from crawler.demo.content import InventedArticle, load_articles
from crawler.demo.server import Newsroom
from db.engine.database import open_for_crawl
from tests.crawler.crawling import DESCRIBED, Finished, command, crawl_arguments, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.test_multipage import PATHS, part
from tests.postgres import empty_database
from tests.waiting import wait_for

HOST = "a.localhost"
LATER = (*DESCRIBED, "DESCRIBE=later")
HIJACKED = "澳门威尼斯人官网开户送彩金，百家乐老虎机真人娱乐城"
HELD = """
import asyncio
from crawler.frontier import undescribed

class Held(undescribed.ArticleDescriber):
    begun = 0

    async def __call__(self, article):
        Held.begun += 1
        if Held.begun > 4:
            await asyncio.sleep(3600)
        return await super().__call__(article)

undescribed.ArticleDescriber, undescribed._AT_ONCE = Held, 1
"""
"""Run before a crawl: it describes four articles, and then none."""
SAID = "keywords, summary, classes, harm, harm_kind, described_with"


def page(one: InventedArticle, title: str = "") -> Answer:
    """An article of the newsroom on a plain page; the document may have another title."""
    body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in one.paragraphs)
    head = f"<title>{escape(title or one.title)}</title>"
    return 200, {}, f"<html><head>{head}</head><body><h1>{escape(one.title)}</h1>{body}</body></html>"


@pytest.fixture(scope="module")
def server() -> Iterator[OddServer]:
    """Fourteen stories, one with a hijacked title, and one of three pages."""
    originals = {site: [one for one in load_articles()[site] if not one.reprint_of] for site in ("kuaixun", "herald")}
    stories = [one for site in originals.values() for one in site[:7]]
    links = [f"/n/{n}.html" for n in range(len(stories))]
    items = "".join(f'<li><a href="{link}">新闻标题在这里 {link}</a></li>' for link in [*links, PATHS[0]])
    answers = {(HOST, link): page(one) for link, one in zip(links, stories, strict=True)}
    answers |= {(HOST, path): part(n) for n, path in enumerate(PATHS, 1)}
    answers[HOST, links[0]] = page(stories[0], HIJACKED)
    answers[HOST, "/"] = 200, {}, f"<html><head><title>首页</title></head><body><ul>{items}</ul></body></html>"
    with OddServer(answers) as serving:
        yield serving


def arguments(server: OddServer, folder: Path, *settings: str) -> list[str]:
    seeds = [f"http://{HOST}:{server.port}/"]
    return crawl_arguments(cast("Newsroom", server), folder, "WORKERS=2", *settings, seeds=seeds)


def crawl(server: OddServer, folder: Path, *settings: str) -> Finished:
    done = scrapy(folder, *arguments(server, folder, *settings))
    assert done.returncode == 0, done.stderr
    return done


def stored(folder: Path) -> dict[str, list[Any]]:
    """All that is stored of articles, but when and in which order that was done."""
    names = [name for _, name, *_ in rows(folder, "PRAGMA table_info(article)")]
    names = [name for name in names if name not in {"number", "first_seen", "updated"}]
    columns = ", ".join(names)
    return {
        "columns": names,
        "articles": rows(folder, f"SELECT {columns} FROM article ORDER BY id"),
        "classes": rows(folder, "SELECT article_id, name, membership FROM article_class ORDER BY 1, 2"),
        "index": rows(folder, "SELECT article_id, classes, terms FROM search_document WHERE terms != '' ORDER BY 1"),
        "reasons": rows(folder, "SELECT url, reason, reason_detail FROM url ORDER BY 1"),
    }


def undescribed(folder: Path) -> int:
    return rows(folder, "SELECT count(*) FROM article WHERE described_with = ''")[0][0]


@pytest.fixture(scope="module")
def described_now(server: OddServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("now")
    crawl(server, folder, *DESCRIBED)
    expected = stored(folder)
    assert len(expected["articles"]) == 15
    assert expected["classes"]
    assert undescribed(folder) == 0
    assert rows(folder, "SELECT harm_kind != '' FROM article ORDER BY 1 DESC LIMIT 2") == [(1,), (0,)]
    return expected


def test_articles_are_described_as_at_once(
    server: OddServer, tmp_path: Path, described_now: dict[str, list[Any]]
) -> None:
    crawl(server, tmp_path, *LATER, "STORE_HTML=none")
    assert stored(tmp_path) == described_now


def test_unchanged_articles_keep_their_description(server: OddServer, tmp_path: Path) -> None:
    crawl(server, tmp_path, *LATER)
    before = rows(tmp_path, "SELECT * FROM article ORDER BY id")
    classes = stored(tmp_path)["classes"]
    assert not command("recrawl", "--all", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db").returncode
    asked = len(server.asked)
    done = scrapy(tmp_path, *arguments(server, tmp_path, *LATER), before=HELD)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) > asked + 15
    assert rows(tmp_path, "SELECT * FROM article ORDER BY id") == before
    assert stored(tmp_path)["classes"] == classes


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_next_run_describes_what_is_left(
    server: OddServer, tmp_path: Path, described_now: dict[str, list[Any]], how: str
) -> None:
    running = start(tmp_path, *arguments(server, tmp_path, *LATER), before=HELD)
    total = len(described_now["articles"])
    wait_for(lambda: _count(tmp_path) == (total, total - 4) or not running.process.is_alive())
    if how == "killed":
        running.process.kill()
        running.process.join()
    else:
        wait_for(lambda: rows(tmp_path, "SELECT 1 FROM url WHERE state IN ('pending', 'leased')") == [])
        assert running.send(signal.SIGINT)
        done = running.finish()
        assert done.returncode == 3, done.stderr
        assert f"Stopped with 0 URLs left and {total - 4} articles to describe; the same command goes on" in done.stderr
        assert "could not be described" not in done.stderr
        assert "internal error" not in done.stderr
    assert undescribed(tmp_path) == total - 4
    crawl(server, tmp_path, *LATER)
    assert stored(tmp_path) == described_now


def _count(folder: Path) -> tuple[int, int]:
    if not (folder / "news.db").exists() or not rows(folder, "SELECT 1 FROM sqlite_master WHERE name = 'article'"):
        return 0, 0
    return rows(folder, "SELECT count(*), coalesce(sum(described_with = ''), 0) FROM article")[0]


def test_describe_command_does_what_is_left(
    server: OddServer, tmp_path: Path, described_now: dict[str, list[Any]]
) -> None:
    """With the pages, which the verdict on harm needs."""
    running = start(tmp_path, *arguments(server, tmp_path, *LATER), before=HELD)
    total = len(described_now["articles"])
    wait_for(lambda: _count(tmp_path) == (total, total - 4) or not running.process.is_alive())
    running.process.kill()
    running.process.join()
    done = command("describe", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db", "-s", "WORKERS=1")
    assert done.returncode == 0, done.stderr
    said = rows(tmp_path, f"SELECT id, {SAID} FROM article ORDER BY id")
    assert undescribed(tmp_path) == 0
    crawl(server, tmp_path, *LATER)
    assert rows(tmp_path, f"SELECT id, {SAID} FROM article ORDER BY id") == said


def test_process_that_joins_describes_what_another_has_stored(
    server: OddServer, tmp_path: Path, described_now: dict[str, list[Any]], postgres_server: str
) -> None:
    with empty_database(postgres_server, f"later_{os.getpid()}") as url, closing(open_for_crawl(url)) as database:

        def said() -> list[tuple]:
            sql = text(f"SELECT id, {SAID} FROM article ORDER BY id")
            return [tuple(row) for row in database.read(lambda connection: connection.execute(sql).all())]

        running = start(tmp_path, *arguments(server, tmp_path, *LATER, f"DATABASE_URL={url}"), before=HELD)
        wait_for(lambda: [bool(row[-1]) for row in said()].count(True) == 4 or not running.process.is_alive())
        crawl(server, tmp_path, *LATER, f"DATABASE_URL={url}")
        running.process.kill()
        running.process.join()
        places = [described_now["columns"].index(name) for name in ("id", *SAID.split(", "))]
        assert said() == [tuple(row[place] for place in places) for row in described_now["articles"]]


def test_crawl_that_watches_describes_while_nothing_waits(
    server: OddServer, tmp_path: Path, described_now: dict[str, list[Any]]
) -> None:
    running = start(tmp_path, *arguments(server, tmp_path, *LATER), "-a", "mode=watch")
    total = len(described_now["articles"])
    wait_for(lambda: _count(tmp_path) == (total, 0) or not running.process.is_alive())
    wait_for(lambda: rows(tmp_path, "SELECT 1 FROM url WHERE state IN ('pending', 'leased')") == [])
    assert running.send(signal.SIGINT)
    done = running.finish()
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path) == described_now


def test_topic_of_classes_is_followed(server: OddServer, tmp_path: Path) -> None:
    folders = [tmp_path / when for when in ("now", "later")]
    for folder in folders:
        folder.mkdir()
        topic = ("TOPIC=class:politics,sport", "FOCUS_BELOW=store", "FOCUS_MIN=0.3")
        crawl(server, folder, *DESCRIBED, f"DESCRIBE={folder.name}", *topic)
    now, later = map(stored, folders)
    assert rows(folders[0], "SELECT count(DISTINCT relevance) > 1 FROM article") == [(1,)]
    assert later == now


def test_nothing_is_left_for_later_where_only_harm_is_judged(server: OddServer, tmp_path: Path) -> None:
    crawl(server, tmp_path, "DESCRIBE=later", "HARMFUL=flag")
    assert undescribed(tmp_path) == 0


def test_exports_of_a_crawl_are_refused(server: OddServer, tmp_path: Path) -> None:
    done = scrapy(tmp_path, *arguments(server, tmp_path, *LATER), "-o", str(tmp_path / "articles.csv"))
    assert done.returncode == 2
    assert "run 'scrapy export articles --output articles.csv' after the crawl, or set DESCRIBE=now" in done.stderr
    assert not (tmp_path / "news.db").exists()
