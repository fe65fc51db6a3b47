"""Copies of a text on its page, and what only looks like one."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import numpy as np

from pipelines.document.document import parse
from pipelines.extract.borders.copies import drop_copies
from pipelines.extract.combined import weigh
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
FIRST = "The ferry crossed the strait on Monday in heavy rain, and nobody on board was hurt at all."
SECOND = "The harbour master said that the storm had come two hours earlier than the service foretold."
THIRD = "Passengers were given tea and blankets in the town hall until the roads were free again."
TEXT = f"<p>{FIRST}</p><h3>Tea</h3><p>{SECOND}</p><p>{THIRD}</p>"
LINES = [FIRST, "Tea", SECOND, THIRD]


def kept_of(body: str) -> list[str]:
    document = parse(f"<html><body>{body}</body></html>".encode(), "http://e.com/a.html")
    kept = drop_copies(document, list(range(len(document.blocks))), weigh(document))
    return [document.blocks.texts[index] for index in kept]


@each_row(
    "copy",
    [
        f'<div class="print">{TEXT}</div>',
        f'<div class="print">{TEXT}<p>Page 1 of 1</p></div>',
        f'<div class="print" style="display:none">{TEXT}</div>',
        f'<div class="comments"><div class="reply">{FIRST}<br><br>{SECOND}<br>{THIRD}</div></div>',
        f'<div><section class="amp"><header><h3>Tea</h3></header>{TEXT}</section></div>',
    ],
)
def test_copies_in_containers_of_their_own_are_dropped(copy: str) -> None:
    assert kept_of(f'<div class="story">{TEXT}</div>{copy}') == LINES


def test_copies_for_wide_and_narrow_screens_are_dropped() -> None:
    wide, narrow = f'<div class="wide">{TEXT}</div>', f'<div class="narrow">{TEXT}</div>'
    assert kept_of(f"<main>{wide}{narrow}</main>") == LINES


def test_visible_copy_is_preferred() -> None:
    document = parse(f"<div hidden>{TEXT}</div><div class=story>{TEXT}</div>".encode(), "http://e.com/a.html")
    assert drop_copies(document, list(range(8)), weigh(document)) == [4, 5, 6, 7]
    document = parse(f"<div>{TEXT}</div><div class=story hidden>{TEXT}</div>".encode(), "http://e.com/a.html")
    assert drop_copies(document, list(range(8)), weigh(document)) == [0, 1, 2, 3]


@each_row(
    "body",
    [
        f"<div><p>{FIRST}</p><p>{SECOND}</p><p>{FIRST}</p></div>",
        f"<div><p>{FIRST}</p><p>{SECOND}</p></div><div><blockquote><p>{FIRST}</p></blockquote></div>",
        f"<div><p>{FIRST}</p><p>{SECOND}</p></div><div><div class=post-quote><p>{FIRST}</p></div></div>",
        f"<div><ul><li>{FIRST}</li></ul></div><section><ol><li>{FIRST}</li></ol></section>",
        f"<div><p>{FIRST}</p></div><ul><li><h3>Entry</h3><div><p>{FIRST}</p></div></li></ul>",
        f"<ul><li class=card><h3>One</h3><p>{FIRST}</p></li><li class=card><h3>Two</h3><p>{FIRST}</p></li></ul>",
        f"<div><p>{FIRST}</p></div><table><tr><td><p>{FIRST}</p></td></tr></table>",
        f"<div><p>{FIRST}</p></div><section><p>{FIRST}</p><p>{SECOND}</p><p>{THIRD}</p></section>",
        "<div><p>Pros</p><p>Cons</p></div><section><p>Pros</p><p>Cons</p></section>",
    ],
)
def test_repetition_that_is_no_copy_stays(body: str) -> None:
    document = parse(body.encode(), "http://e.com/a.html")
    assert kept_of(body) == document.blocks.texts


def test_last_copy_stays_where_copies_stand_in_each_other() -> None:
    found = kept_of(f"<div><p>{FIRST}</p></div><section><div><p>{FIRST}</p></div><i><p>{FIRST}</p></i></section>")
    assert found == [FIRST]


@each_row("depth", [1, 200])
def test_page_of_copies_costs_little(depth: int) -> None:
    one = f"{'<div>' * depth}<p>{FIRST}</p>{'</div>' * depth}"
    document = parse((one * (60_000 // (depth + 2))).encode(), "http://e.com/a.html")
    start = time.process_time()
    kept = drop_copies(document, list(range(len(document.blocks))), np.full(len(document.blocks), 90.0))
    assert kept
    assert time.process_time() - start < 3


def test_article_beside_its_print_version_is_read_once() -> None:
    paragraphs = [f"{line} {number} boats had been warned in time." for number, line in enumerate(LINES * 3, 10)]
    text = "".join(f"<p>{line}</p>" for line in paragraphs)
    page = (
        f"<html><head><title>The ferry in the storm</title></head><body><article><h1>The ferry in the storm</h1>"
        f'<div class="text">{text}</div></article><div class="post print">{text}</div></body></html>'
    )
    found = parse_page(page.encode(), "http://e.com/2024/05/ferry.html", fetched_at=NOW)
    assert found.extraction.text.split("\n") == paragraphs
