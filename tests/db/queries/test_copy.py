from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, make_url, select, text

from db.articles import signatures
from db.engine.database import Database, open_for_crawl, open_for_reading, parse_url
from db.engine.errors import DatabaseGone, WrongDatabase
from db.engine.processes import here
from db.frontier import aliases, claims, counts, leases, runs
from db.frontier.insert import add_urls
from db.queries.copy import TABLES, Copied, copy_database
from db.records.keys import fingerprint
from db.records.outcome import Edges, StoredPage
from db.records.run import RunEnd
from db.records.signature import Reader
from db.sites import traps, url_rules
from db.sites.memory import Memory, TrainingBatch
from db.sites.traps import PatternRow
from db.sites.url_rules import RuleRow
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.terms import index_terms
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import METHOD, SIGN, store_of

pytestmark = pytest.mark.dialects

SEED = "http://a.example/"
A, B = fingerprint("a.example"), fingerprint("b.example")


def copy(source: str, target: str, *, progress: Callable = lambda *_: None) -> Copied:
    return copy_database(
        source, target, patience_seconds=0, make_terms=index_terms, waiting=lambda _: None, progress=progress
    )


def run_in(database: Database, work: Callable, payload: object) -> Any:
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        return work(connection, [payload])[0]


def change(url: str, sql: str) -> None:
    database = open_for_crawl(url)
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        connection.execute(text(sql))
    database.close()


def fill(url: str, pages: int = 3) -> None:
    """A crawl of two runs: one has ended, one was killed some time ago with pages and a sitemap in flight."""
    database = open_for_crawl(url)
    first = run_in(database, runs.start_run, start(seed_row(SEED, pages=5, topic="港口"))).run_id
    seed_id = fingerprint(SEED)
    found = [new_url(f"http://a.example/{i}", seed_id=seed_id, score=1 - i / 10**6) for i in range(pages)]
    sitemap = new_url("http://a.example/map.xml", kind="sitemap", score=0.0001)
    run_in(database, add_urls, (NOW, [*found, sitemap, new_url("http://b.example/", score_parts='{"depth": 0.5}')]))
    run_in(database, leases.take_hosts, (first, 10))
    run_in(database, claims.set_robots, [(A, "rules", "User-agent: *\nDisallow: /\\N\t私", NOW)])
    page = run_in(database, claims.lease, wish(first, {A: 1})).urls[0]
    outcome = done(
        page,
        article=article(
            page.url,
            "第一行\\n\n\t第二行 \\. 'x'",
            images=(("http://a.example/i.png", ""),),
            relevance=0.25,
            source="晨报",
            classes="sport",
            memberships=[("sport", 0.75)],
        ),
        terms=(0.25, bytes(range(256))),
        links=Edges([found[1].id, found[2].id], bytes([1, 5])),
        raw=StoredPage("text/html", "utf-8", bytes(range(256))),
    )
    index = SignatureIndex(METHOD, None)
    run_in(database, signatures.load, Reader(index, SIGN, print))
    run_in(database, store_of(first).store, outcome)
    run_in(
        database, Memory(lambda known, more: (known + b"".join(more), 1)).save, TrainingBatch(A, [bytes(range(256))])
    )
    run_in(database, url_rules.save, (A, [RuleRow("slug", "/<number>-*", 30, 1, 0.85, 1, "[]")]))
    run_in(database, aliases.fill, [(1, A, page.id)])
    patterns = [PatternRow(A, 0, "/<number>", 9, 1, 1, 2.5, 3, "", 0.0, "", page.url)]
    run_in(database, traps.save, (first, patterns))
    run_in(database, runs.finish_run, RunEnd(first, "2025-01-01T00:01:00+00:00", "stopped", 3, {"pages": 1}))
    second = run_in(database, runs.start_run, start()).run_id
    run_in(database, leases.take_hosts, (second, 10))
    assert len(run_in(database, claims.lease, wish(second, {B: 1})).urls) == 1
    assert len(run_in(database, claims.lease, wish(second, {A: 3})).urls) == 3
    with database.engine.begin() as connection:
        counts.fold(connection)
    database.close()
    change(url, "UPDATE host SET queued = 0 WHERE name = 'b.example'")
    change(url, "UPDATE run SET alive_until = 1 WHERE id = 2")


def rows(url: str) -> dict[str, list[tuple]]:
    """Everything."""
    database = open_for_reading(url)
    with database.engine.connect() as connection:
        found = {table.name: sorted(map(tuple, connection.execute(select(table))), key=repr) for table in TABLES}
        # each database has its own index of the same words
        found["search_document"] = [row[:-1] for row in found["search_document"]]
    database.close()
    return found


def ask(url: str, sql: str) -> list[tuple]:
    database = open_for_reading(url)
    with database.engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(sql))]
    database.close()
    return found


@pytest.fixture
def filled(database_url: str) -> str:
    fill(database_url)
    return database_url


@pytest.fixture
def filled_file(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/filled.db"
    fill(url)
    return url


def test_copy_goes_on_as_the_original_would(filled: str, target_url: str) -> None:
    before = rows(filled)
    copied = copy(filled, target_url)
    assert rows(filled) == before
    assert copied.rows == {name: len(found) for name, found in before.items()}
    empty = {"alarm", "article_version", "duplicate", "host_health", "outside", "part", "run_sample"}
    empty |= {"inbox", "outbox", "shard", "text_key", "suspect", "elsewhere", "render_gain"}
    assert {name for name, n in copied.rows.items() if n == 0} == empty
    assert ask(target_url, "SELECT id, outcome FROM run ORDER BY id") == [(1, "stopped"), (2, "copied")]
    for url in (filled, target_url):
        database = open_for_crawl(url)
        assert run_in(database, runs.start_run, start()).run_id == 3
        database.close()
        change(url, "UPDATE run SET outcome = '', alive_until = 0")
        change(url, "UPDATE host SET ready_at = 0")  # hosts of a dead run rest for a second; a copy takes longer
    assert rows(target_url) == rows(filled)


def test_leased_urls_wait_again_in_the_copy(filled_file: str, target_url: str) -> None:
    assert ask(filled_file, "SELECT pages FROM budget") == [(4,)]
    copy(filled_file, target_url)
    states = "SELECT state, count(*) FROM url GROUP BY state ORDER BY state"
    assert ask(target_url, states) == [("done", 1), ("pending", 4)]
    assert ask(target_url, "SELECT DISTINCT leased_by FROM url") == [(None,)]
    hosts = "SELECT name, owner, queued, pages FROM host ORDER BY name"
    assert ask(target_url, hosts) == [("a.example", None, 1, 1), ("b.example", None, 1, 0)]
    assert ask(target_url, "SELECT used FROM seed") == [(1,)]
    assert ask(target_url, "SELECT pages FROM budget") == [(1,)]
    assert ask(target_url, "SELECT alive_until FROM run") == [(0.0,), (0.0,)]


def test_texts_that_the_target_cannot_hold(filled_file: str, target_url: str) -> None:
    with sqlite3.connect(filled_file.removeprefix("sqlite:///")) as file:
        file.execute("UPDATE article SET title = 'a' || char(0) || 'b', source = CAST(x'41FFEDA080' AS TEXT)")
    copied = copy(filled_file, target_url)
    to_file = target_url.startswith("sqlite")
    assert copied.changed == (1 if to_file else 2)
    assert ask(target_url, "SELECT title, source FROM article") == [("a\0b" if to_file else "ab", "A" + 4 * "\ufffd")]


def test_many_rows_come_in_batches(target_url: str, tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path}/many.db"
    fill(source, pages=2500)
    told: list[tuple[int, str, int]] = []
    copied = copy(source, target_url, progress=lambda *batch: told.append(batch))
    assert [more for _, table, more in told if table == "url"] == [1000, 1000, 502]
    assert sum(more for _, _, more in told) == sum(copied.rows.values()) == told[0][0]
    assert sorted(rows(target_url)["link"]) == sorted(rows(source)["link"])


def test_copy_that_is_killed_can_be_made_again(filled_file: str, target_url: str) -> None:
    code = (
        "import os, sys\nfrom tests.db.queries.test_copy import copy\n"
        "copy(*sys.argv[1:], progress=lambda _, table, more: table == 'url' and os.kill(os.getpid(), 9))"
    )
    died = subprocess.run([sys.executable, "-c", code, filled_file, target_url], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not any(rows(target_url).values())
    assert copy(filled_file, target_url).rows["url"] == 5


@pytest.mark.parametrize("target_url", ["sqlite"], indirect=True)
def test_crawl_that_runs_on_a_file_is_not_copied(filled_file: str, target_url: str) -> None:
    crawl = open_for_crawl(filled_file)
    with pytest.raises(WrongDatabase, match="a crawl is running on"):
        copy(filled_file, target_url)
    crawl.close()
    copy(filled_file, target_url)


ALIVE = "UPDATE run SET alive_until = extract(epoch FROM now()) + 20"


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("target_url", ["sqlite"], indirect=True)
def test_crawl_that_runs_on_postgres_is_not_copied(filled: str, target_url: str) -> None:
    change(filled, f"{ALIVE}, place = 'elsewhere', pid = 123")
    with pytest.raises(WrongDatabase, match=r"process 123 on here; if it was killed, its lease ends in \d+ s"):
        copy(filled, target_url)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("target_url", ["sqlite"], indirect=True)
def test_run_whose_process_is_gone_is_none(filled: str, target_url: str) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    change(filled, f"{ALIVE}, place = '{here()}', pid = {process.pid}")
    copy(filled, target_url)
    assert ask(target_url, "SELECT outcome FROM run WHERE id = 2") == [("copied",)]


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("target_url", ["postgres"], indirect=True)
def test_crawl_that_starts_meanwhile_stops_the_copy(filled: str, target_url: str) -> None:
    crawl = open_for_crawl(filled)

    def begin(_rows: int, table: str, _more: int) -> None:
        if table == "host":
            started = run_in(crawl, runs.start_run, start()).run_id
            run_in(crawl, runs.finish_run, RunEnd(started, "", "stopped", 3, {}))

    with pytest.raises(WrongDatabase, match=r"was started on .* meanwhile"):
        copy(filled, target_url, progress=begin)
    assert not any(rows(target_url).values())
    crawl.close()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("target_url", ["sqlite"], indirect=True)
def test_one_side_may_wait_for_the_other(filled: str, target_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.engine.database._FROZEN_SECONDS", 0.6)
    copy(filled, target_url, progress=lambda _, table, more: table == "url" and time.sleep(0.9))
    assert {name: len(found) for name, found in rows(target_url).items()} == {
        name: len(found) for name, found in rows(filled).items()
    }


def test_target_with_rows_is_left_alone(filled_file: str, target_url: str) -> None:
    copy(filled_file, target_url)
    before = rows(target_url)
    with pytest.raises(WrongDatabase, match="is not empty"):
        copy(filled_file, target_url)
    assert rows(target_url) == before


def test_database_is_not_copied_into_itself(filled: str) -> None:
    url = make_url(filled)
    if filled.startswith("sqlite"):
        other = filled.replace("/news.db", "/../" + filled.split("/")[-2] + "/news.db")
    else:
        other = url.update_query_dict({"application_name": "other"}).render_as_string(hide_password=False)
    with pytest.raises(WrongDatabase, match="cannot be copied into itself"):
        copy(filled, other)


def test_rows_that_get_lost_are_noticed(filled_file: str, tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path}/target.db"
    open_for_crawl(target).close()
    with sqlite3.connect(tmp_path / "target.db") as file:
        file.execute("CREATE TRIGGER lose BEFORE INSERT ON image BEGIN SELECT raise(IGNORE); END")
    with pytest.raises(DatabaseGone, match="has 0 rows in image instead of 1"):
        copy(filled_file, target)
    assert not any(rows(target).values())


def test_rows_that_the_target_refuses(filled_file: str, database_url: str) -> None:
    database = open_for_crawl(database_url)
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        connection.execute(text("CREATE UNIQUE INDEX one ON url (host_id)"))
    database.close()
    with pytest.raises(DatabaseGone, match=r"(?i)unique .*; nothing was copied"):
        copy(filled_file, database_url)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No SQLite file can grow beyond 480 KB."""

    def limit(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA max_page_count = 120")

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


def test_full_disk(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    source, target = f"sqlite:///{tmp_path}/news.db", f"sqlite:///{tmp_path}/target.db"
    fill(source, pages=2500)
    request.getfixturevalue("full_disk")
    with pytest.raises(DatabaseGone, match="the disk is full"):
        copy(source, target)
    assert not any(rows(target).values())


def test_nothing_to_copy(tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path}/target.db"
    with pytest.raises(WrongDatabase, match="there is no database"):
        copy(f"sqlite:///{tmp_path}/news.db", target)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE customers (id)")
    with pytest.raises(WrongDatabase, match="customers"):
        copy(f"sqlite:///{tmp_path}/other.db", target)
    open_for_crawl(f"sqlite:///{tmp_path}/old.db").close()
    with sqlite3.connect(tmp_path / "old.db") as old:
        old.execute("UPDATE alembic_version SET version_num = '99'")
    with pytest.raises(WrongDatabase, match="newer version"):
        copy(f"sqlite:///{tmp_path}/old.db", target)
    assert not (tmp_path / "target.db").exists()


def test_user_whom_the_server_does_not_know(filled_file: str, postgres_server: str) -> None:
    stranger = make_url(postgres_server).set(username="stranger", password="secret")
    url = stranger.render_as_string(hide_password=False)
    for pair in ((filled_file, url), (url, filled_file)):
        with pytest.raises(WrongDatabase, match="refuses this user") as caught:
            copy(*pair)
        assert "secret" not in str(caught.value)


def test_databases_are_named_by_url_or_path(tmp_path: Path) -> None:
    path = tmp_path / "my news? 100%.db"
    path.touch()
    assert parse_url(str(path)).database == str(path)
    assert parse_url(str(tmp_path / "new.db")).database == str(tmp_path / "new.db")
    assert parse_url("postgresql://me:secret@host/x").host == "host"
    for wrong in ("me:secret@host/x", str(tmp_path)):
        with pytest.raises(WrongDatabase, match="is no database URL") as caught:
            parse_url(wrong)
        assert "secret" not in str(caught.value)
