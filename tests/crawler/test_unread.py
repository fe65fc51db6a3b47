"""Pages that this program fails to read: asked for again, said at the end, and not for ever."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from crawler.demo.server import Newsroom
from db.records.visit import MOST_UNREAD
from tests.crawler.crawling import Finished, crawl, crawl_arguments, rows, scrapy
from tests.crawler.odd_server import OddServer, article
from tests.crawler.test_multipage import PATHS, site

BROKEN = """
from pipelines.worker import WorkerPool
run = WorkerPool.run
async def broken(self, job):
    if job.url.endswith(PATH):
        raise ZeroDivisionError
    return await run(self, job)
WorkerPool.run = broken
"""
"""A version with a bug, which fails to read one page."""


def broken(server: OddServer, folder: Path, path: str, *settings: str, seed: str = "") -> Finished:
    """Crawl with that version."""
    seeds = [seed or f"http://a.localhost:{server.port}/"]
    arguments = crawl_arguments(cast("Newsroom", server), folder, *SETTINGS, *settings, seeds=seeds)
    return scrapy(folder, *arguments, before=f"PATH = {path!r}\n{BROKEN}")


SETTINGS = ("WORKERS=1", "SOFT_404_PROBE=False")


def run(server: OddServer, folder: Path, *settings: str, seed: str = "") -> Finished:
    """Crawl with the version that has no bug."""
    seeds = [seed or f"http://a.localhost:{server.port}/"]
    return crawl(cast("Newsroom", server), folder, *SETTINGS, *settings, seeds=seeds)


def one(folder: Path, path: str) -> tuple:
    columns = "state, reason, etag, last_modified, unread"
    return rows(folder, f"SELECT {columns} FROM url WHERE url LIKE '%{path}' AND kind = 'page'")[0]


def newspaper() -> dict:
    modified = {"ETag": '"1"', "Last-Modified": "Tue, 12 Mar 2024 08:30:00 GMT"}
    paths = ["/2024/1.html", "/2024/2.html", "/2024/3.html"]
    answers: dict = {("a.localhost", path): article(f"第{path[6]}条新闻的标题") for path in paths}
    answers["a.localhost", "/"] = article("首页", *paths)
    answers["a.localhost", paths[1]] = (200, modified, answers["a.localhost", paths[1]][2])
    return answers


def test_same_command_asks_again_for_pages_that_could_not_be_read(tmp_path: Path) -> None:
    with OddServer(newspaper()) as server:
        first = broken(server, tmp_path, "/2.html")
        assert first.returncode == 3
        assert "1 pages could not be read: internal error: ZeroDivisionError (1);" in first.stderr
        assert one(tmp_path, "/2.html") == ("failed", "internal error", None, None, 1)
        status = scrapy(tmp_path, "status", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        assert "1 pages could not be read; the same crawl command asks for 1 of them again" in status.stdout
        second = run(server, tmp_path)
        assert second.returncode == 0, second.stderr
        assert server.paths().count("a/2024/2.html") == 2
    assert one(tmp_path, "/2.html") == ("done", None, '"1"', "Tue, 12 Mar 2024 08:30:00 GMT", 0)
    assert rows(tmp_path, "SELECT count(*) FROM v_articles WHERE url LIKE '%/2.html'") == [(1,)]


def test_page_that_can_never_be_read_is_given_up(tmp_path: Path) -> None:
    with OddServer(newspaper()) as server:
        codes = [broken(server, tmp_path, "/2.html").returncode for _ in range(MOST_UNREAD + 1)]
        assert codes == [3] * (MOST_UNREAD - 1) + [0, 0]
        assert server.paths().count("a/2024/2.html") == MOST_UNREAD
        database = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        assert scrapy(tmp_path, "recrawl", "--failed", *database).stdout.startswith("1 URLs will be")
        assert run(server, tmp_path).returncode == 0
    assert one(tmp_path, "/2.html")[0] == "done"


def test_part_of_an_article_that_could_not_be_read_joins_it_later(tmp_path: Path) -> None:
    answers = site(PATHS[0])
    columns = "count(*), sum(text LIKE '%第1页第1段%'), sum(text LIKE '%第2页第1段%')"
    count = f"SELECT {columns} FROM v_articles WHERE url LIKE '%/a/%'"
    with OddServer(answers) as server:
        assert broken(server, tmp_path, PATHS[1]).returncode == 3
        assert rows(tmp_path, count) == [(1, 1, 0)]
        assert run(server, tmp_path).returncode == 0
    assert rows(tmp_path, count) == [(1, 1, 1)]


def test_changed_page_that_could_not_be_read_leaves_what_is_stored(tmp_path: Path) -> None:
    answers = newspaper()
    with OddServer(answers) as server:
        assert run(server, tmp_path).returncode == 0
        changed = article("第1条新闻的标题已经改变")
        answers["a.localhost", "/2024/1.html"] = (200, {"ETag": '"2"'}, changed[2])
        database = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        scrapy(tmp_path, "recrawl", f"http://a.localhost:{server.port}/2024/1.html", *database)
        assert broken(server, tmp_path, "/1.html").returncode == 3
        assert one(tmp_path, "/1.html") == ("done", None, None, None, 1)
        assert rows(tmp_path, "SELECT title FROM v_articles WHERE url LIKE '%/1.html'") == [("第1条新闻的标题",)]
        assert run(server, tmp_path).returncode == 0
    assert one(tmp_path, "/1.html") == ("done", None, '"2"', None, 0)
    assert rows(tmp_path, "SELECT title FROM v_articles WHERE url LIKE '%/1.html'") == [("第1条新闻的标题已经改变",)]


@pytest.mark.parametrize("limit", ["MAX_PAGES=3", "seed"])
def test_pages_that_could_not_be_read_are_asked_for_beyond_a_spent_limit(tmp_path: Path, limit: str) -> None:
    """They were counted when they were answered first, and are counted no more."""
    with OddServer(newspaper()) as server:
        seed = f"http://a.localhost:{server.port}/"
        settings, seed = ((), f"{seed} pages=3") if limit == "seed" else ((limit,), seed)
        for _ in range(2):
            failed = broken(server, tmp_path, ".html", *settings, seed=seed)
            assert failed.returncode == 3
            assert "2 pages could not be read: internal error: ZeroDivisionError (2);" in failed.stderr
        assert run(server, tmp_path, *settings, seed=seed).returncode == 0
    stored = rows(tmp_path, "SELECT count(*) FROM v_articles WHERE url LIKE '%.html'")
    assert stored + rows(tmp_path, "SELECT pages FROM budget") == [(2,), (3,)]
