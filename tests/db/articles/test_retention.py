"""Raw pages by month, a partition each on Postgres; earlier texts. The same on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from db.articles.retention import prune_pages, prune_versions
from db.engine.database import Database
from db.engine.partitions import Month, partitions
from db.frontier import claims, leases, runs
from db.frontier.insert import add_urls
from db.frontier.retention import prune_signals
from db.queries.status import stored_page_of
from db.records.keys import fingerprint, iso
from db.records.outcome import StoredPage
from db.records.url import Lease, Pruning
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

pytestmark = pytest.mark.dialects

URL = "http://a.example/{}"
DAY = 86_400.0
TIMES = [datetime(2024, month, 9, tzinfo=UTC).timestamp() for month in (1, 2, 3)]
store = EachTimeNew().store


@pytest.fixture
def found(run_in: Callable) -> list[Lease]:
    """Three pages that are under way."""
    run_id = run_in(runs.start_run, start(seed_row(URL.format("")))).run_id
    run_in(add_urls, (NOW, [new_url(URL.format(n), score=1 - n / 9, score_parts='{"depth": 1}') for n in range(3)]))
    run_in(leases.take_hosts, (run_id, 9))
    return sorted(run_in(claims.lease, wish(run_id, {fingerprint("a.example"): 3})).urls, key=lambda each: each.url)


def kept(database: Database, lease: Lease) -> tuple[float, bytes] | None:
    """When a page was fetched, and its bytes."""
    with database.engine.connect() as connection:
        stored = stored_page_of(connection, lease.id)
        return None if stored is None else (stored[0], stored[1].body)


def months(database: Database) -> list[str]:
    with database.engine.connect() as connection:
        return partitions(connection)


def raw(content: bytes) -> StoredPage:
    return StoredPage("text/html", "utf-8", content)


def test_months_of_pages_go_when_they_are_old(run_in: Callable, database: Database, found: list[Lease]) -> None:
    for lease, at in zip(found, TIMES, strict=True):
        run_in(store, done(lease, fetched_at=at, raw=raw(lease.url.encode())))
    if not database.is_sqlite:
        assert months(database)[-3:] == ["page_2024_01", "page_2024_02", "page_2024_03"]
    march = Month(2024, 3).begin
    while run_in(prune_pages, Pruning(0.0, march - 1)) is not None:  # February had not ended by then
        pass
    assert [kept(database, lease) for lease in found] == [
        None,
        *((at, one.url.encode()) for at, one in zip(TIMES[1:], found[1:], strict=True)),
    ]
    while run_in(prune_pages, Pruning(0.0, march)) is not None:
        pass
    assert [kept(database, lease) is None for lease in found] == [True, True, False]
    if not database.is_sqlite:
        assert months(database)[-1] == "page_2024_03"
        assert "page_2024_02" not in months(database)


def test_page_fetched_again_in_another_month_is_kept_once(
    run_in: Callable, database: Database, found: list[Lease]
) -> None:
    first = found[0]
    run_in(store, done(first, fetched_at=TIMES[0], raw=raw(b"old"), next_visit=NOW))
    with database.engine.begin() as connection:
        again = {"id": first.id}
        connection.execute(text("UPDATE url SET state = 'leased', leased_by = 1 WHERE id = :id"), again)
    run_in(store, done(first, fetched_at=TIMES[2], raw=raw(b"new")))
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM page")).scalar_one() == 1
    assert kept(database, first) == (TIMES[2], b"new")


def test_earlier_texts_go_when_they_are_old(run_in: Callable, database: Database, found: list[Lease]) -> None:
    run_in(store, done(found[0], article=article(found[0].url, "一篇文章")))
    with database.engine.begin() as connection:
        rows = [{"id": found[0].id, "seen": iso(at)} for at in TIMES]
        connection.execute(text("INSERT INTO article_version VALUES (:id, :seen, '', '')"), rows)
    while run_in(prune_versions, Pruning(0.0, TIMES[1] + 1)) is not None:
        pass
    with database.engine.connect() as connection:
        assert list(connection.execute(text("SELECT seen FROM article_version")).scalars()) == [iso(TIMES[2])]


def test_signals_go_of_fetched_urls_alone(run_in: Callable, database: Database, found: list[Lease]) -> None:
    run_in(store, done(found[0], fetched_at=TIMES[0]))
    run_in(store, done(found[1], fetched_at=TIMES[2]))
    until = run_in(prune_signals, Pruning(0.0, TIMES[1]))
    assert until == TIMES[0]
    assert run_in(prune_signals, Pruning(until, TIMES[1])) is None
    with database.engine.connect() as connection:
        parts = dict(connection.execute(text("SELECT url, score_parts IS NULL FROM url")).all())
    assert [bool(parts[lease.url]) for lease in found] == [True, False, False]
