"""`--format jsonl` of all commands: objects with the names that the guide gives them, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crawler.crawling import ROOT, command
from tests.db.small_crawl import HOSTILE, fill
from tests.table import each_row

GUIDE = (
    (ROOT / "docs" / "running.md").read_text(encoding="utf-8").partition("## For scripts\n")[2].partition("\n## ")[0]
)
URL = "http://a.example/1"
ESCAPES = "\x1b[31mred\x9b2J\u202e"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small crawl that has ended, with an alarm, a trap and a URL rule; a title moves the cursor."""
    path = tmp_path_factory.mktemp("formats") / "news.db"
    fill(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as database:
        (host_id,) = database.execute("SELECT id FROM host WHERE name = 'a.example'").fetchone()
        for table, values in (
            ("alarm", {"host_id": host_id, "kind": "refused", "since": "2025-03-01T00:00:00+00:00", "text": ESCAPES}),
            ("url_rule", {"host_id": host_id, "kind": "drop", "pattern": "utm", "used": 1, "example": f'["{URL}"]'}),
            ("url_pattern", {"host_id": host_id, "pattern": "/calendar/*", "blocked_at": 1e9, "why": "no end"}),
        ):
            _insert(database, table, values)
        database.execute("UPDATE article SET title = ? WHERE id = (SELECT id FROM url WHERE url = ?)", (ESCAPES, URL))
        database.execute("UPDATE run SET finished = '2025-03-08T00:00:00+00:00', alive_until = 0")
        database.commit()
    return path


def _insert(database: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    """Insert a row; what is not given is 0 or empty."""
    for _, name, kind, needed, default, _ in database.execute(f"PRAGMA table_info({table})").fetchall():
        if needed and default is None:
            values.setdefault(name, "" if kind.startswith(("TEXT", "VARCHAR")) else 0)
    marks = ", ".join("?" * len(values))
    database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", [*values.values()])


def said(path: Path, *words: str, code: int = 0) -> list[dict[str, Any]]:
    done = command(*words, "--format", "jsonl", "-s", f"DATABASE_URL=sqlite:///{path}")
    assert (done.returncode, done.stderr) == (code, "")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout), "no escapes"
    return [json.loads(line) for line in done.stdout.splitlines()]


def names(start: str, record: str = "") -> list[str]:
    """Names that the guide gives to a command, or to its records of a kind."""
    (row,) = re.findall(rf"^\| {start} \|(.*)\|$", GUIDE, re.MULTILINE)
    row = row.partition(f"`{record}`: ")[2] if record else row
    found = re.search("`([a-z_ ]+)`", row)
    assert found, start
    return found[1].split()


def test_status_has_records_of_every_kind(filled: Path) -> None:
    records = said(filled, "status")
    for record in records:
        assert list(record) == ["record", *names(record["record"])]
    assert {record["record"] for record in records} == {"crawl", "run", "host", "reason", "alarm"}
    (crawl,) = [record for record in records if record["record"] == "crawl"]
    assert (crawl["articles"], crawl["urls"]["failed"]) == (10, 1)
    (alarm,) = [record for record in records if record["record"] == "alarm"]
    assert (alarm["what"], alarm["until"]) == (ESCAPES, None)
    assert all(isinstance(record["urls"], int) for record in records if record["record"] == "reason")


@each_row(("option", "record"), [("--traps", "trap"), ("--url-rules", "url_rule")])
def test_traps_and_rules_have_the_names_of_the_guide(filled: Path, option: str, record: str) -> None:
    (found,) = said(filled, "status", option)
    assert list(found) == ["record", *names(f"status {option}", record)]


def test_explanation_is_one_object(filled: Path) -> None:
    (found,) = said(filled, "why", URL)
    assert list(found) == names("why")
    assert (found["state"], found["article"]["title"], found["versions"]) == ("done", ESCAPES, [])
    assert [one["is_later"] for one in found["duplicates"]] == [False, False]
    (changed,) = said(filled, "why", "http://a.example/2")
    assert [one["title"] for one in changed["versions"]] == ["邮票展览"]
    (outside,) = said(filled, "why", "http://outside.example/x")
    assert (outside["reason"], outside["article"]) == ("outside", None)


def test_ranks_are_numbers(filled: Path) -> None:
    found = said(filled, "rank", "--by", "site")
    pages = [one for one in found if one["record"] == "page"]
    sites = [one for one in found if one["record"] == "site"]
    assert list(pages[0]) == ["record", *names("rank", "page")]
    assert list(sites[0]) == ["record", *names("rank", "site")]
    assert HOSTILE in {one["title"] for one in pages}
    assert all(isinstance(one["score"], float) and isinstance(one["links_in"], int) for one in pages)


def test_reprints_and_signatures(filled: Path) -> None:
    first, *copies = said(filled, "duplicates", "--show", URL)
    assert list(first) == names("duplicates --show")
    assert (first["repeats"], [one["repeats"] for one in copies]) == (None, [first["id"]] * 2)
    (check,) = said(filled, "duplicates", "--check", code=1)
    assert list(check) == names("duplicates --check")
    assert (check["other_method"], check["missing"]) == (True, [])


def test_hits_have_the_names_of_the_guide(filled: Path) -> None:
    (found,) = said(filled, "search", "李四")
    assert list(found) == names("search")
    assert (found["rank"], found["title"], found["url"]) == (1, ESCAPES, URL)


def test_changes_say_what_they_did(filled: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(filled, tmp_path))
    (marked,) = said(path, "recrawl", "--lists", "--dry-run")
    assert list(marked) == names("recrawl")
    assert (marked["urls"], marked["dry_run"]) == (1, True)
    (indexed,) = said(path, "search", "--rebuild")
    assert list(indexed) == names("search --rebuild")
    assert indexed["articles"] == 10
    (made,) = said(path, "duplicates", "--rebuild")
    assert list(made) == names("duplicates --rebuild")
    (dropped,) = said(path, "drop", "a.example", "--articles", "--yes")
    assert list(dropped) == names("drop")
    assert (dropped["host"], dropped["articles"], dropped["versions"]) == ("a.example", 3, 1)
    (compacted,) = said(path, "compact")
    assert list(compacted) == names("compact")


def test_versions_are_named(filled: Path) -> None:
    found = said(filled, "version", "-v")
    assert all(list(one) == names("version") for one in found)
    assert {"Scrapy", "newscrawler", "database schema"} <= {one["name"] for one in found}
    assert [one["name"] for one in said(filled, "version")] == ["Scrapy"]
