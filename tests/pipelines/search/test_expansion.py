from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.search.expansion import Params, load_synonyms, related_words, synonyms

TEXTS = [
    "The ferry pilots met. A ferry strike. Pilots of the ferry rest.",
    "Ferry pilots are few. The pilots wait.",
]


def test_similarity_by_hand() -> None:
    """Ferry stands in four sentences, pilot in four, and both together in three: 3 / sqrt(4 x 4)."""
    assert related_words(["ferries"], TEXTS) == [("pilot", pytest.approx(0.75))]


def test_synonyms_of_either_script_the_closest_first(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text("酒店 宾馆 0.9\n旅館 酒店 0.7\n港口 码头 0.8\nhotel inn\n", encoding="utf-8")
    known = load_synonyms(str(file))
    assert synonyms(["酒店"], known) == [("宾馆", 0.9), ("旅馆", 0.7)]
    assert synonyms(["賓館"], known) == [("酒店", 0.9)]
    assert synonyms(["Hotels", "酒店", "宾馆"], known) == [("inn", 1.0), ("旅馆", 0.7)]
    assert synonyms(["台风"], known) == synonyms(["酒店"], load_synonyms("")) == []
    with pytest.raises(ValueError, match=r"the synonyms .*none\.txt cannot be read"):
        load_synonyms(str(tmp_path / "none.txt"))


def test_words_need_sentences_texts_and_similarity() -> None:
    assert related_words(["ferry"], TEXTS[:1]) == []
    assert related_words(["ferry"], TEXTS, Params(sentences=4)) == []
    assert related_words(["ferry"], TEXTS, Params(least=0.8)) == []
    assert related_words([], TEXTS) == related_words(["ferry"], []) == []


def test_chinese_words_go_together() -> None:
    texts = ["港口吞吐量创新高。港口的吞吐量上升。", "今年港口吞吐量增长。"]
    assert "吞吐量" in [word for word, _ in related_words(["港口"], texts)]
