from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.language import AskedWords, Phrase, QueryError
from pipelines.search.query import MAX_CHARS, MAX_TERMS, read_query
from pipelines.search.records import SearchQuery
from tests.table import each_row

HOSTILE = [
    "",
    " ",
    "'; DROP TABLE article; --",
    '"" AND_NOT NEAR(a b)',
    "* ^ : - + & | ! { } [ ] \\ \0 %",
    "😀🎉",
    "的 了 吗",
    "the of and",
    "site:",
    "site: since: until:",
    "“” 「」 ''",
    "\ud800",
    "a\u0301" * 50,
]


def weights(text: str) -> dict[str, float]:
    return {term.tokens[0]: term.weight for term in read_query(SearchQuery(text)).terms}


def test_words_weigh_more_than_pairs_and_pairs_more_than_stop_words() -> None:
    found = weights("中华人民共和国的首都")
    assert found["中华人民共和国"] == found["首都"] > found["国的"] > found["中华"] > found["的"]


def test_pair_that_is_a_word_counts_once() -> None:
    assert [each for each in weights("河口大桥") if each in {"河口", "大桥"}] == ["河口", "大桥"]
    assert weights("河口大桥")["口大"] < weights("河口大桥")["河口"]


def test_traditional_and_simplified_queries_are_equal() -> None:
    assert read_query(SearchQuery("臺灣大橋")).terms == read_query(SearchQuery("台湾大桥")).terms


def test_questions_and_headlines_only_rank() -> None:
    words = ["港口吞吐量", "the port of Matsu", "storm closes the ferry port today", "台风 停电 渔船 港口"]
    questions = [
        "谁是市长",
        "Where is the port?",
        "jet interference with supersonic flow and papers",
        "我国加速构建绿色制造体系",
    ]
    for text in (*words, *questions):
        plan = read_query(SearchQuery(text))
        assert plan.parts == (AskedWords(text),)
        assert plan.required == (() if text in questions else plan.parts)


def test_phrase_of_a_question_must_stand_in_the_text() -> None:
    plan = read_query(SearchQuery("“长江大桥” 是哪一年通车的？"))
    assert plan.required == (Phrase("长江大桥"),)


def test_date_that_is_none_is_pointed_at() -> None:
    with pytest.raises(QueryError, match=r"^the query is wrong at character 6: 'soon' is no date"):
        read_query(SearchQuery("port after:soon"))


def test_conditions_in_the_text() -> None:
    plan = read_query(SearchQuery('bridge site:a.test after:2024-05 lang:en source:"New Post"'))
    assert (plan.query.site, plan.query.since, plan.query.language, plan.query.source) == (
        "a.test",
        "2024-05",
        "en",
        "New Post",
    )
    assert plan.tokens == ("bridg",)


def test_second_condition_of_a_name_must_hold_too() -> None:
    plan = read_query(SearchQuery("bridge site:a.test site:b.test"))
    assert (plan.query.site, len(plan.parts)) == ("a.test", 2)


def test_conditions_of_a_form_count_more_than_those_in_the_text() -> None:
    assert read_query(SearchQuery("bridge site:a.test", site="b.test")).query.site == "b.test"


def test_names_with_colons_are_no_conditions() -> None:
    plan = read_query(SearchQuery("北京:传统 limit:5 https://site:1"))
    assert plan.query.site == ""
    assert {"北京", "传统", "limit"} <= set(plan.tokens)


def test_stop_words_are_looked_for_where_there_is_nothing_else() -> None:
    assert read_query(SearchQuery("the who")).tokens[:1] == ("the",)
    assert read_query(SearchQuery("the bridge")).tokens[:1] == ("bridg",)


def test_words_are_looked_for_by_the_endings_of_the_language_asked_for() -> None:
    assert read_query(SearchQuery("Häuser", language="de")).tokens == ("hauser", "haeuser", "haus.de")
    assert "haus.de" in read_query(SearchQuery("Häuser")).tokens


def test_long_queries_are_cut_with_a_note() -> None:
    plan = read_query(SearchQuery("".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))))
    assert len(plan.terms) == MAX_TERMS
    assert plan.notes == (f"only the first {MAX_CHARS:,} characters of the query were read",)


@each_row("text", HOSTILE)
def test_odd_queries_are_read(text: str) -> None:
    plan = read_query(SearchQuery(text))
    assert len(plan.tokens) == len(set(plan.tokens))
    assert not set("".join(plan.tokens)) & set("\"'*^:-+&|!(){}[]\\\0% ")


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_says_where_it_is_wrong(text: str) -> None:
    try:
        plan = read_query(SearchQuery(text))
    except QueryError as wrong:
        assert re.match(r"the query is wrong at character \d+: ", str(wrong))  # noqa: PT017 - few texts are wrong
    else:
        assert plan == read_query(SearchQuery(text))
        assert all(term.weight > 0 and term.start < term.end for term in plan.terms)
