"""Make text from the web harmless before it is shown or logged.

It moves no cursor and forges no line.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Column, Table
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


def harmless_json(text: str) -> str:
    r"""Escape in JSON what would act on a terminal; it says the same.

    >>> harmless_json('"a\x9b31m"')
    '"a\\u009b31m"'
    """
    return _MOVING.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
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
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        line, *more = super().format(record).split("\n")
        return "\n".join([line, *(f"    {visible(each)}" for each in more)])


def guard_logs() -> None:
    """Have all handlers of the root logger write `LogLines`, in their own format."""
    for handler in logging.getLogger().handlers:
        old = handler.formatter
        if old is not None and not isinstance(old, LogLines):
            handler.setFormatter(LogLines(old._fmt, old.datefmt))


class JsonRecord(logging.LogRecord):
    """A log record whose message is a JSON object on one line.

    Scrapy installs its handler anew at several moments, with a formatter of its own; records go through all of them.
    """

    def __init__(self, run: int | None, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._run = run
        # formatters write these below the message, and the line would be none
        self._exception, self.exc_info = self.exc_info, None
        self._stack, self.stack_info = self.stack_info, None

    def getMessage(self) -> str:
        """Return the record as one JSON object, its time in UTC."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(self.created, UTC).isoformat(timespec="milliseconds"),
            "level": self.levelname,
            "logger": self.name,
            "message": super().getMessage(),
            "run": self._run,
        }
        if self._exception:
            line["exception"] = logging.Formatter().formatException(self._exception)
        if self._stack:
            line["stack"] = self._stack
        if counts := self.__dict__.get("counts"):
            line["counts"] = counts
        # all but ASCII is escaped: so nothing in it acts on a terminal, whatever a server has said
        return json.dumps(line, default=str)


def log_as_json(run: int | None = None) -> None:
    """Have everything that is logged from now on be a `JsonRecord` (see `LOG_JSON`)."""
    logging.setLogRecordFactory(partial(JsonRecord, run))


# ---- Tables that fit: on a terminal they are as wide as that, elsewhere as what is in them.

_DOTS = "..."
_LEAST_CUT, _LEAST_WORDS, _MOST_WORD = 24, 12, 40
"""Cells that a column of URLs, and one of words, keeps; so long a word may widen it."""
_WORD = re.compile("[!-~]+")
UNBOUNDED = 10_000
_LABEL = 14


def _as_it_is(value: Any) -> object:
    return "" if value is None else value


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table.

    Attributes:
        name: its heading; empty for what only scripts are given.
        drop: columns with the greatest number go first where there is no room; those with 0 stay.
        cut: whether its texts are URLs or names, shortened in the middle; else they are folded between words.
        key: its name in JSON lines and CSV; by default the heading in small letters, with _ for spaces.
    """

    name: str
    drop: int = 0
    right: bool = False
    cut: bool = False
    key: str = ""
    show: Callable[[Any], object] = _as_it_is

    @property
    def called(self) -> str:
        return self.key or self.name.replace(" ", "_").lower()


def shortened(text: str, cells: int) -> str:
    """Shorten a text in the middle to so many cells; a Chinese character takes two.

    >>> shortened("https://www.example.com/news/2024/09/18/ports.html", 30), shortened("港口航运新闻", 9)
    ('https://www.ex...18/ports.html', '港口...闻')
    """
    if cell_len(text) <= cells:
        return text
    room = max(0, cells - len(_DOTS))
    end = chop_cells(text[::-1], max(1, room // 2))[0][::-1] if room > 1 else ""
    begin = chop_cells(text, max(1, room - cell_len(end)))[0] if room else ""
    return f"{begin}{_DOTS}{end}"


def show_table(console: Console, title: str, fields: Sequence[Field], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits.

    URLs are shortened, words folded, and what matters less is left out and named; empty columns are left out.
    """
    cells = [[_line_for(console, field.show(part)) for field, part in zip(fields, row, strict=True)] for row in rows]
    columns = [n for n, field in enumerate(fields) if field.name and (not cells or any(row[n] for row in cells))]
    natural = {n: max(map(cell_len, (fields[n].name, *(row[n] for row in cells)))) for n in columns}
    least = {n: _least(fields[n], natural[n], [row[n] for row in cells]) for n in columns}
    widths, left_out = dict(natural), []
    while _frame(widths) > console.width:
        wide = [n for n in widths if widths[n] > least[n]]
        droppable = [n for n in widths if fields[n].drop]
        if wide:
            widest = max(wide, key=lambda n: widths[n])
            widths[widest] -= 1
        elif droppable:
            dropped = max(droppable, key=lambda n: fields[n].drop)
            left_out.append(fields[dropped].name)
            widths = {n: natural[n] for n in widths if n != dropped}
        else:
            break
    table = Table(
        *(
            Column(fields[n].name, justify="right" if fields[n].right else "left", overflow="fold", width=width)
            for n, width in widths.items()
        ),
        box=box.SQUARE if console.is_terminal else None,
        pad_edge=console.is_terminal,
    )
    for row in cells:
        table.add_row(*(Text(shortened(row[n], widths[n]) if fields[n].cut else row[n]) for n in widths))
    console.print(f"\n{title}" + (f" (--wide for {', '.join(left_out)})" if left_out else ""), soft_wrap=True)
    print_table(console, table)


def print_table(console: Console, table: Table) -> None:
    """Print a table, where no terminal is without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as printed:
        console.print(table)
    console.out("\n".join(line.rstrip() for line in printed.get().splitlines()), highlight=False)


def show_pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Print labels and texts, folded between words below one another.

    Words that are too long are shortened, but for the first text, which stays whole.
    """
    for n, (label, text) in enumerate(pairs):
        room = max(_LEAST_CUT, console.width - _LABEL - 1)
        line = _line_for(console, text)
        if n and cell_len(line) > room:
            line = " ".join(shortened(word, room) for word in line.split(" "))
        lines = Text(line).wrap(console, room) if n else [Text(line)]
        for at, part in enumerate(lines):
            console.print(Text(f"{label if not at else '':<{_LABEL}} ") + part, soft_wrap=True)


def _line_for(console: Console, value: object) -> str:
    """Return a value as `one_line`, with escapes for what is not shown here."""
    return one_line(value).encode(console.encoding, "backslashreplace").decode(console.encoding)


def _frame(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + 3 * len(widths) + 1


def _least(field: Field, natural: int, texts: Iterable[str]) -> int:
    """Return the cells below which the words of a column would be broken."""
    if field.right or field.cut:
        return natural if field.right else min(natural, _LEAST_CUT)
    words = (len(word) for text in (field.name, *texts) for word in _WORD.findall(text))
    return min(natural, max(_LEAST_WORDS, min(max(words, default=0), _MOST_WORD)))


def console_for(*, wide: bool = False, markup: bool = False) -> Terminal:
    """Return a console for standard output, as wide as the terminal or unbounded."""
    terminal = Terminal(markup=markup)
    return terminal if terminal.is_terminal and not wide else Terminal(markup=markup, width=UNBOUNDED)
