"""Seeds that go and come back, and those that ask for other pages than before."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import claims, revisits, runs
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.frontier.limits import begin_day
from db.frontier.seeds import seed_rows, seeds_of_hosts
from db.records.keys import fingerprint
from db.records.run import Limits, Resumed, RunEnd, StoredSeed
from db.records.visit import Due

from ..frontier_rows import NO_LIMITS, NOW, new_url, seed_row, start, wish

ONE, TWO = seed_row("http://a.example/"), seed_row("http://b.example/")
A = fingerprint("a.example")


@pytest.fixture
def begin(run_in: Callable) -> Callable[..., Resumed]:
    """Begin a run, as another process each time, with the seeds' own URLs."""

    def begin_run(*seeds: StoredSeed, urls: Sequence = (), **values: object) -> Resumed:
        resumed = run_in(runs.start_run, start(*seeds, **values))
        own = [new_url(one.url, seed_id=one.id, depth=0) for one in seeds]
        run_in(add_urls, (NOW, [*own, *urls]))
        run_in(take_hosts, (resumed.run_id, 9))
        return resumed

    return begin_run


def ask(database: Database, question: str) -> list[tuple]:
    with database.engine.begin() as connection:
        return [tuple(row) for row in connection.execute(text(question))]


def write(database: Database, statement: str) -> None:
    with database.engine.begin() as connection:
        connection.execute(text(statement))


def page(url: str, seed: StoredSeed = ONE, **values: object) -> object:
    return new_url(url, seed_id=seed.id, **values)


def states(database: Database) -> dict[str, tuple[str, str | None]]:
    return {url: (state, reason) for url, state, reason in ask(database, "SELECT url, state, reason FROM url")}


def end(run_in: Callable, resumed: Resumed, database: Database) -> None:
    run_in(runs.let_go, resumed.run_id)
    write(database, f"UPDATE run SET finished = 'now' WHERE id = {resumed.run_id}")


def test_urls_of_a_seed_that_is_taken_out_rest_until_it_returns(
    begin: Callable, run_in: Callable, database: Database
) -> None:
    first = begin(
        ONE, TWO, urls=[page("http://a.example/1"), page("http://a.example/2"), page("http://b.example/1", TWO)]
    )
    assert dict(first.resting) == {}
    end(run_in, first, database)
    write(database, "UPDATE url SET state='done', visits=1, next_visit=5 WHERE url='http://a.example/2'")
    second = begin(TWO)
    assert dict(second.resting) == {"http://a.example/": 2}
    assert [row.url for row in second.seeds] == ["http://b.example/"]
    found = states(database)
    assert found["http://a.example/"] == found["http://a.example/1"] == ("skipped", "not in seeds")
    assert found["http://b.example/1"] == ("pending", None)
    assert run_in(revisits.wake_due, Due(NOW, NO_LIMITS)).urls == 0, "nor is visited again what was fetched"
    end(run_in, second, database)
    third = begin(ONE, TWO)
    assert dict(third.resting) == {}
    assert states(database)["http://a.example/1"] == ("pending", None)
    assert run_in(revisits.wake_due, Due(NOW, NO_LIMITS)).urls == 1


def test_waiting_revisit_of_a_seed_that_is_taken_out_is_what_it_was(
    begin: Callable, run_in: Callable, database: Database
) -> None:
    end(run_in, begin(ONE, TWO, urls=[page("http://a.example/1")]), database)
    write(database, "UPDATE url SET visits=1, state_before='done', reason='list page' WHERE url='http://a.example/1'")
    begin(TWO)
    assert states(database)["http://a.example/1"] == ("done", "list page")


def test_url_that_another_seed_names_is_handed_over(begin: Callable, run_in: Callable, database: Database) -> None:
    end(run_in, begin(ONE, TWO, urls=[page(f"http://a.example/{n}") for n in (1, 2, 3)]), database)
    source = fingerprint("http://b.example/")
    write(database, f"UPDATE url SET state='done', visits=1 WHERE id={source}")
    for n in (1, 2):
        write(database, f"INSERT INTO link VALUES ({source}, {fingerprint(f'http://a.example/{n}')}, 1)")
    second = begin(TWO, covers=lambda _seed, url: not url.endswith("2"))
    found = states(database)
    assert found["http://a.example/1"] == ("pending", None)
    assert found["http://a.example/2"] == found["http://a.example/3"] == ("skipped", "not in seeds")
    assert second.resting["http://a.example/"] == 3
    heir = ask(database, "SELECT seed_id, depth FROM url WHERE url='http://a.example/1'")
    assert heir == [(TWO.id, 1)]
    run_in(add_urls, (NOW, [page("http://a.example/3", TWO)]))
    assert states(database)["http://a.example/3"] == ("pending", None), "it is found again by a page that counts"


def test_seeds_of_runs_at_work_count(begin: Callable, run_in: Callable, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("on SQLite there is one run at a time")
    first = begin(ONE, TWO)
    begin(TWO, pid=2)
    assert states(database)["http://a.example/"] == ("pending", None), "the other run was given it"
    end(run_in, first, database)
    begin(TWO, pid=3)
    assert states(database)["http://a.example/"] == ("skipped", "not in seeds")


def test_other_rules_of_a_seed_let_urls_wait_again(begin: Callable, run_in: Callable, database: Database) -> None:
    urls = [
        page("http://a.example/x", reason="excluded"),
        page("http://a.example/old", reason="too old", detail="2024-04-01"),
        page("http://a.example/older", reason="too old", detail="2023-04-01"),
        page("http://a.example/fresh", dated=1_711_000_000.0),
    ]
    end(run_in, begin(ONE, urls=urls), database)
    end(run_in, begin(ONE), database)
    assert [reason for _, reason in states(database).values()].count(None) == 2, "the same rules change nothing"
    since = 1_709_251_200.0  # 2024-03-01
    wider = seed_row("http://a.example/", include=("/x",))
    end(run_in, begin(wider, span=lambda _row: (since, math.inf)), database)
    found = states(database)
    assert found["http://a.example/x"] == found["http://a.example/old"] == ("pending", None)
    assert found["http://a.example/older"] == ("skipped", "too old")
    later = {"settings": json.dumps({"SINCE": "2024-05-01"}), "span": lambda _row: (since + 61 * 86_400, math.inf)}
    begin(wider, **later)
    assert states(database)["http://a.example/fresh"] == ("skipped", "too old")


def test_waiting_url_that_a_new_rule_forbids_is_not_leased(
    begin: Callable, run_in: Callable, database: Database
) -> None:
    run_id = begin(ONE, urls=[page("http://a.example/1")]).run_id
    leases = run_in(
        claims.lease, wish(run_id, {A: 9}, refuse=lambda one: None if one.depth == 0 else ("excluded", "x"))
    )
    assert [one.url for one in leases.urls] == ["http://a.example/"]
    assert leases.skipped == {"excluded: x": 1}
    assert states(database)["http://a.example/1"] == ("skipped", "excluded")


PAGES = [page(f"http://a.example/{n}") for n in range(9)]


def test_pages_of_a_run_are_counted_from_its_start(begin: Callable, run_in: Callable, database: Database) -> None:
    limits = Limits(pages_per_run=3)
    for taken in (3, 3, 3):
        resumed = begin(ONE, urls=PAGES, limits=limits)
        leases = run_in(claims.lease, wish(resumed.run_id, {A: 9}, limits=limits))
        assert len(leases.urls) == taken
        assert run_in(claims.lease, wish(resumed.run_id, {A: 9}, limits=limits)).spent
        left = run_in(claims.waiting, limits)
        assert left.within == 3, "those under way"
        assert run_in(revisits.wake_due, Due(NOW, limits)).spent
        write(database, "UPDATE url SET state='done', leased_by=NULL WHERE state='leased'")
        end(run_in, resumed, database)


def test_runs_beside_each_other_share_the_pages_of_a_run(begin: Callable, run_in: Callable, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("on SQLite there is one run at a time")
    limits = Limits(pages_per_run=3)
    first = begin(ONE, urls=PAGES, limits=limits)
    assert len(run_in(claims.lease, wish(first.run_id, {A: 2}, limits=limits)).urls) == 2
    second = begin(TWO, ONE, limits=limits, pid=2)
    b = fingerprint("b.example")
    run_in(add_urls, (NOW, [page(f"http://b.example/{n}", TWO) for n in range(5)]))
    run_in(take_hosts, (second.run_id, 9))
    assert len(run_in(claims.lease, wish(second.run_id, {b: 9}, limits=limits)).urls) == 1


def test_pages_of_a_day_are_counted_from_midnight(begin: Callable, run_in: Callable, database: Database) -> None:
    limits = Limits(pages_per_day=4)
    resumed = begin(ONE, urls=PAGES, limits=limits)
    leases = run_in(claims.lease, wish(resumed.run_id, {A: 9}, limits=limits))
    assert len(leases.urls) == 4
    assert run_in(claims.waiting, limits).beyond == 6
    woken = run_in(revisits.wake_due, Due(NOW, limits))
    assert not woken.spent, "the next day there will be pages"
    run_in(claims.release, (resumed.run_id, leases.urls[:1]))
    write(database, f"UPDATE url SET state='done', leased_by=NULL WHERE id = {leases.urls[1].id}")
    assert ask(database, "SELECT day_pages FROM budget") == [(3,)], "one was given back"
    write(database, "UPDATE budget SET day = day - 1")
    assert run_in(claims.waiting, limits).beyond == 0
    assert len(run_in(claims.lease, wish(resumed.run_id, {A: 9}, limits=limits)).urls) == 2, "two are under way"
    assert ask(database, "SELECT day_pages, pages FROM budget") == [(4, 5)]
    with database.engine.begin() as connection:
        begin_day(connection)
    assert ask(database, "SELECT day_pages FROM budget") == [(4,)], "a day begins once"


def test_proxies_of_a_seed_are_those_it_was_last_given_with(begin: Callable[..., Resumed], database: Database) -> None:
    for proxy in ("socks5://p.cn:1080", "none", ""):
        begin(replace(ONE, proxy=proxy))
        assert database.read(lambda connection: [row.proxy for row in seed_rows(connection, None)]) == [proxy]


def test_seeds_by_which_hosts_are_asked(begin: Callable[..., Resumed], database: Database) -> None:
    far = page("http://far.example/1", TWO)
    begin(ONE, TWO, urls=[far, new_url("http://none.example/robots.txt", seed_id=None)])
    ids = [fingerprint(host) for host in ("a.example", "far.example", "none.example", "other.example")]
    found = database.read(lambda connection: seeds_of_hosts(connection, ids))
    assert found == {ids[0]: ONE.id, ids[1]: TWO.id}


def test_hosts_of_which_nothing_waits_are_not_asked(database: Database, begin: Callable, run_in: Callable) -> None:
    """A seed that went, or an archive that was read to its end, leaves hosts marked as having work."""
    first = begin(ONE, TWO)
    run_in(runs.finish_run, RunEnd(first.run_id, "2024-05-01T00:00:00+00:00", "finished", 0, {}))
    begin(ONE)
    queued = ask(database, "SELECT name, queued FROM host ORDER BY name")
    assert queued == [("a.example", 1), ("b.example", 0)]
