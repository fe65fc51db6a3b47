"""The health of hosts: a row of state a host, and its alarms.

Several processes may follow one host after the other. A row says how many answers went into it; whoever has begun with
an older state than the table now holds is told so, and goes on from that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, func, select, update

from ..engine.statements import among, insert_rows, run_many
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
    """A host's state after `answers` answers, its base, and its changed alarms."""

    host_id: int
    before: int
    answers: int
    state: str
    updated: str
    alarms: Sequence[AlarmChange] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class ShownAlarm:
    """An alarm as people see it; `until` is None while it lasts."""

    host: str
    kind: str
    since: str
    until: str | None
    text: str


def load(connection: Connection, host_ids: Sequence[int]) -> list[tuple[int, str]]:
    """Read each host's number of answers and state; (0, "") of a new one."""
    found = {row[0]: (row[1], row[2]) for row in connection.execute(_LOAD, {"ids": sorted(set(host_ids))})}
    return [found.get(key, (0, "")) for key in host_ids]


def save(connection: Connection, batches: Sequence[Sequence[HealthRow]]) -> list[Mapping[int, tuple[int, str]]]:
    """Write states and alarms; returns the states that another process has written."""
    rows = {row.host_id: row for batch in batches for row in batch}
    ids = sorted(rows)
    columns = ("host_id", "answers", "state", "updated")
    insert_rows(connection, health, columns, [(key, 0, "", rows[key].updated) for key in ids])
    held = {row[0]: (row[1], row[2]) for row in connection.execute(_LOCK, {"ids": ids})}
    stale = {key: held[key] for key in ids if held[key][0] != rows[key].before}
    fresh = [row for key, row in sorted(rows.items()) if key not in stale]
    values = [{"key": r.host_id, "new_answers": r.answers, "new_state": r.state, "now": r.updated} for r in fresh]
    run_many(connection, _UPDATE, values)
    # of every batch: that of an earlier one of the same host may hold an alarm that the later one knows nothing of
    _save_alarms(connection, [each for batch in batches for row in batch for each in row.alarms])
    return [{row.host_id: stale[row.host_id] for row in batch if row.host_id in stale} for batch in batches]


def _save_alarms(connection: Connection, alarms: Sequence[AlarmChange]) -> None:
    """Write alarms; one of a kind is active for a host at a time."""
    columns = ("host_id", "kind", "since", "until", "text", "evidence")
    for each in alarms:  # few
        if each.until is not None:
            run_many(connection, _END, [{"key": each.host_id, "of": each.kind, "now": each.until}])
        elif connection.execute(_OPEN_OF, {"key": each.host_id, "of": each.kind}).first() is None:
            row = (each.host_id, each.kind, each.since, None, each.text, each.evidence)
            insert_rows(connection, alarm, columns, [row])


def open_alarms(connection: Connection, _payloads: Sequence[None]) -> list[Sequence[ShownAlarm]]:
    """Read active alarms, the newest first."""
    shown = shown_alarms(connection, ended=0)
    return [shown for _ in _payloads]


def shown_alarms(connection: Connection, *, ended: int) -> Sequence[ShownAlarm]:
    """Read active alarms and so many of those that have ended, the newest first."""
    columns = select(
        func.coalesce(host.c.name, "").label("host"), alarm.c.kind, alarm.c.since, alarm.c.until, alarm.c.text
    ).outerjoin(host, host.c.id == alarm.c.host_id)
    lasting = columns.where(alarm.c.until.is_(None)).order_by(alarm.c.since.desc(), host.c.name).limit(MOST_SHOWN)
    over = columns.where(alarm.c.until.is_not(None)).order_by(alarm.c.until.desc(), host.c.name).limit(ended)
    rows = [*connection.execute(lasting).all(), *(connection.execute(over).all() if ended else ())]
    return [ShownAlarm(row.host, row.kind, row.since, row.until, row.text) for row in rows]


_LOAD = select(health.c.host_id, health.c.answers, health.c.state).where(among(health.c.host_id))
_LOCK = _LOAD.order_by(health.c.host_id).with_for_update()
_UPDATE = (
    update(health)
    .where(health.c.host_id == bindparam("key"))
    .values(answers=bindparam("new_answers"), state=bindparam("new_state"), updated=bindparam("now"))
)
_IS_OPEN = (alarm.c.host_id == bindparam("key"), alarm.c.kind == bindparam("of"), alarm.c.until.is_(None))
_OPEN_OF = select(alarm.c.kind).where(*_IS_OPEN)
_END = update(alarm).where(*_IS_OPEN).values(until=bindparam("now"))
