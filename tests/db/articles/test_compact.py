"""Space that is given back: earlier texts, URLs of dead hosts, free pages; and what stays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from db.articles import compact
from db.articles.compact import Compaction, Removable
from db.engine.database import Database
from db.engine.errors import WrongDatabase
from db.frontier import runs
from db.records.keys import fingerprint
from tests.db.frontier_rows import start

from .test_clusters import OTHER, STORY, Crawl

pytestmark = pytest.mark.dialects

DEAD = fingerprint("a.example")


@pytest.fixture
def crawled(run_in: Callable, database: Database, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    """Two articles with earlier texts; the host of one is dead, and has URLs that never answered."""
    monkeypatch.setattr(compact, "_AT_ONCE", 1)
    crawl = Crawl(run_in, database)
    crawl.come("a", 0, STORY)
    crawl.come("b", 0, OTHER)
    with database.engine.begin() as connection:
        for (key,) in crawl.rows("SELECT id FROM article"):
            for day in range(1, 5):
                values = {"id": key, "seen": f"2024-05-0{day}T00:00:00Z"}
                connection.execute(text("INSERT INTO article_version VALUES (:id, :seen, 't', 'x')"), values)
        connection.execute(text("UPDATE run SET finished = 'now', alive_until = 0"))
        connection.execute(text("UPDATE url SET found_at = 1000, fetched_at = 1000 WHERE fetched_at IS NOT NULL"))
        connection.execute(text("UPDATE url SET found_at = 1000"))
        connection.execute(text("UPDATE url SET state = 'pending', leased_by = NULL WHERE state = 'leased'"))
        connection.execute(text("UPDATE host SET dead_reason = 'host unreachable' WHERE id = :id"), {"id": DEAD})
    return crawl


def versions(crawl: Crawl) -> list[str]:
    return [seen[8:10] for (seen,) in crawl.rows("SELECT DISTINCT seen FROM article_version ORDER BY seen")]


@pytest.mark.parametrize(
    ("what", "gone", "left"),
    [
        (Compaction(), 0, ["01", "02", "03", "04"]),
        (Compaction(versions=2), 4, ["03", "04"]),
        (Compaction(versions=0), 8, []),
        (Compaction(versions=9), 0, ["01", "02", "03", "04"]),
        (Compaction(versions_since="2024-05-02T00:00:00Z"), 2, ["02", "03", "04"]),
    ],
)
def test_earlier_texts_go_by_number_or_time(
    crawled: Crawl, database: Database, what: Compaction, gone: int, left: list[str]
) -> None:
    assert database.read(lambda connection: compact.count(connection, what)) == Removable(gone, 0)
    assert compact.remove(database, what) == Removable(gone, 0)
    assert versions(crawled) == left
    assert compact.remove(database, what) == Removable(0, 0)


def test_urls_of_dead_hosts_go_when_they_never_brought_anything(crawled: Crawl, database: Database) -> None:
    own = "SELECT url FROM url WHERE url LIKE 'http://a.%' AND http_status IS NULL"
    useless = {one for (one,) in crawled.rows(own)}
    everything = {one for (one,) in crawled.rows("SELECT url FROM url")}
    assert useless
    young = Compaction(dead_since=999.0)
    assert compact.remove(database, young) == Removable(0, 0), "found or answered since"
    what = Compaction(dead_since=2000.0)
    assert database.read(lambda connection: compact.count(connection, what)) == Removable(0, len(useless))
    assert compact.remove(database, what) == Removable(0, len(useless))
    assert {one for (one,) in crawled.rows("SELECT url FROM url")} == everything - useless
    assert len(crawled.rows("SELECT id FROM article")) == 2


def test_curves_of_runs_but_the_newest_go(crawled: Crawl, database: Database, run_in: Callable) -> None:
    ((old,),) = crawled.rows("SELECT id FROM run")
    new = run_in(runs.start_run, start()).run_id
    with database.engine.begin() as connection:
        for run_id, at in ((old, 1.0), (old, 2.0), (new, 3.0)):
            values = {"run": run_id, "at": at}
            connection.execute(text("INSERT INTO run_sample VALUES (:run, :at, 1, 1, 1, 1, 1, 1, '{}')"), values)
        connection.execute(text("UPDATE run SET finished = 'now', alive_until = 0"))
    what = Compaction(samples=True)
    assert database.read(lambda connection: compact.count(connection, what)) == Removable(samples=2)
    assert compact.remove(database, what) == Removable(samples=2)
    assert crawled.rows("SELECT run_id FROM run_sample") == [(new,)]


def test_host_that_answered_lately_keeps_its_urls(crawled: Crawl, database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE url SET fetched_at = 3000 WHERE http_status IS NOT NULL"))
    assert compact.remove(database, Compaction(dead_since=2000.0)) == Removable(0, 0)


def test_rewriting_gives_space_back(crawled: Crawl, database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE article SET summary = :long"), {"long": os.urandom(400_000).hex()})
        connection.execute(text("UPDATE article SET summary = ''"))
        if database.is_sqlite:  # a person's own index beside ours
            connection.execute(text("""CREATE VIRTUAL TABLE "my ""own"" index" USING fts5(words)"""))
    before, stored = compact.size(database), crawled.rows("SELECT url, text FROM v_articles ORDER BY url")
    steps: list[str] = []
    compact.rewrite(database, steps.append)
    assert crawled.rows("SELECT url, text FROM v_articles ORDER BY url") == stored
    if database.is_sqlite:
        assert steps == ["search index", "search index", "vacuum"]
        assert compact.size(database) < before - 400_000
        assert database.read(compact.free_bytes) == 0
        assert crawled.rows("PRAGMA integrity_check") == [("ok",)]
    else:
        assert steps == ["vacuum and statistics"]
        assert compact.size(database) > 0


def test_crawl_beside_it_is_refused(crawled: Crawl, database: Database, run_in: Callable) -> None:
    if database.is_sqlite:
        pytest.skip("the lock of the file says so")
    run_in(runs.start_run, start(now=time.time()))
    for work in (lambda: compact.remove(database, Compaction(versions=0)), lambda: compact.rewrite(database, print)):
        with pytest.raises(WrongDatabase, match="is crawling; stop it first"):
            work()
