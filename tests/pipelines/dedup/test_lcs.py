import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.dedup.lcs import CALIBRATED, CONTAINS, DIFFERENT, EDITED, KINDS, PART_OF, SAME, VerifyParams, compare
from pipelines.dedup.normalize import normalize

WEATHER = (
    "杭州市气象台{0}月{1}日发布天气预报：今天夜间到明天白天，多云转阴，东风{2}级，最高气温{3}摄氏度，最低气温{4}摄氏度。"
    "空气质量指数预计为{5}，相对湿度百分之{6}，日出时间{7}时{8}分。气象专家提醒，近期昼夜温差较大，市民出行请注意增减衣物。"
)


def prose(size: int, seed: int) -> str:
    choose = random.Random(seed)
    return "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(size))


def english(words: int, seed: int) -> str:
    choose = random.Random(seed)
    return " ".join("".join(choose.choices("etaoinshrdlu", k=choose.randint(2, 9))) for _ in range(words))


def noisy(text: str, share: float, seed: int) -> str:
    choose = random.Random(seed)
    return "".join("错" if choose.random() < share else character for character in text)


def test_equal_texts_are_the_same() -> None:
    assert compare("中国", "中国") == compare("a", "a")
    assert compare("中国", "中国").kind == SAME
    assert compare("中国", "中国").similarity == 1.0


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "中国"), ("中国", "")])
def test_empty_texts_are_different(a: str, b: str) -> None:
    assert (compare(a, b).similarity, compare(a, b).kind) == (0.0, DIFFERENT)


@pytest.mark.parametrize("text", [prose(800, 1), english(150, 1)])
def test_small_changes_are_edits(text: str) -> None:
    third = len(text) // 3
    for other in (text + prose(60, 9), text[third:] + text[:third], text[:third] + text[third + 90 :]):
        verdict = compare(text, other)
        assert verdict.kind == EDITED
        assert verdict.similarity > CALIBRATED


def test_scattered_errors_are_edits() -> None:
    text = prose(800, 1)
    verdict = compare(text, noisy(text, 0.08, 2))
    assert verdict.kind == EDITED
    assert verdict.similarity > CALIBRATED


@pytest.mark.parametrize("size", [90, 800, 5000])
def test_parts_and_wholes(size: int) -> None:
    part = prose(size, 1)
    whole = prose(size, 2) + part + prose(size, 3)
    assert compare(part, whole).kind == PART_OF
    assert compare(whole, part).kind == CONTAINS
    assert compare(part, whole).similarity > 0.95


@pytest.mark.parametrize(("a", "b"), [(prose(800, 1), prose(800, 2)), (english(150, 1), english(150, 2))])
def test_unrelated_texts_are_different(a: str, b: str) -> None:
    assert compare(a, b).kind == DIFFERENT
    assert compare(a, b).similarity < 0.4


def test_bulletins_with_other_numbers_are_different() -> None:
    first = normalize(WEATHER.format(3, 4, 2, 17, 8, 60, 45, 6, 21))
    second = normalize(WEATHER.format(3, 5, 3, 21, 11, 85, 62, 6, 20))
    assert compare(first, second).kind == DIFFERENT
    assert compare(first, first + normalize("来源：晨报，责任编辑张三。")).kind == EDITED


def test_decimals_do_not_hide_a_conflict() -> None:
    text = "中国外汇交易中心公布，人民币对美元汇率中间价报{}，较前一交易日下调{}个基点，市场交投活跃，成交量有所放大。"
    first, second = normalize(text.format("7.1024", 21)), normalize(text.format("7.1350", 326))
    assert compare(first, second).kind == DIFFERENT


def test_long_texts_with_errors_go_through_the_lcs_in_blocks() -> None:
    text = prose(20_000, 1)
    other = prose(300, 4) + noisy(text, 0.1, 2)
    assert compare(text, other).similarity > CALIBRATED


texts = st.text(alphabet="中国人民ab 12", max_size=120)


@given(texts, texts)
@settings(deadline=None, max_examples=200)
def test_range_kinds_and_the_view_from_the_other_side(a: str, b: str) -> None:
    a, b = normalize(a), normalize(b)
    one, other = compare(a, b), compare(b, a)
    assert 0.0 <= one.similarity <= 1.0
    assert one.kind in KINDS
    assert one.similarity == other.similarity
    assert other.kind == {PART_OF: CONTAINS, CONTAINS: PART_OF}.get(one.kind, one.kind)


@given(texts)
@settings(deadline=None, max_examples=50)
def test_a_text_equals_itself(text: str) -> None:
    text = normalize(text)
    assert compare(text, text).similarity == (1.0 if text else 0.0)


@pytest.mark.parametrize("unit", ["x", "1 ", "中", "12中", prose(1000, 7)])
def test_huge_texts_cost_a_bounded_time(unit: str) -> None:
    text = normalize(unit * (1_000_000 // len(unit)))
    other = noisy(text[:300_000], 0.1, 1)
    started = time.process_time()
    verdict = compare(text, other, VerifyParams(lcs_ratio=0.0))
    assert time.process_time() - started < 1.0
    assert verdict.kind in KINDS
