"""Scrapy's exporters, where the readers of their files need care."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from scrapy.exporters import CsvItemExporter

from db.records.article import COLUMNS, JOINED_BY, ArticleItem

# Spreadsheets pass over what cannot be seen before a formula; a line feed or a tab may begin another cell.
_FORMULA = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*[=+\\-@＝＋－﹣−＠﹫﹢﹦]|[\t\r\n]"
)
_NUMBER = re.compile(r"-\d+", re.ASCII)
"""As identifiers are."""


def harmless(value: Any) -> Any:
    r"""Put an apostrophe before a cell that a spreadsheet would take for a formula.

    >>> harmless('=HYPERLINK("http://a.test")'), harmless("-3"), harmless(-3), harmless("news")
    ('\'=HYPERLINK("http://a.test")', '-3', -3, 'news')
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


class CsvExporter(CsvItemExporter):
    """CSV for spreadsheets, with the columns of `v_articles`, and the URLs of images.

    HTML, which does not go into a cell, is left out unless `FEED_EXPORT_FIELDS` names it. Other formats have all fields
    and stay as they are: nobody runs them.
    """

    def __init__(self, file: Any, join_multivalued: str = JOINED_BY, **options: Any) -> None:
        super().__init__(file, join_multivalued=join_multivalued, **options)

    def export_item(self, item: Any) -> None:
        """Write a row."""
        if not self.fields_to_export and isinstance(item, ArticleItem):
            self.fields_to_export = (*COLUMNS, "images")
        super().export_item(item)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        """Join lists: names as in the database, images by their URLs."""
        if name == "images" and isinstance(value, list):
            return " ".join(str(one["url"]) for one in value)
        return super().serialize_field(field, name, value)

    def _build_row(self, values: Iterable[Any]) -> Iterator[Any]:
        yield from map(harmless, super()._build_row(values))
