"""Shapes of addresses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.learn.health.shapes import MOST_WORDS, shape
from pipelines.records import BlockKind


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "a/"),
        ("/index.html", "a/index.html"),
        ("/news/list_3.html", "a/news/list.html"),
        ("/news/t20240312_1234.html", "a/news/w9.html"),
        ("/news/2024-03/12/content_123456.htm", "a/news/2024d/9/w9.htm"),
        ("/2024/03/12/a-long-headline-here-2", "a/2024/9/9/slug"),
        ("/%E6%96%B0%E9%97%BB", "a/slug"),
        ("/show.php?id=7&page=2", "a/w.php?id,page"),
        ("/weather", "a/w"),
        ("/news/2014.html", "a/news/9.html"),
        ("/202403/1.html", "a/2024d/9.html"),
    ],
)
def test_shapes(path: str, expected: str) -> None:
    assert shape(f"http://a.example{path}", BlockKind.LIST, []) == expected


def test_articles_of_a_site_are_alike_and_other_pages_are_not() -> None:
    words: list[str] = []
    articles = {shape(f"http://a.example/news/2024/{n}/{n}.html", BlockKind.LIST, words) for n in range(50)}
    others = {
        shape(f"http://a.example/{path}", BlockKind.LIST, words) for path in ("tag/a", "author/b", "2009/1/1.html")
    }
    assert len(articles) == 1
    assert len(others) == 3
    assert not articles & others


def test_where_the_link_stands_counts() -> None:
    url = "http://a.example/x/1"
    assert len({shape(url, kind, []) for kind in (BlockKind.LIST, BlockKind.NAVIGATION, BlockKind.PAGINATION)}) == 3


def test_few_names_of_folders_are_kept() -> None:
    words: list[str] = []
    shapes = {shape(f"http://a.example/{'x' * n}/1.html", BlockKind.LIST, words) for n in range(1, 20)}
    assert len(words) == MOST_WORDS
    assert len(shapes) == MOST_WORDS + 1
    assert shape("http://a.example/tag/1.html", BlockKind.LIST, words) == "a/tag/9.html"


@settings(max_examples=50)
@given(st.text(max_size=300), st.sampled_from(sorted(BlockKind)))
def test_any_address_has_a_short_shape(path: str, found_in: int) -> None:
    words: list[str] = []
    found = shape(f"http://a.example/{path}", found_in, words)
    assert found == shape(f"http://a.example/{path}", found_in, words)
    assert len(found) <= 80
    assert len(words) <= MOST_WORDS
