"""Revert: URLs whose revisit does not happen are what they were, and due later."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, case, exists, func, not_, update

from ..engine.statements import in_state, run_many
from ..records.url import State
from ..tables.urls import HostRow, UrlRow

url, host = UrlRow.table(), HostRow.table()

_RULED_SECONDS = 86_400.0
"""Rules are read anew every day."""
CLOSED_SECONDS = 1_800.0
"""A host that must not be asked now may be well again by then."""

WAITS_AGAIN = {
    "state": State.PENDING,
    "state_before": func.coalesce(url.c.state_before, url.c.state),
    "reason": None,
    "reason_detail": None,
    "tries": 0,
}
"""Values of a URL that was skipped and waits again; one that had been fetched was something else before that."""

WAS_BEFORE = {"state": func.coalesce(url.c.state_before, State.DONE), "next_visit": bindparam("later"), "tries": 0}
"""Values of a URL that was fetched before and is not waited for any more."""

WAKE_HOSTS = (
    update(host)
    .where(host.c.queued == 0, exists().where(url.c.host_id == host.c.id, in_state(State.PENDING)))
    .values(queued=1)
)
"""Marks hosts with pending URLs as having work."""
SETTLE_HOSTS = (
    update(host)
    .where(host.c.queued != 0, not_(exists().where(url.c.host_id == host.c.id, in_state(State.PENDING))))
    .values(queued=0)
)
"""Marks hosts without pending URLs as having none, else they would be asked for their robots.txt, for nothing.

Only while no other run is at work: one might just be adding URLs.
"""


def put_off_urls(connection: Connection, ids: Sequence[int], now: float) -> None:
    """Revert URLs that rules of their host forbid, and that were fetched before."""
    run_many(connection, _PUT_OFF, [{"key": key, "later": now + _RULED_SECONDS} for key in sorted(ids)])


def put_off_host(connection: Connection, host_id: int, later: float) -> None:
    """Revert what waits of a host and was fetched before; it is due at a later time."""
    connection.execute(_PUT_OFF_HOST, {"host": host_id, "later": later})


_VALUES = {
    "state": url.c.state_before,
    "next_visit": bindparam("later"),
    "tries": 0,
    "unread": case((url.c.unread > 0, url.c.unread + 1), else_=0),  # not for ever: each run would end with it left
}
_PUT_OFF = update(url).where(url.c.id == bindparam("key"), in_state(State.PENDING), url.c.visits > 0).values(_VALUES)
_PUT_OFF_HOST = (
    update(url).where(url.c.host_id == bindparam("host"), in_state(State.PENDING), url.c.visits > 0).values(_VALUES)
)
