"""Files of each format: they hold what was given, and end so that more can be added."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.export import formats
from pipelines.export.cells import harmless, restored
from pipelines.export.records import StoredArticle
from tests.table import each_row

COLUMNS = ("number", "title", "authors")
ROWS = [(1, '=cmd|"x"', "张三、李四"), (2, '两行\n标题, "引号" \'', ""), (-3, "\t@tab", "'=1"), (4, "", "a")]


def written(form: str, rows: list[tuple] = ROWS, columns: tuple[str, ...] = COLUMNS) -> bytes:
    file = io.BytesIO()
    writer = {
        "jsonl": lambda: formats.JsonLines(file, columns),
        "csv": lambda: formats.Csv(file, columns, b"", header=True),
        "parquet": lambda: formats.Parquet(file, StoredArticle, columns),
        "xlsx": lambda: formats.Xlsx(file, columns),
        "table": lambda: formats.MarkdownTable(file, columns),
    }[form]()
    with writer:
        writer.write(rows[:3])
        writer.write(rows[3:])
    return file.getvalue()


@given(st.text())
@example("=1+1")
@example("'=1")
@example("''@x")
@example("-3")
@example("'-3")
@example("\r\n=x")
@example("\u200b＝1")
def test_cells_are_harmless_and_come_back(cell: str) -> None:
    shown = harmless(cell)
    assert restored(shown) == cell
    assert shown[:1] not in {"=", "+", "@", "\t", "\r"}
    assert not shown.startswith("-") or shown[1:].isdecimal()


def test_csv_holds_what_was_given_and_no_formula() -> None:
    header, *rows = csv.reader(io.StringIO(written("csv").decode(), newline=""))
    assert tuple(header) == COLUMNS
    assert [[restored(cell) for cell in row] for row in rows] == [[str(value) for value in row] for row in ROWS]
    assert rows[0][1] == '\'=cmd|"x"'


def sheet(content: bytes) -> list[tuple]:
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=False)
    return list(book.active.iter_rows(values_only=True))


def test_workbook_holds_what_was_given_as_texts_and_numbers_and_no_formula() -> None:
    header, *rows = sheet(written("xlsx"))
    assert header == COLUMNS
    assert [row[0] for row in rows] == [1, 2, -3, 4]
    assert rows[0][1] == '\'=cmd|"x"'
    texts = [tuple(restored(cell or "") for cell in row[1:]) for row in rows]
    assert texts == [row[1:] for row in ROWS]


def test_workbook_takes_what_a_cell_cannot_hold() -> None:
    rows = [(10**16, "x" * 40_000, "a\x01\ud800b"), (1, "https://a.example", "007"), (2, "{=1+1}", None)]
    _, long, second, third = sheet(written("xlsx", rows))
    assert long[0] == str(10**16)  # exact: a number would be rounded
    assert (len(long[1]), long[1][-1]) == (32_767, "…")
    assert long[2].startswith("a")
    assert long[2].endswith("?b")
    assert second == (1, "https://a.example", "007")
    assert third == (2, "{=1+1}", None)


def test_workbook_that_failed_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = io.BytesIO()
    with pytest.raises(TypeError), formats.Xlsx(file, COLUMNS) as writer:
        writer.write([*ROWS, None])
    assert file.getvalue() == b""
    assert list(tmp_path.iterdir()) == []


@each_row(("form", "last"), [("csv", b"There are more.\r\n"), ("jsonl", b'{"remark": "There are more."}\n'),
                             ("markdown", b"There are more.\n"), ("bibtex", b"@comment{There are more.}\n"),
                             ("gbt7714", b"\nThere are more.\n"), ("ris", b"")])  # fmt: skip
def test_remark_stands_at_the_end(form: str, last: bytes) -> None:
    columns = ("number", "title")
    file = io.BytesIO()
    read = formats.columns_read(form, columns, are_articles=True)
    with formats.row_writer(form, file, StoredArticle, columns, read) as writer:
        before = file.getvalue()
        writer.remark("There are more.")
    assert file.getvalue().endswith(last)
    assert (file.getvalue() == before) is (last == b"")


def test_csv_has_images_by_their_urls() -> None:
    images = [{"url": "http://a/1", "caption": "x"}, {"url": "http://a/2", "caption": ""}]
    assert written("csv", [(1, images)], ("number", "images")).endswith(b"1,http://a/1 http://a/2\r\n")


def test_related_stories_of_every_format() -> None:
    rows, columns = [(1, "http://a/1 河口大桥 合龙\nhttp://a/2 "), (2, "")], ("number", "related")
    stories = [{"url": "http://a/1", "title": "河口大桥 合龙"}, {"url": "http://a/2", "title": ""}]
    first, second = map(json.loads, written("jsonl", rows, columns).splitlines())
    assert (first["related"], second["related"]) == (stories, [])
    table = pq.read_table(io.BytesIO(written("parquet", rows, columns)))
    assert table.column("related").to_pylist() == [stories, []]
    (_, cell, _) = written("csv", rows, columns).decode().split("\r\n1,")[1].split('"')[0:3]
    assert cell == rows[0][1]


def test_json_lines_have_lists_and_nulls() -> None:
    lines = written("jsonl", [(1, None, "张三、李四"), (2, "x", "")]).decode().split("\n")
    assert lines[-1] == ""
    found = [json.loads(line) for line in lines[:-1]]
    assert found[0] == {"number": 1, "title": None, "authors": ["张三", "李四"]}
    assert found[1]["authors"] == []


def test_parquet_is_read_back_whole() -> None:
    table = pq.read_table(io.BytesIO(written("parquet")))
    assert table.to_pylist()[0] == {"number": 1, "title": ROWS[0][1], "authors": ["张三", "李四"]}
    assert table.column("number").to_pylist() == [1, 2, -3, 4]


def test_parquet_has_row_groups_and_leaves_no_footer_after_a_failure() -> None:
    file = io.BytesIO()
    with formats.Parquet(file, StoredArticle, ("number", "text")) as writer:
        for number in range(6):
            writer.write([(number, "x" * (6 << 20))])
    parquet = pq.ParquetFile(io.BytesIO(file.getvalue()))
    assert parquet.num_row_groups == 2
    assert parquet.metadata.num_rows == 6
    broken = io.BytesIO()
    with (
        pytest.raises(IndexError),
        formats.Parquet(broken, StoredArticle, ("number", "url")) as writer,
    ):
        writer.write([(1, "x"), (2,)])
    assert len(broken.getvalue()) <= 4


def test_table_keeps_its_cells_apart() -> None:
    lines = written("table", [(1, "a | b\nc", None)]).decode().splitlines()
    assert lines == ["| number | title | authors |", "| --- | --- | --- |", "| 1 | a \\| b c |  |"]


@each_row("form", ["jsonl", "csv"])
def test_end_of_a_file_that_was_cut_off_anywhere_is_its_last_whole_row(form: str) -> None:
    whole = written(form)
    ends = {0: ""}
    for n in range(len(ROWS) + 1):
        key = str(ROWS[n - 1][0]) if n else ""
        ends[len(written(form, ROWS[:n]))] = key
    for cut in range(len(whole) + 1):
        file = io.BytesIO(whole[:cut])
        found = formats.json_end(file, "number") if form == "jsonl" else formats.csv_end(file, "number", COLUMNS)
        last = max(end for end in ends if end <= cut)
        assert found == (last, ends[last])


@each_row(
    ("body", "part"),
    [(b'{"title": "x"}\n', "has no 'number'"), (b"no JSON\n", "has no 'number'"), (b"[1]\n", "has no 'number'")],
)
def test_end_of_other_lines_is_refused(body: bytes, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        formats.json_end(io.BytesIO(body), "number")


def test_end_of_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="other columns: a,b"):
        formats.csv_end(io.BytesIO(b"a,b\r\n1,2\r\n"), "number", COLUMNS)
    with pytest.raises(ValueError, match="no column 'number'"):
        formats.csv_end(io.BytesIO(b"a,b\r\n1,2\r\n"), "number", ("a", "b"))


def test_end_is_found_behind_a_mark_of_utf_8() -> None:
    assert formats.csv_end(io.BytesIO(formats.BOM + written("csv")), "number", COLUMNS)[1] == "4"


VALUES = {
    "id": "-7",
    "url": "http://a.example/x",
    "site": "a.example",
    "title": 'A/B: ../x "y" *z*',
    "authors": "张三、李四",
    "published_at": "2024-05-01T08:00+08:00",
    "source": "",
    "text": "一\n二 <b>",
    "html": "",
}


def test_markdown_has_a_front_matter_and_the_text() -> None:
    text = formats.article_markdown(
        {**VALUES, "source": "a\x85\u2028b"}, ("title", "authors", "source", "published_at")
    )
    _, front, body = text.split("---\n", 2)
    names, shown = zip(*(line.split(": ", 1) for line in front.splitlines()), strict=True)
    assert names == ("title", "authors", "source", "published_at")
    found = [json.loads(value) for value in shown]
    assert found == [VALUES["title"], ["张三", "李四"], "a\x85\u2028b", VALUES["published_at"]]
    assert body == '\n# A/B: ../x "y" \\*z\\*\n\n一\n\n二 \\<b\\>\n'


def test_markdown_keeps_headings_lists_and_tables() -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    html = f"<h2>头</h2><ul><li>一</li><li>二</li></ul>{table}"
    text = formats.article_markdown({**VALUES, "title": "", "html": html}, ())
    assert text == "---\n---\n\n## 头\n\n- 一\n- 二\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


@given(st.text(), st.text(), st.none() | st.dates().map(str))
def test_file_names_stay_in_their_folder(title: str, site: str, published_at: str | None) -> None:
    path = formats.file_name({**VALUES, "title": title, "site": site, "published_at": published_at})
    assert len(path.parts) == 2
    assert not {"..", "."} & set(path.parts)
    assert path.suffix == ".md"
    assert all(len(part.encode("utf-8", "replace")) < 255 for part in path.parts) or len(site) > 60
