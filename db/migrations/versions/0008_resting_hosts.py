"""Hosts in trouble: how often in a row they have rested, until when, and why they were given up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add columns to `host`."""
    op.add_column("host", sa.Column("trouble", sa.SmallInteger(), server_default="0", nullable=False))
    op.add_column("host", sa.Column("rests_until", sa.Float(), server_default="0", nullable=False))
    op.add_column("host", sa.Column("given_up", sa.Text(), nullable=True))
