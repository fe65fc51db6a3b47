"""Several processes: where a run's process lives, how it is doing, hosts that others have found work for, due URLs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add columns to `run` and indexes to `host` and `url`."""
    op.add_column("run", sa.Column("place", sa.Text(), server_default="", nullable=False))
    op.add_column("run", sa.Column("hosts", sa.Integer(), server_default="0", nullable=False))
    op.add_column("run", sa.Column("pages_per_second", sa.Float(), server_default="0", nullable=False))
    op.create_index(
        "ix_host_knocked",
        "host",
        ["owner"],
        unique=False,
        sqlite_where=sa.text("queued = 2"),
        postgresql_where=sa.text("queued = 2"),
    )
    waits = sa.text("state = 'pending' AND next_visit IS NOT NULL")
    op.create_index("ix_url_due", "url", ["next_visit"], unique=False, sqlite_where=waits, postgresql_where=waits)
