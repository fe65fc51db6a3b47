from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.dedup.candidates import CandidateParams, ShingleIndex, rank


def test_most_shared_first_then_arrival() -> None:
    index = ShingleIndex()
    index.add(1, [1, 2, 3])
    index.add(2, [1, 2, 3, 4])
    index.add(3, [4, 3, 1])
    index.add(4, [9])
    assert index.candidates([1, 2, 3, 4, 9]) == [(2, 4), (1, 3), (3, 3)]


def test_one_shared_shingle_is_not_enough() -> None:
    index = ShingleIndex()
    index.add(1, [1, 2])
    assert index.candidates([1]) == []


def test_a_common_shingle_finds_nothing_and_stops_growing() -> None:
    index = ShingleIndex(CandidateParams(max_postings=3, min_shared=1))
    for article in range(2):
        index.add(article, [7])
    assert index.candidates([7]) == [(0, 1), (1, 1)]
    for article in range(2, 10):
        index.add(article, [7])
    assert index.candidates([7]) == []


def test_no_more_candidates_than_asked_for() -> None:
    assert rank(list(range(100)) * 2, CandidateParams(max_candidates=5)) == [(number, 2) for number in range(5)]


@given(st.lists(st.sets(st.integers(0, 30), max_size=12), max_size=15), st.sets(st.integers(0, 30), max_size=12))
@settings(deadline=None, max_examples=100)
def test_the_index_agrees_with_comparing_everything(stored: list[set[int]], new: set[int]) -> None:
    index = ShingleIndex(CandidateParams(max_candidates=100))
    for article, shingles in enumerate(stored):
        index.add(article, shingles)
    shared = [(article, len(shingles & new)) for article, shingles in enumerate(stored)]
    expected = sorted((pair for pair in shared if pair[1] >= 2), key=lambda pair: (-pair[1], pair[0]))
    assert index.candidates(new) == expected
