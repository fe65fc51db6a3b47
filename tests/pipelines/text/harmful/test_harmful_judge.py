"""Verdicts of the shipped model, and of texts that are no texts."""

from __future__ import annotations

import random
import re
import time

import pytest

from crawler.demo.content import load_articles
from pipelines.text.harmful import blocks
from pipelines.text.harmful.features import BITS, MAX_CHARS, features, features_of_all
from pipelines.text.harmful.judge import judge
from pipelines.text.harmful.model import shipped
from pipelines.text.harmful.records import HarmKind, HarmPart, HarmVerdict
from tests.table import each_row

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


@each_row(
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


@each_row(
    "title", ["抖音代发视频日结加我", "河口大桥正式通车_注册送88百家乐加我微信", "抖音代发一单200 - 河口大桥正式通车"]
)
def test_hijacked_titles_are_found_beside_an_honest_text(title: str) -> None:
    verdict = judge(title, NEWS)
    assert verdict.kind is HarmKind.HIJACKED
    assert verdict.reasons[0].part is HarmPart.TITLE


def test_hijacked_lines_are_found_in_an_honest_text() -> None:
    first, last = NEWS.split("\n")
    verdict = judge("河口大桥正式通车", f"{first}\n注册送88百家乐真人棋牌，首充返利，加我微信\n{last}")
    assert verdict.kind is HarmKind.HIJACKED
    assert verdict.reasons[0].part is HarmPart.TEXT


def test_title_and_line_that_repeat_each_other_are_no_witnesses() -> None:
    spam = "注册送88百家乐真人棋牌，首充返利，加我微信"
    assert judge(spam, f"{spam}\n{NEWS}\n{spam}").is_harmful


def test_links_alone_never_decide() -> None:
    spam = ["注册送88百家乐加我微信", "抖音代发视频一单20日结加我", "真人棋牌首充返利拉你进群"]
    assert judge("河口大桥正式通车", NEWS, ["首页", *spam * 60]) == judge("河口大桥正式通车", NEWS)
    reasons = judge("抖音代发视频日结加我", NEWS, ["首页", *spam]).reasons
    assert [reason.part for reason in reasons] == [HarmPart.TITLE, HarmPart.LINKS]
    assert any("百家乐" in word for word in reasons[1].words)
    assert len(judge("抖音代发视频日结加我", NEWS, ["首页", *spam[:2]]).reasons) == 1


@each_row("title", ["876", "876 | 河口大桥", "全长876米", "1号 | 2024-03-05 08:20 | 876", "第876期"])
def test_numbers_are_no_evidence(title: str) -> None:
    assert not judge(title, NEWS).is_harmful
    digits = str.maketrans("0123456789", "9876543210")
    advert = "注册送88，百家乐真人棋牌，首充返利100，加微信123456"
    assert judge(title, advert) == judge(title.translate(digits), advert.translate(digits))


@each_row(
    "text",
    [
        "Sign up now and win 500 at our online casino. " * 9,
        "オンラインカジノに登録して無料ボーナスを獲得しよう。今すぐ友達追加。" * 9,
        "온라인 카지노에 가입하고 무료 보너스를 받으세요. 지금 친구 추가하세요. " * 9,
        "Зарегистрируйтесь и получите бонус в онлайн-казино. " * 9,
    ],
)
def test_language_without_a_model_is_not_judged(text: str) -> None:
    assert judge(text[:40], text, [text[:30]] * 9) == HarmVerdict(0.0)


COMMON = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说"
CHARACTERS = "".join(map(chr, range(0x4E00, 0x9FA6)))


@each_row("letters", [COMMON, CHARACTERS])
def test_texts_made_by_chance_are_not_harmful(letters: str) -> None:
    draw = random.Random(1)
    titles = 0
    for number in range(60):
        text = "\n".join("".join(draw.choices(letters, k=60)) + "。" for _ in range(4))
        assert not judge(f"新闻{number}号", text).is_harmful, text
        titles += judge("".join(draw.choices(letters, k=14)), NEWS).is_harmful
    assert letters == COMMON or not titles, "a title is not foreign only because nobody wrote it"


def test_reasons_are_chinese_words_of_the_part() -> None:
    for title, text in (
        ("注册送88百家乐 http://www.example.com/876?x=ps:/", NEWS),
        ("", "加微信abc88，网上赌场注册送彩金 www.a.top"),
    ):
        for reason in judge(title, text).reasons:
            assert reason.words
            assert all(
                word in f"{title}{text}" and re.fullmatch(r"[\u4e00-\u9fff]{2,8}", word) for word in reason.words
            )


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
    signs, _ = features_of_all(texts)
    for number, text in enumerate(texts):
        assert sorted(signs.signs[signs.of == number].tolist()) == sorted(features(text).tolist())


def test_margins_of_many_texts_are_those_of_each() -> None:
    texts = [*NEWS.split("\n"), "", "注册送88百家乐", ENGLISH]
    reading = shipped().short
    margins = reading.margins(features_of_all(texts)[0], len(texts))
    assert margins.tolist() == [reading.margin(features(text)) for text in texts]


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


@each_row(
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
    _, (found, of) = features_of_all(("", text, "\u200b", text[:2]))
    assert of.tolist() == [1, 1, 3]
    assert found[0] == found[2]
    assert set(found.tolist()) <= set(features(text).tolist())


def test_articles_of_the_newsroom_are_not_harmful() -> None:
    for articles in load_articles().values():
        for article in articles:
            verdict = judge(article.title, "\n".join(article.paragraphs))
            assert not verdict.is_harmful, (article.title, verdict)


def test_names_of_sites_and_strange_titles_are_not_hijacked() -> None:
    for title in ("河口大桥正式通车 - 河口在线", "A bridge is opened | Herald", "柿子红了的时候"):
        assert not judge(title, NEWS).is_harmful, title


def test_blocks_weigh_by_hand() -> None:
    """S26 with S10: 12 characters and no mark, (.546 x 1.4571 + .274 x 2.6976) / (1.4571 + 2.6976) = .3694."""
    assert blocks.weigh(12, 0) == pytest.approx(0.3694, abs=1e-4)
    assert blocks.weigh(9, 1) == pytest.approx((0.060 * 1.4571 + 0.944 * 2.6976) / 4.1547)


def test_blocks_judge_the_text_alone() -> None:
    advert = "同城约炮上门服务，学生妹少妇任选，满意付款，加微信看照片。"
    verdict = blocks.judge("", advert)
    assert verdict.score == blocks.score(advert) > 0.5
    assert verdict.is_harmful
    assert [reason.part for reason in verdict.reasons] == [HarmPart.TEXT]
    assert not blocks.judge(advert, NEWS).is_harmful
    assert blocks.judge("", "An advert for games of chance.").score == 0


def test_blocks_that_are_no_content_do_not_count() -> None:
    advert = "注册送88，百家乐真人棋牌，首充返利，提现秒到账，加我微信拉你进群。"
    assert blocks.score(advert) > 0.5 > blocks.score(NEWS)
    assert blocks.score(f"{advert}\n首页\n2024") == blocks.score(advert)
    assert blocks.score("首页\n2024") == 0
