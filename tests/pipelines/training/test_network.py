"""The network learns what a line of weights could not, and is the same for the same seed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from pipelines.extract.combined import weigh
from pipelines.extract.features import features
from pipelines.extract.network import Layout, StagedNetwork, predict
from pipelines.models.network import DenseNetwork
from pipelines.training.examples import Example, example
from pipelines.training.extraction import Params, TrainingPage, _TrainingSet, fit, learn, parts, train


def examples(seed: int = 3, count: int = 4000) -> _TrainingSet:
    """Two inputs; content where exactly one of them is high: no weighted sum can tell."""
    draws = np.random.default_rng(seed)
    values = draws.uniform(-1, 1, (2, count)).astype(np.float32)
    content = (values[0] > 0) != (values[1] > 0)
    return _TrainingSet(("left", "right"), values, content, np.ones(count, np.float32))


SMALL = Params(hidden=(16, 8), networks=2, epochs=20, batch=256, rate=1e-2)


def test_learns_features_that_act_together() -> None:
    found = fit(examples(), 1, SMALL)
    other = examples(seed=9)
    chances = predict(found, other.values)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert ((chances > 0.5) == other.content).mean() > 0.95


@pytest.mark.slow
def test_costs_decide_what_is_learned() -> None:
    """Where the same block is content on one page and none on another, the dearer page is believed."""
    patient = replace(SMALL, epochs=400)
    values = np.tile(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32).repeat(2, axis=1), 128)
    content = np.arange(512) % 2 == 0
    for dear in (True, False):
        costs = np.where(content == dear, 9.0, 1.0).astype(np.float32)
        chance = predict(fit(_TrainingSet(("left", "right"), values, content, costs), 1, patient), values[:, :1])[0]
        assert chance == pytest.approx(0.9 if dear else 0.1, abs=0.05)


def test_refuses_examples_of_one_class() -> None:
    made = examples()
    with pytest.raises(ValueError, match="of one kind"):
        fit(replace(made, content=np.ones(len(made.costs), np.bool_)), 1, SMALL)


def test_same_seed_same_networks() -> None:
    first, again, other = (fit(examples(), seed, SMALL) for seed in (1, 1, 2))
    assert first.model() == again.model()
    assert first.model() != other.model()


def test_survives_writing_and_reading() -> None:
    found = fit(examples(), 1, SMALL)
    read = DenseNetwork.of(json.loads(json.dumps(found.model())))
    assert read.features == ("left", "right")
    values = examples(seed=5).values
    assert np.abs(predict(read, values) - predict(found, values)).max() < 0.01


def test_votes_are_the_mean_of_single_networks_where_the_first_is_in_doubt() -> None:
    found = fit(examples(), 1, SMALL)
    values = examples(seed=5).values[:, :50]
    single = []
    for number in range(2):
        weights, biases = (
            tuple(layer[number : number + 1] for layer in layers) for layers in (found.weights, found.biases)
        )
        single.append(predict(replace(found, weights=weights, biases=biases), values))
    doubtful = (single[0] > 0.01) & (single[0] < 0.99)
    assert 0 < doubtful.sum() < 50
    votes = np.where(doubtful, np.mean(single, axis=0), single[0])
    assert np.allclose(votes, predict(found, values), atol=1e-6)


def page(number: int, *, is_story: bool) -> Example:
    """A page of its own site, with its text in `<div class=story>`, or else in `<div class=remarks>` below."""
    lines = [f"The bridge number {number} over the river was opened on Sunday by the mayor, {n}." for n in "abc"]
    text, rest = ("".join(f"<p>{line}</p>" for line in part) for part in (lines, [line[::-1] for line in lines]))
    first, second = (text, rest) if is_story else (rest, text)
    body = f"<div class=story>{first}</div><div class=remarks>{second}</div>"
    row = {"id": f"{number}", "text": "\n".join(lines), "host": f"s{number}.example"}
    found = example(f"<title>x</title>{body}".encode(), row)
    assert found is not None
    return found


def test_names_are_learned_and_read_again() -> None:
    params = Params(hidden=(8, 4), then=(8, 4), networks=2, epochs=100, batch=64)
    found = learn([page(number, is_story=True) for number in range(12)], 1, params)
    assert found.odds["story"] > 1 > -1 > found.odds["remarks"]
    read = StagedNetwork.of(json.loads(json.dumps(found.model())))
    assert read.model() == found.model()
    document = page(99, is_story=True).document
    chances = read.predict(features(document, read.odds, read.line_odds), Layout.of(document, weigh(document)))
    assert chances[:3].min() > 0.5 > chances[3:].max()


def test_terms_that_stand_outside_of_texts_are_learned() -> None:
    pages = []
    for number in range(12):
        text = f"The bridge number {number} over the river was opened on Sunday by the mayor."
        body = f"<title>x</title><p>{text}</p><p>Subscribe to our newsletter.</p>"
        made = example(body.encode(), {"id": f"{number}", "text": text, "host": f"s{number}.example"})
        assert made is not None
        pages.append(made)
    odds = learn(pages, 1, Params(hidden=(4,), then=(4,), networks=2, epochs=2)).line_odds
    assert odds["subscribe"] == odds["newsletter"] < -1
    assert not {"river", "bridge", "mayor"} & odds.keys()


def test_names_are_scored_by_other_sites() -> None:
    """What a page itself says of a name would tell the answer."""
    odd = TrainingPage.of(page(0, is_story=True))
    pages = [odd, *(TrainingPage.of(page(number, is_story=False)) for number in range(1, 8))]
    train(pages, 1, Params(hidden=(4,), then=(4,), networks=2, epochs=2))
    best, worst = (odd.table.values[odd.table.names.index(f"{name} name")] for name in ("best", "worst"))
    assert odd.content.tolist() == [True] * 3 + [False] * 3
    assert worst[:3].max() < -0.5
    assert best[3:].min() > 0.5


def test_pages_of_a_site_stay_together() -> None:
    assert parts(["a", "b", "a", "c", "b"], 2).tolist() == [0, 1, 0, 0, 1]
    assert parts(["a", "a", "a"], 2).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="too few for 4 networks"):
        parts(["a"], 4)
