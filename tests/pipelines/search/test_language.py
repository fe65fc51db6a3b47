from __future__ import annotations

import pytest

from pipelines.search.language import (
    ANYWHERE,
    AUTHOR,
    TITLE,
    All,
    AskedWords,
    Condition,
    Either,
    Expression,
    Near,
    Not,
    ParsedQuery,
    Phrase,
    QueryError,
    parse,
)
from tests.table import each_row


@each_row(
    ("text", "parts"),
    [
        ("port ferry", (AskedWords("port ferry"),)),
        ("port (ferry)", (AskedWords("port ferry"),)),
        ("port AND ferry", (AskedWords("port ferry"),)),
        ("port OR ferry -queen", (Either((AskedWords("port"), All((AskedWords("ferry"), Not(AskedWords("queen")))))),)),
        ("(port OR ferry) queen", (AskedWords("queen"), Either((AskedWords("port"), AskedWords("ferry"))))),
        ("（港口 OR 码头）", (Either((AskedWords("港口"), AskedWords("码头"))),)),
        ("港口 -新华社记者", (AskedWords("港口"), Not(Phrase("新华社记者", ANYWHERE)))),
        ('-"wine regions"', (Not(Phrase("wine regions")),)),
        ("-(港口 ferry)", (Not(AskedWords("港口 ferry")),)),
        ("title:port ferry", (AskedWords("ferry"), AskedWords("port", TITLE))),
        ("title：港口", (Phrase("港口", TITLE),)),
        ("Title:(port OR “the ferry”)", (Either((AskedWords("port", TITLE), Phrase("the ferry", TITLE))),)),
        ("author:李四", (Phrase("李四", AUTHOR),)),
        ("near:5(port 码头)", (Near(5, (Phrase("码头"), AskedWords("port"))),)),
        ("-site:a.test", (Not(Condition("site", "a.test", 1)),)),
        ("before:2024 OR lang:zh", (Either((Condition("until", "2024", 0), Condition("language", "zh", 15))),)),
    ],
)
def test_operators_are_read(text: str, parts: tuple[Expression, ...]) -> None:
    found = parse(text).parts
    assert sorted(map(repr, _unordered(found))) == sorted(map(repr, _unordered(parts)))


def _unordered(parts: tuple[Expression, ...]) -> list[Expression]:
    return [Near(one.distance, tuple(sorted(one.parts, key=repr))) if isinstance(one, Near) else one for one in parts]


@each_row(
    "text",
    [
        "port ferry",
        "f(x, y) in a text",
        "title: the port",
        "well-known - or not -- at all",
        "or and Near: by",
        "科技助力古籍“藏”与“用”",
        "北京:传统 limit:5 https://site:1",
        "市长：“港口开放”",
        "rock'n'roll 5\" disks",
    ],
)
def test_texts_without_operators_are_words(text: str) -> None:
    words = tuple(parse(text).parts)
    assert parse(text) == ParsedQuery(text, words, (), is_exact=False)
    assert [type(each) for each in words] == [AskedWords]


@each_row("marks", ['""', "“”", "「」", "『』", "«»", "„“", "＂＂"])
def test_phrases_stand_in_quotation_marks_of_any_kind(marks: str) -> None:
    assert parse(f"town {marks[0]}Old Bridge{marks[1]}").parts == (AskedWords("town"), Phrase("Old Bridge"))
    assert parse(f"市长，{marks[0]}长江大桥{marks[1]}，通车").parts == (AskedWords("市长， ，通车"), Phrase("长江大桥"))


def test_words_that_are_excluded_do_not_rank() -> None:
    assert parse("port -strike title:ferry OR near:3(old town)").words.split() == ["port", "ferry", "old", "town"]


def test_conditions_outside_of_brackets_are_apart() -> None:
    parsed = parse('port class:sport source:"New Post"')
    assert parsed.conditions == (Condition("classes", "sport", 5), Condition("source", "New Post", 17))
    assert (parsed.parts, parsed.is_exact) == ((AskedWords("port"),), False)


@each_row(
    ("text", "at", "why"),
    [
        ('port "old town', 6, "this quotation mark is not closed"),
        ("title:“港口", 7, "this quotation mark is not closed"),
        ("port (ferry OR (boat)", 6, "this bracket is not closed"),
        ("near:5(port ferry", 1, "this bracket is not closed"),
        ("port ferry)", 11, "this bracket closes nothing"),
        ("port ()", 6, "these brackets hold no word"),
        ("port OR", 6, "OR needs words on both sides"),
        ("OR port", 1, "OR needs words on both sides"),
        ("port OR AND ferry", 9, "AND needs words on both sides"),
        ("(port AND) ferry", 7, "AND needs words on both sides"),
        ("near:5(port)", 1, "near is written like near:5(harbour ferry)"),
        ("a near:(port ferry)", 3, "near is written like near:5(harbour ferry)"),
        ("near:5(port OR ferry)", 1, "near is written like near:5(harbour ferry)"),
        ("(" * 30 + "a" + ")" * 30, 21, "brackets are nested more than 20 deep"),
    ],
)
def test_wrong_query_is_pointed_at(text: str, at: int, why: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert str(caught.value) == f"the query is wrong at character {at}: {why}"
