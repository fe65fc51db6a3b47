import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.evidence import DIFFERENT, RELATED, REPEATING
from pipelines.dedup import METHODS, method
from pipelines.dedup.combined import Params, exact_hash
from pipelines.dedup.combined import method as combined
from pipelines.records import Signature

PINNED = 868410944549259364
"""Stored hashes must keep their meaning: a change here asks for a migration that drops the stored ones."""


def prose(size: int, seed: int) -> str:
    choose = random.Random(seed)
    return "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(size))


def test_empty_text_has_an_empty_signature() -> None:
    assert method().sign("title", " 。\n") == Signature()


def test_exact_hash_ignores_dress_and_is_pinned() -> None:
    sign = method().sign
    assert sign("", "國務院總理，發表談話。").exact == sign("x", " 国务院总理发表谈话 ").exact == PINNED
    assert exact_hash("a") != exact_hash("b")


def test_signature_knows_the_whole_length_and_the_end_of_a_huge_text() -> None:
    text = prose(150_000, 1)
    one, other = method().sign("", text), method().sign("", text[:-1] + "。")
    assert (one.length, other.length) == (150_000, 149_999)
    assert one.features == other.features
    assert one.exact != other.exact


def test_form_says_how_signatures_were_made() -> None:
    assert combined(Params()).form == method().form
    assert combined(Params(sample=32)).form != method().form
    assert combined(Params(least=0.6)).form == method().form


def test_sample_is_as_large_as_wanted() -> None:
    assert len(combined(Params(sample=16)).sign("", prose(900, 1)).features) == 4 * 16


def test_unknown_method_or_parameter_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'simhash'; known: combined"):
        method("simhash")
    with pytest.raises(ValueError, match=r"'sampel'; known: .*sample"):
        method("combined", {"sampel": 1})


@pytest.mark.parametrize("name", sorted(METHODS))
@given(text=st.text(max_size=60), other=st.text(max_size=60))
def test_every_method_keeps_its_promises(name: str, text: str, other: str) -> None:
    chosen = method(name)
    signature = chosen.sign("", text)
    assert signature == chosen.sign("", text)
    verdict = chosen.compare(chosen.prepare("", text), chosen.prepare("", other))
    assert verdict == chosen.compare(chosen.prepare("", text), chosen.prepare("", other))
    assert 0.0 <= verdict.similarity <= 1.0
    assert verdict.kind in REPEATING | RELATED | {DIFFERENT}
