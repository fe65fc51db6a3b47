"""Training of the networks of the extractor `combined`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..combined import weigh
from ..features import NAMED, UNNAMED, features
from ..network import BlockNetwork, Matrix, standardise
from .examples import Example

_DEAREST: Final = 0.5
_CHEAPEST: Final = 0.002
"""Bounds of what an error on a block costs in training, as shares of the page's text."""
_NAMELESS: Final = 0.3
"""Share of the examples that are seen without names too."""


@dataclass(frozen=True, slots=True)
class Params:
    """Sizes and steps of a training.

    Attributes:
        hidden: sizes of the hidden layers.
        networks: how many are trained.
        epochs: passes over the examples.
        batch: examples per step.
        rate: step size of Adam.
        decay: strength of the pull of the weights to 0, in units of one example.
    """

    hidden: tuple[int, ...] = (96, 32)
    networks: int = 4
    epochs: int = 30
    batch: int = 2048
    rate: float = 1e-3
    decay: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Examples to learn from.

    Attributes:
        features: names of the inputs.
        values: a row per feature, a column per example.
        content: what each example is.
        costs: what an error on each example costs.
    """

    features: tuple[str, ...]
    values: Matrix
    content: NDArray[np.bool_]
    costs: Matrix


def learn(pages: Iterable[Example], seed: int, params: Params) -> BlockNetwork:
    """Return networks trained on pages whose texts are known.

    An error on a block costs what it costs in F1: its share of the page's text, so that every page counts the same.

    Args:
        pages: examples; their documents are not kept.
        seed: of all draws.
        params: of the training.

    Raises:
        ValueError: no page has a block.

    Cost: minutes for a thousand pages, and 0.7 KB a block.
    """
    names: tuple[str, ...] = ()
    values, content, costs = [], [], []
    for page in pages:
        if len(page.document.blocks):
            table = features(page.document)
            names = table.names
            values.append(table.values)
            content.append(page.content)
            costs.append(_costs(page))
    if not values:
        raise ValueError("there is no page with text to learn from")
    examples = TrainingSet(names, np.concatenate(values, axis=1), np.concatenate(content), np.concatenate(costs))
    return fit(_with_nameless(examples, seed), seed, params)


def _with_nameless(examples: TrainingSet, seed: int) -> TrainingSet:
    """Add some examples again as if no container had a telling name.

    Other sites use other words.
    """
    chosen = np.flatnonzero(np.random.default_rng(seed).random(examples.values.shape[1]) < _NAMELESS)
    again = examples.values[:, chosen]
    again[[number for number, name in enumerate(examples.features) if name in NAMED]] = UNNAMED
    return TrainingSet(
        examples.features,
        np.concatenate((examples.values, again), axis=1),
        np.concatenate((examples.content, examples.content[chosen])),
        np.concatenate((examples.costs, examples.costs[chosen])),
    )


def _costs(page: Example) -> NDArray[np.float32]:
    """Return the cost of an error on each block: its share of the page's text."""
    mass = np.where(page.weights > 0, weigh(page.document), 0.0)
    text = float(mass[page.content].sum()) if page.article else float(mass.sum())
    costs: NDArray[np.float32] = (np.minimum(mass / max(text, 1.0), _DEAREST) + _CHEAPEST).astype(np.float32)
    return costs


def fit(examples: TrainingSet, seed: int, params: Params) -> BlockNetwork:
    """Train networks on examples.

    Args:
        examples: the examples.
        seed: of the draws; the same seed gives the same networks.
        params: sizes and steps.

    Returns:
        The networks.

    Raises:
        ValueError: all examples are of one class.
        ImportError: scikit-learn is not installed; only training needs it.

    Cost: O(networks x epochs x examples x weights of a network).
    Source: scikit-learn's `MLPClassifier`: weighted cross-entropy, steps by Kingma and Ba, Adam, 2015.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra; a crawl does without it
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    if examples.content.all() or not examples.content.any():
        raise ValueError("all blocks to learn from are of one kind; content and other blocks are both needed")

    values = examples.values
    shift = values.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    scale = 1 / (values.std(axis=1, keepdims=True, dtype=np.float64).astype(np.float32) + np.float32(1e-3))
    inputs = np.ascontiguousarray(standardise(values, shift, scale).T)
    costs = (examples.costs / examples.costs.mean()).astype(np.float32)
    trained = [
        MLPClassifier(
            params.hidden,
            alpha=params.decay,
            batch_size=min(params.batch, len(inputs)),
            learning_rate_init=params.rate,
            max_iter=params.epochs,
            n_iter_no_change=params.epochs,
            random_state=seed + number,
        )
        for number in range(params.networks)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is ours
        for network in trained:
            network.fit(inputs, examples.content, sample_weight=costs)
    layers = range(len(params.hidden) + 1)
    return BlockNetwork(
        examples.features,
        shift,
        scale,
        tuple(np.stack([network.coefs_[layer].T for network in trained]) for layer in layers),
        tuple(np.stack([network.intercepts_[layer][:, None] for network in trained]) for layer in layers),
    )
