"""Probability of the kind of an article's page."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "11"
down_revision = "10"
DIGEST = "f1f5206cf51a3a42"


def upgrade() -> None:
    """Add the column: stored articles have none until their pages are read again."""
    if "kind_probability" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("article")}:
        op.add_column("article", sa.Column("kind_probability", sa.Float))
