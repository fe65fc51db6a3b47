"""Hosts that rest, recover or are given up, in the tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import host_backoff, leases, runs
from db.frontier.insert import add_urls
from db.queries.status import HostStatus, status
from db.records.host import BackoffState, DeadHost
from db.records.keys import fingerprint
from db.records.run import Limits, RunEnd
from tests.db.frontier_rows import NO_LIMITS, NOW, new_url, seed_row, start, wish

A, B = fingerprint("a.example"), fingerprint("b.example")
URLS = [f"http://{host}.example/{n}" for host in "ab" for n in range(3)]
ROBOTS = "http://a.example/robots.txt"


@pytest.fixture
def run_id(run_in: Callable) -> int:
    """A run that owns two hosts with three URLs each, and the robots.txt of one."""
    number: int = run_in(runs.start_run, start(seed_row("http://a.example/"))).run_id
    rows = [new_url(url) for url in URLS]
    run_in(add_urls, (NOW, [*rows, new_url(ROBOTS, kind="robots", score=1e9)]))
    run_in(leases.take_hosts, (number, 10))
    return number


def states(database: Database) -> dict[str, tuple[str, str | None]]:
    with database.engine.connect() as connection:
        return {row.url: (row.state, row.reason) for row in connection.execute(text("SELECT * FROM url"))}


def health(database: Database) -> dict[str, HostStatus]:
    with database.engine.connect() as connection:
        return {host.name: host for host in status(connection, NOW).hosts}


def test_rest_is_seen_by_whoever_takes_the_host_next(run_id: int, run_in: Callable, database: Database) -> None:
    run_in(host_backoff.write_backoffs, BackoffState(A, 1, NOW + 5))
    run_in(host_backoff.write_backoffs, BackoffState(A, 2, NOW + 20))
    assert (health(database)["a.example"].backoffs, health(database)["a.example"].backoff_until) == (2, NOW + 20)
    run_in(leases.hand_over, leases.Handover(run_id, [(A, NOW)], []))
    [again] = run_in(leases.take_hosts, (run_id, 10))
    assert (again.id, again.backoffs, again.backoff_until, again.dead_reason) == (A, 2, NOW + 20, None)
    run_in(host_backoff.write_backoffs, BackoffState(A, 0, 0.0))
    assert health(database)["a.example"].backoffs == 0


def test_last_word_of_a_batch_counts(run_id: int, database: Database) -> None:
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        rests = [BackoffState(B, 1, NOW + 5), BackoffState(A, 1, NOW), BackoffState(B, 0, 0.0)]
        assert host_backoff.write_backoffs(connection, rests) == [None] * 3
    assert [health(database)[name].backoffs for name in ("a.example", "b.example")] == [1, 0]


def test_all_that_waits_of_a_host_is_let_go_with_the_reason(run_id: int, run_in: Callable, database: Database) -> None:
    [held] = run_in(frontier.lease, wish(run_id, {A: 1}, robots_only=frozenset({A}))).urls
    assert run_in(host_backoff.close_dead_hosts, DeadHost(run_id, A, "robots unreachable", NOW + 99)) == 3
    found = states(database)
    assert found.pop(held.url) == ("leased", None)
    assert {url: found[url] for url in URLS[:3]} == dict.fromkeys(URLS[:3], ("skipped", "robots unreachable"))
    assert {found[url] for url in URLS[3:]} == {("pending", None)}
    assert health(database)["a.example"].dead_reason == "robots unreachable"


def test_only_the_owner_gives_a_host_up(run_id: int, run_in: Callable, database: Database) -> None:
    assert run_in(host_backoff.close_dead_hosts, DeadHost(run_id + 1, A, "host unreachable", NOW + 99)) == 0
    assert health(database)["a.example"].dead_reason is None
    assert states(database)[URLS[0]] == ("pending", None)


@pytest.mark.parametrize("reason", ["robots unreachable", "host unreachable", "host busy"])
def test_next_crawl_tries_again(run_id: int, run_in: Callable, database: Database, reason: str) -> None:
    run_in(host_backoff.write_backoffs, BackoffState(A, 3, NOW + 3600))
    run_in(host_backoff.close_dead_hosts, DeadHost(run_id, A, reason, NOW + 99))
    run_in(runs.finish_run, RunEnd(run_id, "", "finished", 0, {}))
    again = run_in(runs.start_run, start(seed_row("http://a.example/")))
    assert {state for state, _ in states(database).values()} == {"pending"}
    hosts = {host.id: host for host in run_in(leases.take_hosts, (again.run_id, 10))}
    assert (hosts[A].backoffs, hosts[A].backoff_until, hosts[A].dead_reason) == (0, 0.0, None)


def test_crawl_is_busy_as_long_as_anything_waits_for_a_host_that_is_well(run_id: int, run_in: Callable) -> None:
    def busy(limits: Limits, *hosts: int) -> object:
        return run_in(host_backoff.busy_elsewhere, (limits, hosts))

    assert busy(NO_LIMITS)
    assert busy(NO_LIMITS, A)
    assert not busy(NO_LIMITS, A, B)
    run_in(host_backoff.write_backoffs, BackoffState(B, 1, NOW + 5))  # by another run, which waits for it
    assert not busy(NO_LIMITS, A)
    assert busy(NO_LIMITS)
    assert not busy(Limits(pages=0))
    leased_urls = run_in(frontier.lease, wish(run_id, {B: 3})).urls
    assert not busy(NO_LIMITS, A)
    run_in(host_backoff.write_backoffs, BackoffState(B, 0, 0.0))
    assert busy(NO_LIMITS, A), "what is leased may bring more"
    assert len(leased_urls) == 3


def test_robots_elsewhere_are_let_go_only_while_they_wait(run_id: int, run_in: Callable, database: Database) -> None:
    [held] = run_in(frontier.lease, wish(run_id, {B: 1})).urls
    ids = [fingerprint(ROBOTS), held.id, 12345]
    run_in(frontier.skip_waiting, (ids, "robots unreachable"))
    assert states(database)[ROBOTS] == ("skipped", "robots unreachable")
    assert states(database)[held.url] == ("leased", None)


def test_long_crawl_tries_again_itself(run_id: int, run_in: Callable, database: Database) -> None:
    run_in(host_backoff.close_dead_hosts, DeadHost(run_id, A, "robots unreachable", NOW + 99))
    assert run_in(host_backoff.reopen_due, (run_id, NOW + 98)) == []
    assert run_in(host_backoff.reopen_due, (run_id + 1, NOW + 99)) == [], "the host is another run's"
    assert run_in(host_backoff.reopen_due, (run_id, NOW + 99)) == [A]
    assert set(states(database).values()) == {("pending", None)}
    host = health(database)["a.example"]
    assert (host.robots, host.backoffs, host.dead_reason) == ("unknown", 0, None)
    assert run_in(host_backoff.reopen_due, (run_id, NOW + 99)) == []


def test_only_what_was_lost_with_the_host_waits_again(run_id: int, run_in: Callable, database: Database) -> None:
    run_in(frontier.skip_waiting, ([fingerprint(URLS[0])], "robots"))
    run_in(frontier.skip_waiting, ([fingerprint(URLS[3])], "host unreachable"))
    run_in(host_backoff.close_dead_hosts, DeadHost(run_id, A, "host busy", NOW))
    run_in(host_backoff.reopen_due, (run_id, NOW))
    found = states(database)
    assert [found[url] for url in URLS[:4]] == [
        ("skipped", "robots"),
        ("pending", None),
        ("pending", None),
        ("skipped", "host unreachable"),
    ]
