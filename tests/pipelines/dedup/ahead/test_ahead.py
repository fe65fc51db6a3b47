"""Streams whose answers were made beforehand, all or some: the same pairs as without."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup import THRESHOLD, method
from pipelines.dedup.ahead.recorded import Recorded, RecordedLines, Reference
from pipelines.dedup.ahead.speculation import NEVER, KnownLines, known_lines, likely, sharing, summed
from pipelines.dedup.boilerplate import BoilerplateLines, leave_out
from pipelines.dedup.shape import IndexParams
from pipelines.dedup.stream import Finder, Pair

OURS = method()
LINES = [
    "".join(chr(random.Random(number).randrange(0x4E00, 0x9FA5)) for _ in range(5 + 7 * (number % 6)))
    for number in range(60)
]
FOOTERS = ["责任编辑：李明", "分享到：微信 微博", "版权声明：未经授权不得转载"]
Plan = tuple[int, int, list[str]]
DOCUMENTS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(4, 14), st.lists(st.sampled_from(FOOTERS), max_size=3)),
    min_size=1,
    max_size=30,
)


def texts_of(plan: list[Plan]) -> list[tuple[str, str]]:
    """Texts that share passages, and lines around them."""
    return [(f"标题{story}", "\n".join([*LINES[7 * story : 7 * story + size], *last])) for story, size, last in plan]


def inline(texts: list[tuple[str, str]]) -> list[list[Pair]]:
    finder = Finder(OURS, THRESHOLD, [])
    return [finder.add(number, title, text) for number, (title, text) in enumerate(texts)]


def by_reference(texts: list[tuple[str, str]], made: Recorded) -> list[list[Pair]]:
    counts = BoilerplateLines()
    lines = RecordedLines(lambda number: counts.lines_of(texts[number][1]))
    finder = Finder(made.by_reference(), THRESHOLD, [], lines=lines)
    return [finder.add(number, "", Reference(number)) for number in range(len(texts))]


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_answers_made_ahead_change_no_pair(plan: list[tuple[int, int, list[str]]], choose: random.Random) -> None:
    texts = texts_of(plan)

    def stripped(of: Reference) -> tuple[str, str]:
        title, text = texts[of.number]
        return title, leave_out(text, of.left_out)

    made = Recorded(
        OURS,
        texts.__getitem__,
        lambda of: OURS.sign(*stripped(of)) if choose.random() < 0.5 else None,
        lambda new, stored: (
            OURS.compare(OURS.prepare(*stripped(new)), OURS.prepare(*stripped(stored)))
            if choose.random() < 0.5
            else None
        ),
    )
    assert by_reference(texts, made) == inline(texts)


def test_missing_answers_are_made_and_counted() -> None:
    texts = texts_of([(1, 7, []), (1, 6, []), (3, 7, [])])
    made = Recorded(OURS, texts.__getitem__, lambda _: None, lambda *_: None)
    assert by_reference(texts, made) == inline(texts)
    assert (made.signed_now, made.compared_now) == (3, 1)


def test_lines_are_known_once_they_stood_in_four_stories() -> None:
    slots = np.array([5, 9, 5, 5, 5, 9, 5, 5, 7], np.uint64)
    documents = np.array([0, 0, 1, 2, 3, 3, 4, 5, 5])
    stories = np.array([1, 1, 2, 2, 3, 3, 4, 5, 5], np.uint32)  # the third document is a copy of the second
    found = known_lines(slots, documents, stories)
    assert (found.slots.tolist(), found.since.tolist()) == ([5], [5])
    assert found.of(slots).tolist() == [5 if slot == 5 else NEVER for slot in slots.tolist()]
    assert KnownLines(slots[:0], documents[:0]).of(slots).tolist() == [NEVER] * len(slots)


def test_guess_of_lines_is_that_of_the_stream() -> None:
    texts = [("", "\n".join([*LINES[7 * n : 7 * n + 6], *FOOTERS])) for n in range(8)]
    counts = BoilerplateLines()
    lines = [counts.lines_of(text) for _, text in texts]
    slots = np.array([slot for each in lines for slot in each.slots], np.uint64)
    documents = np.repeat(np.arange(8), [len(each.slots) for each in lines])
    told = slots > 0
    known = known_lines(slots[told], documents[told], documents[told].astype(np.uint32))
    finder = RecordedLines(lines.__getitem__)
    for number in range(8):
        left = finder.without(Reference(number)).left_out
        assert left == known.left_out(lines[number], number)
        assert bool(left) == (number >= 4)
        finder.learn(Reference(number))


def test_pairs_share_features_and_the_likeliest_are_chosen() -> None:
    features = np.array([1, 2, 3, 1, 2, 4, 1, 2, 3, 5, 6], np.uint32)
    documents = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3])
    exact = documents + 10
    pairs = sharing(features, documents, exact)
    found = dict(
        zip(zip(pairs.later.tolist(), pairs.earlier.tolist(), strict=True), pairs.shared.tolist(), strict=True)
    )
    assert found == {(1, 0): 2, (2, 0): 3, (2, 1): 2}
    by_band = [
        sharing(features[features % 2 == band], documents[features % 2 == band], exact[features % 2 == band])
        for band in (0, 1)
    ]
    for one, other in zip(summed(by_band), pairs, strict=True):
        assert one.tolist() == other.tolist()
    lengths = np.full(4, 100)
    have = np.bincount(documents)
    best = likely(pairs, lengths, have, IndexParams(sample=4, candidates=1))
    assert list(zip(best.later.tolist(), best.earlier.tolist(), strict=True)) == [(1, 0), (2, 0)]
    nothing = sharing(features[:0], documents[:0], exact[:0])
    assert len(likely(summed([nothing, nothing]), lengths, have, IndexParams()).later) == 0


def test_copies_of_a_text_are_not_compared_with_others() -> None:
    features, documents = np.tile(np.array([1, 2, 3], np.uint32), 4), np.repeat(np.arange(4), 3)
    pairs = sharing(features, documents, np.repeat([7, 7, 8, 8], 3))
    assert list(zip(pairs.later.tolist(), pairs.earlier.tolist(), strict=True)) == [(2, 0)]
