"""Page limits of a crawl, a run, a day, a host and a seed, counted exactly.

A page is counted when it is leased and refunded when it turns out to be none (redirect, no answer, another try): so no
limit is ever overshot, however many processes there are. A revisit is not counted again, and a page that could not be
read is leased again even beyond spent limits: it was counted when it was answered. The run and the day are those of the
database: processes that join a run share its limit, and days are those of one clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal,
    not_,
    or_,
    select,
    text,
    true,
    update,
)

from ..engine.statements import in_state, insert_new, is_postgres, run_many
from ..records.run import Limits
from ..records.url import Kind, State
from ..tables.runs import BudgetRow
from ..tables.urls import UNREAD, HostRow, SeedRow, UrlCountRow, UrlRow
from . import counts

url, host, seed, budget, count = (m.table() for m in (UrlRow, HostRow, SeedRow, BudgetRow, UrlCountRow))


COUNTS = and_(url.c.kind == Kind.PAGE, url.c.unread == 0, or_(url.c.visits == 0, url.c.http_status.is_(None)))
"""True of leased URLs that count against the limits, as `db.records.url.Lease.counts`."""


def refund(connection: Connection, pages: Iterable[tuple[int, int | None]]) -> None:
    """Refund leased pages, (host, seed), that do not count after all."""
    pages = list(pages)
    spend_totals(connection, [seed_id for _, seed_id in pages], sign=-1)
    spend_hosts(connection, Counter(host_id for host_id, _ in pages), sign=-1)


def spend_totals(connection: Connection, seed_ids: Collection[int | None], *, sign: int = 1) -> None:
    """Count pages against the crawl and their seeds; `sign` -1 refunds them.

    Rows are locked in the order budget, seeds, hosts, each by key, wherever budgets change: so no two processes wait
    for each other.
    """
    if seed_ids:
        connection.execute(_SPEND, {"n": sign * len(seed_ids)})
        seeds = Counter(key for key in seed_ids if key is not None)
        run_many(connection, _SPEND_SEED, [{"key": key, "n": sign * seeds[key]} for key in sorted(seeds)])


def spend_hosts(connection: Connection, pages: Mapping[int, int], *, sign: int = 1) -> None:
    run_many(connection, _SPEND_HOST, [{"key": key, "n": sign * pages[key]} for key in sorted(pages)])


_SPEND_HOST = update(host).where(host.c.id == bindparam("key")).values(pages=host.c.pages + bindparam("n"))
_SPEND_SEED = update(seed).where(seed.c.id == bindparam("key")).values(used=seed.c.used + bindparam("n"))
_COUNTERS = ("pages", "run_pages", "day_pages")
_SPEND = update(budget).values({name: budget.c[name] + bindparam("n") for name in _COUNTERS})


def pages_left(connection: Connection, limits: Limits) -> int | None:
    most = (limits.pages, limits.pages_per_run, limits.pages_per_day)
    if most == (None, None, None):
        return None
    granted, *used = connection.execute(_USED.with_for_update()).one()
    if limits.pages is not None and granted is not None:
        most = (granted, *most[1:])
    return max(0, min(limit - int(n) for limit, n in zip(most, used, strict=True) if limit is not None))


_USED = select(budget.c.granted, *(budget.c[name] for name in _COUNTERS))


def is_spent(connection: Connection, limits: Limits) -> bool:
    """Tell whether no page is left for this run, whatever day comes."""
    return pages_left(connection, replace(limits, pages_per_day=None)) == 0


def begin_day(connection: Connection) -> None:
    """Count from 0 when a day has begun; pages under way are answered in it."""
    connection.execute(_BEGIN_DAY[is_postgres(connection)])


def _today(*, is_server: bool) -> ColumnElement[int]:
    seconds: Any = func.extract("epoch", func.clock_timestamp()) if is_server else func.strftime("%s", "now")
    return func.floor(seconds / 86_400).cast(Integer) if is_server else seconds.cast(Integer) // 86_400


_SEED_BUDGETS = select(seed.c.id, seed.c.pages, seed.c.used).where(seed.c.pages.is_not(None)).order_by(seed.c.id)
_SEED_BUDGETS_LOCKED = _SEED_BUDGETS.with_for_update()


def seed_budgets(connection: Connection) -> dict[int, int]:
    return {row.id: row.pages - row.used for row in connection.execute(_SEED_BUDGETS)}


def locked_seed_budgets(connection: Connection, limits: Limits) -> dict[int, int]:
    """Lock the budgets of seeds until the transaction ends; free where none has any."""
    if not seed_budgets(connection):
        return {}
    if pages_left(connection, limits) is None:  # the crawl's row first, as in `spend_totals`
        connection.execute(select(budget.c.pages).with_for_update())
    return {row.id: row.pages - row.used for row in connection.execute(_SEED_BUDGETS_LOCKED)}


def beyond_limits(connection: Connection, limits: Limits) -> list[Any]:
    """Return conditions, one of which is true of a URL without budget."""
    return [and_(url.c.unread == 0, condition) for condition in _reached(connection, limits)]


def _reached(connection: Connection, limits: Limits) -> list[Any]:
    hosts, seeds = url.c.host_id.in_(_full_hosts(limits)), func.coalesce(url.c.seed_id, 0).in_(_SPENT_SEEDS)
    return [
        *_spent(connection, limits),
        *([hosts] if limits.pages_per_host is not None else []),
        *([seeds] if seed_budgets(connection) else []),
    ]


def _spent(connection: Connection, limits: Limits) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if limits.pages is not None:
        granted = func.coalesce(budget.c.granted, limits.pages)
        conditions.append(select(budget.c.pages >= granted).scalar_subquery())
    if limits.pages_per_run is not None:
        conditions.append(select(budget.c.run_pages).scalar_subquery() >= limits.pages_per_run)
    if limits.pages_per_day is not None:
        today = budget.c.day == _today(is_server=is_postgres(connection))
        spent_today = select(budget.c.day_pages).where(today).scalar_subquery()
        conditions.append(func.coalesce(spent_today, 0) >= limits.pages_per_day)
    return conditions


def _full_hosts(limits: Limits) -> Select[int]:
    return select(host.c.id).where(host.c.pages >= (limits.pages_per_host or 0))


_SPENT_SEEDS = select(seed.c.id).where(seed.c.used >= seed.c.pages)


def pending_beyond(connection: Connection, limits: Limits) -> ColumnElement[int]:
    """Return how many pending URLs have no budget, as SQL.

    Cost: a pass over the counts; while a seed has used up its pages, one over the pending URLs.
    """
    reached = _reached(connection, limits)
    if not reached:
        return literal(0)
    number: ColumnElement[int] = literal(0)
    pending = select(func.count()).select_from(url).where(in_state(State.PENDING))
    if any(left <= 0 for left in seed_budgets(connection).values()):
        number = pending.where(or_(*reached)).scalar_subquery()
    else:
        if limits.pages_per_host is not None:
            number = counts.number_of(count.c.state == State.PENDING, count.c.host_id.in_(_full_hosts(limits)))
        if spent := _spent(connection, limits):
            number = case((or_(*spent), counts.PENDING), else_=number)
    # not among the conditions: SQLite would look for the hosts' URLs by their index
    are_beyond = func.coalesce(func.sum(case((or_(*reached), 1), else_=0)), 0)
    unread = select(are_beyond).select_from(url).where(text(UNREAD), in_state(State.PENDING))
    return number - unread.scalar_subquery()


def within_limits(connection: Connection, limits: Limits) -> ColumnElement[bool]:
    return and_(true(), *(not_(condition) for condition in beyond_limits(connection, limits)))


def open_budget(connection: Connection) -> None:
    """Create the crawl's row if it is missing; each lease and refund changes it."""
    connection.execute(insert_new(connection, budget), {"id": 1, "pages": 0})


def begin_run(connection: Connection) -> None:
    granted = case((budget.c.granted.is_not(None), budget.c.pages), else_=None)
    connection.execute(update(budget).values(run_pages=0, granted=granted))


_UNDER_WAY = select(func.count()).where(in_state(State.LEASED), COUNTS).scalar_subquery()
_BEGIN_DAY = {
    is_server: update(budget)
    .where(budget.c.day != _today(is_server=is_server))
    .values(day=_today(is_server=is_server), day_pages=_UNDER_WAY)
    for is_server in (False, True)
}
