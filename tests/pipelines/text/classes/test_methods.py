"""Scores of methods by hand: two terms, and vectors of length 1 along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.text.classes import METHODS, learner
from pipelines.text.classes.classifier import Training
from pipelines.text.classes.fuzzy import count_class_words
from pipelines.text.classes.vectors import Space, Text, Vector, hash_words
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


def test_memberships_of_class_words_and_of_a_text() -> None:
    # The first class has word 1 six times and word 2 twice, the second once and three times; no smoothing.
    # Rates 6/8, 1/4 and 2/8, 3/4: degrees .75, .25 and .25, .75, of which .25 is below the least of .3.
    # A text with three times the first word and once the second: (3 * .75, 1 * .75), as shares .75 and .25.
    rows = [Vector(np.arange(2), np.array(counts), np.ones(2)) for counts in ([6.0, 2.0], [1.0, 3.0])]
    found = learner("fuzzy", {"smooth": 0}).fit(Training(SPACE, [Text("", "")] * 2, rows, np.eye(2)))
    ask = Vector(np.arange(2), np.array([3.0, 1.0]), np.ones(2))
    assert found.scores(Text("", ""), ask).tolist() == pytest.approx([0.75, 0.25])


def test_synonyms_add_a_fraction_to_the_most_frequent() -> None:
    # Words 酒店 (3 times) and 宾馆 (twice), closeness .5: 3 + .5 * 2 = 4, and 0; 机票 once stays. Degrees are 1 each.
    words = ("酒店", "宾馆", "机票")
    ids = np.array(sorted(hash_words(words)), np.uint32)
    column = {word: int(np.searchsorted(ids, number)) for word, number in zip(words, hash_words(words), strict=True)}
    wanted = np.zeros((3, 3))
    rows = []
    for number, word in enumerate(words):
        rows.append(Vector(np.array([column[word]]), np.ones(1), np.ones(1)))
        wanted[number, number] = 1
    synonyms = {("酒店", "宾馆"): 0.5, ("酒店", "xyz"): 1.0}
    space = Space(ids, np.ones(3))
    found = learner("fuzzy", {"smooth": 0}).fit(Training(space, [Text("", "")] * 3, rows, wanted, synonyms))
    counts = np.zeros(3)
    for word, count in zip(words, (3.0, 2.0, 1.0), strict=True):
        counts[column[word]] = count
    for one in (found, METHODS["fuzzy"].load(found.model(), 3, 3)):
        scores = one.scores(Text("", ""), Vector(np.arange(3), counts, np.ones(3)))
        assert scores.tolist() == pytest.approx([4 / 5, 0, 1 / 5])


def test_words_of_title_headings_and_key_sentences_count_more() -> None:
    # 桥梁: once in a key sentence (1 + 2), once in the other; in the title 4 more, in h2 2 more. 河流: in a plain one.
    text = Text("桥梁", "本项目旨在保护桥梁。河流上的桥梁。", (("h2", "桥梁"),))
    found = dict(zip(*(column.tolist() for column in count_class_words(text)), strict=True))
    bridge, river = hash_words(("桥梁", "河流"))
    assert (found[bridge], found[river]) == (4 + 4 + 2, 1)
