"""Patterns of URLs in the table, and the URLs that were skipped for them."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import text

from db.engine.database import Database
from db.frontier.aliases import let_wait
from db.frontier.claims import lease
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.frontier.runs import start_run
from db.records.keys import fingerprint
from db.sites import traps as table
from db.sites.traps import PatternRow
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

STORE = EachTimeNew()
HOST = fingerprint("a.example")


def row(pattern: str, **values: object) -> PatternRow:
    defaults = {"level": 0, "pages": 30, "brought": 0, "reached": 0, "unproductive": 30.0, "grown": 60}
    more = {"kind": "calendar", "blocked_at": NOW, "why": "because", "example": "http://a.example/x"}
    return PatternRow(host_id=HOST, pattern=pattern, **{**defaults, **more, **values})  # type: ignore[arg-type]


def noted(rows: list[PatternRow], run_id: int = 1) -> tuple[int, list[PatternRow]]:
    return run_id, rows


def test_saved_patterns_are_loaded_and_replaced(run_in: Callable) -> None:
    run_in(table.save, noted([row("/a?b"), row("/c", level=1, kind="", blocked_at=0.0)]))
    run_in(table.save, noted([row("/a?b", pages=31, kind="")]))
    found = run_in(table.load, [HOST, 7])
    assert found[7] == []
    assert sorted((one.pattern, one.pages, one.kind) for one in found[HOST]) == [("/a?b", 31, ""), ("/c", 30, "")]


def test_hosts_that_nobody_crawls_are_due_for_their_blocked_patterns(run_in: Callable) -> None:
    run = run_in(start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url("http://a.example/")]))
    run_in(table.save, noted([row("/a?b"), row("/late", blocked_at=NOW + 9), row("/open", kind="")]))
    assert run_in(table.due, NOW) == []
    assert run_in(table.due, NOW + 1) == [HOST]
    run_in(take_hosts, (run.run_id, 5))
    assert run_in(table.due, NOW + 1) == []


def test_trapped_urls_are_skipped_when_they_would_be_handed_out_and_may_wait_again(
    database: Database, run_in: Callable
) -> None:
    run = run_in(start_run, start(seed_row("http://a.example/")))
    urls = [f"http://a.example/cal?month={n}" for n in range(450)]
    run_in(add_urls, (NOW, [new_url(url, score=2.0) for url in urls] + [new_url("http://a.example/news.html")]))
    run_in(take_hosts, (run.run_id, 5))
    request = wish(run.run_id, {HOST: 3}, trap=lambda one: "calendar" if "cal?" in one.url else "")
    leases = run_in(lease, request)
    assert [one.url for one in leases.urls] == ["http://a.example/news.html"]
    assert leases.skipped == {"trap: calendar": 450}

    with database.engine.connect() as connection:
        first = table.skipped(connection, HOST, -(1 << 63), 300)
        rest = table.skipped(connection, HOST, first[-1][0], 300)
        assert len(first) == 300
        assert {url for _, url in [*first, *rest]} == set(urls)
        _, counts = table.listed(connection)
        assert counts == [("calendar", 450)]
    assert run_in(let_wait, (HOST, [key for key, _ in rest])) == 150
    with database.engine.connect() as connection:
        query = text("SELECT state, count(*) FROM url WHERE url LIKE '%cal?%' GROUP BY state ORDER BY 1")
        assert connection.execute(query).all() == [("pending", 150), ("skipped", 300)]
        assert connection.execute(text("SELECT queued FROM host")).scalar() == 2, "whoever owns the host looks again"


def test_very_many_trapped_urls_are_skipped_in_several_transactions(run_in: Callable, monkeypatch) -> None:
    monkeypatch.setattr("db.frontier.claims._MOST_PASSED_OVER", 100)
    run = run_in(start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(f"http://a.example/cal?month={n}", score=2.0) for n in range(450)]))
    run_in(add_urls, (NOW, [new_url("http://a.example/news.html")]))
    run_in(take_hosts, (run.run_id, 5))
    request = wish(run.run_id, {HOST: 3}, trap=lambda one: "calendar" if "cal?" in one.url else "")
    rounds = []
    while not rounds or HOST not in rounds[-1].dry:
        rounds.append(run_in(lease, request))
        assert len(rounds) < 10
    assert len(rounds) > 2
    assert sum(one.skipped["trap: calendar"] for one in rounds) == 450
    assert [one.url for each in rounds for one in each.urls] == ["http://a.example/news.html"]


def test_index_finds_trapped_urls(database: Database) -> None:
    from sqlalchemy.dialects import postgresql, sqlite

    is_sqlite = database.is_sqlite
    dialect = sqlite.dialect() if is_sqlite else postgresql.dialect()
    query = str(table._SKIPPED.compile(dialect=dialect, compile_kwargs={"literal_binds": False}))
    assert "url.reason = 'trap'" in query
    assert "state = 'skipped'" in query
    if is_sqlite:
        plain = query.replace("LIMIT ? OFFSET ?", "LIMIT ?").split("LIMIT")[0]
        with database.engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plain}", (1, 1)).all()
        assert any("ix_url_trapped" in str(step) for step in plan), plan


def test_sources(run_in: Callable) -> None:
    run_in(start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url("http://a.example/list")]))
    (found,) = run_in(table.sources, [fingerprint("http://a.example/list"), 5])
    assert (found.url, found.host_id) == ("http://a.example/list", HOST)


def test_articles_by_title_are_marked_as_gone_once(database: Database, run_in: Callable) -> None:
    run = run_in(start_run, start(seed_row("http://a.example/")))
    urls = [f"http://{host}.example/{n}.html" for host in "ab" for n in range(2)]
    run_in(add_urls, (NOW, [new_url(url) for url in urls]))
    run_in(take_hosts, (run.run_id, 5))
    leases = run_in(lease, wish(run.run_id, {HOST: 5, fingerprint("b.example"): 5})).urls
    for one in leases:
        title = "Notice" if "/0" in one.url else "News"
        run_in(STORE.store, done(one, article=article(one.url, f"text of {one.url}", title=title)))

    def titled() -> list[table.Titled]:
        with database.engine.connect() as connection:
            return table.titled(connection, HOST, "Notice")

    (found,) = titled()
    assert found[1:] == (urls[0], "Notice", f"text of {urls[0]}")
    run_in(table.mark_missing, [(found.id, "2025-01-01T00:00:00+00:00")])
    assert titled() == []
