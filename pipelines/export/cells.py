"""Cells that spreadsheets do not take for formulas, and back."""

from __future__ import annotations

import re
from typing import Any

# Spreadsheets pass over what cannot be seen before a formula; a line feed or a tab may begin another cell.
_FORMULA = (
    "(?:[\x00-\x20\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*[=+\\-@＝＋－﹣−＠﹫﹢﹦]|[\t\r\n])"
)
_TO_MARK = re.compile(f"'*{_FORMULA}")
_MARKED = re.compile(f"'+{_FORMULA}")
_NUMBER = re.compile(r"-\d+", re.ASCII)
"""The form of identifiers."""


def harmless(value: Any) -> Any:
    r"""Put an apostrophe before a cell that a spreadsheet would take for a formula.

    And before one that begins with apostrophes and such a text, so that `restored` knows which are ours.

    >>> harmless('=HYPERLINK("http://a.test")'), harmless("-3"), harmless(-3), harmless("news"), harmless("'=1")
    ('\'=HYPERLINK("http://a.test")', '-3', -3, 'news', "''=1")
    """
    if isinstance(value, str) and _TO_MARK.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def restored(cell: str) -> str:
    """Take the apostrophe away that `harmless` put before a cell.

    >>> restored("'=1+1"), restored("''=1"), restored("'tis")
    ('=1+1', "'=1", "'tis")
    """
    return cell[1:] if _MARKED.match(cell) else cell
