"""Make text from the web harmless before it is shown or logged.

It moves no cursor and forges no line.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

# Controls and escapes, what turns the direction of writing, what cannot be seen, surrogates, tags.
_MOVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_BREAKING = re.compile("[\t\n]")
_FEW = 3
_NAMES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    r"""Escape everything in a text that would act on a terminal; its lines stay.

    Cost: O(characters).

    >>> visible("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return _MOVING.sub(_escape, text)


def one_line(value: object) -> str:
    r"""Return a value as `visible` text on one line.

    >>> one_line("gone\n12:00:00 ERROR: forged")
    'gone\\n12:00:00 ERROR: forged'
    """
    return _BREAKING.sub(_escape, visible(str(value)))


def some(names: Sequence[str]) -> str:
    """Name a few of many hosts, and how many they are.

    >>> some(["a.cn"]), some(["a.cn", "b.cn", "c.cn", "d.cn", "e.cn"])
    ('a.cn', '5 hosts (a.cn, b.cn, c.cn, ...)')
    """
    if len(names) == 1:
        return names[0]
    more = ", ..." if len(names) > _FEW else ""
    return f"{len(names)} hosts ({', '.join(names[:_FEW])}{more})"


def _escape(found: re.Match[str]) -> str:
    """Write a character as Python does."""
    sign = found[0]
    code = ord(sign)
    if sign in _NAMES:
        return _NAMES[sign]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str, most: int) -> str:
    r"""Return what a server said on one line, cut to a length and three dots.

    >>> quoted("a" + chr(27) + "[31m", 100), quoted("unreachable", 2)
    ('a\\x1b[31m', 'un...')
    """
    shown = one_line(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[:most]}..."


class Terminal(Console):
    """A console without control characters, nor markup unless asked for."""

    def __init__(self, *, markup: bool = False, **options: Any) -> None:
        super().__init__(markup=markup, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a string; those in tables come through here, too."""
        return super().render_str(visible(text), **options)


class LogLines(logging.Formatter):
    """Log records of one line each; an exception is indented, so that it forges none."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line, whatever its arguments hold."""
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line and the exception."""
        line, *more = super().format(record).split("\n")
        return "\n".join([line, *(f"    {visible(each)}" for each in more)])


def guard_logs() -> None:
    """Have all handlers of the root logger write `LogLines`, in their own format."""
    for handler in logging.getLogger().handlers:
        old = handler.formatter
        if old is not None and not isinstance(old, LogLines):
            handler.setFormatter(LogLines(old._fmt, old.datefmt))
