"""Print what a command found: tables for people, JSON lines or CSV for scripts."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipelines.export.cells import harmless

from .text import Field, console_for, harmless_json, show_table

TABLE, JSONL, CSV = "table", "jsonl", "csv"
FORMS = (TABLE, JSONL, CSV)


class Output:
    """Standard output in one form: a command describes its rows once.

    JSON lines have no colours and no escapes but JSON's own, numbers are numbers, what is unknown is null.
    """

    def __init__(self, form: str = TABLE, *, wide: bool = False) -> None:
        self.is_table = form == TABLE
        self.console = console_for(wide=wide)
        self._form = form

    def say(self, text: str) -> None:
        if self.is_table:
            self.console.print(text, markup=False, soft_wrap=True)

    def record(self, record: str, values: Mapping[str, Any]) -> None:
        """Print one record for scripts; `record` names its kind, where there are several."""
        if self._form == JSONL:
            record_kind = {"record": record} if record else {}
            ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
            line = json.dumps({**record_kind, **values}, ensure_ascii=ascii_only, default=str)
            sys.stdout.write(f"{harmless_json(line)}\n")

    def show(self, title: str, fields: Sequence[Field], rows: Iterable[Sequence[Any]], record: str = "") -> None:
        """Print rows with values as scripts need them; `Field.show` makes texts of them."""
        if self.is_table:
            show_table(self.console, title, fields, rows)
        elif self._form == JSONL:
            for row in rows:
                self.record(record, {field.called: value for field, value in zip(fields, row, strict=True)})
        else:
            _write_csv([field.called for field in fields], rows)


def _write_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows that no spreadsheet takes for formulas."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([harmless(_flat(value)) for value in row] for row in rows)


def _flat(value: Any) -> Any:
    nested = isinstance(value, Mapping | list | tuple | set | frozenset)
    return json.dumps(value, ensure_ascii=False, default=list) if nested else value
