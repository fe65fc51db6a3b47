"""When the queue is scored again."""

from __future__ import annotations

from itertools import pairwise

import pytest

from crawler.rank.rounds import Rounds
from tests.table import each_row


def rounds_of(rounds: Rounds, pages: int) -> list[int]:
    held = []
    for n in range(pages + 1):
        if rounds.due(n):
            rounds.begin(n)
            held.append(n)
    return held


def test_first_page_brings_the_first_round() -> None:
    assert rounds_of(Rounds(), 40) == [1, 17, 33]


def test_rounds_of_a_growing_crawl_become_rarer_up_to_a_limit() -> None:
    held = rounds_of(Rounds(every_pages=500, growth=0.1), 20_000)
    gaps = [late - early for early, late in pairwise(held)]
    assert gaps == sorted(gaps)
    assert gaps[-1] == 500
    assert all(
        gap == pytest.approx(0.1 * early, abs=1) for early, gap in zip(held, gaps, strict=False) if 200 < early < 5000
    )


@each_row(("pages", "growth"), [(0, 0.1), (10, 0.0), (10, float("nan"))])
def test_wrong_values_are_refused(pages: int, growth: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Rounds(pages, growth)
