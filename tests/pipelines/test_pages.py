"""Saved little pages, each with what must come out of it in its head comment."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pipelines.parse_page import parse_page
from pipelines.records import PageKind, ParseResult
from tests.files import files_in

NOW = datetime(2024, 6, 1, tzinfo=UTC)
FILES = files_in(Path(__file__).parents[1] / "pages", "*.html", at_least=30)
CODECS = {
    "_gbk": "gbk",
    "_big5": "big5",
    "_sjis": "shift_jis",
    "_euckr": "euc-kr",
    "_cp1251": "cp1251",
    "_latin1": "latin-1",
}
"""Character sets of pages by the end of their names; the files themselves are UTF-8, to be read by people."""


def expected(text: str) -> dict[str, str]:
    """The head comment as a mapping."""
    comment = text[text.index("<!--") + 4 : text.index("-->")]
    pairs = (line.split(":", 1) for line in comment.strip().splitlines())
    return {key.strip(): value.strip() for key, value in pairs}


def load(path: Path) -> tuple[dict[str, str], ParseResult]:
    text = path.read_text(encoding="utf-8")
    # The comment would tell the encoding and the text: it is not part of the page.
    body = text[text.index("-->") + 3 :].lstrip()
    data = body.encode(next((codec for mark, codec in CODECS.items() if path.stem.endswith(mark)), "utf-8"))
    page = parse_page(data, f"http://example.com/n/{path.stem}1.html", content_type="text/html", fetched_at=NOW)
    return expected(text), page


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_page(path: Path, request: pytest.FixtureRequest) -> None:
    want, page = load(path)
    if "known" in want:  # what is known to go wrong must say so when it no longer does
        request.applymarker(pytest.mark.xfail(reason=want["known"], strict=True))
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
    for words in filter(None, want.get("with", "").split("|")):
        assert words.replace("\\t", "\t") in page.extraction.text
    assert urlsplit(page.metadata.next_page).path == want.get("next", "")
    assert page.reason is None
    assert page.signature.length > 0


def test_there_are_pages() -> None:
    assert len(FILES) >= 30
