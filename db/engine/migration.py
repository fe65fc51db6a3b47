"""Bring a database up to date: its schema number, migrations, and a copy.

The number is that of the newest file in `migrations/versions`. A migration is one transaction: a process that is killed
leaves the old state or the new one. Before it, a SQLite file is copied beside itself.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from ..tables import Record
from .errors import LACKS_A_PART, Unavailable, WrongDatabase
from .processes import is_gone

_MIGRATIONS = Path(__file__).parents[1] / "migrations"
SCHEMA = str(max(int(path.name[:4]) for path in (_MIGRATIONS / "versions").glob("[0-9]*.py")))
_OLDEST = 5
"""The earliest schema that can be brought up to date."""
_UNRELEASED = re.compile(r"\d{4}")
"""Numbers before the first release."""
_VERSIONS = "alembic_version"
_SPARE_BYTES = 64 << 20
"""Disk space for the log of a migration, beside the copy."""
_SILENT_SECONDS = 60.0


def schema_of(connection: Connection, name: str) -> str | None:
    """Return the number of a database's schema; None when there are no tables.

    Raises:
        WrongDatabase: it is foreign, or its schema is newer, too old, or not what its number says.
    """
    seen = inspect(connection)
    tables = set(seen.get_table_names())
    numbers: list[str] = []
    if _VERSIONS in tables and any(column["name"] == "version_num" for column in seen.get_columns(_VERSIONS)):
        numbers = [str(one) for one in connection.execute(text(f"SELECT version_num FROM {_VERSIONS}")).scalars()]
    if not tables:
        return None
    is_number = len(numbers) == 1 and numbers[0].isdecimal()
    if not is_number and (len(numbers) != 1 or "article" not in tables):
        others = sorted(tables - {_VERSIONS}) or [_VERSIONS]
        raise WrongDatabase(
            f"{name} holds other tables ({', '.join(others[:4])}); name a database of its own in DATABASE_URL"
        )
    (number,) = numbers
    if _UNRELEASED.fullmatch(number) or (is_number and int(number) < _OLDEST):
        raise WrongDatabase(
            f"{name} was made by an older version (schema {number}), and its tables cannot be brought up to date; "
            "name another database in DATABASE_URL and crawl anew, or go on with the version that made it"
        )
    if not is_number or int(number) > int(SCHEMA):
        raise WrongDatabase(
            f"{name} was made by a newer version (schema {number}); update this program or name another database"
        )
    if number == SCHEMA:
        _check_columns(connection, name)
    return number


def _check_columns(connection: Connection, name: str) -> None:
    listed = _SQLITE_COLUMNS if connection.dialect.name == "sqlite" else _POSTGRES_COLUMNS
    there = {(table, column) for table, column in connection.execute(listed)}
    for table in Record.metadata.sorted_tables:
        for column in table.columns:
            if (table.name, column.name) not in there:
                raise WrongDatabase(LACKS_A_PART.format(where=name, text=f"{table.name}.{column.name}"))


_SQLITE_COLUMNS = text(
    "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
    "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'"
)
_POSTGRES_COLUMNS = text(
    "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
    "WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND pg_table_is_visible(c.oid)"
)


def migrate(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - slow to load, and seldom needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def refuse_beside_runs(connection: Connection, name: str) -> None:
    """Refuse to change the tables of Postgres while an older version is crawling.

    Raises:
        Unavailable: naming the run.
    """
    if connection.dialect.name == "sqlite":
        return
    for row in connection.execute(_LIVING):
        if not is_gone(row.place, row.pid):
            raise Unavailable(
                f"{name}: an older version of this program is crawling (run {row.id}, process {row.pid} on "
                f"{row.machine}); its tables are brought up to date when it has been stopped"
            )


_LIVING = text(
    "SELECT id, pid, place, machine FROM run "
    "WHERE finished IS NULL AND alive_until > extract(epoch FROM clock_timestamp())"
)


# ---------------------------------------------------------------- the copy of a SQLite file


def keep_copy(path: Path, number: str) -> Path:
    """Copy a SQLite file beside itself, with its log; returns the copy.

    Nobody must be writing to the file. An earlier copy is never overwritten.

    Raises:
        WrongDatabase: there is no room for it.
        OSError: it cannot be written.
    """
    part = _part(path)
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source:
        (pages,), (size,) = (source.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        needed, free = pages * size + _SPARE_BYTES, shutil.disk_usage(path.resolve().parent).free
        if free < needed:
            raise WrongDatabase(
                f"{path} has to be brought up to date, and there is no room for the copy that is kept of it "
                f"({needed >> 20:,} MB are needed, {free >> 20:,} MB are free); free some space and run the same "
                "command again"
            )
        part.unlink(missing_ok=True)
        try:
            part.touch(mode=0o600)
            with closing(sqlite3.connect(part)) as target:
                source.backup(target)
            shutil.copymode(path, part)
            part.replace(copy := _free_name(path, number))
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return copy


def is_being_copied(path: Path) -> bool:
    try:
        return time.time() - _part(path).stat().st_mtime < _SILENT_SECONDS
    except OSError:
        return False


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.copying")


def _free_name(path: Path, number: str) -> Path:
    n, copy = 1, path.with_name(f"{path.stem}.schema-{number}{path.suffix}")
    while copy.exists():
        n += 1
        copy = path.with_name(f"{path.stem}.schema-{number}-{n}{path.suffix}")
    return copy
