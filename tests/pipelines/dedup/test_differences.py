"""Differences between two texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup.differences import compare_sentences, mark_changes, share_sentences
from tests.table import each_row

TEXTS = st.text(alphabet="甲乙丙ab 。.\n", max_size=60)


@each_row(
    ("before", "after", "marked"),
    [("Rain fell. Roads shut.", "Rain fell. All roads shut.", ["=Rain fell. ", "-Roads", "+All roads", "= shut."]),
     ("市长今天宣布新桥开通。", "市长昨天宣布新桥开通。", ["=市长", "-今", "+昨", "=天宣布新桥开通。"]),
     ("雨停了。", "股市大跌，三家公司停牌。", ["-雨停了。", "+股市大跌，三家公司停牌。"]),
     ("a", "a", ["=a"]), ("", "a", ["+a"]), ("a", "", ["-a"]), ("", "", [])],
)  # fmt: skip
def test_changes_are_marked_in_their_place(before: str, after: str, marked: list[str]) -> None:
    assert [sign + text for sign, text in mark_changes(before, after)] == marked


@given(TEXTS, TEXTS)
def test_changes_hold_both_texts(before: str, after: str) -> None:
    changes = mark_changes(before, after)
    assert "".join(text for sign, text in changes if sign != "-") == after
    assert "".join(text for sign, text in changes if sign != "+") == before
    assert all(one.sign != other.sign for one, other in pairwise(changes))


def test_long_texts_take_no_time() -> None:
    before, after = "甲乙。" * 20_000, "丙丁" * 30_000
    assert [sign for sign, _ in mark_changes(before, after)] == ["-", "+"]


def test_sentences_are_compared_whatever_their_formatting() -> None:
    assert compare_sentences("雨停了。路开了。", "路开了！\n风来了。") == (["风来了。"], ["雨停了。"])


@each_row(
    ("one", "other", "shared"),
    [("雨停了，路开了。市长说新桥下月通车。", "市长说新桥下月通车！学校明天照常上课。", True),
     ("雨停了，路开了。市长说新桥下月通车。", "市长说旧校舍要拆。居民说新桥下月通车太晚。", False),
     ("All roads were closed. Rain fell on the hills.", "Rain fell on teh hills. Nobody came.", True),
     ("The mayor said that roads were closed. Rain fell.", "A farmer knew that roads were closed. Snow fell.", False),
     ("One sentence alone", "Another one. And one more.", True)],
)  # fmt: skip
def test_share_sentences(one: str, other: str, *, shared: bool) -> None:
    assert share_sentences(one, other, 0.4) is share_sentences(other, one, 0.4) is shared
