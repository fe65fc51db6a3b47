"""Marks in the file of the desk: deeds and their bounds, older files, other databases, several writers at once."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.desk import marks, outbox, searches
from db.desk.file import DeskFile
from db.engine.database import Query, open_for_reading
from db.engine.errors import WrongDatabase
from db.records.desk import ArticleMarks
from db.records.keys import fingerprint
from tests.crawler.desk.growing import grow, story
from tests.table import each_row

NOW = 1_800_000_000.0
URLS = [f"https://a.example/{number}.html" for number in range(1, 6)]


@pytest.fixture
def desk(tmp_path: Path) -> DeskFile:
    return DeskFile(tmp_path / "news.desk.db")


def do(desk: DeskFile, urls: list[str], deed: str, labels: str = "") -> int:
    with desk.writing() as connection:
        return marks.change(connection, urls, deed, marks.split_labels(labels) if labels else [], NOW)


def read(desk: DeskFile, urls: list[str]) -> dict[str, ArticleMarks]:
    with desk.reading() as connection:
        return marks.marks_of(connection, urls)


def count(desk: DeskFile, table: str) -> int:
    with closing(sqlite3.connect(desk.path)) as opened:
        return int(opened.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_each_deed_has_its_counterpart_and_leaves_nothing(desk: DeskFile) -> None:
    for deed in (marks.STAR, marks.READ):
        assert do(desk, URLS[:2], deed) == 2
    do(desk, URLS[:1], marks.LABEL, "Ports, to read")
    with desk.writing() as connection:
        marks.write_note(connection, URLS[2], "a note")
    assert read(desk, URLS) == {
        URLS[0]: ArticleMarks(NOW, NOW, ("Ports", "to read")),
        URLS[1]: ArticleMarks(NOW, NOW),
        URLS[2]: ArticleMarks(note="a note"),
    }
    for deed in (marks.UNSTAR, marks.UNREAD):
        do(desk, URLS, deed)
    do(desk, URLS, marks.UNLABEL, "ports,To  Read,nothing")
    with desk.writing() as connection:
        marks.write_note(connection, URLS[2], "")
    assert read(desk, URLS) == {}
    assert [count(desk, table) for table in ("mark", "label", "mark_label")] == [0, 0, 0]


def test_time_of_a_mark_is_that_of_the_first(desk: DeskFile) -> None:
    with desk.writing() as connection:
        marks.change(connection, URLS[:1], marks.READ, [], NOW - 60)
    do(desk, URLS[:1], marks.READ)
    assert read(desk, URLS)[URLS[0]].read_at == NOW - 60


def test_label_keeps_the_spelling_it_had_first(desk: DeskFile) -> None:
    do(desk, URLS[:1], marks.LABEL, "Häfen")
    do(desk, URLS[1:2], marks.LABEL, "HÄFEN、 港口；港口")
    assert read(desk, URLS)[URLS[1]].labels == ("Häfen", "港口")
    with desk.reading() as connection:
        assert marks.label_counts(connection) == [("Häfen", 2), ("港口", 1)]


def test_article_takes_twenty_labels_and_none_of_what_would_be_too_many(desk: DeskFile) -> None:
    assert do(desk, URLS[:1], marks.LABEL, ",".join(f"l{number:02}" for number in range(19))) == 1
    assert do(desk, URLS[:2], marks.LABEL, "x,y") == 1
    assert do(desk, URLS[:2], marks.LABEL, "L00,z") == 2
    assert len(read(desk, URLS)[URLS[0]].labels) == marks.MOST_LABELS
    assert read(desk, URLS)[URLS[1]].labels == ("l00", "x", "y", "z")
    assert do(desk, URLS[:1], marks.LABEL, "l01") == 1


@each_row(
    ("text", "sentence"),
    [
        ("", "give 1 to 20 labels"),
        (" ,、", "give 1 to 20 labels"),
        (",".join(map(str, range(21))), "give 1 to 20 labels"),
        ("x" * 61, "at most 60 characters"),
    ],
)
def test_labels_have_bounds(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        marks.split_labels(text)


def test_desk_has_bounds_and_what_exceeds_them_changes_nothing(desk: DeskFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MOST_MARKED", 3)
    monkeypatch.setattr(marks, "MOST_NAMES", 2)
    do(desk, URLS[:3], marks.STAR)
    with pytest.raises(ValueError, match="at most 3 articles with marks"):
        do(desk, URLS, marks.READ)
    with pytest.raises(ValueError, match="at most 2 labels"):
        do(desk, URLS[:3], marks.LABEL, "a,b,c")
    with desk.writing() as connection, pytest.raises(ValueError, match="the note has 10,001 characters"):
        marks.write_note(connection, URLS[0], "x" * 10_001)
    assert read(desk, URLS) == dict.fromkeys(URLS[:3], ArticleMarks(starred_at=NOW))


@each_row(
    "text", ["'; DROP TABLE mark; --", '" OR 1=1 --', "%s :now ?", "<script>__hit(1)</script>", "[1, 2]", "𠮷😀\x7f"]
)
def test_hostile_texts_come_back_as_they_went_in(tmp_path: Path, text: str) -> None:
    desk = DeskFile(tmp_path / f"{fingerprint(text)}.desk.db")
    url = f"https://a.example/?{text}"
    with desk.writing() as connection:
        marks.change(connection, [url, "https://b.example/"], marks.LABEL, [text], NOW)
        marks.write_note(connection, url, text)
    assert read(desk, [url])[url] == ArticleMarks(labels=(text,), note=text)
    assert do(desk, [url], marks.UNLABEL, text.replace(",", "")) == 1


# ---------------------------------------------------------------- older and newer files


def test_desk_of_november_keeps_its_searches_and_takes_marks(desk: DeskFile) -> None:
    with closing(sqlite3.connect(desk.path)) as made:
        made.executescript(Path(__file__).with_name("november-30.sql").read_text("utf-8"))
    with desk.reading() as connection:
        saved = searches.all_searches(connection)
        assert [(one.name, one.channel, one.unread) for one in saved] == [("Ports", "webhook", 2), ("港口", "", 0)]
        assert [message.key for message in outbox.due(connection, NOW, 9)] == ["key-1"]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert do(desk, URLS, marks.STAR) == 5
    searched = [one._asdict() for one in saved]
    with desk.reading() as connection:
        assert [one._asdict() for one in searches.all_searches(connection)] == searched


def test_file_of_a_later_version_is_left_alone(desk: DeskFile) -> None:
    do(desk, URLS, marks.STAR)
    with closing(sqlite3.connect(desk.path)) as made:
        made.execute("PRAGMA user_version = 99")
    before = desk.path.read_bytes()
    with pytest.raises(WrongDatabase, match="newer version"):
        do(desk, URLS, marks.READ)
    assert desk.path.read_bytes() == before


# ---------------------------------------------------------------- beside the crawl's database


@pytest.fixture
def database(tmp_path: Path) -> Path:
    grow(tmp_path / "news.db", [story(number, "harbour") for number in range(1, 4)])
    return tmp_path / "news.db"


def reader(database: Path) -> object:
    def run(query: Query[object]) -> object:
        with closing(open_for_reading(f"sqlite:///{database}")) as opened:
            return opened.read(query)

    return run


def test_index_tells_what_another_process_has_marked(desk: DeskFile, database: Path) -> None:
    index, run = marks.MarkIndex(desk), reader(database)
    assert index.marked([run]).starred == frozenset()
    assert not desk.exists(), "looking makes no file"
    do(desk, URLS[:2], marks.STAR)
    do(desk, URLS[1:2], marks.LABEL, "Ports")
    found = index.marked([run])
    assert found.starred == {fingerprint(url) for url in URLS[:2]}
    assert (found.labels, found.names) == ({"ports": {fingerprint(URLS[1])}}, {"ports": "Ports"})
    assert index.marked([run]) is found, "nothing has changed"
    do(desk, URLS[:1], marks.UNSTAR)
    assert index.marked([run]).starred == {fingerprint(URLS[1])}


def test_desk_that_was_put_back_from_a_copy_is_read_again(desk: DeskFile, database: Path, tmp_path: Path) -> None:
    index, run = marks.MarkIndex(desk), reader(database)
    do(desk, URLS[:1], marks.STAR)
    shutil.copy(desk.path, tmp_path / "copy.db")
    do(desk, URLS[1:2], marks.STAR)
    assert len(index.marked([run]).starred) == 2
    shutil.copy(tmp_path / "copy.db", desk.path)
    assert len(index.marked([run]).starred) == 1
    do(desk, URLS[2:3], marks.STAR)  # as many changes as before
    assert index.marked([run]).starred == {fingerprint(URLS[0]), fingerprint(URLS[2])}


def test_article_with_the_id_of_another_url_shows_no_marks(desk: DeskFile, database: Path) -> None:
    do(desk, URLS[:2], marks.STAR)
    with closing(sqlite3.connect(database)) as opened:
        opened.execute("UPDATE url SET url = 'https://other.example/' WHERE id = ?", (fingerprint(URLS[0]),))
        opened.commit()
    index = marks.MarkIndex(desk)
    assert index.marked([reader(database)]).starred == {fingerprint(URLS[1])}
    assert read(desk, ["https://other.example/"]) == {}


def test_database_that_is_made_anew_has_its_marks_again(desk: DeskFile, database: Path, tmp_path: Path) -> None:
    do(desk, URLS[2:3], marks.STAR)
    grow(tmp_path / "anew.db", [story(3, "harbour"), story(9, "museum")])  # in another order, with other neighbours
    run = reader(tmp_path / "anew.db")
    (key,) = marks.MarkIndex(desk).marked([run]).starred
    assert run(lambda connection: marks.article_urls(connection, [key, 1])) == {key: URLS[2]}


def write_often(path: Path, first: int, last: int) -> None:
    desk = DeskFile(path)
    for number in range(first, last):
        do(desk, [f"https://a.example/{number}", "https://a.example/same"], marks.STAR)
        do(desk, ["https://a.example/same"], marks.LABEL, f"label {number % 10}")


def test_processes_that_write_at_once_lose_nothing(desk: DeskFile) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write_often, args=(desk.path, part * 40, part * 40 + 40)) for part in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert count(desk, "mark") == 121
    assert len(read(desk, ["https://a.example/same"])["https://a.example/same"].labels) == 10
