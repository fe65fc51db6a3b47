"""Several runs on one Postgres: who holds what, who hears what, and what happens when one dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from db.engine.database import Database, open_for_crawl
from db.engine.errors import WrongDatabase
from db.engine.processes import here, is_gone
from db.engine.writer import Writer
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.frontier.leases import Handover, News, equal_parts
from db.frontier.scores import ScoreBatch, set_scores
from db.queries.status import Waits, status
from db.records.keys import fingerprint
from db.records.run import Limits, RunEnd
from db.records.url import Lease
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, sign, start, wish
from tests.db.stores import real_judge, store_of

pytestmark = pytest.mark.dialects

HOSTS = [f"{letter}.example" for letter in "abcdef"]


@pytest.fixture
def run(database: Database, run_in: Callable) -> Callable:
    """Skip SQLite, where a second run is refused; do database work."""
    if database.is_sqlite:
        pytest.skip("on SQLite there is one run at a time")
    return run_in


def begin(run: Callable, **values: object) -> int:
    return run(runs.start_run, start(seed_row("http://a.example/"), **values)).run_id


def pages(run: Callable, number: int = 3) -> None:
    run(add_urls, (NOW, [new_url(f"http://{host}/{n}") for host in HOSTS for n in range(number)]))


def names(hosts: list) -> set[str]:
    return {host.name for host in hosts}


def test_hosts_are_shared_equally(run: Callable) -> None:
    first = begin(run)
    pages(run)
    assert names(run(leases.take_hosts, (first, 99))) == set(HOSTS)
    assert run(leases.renew, sign(first, NOW, hosts=6)) == News(), "alone: keep all"
    second = begin(run)
    assert run(leases.renew, sign(second, NOW, hosts=0)) == News(share=3, leads=False)
    news = run(leases.renew, sign(first, NOW, hosts=6))
    assert (news.share, news.surplus) == (3, 3)
    given = [(fingerprint(host), NOW + 7) for host in HOSTS[:3]]
    run(leases.hand_over, Handover(first, given, []))
    assert run(leases.renew, sign(first, NOW, hosts=3)).surplus == 0
    taken = run(leases.take_hosts, (second, 99))
    assert names(taken) == set(HOSTS[:3])
    assert {host.ready_at for host in taken} == {NOW + 7}, "the host's clock goes along"


def test_nothing_is_handed_over_while_hosts_are_free(run: Callable) -> None:
    first = begin(run)
    pages(run)
    run(leases.take_hosts, (first, 4))
    second = begin(run)
    run(leases.renew, sign(second, NOW, hosts=0))
    assert run(leases.renew, sign(first, NOW, hosts=4)) == News(share=3, surplus=1), (
        "one is missing beside the two free"
    )
    run(leases.take_hosts, (second, 99))
    run(leases.renew, sign(second, NOW, hosts=2))
    assert run(leases.renew, sign(first, NOW, hosts=4)).surplus == 1
    third_of_one = run(leases.renew, sign(first, NOW, hosts=1))
    assert third_of_one.surplus == 0


def test_small_process_does_not_keep_hosts_from_a_large_one(run: Callable) -> None:
    first = begin(run)
    pages(run)
    run(leases.take_hosts, (first, 99))
    begin(run, settings='{"MAX_HOSTS": 1}')
    news = run(leases.renew, sign(first, NOW, hosts=6))
    assert (news.share, news.surplus) == (5, 1)


@given(st.integers(0, 60), st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_equal_parts_hold_everything_that_can_be_held(total: int, capacities: list[int]) -> None:
    least, most = equal_parts(total, capacities)
    assert 0 <= most - least <= 1
    assert sum(min(least, capacity) for capacity in capacities) <= total
    assert sum(min(most, capacity) for capacity in capacities) >= min(total, sum(capacities))


def test_run_taken_for_dead_takes_nothing_any_more(run: Callable, database: Database) -> None:
    first = begin(run)
    pages(run)
    run(leases.take_hosts, (first, 2))
    expire(database, first)
    second = begin(run)
    assert run(leases.take_hosts, (first, 99)) == []
    assert run(frontier.lease, wish(first, {fingerprint("a.example"): 1})).urls == []
    taken = names(run(leases.take_hosts, (second, 99)))
    assert taken == set(HOSTS)
    run(leases.drop_hosts, (first, Limits(pages=0), [fingerprint(host) for host in HOSTS]))
    assert run(frontier.lease, wish(second, {fingerprint("a.example"): 1})).urls, "nor lets go what another holds"


def test_store_that_lost_its_lease_halfway_counts_nothing_twice(run: Callable, database: Database) -> None:
    first = begin(run)
    leased_urls = leased(run, first, "a.example", 3)
    expire(database, first)
    begin(run)
    run(store_of(first).store, done(leased_urls[0], counted=False, state="skipped"))
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 0


def test_hosts_of_ended_runs_are_freed_at_the_next_start(run: Callable, database: Database) -> None:
    first = begin(run)
    leased(run, first, "a.example", 3)
    with database.engine.begin() as connection:  # as no transaction of ours leaves it
        connection.execute(text("UPDATE run SET alive_until = 0"))
    assert run(runs.start_run, start()).recovered == 3


def test_hosts_whose_take_over_was_not_heard_of_are_let_go(run_in: Callable) -> None:
    run_id = begin(run_in)
    pages(run_in)
    known = run_in(leases.take_hosts, (run_id, 2))
    run_in(leases.take_hosts, (run_id, 3))  # this answer never came
    run_in(leases.return_orphans, (run_id, set(), {host.id for host in known}))
    assert len(run_in(leases.take_hosts, (run_id, 99))) == 4


def test_urls_held_are_handed_over_with_their_host(run: Callable, database: Database) -> None:
    first, second = begin(run), begin(run)
    pages(run)
    host = fingerprint("a.example")
    run(leases.take_hosts, (first, 99))
    leased_urls = run(frontier.lease, wish(first, {host: 2})).urls
    run(leases.hand_over, Handover(first, [(host, NOW)], leased_urls))
    assert names(run(leases.take_hosts, (second, 99))) == {"a.example"}
    assert len(run(frontier.lease, wish(second, {host: 9})).urls) == 3
    assert run(frontier.lease, wish(first, {host: 9})).urls == []
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 3


def test_owner_hears_of_urls_that_others_find(run: Callable) -> None:
    first, second = begin(run), begin(run)
    pages(run, 1)
    taken = run(leases.take_hosts, (first, 5))
    run(leases.take_hosts, (second, 99))
    own, foreign = sorted(set(HOSTS) - names(taken))[0], taken[0].name
    lease = run(frontier.lease, wish(second, {fingerprint(own): 1})).urls[0]
    run(leases.renew, sign(first, NOW))  # whatever happened before
    found = [new_url(f"http://{host}/new") for host in (own, foreign)]
    run(store_of(second).store, done(lease, new_urls=found))
    assert run(leases.renew, sign(second, NOW)).notified == (), "what one has found oneself is no news"
    assert run(leases.renew, sign(first, NOW)).notified == (fingerprint(foreign),)
    assert run(leases.renew, sign(first, NOW)).notified == ()


def test_host_knocked_at_is_found_when_its_owner_dies(run: Callable, database: Database) -> None:
    first, second = begin(run), begin(run)
    pages(run, 1)
    run(leases.take_hosts, (first, 99))
    run(add_urls, (NOW, [new_url("http://a.example/new")]))
    expire(database, first)
    assert run(leases.renew, sign(second, NOW)).freed == 0
    assert names(run(leases.take_hosts, (second, 99))) == set(HOSTS)


def expire(database: Database, run_id: int) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE run SET alive_until = 1 WHERE id = :id"), {"id": run_id})


def test_host_rests_when_its_owner_has_died(run: Callable, database: Database) -> None:
    first, second = begin(run), begin(run)
    pages(run, 1)
    run(leases.take_hosts, (first, 99))
    expire(database, first)
    run(leases.renew, sign(second, NOW))
    assert all(host.ready_at > NOW for host in run(leases.take_hosts, (second, 99))), "its last request may be open"


def test_leases_whose_answer_was_lost_are_found(run_in: Callable) -> None:
    run_id = begin(run_in)
    pages(run_in)
    run_in(leases.take_hosts, (run_id, 99))
    wants = {fingerprint("a.example"): 2}
    known = run_in(frontier.lease, wish(run_id, wants)).urls
    run_in(frontier.lease, wish(run_id, wants))  # this answer never came
    assert run_in(leases.return_orphans, (run_id, {lease.id for lease in known}, {fingerprint(h) for h in HOSTS})) == 1
    again = run_in(frontier.lease, wish(run_id, wants)).urls
    assert [lease.tries for lease in again] == [0]


def test_hosts_that_were_taken_over_are_not_given_back(run: Callable, database: Database) -> None:
    first = begin(run, limits=Limits(pages=9))
    pages(run)
    run(leases.take_hosts, (first, 99))
    wants = {fingerprint("a.example"): 1}
    leased_urls = run(frontier.lease, wish(first, wants, limits=Limits(pages=9))).urls
    expire(database, first)
    second = begin(run, limits=Limits(pages=9))
    run(leases.take_hosts, (second, 99))
    assert run(frontier.lease, wish(second, wants, limits=Limits(pages=9))).urls[0].id == leased_urls[0].id
    run(frontier.release, (first, leased_urls))
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT leased_by FROM url WHERE state = 'leased'")).scalar_one() == second
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 1


def test_leases_bring_seeds_of_other_processes(run: Callable) -> None:
    first = begin(run)
    later = seed_row("http://b.example/", pages=5, depth=2)
    run(runs.start_run, start(later))
    run(add_urls, (NOW, [new_url("http://b.example/", seed_id=later.id)]))
    run(leases.take_hosts, (first, 9))
    assert run(frontier.lease, wish(first, {fingerprint("b.example"): 1})).seeds == [later]


def test_one_run_leads(run: Callable, database: Database) -> None:
    first, second, third = begin(run), begin(run), begin(run)
    assert [run(leases.renew, sign(n, NOW)).leads for n in (third, second, first)] == [False, False, True]
    run(runs.finish_run, RunEnd(first, "2025-01-01T00:01:00+00:00", "stopped", 3, {}))
    assert [run(leases.renew, sign(n, NOW)).leads for n in (third, second)] == [False, True]
    expire(database, second)
    assert run(leases.renew, sign(third, NOW)).leads, "the other one is dead"


def test_only_run_leads(run_in: Callable) -> None:
    run_id = begin(run_in)
    assert run_in(leases.renew, sign(run_id, NOW)).leads


def test_process_that_is_gone_is_known_to_be_dead_on_its_machine(run: Callable) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run(runs.start_run, start(seed_row("http://a.example/"), pid=process.pid, place=here()))
    dead = run(runs.start_run, start(pid=process.pid, place="another machine")).run_id
    pages(run, 1)
    run(leases.take_hosts, (1, 99))
    assert not is_gone(here(), process.pid)
    living = begin(run)
    assert run(leases.take_hosts, (living, 99)) == []
    process.communicate(b"\n")
    assert is_gone(here(), process.pid)
    run(leases.renew, sign(living, NOW))
    assert names(run(leases.take_hosts, (living, 99))) == set(HOSTS)
    run(leases.renew, sign(dead, NOW)), "of a process elsewhere nothing is known until its lease ends"


def test_run_that_may_not_join_leaves_nothing(run: Callable, database: Database) -> None:
    def refuse(others: list) -> None:
        raise WrongDatabase(f"run {others[0].id} is there")

    begin(run)
    with pytest.raises(WrongDatabase, match="run 1 is there"):
        run(runs.start_run, start(seed_row("http://b.example/"), admit=refuse))
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM run")).scalar_one() == 1
        assert connection.execute(text("SELECT count(*) FROM seed")).scalar_one() == 1


def test_status_says_who_holds_what(run_in: Callable, database: Database) -> None:
    run_id = begin(run_in)
    pages(run_in)
    run_in(leases.take_hosts, (run_id, 99))
    run_in(frontier.lease, wish(run_id, {fingerprint("a.example"): 2}))
    run_in(leases.renew, sign(run_id, NOW, hosts=6, pages_per_second=2.5, totals={"pages": 7}))
    with database.engine.connect() as connection:
        found = status(connection, NOW + 1)
    (told,) = found.runs
    assert (told.hosts, told.urls, told.pages_per_second, told.totals) == (6, 2, 2.5, {"pages": 7})
    assert 50 < told.lease_seconds <= 60
    assert {host.owner for host in found.hosts} == {run_id}
    run_in(runs.finish_run, RunEnd(run_id, "2025-01-01T00:01:00+00:00", "stopped", 3, {"pages": 8}))
    with database.engine.connect() as connection:
        (told,) = status(connection, NOW + 1).runs
    assert (told.hosts, told.urls, told.lease_seconds, told.outcome) == (0, 0, 0.0, "stopped")


def test_status_says_which_host_waits_longest(run_in: Callable, database: Database) -> None:
    run_id = begin(run_in)
    pages(run_in)
    run_in(leases.take_hosts, (run_id, 99))
    store = store_of(run_id).store

    def waits(now: float) -> Waits:
        with database.engine.connect() as connection:
            return status(connection, now).waits

    assert waits(NOW) == Waits("", 0.0, 6)
    for n, host in enumerate(HOSTS[:3]):
        (lease,) = run_in(frontier.lease, wish(run_id, {fingerprint(host): 1})).urls
        run_in(store, done(lease, ready_at=NOW + 5 + n))
    assert waits(NOW + 2) == Waits("", 0.0, 3), "their pauses are not over"
    assert waits(NOW + 50) == Waits(HOSTS[0], 45.0, 3)
    rest = run_in(frontier.lease, wish(run_id, {fingerprint(HOSTS[0]): 9})).urls
    assert waits(NOW + 50) == Waits(HOSTS[1], 44.0, 3), "one without waiting URLs waits for nothing"
    for lease in rest:
        run_in(store, done(lease, state="pending", counted=False, next_visit=NOW + 99))
    assert waits(NOW + 50) == Waits(HOSTS[1], 44.0, 3), "nor does one whose URLs are due later"


# ---------------------------------------------------------------- at the same time


@pytest.fixture
def writers(database: Database, database_url: str, request: pytest.FixtureRequest) -> Iterator[list[Writer]]:
    """Two processes' database threads, each with a connection of its own."""
    if database.is_sqlite:
        pytest.skip("on SQLite there is one writer")
    said: list[str] = []
    databases = [open_for_crawl(database_url) for _ in range(2)]
    both = [Writer(each, patience_seconds=20, waiting=said.append) for each in databases]
    yield both
    for writer, opened in zip(both, databases, strict=True):
        writer.close()
        opened.close()
    assert said == [], "processes that are in each other's way are nothing to speak of"


def at_once(futures: list[Future]) -> list:
    return [future.result(300) for future in futures]


def leased(run: Callable, run_id: int, host: str, number: int) -> list[Lease]:
    run(add_urls, (NOW, [new_url(f"http://{host}/{n}") for n in range(number)]))
    run(leases.take_hosts, (run_id, 99))
    return run(frontier.lease, wish(run_id, {fingerprint(host): number})).urls


def test_copy_cannot_slip_in_between(run: Callable, writers: list[Writer], database: Database) -> None:
    first = begin(run)
    mine = leased(run, first, "a.example", 30)
    second = begin(run)
    theirs = leased(run, second, "b.example", 30)
    stores = [store_of(run_id, real_judge()).store for run_id in (first, second)]
    gate = threading.Barrier(2)

    def store(number: int, lease: Lease, body: str) -> str:
        gate.wait(300)
        outcome = done(lease, article=article(lease.url, body))
        return writers[number].submit(stores[number], outcome).result(300).article

    with ThreadPoolExecutor(2) as pool:
        for a, b in zip(mine, theirs, strict=True):
            body = f"第{a.id}期：市图书馆新馆昨天开放，首日迎来三千多名读者，馆藏图书八十万册，外文图书十二万册。" * 2
            futures = [pool.submit(store, number, lease, body) for number, lease in enumerate((a, b))]
            assert sorted(at_once(futures)) == ["duplicate", "new"]
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*), min(size), max(size) FROM cluster")).one() == (30, 2, 2)


def test_page_limits_are_exact_under_contention(run: Callable, writers: list[Writer], database: Database) -> None:
    limits = Limits(pages=50)
    seed = seed_row("http://a.example/", pages=40)
    ids = [run(runs.start_run, start(seed, limits=limits)).run_id for _ in range(2)]
    run(add_urls, (NOW, [new_url(f"http://{h}/{n}", seed_id=seed.id) for h in HOSTS for n in range(30)]))
    mine = [{host.id for host in run(leases.take_hosts, (run_id, 3))} for run_id in ids]
    futures = [
        writer.submit(frontier.lease, wish(run_id, dict.fromkeys(hosts, 1), limits=limits))
        for _ in range(20)
        for writer, run_id, hosts in zip(writers, ids, mine, strict=True)
    ]
    assert sum(len(leased_urls.urls) for leased_urls in at_once(futures)) == 40
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 40
        assert connection.execute(text("SELECT used FROM seed")).scalar_one() == 40
        assert connection.execute(text("SELECT sum(pages) FROM host")).scalar_one() == 40


def test_pages_full_of_links_to_each_other_do_not_deadlock(run: Callable, writers: list[Writer]) -> None:
    first = begin(run)
    mine = leased(run, first, "a.example", 60)
    second = begin(run)
    theirs = leased(run, second, "b.example", 60)
    stores = [store_of(run_id).store for run_id in (first, second)]
    futures = []
    for number, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        links = [new_url(f"http://{h}/x{n}", depth=9 - number % 9) for h in HOSTS for n in range(number, number + 9)]
        for writer, work, lease, found in zip(writers, stores, (a, b), (links, links[::-1]), strict=True):
            counted = number % 3 > 0
            outcome = done(lease, new_urls=found, counted=counted, article=article(lease.url, f"{lease.id}" * 20))
            futures.append(writer.submit(work, outcome))
    assert all(stored.article == "new" for stored in at_once(futures))


def test_new_scores_and_pages_do_not_deadlock(run: Callable, writers: list[Writer], database: Database) -> None:
    """One process scores anew all that the other one is storing, leasing and finding again."""
    first = begin(run)
    mine = leased(run, first, "a.example", 60)
    run(add_urls, (NOW, [new_url(f"http://{h}/x{n}", depth=9) for h in HOSTS for n in range(60)]))
    store = store_of(first).store
    keys = [fingerprint(f"http://{h}/x{n}") for h in HOSTS for n in range(60)] + [lease.id for lease in mine]
    futures = []
    for number, lease in enumerate(mine):
        ids = np.array(keys[::-1] if number % 2 else keys, np.int64)
        scores = ScoreBatch(ids, ids % 1000 / 1000, ["{}"] * len(ids), keep=12)
        found = [new_url(f"http://{h}/x{n}", depth=8 - number % 8) for h in HOSTS for n in range(number, number + 9)]
        futures.append(writers[0].submit(store, done(lease, new_urls=found[::-1])))
        futures.append(writers[1].submit(set_scores, scores))
        futures.append(writers[0].submit(frontier.lease, wish(first, {fingerprint("a.example"): 1})))
    assert sum(n for n in at_once(futures) if isinstance(n, int)) > 0


def test_host_whose_urls_another_process_is_writing_is_asked_again_soon(run: Callable, database: Database) -> None:
    first = begin(run)
    pages(run)
    run(leases.take_hosts, (first, 99))
    wanted = wish(first, {fingerprint("a.example"): 9})
    with database.engine.begin() as other:
        other.execute(text("SELECT id FROM url WHERE url <> 'http://a.example/1' FOR UPDATE")).all()
        leased_urls = run(frontier.lease, wanted)
        assert [lease.url for lease in leased_urls.urls] == ["http://a.example/1"]
        assert NOW < leased_urls.dry[fingerprint("a.example")] < NOW + 5
    leased_urls = run(frontier.lease, wanted)
    assert (len(leased_urls.urls), leased_urls.dry) == (2, {fingerprint("a.example"): None})
