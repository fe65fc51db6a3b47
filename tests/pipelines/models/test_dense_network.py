"""Dense networks: the forward pass beside one by hand, files, and shapes that do not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pipelines.models.network import DenseNetwork


def network(dtype: str = "f8", bound: float = 5.0) -> DenseNetwork:
    random = np.random.default_rng(3)
    sizes = (4, 6, 3, 2)
    layers = list(pairwise(sizes))
    return DenseNetwork(
        ("a", "b", "c", "d"),
        random.random((4, 1)).astype(dtype),
        random.random((4, 1)).astype(dtype),
        tuple(random.normal(size=(3, outputs, inputs)).astype(dtype) for inputs, outputs in layers),
        tuple(random.normal(size=(3, outputs, 1)).astype(dtype) for _, outputs in layers),
        bound,
    )


def test_outputs_are_those_of_each_network_by_hand() -> None:
    networks, values = network(), np.random.default_rng(4).normal(size=(4, 7)) * 10
    inputs = networks.standardise(values)
    assert np.abs(inputs).max() == 5
    outputs = networks.outputs(inputs)
    assert outputs.shape == (3, 2, 7)
    for number in range(3):
        layer = inputs
        for depth, (weights, biases) in enumerate(zip(networks.weights, networks.biases, strict=True)):
            layer = weights[number] @ (layer if depth == 0 else np.maximum(layer, 0)) + biases[number]
        assert np.allclose(layer, outputs[number])
    assert np.array_equal(networks.outputs(inputs, slice(1, None)), outputs[1:])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bound", [5.0, np.inf])
def test_network_of_a_file_is_the_same_to_four_digits(dtype: str, bound: float) -> None:
    networks = network(dtype, bound)
    again = DenseNetwork.of(json.loads(json.dumps(networks.model(), allow_nan=False)))
    assert (again.features, again.bound, again.weights[0].dtype) == (networks.features, bound, np.dtype(dtype))
    assert all(np.allclose(*pair, rtol=1e-3) for pair in zip(networks.weights, again.weights, strict=True))
    twice = DenseNetwork.of(again.model())
    assert all(np.array_equal(*pair) for pair in zip(twice.biases, again.biases, strict=True))


@pytest.mark.parametrize("part", ["shift", "scale", "weights", "biases", "features"])
def test_shapes_that_do_not_fit_are_refused(part: str) -> None:
    networks = network()
    value = getattr(networks, part)
    wrong = replace(networks, **{part: value[:-1]})
    with pytest.raises(ValueError, match=r"shape|features|zip"):
        DenseNetwork.of(wrong.model())
