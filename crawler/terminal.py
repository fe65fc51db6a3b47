"""What is shown or logged: text from the web goes through here, so that it moves no cursor and forges no line."""

from __future__ import annotations

import logging
from typing import Any

from rich.console import Console
from rich.text import Text

from .shown import one_line, visible


class Terminal(Console):
    """A console that shows strings as they are: no markup unless asked for, no control characters."""

    def __init__(self, *, markup: bool = False, **options: Any) -> None:
        super().__init__(markup=markup, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Every string, those in tables too, comes through here."""
        return super().render_str(visible(text), **options)


class LogLines(logging.Formatter):
    """Log records of one line each; what follows of an exception is indented, so that it cannot pass for another."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, whatever its arguments hold."""
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """The line and the exception."""
        line, *more = super().format(record).split("\n")
        return "\n".join([line, *(f"    {visible(each)}" for each in more)])


def guard_logs() -> None:
    """Have all handlers of the root logger write `LogLines`, in the format that they have."""
    for handler in logging.getLogger().handlers:
        old = handler.formatter
        if old is not None and not isinstance(old, LogLines):
            handler.setFormatter(LogLines(old._fmt, old.datefmt))
