"""The views, as somebody who opens the database sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import claims, leases, runs
from db.frontier.insert import add_urls
from db.records.keys import fingerprint, iso
from db.records.url import Lease
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew, real_judge

pytestmark = pytest.mark.dialects

HOSTS = ["a.example", "b.example", "outside.example"]


def body(number: int) -> str:
    """A story of its own."""
    names = (chr(0x4E00 + 97 * number + n) for n in range(9))
    return "".join(f"第{number}号工地的第{n * number}名工人{name}昨天领到了工钱。" for n, name in enumerate(names))


@pytest.fixture
def leased(run_in: Callable) -> dict[str, Lease]:
    run_id = run_in(runs.start_run, start(seed_row("http://a.example/"))).run_id
    found = [new_url(f"http://{host}/{n}") for host in HOSTS[:2] for n in range(4)]
    run_in(add_urls, (NOW, [*found, new_url("http://outside.example/", reason="outside")]))
    run_in(leases.take_hosts, (run_id, 9))
    wants = {fingerprint(host): 9 for host in HOSTS}
    return {lease.url: lease for lease in run_in(claims.lease, wish(run_id, wants)).urls}


def rows(database: Database, sql: str) -> list[tuple[Any, ...]]:
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


@pytest.fixture
def stored(run_in: Callable, leased: dict[str, Lease]) -> None:
    """Five articles of two sites, and a URL that leads outside."""
    store = EachTimeNew(real_judge()).store
    times = [
        ("http://a.example/0", "2025-03-02T01:00+08:00", "minute"),  # the evening before in UTC, whatever its text says
        ("http://a.example/1", "2025-03-01T23:00:00+00:00", "second"),
        ("http://a.example/2", None, None),
        ("http://b.example/0", "2025-03-05", "day"),
        ("http://b.example/1", "2025-02-05", "day"),
    ]
    for number, (url, published, precision) in enumerate(times, 1):
        values = {"published_at": published, "published_precision": precision, "title": f"第{number}条"}
        images = ((f"{url}.png", ""),)
        run_in(store, done(leased[url], article=article(url, body(number), images=images, **values)))


@pytest.mark.usefixtures("stored")
def test_articles_are_ordered_by_instant_the_newest_first(database: Database) -> None:
    wanted = ["http://b.example/0", "http://a.example/1", "http://a.example/0", "http://b.example/1"]
    for view in ("v_articles", "_articles"):
        assert [url for (url,) in rows(database, f"SELECT url FROM {view} LIMIT 4")] == wanted
        assert rows(database, f"SELECT url FROM {view}")[-1] == ("http://a.example/2",), "without a time: last"
    shown = rows(database, "SELECT published_at, published_utc FROM v_articles LIMIT 3")
    assert shown == [
        ("2025-03-05", "2025-03-05 00:00:00"),
        ("2025-03-01T23:00:00+00:00", "2025-03-01 23:00:00"),
        ("2025-03-02T01:00+08:00", "2025-03-01 17:00:00"),
    ]


@pytest.mark.usefixtures("stored")
def test_identifiers_are_text_and_join_with_the_tables(database: Database) -> None:
    shown = rows(database, "SELECT id, url FROM v_articles")
    assert shown
    assert all(key == str(fingerprint(url)) for key, url in shown)
    for view in ("v_sites", "v_dropped"):
        assert {type(key) for (key,) in rows(database, f"SELECT id FROM {view}")} == {str}
    key = "v.id" if database.is_sqlite else "v.id::bigint"
    pairs = rows(database, f"SELECT v.url, i.url FROM v_articles v JOIN image i ON i.article_id = {key}")
    assert len(pairs) == len(shown)
    assert all(image == f"{url}.png" for url, image in pairs)


@pytest.mark.usefixtures("stored")
def test_sites_are_those_that_were_asked_with_the_newest_by_instant(database: Database) -> None:
    assert rows(database, "SELECT count(*) FROM site") == [(3,)]
    shown = rows(database, "SELECT site, articles, newest_article, newest_utc, urls_done, fetched_at FROM v_sites")
    at = iso(NOW + 1)
    assert shown == [
        ("b.example", 2, "2025-03-05", "2025-03-05 00:00:00", 2, at),
        ("a.example", 3, "2025-03-01T23:00:00+00:00", "2025-03-01 23:00:00", 3, at),
    ]


@pytest.mark.usefixtures("stored")
def test_dropped_has_when_it_was_found_and_fetched(database: Database) -> None:
    shown = rows(database, "SELECT url, reason, first_seen, fetched_at FROM v_dropped")
    assert shown == [("http://outside.example/", "outside", iso(NOW), None)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM v_articles LIMIT 20",
        "SELECT published_at, site, title FROM _articles LIMIT 20",
        "SELECT * FROM v_articles WHERE duplicate_of IS NULL AND published_utc > '2025-01-01' LIMIT 20",
        "SELECT * FROM v_dropped LIMIT 20",
    ],
)
def test_first_rows_are_read_in_the_order_of_an_index(database: Database, query: str) -> None:
    if not database.is_sqlite:
        pytest.skip("Postgres decides by statistics")
    plan = str(rows(database, f"EXPLAIN QUERY PLAN {query}"))
    assert "TEMP B-TREE" not in plan
    assert "ix_article_newest" in plan or "ix_url_found_at" in plan


def test_references_of_all_tables_are_declared(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("Postgres checks those of articles only")
    declared = rows(
        database,
        """SELECT t.name || '.' || f."from", f."table" FROM sqlite_master t, pragma_foreign_key_list(t.name) f
        WHERE t.type = 'table'""",
    )
    found = dict(declared)
    assert len(found) == 37
    assert found["article.id"] == found["url.found_on"] == found["link.source"] == "url"
    assert found["image.article_id"] == "article"
    assert found["host.site_id"] == "site"
