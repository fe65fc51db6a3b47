"""A few hundred of the broken pages that `tests.benchmarks.fuzz` makes by the hundred thousand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.decode.encoding import decode
from pipelines.extract import EXTRACTORS
from tests.benchmarks.fuzz import MUTATIONS, chunk, page, samples


@pytest.mark.parametrize("extractor", sorted(EXTRACTORS))
def test_broken_pages(extractor: str) -> None:
    assert [found for found in chunk(7, 0, 150, extractor, 5.0) if found[2]] == []


def test_same_seed_makes_the_same_pages() -> None:
    bases = samples()
    assert [page(3, n, bases) for n in range(30)] == [page(3, n, bases) for n in range(30)]
    assert len({page(3, n, bases) for n in range(30)}) > 25


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutations_take_any_page(mutation) -> None:
    for body in (b"", b"<", b"<p>a"):
        assert isinstance(mutation(random.Random(1), body, b""), bytes)


@settings(deadline=None, max_examples=100)
@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: text.encode("gb18030", "replace"))),
    st.text(max_size=40),
)
def test_any_bytes_have_a_reading(body: bytes, header: str) -> None:
    text, name = decode(body, f"text/html; charset={header}")
    assert isinstance(text, str)
    assert name
    assert decode(body, f"text/html; charset={header}") == (text, name)


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=300))
def test_utf_8_is_always_found(text: str) -> None:
    body = (
        text.replace("\x00", "").replace("\x1b", "").replace("~", "").removeprefix("\ufeff").encode("utf-8", "replace")
    )
    assert decode(body) == (body.decode(), "utf-8")
