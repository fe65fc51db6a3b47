"""Simple trees, paths and the walk along the greatest importance (S15)."""

from __future__ import annotations

import pytest

from pipelines.document.document import Document, parse
from pipelines.extract import extractor
from pipelines.extract.simpletree import (
    MAX_CHILDREN,
    MAX_STEPS,
    SAME_TEMPLATE,
    Params,
    node_at,
    path_of,
    similarity,
    simple_tree,
    walk,
)
from tests.table import each_row

PROSE = "市政府昨天宣布，新的地铁线路将于明年春天开工建设，全长二十三公里，沿途设十五座车站，预计三年后通车。"
MENU = "<div class='menu'><a href='/1'>新闻</a><a href='/2'>体育</a><span>今天是星期三</span></div>"
FOOT = "<div class='foot'>港口新闻中心</div>"


def page(text: str = "".join(f"<p>{PROSE}{n}</p>" for n in range(5)), **names: str) -> Document:
    name = names.get("name", "main")
    body = f"<body>{MENU}<div class='{name}'><h1>地铁新线明年开工</h1><div class='text'>{text}</div></div>{FOOT}</body>"
    return parse(f"<html>{body}</html>".encode(), "http://h.cn/")


def test_pages_of_one_template_have_equal_trees() -> None:
    assert simple_tree(page()) == simple_tree(page("<p>短。</p>"))
    assert len(simple_tree(page())) == 3


def test_numbers_in_names_do_not_count() -> None:
    assert simple_tree(page(name="main post-17")) == simple_tree(page(name="main post-99"))
    assert simple_tree(page(name="main")) != simple_tree(page(name="list"))


def test_wrappers_are_passed_through() -> None:
    wrapped = parse(f"<body><div id='root'><div>{MENU}{FOOT}</div></div></body>".encode(), "http://h.cn/")
    bare = parse(f"<body>{MENU}{FOOT}</body>".encode(), "http://h.cn/")
    assert simple_tree(wrapped) == simple_tree(bare)


def test_one_child_in_five_may_differ() -> None:
    one, other = (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)
    assert similarity(one, other) == pytest.approx(SAME_TEMPLATE)
    assert similarity(one, (1, 2, 3, 7, 8)) < SAME_TEMPLATE


def test_paths_lead_back_to_their_nodes() -> None:
    document = page()
    for node in range(document.tags.index("body") + 1, len(document.tags)):
        assert node_at(document, path_of(document, node)) == node


def test_equal_siblings_are_told_apart() -> None:
    document = parse(b"<body><div><p>a</p></div><div><p>b</p></div></body>", "http://h.cn/")
    second = [node for node, tag in enumerate(document.tags) if tag == "p"][1]
    other = parse(b"<body><div><p>c</p></div></body>", "http://h.cn/")
    assert node_at(document, path_of(document, second)) == second
    assert node_at(other, path_of(document, second)) == -1


def test_walk_ends_at_the_text() -> None:
    document = page()
    assert document.names[walk(document, Params())] == "text"
    assert extractor("simpletree")(document).text == "\n".join(f"{PROSE}{n}" for n in range(5))


def test_bounds() -> None:
    wide = parse(b"<body>" + b"".join(b"<div class='%s'>x</div>" % (b"a" * n) for n in range(1, 199)), "http://h.cn/")
    assert len(simple_tree(wide)) == MAX_CHILDREN
    deep = parse(b"<body>" + b"<div>" * (MAX_STEPS + 5) + b"x", "http://h.cn/")
    assert path_of(deep, len(deep.tags) - 1) == ()


@each_row("body", [b"", b"x", b"<body></body>", b"<body><p></p></body>", b"<a href='/'>link</a>" * 50])
def test_nearly_nothing(body: bytes) -> None:
    document = parse(body, "http://h.cn/")
    found = extractor("simpletree")(document)
    assert found.text == ""
    assert found.reason
    assert node_at(document, (1,)) == -1
    assert isinstance(simple_tree(document), tuple)
