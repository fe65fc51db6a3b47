"""`scrapy status --traps`: what was shut because it brought nothing without end, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.table import Column, Table

from db.traps import Listed
from pipelines.patterns import ANSWER, HOST, PREFIX

from ..shown import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_MOST = 200


def show(console: Console, found: tuple[Sequence[Listed], Sequence[tuple[str, int]]]) -> None:
    """Print the patterns, one example of each, and how many URLs were skipped for each kind of trap."""
    patterns, skipped = found
    if not patterns and not skipped:
        console.print("No traps are known")
        return
    table = Table(Column("host", overflow="fold"), Column("pattern", overflow="fold"), "kind", title="Traps")
    for name in ("pages", "articles"):
        table.add_column(name, justify="right")
    table.add_column("since")
    table.add_column("why", overflow="fold")
    table.add_column("for instance", overflow="fold")
    for host, row in patterns[:_MOST]:
        kind = row.kind or "tried again"
        since = datetime.fromtimestamp(row.shut_at, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        numbers = (str(row.pages), str(row.brought))
        cells = (host, _named(row.level, row.pattern), kind, *numbers, since, row.why, row.example)
        table.add_row(*map(one_line, cells))
    console.print(table)
    if len(patterns) > _MOST:
        console.print(f"and {len(patterns) - _MOST} more")
    for reason, n in skipped:
        console.print(f"{n} URLs were skipped as {reason.removeprefix(PREFIX)}", markup=False)


def _named(level: int, pattern: str) -> str:
    """A pattern for people."""
    return {HOST: "the whole host", ANSWER: "pages that say there is no such page"}.get(level, pattern)
