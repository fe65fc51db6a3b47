"""`scrapy search`: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from db.desk import marks
from db.desk.file import DeskFile
from db.engine.database import open_for_crawl
from db.engine.errors import WrongDatabase
from pipelines.export.read import read_articles
from tests.crawler.crawling import Finished, command
from tests.crawler.web.asking import Asker
from tests.crawler.web.newsstand import Newsstand, Story
from tests.db.search.test_index import make_old
from tests.table import each_row

PORT, TEXT = "港口吞吐量创新高", "新港码头昨天迎来货轮。" * 4
STORIES = [
    Story("https://a.example/1", PORT, TEXT, published_at="2024-05-02T08:00+08:00"),
    Story("https://b.test/1", PORT, TEXT, published_at="2024-05-03T08:00+08:00"),
    Story("https://b.test/2", "=1 \x1b[31m<b>", "港口今天休息，船员上岸。", published_at="2024-06-03T08:00+08:00"),
]


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, sqlite_tables: str) -> Path:
    path = tmp_path_factory.mktemp("stand") / "news.db"
    shutil.copy(sqlite_tables, path)
    with closing(open_for_crawl(f"sqlite:///{path}")) as database:
        newsstand = Newsstand(database, time.time() - 3600)
        newsstand.begin()
        newsstand.store(STORIES)
    return path


def search(path: Path, *arguments: str) -> Finished:
    return command("search", "-s", f"DATABASE_URL=sqlite:///{path}", *arguments)


def test_table_has_marked_stories_with_their_reprints(stand: Path) -> None:
    done = search(stand, "港口吞吐量")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n1 story, the best 1 of them\n" in done.stdout
    assert done.stdout.index("with some of the words") > done.stdout.index("https://a.example/1")
    assert done.stdout.index("with some of the words") < done.stdout.index("https://b.test/2")
    assert "2024-05-02T08:00+08:00  a.example, 1 reprint" in done.stdout
    assert "\x1b" not in done.stdout
    assert "  1 港口吞吐量创新高\n" in done.stdout
    assert "no article fits" in search(stand, "港口", "--site", "nowhere").stdout
    assert "\n1 story, the best 1 of them\n" in search(stand, "休息").stdout


def test_stories_are_listed_in_the_order_that_is_asked_for(stand: Path) -> None:
    def listed(sort: str) -> list[dict]:
        done = search(stand, "港口", "--sort", sort, "--format", "jsonl")
        return [json.loads(line) for line in done.stdout.splitlines()]

    for sort, is_falling in (("oldest", False), ("newest", True)):
        times = [hit["published_at"] for hit in listed(sort)]
        assert len(times) == 2
        assert times == sorted(times, reverse=is_falling)
    assert [hit["reprints"] for hit in listed("reprinted")] == [1, 0]
    assert "2 stories, the first 2 of them" in search(stand, "港口", "--sort", "oldest").stdout
    assert search(stand, "港口", "--sort", "best").returncode == 2


def test_lines_and_cells_are_for_programs(stand: Path) -> None:
    lines = [json.loads(line) for line in search(stand, "港口", "--format", "jsonl").stdout.splitlines()]
    assert [line["rank"] for line in lines] == [1, 2]
    assert {line["url"] for line in lines} == {"https://a.example/1", "https://b.test/2"}
    assert all(isinstance(line["id"], str) for line in lines)
    assert {line["reprints"] for line in lines} == {0, 1}
    partial = [
        json.loads(line)["partial"] for line in search(stand, "港口吞吐量", "--format", "jsonl").stdout.splitlines()
    ]
    assert partial == [False, True]
    cells = list(csv.DictReader(io.StringIO(search(stand, "休息", "--format", "csv").stdout)))
    assert cells[0]["title"].startswith("'=1 ")
    assert list(cells[0]) == list(lines[0])
    assert search(stand, "港口", "--limit", "1", "--format", "jsonl").stdout.count("\n") == 1


@each_row(
    ("arguments", "said"),
    [
        (["港口", "--limit", "0"], "--limit '0' is no number from 1 to 1000"),
        (["港口", "--since", "2024-02-30"], "'2024-02-30' is no date"),
        (["港口", "after:soon"], "the query is wrong at character 4: 'soon' is no date"),
        (["(港口", "OR"], "the query is wrong at character 5: OR needs words on both sides"),
        (["港口", "--format", "xml"], "--format"),
        (["--rebuild", "港口"], "--rebuild takes no words"),
        (["--nothing"], "--nothing"),
        (["港口", "-s", 'SEARCH_WEIGHTS={"fame": 1}'], "'fame' is no signal"),
        (["港口", "-s", "SEARCH_SYNONYMS=none.txt"], "the synonyms none.txt cannot be read"),
        (["港口", "-s", 'SEARCH_WEIGHTS={"text": -1}'], "a weight is a number, 0 to 100"),
    ],
)
def test_wrong_use_is_one_sentence(stand: Path, arguments: list[str], said: str) -> None:
    done = search(stand, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_synonyms_of_a_file_are_searched_and_named(stand: Path, tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text("海港 港口 0.9\n", encoding="utf-8")
    alone = search(stand, "海港", "-s", f"SEARCH_SYNONYMS={file}")
    assert "no article fits" in alone.stdout
    also = search(stand, "海港", "--expand", "-s", f"SEARCH_SYNONYMS={file}")
    assert (also.returncode, also.stderr) == (0, "")
    assert "港口" in also.stdout
    assert "stories" in also.stdout


@each_row("words", ["NEAR(q, z) or *^-\"'", "x" * 10_000, "'; DROP TABLE article; --"])
def test_any_words_are_searched(stand: Path, words: str) -> None:
    done = search(stand, words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no article fits" in done.stdout


def test_database_that_cannot_be_searched_is_named(tmp_path: Path, sqlite_tables: str) -> None:
    (tmp_path / "empty.db").touch()
    older = tmp_path / "older.db"
    shutil.copy(sqlite_tables, older)
    with closing(sqlite3.connect(older)) as opened:
        opened.execute("UPDATE alembic_version SET version_num = '3'")
        opened.commit()
    wrong = {"none.db": "there is no database", "empty.db": "holds no crawl", "older.db": "older version"}
    for name, said in wrong.items():
        for arguments in (["港口"], ["--rebuild"]):
            done = search(tmp_path / name, *arguments)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert said in done.stderr
    assert not (tmp_path / "none.db").exists()
    assert (tmp_path / "empty.db").stat().st_size == 0


@pytest.fixture
def copied(stand: Path, tmp_path: Path) -> Path:
    """A database of the test's own."""
    return Path(shutil.copy(stand, tmp_path / "news.db"))


@pytest.fixture
def written(copied: Path) -> Iterator[Path]:
    """One that is being written."""
    with closing(sqlite3.connect(copied, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM article")
        yield copied
        writer.execute("ROLLBACK")


def test_database_that_is_being_written_is_searched(written: Path) -> None:
    assert "2 stories" in search(written, "港口").stdout


def test_rebuild_makes_the_index_anew(copied: Path) -> None:
    with closing(sqlite3.connect(copied)) as opened:
        opened.execute("DELETE FROM search_document")
        opened.execute("INSERT INTO search_words (search_words) VALUES ('delete-all')")
        opened.commit()
    assert "no article fits" in search(copied, "港口").stdout
    done = search(copied, "--rebuild")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Database: {copied}\n3 articles indexed\n"
    assert "2 stories" in search(copied, "港口").stdout


def test_rebuild_is_refused_beside_a_crawl(copied: Path) -> None:
    with closing(open_for_crawl(f"sqlite:///{copied}")):
        done = search(copied, "--rebuild")
    assert done.returncode == 2
    assert "another crawl is running" in done.stderr


@pytest.fixture
def old(stand: Path, tmp_path: Path) -> Path:
    """A database whose index is of an older version."""
    path = tmp_path / "old.db"
    shutil.copy(stand, path)
    with closing(open_for_crawl(f"sqlite:///{path}")) as database:
        database.write(make_old)
    return path


def test_search_makes_an_index_of_an_older_version_anew(old: Path) -> None:
    done = search(old, "港口")
    assert done.returncode == 0
    assert "made anew" in done.stderr
    assert "2 stories" in done.stdout
    assert "older version" not in done.stdout
    assert search(old, "港口").stderr == ""


def test_search_says_that_the_index_is_old_while_a_crawl_keeps_it(old: Path) -> None:
    with closing(open_for_crawl(f"sqlite:///{old}")):
        done = search(old, "港口")
        with pytest.raises(WrongDatabase, match="older version"):
            list(read_articles(str(old), query="港口"))
        with Asker(f"sqlite:///{old}") as asker:
            assert any("older version" in note for note in asker.get("/api/search?q=港口").json()["notes"])
            assert "索引由旧版本建立" in asker.get("/?q=港口&lang=zh").text
    assert done.returncode == 0
    assert "stays that of an older version" in done.stderr
    assert "the index is of an older version" in done.stdout


def test_export_by_words_makes_an_index_of_an_older_version_anew(old: Path) -> None:
    done = command("export", "articles", "--query", "港口", "-s", f"DATABASE_URL=sqlite:///{old}")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_documents_are_found_by_other_spellings(tmp_path: Path) -> None:
    """The language of a document is the one it names, or that of its text; any id that is one line is taken."""
    rows = [
        {"id": "1", "language": "es", "title": "Muñoz gana", "text": "El alcalde Muñoz ganó las elecciones."},
        {"id": "کتاب\u200cخانه", "text": "کتاب\u200cخانه\u200cی ملی ایران باز می\u200cشود."},
        {"id": "3", "title": "", "text": "Los Ninos Perdidos, a town of the north."},
    ]
    asked = ["Munoz", "eleccion", "كتابخانه", "“los niños” town", "کتاب\u200cخانه"]
    documents, queries = tmp_path / "documents.jsonl", tmp_path / "queries.jsonl"
    documents.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    queries.write_text("".join(json.dumps({"id": each, "text": each}) + "\n" for each in asked), "utf-8")
    done = command("search", "--documents", str(documents), "--queries", str(queries))
    assert done.returncode == 0, done.stderr
    found = [tuple(line.split("\t")[:2]) for line in done.stdout.splitlines()]
    library = rows[1]["id"]
    assert [pair for pair in found if pair[0] != asked[3]] == [
        ("Munoz", "1"), ("eleccion", "1"), ("كتابخانه", library), (library, library)
    ]  # fmt: skip
    assert next(pair for pair in found if pair[0] == asked[3]) == (asked[3], "3")


def test_fields_of_documents_are_searched(tmp_path: Path) -> None:
    rows = [
        {
            "id": "1",
            "title": "Port strike",
            "text": "The port is closed.",
            "authors": ["Ada Byron", 7],
            "source": "Herald",
        },
        {"id": "2", "text": "颱風過後，港口恢復。", "language": "zh-Hant", "url": "https://news.a.test/2"},
        {
            "id": "3",
            "text": "The port is open.",
            "published_at": "2024-05-03T10:00+00:00",
            "url": "no URL",
            "authors": 5,
        },
    ]
    asked = {
        "author:byron": ["1"],
        "source:Herald": ["1"],
        "lang:zh": ["2"],
        "site:a.test -title:港口": ["2"],
        "port after:2024": ["3"],
        "title:port": ["1"],
        "“port is” -closed": ["3"],
        "port strike": ["1", "3"],
    }
    documents, queries = tmp_path / "documents.jsonl", tmp_path / "queries.jsonl"
    documents.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    queries.write_text("".join(json.dumps({"id": each, "text": each}) + "\n" for each in asked), "utf-8")
    done = command("search", "--documents", str(documents), "--queries", str(queries))
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = {each: [] for each in asked}
    for line in done.stdout.splitlines():
        key, document, _ = line.split("\t")
        found[key].append(document)
    assert found == asked
    queries.write_text(json.dumps({"id": "q", "text": "port ("}) + "\n", "utf-8")
    done = command("search", "--documents", str(documents), "--queries", str(queries))
    assert (done.returncode, done.stdout) == (2, "")
    assert "query q: the query is wrong at character 6: this bracket is not closed" in done.stderr


def test_marks_of_the_desk_are_searched(stand: Path, tmp_path: Path) -> None:
    desk = tmp_path / "my.desk.db"
    refused = search(stand, "is:starred", "-s", f"DESK={desk}")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "there are no marks here to search by" in refused.stderr
    with DeskFile(desk).writing() as connection:
        marks.change(connection, ["https://b.test/1", "https://b.test/2"], marks.STAR, [], 0.0)
        marks.change(connection, ["https://b.test/2"], marks.LABEL, ["to read"], 0.0)
    for words, expected in (
        (["is:starred"], 2),
        (['label:"to read"'], 1),
        (["--", "-is:starred"], 1),
        (["港口 is:read"], 0),
    ):
        done = search(stand, "-s", f"DESK={desk}", "--format", "jsonl", *words)
        assert (done.returncode, len(done.stdout.splitlines())) == (0, expected), words
    desk.write_bytes(b"no desk" * 100)
    assert search(stand, "港口", "-s", f"DESK={desk}").returncode == 0, "who asks for no marks needs no desk"
    assert search(stand, "is:read", "-s", f"DESK={desk}").returncode > 0
