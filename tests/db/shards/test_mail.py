"""Mail between the databases of a crawl, real ones: what is posted arrives once, and so does the limit of pages."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import text

from db.articles.page_transaction import Store
from db.engine.database import Database, open_for_crawl
from db.engine.locks import AdvisoryLock
from db.frontier import claims, leases, runs
from db.frontier.insert import add_urls
from db.records.keys import dealt, fingerprint
from db.records.outcome import Edges
from db.records.run import Limits
from db.records.shard import Dealing, ShardState, unfinished
from db.shards import mail
from db.shards.places import enter, grant, keep_grant, state
from tests.db.frontier_rows import NO_LIMITS, NOW, article, done, new_url, seed_row, start, wish
from tests.db.small_crawl import run_in
from tests.db.stores import SIGN, real_judge, store_of
from tests.pipelines.dedup.test_stream import programme

pytestmark = pytest.mark.dialects

ONE, TWO = Dealing(1, 2), Dealing(2, 2)


def host_in(number: int, nth: int = 0) -> str:
    """The name of a host that lives in a database of two."""
    names = [f"h{n}.example" for n in range(40)]
    return [name for name in names if dealt(fingerprint(name), 2) == number][nth]


MINE, THEIRS = f"http://{host_in(1)}", f"http://{host_in(2)}"


@pytest.fixture
def two(two_urls: tuple[str, str]) -> Iterator[list[Database]]:
    """The two databases of a crawl, each with a run."""
    with closing(open_for_crawl(two_urls[0])) as one, closing(open_for_crawl(two_urls[1])) as other:
        enter([one, other])
        for database in (one, other):
            run_in(database)(runs.start_run, start(seed_row(f"{MINE}/")))
            run_in(database)(keep_grant, None)
        yield [one, other]


def rows(database: Database, sql: str) -> list[Any]:
    with database.engine.begin() as connection:
        found = connection.execute(text(sql))
        return [tuple(row) for row in found] if found.returns_rows else []


def lease(database: Database, *urls: str) -> list[Any]:
    """Lease pages of one host."""
    run = run_in(database)
    run(add_urls, (NOW, [new_url(url) for url in urls]))
    run(leases.take_hosts, (1, 9))
    return run(claims.lease, wish(1, {fingerprint(urls[0].split("/")[2]): len(urls)})).urls


def store_page(database: Database) -> None:
    """Store a page that names one of its own host, one of the other database twice, and one outside."""
    (page,) = lease(database, f"{MINE}/1")
    named = [
        new_url(f"{MINE}/2"),
        new_url(f"{THEIRS}/1", depth=3, score=0.75, anchor="新闻", score_parts='{"depth": 1.0}', dated=NOW),
        new_url(f"{THEIRS}/2", reason="too deep"),
        new_url(f"{THEIRS}/3", reason="outside"),
    ]
    links = Edges([new.id for new in named], bytes(len(named)))
    store = store_of()
    store = Store(1, store.judge, store.index, store.joiner, store.make_terms, dealing=ONE)
    outcome = done(page, new_urls=named, links=links, seed_host=(fingerprint(f"{MINE}/"), "www.a.example"))
    stored = run_in(database)(store.store, outcome)
    assert (stored.new_urls, stored.queued) == (2, 1), "what another database owns is no URL of this one"


def test_link_to_another_database_arrives_as_it_was_found(two: list[Database]) -> None:
    one, other = two
    store_page(one)
    assert rows(one, "SELECT count(*) FROM link") == [(4,)]
    assert mail.deliver(one, other, 1, 2) == 1
    assert mail.deliver(one, other, 1, 2) == 0
    count, found = run_in(other)(mail.read, {})
    assert (count, found.queued, found.hosts) == (1, 1, {fingerprint(host_in(2))})
    wanted = (f"{THEIRS}/1", "pending", 3, 0.75, '{"depth": 1.0}', "新闻", fingerprint(f"{MINE}/1"), NOW)
    columns = "url, state, depth, score, score_parts, anchor, found_on, dated"
    assert rows(other, f"SELECT {columns} FROM url WHERE state = 'pending'") == [wanted]
    assert rows(other, "SELECT url, reason FROM url WHERE state = 'skipped'") == [(f"{THEIRS}/2", "too deep")]
    assert rows(other, "SELECT name, queued FROM host") == [(host_in(2), 1)]
    assert rows(other, "SELECT hosts FROM seed") == [(f"{host_in(1)} www.a.example",)]
    assert run_in(other)(mail.read, {})[0] == 0


def test_message_whose_sender_died_between_two_commits_comes_once(two: list[Database]) -> None:
    one, other = two
    store_page(one)
    before = rows(one, "SELECT number, shard, body FROM outbox")
    mail.deliver(one, other, 1, 2)
    with one.engine.begin() as connection:  # as if the second commit had not been
        add = text("INSERT INTO outbox (number, shard, body) VALUES (:number, :shard, :body)")
        connection.execute(add, [dict(zip(("number", "shard", "body"), row, strict=True)) for row in before])
        connection.execute(text("UPDATE shard SET sent = sent - 1 WHERE number = 2"))
    store = text("INSERT INTO outbox (shard, body) VALUES (2, '{}')")
    one.write(lambda connection: connection.execute(store))
    assert mail.deliver(one, other, 1, 2) == 1, "it hears that the first has come, and sends no other with it"
    assert rows(other, "SELECT count(*) FROM inbox") == [(1,)]
    assert mail.deliver(one, other, 1, 2) == 1
    assert [json.loads(body) != {} for (body,) in rows(other, "SELECT body FROM inbox ORDER BY number")] == [
        True,
        False,
    ]


def test_second_sender_leaves_the_outbox_to_the_first(two: list[Database]) -> None:
    one, other = two
    store_page(one)
    with one.engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": AdvisoryLock.MAIL.value + 2})
        assert mail.deliver(one, other, 1, 2) == 0
    assert mail.deliver(one, other, 1, 2) == 1


def test_many_urls_are_several_messages(two: list[Database]) -> None:
    one, other = two
    urls = [new_url(f"{THEIRS}/{n}") for n in range(1201)]
    run_in(one)(mail.post_urls, (ONE, NOW, urls))
    assert mail.deliver(one, other, 1, 2) == 3
    assert run_in(other)(mail.read, {})[1].queued == 1201


def test_state_tells_what_is_left(two: list[Database]) -> None:
    one, other = two

    def look(database: Database, limits: Limits = NO_LIMITS) -> ShardState:
        return database.read(lambda connection: state(connection, limits))

    idle = ShardState(1, under_way=False, posted=frozenset(), wants=False, pages=0, messages=[(0, 0)] * 2)
    assert look(one) == idle
    store_page(one)
    assert (look(one).posted, look(one).wants, look(one).under_way, look(one).pages) == ({2}, True, False, 1)
    assert not look(one, Limits(pages_per_host=1)).wants
    mail.deliver(one, other, 1, 2)
    assert look(other).under_way
    assert look(other).messages != idle.messages
    assert unfinished({1: look(one), 2: look(other)}, Limits(pages=1)) == [2]
    assert unfinished({1: idle, 2: None}, Limits()) == [2]


def test_pages_are_never_granted_twice(two: list[Database]) -> None:
    """By lot two databases have pages granted, count some and give some back; now and then one dies in between."""
    choose = random.Random(7)
    limit, counted = 60, [0, 0]
    lease(two[0], *(f"{MINE}/{n}" for n in range(5)))
    run_in(two[1])(add_urls, (NOW, [new_url(f"{THEIRS}/{n}") for n in range(5)]))
    rows(two[0], "UPDATE url SET state = 'pending'")
    rows(two[0], "UPDATE budget SET pages = 0, granted = 0")
    for _ in range(60):
        place = choose.randrange(2)
        before = rows(two[place], "SELECT granted FROM budget")[0][0]
        got = grant(two[0], two[place], place + 1, Limits(pages=limit), choose.choice([0, 10]))
        after = rows(two[place], "SELECT granted FROM budget")[0][0]
        assert bool(got) is (after > before)
        if got and choose.random() < 0.3:  # it died before its own commit
            rows(two[place], f"UPDATE budget SET granted = {before}")
            after = before
        counted[place] += choose.randrange(after - counted[place] + 1)
        rows(two[place], f"UPDATE budget SET pages = {counted[place]}")
        known = [n for (n,) in rows(two[0], "SELECT granted FROM shard ORDER BY number")]
        assert sum(known) <= limit
        own = [rows(database, "SELECT granted FROM budget")[0][0] for database in two]
        assert all(n <= most for n, most in zip(own, known, strict=True))
    assert sum(counted) == limit, "all of it is had in the end"


def test_database_counts_no_more_pages_than_it_was_granted(two: list[Database]) -> None:
    one, _ = two
    urls = [f"{MINE}/{n}" for n in range(9)]
    run = run_in(one)
    run(add_urls, (NOW, [new_url(url) for url in urls]))
    run(leases.take_hosts, (1, 9))
    limits = Limits(pages=100)
    want = wish(1, {fingerprint(host_in(1)): 9}, limits=limits)
    assert run(claims.lease, want).spent
    assert run(claims.waiting, limits).within == 0
    assert grant(one, one, 1, limits, 4)
    assert len(run(claims.lease, want).urls) == 4
    assert rows(one, "SELECT count(*) FROM url WHERE state = 'leased'") == [(4,)]


def test_pages_counted_without_a_limit_count_under_a_later_one(two: list[Database]) -> None:
    one, other = two
    lease(one, f"{MINE}/1", f"{MINE}/2")
    for number, database in enumerate(two, 1):
        run_in(database)(add_urls, (NOW, [new_url(f"http://{host_in(number)}/9")]))
        rows(database, "UPDATE budget SET pages = 30, granted = 0")
        assert grant(one, database, number, Limits(), 10)
        rows(database, "UPDATE budget SET granted = pages")  # as a run begins
    assert not grant(one, other, 2, Limits(pages=65), 10), "of the first nobody knows yet that it needs no more"
    assert grant(one, one, 1, Limits(pages=65), 2)
    assert grant(one, other, 2, Limits(pages=65), 10)
    assert rows(one, "SELECT sum(granted) FROM shard") == [(65,)]


def test_limits_are_parted() -> None:
    limits = Limits(pages=9, pages_per_host=3, pages_per_run=7, pages_per_day=2)
    assert ONE.part(limits) == Limits(pages=9, pages_per_host=3, pages_per_run=4, pages_per_day=1)
    assert TWO.part(limits).pages_per_run == 3
    seeds = [seed_row("http://a.example/", pages=5, stay=stay) for stay in ("any", "host")]
    assert [[each.part_of_seed(seed).pages for seed in seeds] for each in (ONE, TWO)] == [[3, 5], [2, 5]]


def test_freed_copy_is_announced_as_a_new_one_is(two: list[Database]) -> None:
    one = two[0]
    store = store_of(judge=real_judge(0.65))
    store = Store(1, store.judge, store.index, store.joiner, store.make_terms, dealing=ONE)
    announced = []
    for n in range(3):
        (page,) = lease(one, f"http://{host_in(1, n)}/{n}")
        body = programme(n)
        sign = SIGN("", body)
        values = {"text_hash": sign.exact, "features": sign.features, "length": sign.length, "title": f"{n}题"}
        run_in(one)(store.store, done(page, article=article(page.url, body, **values)))
        bodies = [body for box in ("inbox", "outbox") for (body,) in rows(one, f"SELECT body FROM {box}")]
        announced.append(Counter(text[1] for body in bodies for text in json.loads(body).get("texts", ())))
        rows(one, "DELETE FROM inbox")
        rows(one, "DELETE FROM outbox")
    ids = [fingerprint(f"http://{host_in(1, n)}/{n}") for n in range(3)]
    assert announced == [{ids[0]: 9}, {}, {ids[2]: 9, ids[1]: 9}]
