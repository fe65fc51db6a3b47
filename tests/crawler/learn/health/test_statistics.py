"""Confidence bounds and evidence, beside scipy's and slow obvious sums."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.learn.health.statistics import cusum, wilson

RATES = st.floats(0.01, 0.99)


@given(st.integers(1, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.9999))
def test_wilson_is_that_of_scipy(counts: tuple[int, int], confidence: float) -> None:
    from scipy import stats

    hits, n = counts
    exact = stats.binomtest(hits, n).proportion_ci(confidence, method="wilson")
    low, high = wilson(hits, n, float(stats.norm.isf((1 - confidence) / 2)))
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert 0 <= low <= hits / n + 1e-12
    assert hits / n - 1e-12 <= high <= 1


@given(st.floats(0.1, 5))
def test_wilson_of_nothing_and_of_nonsense(z: float) -> None:
    assert wilson(0, 0, z) == (0.0, 1.0)
    for hits, n in ((11, 10), (-1, 10), (1, 0)):
        with pytest.raises(ValueError, match=f"{hits} of {n}"):
            wilson(hits, n, z)


@given(st.lists(st.booleans(), max_size=40), RATES, RATES)
def test_cusum_is_the_largest_likelihood_ratio_of_any_suffix(trials: list[bool], before: float, now: float) -> None:
    from scipy import stats

    total = 0.0
    for hit in trials:
        total = cusum(total, before, now, hit=hit)
    suffixes = [trials[first:] for first in range(len(trials) + 1)]
    ratios = [
        float(sum(stats.bernoulli.logpmf(suffix, now) - stats.bernoulli.logpmf(suffix, before))) for suffix in suffixes
    ]
    assert total == pytest.approx(max(ratios), abs=1e-6)
