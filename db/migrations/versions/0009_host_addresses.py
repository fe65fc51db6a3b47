"""IP addresses of hosts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9"
down_revision = "7"
DIGEST = "4273a2f0a9340b29"


def upgrade() -> None:
    """Add the column; it is filled when a host answers next."""
    if "ip_address" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("host")}:
        op.add_column("host", sa.Column("ip_address", sa.Text))
