"""Methods that see lines and tags rather than a tree: markup, line blocks, body text extraction."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pipelines.document.document import parse
from pipelines.document.markup import cut_pieces, find_places
from pipelines.extract.bte import stretch
from pipelines.extract.lineblocks import curve, humps, lines
from tests.table import each_row

SOURCE = """<title>no
text</title>
<p>one &amp; two<br>
  three</p><!-- four
<p> five -->
<script>if (a<b) six
</SCRIPT >seven 8 < 9
"""


def test_pieces_of_markup() -> None:
    found = cut_pieces(SOURCE)
    assert found.texts == ("one&two", "three", "seven8", "9")
    assert found.lines.tolist() == [2, 3, 6, 6]
    assert found.tags.tolist() == [2, 3, 5, 5]


@each_row("source", ["", " \n", "<p>", "<!-- a", "<script>a", "<title>a"])
def test_markup_without_text(source: str) -> None:
    assert cut_pieces(source).texts == ()


def test_places_of_blocks() -> None:
    document = parse(SOURCE.encode(), "")
    found = cut_pieces(document.source)
    assert [found.texts[at] for at in find_places(document, found)] == ["one&two", "three", "seven8"]


def test_block_that_is_not_in_the_source_moves_nothing() -> None:
    document = parse(b"<p>one</p><p>two</p><p>three</p>", "")
    document.blocks.texts[1] = "changed"
    found = cut_pieces(document.source)
    assert [found.texts[at] for at in find_places(document, found)][::2] == ["one", "three"]


@given(st.text(alphabet="<>!-/ab&;\n ", max_size=80))
def test_any_markup(source: str) -> None:
    found = cut_pieces(source)
    assert len(found.texts) == len(found.lines) == len(found.tags)
    assert np.all(np.diff(found.lines) >= 0)
    assert np.all(np.diff(found.tags) >= 0)
    assert all(found.lines <= source.count("\n"))
    document = parse(source.encode(), "")
    where = find_places(document, cut_pieces(document.source))
    assert len(where) == len(document.blocks)
    assert np.all(np.diff(where) >= 0)


def test_lines_of_one_source_line_stand_apart() -> None:
    document = parse(b"<p>one</p><p>two</p>\n\n<p>three</p>", "")
    assert lines(document).tolist() == [0, 1, 3]


@given(st.lists(st.integers(0, 200), min_size=1, max_size=30), st.integers(1, 6))
def test_curve_is_the_sum_of_the_next_lines(lengths: list[int], width: int) -> None:
    want = [sum(lengths[at : at + width]) for at in range(len(lengths))]
    assert curve(np.array(lengths, np.float64), width).tolist() == want


def test_hump_begins_with_a_surge_and_ends_with_a_dive() -> None:
    values = np.array([0, 30, 90, 100, 40, 0, 0, 50, 0, 87.0])
    assert humps(values, 86, 0) == [(2, 5), (9, 10)]


@given(
    arrays.arrays(np.float64, st.integers(1, 12), elements=st.integers(0, 30)),
    st.lists(st.integers(0, 20), min_size=12, max_size=12),
)
def test_stretch_is_the_best_of_all(tokens: np.ndarray, steps: list[int]) -> None:
    tags = np.cumsum(steps)[: len(tokens)].astype(np.float64)

    def objective(first: int, last: int) -> float:
        """Tags outside plus tokens inside, as the paper writes it."""
        return tokens[first : last + 1].sum() + (tags[-1] - tags[last]) + tags[first]

    best = max(objective(first, last) for last in range(len(tokens)) for first in range(last + 1))
    assert objective(*stretch(tokens, tags)) == best
