"""Tables, lists and entries inside a text: whole or not at all."""

from __future__ import annotations

import numpy as np

from pipelines.document.document import Document, parse
from pipelines.extract.borders.inner import fill_gaps, whole_blocks, whole_series
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


def page(body: str) -> Document:
    return parse(f"<html><body>{body}</body></html>".encode(), "http://e.com/a.html")


def completed(document: Document, kept: list[int], chance: float = 0.2) -> list[int]:
    return whole_blocks(document, kept, np.full(len(document.blocks), chance), weigh(document))


def lines_of(document: Document, kept: list[int]) -> list[str]:
    return [document.blocks.texts[index] for index in kept]


def test_table_between_paragraphs_is_kept_whole_with_its_head() -> None:
    document = page(f"{table_of()}<p>{LONG}</p>")
    kept = completed(document, [0, 13])
    assert kept == list(range(14))
    lines = render.extraction(document, kept, 1.0).text.split("\n")
    assert lines[1:-1] == ["\t".join(row) for row in ROWS]


def test_wrapped_table_between_paragraphs_is_kept() -> None:
    body = table_of().replace("<table>", '<div class="scroll"><div><table>').replace("</table>", "</table></div></div>")
    assert completed(page(f"{body}<p>{LONG}</p>"), [0, 13]) == list(range(14))


def test_table_of_a_side_section_between_paragraphs_is_left_out() -> None:
    body = table_of().replace("<table>", '<div class="related"><table>').replace("</table>", "</table></div>")
    assert completed(page(f"{body}<p>{LONG}</p>"), [0, 13]) == [0, 13]


@each_row("chance, kept", [(0.6, list(range(13))), (0.2, [0])])
def test_chances_decide_on_a_table_behind_the_text(chance: float, kept: list[int]) -> None:
    assert completed(page(table_of()), [0, 5, 7], chance) == kept


@each_row("chance", [0.2, 0.6])
def test_table_behind_the_text_without_kept_cells_is_left_alone(chance: float) -> None:
    assert completed(page(table_of()), [0], chance) == [0]


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
    document = page(f"{body}<p>{LONG}</p>")
    last = len(document.blocks) - 1
    assert completed(document, [0, last], 0.9) == [0, last]


def test_cells_over_several_rows_and_columns_stay_in_order() -> None:
    extra = '<tr><td rowspan="2">4</td><td colspan="2">Town and County</td></tr><tr><td>Harbour</td><td>12</td></tr>'
    document = page(f"{table_of(extra=extra)}<p>{LONG}</p>")
    kept = completed(document, [0, len(document.blocks) - 1])
    lines = render.extraction(document, kept, 1.0).text.split("\n")
    assert lines[5:7] == ["4\tTown and County", "Harbour\t12"]


def test_text_never_becomes_empty() -> None:
    assert completed(page(table_of()), [5, 7]) == [5, 7]


def test_list_of_terms_between_paragraphs_is_kept() -> None:
    document = page(f"<p>{LONG}</p><dl><dt>Length</dt><dd>412 metres</dd></dl><p>{LONG}</p>")
    assert completed(document, [0, 3]) == [0, 1, 2, 3]


@each_row("announced, kept", [("The papers are:", [0, 1, 2, 3, 4]), ("More of the day", [0, 1, 4])])
def test_list_of_links_is_kept_behind_a_colon(announced: str, kept: list[int]) -> None:
    links = '<ul><li><a href="/d/1">the traffic plan</a></li><li><a href="/d/2">the letter of the port</a></li></ul>'
    document = page(f"<p>{LONG}</p><p>{announced}</p>{links}<p>{LONG}</p>")
    assert completed(document, [0, 1, 4]) == kept


@each_row("chance, kept", [(0.35, [0, 1, 2]), (0.1, [0, 2])])
def test_paragraph_between_kept_siblings_is_kept_unless_it_is_unlikely(chance: float, kept: list[int]) -> None:
    document = page(f"<div><p>{LONG}</p><p>{LONG[::-1]}.</p><p>{LONG}</p></div>")
    assert fill_gaps(document, [0, 2], np.array([0.9, chance, 0.9])) == kept


def test_paragraph_of_another_kind_leaves_its_gap() -> None:
    document = page(f'<div><p>{LONG}</p><p class="promo">{LONG[::-1]}.</p><p>{LONG}</p></div>')
    assert fill_gaps(document, [0, 2], np.full(3, 0.35)) == [0, 2]


def entries(*texts: str) -> str:
    return "".join(
        f'<div class="post"><b class="clock">1{number}:00</b><h3>Post {number}</h3><p>{text}</p></div>'
        for number, text in enumerate(texts)
    )


def test_live_blog_is_kept_with_all_its_posts() -> None:
    document = page(f"<h1>Bridge</h1>{entries(*[LONG] * 4)}<p>© Herald. All rights reserved by the Herald.</p>")
    kept = [index for index in range(2, 10) if document.tags[document.blocks.nodes[index]] in {"h3", "p"}]
    assert lines_of(document, whole_series(document, kept, weigh(document))) == [
        line for number in range(4) for line in (f"Post {number}", LONG)
    ]


def test_comments_below_a_text_are_no_posts_of_it() -> None:
    document = page(f"<div>{''.join(f'<p>{LONG}</p>' for _ in range(9))}</div>{entries(*[LONG] * 4)}")
    kept = [*range(9), 11, 14, 17]
    assert whole_series(document, kept, weigh(document)) == kept
