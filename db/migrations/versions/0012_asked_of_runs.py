"""Requests of operators to runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "12"
down_revision = "11"
DIGEST = "484798707b9b609f"


def upgrade() -> None:
    """Add the column; nothing has been asked of the runs that are stored."""
    if "asked" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("run")}:
        op.add_column("run", sa.Column("asked", sa.Text, server_default="", nullable=False))
