"""New URLs: their hosts, their rows, and the better of two finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Float, and_, bindparam, case, func, or_, select, update

from ..engine.statements import among, insert_new, insert_rows, is_one_of, is_postgres, run_many
from ..records.keys import iso
from ..records.reasons import REASONS, SkipReason, counted
from ..records.url import Found, NewUrl, State
from ..tables.urls import HostRow, SiteRow, UrlRow
from . import counts
from .aliases import HAS_WORK, represent
from .retention import pruned, restore

url, host, site = UrlRow.table(), HostRow.table(), SiteRow.table()


def add_urls(connection: Connection, batches: Sequence[tuple[float, Sequence[NewUrl]]]) -> list[Found]:
    """Add URLs that no page names (seeds, robots.txt, sitemaps), with a time."""
    results = []
    for now, batch in batches:
        result = Found()
        add_hosts(connection, now, batch)
        insert_urls(connection, [(new, None, now) for new in batch], [result] * len(batch))
        run_many(connection, HAS_WORK, [{"key": key} for key in sorted(result.hosts)])
        results.append(result)
    return results


def add_hosts(connection: Connection, now: float, new_urls: Iterable[NewUrl]) -> None:
    hosts: dict[int, NewUrl] = {}
    for new in new_urls:
        hosts.setdefault(new.host_id, new)
    if not hosts:
        return
    known_ids = set(connection.execute(_KNOWN_HOSTS, {"ids": list(hosts)}).scalars())
    missing = [hosts[key] for key in sorted(hosts) if key not in known_ids]
    if not missing:
        return
    connection.execute(
        insert_new(connection, host),
        [{"id": n.host_id, "site_id": n.site_id, "name": n.host, "scheme": n.url.partition(":")[0]} for n in missing],
    )
    sites = {n.site_id: n.site for n in missing}
    seen = iso(now)
    connection.execute(
        insert_new(connection, site),
        [{"id": key, "name": sites[key], "first_seen": seen} for key in sorted(sites)],
    )


def insert_urls(
    connection: Connection, rows: Sequence[tuple[NewUrl, int | None, float]], owners: Sequence[Found]
) -> None:
    """Insert URLs; of a known one, keep the better find (shallower, wanted again)."""
    if not rows:
        return
    order = list(range(len(rows)))  # on SQLite what a page names lies together: new scores then change few places
    if is_postgres(connection):
        order.sort(key=lambda i: rows[i][0].id)
    known_ids = set(connection.execute(_KNOWN_URLS, {"ids": [rows[i][0].id for i in order]}).scalars())
    fresh: list[int] = []
    again: list[int] = []
    formed: list[int] = []
    gone = pruned(connection, sorted({rows[i][0].id for i in order} - known_ids))
    restore(connection, sorted({rows[i][0].id for i in order if rows[i][0].reason is not SkipReason.OUTSIDE} & gone))
    for i in order:
        new = rows[i][0]
        if new.id in gone and new.reason is SkipReason.OUTSIDE:
            continue
        if new.id not in known_ids:
            known_ids.add(new.id)
            fresh.append(i)
            owners[i].new_urls += 1
            if new.reason:
                owners[i].refused[counted(new.reason, new.detail)] += 1
            else:
                owners[i].queued += 1
            if new.form is not None and not new.reason:
                formed.append(i)
        else:
            again.append(i)
        if not new.reason:
            owners[i].hosts.add(new.host_id)
    inserted = insert_rows(connection, url, _URL_COLUMNS, [_url_row(*rows[i], i) for i in fresh])
    counts.add(connection, ((new.host_id, new.reason, new.detail, new.depth) for new in (rows[i][0] for i in fresh)))
    if inserted < len(fresh):  # another process has just found some of them, too
        again = order
    run_many(connection, _IMPROVE, [_improvement(*rows[i]) for i in again if not rows[i][0].reason])
    if formed:
        _skip_same(connection, [(rows[i][0], owners[i]) for i in sorted(formed)])


def _skip_same(connection: Connection, found: Sequence[tuple[NewUrl, Found]]) -> None:
    forms = [(new.id, new.host_id, new.form) for new, _ in found if new.form is not None]
    others = represent(connection, forms)
    run_many(connection, _SKIP_SAME, [{"key": key, "other": others[key]} for key in sorted(others)])
    for new, owner in found:
        if new.id in others:
            owner.queued -= 1
            owner.refused[SkipReason.URL_RULE] += 1


_SKIP_SAME = (
    update(url)
    .where(url.c.id == bindparam("key"), url.c.state == State.PENDING)
    .values(state=State.SKIPPED, reason=SkipReason.URL_RULE, same_as=bindparam("other"))
)


def _improvement(new: NewUrl, source: int | None, now: float) -> dict[str, Any]:
    better = {f"new_{name}": getattr(new, name) for name in _BETTER}
    finding = {"new_found_on": source, "new_found_at": now, "new_dated": new.dated}
    return {"key": new.id, "again": int(new.again), "anew": int(new.anew), "soon": int(new.soon), **finding, **better}


_OF_NEW_URL = tuple(name for name in NewUrl.__dataclass_fields__ if name in url.c and name not in {"anchor", "reason"})
_URL_COLUMNS = (*_OF_NEW_URL, "anchor", "state", "reason", "reason_detail", "found_on", "found_at")
_values_of = attrgetter(*_OF_NEW_URL)


def _url_row(new: NewUrl, source: int | None, now: float, place: int) -> tuple[Any, ...]:
    """Return a row of `_URL_COLUMNS`; the place on its page makes its time unique."""
    state = State.SKIPPED if new.reason else State.PENDING
    others = (new.anchor or None, state, new.reason, new.detail or None, source, now + place * 1e-6)
    return (*_values_of(new), *others)


_OVERRULED = [reason for reason in REASONS if reason.may_be_overruled]
_RULED = (url.c.state == State.SKIPPED) & (url.c.reason == SkipReason.URL_RULE)
_IS_REDIRECT = (url.c.state == State.SKIPPED) & (url.c.reason == SkipReason.REDIRECT)
_ASKED_FOR = (bindparam("again") == 1) | ((bindparam("anew") == 1) & _IS_REDIRECT)
_AGAIN = _ASKED_FOR & (url.c.state != State.PENDING)
_KEEPS = (url.c.visits > 0) & (_AGAIN | (url.c.state == State.PENDING))
_BETTER = ("depth", "score", "score_parts", "seed_id", "found_in", "hops")
_IMPROVE = (
    update(url)
    .where(
        url.c.id == bindparam("key"),
        _AGAIN & (url.c.state != State.LEASED)
        | (url.c.state == State.PENDING)
        & or_(
            url.c.depth > bindparam("new_depth"),
            and_(bindparam("soon") == 1, url.c.score < bindparam("new_score")),
        )
        | (url.c.state == State.SKIPPED) & is_one_of(url.c.reason, _OVERRULED)
        # what a redirect or a part of an article leads to is wanted itself
        | _RULED & (bindparam("new_hops") > 0),
    )
    .values(
        {name: bindparam(f"new_{name}") for name in (*_BETTER, "found_on", "found_at")}
        | {
            "state": State.PENDING,
            "state_before": case((_AGAIN, url.c.state), else_=url.c.state_before),
            # of what was fetched before they say what it was
            "reason": case((_KEEPS, url.c.reason), else_=None),
            "reason_detail": case((_KEEPS, url.c.reason_detail), else_=None),
            "same_as": case((_RULED, None), else_=url.c.same_as),
            "dated": func.coalesce(bindparam("new_dated", type_=Float), url.c.dated),
            "depth": case(
                ((bindparam("soon") == 1) & (url.c.depth < bindparam("new_depth")), url.c.depth),
                else_=bindparam("new_depth"),
            ),
            "tries": case((url.c.state == State.PENDING, url.c.tries), else_=0),
            # it is wanted now, whenever its next visit would have been
            "next_visit": case((url.c.state == State.PENDING, url.c.next_visit), else_=None),
            # wanted for itself: not only if it has changed
            "etag": case((_ASKED_FOR, None), else_=url.c.etag),
            "last_modified": case((_ASKED_FOR, None), else_=url.c.last_modified),
        }
    )
)


_KNOWN_HOSTS = select(host.c.id).where(among(host.c.id))
_KNOWN_URLS = select(url.c.id).where(among(url.c.id))
