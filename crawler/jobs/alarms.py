"""`scrapy status`: the alarms of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from ..shown import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.health import ShownAlarm

ENDED = 5
"""Alarms that have ended and are shown all the same."""


def table(alarms: Sequence[ShownAlarm]) -> Table:
    """Alarms, those that last first."""
    shown = Table(Column("host", overflow="fold"), Column("what", overflow="fold"), "since", "until", title="Alarms")
    for alarm in alarms:
        # as text, not as markup: it quotes what sites say
        shown.add_row(
            Text(one_line(alarm.host)), Text(one_line(alarm.text)), Text(alarm.since), Text(alarm.until or "it lasts")
        )
    return shown
