import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.evidence import (
    CONTAINS,
    DIFFERENT,
    EDITED,
    PART_OF,
    QUOTES,
    RELATED,
    REPEATING,
    SAME,
    TEMPLATE,
    mirrored,
)
from pipelines.dedup.lcs import WindowedText
from pipelines.dedup.lcs import compare as compare_texts
from pipelines.dedup.normalize import normalize
from pipelines.dedup.shape import CALIBRATED, Comparison
from pipelines.dedup.shingles import Sums
from tests.table import each_row

WEATHER = (
    "杭州市气象台{0}月{1}日发布天气预报：今天夜间到明天白天，多云转阴，东风{2}级，最高气温{3}摄氏度，最低气温{4}摄氏度。"
    "空气质量指数预计为{5}，相对湿度百分之{6}，日出时间{7}时{8}分。气象专家提醒，近期昼夜温差较大，市民出行请注意增减衣物。"
)
RATES = "来自外汇交易中心的数据显示，人民币对美元汇率中间价报{}，较前一交易日{}{}个基点，市场交投活跃，成交量有所放大。"
WIND = "海洋预报台提醒：本周{}午后沿海海面有{}风，阵风可达七级，天气{}，请在近海作业的渔船注意安全，及时回港避风。"
BOND = (
    "The company is issuing a {} mln dlr eurobond paying {} pct and priced at {}, the lead manager said on Monday. "
    "The bond is available in denominations of {} dlrs and will be listed in Luxembourg. The payment date is {} May."
)


def compare(one: str, other: str) -> Comparison:
    return compare_texts(WindowedText(Sums(normalize(one))), WindowedText(Sums(normalize(other))))


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
    assert compare("中国。", " 中國") == compare("A", "a") == Comparison(1.0, SAME, 1.0)


@each_row(("a", "b"), [("", ""), ("", "中国"), ("中国", "。")])
def test_empty_texts_are_different(a: str, b: str) -> None:
    assert (compare(a, b).similarity, compare(a, b).kind) == (0.0, DIFFERENT)


@each_row("text", [prose(800, 1), english(150, 1)])
def test_small_changes_are_edits(text: str) -> None:
    third = len(text) // 3
    for other in (text + prose(60, 9), text[third:] + text[:third], text[:third] + text[third + 90 :]):
        verdict = compare(text, other)
        assert verdict.kind == EDITED
        assert verdict.similarity > CALIBRATED


@each_row(("text", "share"), [(prose(800, 1), 0.1), (english(150, 1), 0.06)])
def test_scattered_errors_are_edits(text: str, share: float) -> None:
    verdict = compare(text, noisy(text, share, 2))
    assert verdict.kind == EDITED
    assert verdict.similarity > CALIBRATED


@each_row("size", [90, 800, 5000])
def test_parts_and_wholes(size: int) -> None:
    part = prose(size, 1)
    whole = prose(size, 2) + part + prose(size, 3)
    assert compare(part, whole).kind == PART_OF
    assert compare(whole, part).kind == CONTAINS
    assert compare(part, whole).similarity > 0.95
    assert compare(part, whole).resemblance == pytest.approx(1 / 3, abs=0.02)


@each_row(("a", "b"), [(prose(800, 1), prose(800, 2)), (english(150, 1), english(150, 2))])
def test_unrelated_texts_are_different(a: str, b: str) -> None:
    assert compare(a, b).kind == DIFFERENT
    assert compare(a, b).similarity < 0.4


@each_row("of", [prose, english])
def test_texts_that_share_a_passage_quote(of) -> None:
    passage = of(150, 1)
    verdict = compare(f"{of(300, 2)} {passage} {of(300, 3)}", f"{of(400, 4)} {passage} {of(100, 5)}")
    assert verdict.kind == QUOTES
    assert verdict.similarity < CALIBRATED / 2


def test_texts_that_share_scraps_do_not_quote() -> None:
    scraps = [prose(20, seed) for seed in range(6)]
    one = "".join(scrap + prose(60, 10 + number) for number, scrap in enumerate(scraps))
    other = "".join(scrap + prose(60, 20 + number) for number, scrap in enumerate(scraps))
    assert compare(one, other).kind == DIFFERENT


def test_runs_too_short_for_the_threshold_are_quotations() -> None:
    assert Comparison(0.7, EDITED).at(0.8) == Comparison(0.7, QUOTES)
    assert Comparison(0.7, PART_OF).at(0.7) == Comparison(0.7, PART_OF)
    assert Comparison(0.2, TEMPLATE).at(0.8) == Comparison(0.2, TEMPLATE)


@each_row(
    ("first", "second"),
    [
        (WEATHER.format(3, 4, 2, 17, 8, 60, 45, 6, 21), WEATHER.format(3, 5, 3, 21, 11, 85, 62, 6, 20)),
        (RATES.format("7.1024", "下调", 21), RATES.format("7.1350", "上调", 326)),
        (RATES.format("7.1024", "下跌", 21), RATES.format("7.1024", "上涨", 326)),
        (WIND.format("二", "东南", "晴"), WIND.format("四", "西北", "雨")),
        (BOND.format(100, "7-1/4", "101-1/8", "5,000", 3), BOND.format(150, "7-3/4", "100-1/2", "5,000", 21)),
    ],
)
def test_bulletins_of_another_day_are_a_template(first: str, second: str) -> None:
    assert compare(first, second).kind == TEMPLATE
    assert compare(first, first + "来源：晨报，责任编辑张三。").kind in REPEATING


def test_numbers_without_their_points_are_the_same_numbers() -> None:
    text = BOND.format(100, "7-1/4", "101-1/8", "5,000", 3)
    assert compare(text, text.replace(",", "").replace("-", "").replace("/", "")).kind == EDITED


def test_long_texts_with_errors_go_through_the_lcs_in_blocks() -> None:
    text = english(3_000, 1)
    verdict = compare(text, english(60, 4) + noisy(text, 0.07, 2))
    assert verdict.similarity > CALIBRATED


texts = st.text(alphabet="中国人民ab 12", max_size=120)


@given(texts, texts)
def test_range_kinds_and_the_view_from_the_other_side(a: str, b: str) -> None:
    one, other = compare(a, b), compare(b, a)
    assert 0.0 <= one.similarity <= 1.0
    assert 0.0 <= one.resemblance <= 1.0
    assert one.kind in REPEATING | RELATED | {DIFFERENT}
    assert (one.similarity, one.resemblance) == (other.similarity, other.resemblance)
    assert other.kind == mirrored(one.kind)


@given(texts)
def test_text_equals_itself(text: str) -> None:
    assert compare(text, text).similarity == (1.0 if normalize(text) else 0.0)


@each_row("unit", ["x", "1 ", "中", "12中", "x1", prose(1000, 7), english(200, 7)])
def test_huge_texts_cost_a_bounded_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    one, other = WindowedText(Sums(normalize(text))), WindowedText(Sums(normalize(noisy(text[:150_000], 0.1, 1))))
    started = time.process_time()
    verdict = compare_texts(one, other)
    assert time.process_time() - started < 2
    assert verdict.kind in REPEATING | RELATED | {DIFFERENT}
