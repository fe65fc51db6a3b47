"""How many pages a crawl, a host and a seed may have, counted exactly.

A page is counted when it is leased and given back when it turns out to be none (redirect, no answer, another try): so
no limit is ever overshot, by however many processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, true, update

from .statements import in_state, upsert
from .tables import Budget, Host, Kind, Seed, State, Url

url, host, seed, budget = Url.table(), Host.table(), Seed.table(), Budget.table()


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a crawl may go; None means no limit. A page counts when it was answered (redirects do not count)."""

    pages: int | None = None
    pages_per_host: int | None = None
    depth: int | None = None


def refund(connection: Connection, pages: Iterable[tuple[int, int | None]]) -> None:
    """Give back the budget of pages (host, seed) that were leased but are not counted after all."""
    hosts: dict[int, int] = {}
    seeds: dict[int, int] = {}
    for host_id, seed_id in pages:
        hosts[host_id] = hosts.get(host_id, 0) + 1
        if seed_id is not None:
            seeds[seed_id] = seeds.get(seed_id, 0) + 1
    spend(connection, {key: -n for key, n in hosts.items()}, {key: -n for key, n in seeds.items()})


def spend(connection: Connection, hosts: Mapping[int, int], seeds: Mapping[int, int]) -> None:
    """Add to the counters of hosts, seeds and the whole crawl (rows in order of their key, against deadlocks)."""
    if not hosts:
        return
    connection.execute(_SPEND_HOST, [{"key": key, "n": hosts[key]} for key in sorted(hosts)])
    if seeds:
        connection.execute(_SPEND_SEED, [{"key": key, "n": seeds[key]} for key in sorted(seeds)])
    connection.execute(_SPEND, {"n": sum(hosts.values())})


_SPEND_HOST = update(host).where(host.c.id == bindparam("key")).values(pages=host.c.pages + bindparam("n"))
_SPEND_SEED = update(seed).where(seed.c.id == bindparam("key")).values(used=seed.c.used + bindparam("n"))
_SPEND = update(budget).values(pages=budget.c.pages + bindparam("n"))


def pages_left(connection: Connection, limits: Limits) -> int | None:
    """Pages the whole crawl may still lease, None for no limit; other processes wait until this transaction ends."""
    if limits.pages is None:
        return None
    used = connection.execute(select(budget.c.pages).with_for_update()).scalar_one()
    return max(0, limits.pages - int(used))


_SEED_BUDGETS = select(seed.c.id, seed.c.pages, seed.c.used).where(seed.c.pages.is_not(None))


def seed_budgets(connection: Connection) -> dict[int, int]:
    """Pages left for each seed that has a limit."""
    return {row.id: row.pages - row.used for row in connection.execute(_SEED_BUDGETS)}


def beyond_limits(connection: Connection, limits: Limits) -> list[Any]:
    """Conditions of which a waiting URL fulfils one when no budget is left for it."""
    if limits.pages is not None and connection.execute(select(budget.c.pages)).scalar_one() >= limits.pages:
        return [true()]
    conditions: list[Any] = []
    if limits.pages_per_host is not None:
        full = select(host.c.id).where(host.c.pages >= limits.pages_per_host)
        conditions.append(url.c.host_id.in_(full))
    spent = [key for key, n in seed_budgets(connection).items() if n <= 0]
    if spent:
        conditions.append(url.c.seed_id.in_(spent))
    return conditions


_COUNTED = (url.c.kind == Kind.PAGE) & (
    (in_state(State.LEASED))
    | (url.c.state.in_([State.DONE, State.FAILED]) & (url.c.http_status > 0) & (url.c.http_status // 100 != 3))
)


def count_budgets(connection: Connection, limits: Limits) -> None:
    """Make the budgets true: what is counted is what the URL table says was answered or is leased."""
    connection.execute(upsert(connection, budget).values(id=1, pages=0).on_conflict_do_nothing())
    connection.execute(select(budget.c.pages).with_for_update())
    if limits.pages is not None or limits.pages_per_host is not None:
        per_host = connection.execute(select(url.c.host_id, func.count()).where(_COUNTED).group_by(url.c.host_id)).all()
        if per_host:
            connection.execute(
                update(host).where(host.c.id == bindparam("key")).values(pages=bindparam("n")),
                [{"key": key, "n": n} for key, n in sorted(per_host)],
            )
        connection.execute(update(budget).values(pages=sum(n for _, n in per_host)))
    limited = connection.execute(select(seed.c.id).where(seed.c.pages.is_not(None))).scalars().all()
    for seed_id in limited:
        used = connection.execute(select(func.count()).where(_COUNTED, url.c.seed_id == seed_id)).scalar_one()
        connection.execute(update(seed).where(seed.c.id == seed_id).values(used=used))
