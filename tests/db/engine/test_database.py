from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, ForeignKeyConstraint, Index, inspect, text
from sqlalchemy.exc import DBAPIError

from db.engine.database import SCHEMA, Database, open_for_crawl, open_for_reading, parse_url
from db.engine.errors import DatabaseGone, DatabaseProblem, Unavailable, WrongDatabase
from db.tables import Record
from tests.table import each_row

pytestmark = pytest.mark.dialects

_ON_POSTGRES = {"ix_search_document_words"}
_ON_SQLITE = {"ix_page_fetched_at", "ix_search_document_number"}


def differences(connection: Connection) -> list[Any]:
    """What Alembic would change, but for indexes whose order it cannot read, words, and partitions."""

    def is_compared(one: Any, name: str, *_: Any) -> bool:
        is_here = not isinstance(one, ForeignKeyConstraint) or is_made(one, connection)
        is_words = str(name).startswith(("search_words", "page_20")) or (
            name in (_ON_POSTGRES if connection.dialect.name == "sqlite" else _ON_SQLITE)
        )
        return is_here and not is_words and name not in {"ix_url_queue", "ix_article_newest", "ix_article_site_newest"}

    compared = {"compare_type": True, "include_object": is_compared}
    return compare_metadata(MigrationContext.configure(connection, opts=compared), Record.metadata)


def is_made(key: ForeignKeyConstraint, connection: Connection) -> bool:
    """Whether a reference is declared in a database of this kind."""
    return key._ddl_if is None or key._ddl_if.dialect == connection.dialect.name


def test_new_database_has_the_tables_of_the_models(database: Database) -> None:
    """Kinds of tables, and order and rows of indexes, are read from the database: Alembic does not compare them."""
    indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"
    if database.is_sqlite:
        indexes = "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with database.engine.connect() as connection:
        assert differences(connection) == []
        made = " ".join(connection.execute(text(indexes)).scalars())
        if database.is_sqlite:
            tables = connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'"))
            own = {name for name in tables.scalars() if not name.startswith("search_words")}
            assert own == {"link", "outside", "run_sample", "source_attribution", "url_count"}
    assert re.search(r"ix_url_queue ON .*\(host_id, score DESC, found_at\) WHERE .*state.* = 'pending'", made)
    last = "" if database.is_sqlite else " NULLS LAST"
    assert re.search(rf"ix_article_site_newest ON .*\(site_id, published_utc DESC{last}\)", made)
    partial = [each for table in Record.metadata.tables.values() for each in table.indexes if is_partial(each)]
    assert made.count(" WHERE ") == len(partial) > 10


def is_partial(index: Index) -> bool:
    return index.dialect_kwargs["sqlite_where"] is not None


def test_alembic_notices_a_table_that_differs(database: Database) -> None:
    """The comparison above is worth what it sees."""
    with database.engine.connect() as connection:
        connection.execute(text("ALTER TABLE cluster ADD COLUMN colour TEXT"))
        connection.execute(text("DROP INDEX ix_article_text_hash"))
        seen = {change[0] for change in differences(connection)}
        connection.rollback()
    assert seen == {"remove_column", "add_index"}


def test_schema_number_is_that_of_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "db/migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == SCHEMA


def test_queue_index_is_used_to_lease(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("Postgres decides by statistics")
    with database.engine.connect() as connection:
        plan = connection.execute(
            text(
                "EXPLAIN QUERY PLAN SELECT id FROM url WHERE host_id = 1 AND state = 'pending' "
                "ORDER BY score DESC, found_at LIMIT 5"
            )
        ).all()
    assert "ix_url_queue" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_views_for_people(database: Database) -> None:
    with database.engine.connect() as connection:
        views = set(inspect(connection).get_view_names())
        names = sorted({*views, *inspect(connection).get_table_names()})
        columns = {name: list(connection.execute(text(f"SELECT * FROM {name}")).keys()) for name in views}
    assert names[:3] == ["_articles", "_dropped", "_sites"], "lists of tables, which are sorted, begin with them"
    assert names[-3:] == ["v_articles", "v_dropped", "v_sites"]
    assert all(columns[f"_{name}"] == columns[f"v_{name}"] for name in ("articles", "dropped", "sites"))
    first = ["id", "url", "title", "authors", "source", "published_at", "published_utc", "language", "text", "site"]
    wanted = [*first, "first_seen", "fetched_at"]
    assert columns["v_articles"][: len(wanted)] == wanted


def test_second_crawl_on_a_file_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    first = open_for_crawl(url)
    with pytest.raises(WrongDatabase, match="another crawl is running"):
        open_for_crawl(url)
    open_for_reading(url).close()
    first.close()
    open_for_crawl(url).close()


def test_foreign_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE customers (id)")
    before = path.read_bytes()
    with pytest.raises(WrongDatabase, match="customers"):
        open_for_crawl(f"sqlite:///{path}")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("customers",)]
    assert len(path.read_bytes()) == len(before)


def test_reading_changes_no_byte_of_any_file(tmp_path: Path) -> None:
    foreign, empty, killed, copy = (tmp_path / name for name in ("other.db", "empty.db", "killed.db", "copy %23?.db"))
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE customers (id)")
    empty.touch()
    database = open_for_crawl(f"sqlite:///{killed}")
    database.write(lambda connection: connection.execute(text("INSERT INTO signature_form VALUES (1, 'of the log')")))
    for end in ("", "-wal"):  # as the crawl would leave them if it were killed now
        Path(f"{copy}{end}").write_bytes(Path(f"{killed}{end}").read_bytes())
    database.close()
    files = [foreign, empty, copy, Path(f"{copy}-wal")]
    before = [path.read_bytes() for path in files]
    assert before[-1]
    for path in (foreign, empty):
        with pytest.raises(WrongDatabase):
            open_for_reading(f"sqlite:///{path}")
    reading = open_for_reading(str(copy))
    form = text("SELECT form FROM signature_form WHERE id = 1")
    assert reading.read(lambda connection: connection.execute(form).scalar_one()) == "of the log"
    with pytest.raises(DatabaseProblem, match="read-only"):
        reading.write(lambda connection: connection.execute(text("DELETE FROM signature_form")))
    reading.close()
    assert [path.read_bytes() for path in files] == before


def test_crawl_leaves_a_whole_file_to_who_copies_it_beside_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "news.db"
    database = open_for_crawl(f"sqlite:///{path}")
    reading = open_for_reading(str(path))
    count = text("SELECT count(*) FROM signature_form")
    assert reading.read(lambda connection: connection.execute(count).scalar_one()) == 0
    database.write(lambda connection: connection.execute(text("INSERT INTO signature_form VALUES (1, 'new')")))
    database.close()
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    reading.close()
    with closing(sqlite3.connect(copy)) as opened:
        assert opened.execute("SELECT form FROM signature_form").fetchall() == [("new",)]


@pytest.mark.parametrize(
    ("revision", "words"),
    [("99", "newer version"), ("1", "older version"), ("0001", "older version"), ("0011", "older version")],
)
def test_another_schema_is_refused(database_url: str, revision: str, words: str) -> None:
    database = open_for_crawl(database_url)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :n"), {"n": revision})
    database.close()
    for attempt in (open_for_crawl, open_for_reading):
        with pytest.raises(WrongDatabase, match=words) as caught:
            attempt(database_url)
        assert "another database" in str(caught.value)


def test_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("shopping list\n" * 100)
    with pytest.raises(WrongDatabase, match="no usable SQLite database"):
        open_for_crawl(f"sqlite:///{path}")
    assert path.read_text() == "shopping list\n" * 100


@each_row(
    ("url", "part"),
    [
        ("nonsense", "no database URL"),
        ("postgresql://me:secret@host:port/x", "no database URL"),
        ("mysql://me:secret@host/x", "SQLite and Postgres"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///file:x?mode=memory&uri=true", "names no file"),
        ("postgresql://me@localhost:99999/news", "names port 99999"),
        ("postgresql://me:very@secret@localhost/news", "write it as %40"),
    ],
)
def test_wrong_urls(url: str, part: str) -> None:
    with pytest.raises(WrongDatabase, match=part) as caught:
        parse_url(url)
    assert "secret" not in str(caught.value)


@each_row("url", ["postgres://host/x", "postgresql+psycopg2://host/x", "postgresql+asyncpg://host/x"])
def test_postgres_has_one_driver(url: str) -> None:
    assert parse_url(url).drivername == "postgresql+psycopg"


@each_row("host", ["127.0.0.1:1", "nosuch.invalid"])
def test_unreachable_server_gives_up_with_a_sentence(host: str) -> None:
    with pytest.raises(DatabaseGone, match=r"does not answer \([^\[]*gave up"):
        open_for_crawl(f"postgresql://nobody:secret@{host}/x", patience_seconds=0)
    with pytest.raises(Unavailable, match="does not answer"):
        open_for_reading(f"postgresql://nobody:secret@{host}/x")


def test_password_is_never_shown() -> None:
    with pytest.raises(DatabaseGone) as caught:
        open_for_crawl("postgresql://nobody:secret@127.0.0.1:1/x?password=secret", patience_seconds=0)
    assert "secret" not in str(caught.value)


def test_missing_folder() -> None:
    with pytest.raises(WrongDatabase, match="there is no folder"):
        open_for_crawl("sqlite:////dev/null/news.db")


def test_reading_needs_a_database(tmp_path: Path) -> None:
    with pytest.raises(WrongDatabase, match="there is no database"):
        open_for_reading(f"sqlite:///{tmp_path}/none.db")


def test_locked_file_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.database._SQLITE_BUSY_MS", 100)
    path = tmp_path / "news.db"
    open_for_crawl(f"sqlite:///{path}").close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    said: list[str] = []

    def waiting(sentence: str) -> None:
        said.append(sentence)
        other.execute("ROLLBACK")

    open_for_crawl(f"sqlite:///{path}", patience_seconds=60, waiting=waiting).close()
    other.close()
    assert len(said) == 1
    assert "locked" in said[0]


def test_errors_do_not_repeat_what_was_to_be_stored(database: Database) -> None:
    """What a page says must not get into a log by way of an error."""
    with database.engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(text("SELECT :crawled FROM nowhere"), {"crawled": "what the page says"})
    assert "what the page says" not in str(caught.value)


def test_only_the_connection_that_writes_has_a_large_cache(tmp_path: Path) -> None:
    database = open_for_crawl(f"sqlite:///{tmp_path}/news.db")
    with database.connect_writer() as writer, database.engine.connect() as reader:
        sizes = [one.exec_driver_sql("PRAGMA cache_size").scalar_one() for one in (writer, reader)]
    database.close()
    assert sizes == [-(12 << 10), -(4 << 10)]


def test_locked_file_is_waited_for_only_as_long_as_anybody_wants_it(tmp_path: Path) -> None:
    path = tmp_path / "news.db"
    open_for_crawl(f"sqlite:///{path}").close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseGone, match="is locked by another program; stopped waiting"):
        open_for_crawl(f"sqlite:///{path}", patience_seconds=600, goes_on=lambda: False)
    holder.close()
