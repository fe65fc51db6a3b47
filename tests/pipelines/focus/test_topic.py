from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.focus.terms import read_text
from pipelines.focus.topic import make_topic

BRIDGES = read_text("A bridge of steel crosses the river; the bridge is long, and another bridge is being built.")
COOKING = read_text("Onions and garlic are fried in butter before the rice is added.")


def test_page_with_the_words_is_relevant() -> None:
    found = make_topic("bridges over rivers")
    assert found.relevance(BRIDGES) > 0.5 > found.relevance(COOKING) == 0


def test_examples_and_profiles_count_too() -> None:
    liked = make_topic(examples=[BRIDGES])
    assert liked.relevance(BRIDGES) == pytest.approx(1)
    assert liked.relevance(COOKING) < 0.2
    assert make_topic(profile={"garlic": 1.0, "rice": 0.5}).relevance(COOKING) > 0.3


def test_anchors() -> None:
    page = read_text(
        "x", [("Suspension bridges", "http://a.test/"), ("Garlic", "http://a.test/g"), ("", "http://a.test/")]
    )
    first, second, third = make_topic("bridge").anchors(page)
    assert first > 0.9
    assert second == third == 0


def test_chinese() -> None:
    found = make_topic("桥梁工程")
    assert (
        found.relevance(read_text("这座桥梁的工程明年完成。")) > found.relevance(read_text("菜市场的价格上涨了。")) == 0
    )


@pytest.mark.parametrize("description", ["", "the of and", "2024 !!", "的 了 是"])
def test_topic_without_a_word_is_refused(description: str) -> None:
    with pytest.raises(ValueError, match="no word to look for"):
        make_topic(description)


def test_another_script_matches_nothing() -> None:
    assert make_topic("мосты").relevance(BRIDGES) == 0


@given(st.text(max_size=200), st.text(max_size=200))
def test_relevance_is_a_share(description: str, text: str) -> None:
    page = read_text(text)
    try:
        found = make_topic(f"bridge {description}", [page], {"river": 2.0})
    except ValueError:
        return
    assert 0 <= found.relevance(page) <= 1
