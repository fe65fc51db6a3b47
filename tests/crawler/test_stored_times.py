"""Times in a database that are none, by whatever program: whatever reads them goes on with the others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

import pytest

from db.records.keys import day_of, read_day, read_time
from db.search.index import times_of
from pipelines.export.read import TABLES, reading
from tests.crawler.crawling import command
from tests.crawler.web import newsstand
from tests.crawler.web.asking import Asker
from tests.crawler.web.visits import everything, kinds
from tests.table import each_row

MALFORMED = (
    "yesterday", "", " ", "2024-13-45", "2024-02-30T08:00", "0000-00-00", "0001-01-01 00:00:00", "../../../x",
    "9999-12-31T23:59-14:00", "2024-03", "12/03/2024", "2024年3月12日", "٢٠٢٤-٠٣-١٢", "1710230400", "-5", "\x00",
    "2024-03-12T25:61", "9" * 400, "2024-03-12T08:30+99:00",
)  # fmt: skip
COLUMNS = ("published_at", "published_utc", "first_seen", "updated")


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newsstand of which every second article has such a time in one of its columns or in all."""
    path = tmp_path_factory.mktemp("spoilt") / "news.db"
    newsstand.build(path)
    with closing(sqlite3.connect(path)) as database:
        keys = [key for (key,) in database.execute("SELECT id FROM article ORDER BY number")]
        for number, (key, value) in enumerate(zip(keys[::2], cycle(MALFORMED), strict=False)):
            some = COLUMNS if number % 5 == 4 else COLUMNS[number % 5 : number % 5 + 1]
            for name in some:
                database.execute(f"UPDATE article SET {name} = ? WHERE id = ?", (value, key))
        database.commit()
    return path


@each_row("value", [*MALFORMED, None])
def test_read_time_takes_anything(value: str | None) -> None:
    moment = read_time(value)
    assert moment is None or moment.utcoffset() is not None
    assert read_day(value) is None or moment is not None or value in MALFORMED
    assert isinstance(day_of(value or ""), int)
    seen = "2024-05-01T08:00:00+00:00"
    assert (
        times_of(value, value, seen) == times_of(None, None, seen) or moment is not None or read_day(value) is not None
    )
    times_of(value, value, value or "")


def test_times_of_keeps_what_is_good() -> None:
    assert times_of("2024-13-45", "2024-05-01 08:00:00", "") == times_of("2024-05-01", "2024-05-01 08:00:00", "")
    assert times_of("2024-05-01", "soon", "2024-06-01T08:00:00+00:00")[1] == day_of("2024-05-01")


def test_index_is_made_anew_with_all_articles(spoilt: Path) -> None:
    url = f"DATABASE_URL=sqlite:///{spoilt}"
    with closing(sqlite3.connect(spoilt)) as database:
        (articles,) = database.execute("SELECT count(*) FROM article").fetchone()
    done = command("search", "-s", url, "--rebuild")
    assert (done.returncode, f"{articles} articles indexed" in done.stdout) == (0, True), done.stderr
    for options in (["城市"], ["--since", "2000-01-01"], ["城市", "--until", "1d", "--format", "jsonl"]):
        done = command("search", "-s", url, *options)
        assert (done.returncode, done.stderr) == (0, "")


@each_row("command_line", ["status", "duplicates --show {}", "duplicates --rebuild", "why {}"])
def test_commands_print_what_is_stored(spoilt: Path, command_line: str) -> None:
    with closing(sqlite3.connect(spoilt)) as database:
        urls = [url for (url,) in database.execute("SELECT url FROM v_articles LIMIT 6")]
    for url in urls if "{}" in command_line else [""]:
        done = command(*command_line.format(url).split(), "-s", f"DATABASE_URL=sqlite:///{spoilt}")
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("table", ["articles", "duplicates", "sites", "links"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "markdown"])
def test_exports_hold_all_rows(spoilt: Path, table: str, form: str, tmp_path: Path) -> None:
    if form == "markdown" and table != "articles":
        return
    target = tmp_path / ("out" if form == "markdown" else f"out.{form}")
    done = command("export", table, "-s", f"DATABASE_URL=sqlite:///{spoilt}", "--output", str(target), "--format", form)
    assert done.returncode == 0, done.stderr
    records = list(reading(TABLES[table], str(spoilt)))
    assert records
    if form == "jsonl":
        assert len([json.loads(line) for line in target.read_text("utf-8").splitlines()]) == len(records)
    if form == "markdown":
        assert sorted(tmp_path.rglob("*.md")) == sorted(target.rglob("*.md"))
        assert len(list(target.rglob("*.md"))) == len(records)


@pytest.mark.slow
def test_pages_and_feeds_are_shown(spoilt: Path) -> None:
    with Asker(f"sqlite:///{spoilt}") as asker:
        api = [
            "/api/search",
            f"/api/search?q={quote('城市')}",
            "/api/crawl",
            "/api/sites",
            "/feed.atom",
            "/feed.atom?limit=100",
        ]
        for path in [*kinds(spoilt).values(), *everything(spoilt), *api]:
            answer = asker.get(path)
            assert answer.status_code in ({404} if path == "/article/1" else {200}), (path, answer.text[-2000:])
