from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pipelines.models.arrays import pack
from pipelines.models.files import VERSION, ModelError, dumps, loads, path, read
from pipelines.text.classes import DEFAULT, METHODS, learner
from pipelines.text.classes.calibration import NEVER, Calibration, calibrate
from pipelines.text.classes.model import ClassModel, TextClasses, shipped
from pipelines.text.classes.selection import MEASURES, Select, read_select
from pipelines.text.classes.vectors import MAX_CHARS, Space, Text, count_features
from pipelines.training.classes import learn
from tests.table import each_row

SPORT = ("球队主场获胜，球迷欢呼，教练称赞门将", "the team won the match and the coach praised the goalkeeper")
MONEY = ("央行下调利率，股市上涨，银行贷款增加", "the central bank cut interest rates and the stock market rose")
EXTRA = ("今天", "昨日", "上午", "下午", "周一", "周二", "today", "monday")


def told(text: str, title: str = "") -> Text:
    """Return a text with its language, Chinese or English."""
    return Text(title, text, language="zh-Hans" if re.search("[一-鿿]", title + text) else "en")


TEXTS = [told(f"{extra} {text}") for text in (*SPORT, *MONEY) for extra in EXTRA]
LABELS = [("sport",)] * 16 + [("finance",)] * 16
VOTE = (
    "The prime minister said the government would win the vote of parliament on Tuesday. Labour MPs and the "
    "Conservative leader accused ministers of misleading voters before the general election."
)
MIXED = told("球队的股市：球迷欢呼，银行贷款增加，球队主场获胜，央行下调利率")

ONE = pack(np.ones(1))


def written(model: ClassModel) -> str:
    return dumps("classes", model.model(), "", {})


def read_again(text: str) -> ClassModel:
    return loads(text, "m.json", "classes").build(ClassModel.of)


@pytest.fixture(scope="module", params=sorted(METHODS))
def model(request: pytest.FixtureRequest) -> ClassModel:
    return learn(TEXTS, LABELS, learner(request.param)).model


@pytest.fixture(scope="module")
def text() -> str:
    return written(learn(TEXTS, LABELS, learner("naive_bayes")).model)


def test_every_method_tells_chinese_and_english_classes(model: ClassModel) -> None:
    assert model.predict(told("门将与教练", "球队获胜")).names == ("sport",)
    assert model.predict(told("The bank raised its interest rates")).names == ("finance",)


def test_memberships_are_shares_in_order(model: ClassModel) -> None:
    found = list(model.predict(MIXED).memberships.values())
    if not METHODS[model.method].is_fuzzy:
        assert sum(found) == pytest.approx(1, abs=1e-3)
    assert all(0 <= membership <= 1 for membership in found)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("unknown", ["", " \n", "?!", "xyzzy"])
def test_text_without_known_words_has_no_class(model: ClassModel, unknown: str) -> None:
    assert model.predict(told(unknown)) == TextClasses()


def test_file_gives_the_same_model(model: ClassModel) -> None:
    again = read_again(written(model))
    assert written(again) == written(model)
    for one in (TEXTS[0], TEXTS[-1], MIXED):
        assert again.predict(one).names == model.predict(one).names
        assert again.predict(one).memberships == pytest.approx(model.predict(one).memberships, abs=0.02)


def test_learning_is_repeatable(text: str) -> None:
    assert written(learn(TEXTS, LABELS, learner("naive_bayes")).model) == text


def test_several_classes_are_those_above_their_thresholds() -> None:
    both = [told(f"{extra} {SPORT[0]} {MONEY[0]}") for extra in EXTRA]
    neither = [told(f"{extra} 小雨转晴，气温下降") for extra in EXTRA]
    labels = [*LABELS, *[("finance", "sport")] * len(both), *[()] * len(neither)]
    several = learn([*TEXTS, *both, *neither], labels).model
    assert set(several.predict(told(f"{SPORT[0]}。{MONEY[0]}")).names) == {"finance", "sport"}
    assert several.predict(told(SPORT[0])).names == ("sport",)
    assert several.predict(told("小雨转晴")).names == ()


def test_fuzzy_classes_are_none_one_or_several_though_each_text_had_one() -> None:
    rain, both = "小雨转晴，气温下降，台风", f"{SPORT[0]}。{MONEY[0]}"
    texts = [told(f"{extra} {text}") for text in (SPORT[0], MONEY[0], rain, both) for extra in EXTRA]
    labels = [(label,) for label in ("sport", "finance", "rain") for _ in EXTRA] + [("sport",), ("finance",)] * 4
    learned = learn(texts, labels, learner("fuzzy")).model
    assert learned.predict(told(SPORT[0])).names == ("sport",)
    assert set(learned.predict(told(both)).names) == {"finance", "sport"}
    assert learned.predict(told(f"{both}。{rain}")).names == ()
    assert len(learn(texts, labels, learner("naive_bayes")).model.predict(told(f"{both}。{rain}")).names) == 1


@each_row("name", sorted(METHODS))
def test_class_with_one_text_is_learned(name: str) -> None:
    found = learn([*TEXTS, told("小雨转晴，气温下降")], [*LABELS, ("weather",)], learner(name)).model
    assert found.labels == ("finance", "sport", "weather")
    assert found.predict(TEXTS[0]).names == ("sport",)


@each_row(
    ("texts", "labels", "why"),
    [
        ([], [], "no text has a class"),
        (TEXTS, [("sport",)] * 32, "only the class 'sport'"),
        (TEXTS, LABELS[:-1], "32 texts and 31 lists"),
        ([told(""), told("!")], [("a",), ("b",)], "no words"),
        ([Text("", SPORT[1]), Text("", MONEY[1])], [("sport",), ("finance",)], "the language of no text is known"),
        (TEXTS * 16, [(str(number),) for number in range(512)], "512 classes, more than 500"),
    ],
)
def test_refuse_what_nothing_can_be_learned_from(texts: list[Text], labels: list[tuple[str]], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        learn(texts, labels)


@each_row(
    ("change", "why"),
    [
        ({"method": "magic"}, "'magic' is unknown"),
        ({"labels": []}, "classes have no names"),
        ({"labels": ["a", "b", "c"]}, "is broken"),
        ({"terms": "AAAA"}, "is broken"),
        ({"classifier": {}}, "is broken .KeyError"),
        ({"languages": {"zh": {"slope": ONE, "offset": ONE, "threshold": ONE, "single": True}}}, "do not fit"),
        ({"languages": None}, "is broken"),
    ],
)
def test_refuse_a_broken_model(text: str, change: dict[str, object], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        read_again(json.dumps({**json.loads(text), "model": {**json.loads(text)["model"], **change}}))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": VERSION + 1}, "version 3 instead of 2; train it again with scrapy train classes"),
        ({"kind": "keywords"}, "no model of classes"),
        ({"format": 1, "model": {"kind": "classes", "version": 1}}, "version 1 instead of 2; train it again"),
        ({"model": [1]}, "no model of classes"),
    ],
)
def test_refuse_another_model(text: str, change: dict[str, object], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        read_again(json.dumps({**json.loads(text), **change}))


def test_refuse_a_file_that_is_no_model(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.json"
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        read(file, "classes")
    for data in (b"", b"[1]", b"\xff\xfe", text.encode()[:-100], b"[" * 100_000):
        file.write_bytes(data)
        with pytest.raises(ModelError, match="no model of classes"):
            read(file, "classes")
    file.write_text(text, encoding="utf-8")
    assert read(file, "classes").build(ClassModel.of).labels == ("finance", "sport")


def test_long_text_is_read_in_part(model: ClassModel) -> None:
    assert model.predict(told(SPORT[0] + "无" * 1_000_000)).names == ("sport",)
    assert model.predict(told("。" * MAX_CHARS + SPORT[0])) == TextClasses()


def test_refuse_an_unknown_method_or_parameter() -> None:
    with pytest.raises(ValueError, match="unknown classifier 'magic'; known: combined, fuzzy, knn"):
        learner("magic")
    with pytest.raises(ValueError, match="has no parameter 'n'; known: k, terms, votes"):
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
    rows = learn(TEXTS, LABELS).report
    assert {"球队", "team"} & {term["term"] for term in rows[1]["terms"][:5]}


@each_row("measure", sorted(MEASURES))
def test_report_tells_the_terms_of_each_class(measure: str) -> None:
    rows = learn(TEXTS, LABELS, learner("naive_bayes"), Select(measure, 200)).report
    terms = {row["class"]: {term["term"] for term in row["terms"]} for row in rows}
    assert {"team", "球队"} & terms["sport"]
    assert not {"bank", "银行", "股市"} & terms["sport"]
    assert "bank" in terms["finance"]
    assert {row["f1"] for row in rows} == {1.0}


@each_row(
    ("text", "name"),
    [
        ("北京时间周日，主队以102比98击败客队，前锋得到30分，教练赛后称赞了球员的防守。", "sport"),
        ("教育部公布高考改革方案，考生可选择科目。", "education"),
        (VOTE, "politics"),
    ],
)
def test_shipped_model_knows_news_sections(text: str, name: str) -> None:
    assert shipped().predict(told(text)).names == (name,)
    assert path("classes").stat().st_size < 3_000_000


CRIME = (
    "A man has been charged with murder after a woman was found stabbed at a flat on Monday night. Officers were "
    "called to the address shortly after eleven and arrested a 34-year-old at the scene. He is due before "
    "magistrates on Wednesday. Detectives appealed for witnesses and said the victim's family was being supported.",
    "Three people died when a lorry collided with two cars on the motorway early on Friday. Firefighters cut a "
    "driver from the wreckage and the road was closed for nine hours. Police asked anyone with footage to call.",
    "Funeral services for Margaret Ann Doyle, 87, will be held at St Brigid's on Saturday at ten. She died "
    "peacefully at home, and is survived by two sons and five grandchildren. The family asks for no flowers.",
    "Heavy rain and strong winds are expected across the north on Tuesday, forecasters say, with a chance of snow on "
    "higher ground. Temperatures will fall to two degrees overnight before it brightens up from the west.",
    "The water supply in Mill Lane and Church Street will be turned off from nine until four on Thursday while a valve "
    "is replaced. Residents are asked to store enough for the day.",
    "昨日凌晨两点，一名男子在出租屋内持刀伤人后逃离。民警调取沿途监控，六小时后在火车站附近将其抓获。目前嫌疑人已被刑事拘留，案件正在进一步侦办中。",
    "中央气象台今天发布大风蓝色预警，请市民减少外出。",
)
"""Texts of none of the sections."""


@each_row("text", CRIME)
def test_shipped_model_gives_no_class_to_what_it_was_not_taught(text: str) -> None:
    told_of = shipped().predict(told(text))
    assert not told_of.names
    assert told_of.memberships


@each_row("language", ["", "no", "de", "ja"])
def test_text_in_a_language_without_a_model_has_no_class(language: str) -> None:
    text = told(VOTE)
    for model in (shipped(), learn(TEXTS, LABELS).model):
        assert model.predict(text._replace(language=language)) == TextClasses()
    assert shipped().predict(text._replace(language="en-GB")).names == ("politics",)


def test_model_knows_the_languages_that_enough_of_its_texts_have() -> None:
    texts = [*TEXTS, Text("", "lag vant kampen", language="no")]
    assert sorted(learn(texts, [*LABELS, ("sport",)]).model.calibrations) == ["en", "zh"]


def test_class_that_no_text_of_a_language_has_is_not_told_in_it() -> None:
    weather = [told(f"{extra} 小雨转晴，气温下降，球队") for extra in EXTRA]
    found = learn([*TEXTS, *weather], [*LABELS, *[("weather",)] * len(weather)]).model
    assert found.predict(told("小雨转晴，气温下降")).names == ("weather",)
    assert found.predict(told("小雨转晴，气温下降")._replace(language="en")).memberships["weather"] == 0


def random_texts(count: int) -> list[Text]:
    """Return texts of random words, which tell nothing of any class."""
    rng = np.random.default_rng(1)
    words = [f"w{number}x" for number in range(3000)]
    return [Text("", " ".join(rng.choice(words, 60)), language="en") for _ in range(count)]


@each_row(
    ("name", "select"),
    [("svm", "um:2000"), ("svm", "chi2:500"), ("combined", "df+chi2:2000"), ("naive_bayes", "chi2:500")],
)
@pytest.mark.slow
def test_random_labels_have_the_f1_of_chance(name: str, select: str) -> None:
    texts = random_texts(240)
    labels = [(label,) for label in np.random.default_rng(2).choice(["a", "b", "c", "d"], len(texts))]
    rows = learn(texts, labels, learner(name), read_select(select)).report
    assert np.mean([row["f1"] for row in rows]) == pytest.approx(0.25, abs=0.08)


def test_random_labels_are_not_told_where_most_must_be_right() -> None:
    texts = random_texts(240)
    labels = [(label,) if label else () for label in np.random.default_rng(2).choice(["a", "b", ""], len(texts))]
    found = learn(texts, labels, learner("naive_bayes"), precision=0.9)
    assert sum(one.told for one in found.held_out) < 24
    assert found.model.predict(texts[0]).names == ()


def test_texts_of_a_source_are_held_out_together() -> None:
    texts = [told(f"{word}的球队，{extra}") for word in ("甲", "乙", "丙", "丁") for extra in EXTRA]
    labels = [(label,) for label in ("a", "b", "a", "b") for _ in EXTRA]
    sources = [site for site in ("one", "two", "three", "four") for _ in EXTRA]
    alone, together = (learn(texts, labels, learner("naive_bayes"), sources=own).report for own in ([], sources))
    assert min(row["f1"] for row in alone) == 1, "each text has a neighbour of its site"
    assert max(row["f1"] for row in together) < 1


def test_precise_classes_are_right_as_often_as_asked_for() -> None:
    rng = np.random.default_rng(0)
    wanted = (rng.random((4000, 3)) < 0.2).astype(float)
    scores = wanted + rng.normal(0, 0.5, wanted.shape)
    for precision in (0.8, 0.9, 0.95):
        found = calibrate(scores[:2000], wanted[:2000], is_single=False, precision=precision)
        chosen = Calibration.of(found.model()).chosen(found.memberships(scores[2000:]))
        assert wanted[2000:][chosen].mean() == pytest.approx(precision, abs=0.04)
        assert chosen.sum() > 100


def test_nothing_is_told_where_nothing_is_precise_enough() -> None:
    wanted = np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))
    found = calibrate(np.zeros(wanted.shape), wanted, is_single=True, precision=0.9)
    assert found.threshold.tolist() == [NEVER, NEVER]
    assert not found.chosen(found.memberships(np.zeros(wanted.shape))).any()


def test_texts_of_one_class_have_the_best_without_a_precision() -> None:
    scores, wanted = np.array([[2.0, -2.0], [-2.0, 2.0], [0.1, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    found = calibrate(scores, wanted, is_single=True)
    assert Calibration.of(found.model()).chosen(found.memberships(scores)).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_calibrated_memberships_are_as_often_right() -> None:
    rng = np.random.default_rng(0)
    wanted = (rng.random((4000, 2)) < 0.3).astype(float)
    scores = wanted * 2 - 1 + rng.normal(0, 1, wanted.shape)
    chances = calibrate(scores, wanted, is_single=False).memberships(scores)
    likely = (chances > 0.6) & (chances < 0.8)
    assert wanted[likely].mean() == pytest.approx(0.7, abs=0.05)
