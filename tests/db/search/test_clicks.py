"""The file of clicks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.engine.errors import DatabaseGone, Unavailable, WrongDatabase
from db.records.click import Click
from db.search import clicks
from db.search.clicks import ClickFile, beside

CLICK = Click(session=1 << 62, query=-5, article_id=-(1 << 63), position=2, opened=60, seconds=0.0, is_ended=False)


@pytest.fixture
def file(tmp_path: Path) -> ClickFile:
    return ClickFile(tmp_path / "clicks.db")


def test_reading_makes_no_file(file: ClickFile) -> None:
    assert file.read() == []
    assert not file.path.exists()


def test_clicks_come_back_as_they_were(file: ClickFile) -> None:
    file.add(CLICK)
    file.add(CLICK._replace(seconds=1.5, is_ended=True))
    assert file.read() == [CLICK, CLICK._replace(seconds=1.5, is_ended=True)]


def test_time_is_set_by_the_session_of_the_click_alone(file: ClickFile) -> None:
    number = file.add(CLICK)
    assert not file.update(number, 7, 99.0, is_ended=True)
    assert not file.update(number + 1, CLICK.session, 99.0, is_ended=True)
    assert file.read() == [CLICK]
    assert file.update(number, CLICK.session, 12.5, is_ended=True)
    assert file.read() == [CLICK._replace(seconds=12.5, is_ended=True)]


def test_oldest_clicks_go(file: ClickFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clicks, "MOST_CLICKS", 3)
    for position in range(1, 8):
        file.add(CLICK._replace(position=position))
    assert [click.position for click in file.read()] == [5, 6, 7]


def test_deleted_file_begins_again(file: ClickFile) -> None:
    number = file.add(CLICK)
    file.path.unlink()
    assert not file.update(number, CLICK.session, 1.0, is_ended=True)
    file.add(CLICK)
    assert file.read() == [CLICK]


def test_empty_file_is_one_without_clicks(file: ClickFile) -> None:
    file.path.touch()
    assert file.read() == []


def test_other_files_are_refused(file: ClickFile) -> None:
    file.path.write_text("no database " * 100)
    with pytest.raises(WrongDatabase, match=r"clicks\.db is no file of clicks .*; delete it"):
        file.read()


def test_table_of_another_make_is_refused(file: ClickFile) -> None:
    with closing(sqlite3.connect(file.path)) as connection:
        connection.execute("CREATE TABLE click (number INTEGER PRIMARY KEY, query TEXT)")
    with pytest.raises(WrongDatabase, match="delete it"):
        file.add(CLICK)


def test_locked_file_may_be_free_later(file: ClickFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clicks, "_BUSY_SECONDS", 0.01)
    file.add(CLICK)
    with closing(sqlite3.connect(file.path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable, match="locked"):
            file.add(CLICK)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseGone, match="cannot be used"):
        ClickFile(tmp_path / "none" / "clicks.db").add(CLICK)


def test_file_stands_beside_the_database(tmp_path: Path) -> None:
    assert beside(f"sqlite:///{tmp_path}/news.db") == tmp_path / "clicks.db"
    assert beside("news.db") == Path("clicks.db")
    assert beside("postgresql://me:secret@host/news") == Path("clicks.db")
