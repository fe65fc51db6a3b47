"""Databases of earlier schemas are brought up to date, whole, and the newest migration leads to the declared tables."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, MetaData, NullPool, create_engine, create_mock_engine, event, inspect, text

from db.engine import migration
from db.engine.database import open_for_crawl, open_for_reading, parse_url
from db.engine.errors import DatabaseGone, InUse, WrongDatabase
from db.engine.migration import SCHEMA
from db.tables import Record
from db.tables.views import make_views, view_statements
from tests.db.engine.earlier import SCHEMAS, STATES, make_earlier
from tests.forked import start_process
from tests.postgres import empty_database
from tests.table import each_row

pytestmark = pytest.mark.dialects

VERSIONS = Path(__file__).parents[3] / "db" / "migrations" / "versions"


# ---------------------------------------------------------------- what is declared, and what is there


def declared_tables(dialect: str) -> MetaData:
    """The declared tables as a database of this kind has them."""
    if dialect != "sqlite":
        return Record.metadata
    tables = MetaData()  # a copy: constraints that this process has added to tables of Postgres would be left out
    for table in Record.metadata.sorted_tables:
        table.to_metadata(tables)
    return tables


def declaration(dialect: str) -> list[str]:
    """Statements that make all that is declared."""
    statements: list[str] = []
    engine: Any = create_mock_engine(
        f"{dialect}://" if dialect == "sqlite" else f"{dialect}+psycopg://",
        lambda sql, *_, **__: statements.append(str(sql.compile(dialect=engine.dialect))),
    )
    declared_tables(dialect).create_all(engine, checkfirst=False)
    # SQLAlchemy orders the references of a table by chance
    tables = (" ".join(sorted(line.strip(" \t,") for line in one.splitlines())) for one in statements)
    return [*sorted(tables), *view_statements(dialect)]


def digest(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def plain(sql: str | None) -> str:
    return " ".join((sql or "").split())


def schema(connection: Connection) -> dict[str, Any]:
    """Everything that a database says of its tables, in no order that means nothing."""
    found = _sqlite_schema if connection.dialect.name == "sqlite" else _postgres_schema
    return {name: value for name, value in found(connection).items() if "alembic" not in name}


def _sqlite_schema(connection: Connection) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, name, table, sql in connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        if name.startswith("search_words"):
            continue
        found[f"{kind} {name}"] = plain(sql) if kind != "table" else ""
        if kind == "table":
            columns = connection.exec_driver_sql(
                f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo('{table}')"
            )
            keys = connection.exec_driver_sql(
                f'SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(\'{table}\')'
            )
            deferred = {plain(key) for key in re.findall(r"FOREIGN KEY ?\((.*?DEFERRED)", sql)}
            rowid = "WITHOUT ROWID" in sql
            found[f"{kind} {name}"] = set(map(tuple, columns)), set(map(tuple, keys)), deferred, rowid
    return found


_OF_POSTGRES = {
    "column": "SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
    "pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d "
    "ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
    "table": "SELECT relname, relkind, reloptions, pg_get_partkeydef(oid) FROM pg_class c "
    "WHERE relkind IN ('r', 'p', 'S')",
    "index": "SELECT indexname, indexdef FROM pg_indexes c",
    "constraint": "SELECT c.relname || '.' || n.conname, pg_get_constraintdef(n.oid) FROM pg_constraint n "
    "JOIN pg_class c ON c.oid = n.conrelid",
    "trigger": "SELECT t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
    "WHERE NOT t.tgisinternal",
    "view": "SELECT viewname, definition FROM pg_views c",
    "function": "SELECT proname, prosrc FROM pg_proc c",
}


def _postgres_schema(connection: Connection) -> dict[str, Any]:
    found = {}
    for kind, query in _OF_POSTGRES.items():
        space = {"index": "schemaname", "view": "schemaname", "function": "pronamespace::regnamespace::text"}
        where = f"{space.get(kind, 'relnamespace::regnamespace::text')} = 'public'"
        for name, *values in connection.exec_driver_sql(
            f"SELECT * FROM ({query} {'AND' if 'WHERE' in query else 'WHERE'} {where}) q"
        ):
            if not name.startswith("page_20"):
                found[f"{kind} {name}"] = tuple(plain(v) if isinstance(v, str) else v for v in values)
    return found


@contextmanager
def connected(database_url: str) -> Iterator[Connection]:
    """A plain connection to a database, whatever is in it."""
    engine = create_engine(parse_url(database_url), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def declared_schema(database_url: str) -> dict[str, Any]:
    """The schema that the declarations alone make of an empty database, which is empty afterwards."""
    with connected(database_url) as connection:
        declared_tables(connection.dialect.name).create_all(connection, checkfirst=False)
        make_views(connection)
        found = schema(connection)
    empty(database_url)
    return found


def empty(database_url: str) -> None:
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite":
        Path(str(url.database)).unlink()
        return
    with connected(database_url) as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")


def found_in(database_url: str) -> dict[str, Any]:
    with connected(database_url) as connection:
        return schema(connection)


def rows_of(database_url: str) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    with connected(database_url) as connection:
        tables = sorted(set(inspect(connection).get_table_names()) - {"alembic_version", "search_words"})
        return {
            table: sorted((dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {table}"))), key=repr)
            for table in tables
        }


# ---------------------------------------------------------------- the newest migration, and the declarations


@pytest.mark.parametrize("state", ["new", *STATES])
def test_newest_schema_is_the_declared_one(database_url: str, state: str) -> None:
    wanted = declared_schema(database_url)
    if state != "new":
        make_earlier(database_url, state)
    open_for_crawl(database_url).close()
    found = found_in(database_url)
    assert {name: value for name, value in found.items() if wanted.get(name) != value} == {
        name: value for name, value in wanted.items() if found.get(name) != value
    }
    kinds = {name.split()[0] for name in found}
    assert kinds >= {"table", "index", "trigger", "view"}


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE cluster ADD COLUMN colour TEXT",
        "DROP INDEX ix_article_text_hash",
        "DROP VIEW _sites",
        "DROP TABLE render_gain",
    ],
)
def test_comparison_of_schemas_sees_a_change(database_url: str, change: str) -> None:
    open_for_crawl(database_url).close()
    before = found_in(database_url)
    with connected(database_url) as connection:
        connection.exec_driver_sql(change)
    assert found_in(database_url) != before


def test_declared_tables_are_those_of_the_newest_migration() -> None:
    """A database that exists gets a change of tables, indexes, views or triggers by a migration alone."""
    (newest,) = VERSIONS.glob(f"{int(SCHEMA):04}_*.py")
    spec = spec_from_file_location("newest", newest)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    now = digest(*declaration("sqlite"), *declaration("postgresql"))
    assert module.revision == SCHEMA
    assert now == module.DIGEST, (
        f"tables, indexes, views or triggers are declared otherwise than {newest.name} leaves them: write a new "
        f'migration (one without statements does for views and triggers) with DIGEST = "{now}"'
    )


def test_migrations_that_were_published_do_not_change() -> None:
    """A database that has gone through one never sees what is added to it later."""
    published = json.loads((SCHEMAS / "published.json").read_text(encoding="utf-8"))
    files = [path for path in VERSIONS.iterdir() if path.suffix in {".py", ".sql"}]
    now = {path.name: digest(path.read_text(encoding="utf-8")) for path in sorted(files)}
    assert now == published, "write a new migration, and add it to tests/db/engine/schemas/published.json"


# ---------------------------------------------------------------- earlier databases


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("attempt", [open_for_crawl, open_for_reading])
def test_earlier_database_keeps_every_row(
    database_url: str, state: str, attempt: Callable[[str], Any], caplog: pytest.LogCaptureFixture
) -> None:
    make_earlier(database_url, state)
    before = rows_of(database_url)
    with caplog.at_level(logging.WARNING):
        opened = attempt(database_url)
    articles = text("SELECT title, text_from FROM v_articles ORDER BY title")
    shown = opened.read(lambda connection: connection.execute(articles).all())
    opened.close()
    after = rows_of(database_url)
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]] if rows else after[table]
        assert sorted(kept, key=repr) == rows, table
    assert [title for title, _ in shown] == [
        row["title"] for row in sorted(before["article"], key=lambda r: r["title"])
    ]
    assert {source for _, source in shown} == ({"html"} if state == STATES[0] else {"html", "browser"})
    assert [record.message.count("\n") for record in caplog.records] == [0]
    assert f"from schema 5 to {SCHEMA}" in caplog.text
    attempt(database_url).close()
    assert len(caplog.records) == 1


@pytest.mark.parametrize("state", STATES)
def test_copy_of_an_earlier_file_is_kept_beside_it(
    tmp_path: Path, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    make_earlier(url, state)
    (tmp_path / "news.db").chmod(0o640)
    with closing(sqlite3.connect(tmp_path / "news.db")) as other:  # what stands in the log is copied, too
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("UPDATE site SET name = 'in the log'")
        other.commit()
        before, tables = rows_of(url), found_in(url)
        open_for_crawl(url).close()
    copy = tmp_path / "news.schema-5.db"
    assert str(copy) in caplog.text
    assert rows_of(f"sqlite:///{copy}") == before
    assert found_in(f"sqlite:///{copy}") == tables
    assert copy.stat().st_mode & 0o777 == 0o640
    (tmp_path / "news.db").unlink()
    shutil.copyfile(copy, tmp_path / "news.db")  # the way back, and forth again
    open_for_reading(url).close()
    assert rows_of(f"sqlite:///{copy}") == before
    assert {path.name for path in tmp_path.glob("*.db*")} >= {"news.db", "news.schema-5.db", "news.schema-5-2.db"}
    assert not list(tmp_path.glob("*.copying"))


def test_earlier_file_without_room_for_a_copy_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    make_earlier(url, STATES[0])
    before = (tmp_path / "news.db").read_bytes()
    monkeypatch.setattr(migration, "_SPARE_BYTES", 1 << 60)
    for attempt in (open_for_crawl, open_for_reading):
        with pytest.raises(WrongDatabase, match="no room for the copy"):
            attempt(url)
    assert found_in(url) == found_in(url)
    monkeypatch.undo()
    with connected(url) as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == "5"
    assert len(before) == (tmp_path / "news.db").stat().st_size
    open_for_crawl(url).close()


# ---------------------------------------------------------------- killed, and at the same time


def _die_at(database_url: str, last: int) -> None:
    """Open a database, and be killed before a statement, a commit or the copy's being there; 0 for never."""
    count = 0

    def step(*_: object) -> None:
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def replace(part: Path, copy: Path) -> Path:
        step()
        return plain_replace(part, copy)

    plain_replace = Path.replace
    Path.replace = replace  # type: ignore[method-assign,assignment] - in a process of its own
    event.listen(Engine, "before_cursor_execute", step)
    event.listen(Engine, "commit", step)
    open_for_crawl(database_url).close()
    os._exit(count)


def _run(work: Callable[..., None], *arguments: Any) -> int | None:
    process = start_process(work, *arguments)
    process.join(300)
    return process.exitcode


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_migration_leaves_the_old_or_the_new_state(database_url: str, kills: int) -> None:
    is_sqlite = database_url.startswith("sqlite")
    make_earlier(database_url, STATES[0])
    old, rows = found_in(database_url), rows_of(database_url)
    steps = _run(_die_at, database_url, 0)
    assert steps is not None
    assert steps > 20
    new = found_in(database_url)
    assert new != old
    states = []
    for last in [*range(1, steps, max(2 if is_sqlite else 9, steps // kills)), steps]:
        empty(database_url)
        make_earlier(database_url, STATES[0])
        assert _run(_die_at, database_url, last) == -signal.SIGKILL
        is_old = found_in(database_url) == old
        states.append(is_old)
        assert is_old or found_in(database_url) == new
        open_for_crawl(database_url).close()
        assert found_in(database_url) == new
        after = rows_of(database_url)
        assert {table: len(found) for table, found in after.items() if table in rows} == {
            table: len(found) for table, found in rows.items()
        }
    assert states[0]
    assert not list(Path(str(parse_url(database_url).database)).parent.glob("*.copying")) or not is_sqlite


def _open(attempt: Callable[[str], Any], database_url: str) -> None:
    try:
        attempt(database_url).close()
    except InUse:  # another crawl has the lock, and so has done it
        open_for_reading(database_url).close()


def test_processes_that_open_at_once_migrate_once(database_url: str) -> None:
    make_earlier(database_url, STATES[0])
    rows = rows_of(database_url)["article"]
    processes = [start_process(_open, attempt, database_url) for attempt in (open_for_crawl, open_for_reading) * 3]
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * 6
    assert [row | {"text_from": "html", "related": "", "kind_probability": None} for row in rows] == rows_of(
        database_url
    )["article"]
    if database_url.startswith("sqlite"):
        assert len(list(Path(str(parse_url(database_url).database)).parent.glob("*.schema-5*"))) == 1


def test_file_that_an_older_crawl_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.database._LONGEST_START", 0.3)
    url = f"sqlite:///{tmp_path}/news.db"
    open_for_crawl(url).close()
    crawl = open_for_crawl(url)
    with connected(url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '5'")
    with pytest.raises(WrongDatabase, match=r"a crawl of an older version is running on .*; stop it"):
        open_for_reading(url)
    with pytest.raises(InUse, match="another crawl is running"):
        open_for_crawl(url)
    crawl.close()
    open_for_reading(url).close()


def test_tables_of_postgres_that_an_older_crawl_uses_are_left_alone(postgres_server: str) -> None:
    with empty_database(postgres_server, f"used_{os.getpid()}") as url:
        make_earlier(url, STATES[0])
        with connected(url) as connection:
            connection.exec_driver_sql(
                "UPDATE run SET finished = NULL, machine = 'elsewhere', alive_until = extract(epoch FROM now()) + 60"
            )
        with pytest.raises(DatabaseGone, match=r"an older version of this program is crawling .*elsewhere"):
            open_for_crawl(url, patience_seconds=0)
        with connected(url) as connection:
            assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == "5"
            connection.exec_driver_sql("UPDATE run SET alive_until = 0")
        open_for_reading(url).close()


# ---------------------------------------------------------------- what cannot be opened


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("CREATE TABLE customers (id INTEGER)", "holds other tables"),
        (
            "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('a1b2c3d4e5f6')",
            "other",
        ),
        ("CREATE TABLE alembic_version (number TEXT); INSERT INTO alembic_version VALUES ('5')", "holds other tables"),
        (
            "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('5'), ('6')",
            "holds other tables",
        ),
        ("CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('4')", "older version"),
        (
            "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('999')",
            "newer version",
        ),
        ("CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('5')", "lacks a part"),
        (
            f"CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('{SCHEMA}')",
            "lacks a part",
        ),
    ],
)
def test_database_that_is_none_of_this_program(database_url: str, tables: str, words: str) -> None:
    with connected(database_url) as connection:
        for statement in tables.split("; "):
            connection.exec_driver_sql(statement)
    before = found_in(database_url)
    for attempt in (open_for_crawl, open_for_reading):
        with pytest.raises(WrongDatabase, match=words) as caught:
            attempt(database_url)
        assert "\n" not in str(caught.value)
    assert found_in(database_url) == before


def test_database_that_lacks_a_column_is_refused(database_url: str) -> None:
    open_for_crawl(database_url).close()
    with connected(database_url) as connection:
        connection.exec_driver_sql("ALTER TABLE run_sample RENAME COLUMN queued TO waiting")
    for attempt in (open_for_crawl, open_for_reading):
        with pytest.raises(WrongDatabase, match=r"lacks a part of a crawl's tables \(run_sample\.queued\)"):
            attempt(database_url)


def test_view_of_a_user_on_ours_is_named(postgres_server: str) -> None:
    with empty_database(postgres_server, f"viewed_{os.getpid()}") as url:
        make_earlier(url, STATES[0])
        with connected(url) as connection:
            connection.exec_driver_sql("CREATE VIEW mine AS SELECT title FROM v_articles")
        with pytest.raises(WrongDatabase, match=r"cannot drop view .*; nothing was changed") as caught:
            open_for_reading(url)
        assert "\n" not in str(caught.value)
        with connected(url) as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM mine").scalar_one() == 3


@pytest.mark.parametrize("damage", ["cut", "zeros", "noise", "text"])
def test_damaged_file_is_one_sentence(tmp_path: Path, damage: str) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    make_earlier(url, STATES[0])
    path = tmp_path / "news.db"
    whole = path.read_bytes()
    path.write_bytes(
        {
            "cut": whole[:5000],
            "zeros": whole[:100] + bytes(len(whole) - 100),
            "noise": whole[:1000] + bytes(n * 37 % 251 for n in range(len(whole) - 1000)),
            "text": b"shopping list\n" * 100,
        }[damage]
    )
    for attempt in (open_for_reading, open_for_crawl):
        with pytest.raises(WrongDatabase) as caught:
            attempt(url)
        assert "\n" not in str(caught.value)


def _refused(database_url: str) -> None:
    """Exit with 0 when opening is refused for good, as a user who may not write."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        open_for_crawl(database_url, patience_seconds=0)
    except WrongDatabase as problem:
        os._exit("\n" in str(problem))
    os._exit(9)


@each_row("state", [SCHEMA, *STATES])
def test_read_only_file_is_refused_for_good(state: str) -> None:
    """The folder is not one of the tests', which nobody else may enter."""
    folder = Path(tempfile.mkdtemp())
    try:
        url = f"sqlite:///{folder}/news.db"
        if state == SCHEMA:
            open_for_crawl(url).close()
        else:
            make_earlier(url, state)
        (folder / "news.db.lock").touch()
        for path in (*folder.iterdir(), folder):
            path.chmod(0o555)
        assert _run(_refused, url) == 0
        (folder / "news.db.lock").chmod(0o666)
        assert _run(_refused, url) == 0
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
