from __future__ import annotations

from itertools import pairwise

from pipelines.document.tokens import character_pairs


def test_pairs_of_runs_of_any_length_are_neighbours() -> None:
    run = "河口大桥年底通车𠀀𠀁" * 5
    for length in range(len(run) + 1):
        assert character_pairs(run[:length]) == ["".join(pair) for pair in pairwise(run[:length])]
