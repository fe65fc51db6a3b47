from __future__ import annotations

import pytest

from pipelines.document.document import parse
from pipelines.records import Extraction
from pipelines.replicate.profile import marked, plain, profile

PAGE = (
    "<html><head><title>Bridge</title></head><body><h2>River bridge</h2><p>Ships pass <b>bridge</b></p></body></html>"
)


def test_words_by_mark_up() -> None:
    # bridge: title 1 + 4; h2 1 + 2; b 1 + 1. river: h2 1 + 2. ship: 1.
    page = parse(PAGE.encode(), "http://a.test/")
    found = marked(page, Extraction())
    assert (found["bridge"], found["river"], found["ship"]) == (10, 3, 1)
    counted = plain(page, Extraction())
    assert (counted["bridge"], counted["river"], counted["ship"]) == (3, 1, 1)


def test_article_alone_counts_where_it_is_known() -> None:
    page = parse(PAGE.encode(), "http://a.test/")
    assert plain(page, Extraction(text="Ships pass bridge")) == {"bridge": 2, "ship": 1, "pass": 1}


def rows(label: str, word: str, count: int) -> list[dict[str, str]]:
    text = f"{word} stands"
    html = f"<title>{word}</title><body><p>{text}</p></body>"
    return [{"id": f"{label}{n}", "text": text, "label": label, "html": html} for n in range(count)]


def test_profiles_tell_liked_pages_from_others() -> None:
    # Of 9 pages 3 are judged; they are as near as those learned from, the others share "stands" alone.
    table = profile([*rows("a", "bridge", 9), *rows("b", "garlic", 9)], 1)
    assert len(table.rows) == 6
    assert all(row.ours == {"P": 1, "R": 1, "F": 1, "P=R": 1} for row in table.rows)


def test_pages_that_are_all_alike_cannot_be_told_apart() -> None:
    table = profile([*rows("a", "bridge", 9), *rows("b", "bridge", 9)], 1)
    # All six pages judged are taken for liked: half of them are. In their order the others come first.
    assert all(row.ours["P"] == 0.5 and row.ours["R"] == 1 and row.ours["P=R"] == 0 for row in table.rows)


def test_refuse_too_few_pages() -> None:
    with pytest.raises(ValueError, match=r"\{'a': 3\}; give rows with html and label, 6 of a class"):
        profile(rows("a", "bridge", 3), 1)
