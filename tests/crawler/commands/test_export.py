"""`scrapy export`: files whole or not at all, going on where one ended, one sentence for what is wrong."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from scrapy.cmdline import execute

from db.desk import marks
from db.desk.file import DeskFile
from pipelines.export.arrow import schema
from pipelines.export.cells import restored
from pipelines.export.read import read_articles
from pipelines.export.records import MARK_COLUMNS, MarkedArticle
from tests.crawler.crawling import ROOT, Finished
from tests.db.small_crawl import HOSTILE, fill

TITLES = [
    "修老桥",
    "修老桥",
    "修老桥之后",
    "邮票展览延期",
    HOSTILE,
    "Ferry late again",
    "没有日期",
    "快讯",
    "标题、有 | 竖线",
    "",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "news.db"
    fill(f"sqlite:///{path}")
    return path


@pytest.fixture
def export(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Finished]:
    """Run the command; ~ is the folder of the test."""

    def run(*words: str) -> Finished:
        monkeypatch.chdir(ROOT)
        given = [word.replace("~", str(tmp_path)) for word in words]
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "export", "-s", f"DATABASE_URL={database}", *given])
        out, errors = capfdbinary.readouterr()
        return Finished(ended.value.code, out.decode(), errors.decode())

    return run


def test_workbook_and_citations_are_written_whole(export: Callable[..., Finished], tmp_path: Path) -> None:
    for name, words in (("a.xlsx", ()), ("a.bib", ()), ("a.ris", ()), ("a.txt", ("--format", "gbt7714"))):
        assert export("articles", "--output", f"~/{name}", *words).returncode == 0, name
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert [row[2] or "" for row in book.active.iter_rows(min_row=2, values_only=True)] == [
        f"'{title}" if title == HOSTILE and title.startswith("=") else title for title in TITLES
    ]
    count = len(TITLES)
    assert (tmp_path / "a.bib").read_text("utf-8").count("\n  title = ") + TITLES.count("") == count
    assert (tmp_path / "a.ris").read_bytes().count(b"ER  - \r\n") == count
    assert len((tmp_path / "a.txt").read_text("utf-8").splitlines()) == count
    refused = export("links", "--format", "ris")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "ris is for citations of articles" in refused.stderr
    columns = export("articles", "--format", "csv", "--columns", "all").stdout.partition("\r\n")[0].split(",")
    assert columns[-2:] == ["html", "images"]


def test_desk_adds_columns_and_marks_to_ask_for(
    export: Callable[..., Finished], database: Path, tmp_path: Path
) -> None:
    desk = tmp_path / "my.desk.db"
    with_desk = ("-s", f"DESK={desk}")
    refused = export("articles", "--columns", "url,labels", *with_desk)
    assert (refused.returncode, "articles have no column 'labels'" in refused.stderr) == (2, True)
    refused = export("articles", "--query", "is:starred", *with_desk)
    assert (refused.returncode, "there are no marks here to search by" in refused.stderr) == (2, True)
    urls = [json.loads(line)["url"] for line in export("articles", "--columns", "url").stdout.splitlines()]
    with DeskFile(desk).writing() as connection:
        marks.change(connection, urls[2:5], marks.STAR, [], 1_800_000_000.0)
        marks.change(connection, urls[4:6], marks.LABEL, ["Ports", "to read"], 0.0)
        marks.change(connection, urls[4:5], marks.READ, [], 1_800_000_000.0)
        marks.write_note(connection, urls[4], HOSTILE)
    done = export("articles", "--columns", "all", "--query", "is:starred -label:nothing", *with_desk)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["url"] for one in found] == urls[2:5]
    assert {name: found[2][name] for name in MARK_COLUMNS} == {
        "starred": True,
        "read_at": "2027-01-15T08:00:00+00:00",
        "labels": ["Ports", "to read"],
        "note": HOSTILE,
    }
    assert [one["labels"] for one in found[:2]] == [[], []]
    for query, expected in (("label:PORTS is:unread", urls[5:6]), ("-is:starred -label:ports", [*urls[:2], *urls[6:]])):
        done = export("articles", "--columns", "url", "--query", query, *with_desk)
        assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == expected
    assert export("articles", "--output", "~/a.parquet", "--columns", "all", *with_desk).returncode == 0
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column("labels").to_pylist()[4:6] == [["Ports", "to read"]] * 2
    assert table.column("starred").to_pylist() == [False, False, True, True, True, False, False, False, False, False]
    (one,) = read_articles(str(database), query="label:ports is:read", desk=str(desk))
    assert isinstance(one, MarkedArticle)
    assert (one.url, one.labels, one.read_at is not None) == (urls[4], ("Ports", "to read"), True)
    assert export("links", "--format", "csv", *with_desk).returncode == 0


def records(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_json_lines_go_to_standard_output_and_the_key_to_stderr(export: Callable[..., Finished]) -> None:
    done = export("articles", "--columns", "number,title,authors")
    found = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert done.returncode == 0
    assert [one["title"] for one in found] == TITLES
    assert list(found[0].values())[1:] == ["修老桥", ["张三", "李四"]]
    assert done.stderr == f"10 articles; what is stored later: --after {found[-1]['number']}\n"
    rest = export("articles", "--after", str(found[7]["number"]))
    assert [json.loads(line)["title"] for line in rest.stdout.split("\n")[:-1]] == TITLES[8:]
    assert export("articles", "--after", str(found[-1]["number"])).stdout == ""


def test_csv_is_for_spreadsheets(export: Callable[..., Finished], tmp_path: Path) -> None:
    assert export("articles", "--output", "~/a.csv", "--bom").returncode == 0
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbfid,url,title,")
    header, *rows = records(tmp_path / "a.csv")
    titles = [row[header.index("title")] for row in rows]
    assert titles[4] == f"'{HOSTILE}"
    assert [restored(title) for title in titles] == TITLES
    assert [row[header.index("authors")] for row in rows][:5] == ["张三、李四", "", "", "", "'@handle"]


@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_append_goes_on_after_a_kill_and_finds_what_is_new(
    export: Callable[..., Finished], tmp_path: Path, name: str
) -> None:
    path = tmp_path / f"a.{name}"
    export("articles", "--output", "~/whole." + name)
    whole = (tmp_path / f"whole.{name}").read_bytes()
    for cut in (0, 40, len(whole) // 2, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert export("articles", "--output", str(path), "--append").returncode == 0
        assert path.read_bytes() == whole
    path.unlink()
    assert export("articles", "--output", str(path), "--append").returncode == 0
    assert path.read_bytes() == whole


def test_parquet_and_one_markdown_document_appear_whole(export: Callable[..., Finished], tmp_path: Path) -> None:
    assert export("articles", "--output", "~/a.parquet").returncode == 0
    assert pq.read_table(tmp_path / "a.parquet").column("title").to_pylist() == TITLES
    assert export("articles", "--output", "~/a.md", "--site", "a.example").returncode == 0
    text = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert text.count("\n# ") == 3
    assert "第一段 \\*星号\\* 与 [链接](http://a.example/2)。\n\n- 一\n- 二\n\n| 甲 | 乙 |" in text
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet", "a.md"}


def test_markdown_folder_has_a_file_for_each_article(export: Callable[..., Finished], tmp_path: Path) -> None:
    assert export("articles", "--format", "markdown", "--output", "~/notes").returncode == 0
    files = sorted(path.relative_to(tmp_path / "notes") for path in tmp_path.rglob("*.md"))
    assert len(files) == len(TITLES)
    assert str(files[0]).startswith("a.example/2025-03-01-修老桥-")
    assert export("articles", "--format", "markdown", "--output", "~/notes").returncode == 2
    again = export("articles", "--format", "markdown", "--output", "~/notes", "--overwrite")
    assert (again.returncode, len(list(tmp_path.rglob("*.*")))) == (0, len(TITLES) + 4)


@pytest.mark.parametrize(("name", "count"), [("links", 4), ("duplicates", 2), ("sites", 4)])
def test_other_tables_have_all_formats(export: Callable[..., Finished], tmp_path: Path, name: str, count: int) -> None:
    for ending in ("jsonl", "csv", "parquet", "md"):
        done = export(name, "--output", f"~/x.{ending}")
        assert (done.returncode, done.stderr) == (0, f"{count} {name}\n")
    rows = records(tmp_path / "x.csv")
    assert len(rows) == count + 1
    assert (tmp_path / "x.md").read_text(encoding="utf-8").count("\n") == count + 2
    table = pq.read_table(tmp_path / "x.parquet")
    assert [table.num_rows, table.column_names] == [count, rows[0]]
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").split("\n")
    assert [list(json.loads(line)) for line in lines[:-1]] == [rows[0]] * count


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("", "name what to export"),
        ("news", "articles, links, duplicates, sites"),
        ("articles --format xml", "invalid choice"),
        ("articles --output ~/a.txt", "say --format"),
        ("articles --output ~/none/a.csv", "there is no folder"),
        ("articles --output ~", "say --format"),
        ("articles --format csv --output ~", "is a folder"),
        ("articles --output ~/there.csv", "exists; --overwrite replaces it, --append adds"),
        ("articles --output ~/there.parquet", "exists; --overwrite replaces it"),
        ("articles --output ~/there.csv --overwrite --append", "not allowed with"),
        ("articles --output ~/there.csv --append", "other columns: a"),
        ("articles --output ~/there.jsonl --append", "has no 'number'"),
        ("articles --output ~/there.parquet --append", "nothing can be added"),
        ("articles --output ~/new.md --append", "nothing can be added"),
        ("articles --format markdown --output ~/notes --append", "needs --after KEY"),
        ("articles --format markdown --output ~/there.csv", "is a file"),
        ("articles --append", "need --output"),
        ("articles --bom", "--bom is for CSV"),
        ("articles --columns title,colour", "no column 'colour'"),
        ("articles --columns title,title", "named twice"),
        ("articles --since 2025-02-30", "is no date"),
        ("articles --site e.example", "has no site"),
        ("articles --query ---", "expected one argument"),
        ("articles --query=???", "has no word in it"),
        ("sites --query x", "says nothing of sites"),
        ("articles --after 5x", "no key of articles"),
        ("links --after 5", "no key of links"),
        ("links --language zh", "says nothing of links"),
        ("articles --format jsonl --overwrite --output {database}", "is the database itself"),
        ("articles -s DATABASE_URL=~/none.db", "there is no database"),
    ],
)
def test_wrong_use_is_one_sentence_and_makes_nothing(
    export: Callable[..., Finished], tmp_path: Path, database: Path, line: str, part: str
) -> None:
    (tmp_path / "there.csv").write_text("a\n1\n")
    (tmp_path / "there.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "there.parquet").write_text("x")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = export(*line.replace("{database}", str(database)).split())
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert part in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_full_disk_is_said_in_a_sentence_with_the_way_on(export: Callable[..., Finished], form: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no disk that is always full")
    done = export("articles", "--format", form, "--output", "/dev/full")
    assert done.returncode == 4
    assert "/dev/full cannot be written (no space left on device)" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_missing_pyarrow_is_one_line_and_leaves_nothing(
    export: Callable[..., Finished], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.cache_clear()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = export("articles", "--output", "~/a.parquet")
    assert done.returncode == 2
    assert done.stderr == "scrapy export: Parquet and Arrow tables need pyarrow: uv sync --extra export\n"
    assert list(tmp_path.iterdir()) == []
    assert export("articles", "--output", "~/a.csv").returncode == 0
