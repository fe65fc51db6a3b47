"""The first schema: the tables of `db.tables` with their indexes, and the views.

The tables are made from the declarative metadata as long as there is one migration. When a second one follows the first
release, they are written out here as they were.
"""

from __future__ import annotations

from alembic import op

revision = "1"
down_revision = None

V_ARTICLES = """
CREATE VIEW v_articles AS
SELECT u.url, a.title, a.authors, a.source, a.published_at, a.language,
       CASE WHEN a.text_holder IS NULL THEN a.text ELSE coalesce(h.text, '') END AS text,
       s.name AS site, a.first_seen, ou.url AS duplicate_of,
       d.similarity, d.method AS duplicate_method, d.kind AS duplicate_kind, su.url AS similar_to,
       a.published_precision, a.published_from, a.summary, a.keywords, a.classes, a.quality, a.extractor,
       a.text_chars, a.updated, a.relevance, a.gone
FROM article a
JOIN url u ON u.id = a.id
JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN article h ON h.id = a.text_holder
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
    # that of `env`: a migration is loaded by path, and imports nothing of the program
    op.get_context().opts["target_metadata"].create_all(op.get_bind(), checkfirst=False)
    for view in (V_ARTICLES, V_SITES, V_DROPPED):
        op.execute(view)
