"""Parts of articles that are spread over several pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table `part`."""
    op.create_table(
        "part",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("group_id", sa.BigInteger(), nullable=False),
        sa.Column("first_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("joined", sa.SmallInteger(), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("next_id", sa.BigInteger(), nullable=True),
        sa.Column("previous_id", sa.BigInteger(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.BigInteger(), nullable=False),
        sa.Column("rest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_part_group_id"), "part", ["group_id"], unique=False)
    op.create_index(op.f("ix_part_next_id"), "part", ["next_id"], unique=False)
    op.create_index(op.f("ix_part_previous_id"), "part", ["previous_id"], unique=False)
    waits = sa.text("joined = 0")
    op.create_index("ix_part_waiting", "part", ["group_id"], unique=False, sqlite_where=waits, postgresql_where=waits)
