"""URLs of an archive: leased whatever their state, as answers are at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, case, func, select, update

from ..engine.statements import among, in_state, one_by_one, run_many
from ..records.lease import Leases
from ..records.reasons import SkipReason
from ..records.run import Limits
from ..records.url import Found, Lease, NewUrl, State
from ..tables.urls import UrlRow
from .claims import LEASE_COLUMNS, LIVES
from .insert import add_hosts, insert_urls
from .limits import begin_day, pages_left, spend_hosts, spend_totals
from .revert import WAS_BEFORE

url = UrlRow.table()

_SAME_SECONDS = 0.001
"""Archives and the table round times differently."""


@dataclass(frozen=True, slots=True)
class ArchiveRequest:
    """A request to lease URLs whose answers are in an archive.

    `found` has each URL once, with the time of its answer; of the `unchanged` ones that says only that the page is as
    it was.
    """

    run_id: int
    limits: Limits
    found: Sequence[tuple[NewUrl, float]]
    unchanged: frozenset[int] = frozenset()


@one_by_one
def lease_archived(connection: Connection, request: ArchiveRequest) -> Leases:
    """Add URLs and lease them, within the limits, unless what is stored is as new.

    So reading an archive again goes on where the last time ended.
    """
    if connection.execute(LIVES, {"run": request.run_id}).first() is None:
        return Leases(spent=True)
    begin_day(connection)
    add_hosts(connection, max(at for _, at in request.found), [new for new, _ in request.found])
    insert_urls(connection, [(new, None, at) for new, at in request.found], [Found()] * len(request.found))
    answered = {new.id: at for new, at in request.found}
    rows = {row.id: row for row in connection.execute(_KNOWN, {"ids": sorted(answered)})}
    left = pages_left(connection, request.limits)
    leases: dict[int, Lease] = {}
    is_spent = False
    for new, at in request.found:
        row = rows[new.id]
        if row.state == State.LEASED or (row.fetched_at is not None and row.fetched_at >= at - _SAME_SECONDS):
            continue
        lease = Lease(*row[:-1])
        if new.id in request.unchanged and not lease.is_revisit:
            continue
        if row.state != State.PENDING:
            lease = replace(lease, tries=0, state_before=lease.state_before or row.state)
        if lease.counts and left is not None:
            if left <= 0:
                is_spent = True
                break
            left -= 1
        leases[new.id] = lease
    run_many(connection, _LEASE, [{"key": key, "run": request.run_id} for key in sorted(leases)])
    pages = [lease for lease in leases.values() if lease.counts]
    spend_totals(connection, [lease.seed_id for lease in pages])
    spend_hosts(connection, Counter(lease.host_id for lease in pages))
    return Leases(list(leases.values()), spent=is_spent)


_KNOWN = select(*LEASE_COLUMNS, url.c.state).where(among(url.c.id)).with_for_update(of=url)
_WAITED = url.c.state == State.PENDING
_LEASE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(
        state=State.LEASED,
        leased_by=bindparam("run"),
        next_visit=None,
        state_before=case((_WAITED, url.c.state_before), else_=func.coalesce(url.c.state_before, url.c.state)),
        tries=case((_WAITED, url.c.tries), else_=0) + 1,
    )
)


@one_by_one
def rest_all(connection: Connection, now: float) -> int:
    """Take all waiting URLs out of the queue: no archive has them; returns how many."""
    rested = connection.execute(_REST).rowcount
    return rested + connection.execute(_REVERT, {"later": now}).rowcount


_REST = (
    update(url)
    .where(in_state(State.PENDING), url.c.visits == 0)
    .values(state=State.SKIPPED, reason=SkipReason.NOT_IN_SEEDS)
)
_REVERT = update(url).where(in_state(State.PENDING), url.c.visits > 0).values(WAS_BEFORE)
