"""Humps of line blocks, and the stretch with most words and fewest tags."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.document.document import parse
from pipelines.extract import bte
from pipelines.extract.lineblocks import Params, curve, extract, humps

LINE = "负责施工的工程师说，最难的是深水区的三座主墩，每天只有两个小时的平潮期可以作业。"


def test_curve_and_hump_by_hand() -> None:
    blocks = curve(np.array([0.0, 0, 30, 40, 0, 5, 0, 0]), 3)
    assert blocks.tolist() == [30, 70, 70, 45, 5, 5, 0, 0]
    # Text begins where a block rises above the surge and ends where one falls to the dive.
    assert humps(blocks, surge=60, dive=0) == [(1, 6)]
    assert humps(blocks, surge=60, dive=5) == [(1, 4)]
    assert humps(blocks, surge=80, dive=0) == []


def test_humps_close_to_the_greatest_are_text_too() -> None:
    body = f"<p>{LINE}</p>\n<p>{LINE}</p>\n{{}}<p>{LINE}</p>\n"
    near, far = body.format("\n" * 10), body.format("\n" * 60)
    params = Params(width=1, surge=20, dive=0, gap=20)
    assert extract(parse(near.encode(), ""), params).text == "\n".join([LINE] * 3)
    assert extract(parse(far.encode(), ""), params).text == "\n".join([LINE] * 2)


def test_stretch_by_hand() -> None:
    # Blocks of 1, 9, 2, 9 and 1 words; 3 tags before the first, then 5, 1, 1 and 9 more.
    tokens, tags = np.array([1.0, 9, 2, 9, 1]), np.array([3.0, 8, 9, 10, 19])
    # Words inside less tags inside: [1, 3] holds 20 words and 2 tags; with the first block 1 word and 5 tags more.
    assert bte.stretch(tokens, tags) == (1, 3)
    every = {(a, b): tokens[a : b + 1].sum() - (tags[b] - tags[a]) for a in range(5) for b in range(a, 5)}
    assert max(every, key=lambda ends: every[ends]) == (1, 3)


def test_word_weighs_as_much_as_a_tag() -> None:
    with pytest.raises(ValueError, match="above 0"):
        bte.Params(token_chars=0)
