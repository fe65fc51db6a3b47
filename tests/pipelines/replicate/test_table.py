"""Figures of experiments by hand."""

from __future__ import annotations

import pytest

from pipelines.replicate.batch import Measured, makespan, speed_up
from pipelines.replicate.table import Replication, Row, f_score, prf, text_scores


def test_text_scores_are_means_over_pages() -> None:
    # LCS of "abcdef" and "bdfxy" is "bdf": P 3/6, R 3/5; the second page is empty where a text is known: 0 and 0
    scores = text_scores([("ab cd ef", "bdf xy"), ("", "abc")])
    assert scores == pytest.approx({"P": 0.25, "R": 0.3, "F": (2 * 0.5 * 0.6 / 1.1) / 2})


def test_nothing_extracted_where_nothing_is_known_is_right() -> None:
    assert text_scores([("", "")]) == {"P": 1, "R": 1, "F": 1}
    assert text_scores([]) == {}


def test_precision_of_nothing() -> None:
    assert prf(0, 0, 4) == {"P": 0, "R": 0, "F": 0}
    assert f_score(0.5, 0.25) == pytest.approx(1 / 3)


def test_figures_come_in_the_order_of_their_rows() -> None:
    rows = [Row("one", {"P": 1.0}, {"P": 0.9, "F": 0.8}), Row("two", {"R": 0.5})]
    assert Replication("S00", rows).figures == ("P", "F", "R")


def test_makespan_of_list_scheduling() -> None:
    # Two workers: 4 | 1, 2 (free at 3), 3 (free at 6); three workers: 4 | 1 then 3 (free at 4) | 2
    assert makespan([4, 1, 2, 3], 2) == 6
    assert makespan([4, 1, 2, 3], 3) == 4
    assert makespan([4, 1, 2, 3], 3, start=1) == 5


def test_speed_up_measured_and_simulated() -> None:
    # A second to start, eight partitions of one second: 9 s alone; by 4 workers 1 + 2, by 8 workers 1 + 1
    table = speed_up(Measured([1.0] * 8, {1: 9.0, 2: 6.0, 4: 4.5}, 80), 1)
    by_name = {row.name: row.ours for row in table.rows}
    assert by_name["4 workers"] == {"seconds": 4.5, "speed-up": 2.0, "simulated speed-up": 3.0}
    assert by_name["8 workers"] == {"simulated speed-up": 4.5}
