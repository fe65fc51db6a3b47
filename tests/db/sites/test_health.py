"""What is kept of hosts' health: states, and alarms that begin and end."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.sites import health
from db.sites.health import AlarmChange, HealthRow

pytestmark = pytest.mark.dialects

NOW, LATER = "2024-05-01T10:00:00+00:00", "2024-05-01T11:00:00+00:00"


def begins(kind: str = "blocks", since: str = NOW, host_id: int = 7) -> AlarmChange:
    return AlarmChange(host_id, kind, since, None, "blocks us: 38 of 40 ' \"; DROP TABLE alarm", "{}")


def ends(kind: str = "blocks", host_id: int = 7) -> AlarmChange:
    return AlarmChange(host_id, kind, "", LATER, "no longer", "")


def row(host_id: int, answers: int, *alarms: AlarmChange) -> HealthRow:
    return HealthRow(host_id, answers, f"state of {answers}", NOW, alarms)


def alarms(database: Database) -> list[tuple]:
    with database.engine.connect() as connection:
        found = connection.execute(text("SELECT host_id, kind, since, until FROM alarm ORDER BY since, host_id"))
        return [tuple(one) for one in found]


def test_nothing_is_known_at_first(run_in: Callable) -> None:
    assert run_in(health.load, 7) == ""


def test_states_are_kept(run_in: Callable) -> None:
    assert run_in(health.save, [row(7, 40), row(-8, 12)]) is None
    assert run_in(health.save, [row(7, 80)]) is None
    assert run_in(health.load, 7) == "state of 80"
    assert run_in(health.load, -8) == "state of 12"


def test_alarms_begin_once_and_end(run_in: Callable, database: Database) -> None:
    run_in(health.save, [row(7, 40, begins()), row(8, 40, begins(host_id=8))])
    run_in(health.save, [row(7, 50, begins(since=LATER), begins("slow"))])  # that it blocks is known
    assert alarms(database) == [(7, "blocks", NOW, None), (7, "slow", NOW, None), (8, "blocks", NOW, None)]
    run_in(health.save, [row(7, 60, ends(), begins(since=LATER), ends("slow"))])
    assert alarms(database) == [
        (7, "blocks", NOW, LATER),
        (7, "slow", NOW, LATER),
        (8, "blocks", NOW, None),
        (7, "blocks", LATER, None),
    ]
    shown = run_in(health.shown_alarms, 0)
    assert [(one.kind, one.since, one.until) for one in shown] == [("blocks", LATER, None), ("blocks", NOW, None)]
    with database.engine.connect() as connection:
        assert [one.until for one in health.shown_alarms(connection, [5])[0]] == [None, None, LATER, LATER]


def test_batches_of_several_callers(database: Database) -> None:
    batches = [[row(2, 10)], [row(1, 20), row(3, 30)]]
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        assert health.save(connection, batches) == [None, None]
        assert health.load(connection, [3, 1, 2, 4]) == ["state of 30", "state of 20", "state of 10", ""]
