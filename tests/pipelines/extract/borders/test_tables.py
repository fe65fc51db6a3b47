"""Tables: those of data whole or not at all, those of layout as any container."""

from __future__ import annotations

import numpy as np

from pipelines.document.document import Document, parse
from pipelines.extract.borders.tables import whole_tables
from pipelines.extract.combined import weigh
from pipelines.text_form import render
from tests.table import each_row

LONG = "The ferry crossed the strait on Monday in heavy rain, and nobody on board was hurt at all."
ROWS = [("Rank", "Team", "Points"), ("1", "Rovers", "44"), ("2", "United", "41"), ("3", "Athletic", "40")]


def table_of(tag: str = "td", head: str = "thead", extra: str = "") -> str:
    first, *rest = ["<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>" for row in ROWS]
    return (
        f"<p>{LONG}</p><table><{head}>{first.replace(tag, 'th')}</{head}><tbody>{''.join(rest)}{extra}</tbody></table>"
    )


def made(body: str, chance: float, kept: list[int]) -> tuple[Document, list[int]]:
    document = parse(f"<html><body>{body}<p>{LONG}</p></body></html>".encode(), "http://e.com/a.html")
    chances = np.full(len(document.blocks), chance)
    return document, whole_tables(document, kept, chances, weigh(document))


def test_table_that_is_likely_is_kept_whole_with_its_head() -> None:
    document, kept = made(table_of(), 0.6, [0, 5, 7, 13])
    assert kept == list(range(14))
    lines = render.extraction(document, kept, 1.0).text.split("\n")
    assert lines[1:-1] == ["\t".join(row) for row in ROWS]


def test_table_that_is_unlikely_is_left_out() -> None:
    assert made(table_of(), 0.2, [0, 5, 7, 13])[1] == [0, 13]


@each_row("chance", [0.2, 0.6])
def test_table_without_kept_cells_is_left_alone(chance: float) -> None:
    assert made(table_of(), chance, [0, 13])[1] == [0, 13]


@each_row(
    "body",
    [
        f"<table><tr><td><p>{LONG}</p><p>{LONG}</p></td><td><p>Menu</p></td></tr></table>",
        f"<table><tr><td>{table_of()}</td><td>Menu</td></tr></table>",
        "<table><tr><td><a href=/a>One</a></td><td><a href=/b>Two</a></td></tr>"
        "<tr><td><a href=/c>Three</a></td><td><a href=/d>Four</a></td></tr></table>",
    ],
)
def test_layout_tables_are_not_completed(body: str) -> None:
    assert made(body, 0.9, [0])[1] == [0]


def test_cells_over_several_rows_and_columns_stay_in_order() -> None:
    extra = '<tr><td rowspan="2">4</td><td colspan="2">Town and County</td></tr><tr><td>Harbour</td><td>12</td></tr>'
    document, kept = made(table_of(extra=extra), 0.6, [0, 5])
    lines = render.extraction(document, kept, 1.0).text.split("\n")
    assert lines[5:] == ["4\tTown and County", "Harbour\t12"]


def test_text_never_becomes_empty() -> None:
    assert made(table_of(), 0.2, [5, 7])[1] == [5, 7]
