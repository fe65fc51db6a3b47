"""Selectors of seeds: what they choose on a page, and what the messages say about wrong ones."""

from __future__ import annotations

import pytest

from pipelines.document.document import parse
from pipelines.document.selectors import Selectors, blocks_in, check, nodes_of, select, stamps_of, texts_of
from tests.table import each_row

PAGE = parse(
    b"<html><head><meta name='author' content=' Jane  Doe '></head><body><div class='a b'><h1>One <b>t</b>itle</h1>"
    b"<p>first</p><script>no()</script><p>second</p></div><span class=by>By <a>Jo</a><a>Al</a></span>"
    b"<time datetime='2024-03-12T08:30Z'>5 days ago</time><p class=empty></p></body></html>",
    "http://a.example/1",
)


@each_row(
    ("selector", "texts"),
    [
        ("css:h1", ["One title"]),
        ("css:div.a", ["One title first second"]),
        ("xpath://div/p", ["first", "second"]),
        ("xpath:string(//h1)", ["One title"]),
        ("css:meta[name=author]::attr(content)", ["Jane Doe"]),
        ("css:.empty", []),
        ("css:.none", []),
        ("xpath://p[1 = $x]", []),
    ],
)
def test_texts_are_those_of_all_that_is_chosen(selector: str, texts: list[str]) -> None:
    assert texts_of(PAGE, selector) == texts


def test_stamps_for_machines_come_before_what_readers_see() -> None:
    assert stamps_of(PAGE, "css:time") == ["2024-03-12T08:30Z", "5 days ago"]


def test_blocks_are_those_that_begin_inside() -> None:
    nodes = nodes_of(PAGE, "css:div.b p")
    assert [PAGE.tags[node] for node in nodes] == ["p", "p"]
    inside = blocks_in(PAGE, nodes)
    assert [text for text, is_in in zip(PAGE.blocks.texts, inside, strict=True) if is_in] == ["first", "second"]


def test_page_without_elements_has_nothing_to_choose() -> None:
    assert select(parse(b"", "http://a.example/"), "css:p") == []


@each_row(
    ("name", "selector", "reason"),
    [
        ("title", "h1", "it takes css:... or xpath:..."),
        ("title", "css:", "it takes css:... or xpath:..."),
        ("title", "css:div..", "expected ident, got <DELIM '.' at 4>"),
        ("title", "css:a:foo", "the pseudo-class :foo is unknown"),
        ("title", "xpath://[", "invalid expression in //["),
        ("title", "xpath://a[foo()]", "unregistered function in //a[foo()]"),
        ("title", "xpath:$x", "undefined variable in $x"),
        ("title", "xpath:count(//p)", "it gives a number"),
        ("body", "css:p::text", "the body is an element"),
        ("body", "xpath://div/@class", "the body is an element"),
        ("body", "xpath:string(//div)", "the body is an element"),
    ],
)
def test_wrong_selector_is_refused_with_its_reason(name: str, selector: str, reason: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is looked at
        check(name, selector)
    assert reason in str(refused.value)


def test_right_selectors_are_taken() -> None:
    for name, selector in [
        ("body", "css:div.article > p"),
        ("body", "xpath://div[re:test(@id, 'x')]"),
        ("author", "css:a::text"),
    ]:
        check(name, selector)
    assert Selectors(body="css:p", author="css:a").given == ("body", "author")
