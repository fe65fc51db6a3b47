"""JSON-LD as pages write it."""

from __future__ import annotations

from pipelines.document.document import Document
from pipelines.document.structured_data import read
from tests.table import each_row

STATED = "2024-01-15T18:30:00Z"


@each_row(
    "block",
    [
        '{"@type": "Article", // of the day\n "headline": "Ferry runs", "datePublished": "%s"}',
        '/* for search engines */ {"@type": "Article", "headline": "Ferry runs", "datePublished": "%s"}',
        '{"@type": "Article", "headline": "Ferry runs", "datePublished": "%s",}',
        '[{"@type": "Article", "headline": "Ferry runs", "datePublished": "%s", /* last */ },]',
        '{"@type": "Article", "url": "http://e.com//a/*b*/", "headline": "Ferry runs", "datePublished": "%s", }',
    ],
)
def test_read_forgives_comments_and_commas(block: str) -> None:
    found = read(Document("http://e.com/", json_ld=[block % STATED]))
    assert (found.found, found.headline, found.published) == (True, "Ferry runs", STATED)


def test_read_keeps_what_looks_like_a_comment_in_a_string() -> None:
    block = '{"@type": "Article", "headline": "Ferry // runs, } again",}'
    assert read(Document("http://e.com/", json_ld=[block])).headline == "Ferry // runs, } again"


@each_row("piece", ['"', "/* ", '\\"', "* /", ", "])
def test_read_takes_no_time_for_what_never_ends(piece: str) -> None:
    block = f'{{"@type": "Article", "headline": "{piece * 50_000}'
    assert not read(Document("http://e.com/", json_ld=[block])).found
