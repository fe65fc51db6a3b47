"""The views, and the triggers that count URLs: made anew by each migration.

The views are ordered, newest first: who joins or counts them does not pay for that on SQLite, which drops an order that
does not show; what they join from the left is looked up only where it is asked for. Identifiers are text in them,
because JavaScript and spreadsheets round numbers beyond 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, inspect

V_ARTICLES = """
SELECT CAST(a.id AS TEXT) AS id, u.url, a.title, a.authors, a.source, a.published_at, a.published_utc, a.language,
       CASE WHEN a.text_holder IS NULL THEN a.text ELSE coalesce(h.text, '') END AS text,
       s.name AS site, a.first_seen, {fetched_at} AS fetched_at, coalesce(ou.url, e.of_url) AS duplicate_of,
       coalesce(e.similarity, d.similarity) AS similarity, coalesce(e.method, d.method) AS duplicate_method,
       coalesce(e.kind, d.kind) AS duplicate_kind, coalesce(e.of_url, su.url) AS similar_to,
       a.published_precision, a.published_from, a.description, a.tags, a.section, a.quality,
       a.extractor, a.extractor_version,
       a.text_chars, a.updated, a.relevance, a.gone, a.kind, a.number,
       a.keywords, a.summary, a.classes, a.harm, a.harm_kind, a.text_from, a.related, a.kind_probability
FROM article a
LEFT JOIN url u ON u.id = a.id
LEFT JOIN site s ON s.id = a.site_id
LEFT JOIN url ou ON ou.id = a.duplicate_of
LEFT JOIN article h ON h.id = a.text_holder
LEFT JOIN duplicate d ON d.article_id = a.id
LEFT JOIN url su ON su.id = d.of_id
LEFT JOIN elsewhere e ON e.article_id = a.id
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
JOIN (SELECT h.site_id, max(h.fetched_at) AS fetched_at,
             CAST(sum(CASE WHEN k.state = 'done' THEN k.n ELSE 0 END) AS BIGINT) AS urls_done,
             CAST(sum(CASE WHEN k.state IN ('pending', 'leased') THEN k.n ELSE 0 END) AS BIGINT) AS urls_waiting,
             CAST(sum(CASE WHEN k.state = 'failed' THEN k.n ELSE 0 END) AS BIGINT) AS urls_failed,
             CAST(sum(CASE WHEN k.state = 'skipped' THEN k.n ELSE 0 END) AS BIGINT) AS urls_skipped
      FROM (SELECT id, site_id, (SELECT max(u.fetched_at) FROM url u
                                 WHERE u.host_id = host.id AND u.fetched_at IS NOT NULL) AS fetched_at FROM host) h
      JOIN url_count k ON k.host_id = h.id
      GROUP BY h.site_id
      HAVING max(h.fetched_at) IS NOT NULL) c ON c.site_id = s.id
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

_COUNTED = """{row}.state, {row}.host_id,
CASE WHEN {row}.reason IS NULL THEN ''
     WHEN {row}.reason_detail IS NULL OR {row}.reason IN ('too old', 'too new') THEN {row}.reason
     ELSE {row}.reason || ': ' || {row}.reason_detail END,
CASE WHEN {row}.state <> 'pending' THEN -1 WHEN {row}.depth > 20 THEN 20 ELSE {row}.depth END"""
"""The group that a URL is counted in, see `db.frontier.counts`."""
_COUNT = """INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT {counted}, {connection}, {n} {of} ON CONFLICT (state, host_id, reason, depth, connection)
DO UPDATE SET n = url_count.n + excluded.n"""
_IS_CHANGED = """old.state <> new.state OR old.host_id <> new.host_id OR old.depth <> new.depth
OR coalesce(old.reason, '') <> coalesce(new.reason, '')
OR coalesce(old.reason_detail, '') <> coalesce(new.reason_detail, '')"""
_CHANGES = "UPDATE OF state, host_id, depth, reason, reason_detail"


def _count(row: str, n: str, connection: str, of: str) -> str:
    """Return the statement that counts rows."""
    return _COUNT.format(counted=_COUNTED.format(row=row), connection=connection, n=n, of=of)


def _sqlite_counts() -> list[str]:
    """Count changes and deletions; `db.frontier.counts` adds what is new, in bulk."""
    old, new = _count("old", "-1", "0", "WHERE true"), _count("new", "1", "0", "WHERE true")
    return [
        f"CREATE TRIGGER url_changed AFTER {_CHANGES} ON url WHEN {_IS_CHANGED} BEGIN {old}; {new}; END",
        f"CREATE TRIGGER url_deleted AFTER DELETE ON url BEGIN {old}; END",
    ]


def _postgres_counts() -> list[str]:
    """Count changes by row, because a statement changes few, all else by statement."""
    me, of = "pg_backend_pid()", "FROM batch GROUP BY 1, 2, 3, 4"
    added, deleted = _count("batch", "count(*)", me, of), _count("batch", "-count(*)", me, of)
    changed = "; ".join((_count("old", "-1", me, ""), _count("new", "1", me, "")))
    statements = []
    for name, count, when in (
        ("added", added, "INSERT ON url REFERENCING NEW TABLE AS batch"),
        ("deleted", deleted, "DELETE ON url REFERENCING OLD TABLE AS batch"),
        ("changed", changed, f"{_CHANGES} ON url FOR EACH ROW WHEN ({_IS_CHANGED})"),
    ):
        body = f"BEGIN {count}; RETURN NULL; END"
        statements.append(f"CREATE FUNCTION url_{name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
        statements.append(f"CREATE TRIGGER url_{name} AFTER {when} EXECUTE FUNCTION url_{name}()")
    return statements


ISO_TIMES = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%S+00:00', {}, 'unixepoch')",
    "postgresql": """to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')""",
}


def make_views(connection: Connection) -> None:
    """Make the views and triggers on tables that have none."""
    for statement in view_statements(connection.dialect.name):
        connection.exec_driver_sql(statement)


def drop_views(connection: Connection) -> None:
    """Drop the views and triggers of whatever version made them, and no others."""
    seen = inspect(connection)
    view_names = [f"_{name}" for name in _VIEWS], [f"v_{name}" for name in _VIEWS]
    for name in (name for names in view_names for name in names if name in seen.get_view_names()):
        connection.exec_driver_sql(f"DROP VIEW {name}")
    for name in _TRIGGERS if seen.has_table("url") else ():
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS url_{name}")
        else:
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS url_{name} ON url")
            connection.exec_driver_sql(f"DROP FUNCTION IF EXISTS url_{name}()")


def view_statements(dialect: str) -> Iterator[str]:
    """Yield the statements that make them, in their order."""
    yield from _sqlite_counts() if dialect == "sqlite" else _postgres_counts()
    iso = ISO_TIMES[dialect]
    for name, query in _VIEWS.items():
        times = {column: iso.format(f"{row}.{column}") for column, row in _TIMES[name].items()}
        yield f"CREATE VIEW v_{name} AS {query.format(**times)}"
        # the name under which lists of tables, which are sorted, show it first
        yield f"CREATE VIEW _{name} AS SELECT * FROM v_{name}"


_VIEWS = {"articles": V_ARTICLES, "sites": V_SITES, "dropped": V_DROPPED}
_TIMES = {
    "articles": {"fetched_at": "u"},
    "sites": {"fetched_at": "c"},
    "dropped": {"found_at": "u", "fetched_at": "u"},
}
_TRIGGERS = ("added", "changed", "deleted")
