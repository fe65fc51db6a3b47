"""Charts as SVG: readable axes, nothing of a page's own text that acts, no style of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.web.drawing.charts import Chart, Series, bar, columns, curve, ticks, time_ticks
from crawler.web.drawing.link_map import Circle, draw
from tests.table import each_row

HOSTILE = '"><script>alert(1)</script>&amp;\u202e'
VALUES = st.lists(st.none() | st.floats(0, 1e12), min_size=1, max_size=40)


@given(st.floats(0, 1e300))
def test_ticks_are_few_and_reach_the_value(value: float) -> None:
    found = ticks(value)
    assert 2 <= len(found) <= 6
    assert found[0] == 0
    assert found[-1] >= value * (1 - 1e-9)


@given(st.floats(0, 2e9), st.floats(1, 1e9))
def test_time_ticks_are_few_and_inside(first: float, seconds: float) -> None:
    found = time_ticks(first, first + seconds)
    assert len(found) <= 6
    assert all(first <= at <= first + seconds for at in found)


@given(st.lists(VALUES, min_size=1, max_size=8))
def test_charts_are_pictures_without_style(many: list[list[float | None]]) -> None:
    places = min(map(len, many))
    series = [Series(f"{HOSTILE}{n}", values[:places]) for n, values in enumerate(many)]
    chart = Chart(HOSTILE, [f"{HOSTILE}{n}" for n in range(places)], series, ticks=[(0.5, HOSTILE)])
    for drawn in (curve, columns):
        made = drawn(chart)
        assert made == drawn(chart)
        root = ElementTree.fromstring(made)
        assert {each.tag for each in root.iter()} <= {
            "svg",
            "g",
            "desc",
            "line",
            "text",
            "polyline",
            "polygon",
            "circle",
            "rect",
            "title",
        }
        assert not any(
            "style" in each.attrib or any(name.startswith("on") for name in each.attrib) for each in root.iter()
        )
        assert root.attrib["aria-label"] == HOSTILE


def test_columns_stand_one_above_the_other() -> None:
    chart = Chart("drops", ["a", "b"], [Series("list", [6, 0]), Series("short", [2, None])])
    found = [one for one in ElementTree.fromstring(columns(chart)).iter("rect") if "bar" in one.attrib["class"]]
    (low, high) = ([float(each.attrib[name]) for name in ("y", "height")] for each in found)
    assert [each[0].text for each in found] == ["a list 6", "a short 2"]
    assert high[0] + high[1] == pytest.approx(low[0])
    assert low[1] == pytest.approx(3 * high[1], abs=0.2)


def test_curve_has_a_gap_where_nothing_is_known() -> None:
    chart = Chart("rate", list("abcdef"), [Series("rate", [1, 2, None, 3, None, 4])])
    root = ElementTree.fromstring(curve(chart))
    dots = [one for one in root.iter("circle") if "mark" not in one.attrib["class"]]
    assert [len(list(root.iter(tag))) for tag in ("polyline", "polygon")] + [len(dots)] == [1, 1, 2]
    assert root.find("desc").text == "rate: 1 – 4, … 4"


@each_row("drawn", [curve, columns])
def test_each_place_tells_its_value_and_one_is_reached_by_tab(drawn: Callable[[Chart], str]) -> None:
    chart = Chart("rate", ["10:00", "10:05", "10:10"], [Series("rate", [1, None, 4])], key="rate")
    found = [one for one in ElementTree.fromstring(drawn(chart)).iter("g") if one.attrib["class"] == "place"]
    assert [one.attrib["aria-label"] for one in found] == ["10:00: 1", "10:05: –", "10:10: 4"]
    assert ["".join(one.itertext()).split(": ")[-1] for one in found] == ["1", "–", "4"]
    assert [one.attrib["tabindex"] for one in found] == ["-1", "-1", "0"]
    assert [one.attrib["id"] for one in found] == ["rate-0", "rate-1", "rate-2"]
    left = [float(one[0].attrib["x"]) for one in found]
    assert left == sorted(left)


@each_row(("value", "most", "wide"), [(5, 10, "50.00"), (None, 10, "0.00"), (1, 0, "0.00"), (20, 10, "100.00")])
def test_bar_is_a_share(value: float | None, most: float, wide: str) -> None:
    assert f'width="{wide}"' in bar(value, most)


def test_link_map_is_the_same_each_time_and_covers_nothing() -> None:
    circles = [
        Circle(f"site {n}.example" + HOSTILE * (n == 3), HOSTILE, 1 / (n + 1), f"/graph?site={n}") for n in range(14)
    ]
    links = {(a, b): a + b for a in range(14) for b in range(0, 14, 3) if a != b}
    made = draw("links", circles, links)
    root = ElementTree.fromstring(made)
    assert draw("links", circles, links) == made
    assert len(list(root.iter("path"))) == len(links)
    round_ = [tuple(float(each.attrib[name]) for name in ("cx", "cy", "r")) for each in root.iter("circle")]
    pairs = [(one, other) for n, one in enumerate(round_) for other in round_[:n]]
    assert all(math.dist(one[:2], other[:2]) > one[2] + other[2] for one, other in pairs)
    assert not list(root.iter("script"))


def test_link_map_of_nothing_is_empty() -> None:
    assert "<circle" not in draw("links", [], {})
