from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.response.seen_urls import KnownUrls


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9))), st.integers(2, 200))
def test_remembers_the_smallest_depth_of_what_it_remembers(noted: list[tuple[int, int]], most: int) -> None:
    memory, smallest = KnownUrls(most), {}
    for key, depth in noted:
        memory.note(key, depth)
        smallest[key] = min(depth, smallest.get(key, depth))
        assert memory.get(key) is not None, "what was noted last is there"
    if most >= 2 * len(smallest) + 2:
        assert {key: memory.get(key) for key in smallest} == smallest
    assert all(memory.get(key) is None or memory.get(key) >= depth for key, depth in smallest.items())


def test_is_bounded_and_forgets_what_was_not_asked_for() -> None:
    memory = KnownUrls(100)
    for key in range(1_000):
        memory.note(key, 1)
        assert memory.get(0) == 1, "asked for all the time"
    remembered = sum(key in memory for key in range(1_000))
    assert 50 <= remembered <= 100
    assert memory.depths([0, 1, 999]) == [1, None, 1]


def test_clear() -> None:
    memory = KnownUrls(100)
    memory.note(1, 1)
    memory.clear()
    assert 1 not in memory
    assert memory.get(1) is None
