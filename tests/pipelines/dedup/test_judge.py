import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.dedup import METHODS, Candidate, Match, Signature, judge, matches, method, signature, worth_indexing
from pipelines.dedup.candidates import ShingleIndex


def story(seed: int, sentences: int = 20) -> str:
    choose = random.Random(seed)
    return "".join(
        "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(choose.randint(15, 40))) + "。\n"
        for _ in range(sentences)
    )


def test_an_empty_text_has_an_empty_signature_and_no_duplicates() -> None:
    assert signature(" 。\n") == Signature()
    assert judge("", [Candidate(1, ""), Candidate(2, story(1))], 0.0) is None


def test_the_exact_hash_ignores_dress() -> None:
    assert signature("國務院，發表談話。").exact == signature(" 国务院发表谈话 ").exact != 0


def test_an_equal_text_is_exact() -> None:
    match = judge(story(1), [Candidate(3, story(2)), Candidate(5, story(1).replace("。", " ！"))])
    assert match is not None
    assert (match.article_id, match.similarity, match.method, match.kind) == (5, 1.0, "exact", "same")


def test_the_best_match_wins() -> None:
    text = story(1)
    close, closer = text[60:] + story(2, 3), text + story(3, 1)
    match = judge(text, [Candidate(1, close), Candidate(2, closer)])
    assert match is not None
    assert (match.article_id, match.method) == (2, "shingles+lcs")
    assert [found.article_id for found in matches(text, [Candidate(1, close), Candidate(2, closer)])] == [1, 2]


def test_a_reprint_is_found_through_the_index_and_an_unrelated_story_is_not() -> None:
    stored = [story(number) for number in range(30)]
    index = ShingleIndex()
    for number, text in enumerate(stored):
        index.add(number, signature(text).shingles)

    def look_up(text: str) -> int | None:
        found = index.candidates(signature(text).shingles)
        match = judge(text, [Candidate(number, stored[number], shared) for number, shared in found])
        return None if match is None else match.article_id

    sentences = stored[7].splitlines()
    reprint = "\n".join(["据新华社消息，" + sentences[0], *sentences[1:8], *sentences[9:], "（责任编辑：李明）"])
    assert look_up(reprint) == 7
    assert look_up(story(99)) is None


def test_too_few_shared_shingles_are_not_compared() -> None:
    text = story(1)
    assert judge(text, [Candidate(1, text, shared=2)]) is None
    assert judge(text, [Candidate(1, text, shared=60)]) is not None


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (None, True),
        (Match(1, 1.0, "exact", "same"), False),
        (Match(1, 0.97, "shingles+lcs", "edited"), False),
        (Match(1, 0.85, "shingles+lcs", "edited"), True),
        (Match(1, 0.99, "shingles+lcs", "contains"), True),
    ],
)
def test_duplicates_are_indexed_when_they_bring_wording_of_their_own(match: Match | None, *, expected: bool) -> None:
    assert worth_indexing(match) is expected


def test_an_unknown_method_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'simhash': use one of shingles"):
        method("simhash")
    with pytest.raises(ValueError, match="simhash"):
        judge("a", [], name="simhash")


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_the_scale_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        judge("a", [], threshold)


@pytest.mark.parametrize("name", sorted(METHODS))
@given(text=st.text(max_size=60), other=st.text(max_size=60), threshold=st.floats(0, 1))
@settings(deadline=None, max_examples=50)
def test_every_method_keeps_its_promises(name: str, text: str, other: str, threshold: float) -> None:
    match = judge(text, [Candidate(1, other)], threshold, name)
    assert match == judge(text, [Candidate(1, other)], threshold, name)
    if match is not None:
        assert threshold <= match.similarity <= 1.0
        assert match.kind != "different"


@pytest.mark.parametrize("unit", ["x", "中", "1 ", "½", "\ud800", "中a1 ", story(1)])
def test_hostile_texts_cost_a_bounded_time(unit: str) -> None:
    text = unit * (5_000_000 // len(unit))
    started = time.process_time()
    signature(text)
    judge(text, [Candidate(1, text[100:]), Candidate(2, text[: len(text) // 2])])
    assert time.process_time() - started < 2.0
