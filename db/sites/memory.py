"""Site models: one row a host, in bytes that only the caller can read.

Several processes may learn of one host, one after the other or for a moment at once. So nobody writes a model made of
a state it read some time ago: `Memory.save` takes the training batches, adds them to what the table holds now, in one
transaction, and returns the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from ..engine.statements import among, insert_rows, run_many
from ..tables.learned import SiteMemoryRow

memory = SiteMemoryRow.table()

Learn = Callable[[bytes, Sequence[Any]], tuple[bytes, int]]
"""Returns the model with a further batch and its count of pages; must not change anything else."""


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    host_id: int
    observations: Sequence[Any]


class Memory:
    """Reader and writer of site models; `learn` runs in the database thread."""

    def __init__(self, learn: Learn) -> None:
        self._learn = learn

    @staticmethod
    def load(connection: Connection, host_ids: Sequence[int]) -> list[bytes]:
        """Read each host's model; no bytes for a new one."""
        states = dict(connection.execute(_LOAD, {"ids": sorted(set(host_ids))}).all())
        return [bytes(states.get(key, b"")) for key in host_ids]

    def save(self, connection: Connection, batch: Sequence[TrainingBatch]) -> list[bytes]:
        lessons: dict[int, list[Any]] = defaultdict(list)
        for each in batch:
            lessons[each.host_id] += each.observations
        ids = sorted(lessons)
        # a row that is there can be locked; in one order, so that processes do not wait for each other in a circle
        insert_rows(connection, memory, ("host_id", "pages", "state"), [(key, 0, b"") for key in ids])
        locked_rows = connection.execute(_LOCK, {"ids": ids}).all()
        new_models = {key: self._learn(bytes(state), lessons[key]) for key, state in locked_rows}
        rows = [{"key": key, "new_pages": pages, "new_state": state} for key, (state, pages) in new_models.items()]
        run_many(connection, _UPDATE, rows)
        return [new_models[each.host_id][0] for each in batch]


_LOAD = select(memory.c.host_id, memory.c.state).where(among(memory.c.host_id))
_LOCK = _LOAD.order_by(memory.c.host_id).with_for_update()
_UPDATE = (
    update(memory)
    .where(memory.c.host_id == bindparam("key"))
    .values(pages=bindparam("new_pages"), state=bindparam("new_state"))
)
