"""Tables and indexes of the first schema that can be brought up to date.

Its statements stand in a file for each kind of database, as the declarations of that time made them. On SQLite it also
has the words of the full-text index (`search_words`).
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "5"
down_revision = None


def upgrade() -> None:
    """Create everything."""
    connection = op.get_bind()
    path = Path(__file__).with_name(f"0005_{connection.dialect.name}.sql")
    for statement in path.read_text(encoding="utf-8").split(";\n")[:-1]:
        connection.exec_driver_sql(statement)
