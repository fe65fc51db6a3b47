"""Names of containers as categories."""

from __future__ import annotations

from pipelines.document.class_names import CATEGORIES, TAG_CATEGORIES, find_categories
from tests.table import each_row


def of(name: str) -> set[str]:
    return {CATEGORIES[number] for number in find_categories(name)}


@each_row(
    ("name", "category"),
    [
        ("post-comments", "comment"),
        ("comment_list", "comment"),
        ("relatednews", "related"),
        ("xgyd", "related"),
        ("breadcrumb", "nav"),
        ("footer-wrap", "footer"),
        ("sidebar2", "side"),
        ("trs_editor", "content"),
        ("articlebody", "content"),
        ("bdsharebuttonbox", "share"),
        ("wp-caption", "caption"),
        ("adsbygoogle", "advert"),
    ],
)
def test_words_in_names(name: str, category: str) -> None:
    assert category in of(name)


def test_names_that_say_nothing() -> None:
    assert of("") == set()
    assert of("x7 _9 qwrtz") == set()


def test_words_inside_short_words_do_not_count() -> None:
    assert "advert" not in of("header")


def test_tags_have_categories_too() -> None:
    assert {CATEGORIES[number] for number in TAG_CATEGORIES["nav"]} == {"nav"}
