"""The network learns what a line of weights could not, and is the same for the same seed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from pipelines.extract.learning.combined import Params, TrainingSet, fit
from pipelines.extract.network import BlockNetwork


def examples(seed: int = 3, count: int = 4000) -> TrainingSet:
    """Two inputs; content where exactly one of them is high: no weighted sum can tell."""
    draws = np.random.default_rng(seed)
    values = draws.uniform(-1, 1, (2, count)).astype(np.float32)
    content = (values[0] > 0) != (values[1] > 0)
    return TrainingSet(("left", "right"), values, content, np.ones(count, np.float32))


SMALL = Params(hidden=(16, 8), networks=2, epochs=20, batch=256, rate=1e-2)


def test_learns_features_that_act_together() -> None:
    found = fit(examples(), 1, SMALL)
    other = examples(seed=9)
    chances = found.predict(other.values)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert ((chances > 0.5) == other.content).mean() > 0.95


def test_costs_decide_what_is_learned() -> None:
    """Where the same block is content on one page and none on another, the dearer page is believed."""
    patient = replace(SMALL, epochs=400)
    values = np.tile(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32).repeat(2, axis=1), 128)
    content = np.arange(512) % 2 == 0
    for dear in (True, False):
        costs = np.where(content == dear, 9.0, 1.0).astype(np.float32)
        chance = fit(TrainingSet(("left", "right"), values, content, costs), 1, patient).predict(values[:, :1])[0]
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
    read = BlockNetwork.of(json.loads(json.dumps(found.model())))
    assert read.features == ("left", "right")
    values = examples(seed=5).values
    assert np.abs(read.predict(values) - found.predict(values)).max() < 0.01


def test_votes_are_the_mean_of_single_networks() -> None:
    found = fit(examples(), 1, SMALL)
    values = examples(seed=5).values[:, :50]
    single = [
        BlockNetwork(
            found.features, found.shift, found.scale,
            tuple(layer[number : number + 1] for layer in found.weights),
            tuple(layer[number : number + 1] for layer in found.biases),
        ).predict(values)
        for number in range(2)
    ]  # fmt: skip
    assert np.allclose(np.mean(single, axis=0), found.predict(values), atol=1e-6)
