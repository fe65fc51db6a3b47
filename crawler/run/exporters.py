"""Scrapy's exporters, where the readers of their files need care."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from scrapy.exporters import CsvItemExporter

# Spreadsheets pass over what cannot be seen before a formula; a line feed or a tab may begin another cell.
_FORMULA = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*[=+\\-@＝＋－﹣−＠﹫﹢﹦]|[\t\r\n]"
)


def harmless(value: Any) -> Any:
    r"""Put an apostrophe before a cell that a spreadsheet would take for a formula.

    >>> harmless('=HYPERLINK("http://a.test")'), harmless("-3"), harmless(-3), harmless("news")
    ('\'=HYPERLINK("http://a.test")', "'-3", -3, 'news')
    """
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


class CsvExporter(CsvItemExporter):
    """CSV for spreadsheets. JSON lines stay as they are: nobody runs them."""

    def _build_row(self, values: Iterable[Any]) -> Iterator[Any]:
        yield from map(harmless, super()._build_row(values))
