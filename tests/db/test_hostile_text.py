"""Text that would be SQL if it were ever put into a statement comes back as it went in."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.queries.status import explain
from db.records.keys import fingerprint
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import store_of
from tests.files import files_in

pytestmark = pytest.mark.dialects

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "'; DROP TABLE article; --", '" OR 1=1 --', "\\'; DELETE FROM url; --", "%s %(x)s :name ? $1 {0}", "`id`$(id)",
    "'||(SELECT 1)||'", "a\\", "\u2019; --", "E'\\x27'", "/* */ ; COMMIT;", "../../etc/passwd", "𠮷😀",
)  # fmt: skip


def test_hostile_text_goes_through_both_databases(run_in: Callable, database: Database) -> None:
    urls = [f"http://a.example/{n}" for n in range(len(HOSTILE))]
    resumed = run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(url, anchor=nasty) for url, nasty in zip(urls, HOSTILE, strict=True)]))
    run_in(leases.take_hosts, (resumed.run_id, 9))
    leased_urls = {c.url: c for c in run_in(frontier.lease, wish(resumed.run_id, {fingerprint("a.example"): 99})).urls}
    store = store_of(resumed.run_id)
    for url, nasty in zip(urls, HOSTILE, strict=True):
        row = article(url, f"{nasty} {url}", title=nasty, authors=nasty, description=nasty, tags=nasty)
        run_in(store.store, done(leased_urls[url], article=row, detail=nasty[:30]))
    with database.engine.connect() as connection:
        found = connection.execute(text("SELECT title, authors, description, tags FROM article ORDER BY id")).all()
        assert sorted(tuple(row) for row in found) == sorted((nasty,) * 4 for nasty in HOSTILE)
        for url, nasty in zip(urls, HOSTILE, strict=True):
            known = explain(connection, url)
            assert known is not None
            assert (known.detail, known.anchor) == (nasty[:30], nasty)


# What stands in formatted statements of db/: names and numbers of ours, never a value of a row. Each with its file, so
# that an innocent name there does not excuse the same name elsewhere.
_OURS = {
    "articles/rework.py": {"where.replace(':', chr(92) + ':')"},  # a person's condition: a connection that only reads
    "articles/compact.py": {"pragma", "name", "quoted"},  # constants; a table of the file, quoted
    "articles/retention.py": {"name"},  # a partition, quoted by Postgres itself
    "desk/file.py": {"len(_STEPS)", "_MARK"},
    "desk/marks.py": {"_GIVEN", "_WANTED"},
    "desk/searches.py": {"_COLUMNS", "_WITH_UNREAD"},
    "engine/database.py": {"_WRITER_CACHE_KB", "pragma", "_LOCK_SECONDS", "_FROZEN_SECONDS"},
    "engine/migration.py": {"_VERSIONS", "name"},
    "engine/partitions.py": {"name", "bounds"},  # a year and a month, the seconds at which it begins and ends
    "engine/statements.py": {"state", "table.name", "names", "arrays", "into", "values"},  # columns and placeholders
    "frontier/aliases.py": {"SkipReason.URL_RULE", "SkipReason.TRAP"},
    "frontier/revisits.py": {"SkipReason.REDIRECT"},
    "frontier/scores.py": {"Kind.ROBOTS"},
    "queries/copy.py": {"name", "columns", "places", "what", "_names(writer, table)[0]"},  # quoted; DISABLE or ENABLE
    "queries/graph.py": {"-_CACHE_KB"},
    "search/clicks.py": {"_COLUMNS", "marks"},
    "search/find.py": {
        "', '.join((f'd.{name}' for name in SearchCandidate._fields))", "', '.join(SearchCandidate._fields)",
    },
    "search/index.py": {"', '.join(_COLUMNS)", "', '.join('abcdefghijk')"},
    "tables/views.py": {
        "_CHANGES", "_IS_CHANGED", "old", "new", "name", "body", "when", "query.format(**times)",
    },
}  # fmt: skip
_EXECUTING = {"text", "execute", "executemany", "executescript", "exec_driver_sql", "literal_column", "copy", "DDL"}
_BEGINS = re.compile(
    r"\s*(ALTER|ANALYZE|ATTACH|COPY|CREATE|DELETE|DROP|INSERT|LOCK|PRAGMA|REPLACE|SELECT|SET|TRUNCATE|UPDATE|VACUUM|WITH)\b"
)


def _formatted(tree: ast.Module) -> Iterator[ast.expr]:
    """Whatever is put into a statement: into text that begins as one does, or into the first argument of a call."""
    for node in ast.walk(tree):
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if called in _EXECUTING:
            yield from _parts([part for argument in node.args[:1] for part in ast.walk(argument)])
        elif _is_statement(node):
            yield from _parts([node])


def _parts(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield node


def _is_statement(node: ast.AST) -> bool:
    first = node.values[:1] if isinstance(node, ast.JoinedStr) else [getattr(node, "left", None)]
    return any(isinstance(part, ast.Constant) and _BEGINS.match(str(part.value)) for part in first)


def test_statements_are_made_of_constants() -> None:
    paths = [path for path in files_in(ROOT / "db", "**/*.py", at_least=50) if "migrations" not in path.parts]
    strangers, seen = [], {name: set() for name in _OURS}
    for path in paths:
        name = path.relative_to(ROOT / "db").as_posix()
        for value in _formatted(ast.parse(path.read_text(encoding="utf-8"))):
            if (said := ast.unparse(value)) in _OURS.get(name, ()):
                seen[name].add(said)
            else:
                strangers.append(f"{name}:{value.lineno}: {said}")
    assert strangers == []
    assert seen == _OURS, "what is not there any more needs no place in the list"
