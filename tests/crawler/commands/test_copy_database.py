"""`scrapy copy-database`: a crawl moves to another database and goes on there; what is refused, and in which words."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import create_engine, make_url, text

from crawler.demo.server import Newsroom
from db.engine.database import open_for_crawl
from tests.crawler.crawling import command, crawl, crawl_arguments, rows, start
from tests.waiting import wait_for


def urls(database_url: str, sql: str) -> list[str]:
    """The first column of an answer."""
    engine = create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        found = list(connection.execute(text(sql)).scalars())
    engine.dispose()
    return found


def stored_articles(folder: Path) -> int:
    """How many a crawl has stored until now."""
    try:
        return rows(folder, "SELECT count(*) FROM article")[0][0]
    except sqlite3.OperationalError:  # there are no tables yet
        return 0


@pytest.mark.parametrize("target_url", ["postgres"], indirect=True)
def test_killed_crawl_goes_on_in_postgres(tmp_path: Path, target_url: str) -> None:
    with Newsroom(port=0, latency_seconds=0.02) as newsroom:
        seeds = newsroom.seeds()[:1]
        process = start(tmp_path, *crawl_arguments(newsroom, tmp_path, "WORKERS=1", seeds=seeds)).process
        wait_for(lambda: stored_articles(tmp_path) >= 3)
        process.kill()
        process.join()
        with sqlite3.connect(tmp_path / "news.db") as file:
            file.execute("UPDATE article SET summary = summary || char(0) WHERE id IN (SELECT id FROM article LIMIT 2)")
        stored_before = {urlsplit(url).path for (url,) in rows(tmp_path, "SELECT url FROM v_articles")}
        target = make_url(target_url).set(password="secret").render_as_string(hide_password=False)
        copied = command("copy-database", f"{tmp_path}/news.db", target)
        assert copied.returncode == 0, copied.stderr
        assert copied.stderr == ""
        assert "2 texts were changed" in copied.stdout
        assert "scrapy crawl news -a seeds=" in copied.stdout
        assert "secret" not in copied.stdout
        fetched = len(newsroom.requests())
        again = crawl(newsroom, tmp_path, f"DATABASE_URL={target_url}", "WORKERS=1", seeds=seeds)
        assert again.returncode == 0, again.stderr
        assert "Going on with run 2" in again.stderr
        paths = [request.path for request in newsroom.requests()]
        wanted = {a.url for a in newsroom.truth() if a.url.startswith(seeds[0])}
    stored = urls(target_url, "SELECT url FROM v_articles")
    assert len(wanted) > 20
    assert wanted - set(stored) == set()
    assert len(stored) == len(set(stored))
    assert len(stored_before) >= 3
    assert stored_before & set(paths[fetched:]) == set(), "only what was in flight is fetched again"


def test_wrong_arguments_are_explained(tmp_path: Path) -> None:
    path = f"{tmp_path}/news.db"
    open_for_crawl(f"sqlite:///{path}").close()
    silent = "postgresql://me:secret@127.0.0.1:1/x"
    cases = [
        ([], 2, "name two databases"),
        ([f"{tmp_path}/none.db", path], 2, "there is no database"),
        ([path, path], 2, "cannot be copied into itself"),
        ([path, "mysql://me:secret@host/x"], 2, "SQLite and Postgres"),
        ([path, "sqlite:////dev/null/news.db"], 2, "there is no folder"),
        ([path, silent, "-s", "DATABASE_PATIENCE=0"], 4, "does not answer"),
        ([silent, path], 4, "does not answer"),
        ([path, silent, "-s", "DATABASE_PATIENC=0"], 2, "did you mean DATABASE_PATIENCE?"),
    ]
    for arguments, code, part in cases:
        done = command("copy-database", *arguments)
        assert (done.returncode, part in done.stderr) == (code, True), done.stderr
        assert "Traceback" not in done.stderr
        assert "secret" not in done.stderr
        if arguments:
            assert len(done.stderr.splitlines()) == 1


def test_ctrl_c(tmp_path: Path) -> None:
    for name in ("news", "target"):
        open_for_crawl(f"sqlite:///{tmp_path}/{name}.db").close()
    with sqlite3.connect(tmp_path / "target.db", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        running = start(tmp_path, "copy-database", f"{tmp_path}/news.db", f"{tmp_path}/target.db")
        errors = running.log.with_suffix(".err")
        wait_for(lambda: errors.exists() and "waiting" in errors.read_text())
        assert running.send(signal.SIGINT)
        done = running.finish()
        other.execute("ROLLBACK")
    assert done.returncode == 3
    assert done.stderr.splitlines()[1:] == ["scrapy copy-database: stopped; nothing was copied"]
