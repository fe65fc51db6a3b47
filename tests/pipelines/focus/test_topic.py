from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.focus.focus import Focus
from pipelines.focus.terms import PageTerms, read_text
from pipelines.focus.topic import Topic, make_topic, named_classes
from tests.table import each_row

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


@each_row("description", ["", "the of and", "2024 !!", "的 了 是"])
def test_topic_without_a_word_is_refused(description: str) -> None:
    with pytest.raises(ValueError, match="no word to look for"):
        make_topic(description)


@each_row(
    ("description", "classes"),
    [
        ("class:体育、财经", ("体育", "财经")),
        ("Class：sport，sport", ("sport",)),
        ("class:", ("",)),
        ("first class: sport", None),
    ],
)
def test_classes_are_named_in_place_of_words(description: str, classes: tuple[str, ...] | None) -> None:
    if classes is None:
        with pytest.raises(ValueError, match="has words and classes; give either"):
            named_classes(description)
    else:
        assert named_classes(description) == classes


def test_traditional_and_simplified_characters_meet() -> None:
    simplified, traditional = read_text("图书馆的学生都在学校读书。"), read_text("圖書館的學生都在學校讀書。")
    for words in ("学校 学生", "學校 學生"):
        found = make_topic(words)
        assert found.relevance(simplified) == found.relevance(traditional) > 0.3


def test_relevance_means_the_same_of_one_word_and_of_ten() -> None:
    many = make_topic("bridge river steel ferry harbour canal tunnel viaduct arch pier")
    for topic in (make_topic("bridge"), many):
        assert topic.relevance(BRIDGES) > 0.5
        passing = read_text("Onions and garlic. " * 20 + "And a bridge in passing.")
        assert 0 < topic.relevance(passing) < min(0.6, topic.relevance(BRIDGES))
        assert topic.anchors(read_text("x", [("The bridge opens", "http://a.test/")]))[0] > 0.3


def taught(topic: Topic, pages: list[PageTerms]) -> Topic:
    focus = Focus(topic)
    for number, page in enumerate(pages):
        focus.add(number, page, np.zeros(0, np.int32))
    focus.signals(len(pages))
    assert [topic.relevance(page) for page in pages] != focus.relevance()[1].tolist()
    found = Topic(topic.wanted, topic.liked, focus.feedback)
    assert focus.relevance()[1] == pytest.approx([found.relevance(page) for page in pages], abs=1e-3)
    return found


def test_words_that_go_together_with_the_topic_come_to_count() -> None:
    named = [
        f"A bridge over the river: span {n}, cables, piers and steel" for n in ("one", "two", "three", "four", "five")
    ]
    others = [f"{dish} with rice, garlic, onion and butter for dinner" for dish in ("Soup", "Fish", "Beans", "Eggs")]
    topic = make_topic("bridge")
    unnamed = read_text("Steel cables hang between the piers of the span")
    assert topic.relevance(unnamed) == 0
    found = taught(topic, [read_text(text) for text in (*named, *others * 5)])
    assert found.relevance(unnamed) > 0.1 > 3 * found.relevance(read_text("Rice with butter and garlic"))


def test_pages_without_the_topic_teach_nothing() -> None:
    focus = Focus(make_topic("quarks"))
    for number in range(20):
        focus.add(number, COOKING, np.zeros(0, np.int32))
    focus.signals(20)
    assert focus.feedback is None
    assert not focus.relevance()[1].any()


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
