"""Stories over time: the periods, the largest sites apart from the others, and nothing lost."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pipelines.search.records import Volume
from pipelines.search.volume import PERIODS, STACKS, timeline, timelines
from tests.table import each_row

EPOCH = date(1970, 1, 1)
VOLUMES = some.lists(
    some.builds(
        Volume,
        some.integers(18_000, 19_900),
        some.sampled_from("abcdefghij"),
        some.sampled_from(["en", "zh-Hans", ""]),
        some.integers(1, 9),
    ),
    max_size=40,
)


@given(VOLUMES, some.sampled_from(["", "week", "month", "year"]), some.sampled_from(["", *STACKS]))
def test_timeline_counts_each_story_once_in_the_period_of_its_day(volume: list[Volume], by: str, stack: str) -> None:
    one = timeline(volume, by, stack)
    assert sum(one.totals) == sum(row.stories for row in volume)
    assert len(one.bands) <= 7
    assert [band.value for band in one.bands[:6]] == [band.value for band in one.bands[:6] if band.value is not None]
    for place, start in enumerate(one.starts):
        days = [row for row in volume if start <= EPOCH + timedelta(days=row.day) <= one.last_day(place)]
        assert one.totals[place] == sum(row.stories for row in days)
    ends = [one.last_day(place) + timedelta(days=1) for place in range(len(one.starts))]
    assert ends[:-1] == list(one.starts[1:])


def test_bands_are_the_six_largest_and_the_others() -> None:
    volume = [Volume(0, name, "en", 10 - n) for n, name in enumerate("abcdefgh")]
    bands = timeline(volume, "day", "site").bands
    assert [(band.value, list(band.counts)) for band in bands] == [
        ("a", [10]), ("b", [9]), ("c", [8]), ("d", [7]), ("e", [6]), ("f", [5]), (None, [7]),
    ]  # fmt: skip


@each_row(("days", "by"), [(1, "day"), (62, "day"), (64, "week"), (500, "month"), (5_000, "year"), (80_000, "year")])
def test_period_suits_the_span(days: int, by: str) -> None:
    assert timeline([Volume(0, "a", "en", 1), Volume(days, "a", "en", 1)]).by == by


def test_weeks_begin_on_monday_and_months_have_their_days() -> None:
    day = (date(2024, 2, 15) - EPOCH).days
    weeks, months = (timeline([Volume(day, "a", "en", 1)], by) for by in ("week", "month"))
    assert (weeks.starts[0], weeks.last_day(0)) == (date(2024, 2, 12), date(2024, 2, 18))
    assert (months.starts[0], months.last_day(0)) == (date(2024, 2, 1), date(2024, 2, 29))


def test_several_searches_have_the_same_periods() -> None:
    one, other = timelines([[Volume(0, "a", "en", 1)], [Volume(2, "a", "en", 3)]], "day")
    assert one.starts == other.starts
    assert (one.totals, other.totals) == ([1, 0, 0], [0, 0, 3])


def test_search_without_stories_has_zeros_beside_another() -> None:
    assert timelines([[Volume(0, "a", "en", 1), Volume(1, "a", "en", 1)], []], "day")[1].totals == [0, 0]


def test_nothing_has_no_periods() -> None:
    assert (timeline([]).starts, timeline([]).totals) == ((), [])


@each_row(
    ("by", "stack", "said"),
    [
        ("hour", "", "by is 'hour'; day, week, month and year are allowed"),
        ("", "author", "stack is 'author'; site and language are allowed"),
        ("day", "", "more than 1,000 times a day; set by=week, or since and until"),
    ],
)
def test_wrong_words_are_refused_with_a_sentence(by: str, stack: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        timeline([Volume(0, "a", "en", 1), Volume(1_500, "a", "en", 1)], by, stack)


def test_periods_are_all_tried() -> None:
    assert {timeline([Volume(0, "a", "en", 1)], by).by for by in PERIODS} == set(PERIODS)
