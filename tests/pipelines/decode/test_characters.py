"""Counting characters of many pieces at once agrees with counting them one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.decode.characters import MARKS, count

HAN = (
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
    ("\uf900", "\ufaff"),
)


@given(st.lists(st.text(max_size=40), max_size=12))
def test_agrees_with_counting_one_by_one(pieces: list[str]) -> None:
    census = count(pieces)
    assert census.visible.tolist() == [sum(not sign.isspace() for sign in piece) for piece in pieces]
    assert census.marks.tolist() == [sum(sign in MARKS for sign in piece) for piece in pieces]
    assert census.han.tolist() == [
        sum(any(first <= sign <= last for first, last in HAN) for sign in piece) for piece in pieces
    ]


def test_classes_of_signs() -> None:
    census = count(["a b", "，。!", "３2x", "AbÉ", "国家 KPD", "😀\ud800"])
    assert census.visible.tolist() == [2, 3, 3, 3, 5, 2]
    assert census.marks.tolist() == [0, 3, 0, 0, 0, 0]
    assert census.stops.tolist() == [0, 2, 0, 0, 0, 0]
    assert census.digits.tolist() == [0, 0, 2, 0, 0, 0]
    assert census.capitals.tolist() == [0, 0, 0, 2, 3, 0]
    assert census.han.tolist() == [0, 0, 0, 0, 2, 0]
    assert census.invisible  # the lone surrogate


def test_nothing() -> None:
    census = count([])
    assert census.visible.tolist() == []
    assert not census.invisible
