"""The first schema: the tables of `db.tables` with their indexes, and the views.

The tables are made from the declarative metadata as long as there is one migration. When a second one follows the first
release, they are written out here as they were.

The views are ordered, newest first: who joins or counts them does not pay for that on SQLite, which drops an order that
does not show; what they join from the left is looked up only where it is asked for. Identifiers are text in them,
because JavaScript and spreadsheets round numbers beyond 2^53.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import MetaData

revision = "5"
down_revision = None

V_ARTICLES = """
SELECT CAST(a.id AS TEXT) AS id, u.url, a.title, a.authors, a.source, a.published_at, a.published_utc, a.language,
       CASE WHEN a.text_holder IS NULL THEN a.text ELSE coalesce(h.text, '') END AS text,
       s.name AS site, a.first_seen, {fetched_at} AS fetched_at, ou.url AS duplicate_of,
       d.similarity, d.method AS duplicate_method, d.kind AS duplicate_kind, su.url AS similar_to,
       a.published_precision, a.published_from, a.description, a.tags, a.section, a.quality,
       a.extractor, a.extractor_version,
       a.text_chars, a.updated, a.relevance, a.gone, a.kind, a.number,
       a.keywords, a.summary, a.classes, a.harm, a.harm_kind
FROM article a
LEFT JOIN url u ON u.id = a.id
LEFT JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN article h ON h.id = a.text_holder
LEFT JOIN duplicate d ON d.article_id = a.id
LEFT JOIN url su ON su.id = d.of_id
ORDER BY a.published_utc DESC NULLS LAST
"""

V_SITES = """
SELECT CAST(s.id AS TEXT) AS id, s.name AS site,
       (SELECT count(*) FROM article a WHERE a.site_id = s.id) AS articles,
       (SELECT count(*) FROM article a WHERE a.site_id = s.id AND a.duplicate_of IS NOT NULL) AS duplicates,
       (SELECT a.published_at FROM article a WHERE a.site_id = s.id
        ORDER BY a.published_utc DESC NULLS LAST LIMIT 1) AS newest_article,
       (SELECT max(a.published_utc) FROM article a WHERE a.site_id = s.id) AS newest_utc,
       c.urls_done, c.urls_waiting, c.urls_failed, c.urls_skipped, s.first_seen, {fetched_at} AS fetched_at
FROM site s
JOIN (SELECT h.site_id, max(u.fetched_at) AS fetched_at,
             sum(CASE WHEN u.state = 'done' THEN 1 ELSE 0 END) AS urls_done,
             sum(CASE WHEN u.state IN ('pending', 'leased') THEN 1 ELSE 0 END) AS urls_waiting,
             sum(CASE WHEN u.state = 'failed' THEN 1 ELSE 0 END) AS urls_failed,
             sum(CASE WHEN u.state = 'skipped' THEN 1 ELSE 0 END) AS urls_skipped
      FROM url u JOIN host h ON h.id = u.host_id
      GROUP BY h.site_id
      HAVING count(u.fetched_at) > 0) c ON c.site_id = s.id
ORDER BY newest_utc DESC NULLS LAST, site
"""

V_DROPPED = """
SELECT CAST(u.id AS TEXT) AS id, u.url, u.state, u.reason, u.reason_detail, u.http_status, t.url AS same_as,
       f.url AS found_on, u.anchor, h.name AS host, u.depth, {found_at} AS first_seen, {fetched_at} AS fetched_at,
       u.page_kind AS kind
FROM url u
LEFT JOIN host h ON h.id = u.host_id
LEFT JOIN url t ON t.id = u.same_as
LEFT JOIN url f ON f.id = u.found_on
WHERE u.reason IS NOT NULL AND NOT (u.reason = 'list page' AND EXISTS (SELECT 1 FROM article a WHERE a.id = u.id))
ORDER BY u.found_at DESC
"""

SEARCH_WORDS = """
CREATE VIRTUAL TABLE search_words
USING fts5(words, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '._'")
"""
"""Words as they are cut, by number of `search_document`: neither their places nor the articles are kept twice."""

ISO_TIMES = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%S+00:00', {}, 'unixepoch')",
    "postgresql": """to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')""",
}


def upgrade() -> None:
    """Create everything."""
    # that of `env`: a migration is loaded by path, and imports nothing of the program
    tables = op.get_context().opts["target_metadata"]
    if op.get_bind().dialect.name == "sqlite":
        # a copy: a constraint that this process has added to tables of Postgres would be left out here
        given, tables = tables, MetaData()
        for table in given.sorted_tables:
            table.to_metadata(tables)
    tables.create_all(op.get_bind(), checkfirst=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute(SEARCH_WORDS)
    iso = ISO_TIMES[op.get_bind().dialect.name]
    views = {
        "articles": V_ARTICLES.format(fetched_at=iso.format("u.fetched_at")),
        "sites": V_SITES.format(fetched_at=iso.format("c.fetched_at")),
        "dropped": V_DROPPED.format(found_at=iso.format("u.found_at"), fetched_at=iso.format("u.fetched_at")),
    }
    for name, query in views.items():
        op.execute(f"CREATE VIEW v_{name} AS {query}")
        # the name under which lists of tables, which are sorted, show it first
        op.execute(f"CREATE VIEW _{name} AS SELECT * FROM v_{name}")
