from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.terms import HASH_SHIFT, MAX_CHARS, hash_token, index_terms, unpack
from tests.table import each_row


def counts(terms: bytes, token: str) -> tuple[int, int, int]:
    """Occurrences of a token in body, title and the other fields."""
    packed = unpack([terms])
    for number in packed.numbers[packed.starts[0] : packed.ends[0]].tolist():
        if number >> HASH_SHIFT == hash_token(token):
            return number >> 4 & 15, number >> 2 & 3, number >> 1 & 1
    return 0, 0, 0


def test_terms_of_a_chinese_article() -> None:
    found = index_terms("河口大橋通車", "中華人民共和國的河口大桥今天通车，第2.5期。", "张三", "新华社", "zh-Hans")
    tokens = found.words.split(" ")
    assert len(set(tokens)) == len(tokens)
    assert {"河口", "大桥", "共和国", "中华人民共和国", "2.5", "张三"} <= set(tokens)
    assert counts(found.terms, "大桥") == (1, 1, 0)
    assert counts(found.terms, "张三") == (0, 0, 1)
    assert counts(found.terms, "火车") == (0, 0, 0)


@each_row(
    ("language", "text", "token"),
    [
        ("en", "Bridges", "bridg"),
        ("", "Bridges", "bridg"),
        ("de", "Häuser", "haus.de"),
        ("ru", "мосты", "мост.ru"),
        ("xx", "Bridges", "bridg"),
        ("ja", "東京タワー", "タワ"),
        ("ko", "한국어", "한국"),
        ("zh", "ＡＢＣ", "abc"),
        ("en", "1,250,000.5", "1250000.5"),
        ("en", "5G", "5g"),
    ],
)
def test_tokens_by_language(language: str, text: str, token: str) -> None:
    assert token in index_terms("", text, "", "", language).words.split(" ")


def test_counts_are_capped() -> None:
    found = index_terms("a " * 9, "a " * 99, "", "", "en")
    assert counts(found.terms, "a") == (15, 3, 0)


def test_terms_of_many_articles_are_read_at_once() -> None:
    made = [index_terms("", "x " * n, "", "", "en").terms for n in range(4)]
    packed = unpack(made)
    assert packed.body_lengths.tolist() == [0, 1, 2, 3]
    assert (packed.ends - packed.starts).tolist() == [0, 1, 1, 1]
    assert unpack([]).numbers.size == 0


@each_row("data", [b"", b"1234567", b"12345678"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="terms of an article"):
        unpack([data])


@given(st.text(max_size=300), st.text(max_size=2_000), st.sampled_from(["zh-Hans", "en", "ja", "", "fr"]))
def test_terms_of_any_text(title: str, text: str, language: str) -> None:
    found = index_terms(title, text, text, title, language)
    assert found == index_terms(title, text, text, title, language)
    tokens = found.words.split()
    assert not set(found.words) & set("\"'*()-:^+&|!\0")
    assert len(set(tokens)) == len(tokens)
    packed = unpack([found.terms])
    numbers = packed.numbers[packed.starts[0] : packed.ends[0]]
    assert numbers.size <= len(tokens)
    assert (np.diff(numbers.astype(np.int64)) > 0).all()


def test_long_texts_cost_a_bounded_size() -> None:
    long = "".join(map(chr, range(0x4E00, 0x9F00)))
    assert len(index_terms("", long * 5, "", "", "zh").terms) < 2 * 4 * MAX_CHARS + 8
