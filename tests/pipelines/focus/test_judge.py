from __future__ import annotations

import numpy as np
from scipy import sparse

from pipelines.focus.judge import Params, judge

BRIDGE, RIVER, STEEL, RICE, BUTTER, CITY = range(6)
WORDS = 8


def pages(*rows: tuple[int, ...]) -> sparse.csr_matrix:
    table = np.zeros((len(rows), WORDS), np.float32)
    for row, words in enumerate(rows):
        table[row, list(words)] = 2.0
    return sparse.csr_matrix(table)


ON_TOPIC = [(BRIDGE, RIVER, CITY), (BRIDGE, STEEL), (BRIDGE, RIVER, STEEL), (RIVER, STEEL, CITY)]
OTHERS = [(RICE, BUTTER), (RICE, CITY), (BUTTER, CITY), (RICE, BUTTER, CITY)] * 3
WANTED = np.eye(WORDS, dtype=np.float32)[BRIDGE]
NOTHING = np.zeros(WORDS, np.float32)
NONE = np.zeros(0, np.int64)


def test_words_that_pages_of_the_topic_share_come_to_count() -> None:
    """The fourth page does not name the topic, but has the words of those that do."""
    found = judge(pages(*ON_TOPIC, *OTHERS), WANTED, NOTHING, NONE)
    assert found.similarity[3] == 0
    assert found.relevance[:4].min() > found.relevance[4:].max()
    assert found.odds[RIVER] > 0 > found.odds[RICE] or found.odds[RICE] == 0
    assert found.promise[STEEL] > 0 > found.promise[RICE]


def test_without_description_the_seeds_are_the_topic() -> None:
    found = judge(pages(*ON_TOPIC, *OTHERS), NOTHING, NOTHING, np.array([0, 1]))
    assert found.relevance[:4].min() > found.relevance[4:].max()


def test_seeds_off_the_topic_do_not_become_it() -> None:
    named = [(BRIDGE, RIVER), (BRIDGE, STEEL), (BRIDGE, RIVER, STEEL), (BRIDGE, CITY)]
    found = judge(pages((RICE, BUTTER), (RICE, BUTTER, CITY), *named, *OTHERS), WANTED, NOTHING, np.array([0, 1]))
    assert found.topic[BRIDGE] > found.topic[RICE]
    assert found.relevance[2:6].min() > found.relevance[:2].max()


def test_empty_pages_are_defined() -> None:
    found = judge(pages((), (), ()), WANTED, NOTHING, np.array([0]), Params())
    assert np.isfinite(found.relevance).all()
    one = judge(pages((BRIDGE,)), WANTED, NOTHING, NONE)
    assert np.isfinite(one.odds).all()


def test_judgement_is_bounded_and_repeatable() -> None:
    rng = np.random.default_rng(3)
    table = sparse.csr_matrix(rng.poisson(0.5, (60, WORDS)).astype(np.float32))
    first, second = (judge(table, WANTED, NOTHING, np.array([1, 2])) for _ in range(2))
    assert np.array_equal(first.relevance, second.relevance)
    assert 0 <= first.relevance.min() <= first.relevance.max() <= 1.5
