"""What sites' memories are in the table: lessons are added to what it holds, whoever brings them, and none is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from db.engine.database import Database, open_for_crawl
from db.engine.writer import Writer
from db.sites.memory import Memory, TrainingBatch


def append(known: bytes, lessons: Sequence[bytes]) -> tuple[bytes, int]:
    """A memory that is easy to look at: one byte a lesson."""
    state = known + b"".join(lessons)
    return state, len(state)


memory = Memory(append)


def test_nothing_is_known_at_first(run_in: Callable) -> None:
    assert run_in(memory.load, 7) == b""


def test_lessons_are_added_to_what_the_table_holds(run_in: Callable, database: Database) -> None:
    assert run_in(memory.save, TrainingBatch(7, [b"a", b"b"])) == b"ab"
    assert run_in(memory.save, TrainingBatch(7, [b"c"])) == b"abc"
    assert run_in(memory.save, TrainingBatch(-8, [b"\0\xff"])) == b"\0\xff"
    assert run_in(memory.load, 7) == b"abc"
    with database.engine.connect() as connection:
        rows = connection.execute(text("SELECT host_id, pages FROM site_memory ORDER BY host_id")).all()
    assert [tuple(row) for row in rows] == [(-8, 2), (7, 3)]


def test_batch_of_several_hosts(database: Database) -> None:
    batch = [TrainingBatch(2, [b"x"]), TrainingBatch(1, [b"y"]), TrainingBatch(2, [b"z"])]
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        assert memory.save(connection, batch) == [b"xz", b"y", b"xz"]
        assert memory.load(connection, [1, 2, 3, 2]) == [b"y", b"xz", b"", b"xz"]


def test_transaction_that_fails_leaves_what_was_known(run_in: Callable, database: Database) -> None:
    def fail(_known: bytes, _lessons: Sequence[bytes]) -> tuple[bytes, int]:
        raise ValueError("of this host nothing can be learned")

    run_in(memory.save, TrainingBatch(7, [b"a"]))
    with pytest.raises(ValueError, match="nothing can be learned"):
        run_in(Memory(fail).save, TrainingBatch(7, [b"b"]))
    assert run_in(memory.load, 7) == b"a"


def test_memory_is_there_after_the_database_was_closed(database_url: str) -> None:
    for known in (b"a", b"aa"):
        database = open_for_crawl(database_url)
        with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
            assert memory.save(connection, [TrainingBatch(7, [b"a"])]) == [known]
        database.close()


@pytest.fixture
def writers(database: Database, database_url: str) -> Iterator[list[Writer]]:
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
    assert said == []


def test_two_processes_lose_no_lesson_of_each_other(writers: list[Writer], run_in: Callable) -> None:
    """Both learn of the same new hosts at the same time, in opposite orders."""

    def teach(number: int) -> None:
        order = range(20) if number else range(19, -1, -1)
        for _ in range(5):
            futures = [writers[number].submit(memory.save, TrainingBatch(host, [bytes([number])])) for host in order]
            for future in futures:
                future.result(300)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(teach, (0, 1)))
    for host in range(20):
        assert sorted(run_in(memory.load, host)) == [0] * 5 + [1] * 5
