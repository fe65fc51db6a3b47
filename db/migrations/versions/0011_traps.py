"""Patterns of URLs that may be traps, and the index by which URLs are found that were skipped for them.

The index holds nothing for other URLs.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the table `url_pattern` and the index of trapped URLs."""
    op.create_table(
        "url_pattern",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("level", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("brought", sa.Integer(), nullable=False),
        sa.Column("reached", sa.Integer(), nullable=False),
        sa.Column("unproductive", sa.Float(), nullable=False),
        sa.Column("grown", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("blocked_at", sa.Float(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("example", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "level", "pattern"),
    )
    rows = sa.text("state = 'skipped' AND substr(reason, 1, 6) = 'trap: '")
    op.create_index("ix_url_trapped", "url", ["host_id", "id"], unique=False, sqlite_where=rows, postgresql_where=rows)
