"""Index by which searches count and sort without reading the terms."""

from __future__ import annotations

from alembic import op

revision = "13"
down_revision = "12"
DIGEST = "d8de869238c1953b"

_BY_NUMBER = (
    "CREATE INDEX IF NOT EXISTS ix_search_document_number ON search_document "
    "(number, article_id, time, site_id, cluster_id, day, language, source, section, classes)"
)


def upgrade() -> None:
    """Make it: 2 s for 100,000 articles. Postgres reads rows in any case."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_BY_NUMBER)
