from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pipelines.focus.context import Params, layers, promise


def test_layers_are_links_towards_a_target() -> None:
    relevance = np.array([0, 0, 0, 1, 0], np.float32)
    sources, targets = np.array([0, 1, 2, 4]), np.array([1, 2, 3, 0])  # 4 -> 0 -> 1 -> 2 -> 3
    assert layers(relevance, sources, targets, Params(layers=2, targets=0.2)).tolist() == [3, 2, 1, 0, 3]


def test_no_links_leave_targets_and_the_rest() -> None:
    none = np.zeros(0, np.int32)
    assert layers(np.array([0.1, 0.9], np.float32), none, none).tolist() == [3, 0]


def test_words_of_a_layer_tell_the_distance() -> None:
    """Ten pages each: targets say word 0, pages before them word 1, others word 2."""
    rows = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    layer = np.repeat(np.array([0, 1, 3], np.int8), 10)
    found = promise(sparse.csr_matrix(rows * 5), layer, np.full(3, 3.0, np.float32))
    targets, before, others = found[:10], found[10:20], found[20:]
    assert targets.min() > before.max()
    assert before.min() > others.max() >= 0
    assert targets.max() <= 1


def test_promise_of_two_pages_by_hand() -> None:
    # Page 0 is a target with word A, page 1 far out with word B; layers 0, 1 and beyond, decay .5. The prior adds 200 x
    # .5 to each word: P(A|0) = 101/201, P(A|1) = 100/200, P(A|beyond) = 100/201. Layers: 2/3, 1/3, 2/3 (one added).
    # Page 0: .334992 + .166667 + .331675 = .833333, shares .401990, .2, .398010; worth 1, .5, .25.
    found = promise(sparse.csr_matrix(np.eye(2, dtype=np.float32)), np.array([0, 2], np.int8), np.ones(2), Params(1))
    assert found.tolist() == pytest.approx([0.601493, 0.598507], abs=1e-5)
