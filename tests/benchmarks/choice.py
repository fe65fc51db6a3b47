"""Training of a small network that chooses one of a page's candidates (softmax over the candidates of a page)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipelines.models import files
from pipelines.models.network import DenseNetwork
from tests.benchmarks.data import require_data

from .commands import new_parser

HIDDEN: Final = 16
BATCH: Final = 32
RATE: Final = 3e-3

Example = TypeVar("Example")
Matrix = NDArray[np.float64]
Weights = list[Matrix]
Pages = Sequence[tuple[Matrix, Matrix]]
"""Rows of the candidates of each page, and 1 for each that is right."""


def learn(rows: Matrix, pages: Pages, networks: int, epochs: int, decay: float = 1e-2) -> Weights:
    """Mean, scale, hidden, bias and out of several networks side by side, which differ in what chance began with.

    `rows` are those that inputs are standardised by.
    """
    alone = [learn_one(rows, pages, epochs, decay, seed) for seed in range(networks)]
    mean, scale, *_ = alone[0]
    return [mean, scale, *(np.concatenate([one[part] for one in alone], axis=-1) for part in (2, 3, 4))]


def network_of(weights: Weights) -> DenseNetwork:
    """Return weights as the network that the crawl uses."""
    mean, scale, hidden, bias, out = weights
    layers, biases = (hidden.T[None], out[None, None]), (bias[None, :, None], np.zeros((1, 1, 1)))
    return DenseNetwork((), mean[:, None], scale[:, None], layers, biases, np.inf)


def learn_one(rows: Matrix, pages: Pages, epochs: int, decay: float, seed: int) -> Weights:
    """Mean, scale, hidden, bias and out of a network whose right candidate is to have the most points (softmax)."""
    mean, scale = rows.mean(0), 1 / (rows.std(0) + 1e-3)
    data = [((one - mean) * scale, right) for one, right in pages]
    random = np.random.default_rng(seed)
    size = len(mean)
    weights = [random.normal(0, size**-0.5, (size, HIDDEN)), np.zeros(HIDDEN), random.normal(0, HIDDEN**-0.5, HIDDEN)]
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    batches = [start for _ in range(epochs) for start in range(0, len(data), BATCH)]
    order = random.permutation(len(data))
    for step, start in enumerate(batches, 1):
        if not start:
            order = random.permutation(len(data))
        slopes = _slopes(weights, [data[number] for number in order[start : start + BATCH]], decay)
        rate = RATE * (1 - step / len(batches))
        for number, slope in enumerate(slopes):
            first[number] = 0.9 * first[number] + 0.1 * slope
            second[number] = 0.999 * second[number] + 0.001 * slope**2
            root = np.sqrt(second[number] / (1 - 0.999**step)) + 1e-8
            weights[number] = weights[number] - rate * first[number] / (1 - 0.9**step) / root
    return [mean, scale, *weights]


def _slopes(weights: Weights, batch: Sequence[tuple[Matrix, Matrix]], decay: float) -> Weights:
    """Slopes of the mean cross-entropy of some pages."""
    hidden, bias, out = weights
    rows, right = np.concatenate([one for one, _ in batch]), np.concatenate([one for _, one in batch])
    counts = np.array([len(one) for _, one in batch])
    starts, page = np.cumsum(counts) - counts, np.repeat(np.arange(len(batch)), counts)
    active = np.maximum(rows @ hidden + bias, 0)
    points = active @ out
    shares = np.exp(points - np.maximum.reduceat(points, starts)[page])
    shares /= np.add.reduceat(shares, starts)[page]
    wanted = shares * right
    wanted /= np.maximum(np.add.reduceat(wanted, starts)[page], 1e-12)
    slope = (shares - wanted) / len(batch)
    inner = np.outer(slope, out) * (active > 0)
    return [rows.T @ inner + decay * hidden, inner.sum(0), active.T @ slope + decay * out]


def run(
    doc: str | None,
    name: str,
    module: str,
    corpora: Sequence[str],
    *,
    examples: Callable[[Sequence[str]], Iterable[Example]],
    check: Callable[[Sequence[Example]], None],
    learn_from: Callable[[Sequence[Example]], DenseNetwork],
) -> int:
    """Train and write the network `name`, or check it, as the command line of `module` says."""
    options = new_parser(doc)
    options.add_argument("corpora", nargs="*", default=list(corpora))
    options.add_argument("--check", action="store_true", help="say how it does on sites not learned from")
    options.add_argument("--output", type=Path, default=files.path(name))
    chosen = options.parse_args()
    require_data()
    every = list(examples(chosen.corpora))
    if chosen.check:
        check(every)
        return 0
    made_by = f"python -m tests.benchmarks.{module} {' '.join(chosen.corpora)}"
    text = files.dumps(name, learn_from(every).model(), made_by, {"pages": len(every)})
    chosen.output.write_text(text, encoding="utf-8")
    return 0
