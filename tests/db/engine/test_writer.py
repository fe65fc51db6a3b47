from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from db.engine.database import Database, open_for_crawl
from db.engine.errors import DatabaseGone
from db.engine.writer import Writer, deliver
from db.records.keys import fingerprint

pytestmark = pytest.mark.dialects


def insert(connection: Connection, names: Sequence[str]) -> list[int]:
    """Write sites; an empty name is a fault of the job itself."""
    for name in names:
        connection.execute(
            text("INSERT INTO site (id, name, first_seen) VALUES (:id, :name, '')"),
            {"id": fingerprint(name), "name": name or None},
        )
    return [len(names)] * len(names)


def count(database: Database) -> int:
    with database.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM site")).scalar_one()


def test_results_come_after_the_commit(database: Database) -> None:
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    writer.submit(insert, "one").result(300)
    assert count(database) == 1
    writer.close()


def test_job_without_a_result_is_a_fault_and_the_next_is_done(database: Database) -> None:
    """Whoever waits for it would wait for ever, and so would all that come after."""
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)

    def lose(connection: Connection, names: Sequence[str]) -> list[int]:
        return insert(connection, names)[1:]

    with pytest.raises(RuntimeError, match="0 results for 1 jobs"):
        writer.submit(lose, "lost").result(300)
    writer.submit(insert, "kept").result(300)
    writer.close()
    assert count(database) == 1


def test_jobs_that_wait_share_a_transaction(database: Database) -> None:
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    gate = threading.Event()

    def wait(_connection: Connection, payloads: Sequence[None]) -> list[None]:
        gate.wait(300)
        return list(payloads)

    writer.submit(wait, None)
    futures = [writer.submit(insert, f"site {i}") for i in range(10)]
    gate.set()
    assert max(future.result(300) for future in futures) > 1
    writer.close()


def test_gathered_jobs_are_done_at_once_when_few_come(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.writer._GATHER_SECONDS", 3600)
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    for number in range(3):
        writer._rested_at = -1e9  # the last commit is long ago
        assert writer.gather(insert, f"slow {number}").result(300) == 1
    writer.close()


def test_gathered_jobs_share_a_transaction_under_load(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.writer._GATHER_SECONDS", 3600)
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    writer.submit(insert, "first").result(300)
    gathered = [writer.gather(insert, f"site {number}") for number in range(50)]
    urgent = writer.submit(insert, "urgent").result(300)
    assert urgent >= 50, "an urgent job takes the others along"
    assert min(future.result(300) for future in gathered[1:]) == urgent
    assert count(database) == 52
    writer.close()


def test_full_house_waits_no_longer(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.writer._GATHER_SECONDS", 3600)
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    writer.submit(insert, "first").result(300)
    gathered = [writer.gather(insert, f"site {number}") for number in range(70)]
    assert gathered[60].result(300) > 1
    writer.close()
    assert count(database) == 71


def test_closing_does_what_is_queued(database: Database) -> None:
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    futures = [writer.gather(insert, f"site {number}") for number in range(200)]
    writer.close()
    assert all(future.done() for future in futures)
    assert count(database) == 200


def test_faulty_job_fails_alone(database: Database) -> None:
    writer = Writer(database, patience_seconds=5, waiting=lambda _: None)
    futures = [writer.submit(insert, name) for name in ("a", "", "b")]
    assert futures[0].result(300) >= 1
    with pytest.raises(Exception, match=r"(?i)null"):
        futures[1].result(300)
    assert futures[2].result(300) >= 1
    assert count(database) == 2
    writer.close()


def test_locked_database_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.database._SQLITE_BUSY_MS", 100)
    monkeypatch.setattr("db.engine.writer._QUIET_SECONDS", 0.1)
    path = tmp_path / "news.db"
    database = open_for_crawl(f"sqlite:///{path}")
    said: list[str] = []
    waits = threading.Event()
    writer = Writer(database, patience_seconds=60, waiting=lambda sentence: (said.append(sentence), waits.set()))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    future = writer.submit(insert, "one")
    assert waits.wait(300)
    assert not future.done()
    other.execute("ROLLBACK")
    other.close()
    future.result(300)
    assert "locked" in said[0]
    assert said[-1] == ""
    writer.close()
    database.close()


def test_giving_up_fails_everything_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.database._SQLITE_BUSY_MS", 100)
    path = tmp_path / "news.db"
    database = open_for_crawl(f"sqlite:///{path}")
    writer = Writer(database, patience_seconds=0, waiting=lambda _: None)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    futures = [writer.submit(insert, name) for name in "abc"]
    for future in futures:
        with pytest.raises(DatabaseGone, match="gave up"):
            future.result(300)
    other.close()
    with pytest.raises(DatabaseGone):
        writer.submit(insert, "later").result(300)
    writer.close()
    database.close()


def test_cancelling_while_an_answer_comes_costs_the_others_nothing() -> None:
    class JustCancelled(Future[int]):
        def done(self) -> bool:
            return False

    late, other = JustCancelled(), Future[int]()
    late.cancel()
    deliver([(late, 1, None), (other, 2, None)])
    assert other.result(0) == 2
