"""Wrong use: one clear sentence, the right exit code, nothing started."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.crawler.crawling import scrapy

SEEDS = "http://news.example.com/"


def run(tmp_path: Path, *settings: str, seeds: str = SEEDS) -> tuple[int, str]:
    """Crawl with a seeds file of this content; returns exit code and messages."""
    path = tmp_path / "seeds.txt"
    path.write_text(seeds, encoding="utf-8")
    arguments = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", *settings)
    done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={path}", *[x for s in arguments for x in ("-s", s)])
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr.strip()


@pytest.mark.parametrize(
    ("settings", "code", "part"),
    [
        (["MAX_PAGE=5"], 2, "did you mean MAX_PAGES?"),
        (["MAX_PAGES=many"], 2, "MAX_PAGES is 'many'"),
        (["EXTRACTOR=magic"], 2, "density"),
        (['CRAWL_PRIORITY={"luck": 1}'], 2, "the signals are:"),
        (["ALLOW_NETWORKS=300.1.1.1"], 2, "300.1.1.1"),
        (["DATABASE_URL=mysql://host/x"], 2, "SQLite and Postgres"),
        (["DATABASE_URL=sqlite:////dev/null/news.db"], 2, "there is no folder"),
        (["DATABASE_URL=postgresql://u:secret@127.0.0.1:1/x", "DATABASE_PATIENCE=0"], 4, "does not answer"),
    ],
)
def test_wrong_settings(tmp_path: Path, settings: list[str], code: int, part: str) -> None:
    returned, message = run(tmp_path, *settings)
    assert (returned, part in message) == (code, True), message
    assert len(message.splitlines()) == 1
    assert "secret" not in message


def test_database_of_an_older_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "news.db")) as old:
        old.executescript(
            "CREATE TABLE alembic_version (version_num VARCHAR(32)); INSERT INTO alembic_version VALUES ('0011')"
        )
    code, message = run(tmp_path)
    assert (code, len(message.splitlines())) == (2, 1)
    assert "made by an older version" in message
    assert "name another database" in message


def test_wrong_seeds_are_named_and_nothing_starts(tmp_path: Path) -> None:
    code, message = run(tmp_path, seeds="http://good.example/\nftp://bad.example/\nhttp://good.example/ pages=-1\n")
    assert code == 2
    assert "line 2" in message
    assert "line 3" in message
    assert not (tmp_path / "news.db").exists()


def test_no_seeds_file(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={tmp_path}/none.txt")
    assert done.returncode == 2
    assert "none.txt" in done.stderr


def test_bundled_seeds_file_says_what_to_do(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "news", "-a", "seeds=seeds.txt")
    assert done.returncode == 2
    assert "seeds.txt" in done.stderr


def test_unknown_argument(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "news", "-a", "seed=x")
    assert done.returncode == 2
    assert "-a seeds=URL|FILE|demo" in done.stderr


def test_status_without_a_database(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "status", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/none.db")
    assert done.returncode == 2
    assert "there is no database" in done.stderr
