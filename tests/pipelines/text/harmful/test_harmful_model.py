"""Training and files of models of harmful pages."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.models.files import dumps, loads
from pipelines.text.harmful.judge import judge
from pipelines.text.harmful.model import HarmModel
from pipelines.text.harmful.records import HarmKind
from pipelines.training.harmful import HarmExample, deal, learn
from tests.table import each_row

PLACES = ("河口", "北山", "南湖", "东港", "西岭", "石桥", "青川", "白沙")
WORKS = ("大桥通车", "学校开学", "医院扩建", "公园开放", "会议召开", "展览开幕")
BODY = "记者从市政府获悉，{0}{1}，有关负责人表示，{0}的居民将从中受益，下一步还将继续推进各项工作，确保年底前全部完成。"


def _examples() -> list[HarmExample]:
    news = [(f"{place}{work}", BODY.format(place, work) * 3) for place in PLACES for work in WORKS]
    posts = [f"加{place}微信{number}日结" for number, place in enumerate(PLACES * 4)]
    return [
        *(HarmExample("clean", title, body) for title, body in news),
        *(HarmExample("clean", "", title) for title, _ in news),
        *(HarmExample("ham", "", f"你好，我昨天去{place}了，那里{work}，真好玩") for place in PLACES for work in WORKS),
        *(HarmExample("ad", "", post, str(source)) for source, post in enumerate(posts)),
        *(HarmExample("gambling", "", post.replace("日结", "注册送百家乐"), str(n)) for n, post in enumerate(posts)),
        *(
            HarmExample("hijacked", post, body, str(n))
            for n, (post, (_, body)) in enumerate(zip(posts, news, strict=False))
        ),
    ]


def _read(model: dict[str, object]) -> HarmModel:
    return loads(dumps("harmful", model, "", {}), "m.json", "harmful").build(HarmModel.of)


@pytest.fixture(scope="module")
def model() -> HarmModel:
    found, report = learn(_examples(), 1)
    assert report["parts"]["f1"] > 0.9  # type: ignore[index]
    return found


def test_pages_of_a_source_and_near_duplicates_are_held_out_together() -> None:
    pages = [HarmExample("clean", "", BODY.format(place, work), place) for place in PLACES for work in WORKS]
    found = set(zip([page.source for page in pages], deal(pages), strict=True))
    assert len(found) == len(PLACES)
    assert len({fold for _, fold in found}) > 1
    posts = [HarmExample("ad", "", f"加河口微信，日结，注册送百家乐{mark}") for mark in ("", "！", "？")]
    assert len(set(deal(posts))) == 1


def test_learn_tells_the_sides_and_kinds_apart(model: HarmModel) -> None:
    assert judge("", "加河口微信99日结", model=model).kind is HarmKind.ADVERT
    assert judge("", "加河口微信99注册送百家乐", model=model).kind is HarmKind.GAMBLING
    body = BODY.format("海湾", "大桥通车") * 3
    assert not judge("海湾大桥通车", body, model=model).is_harmful
    assert judge("加海湾微信99日结", body, model=model).kind is HarmKind.HIJACKED


def test_model_is_the_same_when_read_again(model: HarmModel) -> None:
    again = _read(model.dump())
    assert again.dump() == model.dump()
    text = "加海湾微信99日结"
    assert judge("", text, model=again).score == pytest.approx(judge("", text, model=model).score, abs=1e-4)


@each_row(
    ("examples", "said"),
    [
        ([], "of one side"),
        ([HarmExample("clean", "", "会议召开")], "of one side"),
        ([HarmExample("porn", "", "加我")], "of one side"),
        (
            [HarmExample("ham", "", "hello"), HarmExample("spam", "", "win 500 now")],
            "none of the harmful pages is Chinese",
        ),
        ([HarmExample("good", "", "会议召开")], "label 'good' is unknown; known: clean, ham"),
    ],
)
def test_learn_refuses_rows_it_cannot_learn_from(examples: list[HarmExample], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        learn(examples, 1)


def test_learn_from_mail_alone() -> None:
    letters = [f"你好，我昨天去{place}了，那里{work}，真好玩，" * 4 for place in PLACES for work in WORKS]
    spam = [f"加{place}微信{number}，代开发票，注册送百家乐，" * 4 for number, place in enumerate(PLACES * 4)]
    rows = [*(HarmExample("ham", "", text) for text in letters), *(HarmExample("spam", "", text) for text in spam)]
    found, _ = learn(rows, 1)
    assert judge("", "加海湾微信99，代开发票，注册送百家乐，" * 4, model=found).kind is HarmKind.ADVERT
    assert not judge("", "你好，我昨天去海湾了，那里公园开放，真好玩，" * 4, model=found).is_harmful


def test_learn_takes_a_kind_of_one_row() -> None:
    found, _ = learn([*(each for each in _examples() if each.label != "ham"), HarmExample("porn", "", "加")], 1)
    assert set(found.kinds) == {HarmKind.ADVERT, HarmKind.GAMBLING, HarmKind.PORN}


@each_row("text", ["", "{", "[]", "7", '{"format": 1}', "[" * 100_000])
def test_files_that_are_no_models_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"m\.json is no model of harmful"):
        loads(text, "m.json", "harmful")


def test_broken_models_are_refused(model: HarmModel) -> None:
    good = model.dump()
    votes: Any = good["kinds"]
    ad = votes["advert"]
    for change in (
        {"short": {}},
        {"long": None},
        {"parts": [1, 2]},
        {"parts": [1, 2, float("nan")]},
        {"kinds": {}},
        {"kinds": {"nonsense": ad}},
        {"kinds": {"advert": {**ad, "steps": {**ad["steps"], "data": ad["steps"]["data"][:48]}}}},
        {"kinds": {"advert": {**ad, "steps": {**ad["steps"], "shape": [7]}}}},
        {"kinds": {"advert": {**ad, "steps": {**ad["steps"], "data": "不"}}}},
        {"kinds": {"advert": {**ad, "steps": "不"}}},
        {"kinds": {"advert": {**ad, "unit": "1"}}},
        {"short": {"clean": ad}},
    ):
        with pytest.raises(ValueError, match=r"m\.json is broken"):
            _read({**good, **change})
