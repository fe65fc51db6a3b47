"""What every method promises, and what the two that go by keywords are good for."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from db.records.evidence import CONTAINS, DIFFERENT, EDITED, PART_OF, SAME
from pipelines.dedup import METHODS, THRESHOLD, Method, method
from pipelines.dedup.stream import Finder
from pipelines.dedup.words import cache_pages, hash_words, make_readable
from tests.table import each_row

KEYWORD_METHODS = ("feature-string", "keywords")

BRIDGE = (
    "河口大桥昨天正式通车，全长三公里的大桥连接南北两岸。市长在通车仪式上表示，大桥将缓解港口的交通压力。\n"
    "大桥工程历时四年，港口货运公司认为，大桥通车以后，货车到港口的路程缩短一半。\n"
    "附近的渔民却担心，大桥的桥墩改变水流，影响渔业。交通部门回应说，工程经过环境评估，水流变化很小。"
)
HARVEST = (
    "今年小麦丰收，农民忙着收割小麦。农业部门预计，小麦产量比去年增长一成。\n"
    "粮食收购价格保持稳定，收购企业准备了充足的资金。农民说，小麦品种改良以后，抗旱能力明显提高。\n"
    "专家提醒，小麦收割期间要防范暴雨，粮食入库以前必须晒干。"
)
STRIKE = (
    "The rail strike entered its second week as unions rejected the last offer. Unions say the offer ignores safety.\n"
    "Rail managers called the strike reckless and promised another offer on wages. Commuters queued for buses.\n"
    "Ministers urged unions to call off the strike before the safety review of rail signals is finished."
)


def compared(chosen: Method, new: tuple[str, str], stored: tuple[str, str]) -> tuple[float, str]:
    verdict = chosen.compare(chosen.prepare(*new), chosen.prepare(*stored))
    mirrored = chosen.compare(chosen.prepare(*stored), chosen.prepare(*new))
    assert mirrored.similarity == verdict.similarity
    assert {PART_OF: CONTAINS, CONTAINS: PART_OF}.get(mirrored.kind, mirrored.kind) == verdict.kind
    return verdict.similarity, verdict.kind


@pytest.fixture(params=sorted(METHODS))
def chosen(request: pytest.FixtureRequest) -> Method:
    return method(request.param)


def test_signatures_are_well_formed(chosen: Method) -> None:
    for title, text in (("大桥通车", BRIDGE), ("", STRIKE), ("", HARVEST * 50)):
        signature = chosen.sign(title, text)
        features = np.frombuffer(signature.features, "<u4")
        assert 0 < features.size <= 128
        assert (features[1:] > features[:-1]).all()
        assert signature.length > 0
        assert signature == chosen.sign(title, text)


def test_all_methods_share_the_exact_hash(chosen: Method) -> None:
    assert chosen.sign("a", "國務院，發表談話。").exact == method().sign("b", " 国务院发表谈话 ").exact != 0


@pytest.mark.parametrize("text", ["", " 。\n", "\ufe0f"])
def test_nothing_to_compare(chosen: Method, text: str) -> None:
    assert chosen.sign("标题", text).exact == 0
    assert chosen.sign("标题", text).features == b""
    assert compared(chosen, ("t", text), ("t", BRIDGE)) == (0.0, DIFFERENT)
    assert compared(chosen, ("t", text), ("t", text)) == (0.0, DIFFERENT)


@pytest.mark.parametrize("text", [BRIDGE, HARVEST, STRIKE])
def test_same_text_in_another_dress(chosen: Method, text: str) -> None:
    assert compared(chosen, ("one", text), ("other", text.replace("。", " ！").upper())) == (1.0, SAME)


def test_light_edit_is_a_duplicate_and_another_story_is_none(chosen: Method) -> None:
    for text, more in ((BRIDGE, "（责任编辑：李明）"), (STRIKE, " All rights reserved.")):
        similarity, kind = compared(chosen, ("", text), ("", text + more))
        assert similarity >= THRESHOLD
        assert kind == EDITED
    for one, other in ((BRIDGE, HARVEST), (BRIDGE, STRIKE), (HARVEST, STRIKE)):
        assert compared(chosen, ("", one), ("", other))[1] == DIFFERENT


@pytest.mark.parametrize("unit", ["x", "中", "1 ", "½", "\ud800", "中a1 ", "\u0301", "x " + BRIDGE, STRIKE])
def test_hostile_texts_cost_a_bounded_time(chosen: Method, unit: str) -> None:
    chosen.sign(BRIDGE, BRIDGE)  # tables and dictionaries
    text = unit * (400_000 // len(unit))
    started = time.process_time()
    signature = chosen.sign(text, text)
    verdict = chosen.compare(chosen.prepare(text, text), chosen.prepare(text, text[: len(text) // 2]))
    assert time.process_time() - started < 8
    assert len(signature.features) <= 4 * 128
    assert 0.0 <= verdict.similarity <= 1.0


@each_row("name", KEYWORD_METHODS)
def test_copy_is_found_through_its_keywords(name: str) -> None:
    texts = [BRIDGE, HARVEST, STRIKE]
    finder = Finder(method(name), THRESHOLD, [])
    for key, text in enumerate(texts):
        assert finder.add(key, "", text) == []
    for key, text in enumerate(texts):
        found = finder.add(10 + key, "", f"{text} （来源：晨报）")
        assert [pair.earlier for pair in found] == [key]
    assert finder.compared == len(texts)


def test_keywords_that_agree_are_a_duplicate_whatever_the_order() -> None:
    """What the cosine sees, and a comparison of texts does not."""
    lines = BRIDGE.splitlines()
    turned = "\n".join(reversed(lines))
    params = {"lead": 1}
    assert compared(method("keywords", params), ("", BRIDGE), ("", turned))[0] > 0.95
    assert compared(method("feature-string"), ("", BRIDGE), ("", turned))[0] < THRESHOLD


def test_paper_s_cosine_is_the_threshold() -> None:
    """3-4-5: the vectors (4, 3, 0) and (4, 0, 3) have a cosine of 0.64, (4, 3) and (5, 0) one of 0.8."""
    harbour, wheat, rail = "harbour ", "wheat ", "railway "
    plain = {"lead": 1}
    apart = ("", harbour * 4 + wheat * 3), ("", harbour * 4 + rail * 3)
    assert compared(method("keywords", plain), *apart)[0] == pytest.approx(0.64)
    exactly = ("", harbour * 4 + wheat * 3), ("", harbour * 5)
    assert compared(method("keywords", plain), *exactly)[0] == pytest.approx(THRESHOLD)
    assert compared(method("keywords", plain | {"cosine": 0.6}), *apart)[0] > THRESHOLD


def test_words_of_the_title_and_the_lead_weigh_more() -> None:
    text = "Harbour opened. " + "Filler sentences. " * 3

    def keyword(headline: str, **params: int) -> bytes:
        return method("keywords", {"keywords": 1, "lead_chars": 15, **params}).sign(headline, text).features

    assert keyword("Railway") == hash_words(["filler"])  # 3 to 3 for the title, and the first by name
    assert keyword("Railway", title=4) == hash_words(["railway"])
    assert keyword("", lead=2) == hash_words(["filler"])
    assert keyword("", lead=4) == hash_words(["harbour"])


def test_feature_string_is_what_stands_around_the_keywords() -> None:
    params = {"most_share": 1.0, "word_around": 3}
    english = method("feature-string", params).prepare("", "abc harbour def harbour")
    assert (english.keywords, english.content) == (("harbour",), "bc " + " de" + "ef ")
    chinese = method("feature-string", params).prepare("", "河口大桥通车，大桥很长")
    assert (chinese.keywords, chinese.content) == (("大桥",), "河口" + "通车" + "车 " + "很长")


def test_feature_strings_are_compared_over_the_longer() -> None:
    chosen = method("feature-string", {"most_share": 1.0, "word_around": 3, "share": 0.5})
    texts = ("", "abc harbour def harbour"), ("", "abc harbour dxx harbour xyz")
    strings = [chosen.prepare(*text).content for text in texts]
    assert strings == ["bc  deef ", "bc  dxxx  xy"]
    common = len("bc  d ") / len(strings[1])
    assert compared(chosen, *texts)[0] == pytest.approx(THRESHOLD * common / 0.5)


def test_extreme_counts_make_no_keywords() -> None:
    text = "harbour " * 50 + "wheat wheat wheat railway " + "other words stand here once apiece only "
    names = method("feature-string", {"most_share": 0.5, "by": "frequency"}).sign("", text).features
    assert names == hash_words(["wheat"])


def test_feature_string_around_the_keywords_of_naive_bayes() -> None:
    """S22: the bridge, in the first place and rare elsewhere; 有人 is more frequent. Two characters on either side.

    In the second text "pier work begins" is likelier than the pier alone, but stands there once.
    """
    text = "河口大桥通车。有人说，河口大桥很长，有人看，有人走。"
    for by, keyword, string in (
        ("bayes", "河口大桥", "通车" + "说 " + "很长"),
        ("frequency", "有人", "车 " + "说 " + "长 " + "看 " + "看 " + "走 "),
    ):
        found = method("feature-string", {"by": by, "keywords": 1, "most_share": 1.0}).prepare("", text)
        assert (found.keywords, found.content) == ((keyword,), string)
    pier = method("feature-string", {"keywords": 1, "most_share": 1.0}).prepare("", "桥墩开工。工人看桥墩，工人走。")
    assert (pier.keywords, pier.content) == (("桥墩",), "开工" + "人看" + " 工")


def test_feature_strings_by_bayes_share_by_hand() -> None:
    """通车说 很长 and 开工说 很长: of six characters four are common, in their order."""
    params = {"keywords": 1, "most_share": 1.0, "share": 2 / 3}
    text = "河口大桥通车。有人说，河口大桥很长，有人看，有人走。"
    assert compared(method("feature-string", params), ("", text), ("", text.replace("通车", "开工")))[
        0
    ] == pytest.approx(THRESHOLD)


def test_signatures_say_how_keywords_were_chosen() -> None:
    forms = {by: method("feature-string", {"by": by}).form for by in ("bayes", "frequency")}
    assert "bayes" in forms["bayes"]
    assert forms["frequency"].startswith("feature-string 10 2 0.2, Unicode")


@each_row("name", KEYWORD_METHODS)
def test_part_and_whole_are_told_by_length(name: str) -> None:
    short = BRIDGE.splitlines()[0] + BRIDGE.splitlines()[1]
    loose = {"cosine": 0.3} if name == "keywords" else {"share": 0.1}
    assert compared(method(name, loose), ("", short), ("", BRIDGE))[1] == PART_OF
    assert compared(method(name, loose), ("", BRIDGE), ("", short))[1] == CONTAINS


@each_row("name", KEYWORD_METHODS)
def test_parameters_are_checked_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"no parameter 'shingles'; known: .*keywords, "):
        method(name, {"shingles": 3})


def test_readable_keeps_what_separates_words() -> None:
    assert make_readable("The RAIL-strike, 2024!") == "the rail strike  2024 "
    assert make_readable("國務院，發表\ud800談話") == "国务院 发表谈话"


def test_features_are_the_same_in_every_process() -> None:
    assert hash_words(["大桥", "harbour", "大桥"]).hex() == "9e40df4b5a2a5d7b"
    assert hash_words([]) == b""


def test_page_is_made_once_and_few_are_kept() -> None:
    made: list[tuple[str, str]] = []

    def make(title: str, text: str) -> Sequence[str]:
        made.append((title, text))
        return [title, text]

    page = cache_pages(make)
    for _ in range(3):
        assert page("a", "b") == ["a", "b"]
    assert page("", "ab") == ["", "ab"]
    assert page("ab", "") == ["ab", ""]
    assert made == [("a", "b"), ("", "ab"), ("ab", "")]
    draw = random.Random(1)
    for number in range(17_000):
        page(str(number), str(draw.random()))
    made.clear()
    page("16999", "x")
    page("a", "b")
    assert made == [("16999", "x"), ("a", "b")]
