"""`scrapy compact`: what it says, and that a killed one costs nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from db.engine.database import open_for_crawl
from tests.crawler.crawling import Finished, command, start

ROWS = 60


@pytest.fixture
def database(tmp_path: Path, sqlite_tables: str) -> Path:
    """A database with more free pages than others."""
    path = tmp_path / "news.db"
    shutil.copy(sqlite_tables, path)
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA journal_mode=WAL")
        opened.execute("CREATE TABLE ballast (id INTEGER PRIMARY KEY, bytes)")
        opened.executemany("INSERT INTO ballast (bytes) VALUES (?)", [(os.urandom(100_000),) for _ in range(ROWS)])
        opened.execute(f"DELETE FROM ballast WHERE id <= {ROWS // 2}")
        opened.commit()
    return path


def compact(path: Path, *arguments: str) -> Finished:
    return command("compact", "-s", f"DATABASE_URL=sqlite:///{path}", *arguments)


def test_dry_run_says_what_would_go_and_changes_nothing(database: Path) -> None:
    before = database.stat().st_size
    done = compact(database, "--dry-run", "--versions", "2", "--dead-hosts", "90d", "--format", "jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["dry_run"], said["versions"], said["urls"], said["bytes"]) == (True, 0, 0, before)
    assert said["free_bytes"] > 2_500_000
    assert database.stat().st_size == before


def test_space_is_given_back_and_said(database: Path) -> None:
    before = database.stat().st_size
    done = compact(database)
    assert (done.returncode, done.stderr) == (0, "")
    freed = before - database.stat().st_size
    assert freed > 2_500_000
    assert f"{freed:,} bytes were freed" in done.stdout


def test_killed_compaction_costs_nothing(database: Path, tmp_path: Path) -> None:
    for pause in (0.0, 0.02):
        running = start(tmp_path, "compact", "-s", f"DATABASE_URL=sqlite:///{database}")
        until = time.monotonic() + 30
        while not list(tmp_path.glob("news.db-wal")) and running.process.is_alive():
            assert time.monotonic() < until
            time.sleep(0.001)
        time.sleep(pause)
        running.send(signal.SIGKILL)
        running.process.join(300)
        with closing(sqlite3.connect(database)) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert opened.execute("SELECT count(*) FROM ballast").fetchone() == (ROWS // 2,)
    assert compact(database).returncode == 0


def test_crawl_beside_it_is_refused_in_a_sentence(database: Path) -> None:
    with closing(open_for_crawl(f"sqlite:///{database}")):
        done = compact(database)
    assert (done.returncode, done.stdout) == (2, "")
    assert "another crawl is running on" in done.stderr
    assert len(done.stderr.splitlines()) == 1
