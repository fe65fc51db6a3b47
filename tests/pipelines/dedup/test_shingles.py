import os
import random
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.dedup.normalize import normalize
from pipelines.dedup.shingles import MOST_CHARS, ShingleParams, Sums, sample, sample_size

PINNED = "62f24005fcda09174eaeff31b09cf84d61527a7c570dc8a55679feb88d8802ebda94caf19bc57af441a0d4fb"
"""Stored samples must keep their meaning: a change here asks for a migration that drops the stored ones."""

CODE = """
from pipelines.dedup.shingles import Sums, sample
print(sample(Sums("国务院总理发表谈话 stable hashes 2024")).hex())
"""


def prose(size: int, seed: int) -> str:
    choose = random.Random(seed)
    return "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(size))


def sampled(text: str) -> list[int]:
    return [int(each) for each in np.frombuffer(sample(Sums(text)), "<u4")]


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_sample_is_ascending_distinct_and_small(text: str) -> None:
    shingles = sampled(normalize(text))
    assert shingles == sorted(set(shingles))
    assert len(shingles) <= ShingleParams().most
    assert bool(shingles) == bool(normalize(text))


@given(st.text(alphabet="中国abc 12", min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 9))
def test_windows_hash_content_not_place(text: str, unspaced: int, words: int) -> None:
    starts, ends, hashes = Sums(text).windows(unspaced, words)
    content = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert len(set(content)) == len(set(hashes.tolist()))
    assert len(set(zip(content, hashes.tolist(), strict=True))) == len(set(content))


@given(st.text(alphabet="中国abc 12", min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 9))
def test_length_of_a_window_is_that_of_its_script(text: str, unspaced: int, words: int) -> None:
    lengths = [words if character in "abc12" else unspaced for character in text]
    fitting = [(start, start + length) for start, length in enumerate(lengths) if start + length <= len(text)]
    starts, ends, _ = Sums(text).windows(unspaced, words)
    assert list(zip(starts, ends, strict=True)) == (fitting or [(0, len(text))])


def test_passage_is_sampled_alike_wherever_it_stands() -> None:
    passage, before, after = prose(1000, 1), prose(300, 2), prose(200, 3)
    assert len(set(sampled(passage)) & set(sampled(before + passage + after))) >= 30


def test_short_texts_are_sampled_fully() -> None:
    assert len(sampled(prose(70, 1))) == 63
    assert len(sampled("中国")) == 1


def test_unrelated_texts_share_nothing() -> None:
    assert not set(sampled(prose(2000, 1))) & set(sampled(prose(2000, 2)))


def test_repetition_does_not_crowd_out_the_rest() -> None:
    assert len(sampled("中" * 5000 + prose(100, 1))) == 1 + 7 + 93, "each of them once"


def test_only_the_beginning_of_a_huge_text_is_sampled() -> None:
    text = prose(MOST_CHARS, 1)
    assert sampled(text + prose(1000, 2)) == sampled(text)


def test_sample_is_the_same_in_every_process() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == PINNED
    assert sample(Sums("国务院总理发表谈话 stable hashes 2024")).hex() == PINNED


def test_long_texts_keep_more_so_that_their_excerpts_are_found() -> None:
    assert sample_size([0, 1_500, 2_000, 3_036, 90_000], 64, 128).tolist() == [64, 64, 84, 128, 128]
    assert sample_size(90_000, 10, 0) == 10
    choose = random.Random(1)
    found = 0
    for _ in range(40):
        long = "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(3_000))
        at = choose.randrange(2_800)
        samples = [np.frombuffer(sample(Sums(text)), "<u4") for text in (long, long[at : at + 120])]
        found += np.intersect1d(*samples).size >= 2
    assert found >= 36, "with 64 hashes it would be 26"
