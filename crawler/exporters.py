"""Scrapy's exporters, where the readers of their files need care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scrapy.exporters import CsvItemExporter

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    r"""Return a cell that no spreadsheet takes for a formula: one that begins like it gets an apostrophe before it.

    >>> harmless('=HYPERLINK("http://a.test")'), harmless("-3"), harmless(-3), harmless("news")
    ('\'=HYPERLINK("http://a.test")', "'-3", -3, 'news')
    """
    if isinstance(value, str) and (value.startswith(_STARTS) or value.lstrip().startswith(_STARTS)):
        return f"'{value}"
    return value


class CsvExporter(CsvItemExporter):
    """CSV for spreadsheets. JSON lines stay as they are: nobody runs them."""

    def _build_row(self, values: Iterable[Any]) -> Iterator[Any]:
        yield from map(harmless, super()._build_row(values))
