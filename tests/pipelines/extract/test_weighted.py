"""Weighted block features: the paper's model by hand, features on small pages, and what is learnt."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.document.document import Document, parse
from pipelines.extract.weighted import (
    EDGES,
    FEATURES,
    WUQI2011,
    Feature,
    Params,
    Preset,
    View,
    WeightedModel,
    extract,
    scores,
)
from pipelines.models import files
from pipelines.training.examples import Example, example
from pipelines.training.pso import maximise
from pipelines.training.weighted import learn
from tests.table import each_row

TEXT = "河口大桥年底通车，届时两岸居民过江只要五分钟。负责施工的工程师说，最难的是深水区的三座主墩，工期很短。"


def page(body: str) -> Document:
    return parse(body.encode(), "http://e.com/")


def values(name: str, body: str) -> list[float]:
    return [round(value, 4) for value in FEATURES[name](View(page(body))).tolist()]


def test_score_of_the_paper() -> None:
    d = [1.4571, 2.6976, 1.9782, 2.6838, 0.8203]
    lowest = [0.060, 0.274, 0.375, 0.295, 0.434]
    mixed = [0.795, 0.944, 0.375, 0.948, 0.434]
    want = [sum(map(float.__mul__, d, support)) / sum(d) for support in (lowest, mixed)]
    document = page(f"<p>短</p><p><b>{TEXT}</b></p>")
    assert scores(document, WUQI2011).tolist() == pytest.approx(want)
    # A block without any sign of content is just below the threshold.
    assert want[0] < WUQI2011.threshold < want[1]
    assert extract(document, Params(Preset.WUQI2011)).text == TEXT


def test_paper_takes_forms_out() -> None:
    """删除 script、form、style、iframe: neither the text of a form counts nor what it adds to the block around it."""
    long = "请输入您的用户名和密码，然后登录本站，谢谢合作。"
    document = page(f"<div>短<form>{long}<b>登录</b></form></div><p>{TEXT}</p>")
    assert scores(document, WUQI2011)[1] == 0
    alone = page(f"<div>短</div><p>{TEXT}</p>")
    assert scores(document, WUQI2011)[[0, 2]].tolist() == scores(alone, WUQI2011).tolist()
    assert extract(document, Params(Preset.WUQI2011)).text == TEXT


def test_papers_features_are_of_the_nearest_container() -> None:
    body = "<div>一，二&nbsp;&nbsp;<b>三</b><br>四<p>五。</p>六&nbsp;</div><div>七</div>"
    assert values("chars", body) == [6, 6, 2, 6, 1]
    assert values("marks", body) == [1, 1, 1, 1, 0]
    assert values("spaces", body) == [3, 3, 0, 3, 0]
    assert values("bold", body) == [1, 1, 0, 1, 0]
    assert values("breaks", body) == [1, 1, 0, 1, 0]


def test_features_of_lines() -> None:
    body = "<div><p>一二，三</p><p>四<a href=/>五六七</a></p></div><div><p>八，九</p></div>"
    assert values("link_share", body) == [0, 0.75, 0]
    assert values("line_chars", body) == [4, 1, 3]
    assert values("line_marks", body) == [1, 0, 1]
    assert values("neighbours", body) == [3, 7, 4]
    assert values("home_share", body) == [round(4 / 7, 4), round(4 / 7, 4), round(3 / 7, 4)]
    assert values("home_links", body) == [0.375, 0.375, 0]
    assert values("place", body) == [0, round(4 / 7, 4), round(4 / 7, 4)]


@each_row("name", sorted(FEATURES))
def test_every_feature_is_a_finite_number_per_block(name: str) -> None:
    for body in ("x", "<p>x</p>", f"<table><tr><td>{TEXT}<br>{TEXT}</table>", "<a href=/>x</a>"):
        found = FEATURES[name](View(page(body)))
        assert found.shape == (len(page(body).blocks),)
        assert np.isfinite(found).all()
    assert list(EDGES[name]) == sorted(EDGES[name])


@each_row(
    ("feature", "message"),
    [(("size", (), (0.5,), 1.0), "unknown feature 'size'; known: chars"), (("chars", (1,), (0.5,), 1.0), "1 edges")],
)
def test_features_that_cannot_be(
    feature: tuple[str, tuple[float, ...], tuple[float, ...], float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Feature(*feature)


def test_scores_without_weights_are_nothing() -> None:
    nothing = WeightedModel((Feature("chars", (1,), (0.1, 0.9), 0.0),), 0.5)
    assert scores(page("<p>x</p>"), nothing).tolist() == [0]


def test_shipped_model_is_whole() -> None:
    model = files.load("blocks", WeightedModel.from_mapping)
    assert {feature.name for feature in model.features} == set(FEATURES)
    assert all(0 <= value <= 1 for feature in model.features for value in feature.support)
    assert WeightedModel.from_mapping(json.loads(json.dumps(asdict(model)))) == model


@each_row("name", ["blocks", "words"])
def test_shipped_models_name_the_command_that_made_them(name: str) -> None:
    made = json.loads(files.path(name).read_text(encoding="utf-8"))
    assert made["made_by"].startswith(f"scrapy train {name} ")
    assert made["pages"] > 500


def lesson(at: int) -> Example:
    menu = "".join(f"<li><a href=/>频道{at}{each}</a></li>" for each in range(9))
    made = example(
        f"<ul>{menu}</ul><div><p>{TEXT}</p><p>{TEXT[::-1]}</p></div>".encode(),
        {"id": f"{at}", "text": f"{TEXT}\n{TEXT[::-1]}"},
    )
    assert made is not None
    return made


def test_learned_weights_tell_the_classes_apart() -> None:
    lessons = [lesson(at) for at in range(5)]
    model, fitness = learn(iter(lessons), np.random.default_rng(1), particles=10, generations=20)
    assert fitness == 1
    assert all(((scores(each.document, model) > model.threshold) == each.content).all() for each in lessons)
    again, _ = learn(lessons, np.random.default_rng(1), particles=10, generations=20)
    assert again == model
    # 45 links without and 10 lines with punctuation, and one of each class for smoothing.
    marks = next(feature for feature in model.features if feature.name == "line_marks")
    assert marks.support == (round(1 / 47, 4), 0.5, round(11 / 12, 4))


def test_nothing_can_be_learnt_from_nothing() -> None:
    with pytest.raises(ValueError, match="no page"):
        learn([], np.random.default_rng(1))


@settings(max_examples=20)
@given(st.lists(st.floats(-2, 5), min_size=1, max_size=4), st.integers(0, 3))
def test_swarm_finds_the_top_of_a_hill_in_its_box(top: list[float], seed: int) -> None:
    goal = np.array(top)
    low, high = np.zeros(len(top)), np.full(len(top), 3.0)
    rng = np.random.default_rng(seed)
    place, best = maximise(lambda x: -((x - goal) ** 2).sum(axis=1), low, high, rng, particles=30, generations=150)
    assert np.all((place >= low) & (place <= high))
    assert place == pytest.approx(np.clip(goal, 0, 3), abs=0.05)
    assert best == pytest.approx(-((place - goal) ** 2).sum())


@each_row(("particles", "generations"), [(0, 1), (1, -1)])
def test_swarms_that_cannot_be(particles: int, generations: int) -> None:
    with pytest.raises(ValueError, match="a swarm of"):
        maximise(
            lambda x: x[:, 0],
            np.zeros(1),
            np.ones(1),
            np.random.default_rng(1),
            particles=particles,
            generations=generations,
        )
