"""URL rules of hosts, and the normal forms of URLs under them.

The index by host costs 26 bytes a page fetched on SQLite, and a microsecond. The others hold nothing for hosts without
rules.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the tables `url_rule` and `url_form`, and the indexes by which a host's pages are found."""
    op.create_table(
        "url_rule",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=9), nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("support", sa.Integer(), nullable=False),
        sa.Column("against", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("used", sa.SmallInteger(), nullable=False),
        sa.Column("example", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "kind", "pattern"),
    )
    op.create_table(
        "url_form",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("url_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_url_form_host_id"), "url_form", ["host_id"], unique=False)
    for name, columns, where in (
        ("ix_url_host_fetched", ["host_id", "fetched_at"], "fetched_at IS NOT NULL"),
        ("ix_url_ruled", ["host_id"], "reason = 'url rule'"),
    ):
        rows = sa.text(where)
        op.create_index(name, "url", columns, unique=False, sqlite_where=rows, postgresql_where=rows)
