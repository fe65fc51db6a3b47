"""Selectors of seeds: places of text, title, time and author."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "10"
down_revision = "9"
DIGEST = "e8667b927f3d89b3"


def upgrade() -> None:
    """Add the columns; seeds that are stored have none."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("seed")}
    for name in ("body", "title", "published", "author"):
        if name not in there:
            op.add_column("seed", sa.Column(name, sa.Text, server_default="", nullable=False))
