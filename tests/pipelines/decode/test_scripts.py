"""Traditional characters to simplified ones."""

from __future__ import annotations

from pipelines.decode.scripts import simplify
from tests.table import each_row


@each_row(
    ("text", "simple"),
    [("熱門新聞", "热门新闻"), ("热门新闻", "热门新闻"), ("Étoile 臺", "Étoile 台"), ("plain", "plain"), ("", "")],
)
def test_simplify(text: str, simple: str) -> None:
    assert simplify(text) == simple
