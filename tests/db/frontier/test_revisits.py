"""Visits after the first, in the tables: what is woken, put off, credited, gone, moved, and wished for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from db.articles import apply
from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import revisits
from db.frontier.host_backoff import close_dead_hosts
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.frontier.revert import put_off_host
from db.frontier.runs import finish_run, start_run
from db.records.host import DeadHost
from db.records.keys import fingerprint, iso
from db.records.outcome import Outcome
from db.records.reasons import SkipReason
from db.records.run import Limits, RunEnd
from db.records.url import Kind, Lease, State
from db.records.visit import Beginning, Due, Revisit, RevisitKind, Wish, Woken
from db.tables.urls import AGAIN
from pipelines.articles.changes import differs
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.terms import index_terms
from tests.db.frontier_rows import NO_LIMITS, NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import METHOD, EachTimeNew, no_judge

HOME, STORY, FEED = "http://a.example/", "http://a.example/story", "http://a.example/feed"
HOST = fingerprint("a.example")
STORE = EachTimeNew()


def planning(at: float | None, news: list[int] | None = None) -> EachTimeNew:
    """A store that plans the next visit at a time, and notes the news."""

    def next_visit(_outcome: Outcome, number: int) -> float | None:
        if news is not None:
            news.append(number)
        return at

    return EachTimeNew(next_visit=next_visit)


TEXT = "市图书馆新馆昨天开放，首日迎来三千多名读者，馆藏图书八十万册。" * 3
DAY = 86_400.0


@pytest.fixture
def run_id(run_in: Callable) -> int:
    """A run that holds the host, with three URLs waiting."""
    found = run_in(start_run, start(seed_row(HOME)))
    kinds = {HOME: {"depth": 0, "found_in": 11}, STORY: {}, FEED: {"kind": Kind.FEED}}
    run_in(add_urls, (NOW, [new_url(url, seed_id=fingerprint(HOME), **values) for url, values in kinds.items()]))
    run_in(take_hosts, (found.run_id, 10))
    return int(found.run_id)


@pytest.fixture
def lease_all(run_in: Callable, run_id: int) -> Callable[..., dict[str, Lease]]:
    def lease_them(**values: Any) -> dict[str, Lease]:
        return {one.url: one for one in run_in(frontier.lease, wish(run_id, {HOST: 10}, **values)).urls}

    return lease_them


@pytest.fixture
def visited(run_in: Callable, lease_all: Callable) -> None:
    """All three fetched once: a list, an article, a feed; due an hour and a day later."""
    leases = lease_all()
    outcomes = [
        done(leases[HOME], reason="list page", etag='W/"1"', next_visit=NOW + 3_600),
        done(leases[STORY], article=article(STORY, TEXT), age=50.0, next_visit=NOW + DAY),
        done(leases[FEED], reason="feed or sitemap", counted=False, next_visit=NOW + 3_600),
    ]
    for outcome in outcomes:
        run_in(STORE.store, outcome)


def rows(database: Database, sql: str) -> list[tuple]:
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


def state(database: Database, url: str) -> tuple:
    columns = "state, reason, http_status, visits, next_visit"
    return rows(database, f"SELECT {columns} FROM url WHERE id = {fingerprint(url)}")[0]


def wake(run_in: Callable, until: float, limits: Limits = NO_LIMITS) -> Woken:
    return run_in(revisits.wake_due, Due(until, limits))


def test_due_urls_wait_again_with_all_that_is_known_of_them(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    assert wake(run_in, NOW).urls == 0
    assert wake(run_in, NOW).next_due == NOW + 3_600
    woken = wake(run_in, NOW + 3_600)
    assert (woken.urls, woken.hosts, woken.next_due) == (2, {HOST}, NOW + DAY)
    before = rows(database, "SELECT b.pages, h.pages, s.used FROM budget b, host h, seed s")
    leases = lease_all()
    assert set(leases) == {HOME, FEED}
    home = leases[HOME]
    assert home.is_revisit
    assert (home.etag, home.reason, home.visits, home.fetched_at) == ('W/"1"', "list page", 1, NOW + 1)
    assert rows(database, "SELECT b.pages, h.pages, s.used FROM budget b, host h, seed s") == before == [(2, 2, 2)]


def test_due_urls_are_found_by_an_index(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("Postgres decides by statistics")
    sql = f"SELECT id FROM url WHERE {AGAIN} AND state != 'leased' AND next_visit <= 5 ORDER BY next_visit LIMIT 9"
    assert "ix_url_again" in str(rows(database, f"EXPLAIN QUERY PLAN {sql}"))


@pytest.mark.parametrize(("exit_code", "anew"), [(0, True), (3, True), (4, False), (None, False)])
def test_only_a_crawl_that_was_finished_is_repeated(
    run_in: Callable, database: Database, exit_code: int | None, *, anew: bool
) -> None:
    first, second = (run_in(start_run, start()).run_id for _ in range(2))
    assert not run_in(revisits.begins_anew, Beginning(first, NOW, 60))
    if exit_code is not None:
        run_in(finish_run, RunEnd(first, iso(NOW - 61), "", exit_code, {}))
    assert run_in(revisits.begins_anew, Beginning(second, NOW, 60)) == anew
    joined_late = run_in(revisits.begins_anew, Beginning(second, NOW - 30, 60))
    assert joined_late == (anew and database.is_sqlite)


def test_visit_that_fails_changes_nothing(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    wake(run_in, NOW + DAY)
    lease = lease_all()[STORY]
    kept = Outcome(
        lease, State.DONE, http_status=lease.http_status, fetched_at=NOW + 1, next_visit=NOW + 2 * DAY, reverted=True
    )
    run_in(STORE.store, kept)
    assert state(database, STORY) == ("done", None, 200, 1, NOW + 2 * DAY)
    assert rows(database, "SELECT b.pages, h.pages FROM budget b, host h") == [(2, 2)]


def test_news_of_a_list_is_counted_when_it_is_stored(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    wake(run_in, NOW + 3_600)
    leases = lease_all(now=NOW + 3_600)
    counted: list[int] = []
    news = [new_url(f"http://a.example/{name}") for name in "xyz"]
    visit = Revisit(RevisitKind.LIST, watched=3_599.0, fading=0.5)
    found = [*news, new_url(STORY)]
    again = done(leases[HOME], reason="list page", fetched_at=NOW + 3_600, new_urls=found, visit=visit)
    assert run_in(planning(NOW + 5_000, counted).store, again).next_visit == NOW + 5_000
    assert counted == [3]  # what is known already is no news
    query = f"SELECT visits, watched, named, brought, changed_at, next_visit FROM url WHERE id = {fingerprint(HOME)}"
    assert rows(database, query) == [(2, 3_599.0, 3.0, 0.0, NOW + 3_600, NOW + 5_000)]
    for url, lease in lease_all(now=NOW + 3_700).items():
        run_in(STORE.store, done(lease, article=article(url, url * 20), fetched_at=NOW + 3_700))
    assert rows(database, query)[0][3] == 3.0


def test_finds_of_the_first_visit_are_no_news(
    run_in: Callable, run_id: int, lease_all: Callable, database: Database
) -> None:
    leases = lease_all()
    late = new_url("http://a.example/late")
    run_in(STORE.store, done(leases[HOME], reason="list page", new_urls=[late], next_visit=NOW))
    wake(run_in, NOW)
    again = lease_all(now=NOW + 9)
    visit = Revisit(RevisitKind.LIST, watched=8.0)
    run_in(STORE.store, done(again[HOME], reason="list page", fetched_at=NOW + 9, visit=visit))
    run_in(STORE.store, done(again[late.url], article=article(late.url, TEXT), fetched_at=NOW + 10))
    assert rows(database, f"SELECT brought FROM url WHERE id = {fingerprint(HOME)}") == [(0.0,)]


@pytest.mark.parametrize(
    ("after", "visits", "due"),
    [(10.0, 1, True), (-10.0, 1, False), (10.0, 20, False)],  # fetched since; never was changed when it said so
    ids=["changed", "read since", "not believed"],
)
def test_urls_that_a_sitemap_calls_changed_come_due(
    run_in: Callable, visited: None, lease_all: Callable, database: Database, *, after: float, visits: int, due: bool
) -> None:
    run_in(lambda connection, n: [connection.execute(text(f"UPDATE url SET visits = {n[0]}"))], visits)
    wake(run_in, NOW + 3_600)
    feed = lease_all(now=NOW + 3_600)[FEED]
    visit = Revisit(RevisitKind.LIST, watched=3_600.0)
    stated = [(fingerprint(STORY), NOW + after), (fingerprint(HOME), NOW + after), (5, NOW)]
    outcome = done(feed, counted=False, fetched_at=NOW + 3_600, visit=visit, stated=stated)
    assert run_in(planning(NOW + 9_000).store, outcome).next_visit == (NOW + 3_600 if due else NOW + 9_000)
    assert state(database, STORY)[4] == (NOW + 3_600 if due else NOW + DAY)
    assert state(database, HOME)[0] == "leased"


def test_changes_of_an_article_are_counted_and_kept(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    wake(run_in, NOW + DAY)
    lease = lease_all(now=NOW + DAY)[STORY]
    assert lease.watched == 50.0
    counted: list[int] = []
    visit = Revisit(RevisitKind.ARTICLE, watched=DAY)
    other = article(STORY, TEXT + "更正：周一闭馆。", seen="2025-01-02T00:00:00+00:00")
    outcome = done(lease, article=other, fetched_at=NOW + DAY, visit=visit, alive=True)
    run_in(planning(NOW + 2 * DAY, counted).store, outcome)
    assert counted == [1]
    assert rows(database, f"SELECT brought, watched, visits FROM url WHERE id = {lease.id}") == [(1.0, DAY + 50, 2)]
    assert rows(database, "SELECT text FROM article_version") == [(TEXT,)]


def test_another_title_alone_is_a_version_and_facts_are_put_right(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    index = SignatureIndex(METHOD, None)
    first = article(
        STORY, TEXT, title="旧题", seen="2025-01-01T12:00:00+00:00", **_at("2024-03-12T10:20:00+08:00", "minute")
    )
    again = replace(
        first, title="新题", authors="", seen="2025-01-02T00:00:00+00:00", **_at("2024-03-12T00:00:00+08:00", "day")
    )
    corrected = replace(again, authors="李四", text=TEXT + "\n阅读 100", text_hash=5)
    flagged = replace(corrected, keywords="阅读", harm=0.9, harm_kind="hijacked")
    added = [
        run_in(partial(apply.add, judge=no_judge, index=index, differs=differs, make_terms=index_terms), new)
        for new in (first, again, corrected, corrected, flagged, replace(flagged, harm=0.8))
    ]
    assert [one.what for one in added] == ["updated", "updated", "updated", "unchanged", "updated", "unchanged"]
    assert [one.changed for one in added] == [True, True, *[False] * 4]
    known = "SELECT title, authors, published_at, text FROM article"
    assert rows(database, known) == [("新题", "李四", "2024-03-12T10:20:00+08:00", TEXT)]
    assert rows(database, "SELECT keywords, harm, harm_kind FROM article") == [("", 0.9, "hijacked")]
    assert rows(database, "SELECT title, text FROM article_version") == [("题目", TEXT), ("旧题", TEXT)]


def _at(time: str, precision: str) -> dict[str, str]:
    return {"published_at": time, "published_precision": precision, "published_from": "visible"}


def test_page_that_is_gone_keeps_its_article_and_may_come_back(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    wake(run_in, NOW + DAY)
    visit = Revisit(RevisitKind.GONE, watched=DAY)
    lease = lease_all(now=NOW + DAY)[STORY]
    values = {"state": State.FAILED, "reason": "http error", "http_status": 410, "reverted": True, "alive": False}
    run_in(planning(NOW + 2 * DAY).store, done(lease, fetched_at=NOW + DAY, visit=visit, **values))
    assert state(database, STORY) == ("failed", "http error", 410, 2, NOW + 2 * DAY)
    assert rows(database, "SELECT text, gone FROM v_articles") == [(TEXT, "2023-11-15T22:13:20+00:00")]
    wake(run_in, NOW + 2 * DAY)
    lease = lease_all(now=NOW + 2 * DAY)[STORY]
    run_in(STORE.store, done(lease, article=article(STORY, TEXT), fetched_at=NOW + 2 * DAY, alive=True))
    assert rows(database, "SELECT text, gone FROM v_articles") == [(TEXT, None)]


@pytest.mark.parametrize("target", ["new", "known"])
def test_page_that_moves_for_good_takes_its_article_along(
    run_in: Callable, visited: None, lease_all: Callable, database: Database, target: str
) -> None:
    moved = "http://a.example/moved"
    if target == "known":
        run_in(add_urls, (NOW, [new_url(moved)]))
        run_in(STORE.store, done(lease_all()[moved], article=article(moved, "另有内容，与旧文毫不相干。" * 9)))
    wake(run_in, NOW + DAY)
    values = {"state": State.SKIPPED, "reason": "redirect", "http_status": 301, "counted": False}
    leads = {"same_as": fingerprint(moved), "new_urls": [new_url(moved, hops=1)]}
    run_in(STORE.store, done(lease_all(now=NOW + DAY)[STORY], fetched_at=NOW + DAY, **values, **leads))
    if target == "known":
        assert rows(database, "SELECT url FROM v_articles") == [(moved,)]
        assert rows(database, "SELECT article_id, text FROM article_version") == [(fingerprint(moved), TEXT)]
        return
    assert rows(database, "SELECT url FROM v_articles") == [(STORY,)]  # until it is known what is there
    run_in(revisits.mark, Wish(urls=[fingerprint(STORY)]))
    wake(run_in, NOW + DAY)
    leases = lease_all(now=NOW + 2 * DAY)
    run_in(STORE.store, done(leases[STORY], fetched_at=NOW + 2 * DAY, alive=False, **values, **leads))
    assert rows(database, "SELECT url, gone IS NULL FROM v_articles") == [(STORY, False)]
    late = article(moved, TEXT + "另有一段全新的内容，与旧文不同。" * 9, seen="2025-01-02T00:00:00+00:00")
    run_in(STORE.store, done(leases[moved], article=late, fetched_at=NOW + 2 * DAY))
    assert rows(database, "SELECT url, text, gone FROM v_articles") == [(moved, late.text, None)]
    assert rows(database, "SELECT article_id, text FROM article_version") == [(fingerprint(moved), TEXT)]
    assert rows(database, "SELECT first_seen FROM article") == [("2025-01-01T00:00:00+00:00",)]


@pytest.mark.parametrize("known", [True, False], ids=["known", "new"])
def test_page_that_moves_over_another_address_takes_its_article_along(
    run_in: Callable, visited: None, lease_all: Callable, database: Database, *, known: bool
) -> None:
    over, there = "http://a.example/over", "http://a.example/there"
    other = article(there, "另有内容，与旧文毫不相干。" * 9)
    if known:
        run_in(add_urls, (NOW, [new_url(there)]))
        run_in(STORE.store, done(lease_all()[there], article=other))
    wake(run_in, NOW + DAY)
    for url, target, hops in ((STORY, over, 1), (over, there, 2)):
        leads = {"same_as": fingerprint(target), "new_urls": [new_url(target, hops=hops)], "counted": False}
        values = {"state": State.SKIPPED, "reason": "redirect", "http_status": 301, "fetched_at": NOW + DAY}
        run_in(STORE.store, done(lease_all(now=NOW + DAY)[url], **values, **leads))
    if not known:
        run_in(STORE.store, done(lease_all(now=NOW + DAY)[there], article=other, fetched_at=NOW + DAY))
        assert rows(database, "SELECT text FROM article_version") == [(TEXT,)]
    assert rows(database, "SELECT url, text, gone FROM v_articles") == [(there, other.text, None)]


def test_requeued_urls_do_not_wait_for_their_next_visit(run_in: Callable, visited: None, lease_all: Callable) -> None:
    assert STORY not in lease_all(now=NOW + 1)
    run_in(add_urls, (NOW + 1, [new_url(STORY, again=True)]))
    assert STORY in lease_all(now=NOW + 1)


def test_urls_that_rules_forbid_now_are_what_they_were(
    run_in: Callable, visited: None, lease_all: Callable, database: Database
) -> None:
    wake(run_in, NOW + DAY)
    leases = lease_all(disallow_reason=lambda _host, url: SkipReason.ROBOTS if url == STORY else None)
    assert set(leases) == {HOME, FEED}
    assert state(database, STORY)[:4] == ("done", None, 200, 1)
    assert state(database, STORY)[4] > NOW
    run_in(frontier.release, (1, list(leases.values())))
    closed = lease_all(closed=lambda _host: SkipReason.ROBOTS_UNREACHABLE)
    assert closed == {}
    assert state(database, HOME)[:4] == ("done", "list page", 200, 1)


def test_host_that_is_given_up_loses_nothing_that_was_fetched(
    run_in: Callable, run_id: int, visited: None, database: Database
) -> None:
    run_in(add_urls, (NOW, [new_url("http://a.example/new")]))
    wake(run_in, NOW + DAY)
    assert run_in(close_dead_hosts, DeadHost(run_id, HOST, SkipReason.HOST_UNREACHABLE, NOW + 60)) == 1
    assert [state(database, url)[0] for url in (HOME, STORY, FEED)] == ["done"] * 3
    assert wake(run_in, NOW + 60).urls == 3


@pytest.mark.parametrize("queue", ["due", "named again"])
@pytest.mark.parametrize(
    "before",
    [
        (State.DONE, "list page", "", 200),
        (State.DONE, None, "", 404),
        (State.FAILED, "http error", "410", 410),
        (State.SKIPPED, "redirect", "", 302),
        (State.SKIPPED, "no feed", "http 404", 404),
    ],
)
def test_state_before_is_known_while_a_url_waits_and_comes_back(
    run_in: Callable, lease_all: Callable, database: Database, before: tuple[State, str | None, str, int], queue: str
) -> None:
    was, reason, detail, status = before
    values = {"reason": reason, "detail": detail, "http_status": status, "next_visit": NOW + 60}
    run_in(STORE.store, done(lease_all()[STORY], state=was, **values))
    if queue == "due":
        assert wake(run_in, NOW + 60).urls == 1
    else:
        run_in(add_urls, (NOW + 1, [new_url(STORY, again=True)]))
    again = lease_all(now=NOW + 61)[STORY]
    assert (again.state_before, again.reason, again.reason_detail or "") == (was, reason, detail)
    run_in(frontier.release, (1, [again]))
    with database.engine.connect().execution_options(writer=True) as connection, connection.begin():
        put_off_host(connection, HOST, NOW)
    assert state(database, STORY)[:2] == (was, reason)


def test_nothing_is_visited_again_beyond_the_limits(run_in: Callable, visited: None) -> None:
    assert wake(run_in, NOW + DAY, Limits(pages=2)).spent
    assert wake(run_in, NOW + DAY, Limits(pages_per_host=2)).urls == 0
    assert wake(run_in, NOW + DAY, Limits(pages=3, pages_per_host=3)).urls == 3


def test_urls_that_a_user_wants_are_due_at_once(run_in: Callable, visited: None, database: Database) -> None:
    wishes = [
        (Wish(), {HOME, STORY, FEED}),
        (Wish(what="articles"), {STORY}),
        (Wish(what="lists"), {HOME, FEED}),
        (Wish(host="a.example"), {HOME, STORY, FEED}),
        (Wish(host="b.example"), set()),
        (Wish(fetched_before=NOW), set()),
        (Wish(fetched_before=NOW + 2, what="articles"), {STORY}),
        (Wish(urls=[fingerprint(STORY), 1]), {STORY}),
    ]
    for wanted, marked in wishes:
        with database.engine.connect().execution_options(writer=True) as connection, connection.begin():
            connection.execute(text("UPDATE url SET next_visit = 9e9, state = 'done'"))
            assert revisits.count(connection, wanted) == len(marked)
        assert run_in(revisits.mark, wanted) == len(marked)
        assert wake(run_in, revisits.MARKED).urls == len(marked)
        assert {url for (url,) in rows(database, "SELECT url FROM url WHERE state = 'pending'")} == marked
