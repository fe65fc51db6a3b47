"""Least-squares planes over words and runs, leaned towards naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy.sparse as sp

from . import svm
from .classifier import Classifier, Training
from .vectors import Numbers

NAME: Final = "combined"
_ACCURACY: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Params:
    """Constants.

    Attributes:
        smoothness: pull of the weights to 0.
        bayes: weight of the likelihoods beside the planes.
        smooth: occurrences that every term is given in every class.
        steps: most steps of the solver.
    """

    smoothness: float = 0.2
    bayes: float = 0.3
    smooth: float = 0.1
    steps: int = 200


def fit(training: Training, params: Params) -> Classifier:
    """Learn planes, and add what naive Bayes says of each term.

    Both are linear in the unit vectors, so their sum is one table of weights. Naive Bayes knows a term from few texts
    already; the planes know which terms say the same thing.

    Cost: O(steps x occurrences x classes).

    Source: S23; the union after Wang and Manning 2012, "Baselines and Bigrams" (NBSVM); least squares instead of the
    hinge after Suykens and Vandewalle 1999: as good here, and all classes are solved at once.
    Differs: the log-count ratios are added to the planes instead of scaling their inputs.
    """
    matrix = training.matrix()
    target = 2 * training.wanted - 1
    bias = target.mean(axis=0)
    planes = np.asarray(matrix.T @ _solve(matrix, target - bias, params))
    own = np.asarray(matrix.T @ training.wanted) + params.smooth
    other = np.asarray(matrix.sum(axis=0)).reshape(-1, 1) - np.asarray(matrix.T @ training.wanted) + params.smooth
    ratios = np.log(own / own.sum(axis=0)) - np.log(other / other.sum(axis=0))
    votes = np.asarray(matrix @ ratios)
    shift, spread = votes.mean(axis=0), np.maximum(votes.std(axis=0), 1e-9)
    lean = params.bayes * np.asarray(matrix @ planes).std(axis=0) / spread
    return svm.Planes(planes + lean * ratios, bias - lean * shift)


def _solve(matrix: sp.csr_matrix, target: Numbers, params: Params) -> Numbers:
    """Solve (M M' + smoothness) x = target by conjugate gradients."""
    solution = np.zeros(target.shape)
    rest = target.copy()
    direction = rest.copy()
    size = (rest**2).sum(axis=0)
    least = _ACCURACY**2 * np.maximum(size, 1e-12)
    for _ in range(params.steps):
        moved = np.asarray(matrix @ (matrix.T @ direction)) + params.smoothness * direction
        step = size / np.maximum((direction * moved).sum(axis=0), 1e-30)
        solution += step * direction
        rest -= step * moved
        following = (rest**2).sum(axis=0)
        if (following <= least).all():
            break
        direction = rest + following / np.maximum(size, 1e-30) * direction
        size = following
    return solution


load = svm.load
