"""Visits: when a URL is to be visited again, what earlier visits brought, and articles whose page is gone.

What was fetched before counts as visited once; nothing is due until it is marked (`scrapy recrawl`) or visited again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

V_ARTICLES = """
CREATE VIEW v_articles AS
SELECT u.url, a.title, a.authors, a.source, a.published_at, a.language,
       CASE WHEN a.text_of IS NULL THEN a.text ELSE coalesce(h.text, '') END AS text,
       s.name AS site, a.first_seen, ou.url AS duplicate_of,
       d.similarity, d.method AS duplicate_method, d.kind AS duplicate_kind, su.url AS similar_to,
       a.published_precision, a.published_from, a.summary, a.keywords, a.classes, a.quality, a.extractor,
       a.text_chars, a.updated, a.relevance, a.gone
FROM article a
JOIN url u ON u.id = a.id
JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN article h ON h.id = a.text_of
LEFT JOIN duplicate d ON d.article_id = a.id
LEFT JOIN url su ON su.id = d.of_id
"""


def upgrade() -> None:
    """Add the columns, the index of what is due, and `gone` to the view of articles."""
    op.add_column("url", sa.Column("visits", sa.Integer(), server_default="0", nullable=False))
    for name in ("watched", "named", "brought"):
        op.add_column("url", sa.Column(name, sa.Float(), server_default="0", nullable=False))
    op.add_column("url", sa.Column("changed_at", sa.Float(), nullable=True))
    op.execute("UPDATE url SET visits = 1 WHERE state IN ('done', 'failed', 'skipped') AND http_status IS NOT NULL")
    again = sa.text("state <> 'pending' AND next_visit IS NOT NULL")
    op.create_index("ix_url_again", "url", ["next_visit"], unique=False, sqlite_where=again, postgresql_where=again)
    op.execute("DROP VIEW v_articles")
    op.add_column("article", sa.Column("gone", sa.Text(), nullable=True))
    op.execute(V_ARTICLES)
