"""Words of a page and targets of its links as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.focus.record import pack, unpack
from pipelines.focus.terms import read_text
from tests.table import each_row

PAGE = read_text("rivers and stone bridges", [("bridges", "http://a.test/b"), ("rivers", "http://a.test/r")])


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2))
def test_comes_back_as_it_was(targets: list[int]) -> None:
    page, found = unpack(pack(PAGE, targets))
    assert found.tolist() == targets
    assert page.terms.tolist() == PAGE.terms.tolist()
    assert page.anchors.tolist() == PAGE.anchors.tolist()
    assert len(page) == len(targets)


def test_page_without_words_or_links() -> None:
    page, found = unpack(pack(read_text(""), ()))
    assert len(page) == len(page.terms) == len(found) == 0


def test_one_target_for_each_link() -> None:
    with pytest.raises(ValueError, match="3 targets for 2 links"):
        pack(PAGE, (1, 2, 3))


@each_row("cut", [0, 3, 10, -1])
def test_incomplete_bytes_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"take at least|start with"):
        unpack(pack(PAGE, (1, 2))[:cut])
