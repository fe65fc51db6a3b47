"""Gains of rendering pages: a row for each host and wish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, case, select, update

from ..engine.statements import among, insert_rows, run_many
from ..tables.learned import RenderGainRow
from ..tables.urls import HostRow

gain, host = RenderGainRow.table(), HostRow.table()


@dataclass(frozen=True, slots=True)
class RenderTry:
    host_id: int
    wish: str
    gained: bool
    at: float


@dataclass(frozen=True, slots=True)
class RenderRecord:
    tries: int = 0
    gains: int = 0
    misses: int = 0
    tried_at: float = 0.0

    def after(self, gained: bool, at: float) -> RenderRecord:  # noqa: FBT001 - a fact, no switch
        return RenderRecord(self.tries + 1, self.gains + gained, 0 if gained else self.misses + 1, at)


def load(connection: Connection, host_ids: Sequence[int]) -> list[dict[str, RenderRecord]]:
    render_records: dict[int, dict[str, RenderRecord]] = {key: {} for key in host_ids}
    for row in connection.execute(_LOAD, {"ids": sorted(render_records)}):
        render_records[row.host_id][row.wish] = RenderRecord(row.tries, row.gains, row.misses, row.tried_at)
    return [render_records[key] for key in host_ids]


def save(connection: Connection, tries: Sequence[RenderTry]) -> list[None]:
    keys = sorted({(one.host_id, one.wish) for one in tries})
    insert_rows(
        connection,
        gain,
        ("host_id", "wish", "tries", "gains", "misses", "tried_at"),
        [(*key, 0, 0, 0, 0.0) for key in keys],
    )
    run_many(
        connection,
        _COUNT,
        [
            {"key": one.host_id, "of": one.wish, "gained": int(one.gained), "at": one.at}
            for one in sorted(tries, key=lambda one: (one.host_id, one.wish))
        ],
    )
    return [None for _ in tries]


def shown_gains(connection: Connection, most: int) -> list[tuple[str, str, RenderRecord]]:
    """Read hosts, wishes and what became of them, the most tried first."""
    return [(row[0], row[1], RenderRecord(*row[2:])) for row in connection.execute(_SHOWN, {"most": most})]


_SHOWN = (
    select(host.c.name, gain.c.wish, gain.c.tries, gain.c.gains, gain.c.misses, gain.c.tried_at)
    .join(host, host.c.id == gain.c.host_id)
    .order_by(gain.c.tries.desc(), host.c.name, gain.c.wish)
    .limit(bindparam("most"))
)
_LOAD = select(gain).where(among(gain.c.host_id))
_COUNT = (
    update(gain)
    .where(gain.c.host_id == bindparam("key"), gain.c.wish == bindparam("of"))
    .values(
        tries=gain.c.tries + 1,
        gains=gain.c.gains + bindparam("gained"),
        misses=case((bindparam("gained") == 1, 0), else_=gain.c.misses + 1),
        tried_at=bindparam("at"),
    )
)
