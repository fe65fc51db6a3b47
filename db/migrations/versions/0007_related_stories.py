"""Related stories of articles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"
DIGEST = "ae7b0d23e181d748"


def upgrade() -> None:
    """Add the column: stored articles have none until their pages are read again."""
    if "related" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("article")}:
        op.add_column("article", sa.Column("related", sa.Text, server_default="", nullable=False))
