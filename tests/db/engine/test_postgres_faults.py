"""A Postgres server that restarts, crashes, goes away or refuses: what the database thread makes of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import Connection, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError

from db.engine import database as opening
from db.engine.database import Database, open_for_crawl, open_for_reading
from db.engine.errors import DatabaseGone, WrongDatabase
from db.engine.statements import transaction_number, transaction_state
from db.engine.writer import Writer
from tests.postgres import NoPostgres, Postgres, empty_database


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server that a test may mistreat."""
    try:
        with Postgres() as own:
            yield own
    except NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture
def url(server: Postgres) -> Iterator[str]:
    with empty_database(server.url, "faults") as name:
        yield name


def insert(connection: Connection, numbers: Sequence[int]) -> list[int]:
    for number in numbers:
        connection.execute(text("INSERT INTO site (id, name, first_seen) VALUES (:id, '', '')"), {"id": number})
    return list(numbers)


def stored(url: str) -> list[int]:
    database = open_for_reading(url)
    with database.engine.connect() as connection:
        found = list(connection.execute(text("SELECT id FROM site ORDER BY id")).scalars())
    database.close()
    return found


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_restart_is_waited_for(server: Postgres, url: str, mode: str) -> None:
    database = open_for_crawl(url)
    said: list[str] = []
    writer = Writer(database, patience_seconds=60, waiting=said.append)
    writer.submit(insert, 0).result(300)
    restart = threading.Thread(target=server.restart, args=(mode,))
    restart.start()
    futures = []
    number = 0
    while restart.is_alive():
        number += 1
        futures.append(writer.submit(insert, number))
        time.sleep(0.02)
    assert sorted(future.result(300) for future in futures) == list(range(1, number + 1))
    writer.close()
    database.close()
    assert stored(url) == list(range(number + 1)), "each once"
    assert said[-1:] in ([], [""])


def test_commit_that_was_not_heard_of_is_not_done_twice(url: str) -> None:
    database = open_for_crawl(url)
    writer = Writer(database, patience_seconds=60, waiting=lambda _: None)
    cut: list[bool] = []

    def lose_the_answer(connection: Connection) -> None:
        """What the client sees when the server has written the commit and then goes away."""
        if not cut:
            cut.append(True)
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.execute("COMMIT")
            driver.close()

    event.listen(database.engine, "commit", lose_the_answer)
    assert writer.submit(insert, 1).result(300) == 1
    assert cut
    assert writer.submit(insert, 2).result(300) == 2
    writer.close()
    database.close()
    assert stored(url) == [1, 2]


def test_work_lost_in_a_crash_was_not_done(url: str) -> None:
    """A number that the server gave out and has forgotten, because nothing of its transaction reached the disk."""
    database = open_for_crawl(url)
    with database.engine.begin() as connection:
        done = connection.execute(text("SELECT txid_current()")).scalar_one()
    with database.engine.begin() as connection:
        connection.execute(text("SELECT txid_current()"))
        mine = transaction_number(connection)
        assert mine is not None
        states = [transaction_state(connection, number) for number in (done, mine, mine + 1000)]
    database.close()
    assert states == ["committed", "aborted", "aborted"]


def test_connection_that_is_cut_is_made_anew(url: str) -> None:
    database = open_for_crawl(url)
    said: list[str] = []
    writer = Writer(database, patience_seconds=30, waiting=said.append)
    writer.submit(insert, 1).result(300)
    with database.engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    assert writer.submit(insert, 2).result(300) == 2
    assert "does not answer" in said[0]
    assert said[-1] == "", "whoever waits is told that it is over"
    writer.close()
    database.close()


def test_transactions_in_each_others_way_are_tried_again_without_a_word(url: str) -> None:
    said: list[str] = []
    both = threading.Barrier(2)
    tries: list[tuple[int, int]] = []

    def update_two(connection: Connection, orders: Sequence[tuple[int, int]]) -> list[None]:
        """Change two rows in the order given; whoever does so the other way round has its first row by then."""
        for order in orders:
            tries.append(order)
            for key in order:
                connection.execute(text("UPDATE site SET name = name || 'x' WHERE id = :id"), {"id": key})
                if tries.count(order) == 1 and key == order[0]:
                    both.wait(60)
        return [None for _ in orders]

    databases = [open_for_crawl(url) for _ in range(2)]
    writers = [Writer(database, patience_seconds=60, waiting=said.append) for database in databases]
    for number in (1, 2):
        writers[0].submit(insert, number).result(300)
    futures = [writer.submit(update_two, order) for writer, order in zip(writers, ((1, 2), (2, 1)), strict=True)]
    for future in futures:
        future.result(300)
    with databases[0].engine.connect() as connection:
        assert set(connection.execute(text("SELECT name FROM site")).scalars()) == {"xx"}
    assert len(tries) > 2, "one of them was in the other's way"
    assert said == []
    for writer, database in zip(writers, databases, strict=True):
        writer.close()
        database.close()


def test_process_frozen_inside_a_transaction_does_not_hold_up_the_others(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_FROZEN_SECONDS", 0.3)
    frozen, other = (open_for_crawl(url) for _ in range(2))
    with frozen.engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(1)"))
        with other.engine.begin() as living:
            living.execute(text("SELECT pg_advisory_xact_lock(1)"))
        with pytest.raises(DBAPIError):
            connection.execute(text("SELECT 1"))
        connection.invalidate()
    for database in (frozen, other):
        database.close()


def test_server_that_stays_away_ends_the_crawl(url: str) -> None:
    gone = make_url(url).set(port=1).render_as_string(hide_password=False)
    engine = create_engine(gone.replace("postgresql://", "postgresql+psycopg://"))
    writer = Writer(Database(engine, "db", None), patience_seconds=1, waiting=lambda _: None)
    with pytest.raises(DatabaseGone, match=r"does not answer .*gave up after 1 s"):
        writer.submit(insert, 1).result(300)
    writer.close()
    with pytest.raises(DatabaseGone, match="does not answer"):
        open_for_crawl(gone, patience_seconds=0)


# ---------------------------------------------------------------- refused


def refused(url: str, **parts: object) -> str:
    """The one sentence that opening a database ends with."""
    with pytest.raises(WrongDatabase) as caught:
        open_for_crawl(make_url(url).set(**parts).render_as_string(hide_password=False), patience_seconds=0)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "geheim" not in sentence
    return sentence


def admin(url: str, *statements: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def test_wrong_names_and_passwords(server: Postgres, url: str) -> None:
    admin(server.url, "DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 'right'")
    server.require_password("locked")
    assert "check user and password" in refused(url, username="locked", password="geheim")
    assert "check user and password" in refused(url, username="locked")
    assert "check user and password" in refused(url, username="nobody_here")
    assert "there is no such database" in refused(url, database="not_there")


def test_no_rights_to_create_tables(server: Postgres, url: str) -> None:
    admin(server.url, "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN")
    admin(url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    assert "may not create or write tables" in refused(url, username="reader")
    open_for_crawl(url).close()
    assert "may not create or write tables" in refused(url, username="reader"), "nor use those of another"


def test_old_servers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_OLDEST_POSTGRES", 99)
    assert "too old; 99 or newer is needed" in refused(url)


def test_other_encodings(server: Postgres) -> None:
    statement = "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    admin(server.url, "DROP DATABASE IF EXISTS latin", statement)
    assert "keeps text as LATIN1" in refused(server.url, database="latin")
