"""URLs of an archive: leased in any state, within the limits, and at rest in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import archived, runs
from db.frontier.archived import ArchiveRequest
from db.frontier.insert import add_urls
from db.frontier.limits import begin_day
from db.records.lease import Leases
from db.records.run import Limits

from ..frontier_rows import NO_LIMITS, NOW, new_url, seed_row, start

SEED = seed_row("http://a.example/")
ONE, TWO, THREE = (new_url(f"http://a.example/{n}") for n in (1, 2, 3))


def ask(database: Database, question: str) -> list[tuple]:
    with database.engine.begin() as connection:
        return [tuple(row) for row in connection.execute(text(question))]


def write(database: Database, statement: str) -> None:
    with database.engine.begin() as connection:
        connection.execute(text(statement))


@pytest.fixture
def lease(run_in: Callable) -> Callable[..., Leases]:
    """Begin a run and lease URLs of an archive, fetched a second apart."""
    run_id = run_in(runs.start_run, start(SEED)).run_id
    run_in(add_urls, (NOW, [new_url(SEED.url, seed_id=SEED.id, depth=0)]))

    def lease_some(*new: object, limits: Limits = NO_LIMITS, unchanged: frozenset = frozenset()) -> Leases:
        found = [(one, NOW + n) for n, one in enumerate(new)]
        return run_in(archived.lease_archived, ArchiveRequest(run_id, limits, found, unchanged))

    return lease_some


def test_urls_are_leased_in_any_state(lease: Callable, database: Database, run_in: Callable) -> None:
    outside = replace(TWO, reason="outside")
    run_in(add_urls, (NOW, [outside, THREE]))
    write(
        database, f"UPDATE url SET state = 'done', visits = 1, http_status = 200, fetched_at = 1 WHERE id = {THREE.id}"
    )
    leases = {one.id: one for one in lease(ONE, TWO, THREE).urls}
    assert set(leases) == {ONE.id, TWO.id, THREE.id}
    assert [leases[one.id].is_revisit for one in (ONE, TWO, THREE)] == [False, False, True]
    assert leases[THREE.id].state_before == "done"
    assert {state for (state,) in ask(database, "SELECT state FROM url WHERE url LIKE '%/_'")} >= {"leased"}
    assert ask(database, "SELECT pages FROM host") == [(2,)]
    assert lease(ONE, TWO, THREE).urls == []  # they are under way


def test_answer_no_newer_than_what_is_stored_is_left_out(lease: Callable, database: Database, run_in: Callable) -> None:
    run_in(add_urls, (NOW, [ONE, TWO]))
    write(database, f"UPDATE url SET state = 'done', visits = 1, fetched_at = {NOW + 1}")
    assert lease(ONE, TWO, THREE, unchanged=frozenset({THREE.id})).urls == []  # as a page was that is not here
    assert [one.id for one in lease(ONE, TWO, THREE).urls] == [THREE.id]


def test_limits_hold(lease: Callable, run_in: Callable) -> None:
    run_in(lambda connection, batch: [begin_day(connection) for _ in batch], None)
    found = lease(ONE, TWO, THREE, limits=Limits(pages=2))
    assert ({one.id for one in found.urls}, found.spent) == ({ONE.id, TWO.id}, True)


def test_nothing_waits_in_the_end(lease: Callable, database: Database, run_in: Callable) -> None:
    run_in(add_urls, (NOW, [ONE, TWO]))
    write(database, f"UPDATE url SET visits = 1, state_before = 'done', http_status = 200 WHERE id = {TWO.id}")
    assert run_in(archived.rest_all, NOW) == 3
    assert ask(database, "SELECT url, state, reason FROM url ORDER BY url") == [
        ("http://a.example/", "skipped", "not in seeds"),
        ("http://a.example/1", "skipped", "not in seeds"),
        ("http://a.example/2", "done", None),
    ]
    assert [one.id for one in lease(ONE).urls] == [ONE.id]
