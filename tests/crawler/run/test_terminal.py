"""What is shown, logged and exported: text from the web acts on nothing."""

from __future__ import annotations

import csv
import io
import json
import logging
import sys

import pytest
from rich.table import Table
from scrapy.exporters import JsonLinesItemExporter

from crawler.run.exporters import CsvExporter, harmless
from crawler.run.scrapy_settings import FIXED
from crawler.run.terminal import LogLines, Terminal, guard_logs, one_line, visible

HOSTILE = (
    "[red]title[/red]", "\x1b[2J\x1b]0;owned\x07", "gone\n12:00:00 ERROR: forged", "a\rb", "\u202egnp.exe", "\x9b31m",
    "a\u2028b", "\ud800", "zero\u200bwidth", "\x00", "\U000e0041",
)  # fmt: skip
ACTING = {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x200B, 0x2028, 0x202E, 0xD800, 0xE0041)}


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    assert not ACTING & set(visible(text))
    assert "\n" not in one_line(text)
    assert visible("新闻 title, l’été 😀") == "新闻 title, l’été 😀"


@pytest.mark.parametrize("text", HOSTILE)
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


@pytest.mark.parametrize(
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
