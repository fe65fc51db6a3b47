from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.terms import (
    DESCRIPTION,
    HASH_SHIFT,
    LEAD,
    MAX_CHARS,
    NAMES,
    TAGS,
    TITLE,
    hash_token,
    index_terms,
    is_current,
    unpack,
)
from tests.table import each_row


def counts(terms: bytes, token: str) -> tuple[int, int]:
    """Occurrences of a token in the body, and the other fields it is in."""
    packed = unpack([terms])
    for number in packed.numbers[packed.starts[0] : packed.ends[0]].tolist():
        if number >> HASH_SHIFT == hash_token(token):
            return number >> 5 & 15, number & 31
    return 0, 0


def test_terms_of_a_chinese_article() -> None:
    found = index_terms("河口大橋通車", "中華人民共和國的河口大桥今天通车，第2.5期。", "张三", "新华社", "zh-Hans")
    tokens = found.words.split(" ")
    assert len(set(tokens)) == len(tokens)
    assert {"河口", "大桥", "共和国", "中华人民共和国", "2.5", "张三"} <= set(tokens)
    assert counts(found.terms, "大桥") == (1, TITLE | LEAD)
    assert counts(found.terms, "张三") == (0, NAMES)
    assert counts(found.terms, "火车") == (0, 0)


def test_description_and_tags_are_fields() -> None:
    found = index_terms("", "A bridge opens.", "", "", "en", "Traffic over the bridge", "ferry、bridge")
    assert {"traffic", "ferri", "bridg"} <= set(found.words.split(" "))
    assert counts(found.terms, "bridg") == (1, LEAD | DESCRIPTION | TAGS)
    assert counts(found.terms, "ferri") == (0, TAGS)
    assert counts(found.terms, "traffic") == (0, DESCRIPTION)


def test_terms_of_older_indexes_are_read() -> None:
    """In format 2 a number was hash 24, body 4, title 2, names 1, lead 1."""
    token = hash_token("bridg") << 9
    both = [2 << 24 | 1, 7, token | 7 << 4 | 2 << 2 | 1 << 1 | 1]
    old = np.array(both, "<u4").tobytes()
    new = index_terms("", "bridge", "", "", "en").terms
    assert counts(old, "bridg") == (7, TITLE | NAMES | LEAD)
    assert not is_current(old)
    packed = unpack([new, old])
    assert packed.numbers[packed.starts].tolist() == [token | 1 << 5 | LEAD, token | 7 << 5 | TITLE | NAMES | LEAD]
    assert packed.title_lengths.tolist() == [0, 1]


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
    assert counts(found.terms, "a") == (15, TITLE | LEAD)


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
    found = index_terms(title, text, text, title, language, text, title)
    assert found == index_terms(title, text, text, title, language, text, title)
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
