"""`docs/datasette.yaml` and `docs/tables.md`: their tables are those of the program, the queries run.

`python -m tests.db.test_datasette` writes what is said of tables and columns into both, from the docstrings.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from db.records.article import ArticleItem
from db.tables import Record
from tests.db.small_crawl import fill
from tests.files import files_in

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "datasette.yaml"
MARK = "    tables:\n"
PAGE = ROOT / "docs" / "tables.md"
IN_PAGE = re.compile(r"(?<=<!-- tables -->\n).*?(?=<!-- end of tables -->)", re.DOTALL)
QUERY = re.compile(r"^      (\w+):\n        title: (.+)\n((?:        .*\n|\n)+)", re.MULTILINE)
SQL = re.compile(r"^        sql: \|-\n((?:          .*\n)+)", re.MULTILINE)

VIEWS = {
    "v_articles": (
        "Articles, the newest first.",
        {"sort_desc": "published_utc", "facets": ["site", "language", "kind"], "size": 50},
    ),
    "v_sites": ("Sites that were asked for something, with counts.", {}),
    "v_dropped": (
        "URLs that became no article, or one that is in doubt, with the reason.",
        {"facets": ["state", "reason", "host"]},
    ),
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "article": {"label_column": "title", "sort_desc": "published_utc", "facets": ["language", "kind", "extractor"]},
    "article_version": {"sort_desc": "seen"},
    "url": {"label_column": "url", "sort_desc": "fetched_at", "facets": ["state", "kind", "reason", "page_kind"]},
    "site": {"label_column": "name", "sort_desc": "originals"},
    "host": {"label_column": "name", "sort_desc": "articles", "facets": ["robots"]},
    "seed": {"label_column": "url"},
    "link": {"facets": ["block"]},
    "duplicate": {"facets": ["kind", "method"], "sort_desc": "similarity"},
    "cluster": {"sort_desc": "size"},
    "image": {"facets": ["position"]},
    "alarm": {"facets": ["kind"], "sort_desc": "since"},
    "run": {"sort_desc": "id"},
    "search_document": {"fts_table": "search_words", "fts_pk": "number", "sort_desc": "number"},
}
HIDDEN = (
    *("budget", "host_health", "inbox", "outbox", "outside", "page_terms", "shard", "signature", "signature_form"),
    *("site_memory", "suspect", "text_key", "url_form"),
    *("alembic_version", "_articles", "_sites", "_dropped"),
)
"""Of use to the program alone, or there twice."""
OF_VIEWS = {
    "id": "Identifier, as text: tools round numbers that long.",
    "articles": "Stored ones, duplicates among them.",
    "duplicates": "Those that repeat another one.",
    "newest_article": "Time of its newest article, as its page states it.",
    "newest_utc": "The same in UTC.",
    "urls_done": "URLs that were fetched.",
    "urls_waiting": "URLs that are queued or being fetched.",
    "site": "Registrable domain, or the host when there is none.",
    "host": "Host and port.",
    "state": "pending, leased, done, failed or skipped.",
    "found_on": "Page on which it was found.",
    "anchor": "Text of the link by which it was found.",
    "depth": "Links from the seed.",
    "first_seen": "Time at which it was found.",
    "fetched_at": "Time at which it, or one of its pages, was fetched last.",
}
"""Columns of views that no table has under that name."""


def docstrings(path: Path) -> Iterator[tuple[ast.ClassDef, dict[str, str]]]:
    """The classes of a module, each with the docstrings of its attributes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found = {}
            for before, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
                    assert isinstance(before.target, ast.Name)
                    found[before.target.id] = ast.literal_eval(after.value)
            yield node, found


def tables() -> dict[str, tuple[str, dict[str, str]]]:
    """Table -> what it holds, and its columns that are explained."""
    found = {}
    names = {model.__name__: model.__tablename__ for model in Record.__subclasses__()}
    for path in files_in(ROOT / "db" / "tables", "*.py", at_least=5):
        for node, columns in docstrings(path):
            if node.name in names:
                found[names[node.name]] = (ast.get_docstring(node) or "", columns)
    return found


def of_articles() -> dict[str, str]:
    """Columns of `v_articles` as the docstring of the items explains them."""
    found = {}
    entries = re.findall(r"^    ([\w, ]+): (.+(?:\n      .+)*)$", inspect.getdoc(ArticleItem) or "", re.MULTILINE)
    for names, text in entries:
        for name in names.split(", "):
            found[name] = text[0].upper() + re.sub(r"\s+", " ", text[1:])
    return found


def explained() -> dict[str, tuple[str, dict[str, str]]]:
    """View or table -> its description, and its columns that are explained; the views come first."""
    known = tables()
    url = known["url"][1]
    of_views = {
        "v_articles": of_articles(),
        "v_sites": known["site"][1] | OF_VIEWS,
        "v_dropped": {**url, **OF_VIEWS, "kind": url["page_kind"]},
    }
    views = {
        name: (text, {column: of_views[name][column] for column in columns_of(name) if column in of_views[name]})
        for name, (text, _) in VIEWS.items()
    }
    return views | {name: known[name] for name in sorted(known)}


def datasette_tables() -> str:
    """Write the part of `docs/datasette.yaml` on tables."""
    lines: list[str] = []
    for name, (text, columns) in explained().items():
        options = VIEWS[name][1] if name in VIEWS else OPTIONS.get(name, {})
        lines += _table(name, text, options | ({"hidden": True} if name in HIDDEN else {}), columns)
    lines += [line for name in HIDDEN if name not in tables() for line in _table(name, "", {"hidden": True}, {})]
    return "".join(f"{line}\n" for line in lines)


def page_tables() -> str:
    """Write the part of `docs/tables.md` on tables; columns without a text of their own are listed at the end."""
    lines: list[str] = []
    for name, (text, columns) in explained().items():
        if name in HIDDEN and name not in tables():
            continue
        every = columns_of(name) if name in VIEWS else list(Record.metadata.tables[name].columns.keys())
        lines += [f"## `{name}`", "", text, "", "| column | meaning |", "|---|---|"]
        lines += [f"| `{column}` | {_one_line(columns[column])} |" for column in every if column in columns]
        if rest := ", ".join(f"`{column}`" for column in every if column not in columns):
            lines.append(f"| {rest} | |")
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _table(name: str, text: str, options: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[str]:
    yield f"      {name}:"
    if text:
        yield f"        description: {_quoted(text)}"
    for option, value in options.items():
        yield f"        {option}: {json.dumps(value)}"
    if columns:
        yield "        columns:"
        yield from (f"          {column}: {_quoted(told)}" for column, told in columns.items())


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def _quoted(text: str) -> str:
    """A text on one line, as JSON and YAML write it."""
    return json.dumps(re.sub(r"\s+", " ", text), ensure_ascii=False)


def columns_of(view: str) -> list[str]:
    """The columns of a view, as its SQL names them."""
    source = (ROOT / "db" / "tables" / "views.py").read_text(encoding="utf-8")
    sql = re.search(rf'{view.upper()} = """\nSELECT (.*?)\nFROM', source, re.DOTALL)
    assert sql
    plain = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", sql[1])
    return [re.split(r"\W+", part.strip())[-1] for part in plain.split(",")]


def queries() -> dict[str, str]:
    """Name -> SQL of the queries in the file."""
    text = FILE.read_text(encoding="utf-8").partition(MARK)[0].partition("    queries:\n")[2]
    found = {}
    for name, _, rest in QUERY.findall(text):
        (sql,) = SQL.findall(rest)
        found[name] = sql
    return found


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("datasette") / "news.db"
    fill(f"sqlite:///{path}")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        yield connection


def test_tables_are_explained_as_in_the_program() -> None:
    before, mark, after = FILE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    assert "databases:" in before
    assert after == datasette_tables(), "run: uv run python -m tests.db.test_datasette"
    assert all(text for text, _ in tables().values())
    assert set(columns_of("v_articles")) == set(explained()["v_articles"][1])
    in_page = IN_PAGE.search(PAGE.read_text(encoding="utf-8"))
    assert in_page, "docs/tables.md has lost the marks around its tables"
    assert in_page[0] == page_tables(), "run: uv run python -m tests.db.test_datasette"


def test_tables_columns_and_options_exist(news: sqlite3.Connection) -> None:
    there = {name for (name,) in news.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    assert there >= {*VIEWS, *OPTIONS, *HIDDEN}
    shown = {**{name: options for name, (_, options) in VIEWS.items()}, **OPTIONS}
    for name, options in shown.items():
        columns = {row[1] for row in news.execute(f"PRAGMA table_info({name})")}
        used = {options.get(key) for key in ("label_column", "sort_desc", "fts_pk")} - {None}
        assert columns >= {*used, *options.get("facets", [])}, name
    for name in VIEWS:
        assert columns_of(name) == [row[1] for row in news.execute(f"PRAGMA table_info({name})")]


PARAMETERS = {
    "search": [("工程队", 3), ("passengers ferry", 1), ("LATE", 1), ("困难", 1), ("无此", 0), ('"*) OR', 0), ("", 0)],
    "stories_of_a_day": [("2025-03-01", 1), ("2025-03", 7), ("", 8)],
    "story": [("http://b.example/1", 3), ("http://nowhere.example/", 0)],
    "who_copies_whom": [("", 2), ("b.example", 1), ("d.example", 0)],
    "changes": [("", 1), ("a.example", 1), ("b.example", 0)],
    "coverage": [("老", 1)],
    "author": [("张三", 1), ("无人", 0)],
    "links_to": [("http://a.example/1", 2)],
    "dropped": [("", 3), ("a.example", 2)],
    "queue": [("", 1)],
    "silent_sites": [("", 4), ("2025-03-05", 1)],
}
"""Query -> values of its parameter, with the number of rows that it finds then."""


def test_every_query_finds_what_there_is(news: sqlite3.Connection) -> None:
    assert len(queries()) == len(PARAMETERS) > 10 - 1
    for name, sql in queries().items():
        (parameter,) = set(re.findall(r":(\w+)", sql))
        for value, rows in PARAMETERS[name]:
            assert len(news.execute(sql, {parameter: value}).fetchall()) == rows, (name, value)


if __name__ == "__main__":
    before, mark, _ = FILE.read_text(encoding="utf-8").partition(MARK)
    FILE.write_text(before + mark + datasette_tables(), encoding="utf-8")
    PAGE.write_text(IN_PAGE.sub(lambda _: page_tables(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
