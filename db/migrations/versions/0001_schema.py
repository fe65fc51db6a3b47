"""The schema: every table with its indexes, and the views.

`tests/db/engine/test_database.py` holds it against the tables of `db.tables`.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

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
SELECT u.url, u.state, u.reason, u.reason_detail, u.http_status, t.url AS same_as,
       f.url AS found_on, u.anchor, h.name AS host, u.depth
FROM url u
JOIN host h ON h.id = u.host_id
LEFT JOIN url t ON t.id = u.same_as
LEFT JOIN url f ON f.id = u.found_on
WHERE u.reason IS NOT NULL
"""


def upgrade() -> None:
    """Create everything."""
    _urls()
    _articles()
    _learned()
    _runs()
    for view in (V_ARTICLES, V_SITES, V_DROPPED):
        op.execute(view)


def _urls() -> None:
    """Sites, hosts, seeds, URLs and links."""
    op.create_table(
        "site",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.Text(), nullable=False),
        sa.Column("stories", sa.Integer(), server_default="0", nullable=False),
        sa.Column("reprints", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "host",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("site_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scheme", sa.String(length=5), nullable=False),
        sa.Column("robots", sa.String(length=12), server_default="unknown", nullable=False),
        sa.Column("robots_text", sa.Text()),
        sa.Column("robots_at", sa.Float()),
        sa.Column("ready_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("articles", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("trouble", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("rests_until", sa.Float(), server_default="0", nullable=False),
        sa.Column("given_up", sa.Text()),
        sa.Column("queued", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("owner", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("ix_host_knocked", "host", ["owner"], "queued = 2")
    _index("ix_host_queued", "host", ["owner"], "queued = 1")
    _index("ix_host_site_id", "host", ["site_id"])
    op.create_table(
        "seed",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("stay", sa.String(length=4), nullable=False),
        sa.Column("depth", sa.Integer()),
        sa.Column("pages", sa.Integer()),
        sa.Column("topic", sa.Text(), server_default="", nullable=False),
        sa.Column("hosts", sa.Text(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "url",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("seed_id", sa.BigInteger()),
        sa.Column("kind", sa.String(length=7), nullable=False),
        sa.Column("state", sa.String(length=7), nullable=False),
        sa.Column("state_before", sa.String(length=7)),
        sa.Column("reason", sa.Text()),
        sa.Column("reason_detail", sa.Text()),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("score_parts", sa.Text()),
        sa.Column("found_on", sa.BigInteger()),
        sa.Column("found_in", sa.SmallInteger(), nullable=False),
        sa.Column("anchor", sa.Text()),
        sa.Column("found_at", sa.Float(), nullable=False),
        sa.Column("dated", sa.Float()),
        sa.Column("leased_by", sa.BigInteger()),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("hops", sa.Integer(), server_default="0", nullable=False),
        sa.Column("http_status", sa.Integer()),
        sa.Column("fetched_at", sa.Float()),
        sa.Column("etag", sa.Text()),
        sa.Column("last_modified", sa.Text()),
        sa.Column("next_visit", sa.Float()),
        sa.Column("visits", sa.Integer(), server_default="0", nullable=False),
        sa.Column("watched", sa.Float(), server_default="0", nullable=False),
        sa.Column("named", sa.Float(), server_default="0", nullable=False),
        sa.Column("brought", sa.Float(), server_default="0", nullable=False),
        sa.Column("changed_at", sa.Float()),
        sa.Column("same_as", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("ix_url_again", "url", ["next_visit"], "state <> 'pending' AND next_visit IS NOT NULL")
    _index("ix_url_due", "url", ["next_visit"], "state = 'pending' AND next_visit IS NOT NULL")
    _index("ix_url_fetched_at", "url", ["fetched_at"], "fetched_at IS NOT NULL")
    _index("ix_url_found_at", "url", ["found_at"])
    _index("ix_url_host_fetched", "url", ["host_id", "fetched_at"], "fetched_at IS NOT NULL")
    _index("ix_url_leased", "url", ["leased_by"], "state = 'leased'")
    _index("ix_url_ruled", "url", ["host_id"], "reason = 'url rule'")
    _index("ix_url_same_as", "url", ["same_as"], "same_as IS NOT NULL")
    _index("ix_url_trapped", "url", ["host_id", "id"], "state = 'skipped' AND reason = 'trap'")
    _index("ix_url_queue", "url", ["host_id", sa.text("score DESC"), "found_at"], "state = 'pending'")
    op.create_table(
        "link",
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("block", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "target"),
        sqlite_with_rowid=False,
    )


def _articles() -> None:
    """Articles, and what belongs to them."""
    op.create_table(
        "article",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("site_id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("authors", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("published_at", sa.Text()),
        sa.Column("published_precision", sa.String(length=6)),
        sa.Column("published_from", sa.String(length=8)),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("classes", sa.Text(), nullable=False),
        sa.Column("quality", sa.Float(), nullable=False),
        sa.Column("relevance", sa.Float()),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.BigInteger(), nullable=False),
        sa.Column("text_chars", sa.Integer(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("duplicate_of", sa.BigInteger()),
        sa.Column("text_of", sa.BigInteger()),
        sa.Column("gone", sa.Text()),
        sa.Column("first_seen", sa.Text(), nullable=False),
        sa.Column("updated", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("ix_article_cluster_id", "article", ["cluster_id"])
    _index("ix_article_published_at", "article", ["published_at"])
    _index("ix_article_site_id", "article", ["site_id"])
    _index("ix_article_text_hash", "article", ["text_hash"])
    _index("ix_article_text_of", "article", ["text_of"], "text_of IS NOT NULL")
    op.create_table(
        "article_version",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("article_id", "seen"),
    )
    op.create_table(
        "duplicate",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("of_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("own", sa.SmallInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("article_id", "of_id"),
    )
    _index("ix_duplicate_of_id", "duplicate", ["of_id"])
    op.create_table(
        "cluster",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
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
    op.create_table(
        "signature",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("article_id", sa.BigInteger(), nullable=False),
        sa.Column("story", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("fresh", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("number"),
    )
    _index("ix_signature_article_id", "signature", ["article_id"])
    _index("ix_signature_member", "signature", ["story"], "fresh IS NOT NULL")
    op.create_table(
        "signature_form",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "part",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("group_id", sa.BigInteger(), nullable=False),
        sa.Column("first_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("joined", sa.SmallInteger(), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("next_id", sa.BigInteger()),
        sa.Column("previous_id", sa.BigInteger()),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.BigInteger(), nullable=False),
        sa.Column("rest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("ix_part_group_id", "part", ["group_id"])
    _index("ix_part_next_id", "part", ["next_id"])
    _index("ix_part_previous_id", "part", ["previous_id"])
    _index("ix_part_waiting", "part", ["group_id"], "joined = 0")
    op.create_table(
        "image",
        sa.Column("article_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("article_id", "position"),
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


def _learned() -> None:
    """What crawls learn of pages, hosts and their URLs."""
    op.create_table(
        "page_terms",
        sa.Column("url_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("relevance", sa.Float(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("url_id"),
    )
    op.create_table(
        "site_memory",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host_id"),
    )
    op.create_table(
        "host_health",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("updated", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id"),
    )
    op.create_table(
        "alarm",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("since", sa.Text(), nullable=False),
        sa.Column("until", sa.Text()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "kind", "since"),
    )
    op.create_table(
        "url_rule",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=9), nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("support", sa.Integer(), nullable=False),
        sa.Column("against", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("used", sa.SmallInteger(), nullable=False),
        sa.Column("example", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "kind", "pattern"),
    )
    op.create_table(
        "url_form",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("url_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("ix_url_form_host_id", "url_form", ["host_id"])
    op.create_table(
        "url_pattern",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("level", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("brought", sa.Integer(), nullable=False),
        sa.Column("reached", sa.Integer(), nullable=False),
        sa.Column("unproductive", sa.Float(), nullable=False),
        sa.Column("grown", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("blocked_at", sa.Float(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("example", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "level", "pattern"),
    )


def _runs() -> None:
    """Crawls, and what they have used of the limits."""
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("started", sa.Text(), nullable=False),
        sa.Column("finished", sa.Text()),
        sa.Column("outcome", sa.Text()),
        sa.Column("exit_code", sa.Integer()),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("place", sa.Text(), server_default="", nullable=False),
        sa.Column("alive_until", sa.Float(), nullable=False),
        sa.Column("hosts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages_per_second", sa.Float(), server_default="0", nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("totals", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "budget",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _index(name: str, table: str, columns: list[str | sa.TextClause], where: str = "") -> None:
    """Create an index, of some of the rows if there is a condition."""
    rows = sa.text(where) if where else None
    op.create_index(name, table, columns, sqlite_where=rows, postgresql_where=rows)
