"""What counts as another version of an article, and how it is shown."""

from __future__ import annotations

import time

import pytest

from pipelines.articles.changes import describe_difference, differs
from tests.table import each_row

BODY = "市图书馆新馆昨天开放，首日迎来三千多名读者。\n馆长张三说，新馆藏书八十万册，全年无休。"
STORED = ("新馆开放", BODY)


@each_row(
    ("before", "after"),
    [
        ("", "\n阅读 1203 次"),
        ("\n阅读量：1,203", "\n阅读量：1.3万"),
        ("\n12 comments 45 likes", "\n13 comments 45 likes"),
        ("\n今天是2026年3月5日 星期四 08:15:03", "\n今天是2026年3月6日 星期五 11:42:59"),
        ("\n更新于 3分钟前", "\n更新于 2小时前"),
        ("\nUpdated 5 minutes ago", "\nUpdated 3 hours ago"),
        ("\n页面生成时间：2026-03-05 08:15:03", "\n页面生成时间：2026-03-05 09:00:00"),
        ("\n我市新增三条地铁线路", "\n全国游泳锦标赛落幕\n春季招聘会周末举行"),
        ("", "  \n\n"),
        ("\n【推荐阅读】游泳锦标赛落幕，主队夺冠。", "\n【推荐阅读】招聘会周末举行，三百家企业参加。"),
        ("\n今年共有35人参加ABC活动，花费1,200元。", "\n今年共有３５人参加ＡＢＣ活动，花费1200元。"),
        ("\n施工期为2020—2021年。", "\n施工期为2020-2021年。"),
        ("\nBeyonc\u00e9 came.", "\nBeyonce\u0301 came."),
    ],
)
def test_noise_is_no_version(before: str, after: str) -> None:
    assert not differs(("新馆开放", BODY + before), ("新馆开放", BODY + after))
    assert not differs(("新馆开放", BODY + after), ("新馆开放", BODY + before))


@each_row(
    ("old", "new"),
    [
        ("三千多名", "五千多名"),
        ("八十万册", "80万册"),
        ("昨天开放", "3月5日开放"),
        ("全年无休。", "全年无休。\n更正：周一闭馆。"),
        ("全年无休。", ""),
        ("馆长张三说", "馆长李四说"),
    ],
)
def test_another_statement_is_a_version(old: str, new: str) -> None:
    assert old in BODY
    assert differs(STORED, ("新馆开放", BODY.replace(old, new)))
    assert differs(("新馆开放", BODY.replace(old, new)), STORED)


def test_beginning_of_what_was_there_is_no_version() -> None:
    lines = [f"第{n}段说的是另一件事，并且有自己的数字{n * 37}和自己的名字，说得很详细。" for n in range(12)]
    whole = ("题", "\n".join(lines))
    for wall in ("", "\n登录后阅读全文", "\n本文为会员专享，开通会员后可继续阅读全文。", f"\n{lines[3][:20]}……"):
        assert not differs(whole, ("题", "\n".join(lines[:3]) + wall))
    assert differs(("题", "\n".join(lines[:3])), whole)  # it grew
    assert differs(whole, ("题", "\n".join(lines[:9])))  # somebody shortened it
    assert differs(whole, ("题", "\n".join(lines[:3]) + "\n更正：以上内容有误。" * 12))
    assert differs(whole, ("题", lines[5]))


@each_row("titles", [("新馆开放！", "新馆开放！"), ("新馆开放！", "新馆开放！_要闻_江城网")])
def test_headline_within_the_text_is_no_statement(titles: tuple[str, str]) -> None:
    long = BODY * 5
    assert not differs((titles[0], f"{titles[0]}\n{long}"), (titles[1], long))
    assert not differs((titles[0], long), (titles[1], f"{titles[1]}\n{long}"))
    assert differs((titles[0], f"{titles[0]}\n{long}"), (titles[1], long + "更正：周一闭馆。"))


def test_notice_in_the_place_of_a_long_text_is_no_version() -> None:
    whole = ("新馆开放", "\n".join(f"第{n}段说的是另一件事，并且有自己的数字{n * 37}。" for n in range(20)))
    assert not differs(whole, ("提示", "您访问的文章不存在或已被删除，请返回首页。"))
    assert differs(whole, ("另一篇", "这里讲的完全是别的事情，而且讲得很长。" * 20))
    assert differs(("提示", "您访问的文章不存在或已被删除，请返回首页。"), whole)


@each_row(
    ("old", "new", "is_another"),
    [
        ("大桥昨日通车", "大桥昨日通车 - 江城网", False),
        ("要闻 | 大桥昨日通车", "大桥昨日通车", False),
        ("大桥昨日通车，全长三公里，总投资…", "大桥昨日通车，全长三公里，总投资十亿元", False),
        ("大桥昨日通车", "", False),
        ("事故致3人死亡", "事故致3人死亡12人受伤", True),
        ("大桥昨日通车", "大桥今日通车", True),
    ],
)
def test_title_with_the_name_of_the_site_is_the_same(old: str, new: str, *, is_another: bool) -> None:
    assert differs((old, BODY), (new, BODY)) == differs((new, BODY), (old, BODY)) == is_another


@each_row(
    ("old", "new"),
    [("增长3.5%。", "增长35%。"), ("气温为-5度。", "气温为5度。"), ("占3%。", "占3‰。"), ("cost $1.5m.", "cost $15m.")],
)
def test_signs_of_numbers_count(old: str, new: str) -> None:
    assert differs(("题", old), ("题", new))
    assert describe_difference(("题", old), ("题", new)) == [f"- {old}", f"+ {new}"]


def test_numbers_in_sentences_count() -> None:
    assert differs(("题", "共有300人参与。"), ("题", "共有500人参与。"))
    assert differs(("题", "The storm killed 3 people."), ("题", "The storm killed 5 people."))


def test_title_counts_but_not_its_spaces() -> None:
    assert differs(STORED, ("新馆今日开放", BODY))
    assert not differs(STORED, (" 新馆 开放 ", BODY))


def test_other_paragraphs_and_spaces_are_the_same_text() -> None:
    assert not differs(STORED, ("新馆开放", BODY.replace("\n", "").replace("，", "， ")))


def test_another_order_of_sentences_is_a_version() -> None:
    assert differs(STORED, ("新馆开放", "\n".join(reversed(BODY.split("\n")))))


def test_difference_shows_the_place() -> None:
    long = "天" * 300
    assert describe_difference(("题", f"{long}三{long}"), ("题", f"{long}五{long}")) == [
        f"- …{'天' * 24}三{'天' * 24}…",
        f"+ …{'天' * 24}五{'天' * 24}…",
    ]
    assert describe_difference(STORED, STORED) == []
    assert describe_difference(("旧题", BODY), ("新题", BODY)) == ["- 旧题", "+ 新题"]
    rewritten = BODY.replace("三千", "五千").replace("\n", "")
    changed = ["- 市图书馆新馆昨天开放，首日迎来三千多名读者。", "+ 市图书馆新馆昨天开放，首日迎来五千多名读者。"]
    assert describe_difference(("题", f"题\n{BODY}"), ("题", rewritten)) == changed


@pytest.mark.slow
def test_difference_is_bounded() -> None:
    old, new = ("\n".join(f"{mark}{n}" + "字" * 1000 for n in range(5_000)) for mark in "甲乙")
    shown = describe_difference(("题", old), ("题", new))
    assert len(shown) <= 41
    assert max(map(len, shown)) < 220
    assert "more lines" in shown[-1]


@each_row("text", ["1" * 200_000, "阅读" * 100_000, "1,1." * 50_000, "jan " * 50_000, "a\n" * 100_000])
@pytest.mark.slow
def test_hostile_texts_take_no_longer(text: str) -> None:
    began = time.process_time()
    assert not differs(("题", text), ("题", text + " "))
    differs(("题", text + "。"), ("题", text + "另有一句话。"))
    describe_difference(("题", text), ("题", text[::-1] + "。"))
    assert time.process_time() - began < 40
