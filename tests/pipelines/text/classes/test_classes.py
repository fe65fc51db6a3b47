from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipelines.text.classes import DEFAULT, METHODS, learner
from pipelines.text.classes.calibration import Calibration, calibrate
from pipelines.text.classes.model import (
    KIND,
    SECTIONS,
    ClassModel,
    TextClasses,
    learn,
    read,
    shipped,
)
from pipelines.text.classes.selection import MEASURES, Select
from pipelines.text.classes.vectors import MAX_CHARS, Space, Text, count_features
from pipelines.text.model_file import VERSION, ModelError, load, loads

SPORT = ("球队主场获胜，球迷欢呼，教练称赞门将", "the team won the match and the coach praised the goalkeeper")
MONEY = ("央行下调利率，股市上涨，银行贷款增加", "the central bank cut interest rates and the stock market rose")
EXTRA = ("今天", "昨日", "上午", "下午", "周一", "周二", "today", "monday")
TEXTS = [Text("", f"{extra} {text}") for text in (*SPORT, *MONEY) for extra in EXTRA]
LABELS = [("sport",)] * 16 + [("finance",)] * 16
MIXED = Text("", "球队的股市：球迷欢呼，银行贷款增加，球队主场获胜，央行下调利率")


def dumps(model: ClassModel) -> str:
    return json.dumps({"model": model.model()})


def read_again(text: str) -> ClassModel:
    return read(loads(text, "m.json", KIND), "m.json")


@pytest.fixture(scope="module", params=sorted(METHODS))
def model(request: pytest.FixtureRequest) -> ClassModel:
    return learn(TEXTS, LABELS, learner(request.param))[0]


@pytest.fixture(scope="module")
def text() -> str:
    return dumps(learn(TEXTS, LABELS, learner("naive_bayes"))[0])


def test_every_method_tells_chinese_and_english_classes(model: ClassModel) -> None:
    assert model.predict(Text("球队获胜", "门将与教练")).names == ("sport",)
    assert model.predict(Text("", "The bank raised its interest rates")).names == ("finance",)


def test_memberships_are_shares_in_order(model: ClassModel) -> None:
    found = list(model.predict(MIXED).memberships.values())
    assert sum(found) == pytest.approx(1, abs=1e-3)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("unknown", ["", " \n", "?!", "xyzzy"])
def test_text_without_known_words_has_no_class(model: ClassModel, unknown: str) -> None:
    assert model.predict(Text("", unknown)) == TextClasses()


def test_file_gives_the_same_model(model: ClassModel) -> None:
    again = read_again(dumps(model))
    assert dumps(again) == dumps(model)
    for one in (TEXTS[0], TEXTS[-1], MIXED):
        assert again.predict(one).names == model.predict(one).names
        assert again.predict(one).memberships == pytest.approx(model.predict(one).memberships, abs=0.02)


def test_learning_is_repeatable(text: str) -> None:
    assert dumps(learn(TEXTS, LABELS, learner("naive_bayes"))[0]) == text


def test_several_classes_are_those_above_their_thresholds() -> None:
    both = [Text("", f"{extra} {SPORT[0]} {MONEY[0]}") for extra in EXTRA]
    neither = [Text("", f"{extra} 小雨转晴，气温下降") for extra in EXTRA]
    labels = [*LABELS, *[("finance", "sport")] * len(both), *[()] * len(neither)]
    several = learn([*TEXTS, *both, *neither], labels)[0]
    assert set(several.predict(Text("", f"{SPORT[0]}。{MONEY[0]}")).names) == {"finance", "sport"}
    assert several.predict(Text("", SPORT[0])).names == ("sport",)
    assert several.predict(Text("", "小雨转晴")).names == ()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_class_with_one_text_is_learned(name: str) -> None:
    found = learn([*TEXTS, Text("", "小雨转晴，气温下降")], [*LABELS, ("weather",)], learner(name))[0]
    assert found.labels == ("finance", "sport", "weather")
    assert found.predict(TEXTS[0]).names == ("sport",)


@pytest.mark.parametrize(
    ("texts", "labels", "why"),
    [
        ([], [], "no text has a class"),
        (TEXTS, [("sport",)] * 32, "only the class 'sport'"),
        (TEXTS, LABELS[:-1], "32 texts and 31 lists"),
        ([Text("", ""), Text("", "!")], [("a",), ("b",)], "no words"),
        (TEXTS * 16, [(str(number),) for number in range(512)], "512 classes, more than 500"),
    ],
)
def test_refuse_what_nothing_can_be_learned_from(texts: list[Text], labels: list[tuple[str]], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        learn(texts, labels)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": VERSION + 1}, "version 2 instead of 1; train it again"),
        ({"kind": "keywords"}, "no model of classes"),
        ({"method": "magic"}, "'magic' is unknown"),
        ({"labels": []}, "classes have no names"),
        ({"labels": ["a", "b", "c"]}, "is broken"),
        ({"terms": "AAAA"}, "is broken"),
        ({"classifier": {}}, "is broken .KeyError"),
        ({"calibration": {"slope": [1], "offset": [1], "threshold": [1], "single": True}}, "do not fit"),
    ],
)
def test_refuse_a_broken_model(text: str, change: dict[str, object], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        read_again(json.dumps({"model": {**json.loads(text)["model"], **change}}))


def test_refuse_a_file_that_is_no_model(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        load(path, KIND)
    for data in (b"", b"[1]", b"\xff\xfe", text.encode()[:-100], b"[" * 100_000):
        path.write_bytes(data)
        with pytest.raises(ModelError, match="no model of classes"):
            load(path, KIND)
    path.write_text(text, encoding="utf-8")
    assert read(load(path), "m.json").labels == ("finance", "sport")


def test_long_text_is_read_in_part(model: ClassModel) -> None:
    assert model.predict(Text("", SPORT[0] + "无" * 1_000_000)).names == ("sport",)
    assert model.predict(Text("", "。" * MAX_CHARS + SPORT[0])) == TextClasses()


def test_refuse_an_unknown_method_or_parameter() -> None:
    with pytest.raises(ValueError, match="unknown classifier 'magic'; known: combined, fuzzy, knn"):
        learner("magic")
    with pytest.raises(ValueError, match="has no parameter 'n'; known: k, terms"):
        learner("knn", {"n": 3})
    assert learner().name == DEFAULT


def test_views_of_a_text_count_by_their_shares_however_long_it_is() -> None:
    shares = []
    for text in (Text("", "球队赢了。Team won!"), Text("", "球队赢了，球迷庆祝到深夜。" * 9 + "Team won!")):
        terms = count_features(text)
        vector = Space(terms.ids, np.ones(len(terms.ids))).vector(terms)
        shares.append([float((vector.values[terms.ids >> 29 == view] ** 2).sum()) for view in range(7)])
    assert shares[0] == pytest.approx(shares[1])
    assert sum(shares[0]) == pytest.approx(1)
    assert shares[0][0] == pytest.approx(3 * shares[0][1])


def test_report_lists_words_before_runs_of_characters() -> None:
    _, rows = learn(TEXTS, LABELS)
    assert {"球队", "team"} & {term["term"] for term in rows[1]["terms"][:5]}


@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_report_tells_the_terms_of_each_class(measure: str) -> None:
    _, rows = learn(TEXTS, LABELS, learner("naive_bayes"), Select(measure, 200))
    terms = {row["class"]: {term["term"] for term in row["terms"]} for row in rows}
    assert {"team", "球队"} & terms["sport"]
    assert not {"bank", "银行", "股市"} & terms["sport"]
    assert "bank" in terms["finance"]
    assert {row["f1"] for row in rows} == {1.0}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("北京时间周日，主队以102比98击败客队，前锋得到30分。", "sport"),
        ("教育部公布高考改革方案，考生可选择科目。", "education"),
        ("The prime minister said the government would win the vote of parliament.", "politics"),
    ],
)
def test_shipped_model_knows_news_sections(text: str, name: str) -> None:
    assert shipped().predict(Text("", text)).names == (name,)
    assert SECTIONS.stat().st_size < 3_000_000


@pytest.mark.parametrize(
    "text",
    [
        "中央气象台今天发布大风蓝色预警，请市民减少外出。",
        "Heavy rain and strong winds are expected across the north on Tuesday, forecasters say.",
    ],
)
def test_shipped_model_gives_no_class_that_is_unlikely(text: str) -> None:
    told = shipped().predict(Text("", text))
    assert not told.names
    assert told.memberships


def test_texts_of_one_class_have_it_from_the_least_membership_on() -> None:
    scores, wanted = np.array([[2.0, -2.0], [-2.0, 2.0], [0.1, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    for least, told in ((0.0, [[1, 0], [0, 1], [1, 0]]), (0.6, [[1, 0], [0, 1], [0, 0]])):
        found = calibrate(scores, wanted, is_single=True, least=least)
        assert Calibration.of(found.model()).chosen(found.memberships(scores)).tolist() == told


def test_calibrated_memberships_are_as_often_right() -> None:
    rng = np.random.default_rng(0)
    wanted = (rng.random((4000, 2)) < 0.3).astype(float)
    scores = wanted * 2 - 1 + rng.normal(0, 1, wanted.shape)
    chances = calibrate(scores, wanted, is_single=False).memberships(scores)
    likely = (chances > 0.6) & (chances < 0.8)
    assert wanted[likely].mean() == pytest.approx(0.7, abs=0.05)
