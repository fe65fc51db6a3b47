"""The live line: as wide as the terminal, what matters most stays."""

from __future__ import annotations

from rich.cells import cell_len

from crawler.frontier.progress import fitted, waiting_score
from crawler.response.new_urls import GOES_FIRST
from tests.table import each_row

PARTS = {
    "pages": "123456 done",
    "articles": "98765 articles",
    "rate": "123.4 pages/s",
    "queued": "1234567 queued",
    "failed": "1234 failed",
    "active": "1998 hosts active",
    "duplicates": "12345 duplicates",
    "best": "best waiting 2.345",
}


@each_row(("width", "count"), [(200, 8), (120, 7), (80, 5), (60, 3), (20, 1)])
def test_line_fits_and_keeps_what_matters(width: int, count: int) -> None:
    line = fitted(PARTS, width)
    assert cell_len(line) <= width
    assert set(line.split(" | ")) == set(list(PARTS.values())[:count])


def test_line_says_first_what_the_database_waits_for() -> None:
    line = fitted({"waits_for": "数据库 is locked by another program; waiting"} | PARTS, 40)
    assert cell_len(line) <= 40
    assert line.startswith("数据库 is")


def test_score_of_what_goes_first_is_not_shown() -> None:
    shown = [waiting_score(score) for score in (None, 1.25, GOES_FIRST, 1000 * GOES_FIRST)]
    assert shown == ["", "best waiting 1.250", "", ""]
