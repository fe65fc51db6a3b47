"""Curves of runs: what was counted is what is drawn."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.web.drawing.curves import make_curves, merged
from db.records.run import RunSample


def samples(counts: list[int], *, first: float = 0.0, queued: int | None = 5) -> list[RunSample]:
    return [
        RunSample(
            first + 10 * n, pages, pages // 2, pages // 4, 0, pages * 100, queued, {"list page": pages // 3, "x": 1}
        )
        for n, pages in enumerate(accumulate(counts))
    ]


@given(st.lists(st.lists(st.integers(0, 900), min_size=1, max_size=12), max_size=3), st.integers(1, 40))
def test_curves_keep_the_counts(runs: list[list[int]], spans: int) -> None:
    """All that was counted before the end is in the spans, whatever their number."""
    made = make_curves([samples([0, *counts]) for counts in runs], 0.0, 200.0, spans)
    assert (made.pages * 200 / spans).sum() == pytest.approx(sum(map(sum, runs)))
    assert (made.pages >= -1e-9).all()
    assert made.reasons.keys() <= {"list page", "x"}


def test_curves_show_rates_and_shares() -> None:
    made = make_curves([samples([0, 100, 300]), samples([0, 40], first=10.0, queued=None)], 0.0, 20.0, 2)
    assert made.pages.tolist() == pytest.approx([10.0, 34.0])
    assert made.repeats.tolist() == pytest.approx([0.5, 85 / 170])
    assert made.queued.tolist() == [5.0, 5.0]
    assert made.edges.tolist() == [0.0, 10.0, 20.0]


def test_curves_know_no_share_of_nothing() -> None:
    made = make_curves([samples([0, 0])], 0.0, 10.0, 2)
    assert np.isnan(made.repeats).all()


def test_merged_adds_reasons_up() -> None:
    assert merged([samples([9]), samples([30]), []]) == {"list page": 13, "x": 2}
