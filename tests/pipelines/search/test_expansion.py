from __future__ import annotations

import pytest

from pipelines.search.expansion import Params, related_words

TEXTS = [
    "The ferry pilots met. A ferry strike. Pilots of the ferry rest.",
    "Ferry pilots are few. The pilots wait.",
]


def test_similarity_by_hand() -> None:
    """Ferry stands in four sentences, pilot in four, and both together in three: 3 / sqrt(4 x 4)."""
    assert related_words(["ferries"], TEXTS) == [("pilot", pytest.approx(0.75))]


def test_words_need_sentences_texts_and_similarity() -> None:
    assert related_words(["ferry"], TEXTS[:1]) == []
    assert related_words(["ferry"], TEXTS, Params(sentences=4)) == []
    assert related_words(["ferry"], TEXTS, Params(least=0.8)) == []
    assert related_words([], TEXTS) == related_words(["ferry"], []) == []


def test_chinese_words_go_together() -> None:
    texts = ["港口吞吐量创新高。港口的吞吐量上升。", "今年港口吞吐量增长。"]
    assert "吞吐量" in [word for word, _ in related_words(["港口"], texts)]
