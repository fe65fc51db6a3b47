"""Experiments on the main text, on the bundled newsroom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from crawler.demo.samples import sample_pages
from pipelines.replicate.extraction import _halves, decay, density, fuse, leaves, titles, weights
from pipelines.training.examples import Example, example


@cache
def pages() -> Sequence[Example]:
    """Every fourth page of each site."""
    read = [example(body, row) for body, row in sample_pages()]
    return [page for page in read[::4] if page is not None]


def test_weights_by_a_swarm_are_tested_on_other_sites() -> None:
    done = weights(pages(), 1)
    rows = {row.name: row for row in done.rows}
    assert rows["learned by a swarm"].paper == {"P": 0.867, "R": 0.958, "F": 0.9104}
    assert all(0 < row.ours["F"] <= 1 for row in done.rows)
    learned, tested = _halves(pages(), 1)
    assert not {page.site for page in learned} & {page.site for page in tested}
    assert len(learned) + len(tested) == len(pages())
    assert weights(pages(), 1).rows == done.rows
    with pytest.raises(ValueError, match="all of one site"):
        weights([page for page in pages() if page.site == pages()[0].site], 1)


def test_fusion_counts_what_is_left() -> None:
    rows = {row.name: row for row in fuse(pages(), 1).rows}
    assert rows["pruning and fusing"].paper == {"fusion rate": 0.628}
    assert 0 < rows["pruning and fusing"].ours["fusion rate"] < 1
    assert 0 < rows["densities alone"].ours["F"] <= 1


def test_single_methods_stand_beside_the_combined_one() -> None:
    for experiment, name in ((density, "density"), (decay, "decay"), (leaves, "leaves")):
        own, combined = experiment(pages(), 1).rows
        assert (own.name, combined.name) == (name, "combined")
        assert 0 < own.ours["F"] <= combined.ours["F"] <= 1
        assert 0 <= own.ours["pages right"] <= 1


def test_titles_by_two_sets_of_thresholds() -> None:
    calibrated, printed, combined = titles(pages(), 1).rows
    assert calibrated.ours != printed.ours
    assert combined.ours["F"] > calibrated.ours["F"]


def test_pages_without_known_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="no page has a known text"):
        density([], 1)
