"""Text that would be SQL if it were ever put into a statement comes back as it went in."""

from __future__ import annotations

import ast
from collections.abc import Callable
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


# What may stand in a formatted statement: names of tables and states of ours, numbers of ours; never a value of a row.
_OURS = {
    "Kind.ROBOTS", "state", "SkipReason.URL_RULE", "SkipReason.REDIRECT", "SkipReason.TRAP", "pragma", "_LOCK_SECONDS",
    "_FROZEN_SECONDS", "-_CACHE_KB", "_READER_CACHE_KB", "_WRITER_CACHE_KB", "name", "columns", "places",
    "_names(writer, table)[0]",
}  # fmt: skip
_EXECUTING = {"text", "execute", "exec_driver_sql", "literal_column"}


@pytest.mark.parametrize("path", sorted((ROOT / "db").glob("*.py")), ids=lambda path: path.stem)
def test_statements_are_made_of_constants(path: Path) -> None:
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called not in _EXECUTING:
            continue
        for part in (each for argument in call.args[:1] for each in ast.walk(argument)):
            if isinstance(part, ast.FormattedValue):
                assert ast.unparse(part.value) in _OURS, f"{path.name}:{part.lineno}"
            assert not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)), f"{path.name}:{call.lineno}"
