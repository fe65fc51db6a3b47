"""Verdicts of the shipped model, and of texts that are no texts."""

from __future__ import annotations

import time

import pytest

from crawler.demo.content import load_articles
from pipelines.text.harmful import blocks
from pipelines.text.harmful.features import BITS, MAX_CHARS, features, features_of_all, pairs
from pipelines.text.harmful.judge import judge
from pipelines.text.harmful.records import HarmKind, HarmPart

NEWS = (
    "记者从市交通局获悉，河口大桥今天上午正式通车。大桥全长三公里，双向六车道，总投资十二亿元。\n"
    "市交通局有关负责人表示，大桥通车后，两岸居民过江时间将从四十分钟缩短到五分钟。下一步还将开通三条公交线路。"
)
CRIME = (
    "日前，河口市公安局破获一起特大网络赌博案，抓获犯罪嫌疑人三十名，涉案金额两亿元。\n"
    "经查，该团伙在境外架设赌博网站，以百家乐、德州扑克等形式组织赌博，并以代发视频、刷单返利为名实施诈骗。目前，案件正在进一步侦办中。"
)
ENGLISH = "The bridge over the river was opened on Monday. It took three years to build and cost twelve million pounds."


def test_news_and_crime_reports_are_not_harmful() -> None:
    for title, text in (("河口大桥正式通车", NEWS), ("警方破获特大网络赌博案", CRIME), ("A bridge is opened", ENGLISH)):
        verdict = judge(title, text)
        assert not verdict.is_harmful
        assert verdict.score < 0.5
        assert verdict.reasons == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("注册送88，百家乐真人棋牌，首充返利，提现秒到账，加我微信拉你进群", HarmKind.GAMBLING),
        ("抖音代发视频，一单20，日结，需要的加我", HarmKind.ADVERT),
    ],
)
def test_harmful_texts_have_a_kind_and_reasons(text: str, kind: HarmKind) -> None:
    verdict = judge("", text)
    assert verdict.kind is kind
    assert verdict.reasons[0].part is HarmPart.TEXT
    assert 0 < len(verdict.reasons[0].words) <= 5
    assert all(1 < len(word) <= 8 for word in verdict.reasons[0].words)


@pytest.mark.parametrize(
    "title", ["抖音代发视频日结加我", "河口大桥正式通车_注册送88百家乐加我微信", "抖音代发一单200 - 河口大桥正式通车"]
)
def test_hijacked_titles_are_found_beside_an_honest_text(title: str) -> None:
    verdict = judge(title, NEWS)
    assert verdict.kind is HarmKind.HIJACKED
    assert verdict.reasons[0].part is HarmPart.TITLE


def test_hijacked_links_are_found_from_three_on() -> None:
    spam = ["注册送88百家乐加我微信", "抖音代发视频一单20日结加我", "真人棋牌首充返利拉你进群"]
    assert not judge("河口大桥正式通车", NEWS, ["首页", "河口新闻", *spam[:2]]).is_harmful
    verdict = judge("河口大桥正式通车", NEWS, ["首页", "河口新闻", *spam])
    assert verdict.kind is HarmKind.HIJACKED
    assert verdict.reasons[0].part is HarmPart.LINKS


def test_signs_of_many_texts_are_those_of_each() -> None:
    texts = [
        "注册送88百家乐",
        "",
        "\u200b\u200b",
        "two\nlines  here",
        "ﷺ É e\u0301",
        "加微信1️⃣2️⃣日结",
        "😀😀😀a",
        "\ud83d",
        "x",
    ]
    for text, signs in zip(texts, features_of_all(texts), strict=True):
        assert signs.tolist() == sorted(features(text).tolist())


def test_spellings_that_hide_have_the_signs_of_plain_ones() -> None:
    plain = set(features("加微信12日结").tolist())
    for hidden in (
        "加微信１２日结",
        "加微信1️⃣2️⃣日结",
        "加微信①②日结",
        "加微信12日結",
        "加⃐微⃐信⃐12日结",
        "加微\u200b信12日结",
    ):
        assert set(features(hidden).tolist()) == plain, hidden


@pytest.mark.parametrize(
    "text",
    ["", " \n", "a", "汉", "1234567890" * 20, "汉" * 1_000_000, "x1" * 500_000, "\ud800" * 9, "Ж汉aת" * 99, "\0" * 99],
)
def test_odd_texts_get_a_verdict_in_bounded_time(text: str) -> None:
    judge("", "一")
    start = time.process_time()
    for verdict in (judge("", text), judge(text, NEWS), judge(text, text, [text] * 3)):
        assert 0 <= verdict.score <= 1
        assert verdict.is_harmful == (verdict.score >= 0.5)
    assert time.process_time() - start < 1


def test_features_are_single_bounded_and_of_the_beginning() -> None:
    signs = features("河口大桥" * 10).tolist()
    assert len(set(signs)) == len(signs) > 0
    assert 0 <= min(signs) <= max(signs) < 1 << BITS
    assert set(features("汉" * MAX_CHARS).tolist()) == set(features("汉" * (MAX_CHARS + 9)).tolist())


def test_pairs_are_signs_of_letters_side_by_side() -> None:
    text = "大桥，12 通车"
    assert len(pairs(text)) == 3
    assert set(pairs(text).tolist()) <= set(features(text).tolist())
    assert not len(pairs(""))


def test_articles_of_the_newsroom_are_not_harmful() -> None:
    for articles in load_articles().values():
        for article in articles:
            verdict = judge(article.title, "\n".join(article.paragraphs))
            assert not verdict.is_harmful, (article.title, verdict)


def test_names_of_sites_and_strange_titles_are_not_hijacked() -> None:
    for title in ("河口大桥正式通车 - 河口在线", "A bridge is opened | Herald", "柿子红了的时候"):
        assert not judge(title, NEWS).is_harmful, title


def test_blocks_that_are_no_content_do_not_count() -> None:
    advert = "注册送88，百家乐真人棋牌，首充返利，提现秒到账，加我微信拉你进群。"
    assert blocks.score(advert) > 0.5 > blocks.score(NEWS)
    assert blocks.score(f"{advert}\n首页\n2024") == blocks.score(advert)
    assert blocks.score("首页\n2024") == 0
