"""What is shown, logged and exported: text from the web acts on nothing."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import sys

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from scrapy.exporters import JsonLinesItemExporter

from crawler.options.scrapy_settings import FIXED
from crawler.run.exporters import CsvExporter
from crawler.terminal.text import (
    Field,
    JsonRecord,
    LogLines,
    Terminal,
    guard_logs,
    one_line,
    shortened,
    show_pairs,
    show_table,
    visible,
)
from pipelines.export.cells import harmless
from tests.table import each_row

HOSTILE = (
    "[red]title[/red]", "\x1b[2J\x1b]0;owned\x07", "gone\n12:00:00 ERROR: forged", "a\rb", "\u202egnp.exe", "\x9b31m",
    "a\u2028b", "\ud800", "zero\u200bwidth", "\x00", "\U000e0041",
)  # fmt: skip
ACTING = {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x200B, 0x2028, 0x202E, 0xD800, 0xE0041)}


@each_row("text", HOSTILE)
def test_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    assert not ACTING & set(visible(text))
    assert "\n" not in one_line(text)
    assert visible("新闻 title, l’été 😀") == "新闻 title, l’été 😀"


@each_row("text", HOSTILE)
def test_console_shows_strings_as_they_are(text: str) -> None:
    out = io.StringIO()
    console = Terminal(file=out, width=120)
    table = Table("reason")
    table.add_row(one_line(text))
    console.print(text)
    console.print(table)
    shown = out.getvalue()
    assert not ACTING & set(shown)
    assert "[red]" in shown or "[red]" not in text


@each_row("text", HOSTILE)
def test_json_record_is_one_line_whatever_it_says(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        record = JsonRecord(7, text, logging.ERROR, "x.py", 1, "%s failed", (text,), sys.exc_info())
    record.counts = {"pages": 3}
    shown = logging.Formatter("%(message)s").format(record)
    line = json.loads(shown)
    assert shown.isascii()
    assert "\n" not in shown
    assert (line["message"], line["level"], line["run"], line["counts"]) == (f"{text} failed", "ERROR", 7, {"pages": 3})
    assert line["exception"].startswith("Traceback")


def test_log_line_cannot_be_forged() -> None:
    record = logging.makeLogRecord({"msg": "%s: %s", "args": ("http://a.test/", "no\n12:00 ERROR: forged\x1b[2J")})
    lines = LogLines("%(levelname)s: %(message)s").format(record).split("\n")
    assert len(lines) == 1
    assert "\x1b" not in lines[0]


def test_exception_cannot_forge_a_line_either() -> None:
    try:
        raise ValueError("x\n12:00:00 ERROR: forged\x1b[2J")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    first, *more = LogLines("%(message)s").format(record).split("\n")
    assert first == "failed"
    assert more
    assert all(line.startswith("    ") and "\x1b" not in line for line in more)


def test_handlers_keep_their_format() -> None:
    root, handler = logging.getLogger(), logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    root.addHandler(handler)
    try:
        guard_logs()
        guard_logs()
        logging.getLogger("x").error("a\nb")
    finally:
        root.removeHandler(handler)
    assert handler.stream.getvalue() == "ERROR a\\nb\n"


@each_row(
    "cell",
    [
        "=1+1",
        "+1",
        "-1+1",
        "-a",
        "-",
        "@x",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "＝1",
        "\u200b=1",
        "\ufeff@x",
        "\x00+1",
        "\xa0-1",
        "\u2003\u202e=1",
        '=cmd|" /C calc"!A0',
    ],
)
def test_cells_that_a_spreadsheet_would_run(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


def test_numbers_are_no_formulas() -> None:
    assert [harmless(cell) for cell in ("-7847909125828453774", "0.976", -3)] == ["-7847909125828453774", "0.976", -3]


def test_csv_and_json_lines() -> None:
    item = {"url": "http://a.test/", "title": '=HYPERLINK("http://evil.test")', "text": "fine, - not a formula"}
    file = io.BytesIO()
    exporter = CsvExporter(file)
    exporter.export_item(item)
    exporter.finish_exporting()
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
    assert rows == [{**item, "title": f"'{item['title']}"}]
    assert FIXED["FEED_EXPORTERS_BASE"]["csv"] == "crawler.run.exporters.CsvExporter"
    lines = io.BytesIO()
    JsonLinesItemExporter(lines).export_item(item)
    assert json.loads(lines.getvalue()) == item


FIELDS = (
    Field("host", cut=True),
    Field("pages", right=True),
    Field("since", drop=1),
    Field("process", drop=2, right=True),
    Field("why"),
    Field("nothing"),
)
ROWS = [
    ("a-newspaper-with-a-long-name.example.com:8080", 7, "2026-11-23T03:39:44", 12716, "took too long", ""),
    ("新华网新闻中心.example.cn", 12345, "2026-11-23", 9, "港口航运 had no article among the last fifty pages", ""),
]


def shown(columns: int | None, rows: list[tuple] = ROWS) -> list[str]:
    """Lines of the table on a terminal so wide; without one."""
    out = io.StringIO()
    size = {"width": 10_000} if columns is None else {"width": columns, "force_terminal": True, "color_system": None}
    show_table(Terminal(file=out, **size), "Hosts", FIELDS, rows)
    return out.getvalue().splitlines()


@each_row("columns", [60, 80, 120, 200])
def test_table_fits_the_terminal_and_breaks_no_word(columns: int) -> None:
    lines = shown(columns)
    assert max(map(cell_len, lines)) <= columns
    assert len({cell_len(line) for line in lines[2:]}) == 1  # Chinese characters are counted right
    words = {word for row in ROWS for word in str(row[4]).split()}
    assert words <= set(re.split(r"[\s│]+", "\n".join(lines)))
    assert "nothing" not in "\n".join(lines)  # a column without an entry


def test_table_fits_a_terminal_without_these_characters() -> None:
    out = io.TextIOWrapper(io.BytesIO(), "ascii", errors="backslashreplace")
    show_table(Terminal(file=out, width=80, force_terminal=True, color_system=None), "Hosts", FIELDS, ROWS)
    out.flush()
    lines = out.buffer.getvalue().decode("ascii").splitlines()
    assert len({len(line) for line in lines[2:]}) == 1
    assert len(lines[2]) <= 80


def test_table_names_the_columns_that_it_leaves_out() -> None:
    assert shown(60)[1] == "Hosts (--wide for process, since)"
    assert shown(200)[1] == "Hosts"
    assert re.search(r"│ a-newsp\S+\.\.\.\S+:8080 +│", "\n".join(shown(60)))


def test_table_without_a_terminal_has_a_plain_line_for_each_row() -> None:
    lines = shown(None)
    assert len(lines) == 2 + 1 + len(ROWS)
    assert [line.split()[0] for line in lines[3:]] == [row[0] for row in ROWS]
    assert all(str(part) in line for row, line in zip(ROWS, lines[3:], strict=True) for part in row)


@given(st.text(max_size=60), st.integers(0, 70))
def test_shortened_text_fits_and_keeps_both_ends(text: str, cells: int) -> None:
    short = shortened(text, cells)
    assert cell_len(short) <= max(cells, 3)
    if short != text:
        begin, _, end = short.rpartition("...")
        assert text.startswith(begin)
        assert text.endswith(end)


def test_pairs_fold_between_words_and_shorten_long_ones() -> None:
    out = io.StringIO()
    url = "https://news.example.com/" + "a/" * 60
    console = Terminal(file=out, width=60, force_terminal=True, color_system=None)
    show_pairs(console, [("URL", url), ("found on", f"{url} (main list), as 港口航运新闻")])
    first, *more = out.getvalue().splitlines()
    assert first == f"{'URL':<14} {url}"
    assert max(map(cell_len, more)) <= 60
    assert " ".join(" ".join(more).split()) == f"found on {shortened(url, 45)} (main list), as 港口航运新闻"
