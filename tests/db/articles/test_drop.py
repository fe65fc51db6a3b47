"""Hosts and seeds that are dropped, with and without what is stored of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from db.articles import signatures
from db.articles.drop import drop, find
from db.engine.database import Database
from db.engine.errors import WrongDatabase
from db.frontier import runs
from tests.db.stores import METHOD, SIGN

from .test_clusters import MORE, OTHER, STORY, Crawl


@pytest.fixture
def crawled(run_in: Callable, database: Database) -> Crawl:
    """Three copies of one story, one of them longer, and another story; the run has ended."""
    crawl = Crawl(run_in, database)
    crawl.come("a", 0, STORY, published_utc="2024-05-01T00:00:00Z", source="b.example", images=(("http://i/1", ""),))
    crawl.come("b", 0, STORY, published_utc="2024-05-02T00:00:00Z")
    crawl.come("c", 0, MORE, published_utc="2024-05-03T00:00:00Z")
    crawl.come("a", 1, OTHER)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE run SET finished = 'now', alive_until = 0"))
    return crawl


def dropped(database: Database, name: str, *, articles: bool) -> None:
    what = database.read(lambda connection: find(connection, name, []))
    assert what is not None
    drop(database, what, articles=articles)


def nothing_is_wrong(database: Database) -> bool:
    with database.engine.connect() as connection:
        found = signatures.check(connection, METHOD.form, SIGN)
    return not (found.missing or found.wrong or found.orphans)


def test_articles_stay_and_are_not_visited_again(crawled: Crawl, database: Database) -> None:
    articles = crawled.rows("SELECT url, text, duplicate_of FROM v_articles ORDER BY url")
    what = database.read(lambda connection: find(connection, "a.example", []))
    assert what is not None
    assert (what.is_seed, what.urls, what.articles, what.images) == (False, 12, 2, 1)
    dropped(database, "a.example", articles=False)
    assert crawled.rows("SELECT url, text, duplicate_of FROM v_articles ORDER BY url") == articles
    own = crawled.rows("SELECT url, state, next_visit FROM url WHERE url LIKE 'http://a.%' ORDER BY url")
    assert own == [("http://a.example/0", "done", None), ("http://a.example/1", "done", None)]
    assert crawled.rows("SELECT count(*) FROM seed") == [(0,)]


def test_clusters_get_another_root_and_its_text(crawled: Crawl, database: Database) -> None:
    assert crawled.original() == "a"
    dropped(database, "a.example", articles=True)
    stored = crawled.rows("SELECT url, text FROM v_articles ORDER BY url")
    assert stored == [("http://b.example/0", STORY), ("http://c.example/0", MORE)]
    assert crawled.original() == "b", "the one published first"
    assert crawled.tree() == {"c": "b"}
    assert crawled.rows("SELECT size FROM cluster") == [(2,)]
    assert crawled.rows("SELECT count(*) FROM url WHERE url LIKE 'http://a.%'") == [(0,)]
    assert crawled.rows("SELECT count(*) FROM host WHERE name = 'a.example'") == [(0,)]
    assert crawled.rows("SELECT count(*) FROM image") == [(0,)]
    assert crawled.rows("SELECT b.pages, sum(h.pages) FROM budget b, host h GROUP BY b.pages") == [(36, 36)]
    assert nothing_is_wrong(database)
    dropped(database, "b.example", articles=True)
    dropped(database, "c.example", articles=True)
    for table in ("article", "duplicate", "cluster"):
        assert crawled.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert nothing_is_wrong(database)


def test_copy_leaves_and_the_others_hang_together(crawled: Crawl, database: Database) -> None:
    dropped(database, "b.example", articles=True)
    assert crawled.tree() == {"c": "a"}
    assert crawled.rows("SELECT max(size), count(*) FROM cluster") == [(2, 2)]
    assert nothing_is_wrong(database)


def test_drop_of_a_seed_takes_what_came_of_it(run_in: Callable, crawled: Crawl, database: Database) -> None:
    url = "http://a.example/"
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE url SET seed_id = (SELECT id FROM seed) WHERE url LIKE 'http://c.%'"))
    what = database.read(lambda connection: find(connection, "", [url]))
    assert what is not None
    assert (what.name, what.is_seed, what.urls, what.articles) == (url, True, 12, 1)
    drop(database, what, articles=True)
    assert crawled.rows("SELECT count(*) FROM url WHERE url LIKE 'http://c.%'") == [(0,)]
    assert crawled.rows("SELECT count(*) FROM url WHERE url LIKE 'http://a.%'") == [(12,)]
    assert database.read(lambda connection: find(connection, "", [url])) is None
    assert database.read(lambda connection: find(connection, "x.example", [])) is None


def test_drop_beside_a_crawl_is_refused(run_in: Callable, crawled: Crawl, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("on SQLite the lock of the file does so")
    from tests.db.frontier_rows import start

    run_in(runs.start_run, start())
    with pytest.raises(WrongDatabase, match="is crawling; stop it first"):
        dropped(database, "a.example", articles=True)
    assert crawled.rows("SELECT count(*) FROM url WHERE url LIKE 'http://a.%'") == [(12,)]
