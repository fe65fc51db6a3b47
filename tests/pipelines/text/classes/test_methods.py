"""Scores of methods by hand: two terms, and vectors of length 1 along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.text.classes import METHODS, learner
from pipelines.text.classes.classifier import Training
from pipelines.text.classes.vectors import Space, Text, Vector
from tests.table import each_row

SPACE = Space(np.array([1, 2], np.uint32), np.ones(2))
FIRST, SECOND = np.eye(2)


def vector(*values: float) -> Vector:
    columns = np.flatnonzero(values)
    return Vector(columns, np.ones(len(columns)), np.array(values)[columns])


def training(rows: list[Any], wanted: list[list[int]]) -> Training:
    return Training(SPACE, [Text("", "")] * len(rows), [vector(*row) for row in rows], np.array(wanted, np.float64))


@each_row(
    ("params", "scores"),
    [
        # Two texts at squared distance 2, kernel K = exp(-2) = .135335. The best multipliers are 1 / (1 - K) = 1.1565,
        # which puts both at the margin: scores 1 and -1.
        ({"cost": 4, "gamma": 1}, [1.0, -1.0]),
        # Bounded by C = 1: the score is 1 - K.
        ({"cost": 1, "gamma": 1}, [0.864665, -0.864665]),
        # K = exp(-1): 1 - K.
        ({"cost": 1, "gamma": 0.5}, [0.632121, -0.632121]),
    ],
)
def test_gaussian_support_vectors(params: dict[str, float], scores: list[float]) -> None:
    found = learner("svm", params).fit(training([FIRST, SECOND], [[1, 0], [0, 1]]))
    assert found.scores(Text("", ""), vector(1.0, 0.0)).tolist() == pytest.approx(scores, abs=1e-3)
    again = METHODS["svm"].load(found.model(), 2, 2)
    assert again.scores(Text("", ""), vector(1.0, 0.0)).tolist() == pytest.approx(scores, abs=1e-3)


@each_row(
    ("params", "why"),
    [
        ({"cost": 0}, "cost 0.0, gamma 1.0, terms 400: each takes more than 0"),
        ({"gamma": -1}, "gamma -1.0"),
        ({"kernel": "cubic"}, "takes one of gaussian, linear"),
    ],
)
def test_refuse_a_machine_that_cannot_be(params: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        learner("svm", params).fit(training([FIRST, SECOND], [[1, 0], [0, 1]]))


@each_row(
    ("votes", "scores"),
    [
        ("equal", [2 / 3, 1 / 3]),  # two of the three neighbours
        ("cosine", [0.6, 0.4]),  # .6 + .6 against .8
    ],
)
def test_votes_of_neighbours(votes: str, scores: list[float]) -> None:
    rows, wanted = [SECOND, SECOND, FIRST, [-1.0, 0.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    found = learner("knn", {"k": 3, "votes": votes}).fit(training(rows, wanted))
    for one in (found, METHODS["knn"].load(found.model(), 2, 2)):
        assert one.scores(Text("", ""), vector(0.8, 0.6)).tolist() == pytest.approx(scores)


def test_refuse_no_neighbours() -> None:
    with pytest.raises(ValueError, match="k and terms are 0 and 80"):
        learner("knn", {"k": 0}).fit(training([FIRST, SECOND], [[1, 0], [0, 1]]))
