"""Near-duplicates: a signature for each article instead of a row for each shingle, and who names whom as the source.

The next crawl makes the signatures of articles that are stored already.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

V_ARTICLES = """
CREATE VIEW v_articles AS
SELECT u.url, a.title, a.authors, a.source, a.published_at, a.language,
       CASE WHEN a.text_of IS NULL THEN a.text ELSE coalesce(h.text, '') END AS text,
       s.name AS site, a.first_seen, ou.url AS duplicate_of,
       d.similarity, d.method AS duplicate_method, d.kind AS duplicate_kind, su.url AS similar_to,
       a.published_precision, a.published_from, a.summary, a.keywords, a.classes, a.quality, a.extractor,
       a.text_chars, a.updated, a.relevance
FROM article a
JOIN url u ON u.id = a.id
JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN article h ON h.id = a.text_of
LEFT JOIN duplicate d ON d.article_id = a.id
LEFT JOIN url su ON su.id = d.of_id
"""


def upgrade() -> None:
    """Exchange the tables, and show in the view which article the evidence is about."""
    op.execute("DROP VIEW v_articles")
    op.drop_table("shingle")
    op.create_table(
        "signature",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("article_id", sa.BigInteger(), nullable=False),
        sa.Column("story", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("fresh", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index(op.f("ix_signature_article_id"), "signature", ["article_id"], unique=False)
    member = sa.text("fresh IS NOT NULL")
    op.create_index(
        "ix_signature_member", "signature", ["story"], unique=False, sqlite_where=member, postgresql_where=member
    )
    op.create_table(
        "signature_form",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "credit",
        sa.Column("site_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("site_id", "source"),
        sqlite_with_rowid=False,
    )
    op.add_column("site", sa.Column("stories", sa.Integer(), server_default="0", nullable=False))
    op.add_column("site", sa.Column("reprints", sa.Integer(), server_default="0", nullable=False))
    op.add_column("duplicate", sa.Column("own", sa.SmallInteger(), server_default="0", nullable=False))
    op.execute("UPDATE duplicate SET own = 1 WHERE kind = 'contains' OR similarity < 0.95")
    op.create_index("ix_duplicate_of_id", "duplicate", ["of_id"], unique=False)
    op.add_column("article", sa.Column("text_of", sa.BigInteger(), nullable=True))
    given = sa.text("text_of IS NOT NULL")
    op.create_index(
        "ix_article_text_of", "article", ["text_of"], unique=False, sqlite_where=given, postgresql_where=given
    )
    # one piece of evidence for each copy, and no circles: so far two articles could be said to repeat each other
    op.execute("DELETE FROM duplicate WHERE article_id IN (SELECT id FROM article WHERE duplicate_of IS NULL)")
    op.execute(
        "UPDATE duplicate SET of_id = (SELECT a.duplicate_of FROM article a WHERE a.id = duplicate.article_id) "
        "WHERE article_id IN (SELECT id FROM article WHERE duplicate_of IS NOT NULL)"
    )
    for column, test in (("stories", "IS NULL"), ("reprints", "IS NOT NULL")):
        op.execute(
            f"UPDATE site SET {column} = "
            f"(SELECT count(*) FROM article a WHERE a.site_id = site.id AND a.duplicate_of {test})"
        )
    op.execute(
        "INSERT INTO credit (site_id, source, articles) "
        "SELECT site_id, source, count(*) FROM article WHERE source <> '' GROUP BY site_id, source"
    )
    op.execute(V_ARTICLES)
