"""The first schema: every table and the views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

V_ARTICLES = """
CREATE VIEW v_articles AS
SELECT u.url, a.title, a.authors, a.source, a.published_at, a.language,
       a.text,
       s.name AS site, a.first_seen, ou.url AS duplicate_of,
       d.similarity, d.method AS duplicate_method, d.kind AS duplicate_kind,
       a.published_precision, a.published_from, a.summary, a.keywords, a.classes, a.quality, a.extractor,
       a.text_chars, a.updated
FROM article a
JOIN url u ON u.id = a.id
JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN duplicate d ON d.article_id = a.id AND d.of_id = a.duplicate_of
"""

V_SITES = """
CREATE VIEW v_sites AS
SELECT s.name AS site,
       (SELECT count(*) FROM article a WHERE a.site_id = s.id) AS articles,
       (SELECT count(*) FROM article a WHERE a.site_id = s.id AND a.duplicate_of IS NOT NULL) AS duplicates,
       (SELECT max(a.published_at) FROM article a WHERE a.site_id = s.id) AS newest_article,
       sum(CASE WHEN u.state = 'done' THEN 1 ELSE 0 END) AS urls_done,
       sum(CASE WHEN u.state IN ('pending', 'leased') THEN 1 ELSE 0 END) AS urls_waiting,
       sum(CASE WHEN u.state = 'failed' THEN 1 ELSE 0 END) AS urls_failed,
       sum(CASE WHEN u.state = 'skipped' THEN 1 ELSE 0 END) AS urls_skipped,
       s.first_seen
FROM site s
JOIN host h ON h.site_id = s.id
JOIN url u ON u.host_id = h.id
GROUP BY s.id, s.name, s.first_seen
"""

V_DROPPED = """
CREATE VIEW v_dropped AS
SELECT u.url, u.state, u.reason, u.http_status, t.url AS same_as, f.url AS found_on, u.anchor, h.name AS host, u.depth
FROM url u
JOIN host h ON h.id = u.host_id
LEFT JOIN url t ON t.id = u.same_as
LEFT JOIN url f ON f.id = u.found_on
WHERE u.reason IS NOT NULL
"""


def upgrade() -> None:
    """Create the tables and views."""
    op.create_table(
        "article",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("site_id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("authors", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("published_at", sa.Text(), nullable=True),
        sa.Column("published_precision", sa.String(length=6), nullable=True),
        sa.Column("published_from", sa.String(length=8), nullable=True),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("classes", sa.Text(), nullable=False),
        sa.Column("quality", sa.Float(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.BigInteger(), nullable=False),
        sa.Column("text_chars", sa.Integer(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("duplicate_of", sa.BigInteger(), nullable=True),
        sa.Column("first_seen", sa.Text(), nullable=False),
        sa.Column("updated", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_article_cluster_id"), "article", ["cluster_id"], unique=False)
    op.create_index(op.f("ix_article_published_at"), "article", ["published_at"], unique=False)
    op.create_index(op.f("ix_article_site_id"), "article", ["site_id"], unique=False)
    op.create_index(op.f("ix_article_text_hash"), "article", ["text_hash"], unique=False)
    op.create_table(
        "article_version",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("article_id", "seen"),
    )
    op.create_table(
        "budget",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "cluster",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "duplicate",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("of_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("article_id", "of_id"),
    )
    op.create_table(
        "host",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("site_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scheme", sa.String(length=5), nullable=False),
        sa.Column("robots", sa.String(length=12), server_default="unknown", nullable=False),
        sa.Column("robots_text", sa.Text(), nullable=True),
        sa.Column("robots_at", sa.Float(), nullable=True),
        sa.Column("ready_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("articles", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("queued", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("owner", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_host_queued",
        "host",
        ["owner"],
        unique=False,
        sqlite_where=sa.text("queued = 1"),
        postgresql_where=sa.text("queued = 1"),
    )
    op.create_index(op.f("ix_host_site_id"), "host", ["site_id"], unique=False)
    op.create_table(
        "image",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("article_id", "position"),
    )
    op.create_table(
        "link",
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("block", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "target"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "page",
        sa.Column("url_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("fetched_at", sa.Float(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("url_id"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("started", sa.Text(), nullable=False),
        sa.Column("finished", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("alive_until", sa.Float(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("totals", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "seed",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("stay", sa.String(length=4), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("topic", sa.Text(), server_default="", nullable=False),
        sa.Column("hosts", sa.Text(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "shingle",
        sa.Column("hash", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("hash", "article_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "site",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "url",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("seed_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(length=7), nullable=False),
        sa.Column("state", sa.String(length=7), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("score_parts", sa.Text(), nullable=True),
        sa.Column("found_on", sa.BigInteger(), nullable=True),
        sa.Column("found_in", sa.SmallInteger(), nullable=False),
        sa.Column("anchor", sa.Text(), nullable=True),
        sa.Column("found_at", sa.Float(), nullable=False),
        sa.Column("dated", sa.Float(), nullable=True),
        sa.Column("leased_by", sa.BigInteger(), nullable=True),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("hops", sa.Integer(), server_default="0", nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("fetched_at", sa.Float(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("next_visit", sa.Float(), nullable=True),
        sa.Column("same_as", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_url_leased",
        "url",
        ["leased_by"],
        unique=False,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_index(
        "ix_url_same_as",
        "url",
        ["same_as"],
        unique=False,
        sqlite_where=sa.text("same_as IS NOT NULL"),
        postgresql_where=sa.text("same_as IS NOT NULL"),
    )
    op.create_index(
        "ix_url_queue",
        "url",
        ["host_id", sa.text("score DESC"), "found_at"],
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    for view in (V_ARTICLES, V_SITES, V_DROPPED):
        op.execute(view)
