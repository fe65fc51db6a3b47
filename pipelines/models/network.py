"""Dense networks: standardised inputs, rectified hidden layers, several votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import pack, unpack

Numbers = NDArray[Any]
"""Of 4 or 8 bytes each, the same in all parts of a network."""

BOUND: Final = 5.0
"""Standardised inputs are clipped to it on both sides."""
_DIGITS: Final = 4


def standardise(values: Numbers, shift: Numbers, scale: Numbers, bound: float = BOUND) -> Numbers:
    scaled: Numbers = values - shift
    scaled *= scale
    return np.maximum(np.minimum(scaled, bound, out=scaled), -bound, out=scaled)


@dataclass(frozen=True, slots=True, eq=False)
class DenseNetwork:
    """Several trained networks of the same shape; `features` may be empty.

    `shift` is taken from each input, which is then multiplied by `scale` and held within `bound` (infinite for none).
    Weights are per layer a stack (networks, outputs, inputs), biases one of columns (networks, outputs, 1).
    """

    features: tuple[str, ...]
    shift: Numbers
    scale: Numbers
    weights: tuple[Numbers, ...]
    biases: tuple[Numbers, ...]
    bound: float = BOUND

    def standardise(self, values: Numbers) -> Numbers:
        return standardise(values, self.shift, self.scale, self.bound)

    def outputs(self, inputs: Numbers, which: slice = slice(None)) -> Numbers:
        """Return (networks, outputs, samples) of the last layer, of some networks or all."""
        first = self.weights[0][which]
        # All networks see the same input: one product for the first layer of all of them.
        joined = first.reshape(-1, first.shape[2]) @ inputs
        layer: Numbers = joined.reshape(len(first), first.shape[1], -1)
        layer += self.biases[0][which]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            np.maximum(layer, 0, out=layer)
            layer = weights[which] @ layer
            layer += biases[which]
        return layer

    def model(self) -> dict[str, object]:
        """Return the networks as JSON keeps them, numbers to four digits."""
        return {
            "features": list(self.features),
            "bound": self.bound if np.isfinite(self.bound) else None,
            "shift": pack(self.shift, _DIGITS),
            "scale": pack(self.scale, _DIGITS),
            "weights": [pack(layer, _DIGITS) for layer in self.weights],
            "biases": [pack(layer, _DIGITS) for layer in self.biases],
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Self:
        """Return the networks that `model` describes; `ValueError` if shapes do not fit."""
        weights, biases = (tuple(map(unpack, model[name])) for name in ("weights", "biases"))
        bound = np.inf if model["bound"] is None else float(model["bound"])
        network = cls(tuple(model["features"]), unpack(model["shift"]), unpack(model["scale"]), weights, biases, bound)
        count, inputs = len(weights[0]), len(network.shift)
        for layer, bias in zip(weights, biases, strict=True):
            outputs = layer.shape[1]
            if layer.shape != (count, outputs, inputs) or bias.shape != (count, outputs, 1):
                raise ValueError(f"a layer of shape {layer.shape} with biases {bias.shape} behind {inputs} values")
            inputs = outputs
        if network.scale.shape != network.shift.shape or len(network.features) not in {0, len(network.shift)}:
            raise ValueError(f"{len(network.features)} features, {len(network.shift)} shifts")
        return network
