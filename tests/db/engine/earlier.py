"""Databases of earlier schemas, with some rows of a crawl, as the programs of their days made them."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import NullPool, create_engine, text

from db.engine.database import parse_url

SCHEMAS = Path(__file__).with_name("schemas")
STATES = ("24-november", "28-november")
"""Both called themselves 5."""
_GROWN = (
    "ALTER TABLE article ADD COLUMN text_from VARCHAR(8) DEFAULT 'html' NOT NULL",
    "ALTER TABLE page ADD COLUMN warc_file TEXT",
    "ALTER TABLE page ADD COLUMN warc_offset BIGINT",
    "ALTER TABLE page ADD COLUMN dom {bytes}",
    "ALTER TABLE seed ADD COLUMN render VARCHAR(5) DEFAULT '' NOT NULL",
    "ALTER TABLE seed ADD COLUMN proxy TEXT DEFAULT '' NOT NULL",
    "CREATE TABLE render_gain (host_id BIGINT NOT NULL, wish VARCHAR(7) NOT NULL, tries INTEGER NOT NULL, gains "
    "INTEGER NOT NULL, misses INTEGER NOT NULL, tried_at FLOAT NOT NULL, PRIMARY KEY (host_id, wish){reference})",
    "INSERT INTO render_gain VALUES (5040860425875821733, 'text', 3, 2, 1, 1795885782)",
    "UPDATE article SET text_from = 'browser' WHERE id = 4918585015050580529",
)
"""What tables got between the two."""


def make_earlier(database_url: str, state: str) -> None:
    """Make an earlier database in an empty one.

    Args:
        database_url: of an empty database, or of a file that is not there.
        state: one of `STATES`.
    """
    url = parse_url(database_url)
    engine = create_engine(url, poolclass=NullPool)
    kind = engine.dialect.name
    is_sqlite = kind == "sqlite"
    statements = (SCHEMAS / f"24-november.{kind}.sql").read_text(encoding="utf-8")
    with engine.begin() as connection:
        if is_sqlite:
            connection.connection.executescript(statements)
            connection.exec_driver_sql("INSERT INTO search_words (rowid, words) VALUES (1, '清明节')")
        else:
            connection.exec_driver_sql(statements)
            # references are looked at in the end; these rows are some of many
            connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('5')")
        for line in (SCHEMAS / "rows.jsonl").read_text(encoding="utf-8").splitlines():
            ((table, row),) = json.loads(line).items()
            values = {name: bytes.fromhex(v["hex"]) if isinstance(v, dict) else v for name, v in row.items()}
            places = ", ".join(f":{name}" for name in values)
            connection.execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"), values)
        connection.exec_driver_sql(
            "INSERT INTO url_count SELECT state, host_id, coalesce(reason, ''), -1, 0, count(*) FROM url "
            "GROUP BY 1, 2, 3"
        )
        if not is_sqlite:
            connection.exec_driver_sql("SELECT setval('run_id_seq', max(id)) FROM run")
        for statement in _GROWN if state == STATES[1] else ():
            reference = ", FOREIGN KEY(host_id) REFERENCES host (id)" if is_sqlite else ""
            grown = statement.format(bytes="BLOB" if is_sqlite else "BYTEA", reference=reference)
            connection.exec_driver_sql(grown)
    engine.dispose()
