"""Intervals between visits: by what was brought, by age, within bounds; and what they are worth."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.response.revisit_schedule import DAY, Schedule, fading
from tests.table import each_row

HOUR = 3_600.0
EAGER = Schedule(least=1, most=1e9)
numbers = st.floats(0, 1e6)


@given(numbers, numbers, st.integers(0, 100), st.integers(0, 1))
def test_interval_of_a_list_is_within_the_bounds(watched: float, brought: float, depth: int, further: int) -> None:
    assert 300 <= Schedule().of_list(watched, brought, depth=depth, further=further) <= 7 * DAY


@given(numbers, numbers, numbers)
def test_more_brought_is_sooner_and_longer_in_vain_is_later(watched: float, brought: float, more: float) -> None:
    usual = EAGER.of_list(watched, brought)
    assert EAGER.of_list(watched, brought + more) <= usual
    assert EAGER.of_list(watched + more, brought) >= usual


def test_hundred_times_as_much_is_visited_ten_times_as_often() -> None:
    few, many = (EAGER.of_list(1000 * DAY, n) for n in (1_000, 100_000))
    assert few / many == pytest.approx(10, rel=0.01)


@each_row("rate_a_day", [0.1, 1, 10, 100])
def test_no_other_interval_costs_less(rate_a_day: float) -> None:
    rate = rate_a_day / DAY
    best = EAGER.of_list(1e6 * DAY, rate * 1e6 * DAY)

    def cost(interval: float) -> float:
        return EAGER.worth / interval + rate * interval / 2

    assert all(cost(best) <= cost(best * factor) for factor in (0.5, 0.9, 1.1, 2))


def test_list_that_brings_nothing_is_left_more_and_more() -> None:
    watched, intervals = 0.0, []
    while watched < 60 * DAY:
        interval = Schedule().of_list(watched, 0)
        intervals.append(interval)
        watched = watched * fading(interval) + interval
        if len(intervals) > 200:
            break
    assert intervals[0] == HOUR
    assert intervals == sorted(intervals)
    assert intervals[-1] > 3 * DAY


def test_deep_lists_and_further_pages_wait_longer_at_first() -> None:
    first = Schedule().of_list(0, 0, depth=1)
    assert Schedule().of_list(0, 0, depth=3) == pytest.approx(4 * first)
    assert Schedule().of_list(0, 0, depth=1, further=1) == pytest.approx(2 * first)


@each_row("age", [0.0, HOUR, DAY, 400 * DAY])
def test_every_article_is_looked_at_once_more_within_a_day(age: float) -> None:
    pause = Schedule().of_article(age, 0, 0, age)
    assert pause is not None
    assert pause <= DAY


def test_older_articles_are_looked_at_later_and_at_last_no_more() -> None:
    ages = [HOUR, 5 * HOUR, DAY, 3 * DAY, 6 * DAY]
    pauses = [Schedule().of_article(age, 2, 0, age) or math.inf for age in ages]
    assert pauses == sorted(pauses)
    assert pauses[-1] < 7 * DAY
    assert Schedule().of_article(8 * DAY, 2, 0, 8 * DAY) is None
    assert Schedule(article_seconds=0).of_article(HOUR, 0, 0, HOUR) is None


def test_changing_articles_are_visited_sooner_and_longer() -> None:
    calm, busy = (Schedule().of_article(3 * DAY, 5, changes, DAY) or 0 for changes in (0, 5))
    assert busy < calm / 1.5
    assert Schedule().of_article(30 * DAY, 9, 3, DAY) is not None


def test_rate_of_changes_is_not_biased_by_several_at_once() -> None:
    """Cho and Garcia-Molina, 2003: 5 of 10 looks changed are more than 5 changes."""
    from crawler.response.revisit_schedule import _corrected

    assert _corrected(10, 5) == pytest.approx(-10 * math.log(5.5 / 10.5))
    assert _corrected(10, 10) == pytest.approx(10 * math.log(21))
    assert _corrected(10, 0) == _corrected(0, 0) == 0


def test_page_that_is_gone_is_looked_for_ever_less_and_given_up() -> None:
    assert Schedule().of_gone(0) == DAY
    assert Schedule().of_gone(3 * DAY) == 3 * DAY
    assert Schedule().of_gone(8 * DAY) is None
