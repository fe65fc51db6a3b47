"""The queries of docs/queries.md run on both databases.

`python -m tests.db.test_queries_page news.db` writes the answers of that database into the page.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from db.engine.database import open_for_reading
from tests.db.small_crawl import fill
from tests.postgres import empty_database

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"
SECTION = re.compile(r"^### (\d+)\. (.+)\n((?:(?!^##).*\n)+)", re.MULTILINE)
BLOCK = re.compile(r"^```sql\n(?:-- (SQLite|Postgres)\n)?(.*?);\n```\n", re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"\n*^\|.*\Z", re.MULTILINE | re.DOTALL)
CELL = 60


def queries(kind: str) -> dict[str, str]:
    """Number and title -> query, in the form for a kind of database."""
    found = {}
    for number, title, body in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        (found[f"{number}. {title}"],) = (sql for of, sql in BLOCK.findall(body) if of in {"", kind})
    return found


def test_page_has_twenty_questions_in_order() -> None:
    for kind in ("SQLite", "Postgres"):
        assert [name.partition(".")[0] for name in queries(kind)] == [str(n) for n in range(1, 21)]
    assert list(queries("SQLite")) == list(queries("Postgres"))


@pytest.fixture(scope="module", params=["SQLite", "Postgres"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Kind and URL of a database with a small crawl; tests read it only."""
    if request.param == "SQLite":
        url = f"sqlite:///{tmp_path_factory.mktemp('crawled')}/news.db"
        fill(url)
        yield request.param, url
        return
    with empty_database(request.getfixturevalue("postgres_server"), f"queries_{os.getpid()}") as url:
        fill(url)
        yield request.param, url


def test_every_query_has_an_answer_of_the_columns_shown(crawled: tuple[str, str]) -> None:
    kind, url = crawled
    page = PAGE.read_text(encoding="utf-8")
    with closing(open_for_reading(url)) as database, database.reading_only() as connection:
        for name, sql in queries(kind).items():
            answer = connection.execute(text(sql))
            head = f"| {' | '.join(answer.keys())} |"
            assert answer.all(), name
            assert head in page.partition(f"### {name}\n")[2].partition("\n### ")[0], name


def answer(connection: sqlite3.Connection, sql: str) -> str:
    """An answer as a Markdown table."""
    found = connection.execute(sql)
    rows = [[one[0] for one in found.description], *found.fetchmany(10)]
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(shown(value) for value in row)} |" for row in rows)


def shown(value: object) -> str:
    """A cell of an answer."""
    cell = "" if value is None else str(value).replace("|", "\\|")
    return cell if len(cell) <= CELL else f"{cell[: CELL - 1]}…"


if __name__ == "__main__":
    with closing(sqlite3.connect(sys.argv[1])) as news:
        found = queries("SQLite")

        def with_answer(section: re.Match[str]) -> str:
            """A section, the answer written anew."""
            table = answer(news, found[f"{section[1]}. {section[2]}"])
            return f"{ANSWER.sub('', section[0]).rstrip()}\n\n{table}\n\n"

        written = SECTION.sub(with_answer, PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(f"{written.rstrip()}\n", encoding="utf-8")
