"""Describing articles: keywords, summary, classes and harm, each alone and all together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.describe import DEFAULT, MAX_CHARS, MOST_KEYWORDS, SHIPPED, DescribeOptions, Describer, check
from pipelines.records import Description
from tests.table import each_row

TITLE = "主队加时险胜 球迷雨中高歌"
TEXT = (
    "昨晚的篮球联赛决赛中，主队在加时赛以一百零二比九十九险胜客队，夺得总冠军。\n"
    "主教练赛后表示，球员在第四节的防守决定了比赛，后卫全场得到三十五分。\n"
    "一万两千名球迷冒雨在场外观看了大屏幕直播，比赛结束后高歌到深夜。\n"
)
SPAM = "澳门威尼斯人官网开户送彩金，百家乐老虎机真人娱乐城，注册即送88元，提款秒到账。加微信领取红包，时时彩稳赚不赔。"
NOTHING = DescribeOptions(keywords="", classes="", judges_harm=False)


def test_article_gets_keywords_summary_classes_and_verdict() -> None:
    found = Describer.of().describe(TITLE, TEXT, "zh-Hans")
    assert 0 < len(found.keywords) <= MOST_KEYWORDS
    assert all(word in f"{TITLE}\n{TEXT}" for word in found.keywords)
    assert found.summary
    assert set(found.summary) <= set(TEXT)
    assert found.classes == ("sport",)
    ((name, membership),) = found.memberships
    assert (name, 0.5 < membership <= 1) == ("sport", True)
    assert found.harm is not None
    assert (found.harm_kind, found.harm_reasons) == ("", "")


NORWEGIAN = (
    "Rosenborg slo Brann 2-1 i seriefinalen på Lerkendal søndag kveld, og treneren roste keeperen etter kampen.\n"
    "Spissen scoret begge målene for hjemmelaget, som dermed leder tabellen med fire poeng før høstens siste runder.\n"
)
NOTICE = "因管网改造，后天上午九点至下午四点，青石路沿线将暂停供水，请居民提前储水。恢复供水时间另行通知。"


@each_row("language", ["", "no", "en"])
@each_row("text", [NORWEGIAN, NOTICE, "Sport sport sport"])
def test_text_of_no_class_or_in_a_language_without_a_model_gets_none(text: str, language: str) -> None:
    found = Describer.of(replace(NOTHING, classes=SHIPPED)).describe("", text, language)
    assert (found.classes, found.memberships) == ((), ())


def test_classes_go_by_the_language_of_the_text_not_by_the_declared_one() -> None:
    assert Describer.of().describe(TITLE, TEXT, "no").classes == ("sport",)


def test_harmful_page_gets_kind_and_reasons() -> None:
    found = Describer.of(replace(NOTHING, judges_harm=True)).describe("百家乐官网开户", SPAM * 3)
    assert found.harm_kind == "gambling"
    assert found.harm is not None
    assert found.harm >= 0.5
    assert "text: " in found.harm_reasons
    silent = Describer.of(replace(NOTHING, judges_harm=True, gives_reasons=False)).describe("百家乐官网开户", SPAM * 3)
    assert (silent.harm, silent.harm_kind, silent.harm_reasons) == (found.harm, found.harm_kind, "")


@each_row("text", ["", "大桥", "1234 " * 30, "x" * 50_000])
def test_odd_texts_are_described_like_any(text: str) -> None:
    found = Describer.of().describe("", text)
    assert len(found.summary) <= len(text)
    assert found.harm_kind == ""


def test_long_texts_are_described_by_their_beginning_and_judged_further() -> None:
    long = TEXT * (MAX_CHARS // len(TEXT) + 1)
    described = [Describer.of().describe(TITLE, text) for text in (long, f"{long}\n{SPAM}")]
    plain, spammed = (replace(one, harm=None, harm_kind="", harm_reasons="") for one in described)
    assert plain == spammed
    assert described[0].harm != described[1].harm


def test_nothing_is_described_that_nobody_asked_for() -> None:
    found = Describer.of(NOTHING).describe(TITLE, TEXT)
    assert replace(found, described_with="") == Description()
    assert found.described_with


def test_version_is_that_of_all_that_describes(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    others = ({"keywords": "tfidf"}, {"classes": ""}, {"judges_harm": False}, {"words": str(words)})
    words.write_text("风起青萍记", "utf-8")
    versions = [replace(DEFAULT, **values).version() for values in ({}, *others, {"keyword_params": {"a": 1}})]
    versions.append(replace(DEFAULT, models=(str(words),)).version())
    words.write_text("青萍末", "utf-8")
    versions.append(replace(DEFAULT, words=str(words)).version())
    assert len(set(versions)) == len(versions)
    assert replace(DEFAULT, words=str(words)).version() == versions[-1]
    assert DEFAULT.version() == versions[0]


def test_words_of_the_user_are_not_cut(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("# 书名\n风起青萍记 5\n", "utf-8")
    text = "《风起青萍记》昨天首发。作者说风起青萍记写了九年。读者为风起青萍记排起长队。"
    found = Describer.of(DescribeOptions("tfidf", classes="", judges_harm=False, words=str(words))).describe("", text)
    assert found.keywords[0] == "风起青萍记"


@each_row(
    ("changes", "message"),
    [
        ({"keywords": "magic"}, "unknown keyword method 'magic'; known: "),
        ({"keyword_params": {"luck": 1}}, "no parameter 'luck'"),
        ({"classes": "/nowhere.json"}, "/nowhere.json cannot be read"),
        ({"words": "/nowhere.txt"}, "the dictionary /nowhere.txt cannot be read"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(replace(NOTHING, **{"keywords": "combined"} | changes))


def test_dictionary_with_a_wrong_line_is_refused(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("大桥\nbridge\n", "utf-8")
    with pytest.raises(ValueError, match="line 2: word 'bridge'"):
        check(replace(NOTHING, words=str(words)))


def test_keywords_are_not_parts_of_each_other() -> None:
    story = (
        "The new bridge across the harbour opened on Tuesday. The harbour bridge cost 300 million pounds. The new "
        "harbour bridge had been tested with loaded lorries, the harbour authority said."
    )
    terms = [f" {term.lower()} " for term in Describer.of().describe("Harbour bridge opens", story, "en").keywords]
    assert len(terms) > 4
    assert [(one, other) for one in terms for other in terms if one != other and one in other] == []
