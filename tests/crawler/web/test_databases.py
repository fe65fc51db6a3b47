"""Databases that the web page cannot show, or that change under it: one sentence, and nothing is written."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from db.engine.database import open_for_crawl
from tests.crawler.crawling import command
from tests.crawler.web.serving import Server, get, serving


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("command-")}


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE alembic_version SET version_num = '1'")
        database.commit()
        database.execute("PRAGMA journal_mode=DELETE")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("missing", "there is no database"),
        ("empty", "holds no crawl yet"),
        ("older", "older version"),
        ("foreign", "customers"),
        ("picture", "not a database"),
        ("folder", "is a folder"),
        ("cut", "no usable SQLite database"),
    ],
)
def test_files_that_are_no_database_of_ours_are_refused_and_left_alone(
    made: str, words: str, sqlite_tables: str, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    path = folder / "news.db"
    if made == "empty":
        path.touch()
    elif made in {"older", "cut"}:
        shutil.copyfile(sqlite_tables, path)
        if made == "older":
            older(path)
        else:
            path.write_bytes(path.read_bytes()[:20_000])
    elif made == "foreign":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE customers (id)")
    elif made == "picture":
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    elif made == "folder":
        path.mkdir()
    before = content(folder) if made != "folder" else {}
    ended = command("serve", "--port", "0", "--database", str(path))
    assert (ended.returncode, ended.stdout) in {(2, ""), (4, "")}
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert made == "folder" or content(folder).items() >= before.items()


@pytest.fixture(scope="module")
def mine(stand: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that tests may change; each leaves it as it was."""
    path = tmp_path_factory.mktemp("mine") / "news.db"
    shutil.copyfile(stand, path)
    return path


@pytest.fixture(scope="module")
def changing(mine: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the copy."""
    with serving(tmp_path_factory.mktemp("changing"), mine) as running:
        yield running


SHOWN = ("/", f"/?q={quote('港口')}", "/crawl", "/sites", "/graph", "/settings", "/api/search?q=a", "/feed.atom")


def test_database_that_goes_while_it_is_shown_is_said_and_shown_again(changing: Server, mine: Path) -> None:
    whole = mine.read_bytes()
    assert get(changing, "/").status == 200
    for name in ("-wal", "-shm"):
        Path(f"{mine}{name}").unlink(missing_ok=True)
    mine.unlink()
    for path in (one for one in SHOWN if one not in {"/sites", "/graph"}):  # which show what was counted before
        answer = get(changing, path)
        assert answer.status == 503, path
        assert "there is no database" in answer.text
        assert answer.headers["retry-after"]
    mine.touch()
    assert "holds no crawl yet" in get(changing, "/crawl").text
    assert mine.stat().st_size == 0
    mine.unlink()
    mine.write_bytes(whole)
    older(mine)
    assert "older version" in get(changing, "/crawl").text
    mine.unlink()
    mine.write_bytes(whole)
    with closing(sqlite3.connect(mine)) as database:
        database.executescript("DROP TABLE search_words; DROP TABLE run_sample; PRAGMA journal_mode=DELETE")
    assert ["lacks a part" in get(changing, path).text for path in ("/?q=a", "/crawl")] == [True, True]
    mine.unlink()
    mine.write_bytes(whole)
    assert [get(changing, path).status for path in SHOWN] == [200] * len(SHOWN)


def test_database_is_shown_while_it_is_written(changing: Server, mine: Path) -> None:
    writing = open_for_crawl(f"sqlite:///{mine}")
    with closing(sqlite3.connect(mine, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE article SET title = 'not yet'")
        answers = [get(changing, path) for path in SHOWN]
        assert [answer.status for answer in answers] == [200] * len(SHOWN)
        assert not any("not yet" in answer.text for answer in answers)
        other.execute("ROLLBACK")
    writing.close()


def test_crawl_that_was_killed_is_shown_as_it_left_its_files(changing: Server, mine: Path, tmp_path: Path) -> None:
    """With a log that nobody has folded into the file; neither is changed."""
    writing = open_for_crawl(f"sqlite:///{mine}")
    with closing(sqlite3.connect(mine, isolation_level=None)) as other:
        other.execute("PRAGMA wal_autocheckpoint=0")
        other.execute("UPDATE run SET alive_until = 1, pid = 4194305 WHERE finished IS NULL")
        (key,) = other.execute("SELECT id FROM v_articles LIMIT 1").fetchone()
        other.execute("UPDATE article SET title = '死者的最后一句话' WHERE id = ?", (int(key),))
        folder = tmp_path / "killed"
        folder.mkdir()
        for end in ("", "-wal"):
            shutil.copyfile(f"{mine}{end}", folder / f"news.db{end}")
    writing.close()
    before = content(folder)
    assert before["news.db-wal"]
    with serving(tmp_path, folder / "news.db") as server:
        assert "死者的最后一句话" in get(server, f"/article/{key}").text
        answers = {path: get(server, path) for path in SHOWN}
    assert {path: answer.status for path, answer in answers.items()} == dict.fromkeys(SHOWN, 200)
    assert not re.search(r"class=\"[^\"]*running", answers["/crawl"].text)
    after = content(folder)
    after.pop("news.db-shm", None)
    assert after == before
