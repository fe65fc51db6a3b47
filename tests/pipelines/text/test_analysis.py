from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text.analysis import NAME, NUMBER, analyse
from pipelines.text.lexicon import Lexicon, read_lexicon
from pipelines.text.words import MAX_CHARS, cut_han
from tests.table import each_row


def sentences(title: str, text: str) -> list[str]:
    found = analyse(title, text)
    return [found.text[sentence.start : sentence.end] for sentence in found.sentences]


@each_row(
    ("text", "found"),
    [
        ("河口大桥通车。两岸欢呼！“真好。”他说", ["河口大桥通车。", "两岸欢呼！", "“真好。”", "他说"]),
        ("Mr. Smith paid 2.5 million. It rained.", ["Mr. Smith paid 2.5 million.", "It rained."]),
        ("第一段\n第二段", ["第一段", "第二段"]),
        ("a wrapped\nline of prose", ["a wrapped\nline of prose"]),
        ("精度提高.仿真表明有效.", ["精度提高.", "仿真表明有效."]),
        ("... !!! 。。。", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences("", text) == found


def test_title_comes_first() -> None:
    found = analyse("河口大桥通车。真的", "两岸居民过江只要五分钟。")
    assert (found.title_sentences, found.text[: found.body]) == (2, "河口大桥通车。真的\n")
    assert found.starts[found.title_words] == found.body


@each_row(
    ("text", "title"),
    [
        ("Bridge opens at last\nThe Hekou bridge opened.", "Bridge opens at last\n"),
        ("The bridge opened.\nIt rained.", ""),
        ("a wrapped\nline of prose", ""),
        ("河口大桥通车\n两岸居民欢呼。", "河口大桥通车\n"),
        ("河口大桥通车", ""),
    ],
)
def test_first_line_stands_for_a_missing_title(text: str, title: str) -> None:
    found = analyse("", text)
    assert found.text[: found.body] == title
    assert found.title_sentences == bool(title)


def test_traditional_and_wide_characters_meet_simple_ones() -> None:
    assert analyse("", "臺灣ＧＤＰ增長").words == analyse("", "台湾gdp增长").words


def test_numbers_and_stop_words_tell_nothing() -> None:
    found = analyse("", "The 3,000 bridges of Hekou", "en")
    assert found.telling_terms() == ["bridg", "hekou"]
    assert (found.words[1], found.tags[1]) == ("3000", NUMBER)
    assert analyse("", "It doesn't; the doesn of Hekou", "en").telling_terms() == ["doesn", "hekou"]


def test_stop_words_are_those_of_the_language() -> None:
    assert analyse("", "Die Häuser und die Brücken", "de").telling_terms() == ["haus.de", "bruck.de"]


def test_vowel_signs_belong_to_their_word() -> None:
    assert analyse("", "बंदरगाह का नया पुल", "hi").words == ("बंदरगाह", "का", "नया", "पुल")
    assert analyse("", "বন্দরের নতুন সেতু", "bn").words == ("বন্দরের", "নতুন", "সেতু")


def test_korean_nouns_lose_their_particles_and_predicates_tell_nothing() -> None:
    found = analyse("", "시민들은 새 다리를 건넜다", "ko")
    assert found.words == ("시민들", "새", "다리", "건넜다")
    assert found.telling_terms() == ["시민들", "다리"]
    assert found.joined == (False, False, True, False)
    assert found.text[found.starts[2] : found.ends[2]] == "다리"


def test_lexicon_goes_before_the_dictionary() -> None:
    found = analyse("", "看新河口大橋通车", "zh", read_lexicon("新河口大桥 3 nz # a name\n"))
    assert found.words == ("看", "新河口大桥", "通车")
    assert found.tags[1] == NAME


@each_row("line", ["bridge", "桥", "河口" * 20])
def test_lexicon_names_the_line_it_cannot_use(line: str) -> None:
    with pytest.raises(ValueError, match="line 2: word"):
        read_lexicon(f"河口大桥\n{line}\n")


@given(st.text(alphabet="河口大桥中aB1。.\n ，'-ก한", max_size=60), st.text(max_size=60))
def test_words_and_sentences_lie_in_the_text_in_order(title: str, text: str) -> None:
    found = analyse(title, text, "zh", Lexicon(["河口"]))
    edges = [edge for sentence in found.sentences for edge in (sentence.first, sentence.last)]
    assert edges == sorted(edges)
    assert (edges[:1], edges[-1:]) == (([0], [len(found)]) if len(found) else ([], []))
    assert list(found.starts) == sorted(found.starts)
    for sentence in found.sentences:
        assert sentence.start <= found.starts[sentence.first] < found.ends[sentence.last - 1] <= sentence.end
    columns = (found.words, found.terms, found.tags, found.starts, found.ends, found.joined, found.telling)
    assert {len(column) for column in columns} == {len(found)}


@each_row("unit", ["a", "中", "1", "1,", "a.", "。”", "\n", "'", "😀"])
def test_megabyte_costs_no_more_than_its_beginning(unit: str) -> None:
    analyse("", "中文")
    started = time.process_time()
    found = analyse("", unit * (1_000_000 // len(unit)))
    assert len(found) <= MAX_CHARS
    assert time.process_time() - started < 2


def test_chinese_words_are_those_of_the_dictionary() -> None:
    found = analyse("大桥通车", "新河口大橋 opened 2024 年，ひらがな、กข。", "zh")
    assert found.runs == ("大桥通车", "新河口大桥", "年")
    assert found.han_counts() == Counter(cut_han(found.runs))


def test_chinese_words_cut_by_a_lexicon_are_not_those_of_the_dictionary() -> None:
    lexicon = Lexicon(["新河口大桥"])
    assert analyse("", "新河口大桥通车", "zh", lexicon).runs == ()
    assert analyse("", "两岸居民", "zh", lexicon).han_counts() == Counter(cut_han(["两岸居民"]))


def test_counts_are_of_telling_terms() -> None:
    assert analyse("", "The bridges and the bridge.", "en").counts == {"bridg": 2}
