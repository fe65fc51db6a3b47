import time
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup.normalize import MAX_CHARS, normalize
from tests.table import each_row

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)


@each_row(
    ("text", "expected"),
    [
        ("", ""),
        ("。，！ \n\t\u200b", ""),
        ("臺灣，１２ 月 ３ 日：繁體字", "台湾12月3日繁体字"),
        ("ＡＢＣ Don’t  stop—NOW", "abc dont stop now"),
        ("在 iPhone 15 Pro 上", "在iphone 15 pro上"),
        ("cafe\u0301 = café", "café café"),
        ("ﬁne ½ ℃", "fine 1 2 c"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("한국어 뉴스", "한국어 뉴스"),
        ("\u1112\u1161\u11ab", "한"),
        ("a\ud800b\udfff", "ab"),
        ("ab\x00\x07c", "abc"),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_traditional_and_simplified_agree() -> None:
    assert normalize("國務院總理發表談話，經濟發展穩定。") == normalize("国务院总理发表谈话,经济发展稳定.")


@given(anything)
def test_only_letters_marks_digits_and_single_inner_spaces_remain(text: str) -> None:
    result = normalize(text)
    rare = "\U00020000"  # ideographs that this Python does not know yet are letters all the same
    assert all(letter == " " or letter >= rare or unicodedata.category(letter)[0] in "LNM" for letter in result)
    assert "  " not in result
    assert result == result.strip(" ")


@given(st.text(alphabet="中国臺灣abcÀ１2 ，.\n'", max_size=80))
def test_normal_text_stays(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@given(anything)
def test_punctuation_between_words_is_one_boundary(text: str) -> None:
    assert normalize(text.replace(" ", " — ")) == normalize(text)


@each_row("unit", ["x", "中", "e\u0301\u0316", "½", "ﷺ", "\ud800", "\u0315\u0301", "\u1161", "中a "])
def test_long_hostile_text_costs_a_bounded_time(unit: str) -> None:
    started = time.process_time()
    assert len(normalize(unit * (5_000_000 // len(unit)))) <= MAX_CHARS
    assert time.process_time() - started < 4
