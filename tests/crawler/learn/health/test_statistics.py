"""The tests of two samples, beside scipy's."""

from __future__ import annotations

import random

import pytest
from scipy import stats

from crawler.learn.health.statistics import LEAST, binomial, fisher, kolmogorov_smirnov, mann_whitney


def values(counts: list[int]) -> list[int]:
    return [place for place, times in enumerate(counts) for _ in range(times)]


def counts(draw: random.Random, bins: int, size: int, centre: float) -> list[int]:
    found = [0] * bins
    for _ in range(size):
        found[min(bins - 1, max(0, round(draw.gauss(centre, 3))))] += 1
    return found


@pytest.mark.parametrize(
    ("past_hits", "past", "now_hits", "now"),
    [
        (0, 100, 3, 40),
        (5, 200, 20, 40),
        (90, 100, 39, 40),
        (1, 1, 1, 1),
        (0, 8, 0, 8),
        (0, 400, 40, 40),
        (30, 60, 2, 40),
    ],
)
def test_fisher(past_hits: int, past: int, now_hits: int, now: int) -> None:
    table = [[now_hits, now - now_hits], [past_hits, past - past_hits]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert fisher(past_hits, past, now_hits, now) == pytest.approx(expected, rel=1e-6)


def test_fisher_of_nothing_and_of_nonsense() -> None:
    assert fisher(0, 0, 0, 0) == fisher(3, 10, 0, 0) == 1.0
    with pytest.raises(ValueError, match="11 of 10"):
        fisher(0, 5, 11, 10)


@pytest.mark.parametrize(("n", "most", "share"), [(10, 1, 0.9), (40, 12, 0.5), (5, 5, 0.3), (20, 0, 0.0), (20, 3, 1.0)])
def test_binomial(n: int, most: int, share: float) -> None:
    expected = stats.binom.cdf(most, n, share)
    assert binomial(n, most, share) == pytest.approx(max(LEAST, expected), rel=1e-6, abs=1e-20)


@pytest.mark.parametrize("seed", range(12))
def test_ranks_and_gaps(seed: int) -> None:
    draw = random.Random(seed)
    past = counts(draw, 33, draw.randrange(30, 300), 16)
    now = counts(draw, 33, draw.randrange(20, 60), draw.choice([16, 17, 19, 24]))
    share, chance = mann_whitney(past, now)
    other = stats.mannwhitneyu(values(now), values(past), use_continuity=False, method="asymptotic")
    assert share == pytest.approx(other.statistic / sum(past) / sum(now))
    assert chance == pytest.approx(other.pvalue, rel=1e-6)
    gap, chance = kolmogorov_smirnov(past, now)
    exact = stats.ks_2samp(values(past), values(now), method="exact")
    assert gap == pytest.approx(exact.statistic)
    if 1e-12 < exact.pvalue < 0.2:  # an approximation: of the right size, and never much too small
        assert exact.pvalue / 3 < chance < max(10 * exact.pvalue, exact.pvalue**0.6)


def test_all_in_one_bin_and_nothing() -> None:
    assert mann_whitney([0, 10, 0], [0, 5, 0]) == (0.5, 1.0)
    assert kolmogorov_smirnov([0, 10], [0, 5]) == (0.0, 1.0)
    assert mann_whitney([0, 0], [1, 2]) == (0.5, 1.0)
    assert kolmogorov_smirnov([1, 2], [0, 0]) == (0.0, 1.0)


def test_chance_is_kept_when_nothing_has_changed() -> None:
    """Of 400 pairs of equal samples about one in a hundred looks otherwise at that level."""
    draw = random.Random(3)
    found = [0, 0, 0]
    for _ in range(400):
        past, now = counts(draw, 33, 150, 16), counts(draw, 33, 40, 16)
        found[0] += mann_whitney(past, now)[1] <= 0.01
        found[1] += kolmogorov_smirnov(past, now)[1] <= 0.01
        hits, more = (sum(draw.random() < 0.3 for _ in range(n)) for n in (150, 40))
        found[2] += fisher(hits, 150, more, 40) <= 0.01
    assert max(found) <= 12
