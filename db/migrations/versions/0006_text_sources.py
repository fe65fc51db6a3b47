"""Sources of texts, archived and rendered pages, proxies of seeds.

Databases of schema 5 may have some of it, because its number was not raised when tables grew.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"
DIGEST = "d92ac1e7d9b155b9"


def upgrade() -> None:
    """Add what is missing."""
    _add(
        "article",
        sa.Column("text_from", sa.String(8), server_default="html", nullable=False),
    )
    _add(
        "page",
        sa.Column("warc_file", sa.Text),
        sa.Column("warc_offset", sa.BigInteger),
        sa.Column("dom", sa.LargeBinary),
    )
    _add(
        "seed",
        sa.Column("render", sa.String(5), server_default="", nullable=False),
        sa.Column("proxy", sa.Text, server_default="", nullable=False),
    )
    if not sa.inspect(op.get_bind()).has_table("render_gain"):
        op.create_table(
            "render_gain",
            sa.Column("host_id", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("wish", sa.String(7), primary_key=True),
            sa.Column("tries", sa.Integer, nullable=False),
            sa.Column("gains", sa.Integer, nullable=False),
            sa.Column("misses", sa.Integer, nullable=False),
            sa.Column("tried_at", sa.Float, nullable=False),
            sa.ForeignKeyConstraint(["host_id"], ["host.id"]).ddl_if(dialect="sqlite"),
        )


def _add(table: str, *columns: sa.Column[Any]) -> None:
    """Add the columns that a table lacks."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
    for column in columns:
        if column.name not in there:
            op.add_column(table, column)
