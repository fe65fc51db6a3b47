from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pipelines.text.classes.selection import (
    MEASURES,
    Contingency,
    Select,
    chi_square,
    cross_entropy,
    information_gain,
    mutual_information,
    odds_ratio,
    read_select,
    select,
    uncertainty,
)
from tests.table import each_row

# 40 documents, 20 of each class. Term 0 is in 16 of the first class and 4 of the second, term 1 in ten of each, term 2
# in one document of the second, twice.
COUNTS = np.zeros((40, 3))
COUNTS[:16, 0] = COUNTS[20:24, 0] = 1
COUNTS[:10, 1] = COUNTS[20:30, 1] = 1
COUNTS[39, 2] = 2
WANTED = np.repeat(np.eye(2), 20, axis=0)
TABLE = Contingency.of(sp.csr_matrix(COUNTS), WANTED)


def test_counts() -> None:
    assert TABLE.with_term.tolist() == [20, 20, 1]
    assert TABLE.both.tolist() == [[16, 4], [10, 10], [0, 1]]
    assert TABLE.occurrences[2].tolist() == [0, 2]


def test_measures_by_hand() -> None:
    # 40 (16 * 16 - 4 * 4)^2 / (20 * 20 * 20 * 20)
    assert chi_square(TABLE)[0].tolist() == pytest.approx([14.4, -14.4])
    # 1 - H(0.2) bits, half of it of each class
    assert information_gain(TABLE)[0].tolist() == pytest.approx([0.27807 / 2] * 2, abs=1e-4)
    assert mutual_information(TABLE)[0, 0] == pytest.approx(np.log2(1.6), abs=0.02)
    assert odds_ratio(TABLE)[0, 0] == pytest.approx(np.log2(16.5 * 16.5 / 4.5**2))
    assert cross_entropy(TABLE)[0, 0] == pytest.approx(0.5 * 0.8 * np.log2(1.6))
    assert uncertainty(TABLE).tolist() == [[0.8, 0.2], [0.5, 0.5], [0, 1]]


def test_information_gain_of_three_classes_by_hand() -> None:
    # 8 documents: 4 of a, 2 of b, 2 of c; the term is in 2 of a and both of b.
    # H = 4/8 log 2 + 2 (2/8 log 4) = 1.5 bits. With the term a, b are 2 : 2 (1 bit), without it a, c are 2 : 2 (1 bit).
    # Gain 1.5 - (4/8 * 1 + 4/8 * 1) = 0.5. One class against the rest would sum to 0 + 0.3113 + 0.3113.
    wanted = np.repeat(np.eye(3), [4, 2, 2], axis=0)
    counts = sp.csr_matrix(np.array([[1.0], [1], [0], [0], [1], [1], [0], [0]]))
    gain = information_gain(Contingency.of(counts, wanted))
    assert gain.sum() == pytest.approx(0.5)
    assert MEASURES["ig"].join(gain, TABLE).tolist() == pytest.approx([0.5])


@each_row("measure", [chi_square, information_gain, mutual_information, cross_entropy, odds_ratio])
def test_term_of_all_classes_alike_is_worth_nothing(measure) -> None:
    assert measure(TABLE)[1].tolist() == pytest.approx([0, 0], abs=1e-9)


@each_row("name", sorted(set(MEASURES) - {"df", "mi", "mi_mean", "odds"}))
def test_telling_term_comes_first(name: str) -> None:
    assert select(TABLE, Select(name, 1)).tolist() == [0]


def test_selection_never_gives_more_than_there_is() -> None:
    assert sorted(select(TABLE, Select("df", 99)).tolist()) == [0, 1, 2]
    empty = Contingency.of(sp.csr_matrix((0, 0)), np.zeros((0, 2)))
    assert all(len(select(empty, Select(name, 5))) == 0 for name in MEASURES)


def test_combined_selection_leaves_rare_terms_out() -> None:
    rng = np.random.default_rng(0)
    common = (rng.random((40, 1200)) < 0.5).astype(float)
    rare = np.zeros((40, 20))
    rare[:2] = 1
    table = Contingency.of(sp.csr_matrix(np.hstack([rare, common])), WANTED)
    assert min(select(table, Select("df+chi2", 100))) >= 20
    assert len(select(table, Select("df+ig", 100))) == 100


def test_combined_selection_takes_the_best_of_each_class_in_turn() -> None:
    easy = np.repeat(WANTED[:, :1], 5, axis=1)
    hard = WANTED[:, 1:2] * (np.arange(len(WANTED)) % 2)[:, None]
    table = Contingency.of(sp.csr_matrix(np.hstack([easy, hard])), WANTED)
    assert 5 in select(table, Select("df+chi2", 2))
    assert 5 not in select(table, Select("chi2", 2))


@each_row(
    ("text", "why"),
    [("magic:5", "known: df, ig"), ("chi2:0", "from 1 to"), ("chi2:x", "keeps 'x'"), ("", "known")],
)
def test_refuse_a_wrong_selection(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_select(text)
    assert str(read_select("chi2:2000")) == "chi2:2000"
    assert read_select("df+ig") == Select("df+ig")
