"""Saved little pages, each with what must come out of it in its head comment."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.parse_page import parse_page
from pipelines.records import PageKind, ParsedPage

NOW = datetime(2024, 6, 1, tzinfo=UTC)
FILES = sorted((Path(__file__).parents[1] / "pages").glob("*.html"))


def expected(text: str) -> dict[str, str]:
    """The head comment as a mapping."""
    comment = text[text.index("<!--") + 4 : text.index("-->")]
    pairs = (line.split(":", 1) for line in comment.strip().splitlines())
    return {key.strip(): value.strip() for key, value in pairs}


def load(path: Path) -> tuple[dict[str, str], ParsedPage]:
    text = path.read_text(encoding="utf-8")
    # The comment would tell the encoding and the text: it is not part of the page.
    body = text[text.index("-->") + 3 :].lstrip()
    data = body.encode("gbk" if "gbk" in path.name else "utf-8")
    page = parse_page(
        data, f"http://example.com/n/{path.stem}1.html", content_type="text/html; charset=utf-8", fetched_at=NOW
    )
    return expected(text), page


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_page(path: Path) -> None:
    want, page = load(path)
    assert page.kind.name.lower() == want["kind"]
    assert page.metadata.title == want["title"]
    if page.kind is not PageKind.ARTICLE:
        assert page.reason
        assert page.extraction.text == ""
        return
    assert "; ".join(page.metadata.authors) == want["authors"]
    assert page.metadata.source == want["source"]
    assert page.metadata.published_at == want["published"]
    assert page.extraction.text.startswith(want["first"])
    assert page.extraction.text.endswith(want["last"])
    for word in want["without"].split("|"):
        assert word not in page.extraction.text
    assert page.reason is None
    assert page.signature.length > 0


def test_there_are_pages() -> None:
    assert len(FILES) >= 7
