import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup.index import FeatureIndex, IndexHit, read_features
from pipelines.dedup.shape import IndexParams

EVERY = IndexParams(most_stories=1_000, share=0.0, candidates=1_000, stories=1_000, beside_best=0.0)


def packed(*wanted: int) -> bytes:
    return np.array(sorted(set(wanted)), "<u4").tobytes()


def drawn(count: int, seed: int) -> list[bytes]:
    spread = np.random.default_rng(seed).integers(0, 1 << 32, (count, 64), dtype=np.uint32)
    return [row.tobytes() for row in np.sort(spread, axis=1)]


def found(index: FeatureIndex, *wanted: int) -> list[tuple[int, int]]:
    return [(candidate.text, candidate.shared) for candidate in index.candidates(packed(*wanted), 1_000)]


def test_text_with_the_rarest_shared_features_comes_first() -> None:
    index = FeatureIndex(EVERY)
    index.add(10, packed(1, 2, 3, 4), 1_000)
    index.add(20, packed(1, 2, 3, 8, 9), 1_000)
    assert found(index, 1, 2, 3, 8, 9) == [(1, 5), (0, 3)]
    assert (index.key(1), index.length(1), len(index)) == (20, 1_000, 2)


def test_one_shared_feature_is_not_enough_unless_there_is_only_one() -> None:
    index = FeatureIndex(EVERY)
    index.add(1, packed(1, 2), 1_000)
    assert found(index, 1, 7) == []
    assert found(index, 1) == [(0, 1)]


def test_feature_of_too_many_stories_finds_nothing() -> None:
    index = FeatureIndex(IndexParams(most_stories=3, share=0.0))
    for key in range(2):
        index.add(key, packed(1, 2), 1_000)
    assert found(index, 1, 2) == [(0, 2), (1, 2)]
    index.add(2, packed(1, 2), 1_000)
    assert found(index, 1, 2) == []


def test_feature_of_few_stories_finds_nothing() -> None:
    """1 and 2 stand in two stories, 7 in one: it is looked up where one is enough."""
    for least, wanted in ((1, [(0, 2), (1, 3)]), (2, [(0, 2), (1, 2)]), (3, [])):
        index = FeatureIndex(IndexParams(share=0.0, least_stories=least))
        index.add(0, packed(1, 2), 1_000)
        index.add(1, packed(1, 2, 7), 1_000)
        assert sorted(found(index, 1, 2, 7)) == wanted


def test_story_posts_a_feature_once_and_stays_found() -> None:
    index = FeatureIndex(IndexParams(most_stories=3, share=0.0))
    first = index.add(0, packed(1, 2, 3), 1_000)
    for key in range(1, 500):
        mine = packed(1, 2, 3, 1_000 + key)
        fresh = index.fresh(mine, first)
        assert read_features(fresh).tolist() == [1_000 + key]
        index.add(key, fresh, 1_000, first)
    assert index.candidates(packed(1, 2, 3), 1_000) == [IndexHit(0, 0, 3, 3)]
    assert index.candidates(packed(1, 2, 1_250), 1_000) == [IndexHit(0, 0, 3, 2), IndexHit(250, 0, 3, 1)]


def test_text_of_two_stories_leaves_them_two() -> None:
    index = FeatureIndex(EVERY)
    one, other = index.add(0, packed(1, 2, 3), 500), index.add(1, packed(7, 8, 9), 500)
    index.add(2, index.fresh(packed(1, 2, 3, 7, 8, 9), one), 1_000, one)
    assert {candidate.story for candidate in index.candidates(packed(7, 8, 9), 500)} == {one, other}
    assert {candidate.story for candidate in index.candidates(packed(1, 2, 3), 500)} == {one}


def test_old_texts_can_be_left_out() -> None:
    index = FeatureIndex(EVERY)
    for day in range(5):
        index.add(day, packed(1, 2), 1_000, day=day)
    assert [candidate.text for candidate in index.candidates(packed(1, 2), 1_000, since=3)] == [3, 4]


def test_part_shares_fewer_features_than_a_whole() -> None:
    index = FeatureIndex(IndexParams(share=0.12))
    index.add(0, packed(*range(64)), 10_000)
    few = packed(*range(60, 124))
    assert index.candidates(few, 10_000) == []
    assert [candidate.text for candidate in index.candidates(few, 1_000)] == [0]


@given(
    st.lists(st.sets(st.integers(0, 40), max_size=12), max_size=15),
    st.sets(st.integers(0, 40), max_size=12),
    st.sampled_from([0, 1, 5]),
)
def test_index_agrees_with_comparing_everything(stored: list[set[int]], new: set[int], bulk: int) -> None:
    index = FeatureIndex(EVERY)
    many = range(len(stored[:bulk]))
    index.extend(many, [packed(*stored[key]) for key in many], [9] * len(many), many, [0] * len(many))
    for key, each in enumerate(stored[len(index) :], len(index)):
        index.add(key, packed(*each), 9)
    expected = {number for number, each in enumerate(stored) if len(each & new) >= min(2, len(new)) and each & new}
    assert {candidate.text for candidate in index.candidates(packed(*new), 9)} == expected


@pytest.mark.parametrize("crowded", [False, True])
def test_large_arrays_answer_as_small_ones_do(monkeypatch: pytest.MonkeyPatch, *, crowded: bool) -> None:
    texts = drawn(3_000, 1)
    if crowded:  # all features under one prefix: the table helps nothing
        texts = [(read_features(text) >> 12).astype("<u4").tobytes() for text in texts]
    small, large = FeatureIndex(EVERY), FeatureIndex(EVERY)
    for size, index in ((1 << 40, small), (1, large)):
        monkeypatch.setattr("pipelines.dedup.postings._LARGE", size)
        for key, text in enumerate(texts):
            index.add(key, text, 1_000)
    for text in texts[::50]:
        assert large.candidates(text, 1_000) == small.candidates(text, 1_000) != []


def test_memory_and_time_stay_small() -> None:
    index = FeatureIndex()
    started = time.process_time()
    for key, text in enumerate(drawn(10_000, 2)):
        index.add(key, text, 1_000)
    assert time.process_time() - started < 12
    assert index.nbytes < 1_024 * len(index)


def test_adding_is_not_quadratic_for_texts_that_share_everything() -> None:
    index, text = FeatureIndex(), packed(*range(64))
    started = time.process_time()
    for key in range(3_000):
        index.add(key, text, 1_000)
    assert index.candidates(text, 1_000) == []
    assert time.process_time() - started < 8
    assert index.nbytes < 200 * len(index)


def test_order_of_additions_in_bulk_or_one_by_one_is_the_same() -> None:
    texts = drawn(600, 3)
    random.Random(1).shuffle(texts)
    one, other = FeatureIndex(EVERY), FeatureIndex(EVERY)
    for key, text in enumerate(texts):
        one.add(key, text, 1_000)
    other.extend(range(600), texts, [1_000] * 600, range(600), [0] * 600)
    assert [one.candidates(text, 1_000) for text in texts] == [other.candidates(text, 1_000) for text in texts]


@pytest.fixture(scope="module")
def reprinted() -> list[tuple[bytes, int]]:
    """Texts with their stories; each fourth shares features with an earlier one."""
    choose, texts = random.Random(4), drawn(3_000, 4)
    stream: list[tuple[bytes, int]] = []
    for number, text in enumerate(texts):
        story, features = number, read_features(text)
        if number % 4 == 3:
            story = stream[choose.randrange(max(0, number - 700), number)][1]
            kept = choose.randint(1, 64)
            common = np.uint32(number % 8)  # that more than 64 stories have
            features = np.unique(np.concatenate((features[kept:], read_features(texts[story])[:kept], [common])))
        stream.append((features.tobytes(), story))
    return stream


def answers(index: FeatureIndex, stream: list[tuple[bytes, int]]) -> list[object]:
    """Add a stream, some in bulk, some twice after a failure; return all answers."""
    texts, stories = zip(*stream[1_000:1_500], strict=True)
    given: list[object] = []
    for number, (text, story) in [*enumerate(stream[:1_000]), *enumerate(stream[1_500:], 1_500)]:
        if number == 1_500:
            index.extend(range(1_000, 1_500), texts, [900] * 500, stories, [7] * 500, range(2_000, 2_500))
        if number == 2_000:
            index.truncate(1_900)
            for again, (twice, of) in enumerate(stream[1_900:2_000], 1_900):
                index.add(again, index.fresh(twice, of if of < again else None), 900, of, row=again + 1_000)
        fresh = index.fresh(text, story if story < number else None)
        given += [index.candidates(text, 900), fresh]
        index.add(number, fresh, 900, story, row=number + 1_000)
    return [*given, index.place(2_222), index.place(9)]


@pytest.mark.parametrize("named", [True, False])
def test_index_in_files_answers_as_the_one_in_memory_does(
    tmp_path: Path, reprinted: list[tuple[bytes, int]], *, named: bool
) -> None:
    memory = FeatureIndex()
    files = FeatureIndex(memory=100_000, folder=tmp_path if named else None)
    expected = answers(memory, reprinted)
    assert answers(files, reprinted) == expected
    assert sum(bool(one) for one in expected[::2]) > 500
    assert expected[-2:] == [1_222, None]
    assert 3 * files.nbytes < memory.nbytes < 2 * files.file_bytes
    assert bool(list(tmp_path.iterdir())) is named
