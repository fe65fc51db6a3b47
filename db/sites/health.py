"""Health of hosts: a row of state a host, and its alarms.

A host belongs to one run at a time, which writes its state before it lets go of it; so the last write is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select, update

from ..engine.statements import among, insert_rows, replacing, run_many
from ..records.host import ShownAlarm
from ..tables.learned import AlarmRow, HostHealthRow
from ..tables.urls import HostRow

health, alarm, host = HostHealthRow.table(), AlarmRow.table(), HostRow.table()

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class AlarmChange:
    """An alarm that begins (`until` is None) or has ended."""

    host_id: int
    kind: str
    since: str
    until: str | None
    text: str
    evidence: str


@dataclass(frozen=True, slots=True)
class HealthRow:
    host_id: int
    answers: int
    state: str
    updated: str
    alarms: Sequence[AlarmChange] = ()


def load(connection: Connection, host_ids: Sequence[int]) -> list[str]:
    """Return each host's state; "" of a new one."""
    states = dict(connection.execute(_LOAD, {"ids": sorted(set(host_ids))}).all())
    return [states.get(key, "") for key in host_ids]


def save(connection: Connection, batches: Sequence[Sequence[HealthRow]]) -> list[None]:
    rows = {row.host_id: row for batch in batches for row in batch}
    columns = ("host_id", "answers", "state", "updated")
    values = [{name: getattr(row, name) for name in columns} for _, row in sorted(rows.items())]
    run_many(connection, replacing(connection.dialect.name, health), values)
    for each in (each for batch in batches for row in batch for each in row.alarms):  # few
        if each.until is not None:
            run_many(connection, _END, [{"key": each.host_id, "of": each.kind, "now": each.until}])
        elif connection.execute(_OPEN, {"key": each.host_id, "of": each.kind}).first() is None:
            names = ("host_id", "kind", "since", "until", "text", "evidence")
            insert_rows(connection, alarm, names, [tuple(getattr(each, name) for name in names)])
    return [None] * len(batches)


def shown_alarms(connection: Connection, ended: Sequence[int]) -> list[Sequence[ShownAlarm]]:
    """Return the active alarms and so many ended ones, the newest first."""
    active = _SHOWN.where(alarm.c.until.is_(None)).order_by(alarm.c.since.desc(), host.c.name).limit(MOST_SHOWN)
    over = _SHOWN.where(alarm.c.until.is_not(None)).order_by(alarm.c.until.desc(), host.c.name)
    queries = [(active, over.limit(most)) for most in ended]
    return [[ShownAlarm(*row) for query in both for row in connection.execute(query)] for both in queries]


_LOAD = select(health.c.host_id, health.c.state).where(among(health.c.host_id))
_IS_OPEN = (alarm.c.host_id == bindparam("key"), alarm.c.kind == bindparam("of"), alarm.c.until.is_(None))
_OPEN = select(alarm.c.kind).where(*_IS_OPEN)
_END = update(alarm).where(*_IS_OPEN).values(until=bindparam("now"))
_SHOWN = select(
    func.coalesce(host.c.name, ""), alarm.c.kind, alarm.c.since, alarm.c.until, alarm.c.text
).outerjoin(host, host.c.id == alarm.c.host_id)  # fmt: skip
