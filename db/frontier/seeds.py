"""Seeds: their rows, and their URLs when they go or want other pages.

A seed is given while a living run, or else the last one, was given it. The URLs of any other rest: they are skipped
with the reason "not in seeds", and fetched ones are not visited again. A URL belongs to the seed by which it was found
in the fewest steps; when that one goes, another one whose pages name it takes it over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, case, exists, func, or_, select, text, update

from ..engine.statements import among, in_state, run_many
from ..records.reasons import SkipReason
from ..records.run import RunStart, StoredSeed
from ..records.url import Kind, State
from ..tables.urls import RESTS, LinkRow, SeedRow, UrlRow
from .revert import WAITS_AGAIN, WAKE_HOSTS, WAS_BEFORE

url, seed, link = (model.table() for model in (UrlRow, SeedRow, LinkRow))


def seed_rows(connection: Connection, ids: Sequence[int] | None) -> list[StoredSeed]:
    rows = connection.execute(_ALL_SEEDS) if ids is None else connection.execute(_SEEDS, {"ids": ids})
    return [
        StoredSeed(
            id=r.id,
            url=r.url,
            stay=r.stay,
            depth=r.depth,
            pages=r.pages,
            topic=r.topic,
            hosts=tuple(r.hosts.split()),
            include=tuple(r.include.split()),
            exclude=tuple(r.exclude.split()),
            since=r.since,
            bare=bool(r.bare),
            render=r.render,
            proxy=r.proxy,
            body=r.body,
            title=r.title,
            published=r.published,
            author=r.author,
        )
        for r in rows
    ]


def are_answered(connection: Connection) -> bool | None:
    """Tell whether the given seeds ever brought a page; None when there are none.

    Cost: one read a seed when a seed was; else a pass over the URLs.
    """
    ids = connection.execute(select(seed.c.id).where(seed.c.given == 1)).scalars().all()
    if not ids:
        return None
    seed_query, descendant_query = select(_HAS_PAGES.where(among(url.c.id))), select(_HAS_PAGES.where(_OF_THESE))
    return any(bool(connection.execute(query, {"ids": ids}).scalar_one()) for query in (seed_query, descendant_query))


def seeds_of_hosts(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """Return the first seed of what waits of each of these hosts."""
    return {row.host_id: row.seed_id for row in connection.execute(_OF_HOSTS, {"ids": ids})}


_OF_HOSTS = (
    select(url.c.host_id, func.min(url.c.seed_id).label("seed_id"))
    .where(among(url.c.host_id), in_state(State.PENDING), url.c.seed_id.is_not(None))
    .group_by(url.c.host_id)
)
_ALL_SEEDS = select(seed)
_SEEDS = _ALL_SEEDS.where(among(seed.c.id))


def give_seeds(connection: Connection, given: Set[int], ungiven: Set[int], start: RunStart) -> None:
    """Note which seeds are given; URLs of others rest, of returning ones wait.

    `given` are the seeds of this run and of those at work, `ungiven` those that were not given until now.

    Cost: nothing when no seed goes or comes; a pass over the waiting URLs, and over the links, for those that go.
    """
    stored_ids = set(connection.execute(select(seed.c.id)).scalars())
    gone, back = sorted(stored_ids - given - ungiven), sorted(given & ungiven)
    if gone:
        connection.execute(_GIVE, {"ids": gone, "now_given": 0})
        _hand_over(connection, gone, given, start)
        connection.execute(_REST, {"ids": gone})
        connection.execute(_REVERT, {"ids": gone, "later": start.now})
    if back:
        connection.execute(_GIVE, {"ids": back, "now_given": 1})
        connection.execute(_RETURN, {"ids": back})
        connection.execute(WAKE_HOSTS)


def _hand_over(connection: Connection, gone: Sequence[int], given: Set[int], start: RunStart) -> None:
    if connection.execute(_ANY_WAITING, {"ids": gone}).first() is None:
        return
    rows = {row.id: row for row in seed_rows(connection, sorted(given))}
    heir_rows: dict[int, dict[str, Any]] = {}
    for key, address, heir, depth in connection.execute(_NAMED_BY, {"ids": gone, "given": sorted(rows)}):
        row = rows[heir]
        most = start.limits.depth if row.depth is None else row.depth
        if key not in heir_rows and (most is None or depth <= most) and start.covers(row, address):
            heir_rows[key] = {"key": key, "heir": heir, "new_depth": depth}
    run_many(connection, _TO_HEIR, [heir_rows[key] for key in sorted(heir_rows)])


def resting_seeds(connection: Connection) -> Mapping[str, int]:
    """Return the seeds that are not given and have URLs, with how many of those rest."""
    return {row.url: int(row.n) for row in connection.execute(_RESTING)}


def reconsider(connection: Connection, changed: Sequence[StoredSeed], start: RunStart) -> None:
    """Apply new rules of seeds: URLs wait again that they may permit.

    A URL that rules for paths forbid is skipped again when its turn comes; the day of one that was too old or too new
    is known.
    """
    for row in changed:
        since, until = start.span(row)
        first, last = _day(since), _day(until)
        day = func.coalesce(url.c.reason_detail, "")
        in_time = or_(
            (url.c.reason == SkipReason.TOO_OLD) & (day >= first),
            (url.c.reason == SkipReason.TOO_NEW) & (day <= last),
        )
        seed_urls = url.c.seed_id == row.id
        refused = in_state(State.SKIPPED) & (url.c.reason == SkipReason.EXCLUDED)
        read = url.c.state.in_([State.SKIPPED, State.DONE]) & in_time
        again = WAITS_AGAIN | {"etag": None, "last_modified": None, "next_visit": None}
        connection.execute(update(url).where(seed_urls, or_(refused, read)).values(again))
        outside = or_(url.c.dated < since, url.c.dated > until)
        why = case((url.c.dated < since, SkipReason.TOO_OLD), else_=SkipReason.TOO_NEW)
        waits = seed_urls & in_state(State.PENDING) & (url.c.kind == Kind.PAGE) & (url.c.visits == 0)
        connection.execute(update(url).where(waits, outside).values(state=State.SKIPPED, reason=why))
    if changed:
        connection.execute(WAKE_HOSTS)


def _day(at: float) -> str:
    if at <= 0:
        return ""
    return "9999" if at > _FAR else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


_FAR = 2e11
_OF_THESE = among(url.c.seed_id)
_HAS_PAGES = exists().where(in_state(State.DONE), func.coalesce(url.c.reason, "") != SkipReason.REDIRECT)
_WAITS = in_state(State.PENDING) & _OF_THESE
_RESTS = text(RESTS)
_GIVE = update(seed).where(among(seed.c.id)).values(given=bindparam("now_given"))
_ANY_WAITING = select(url.c.id).where(_WAITS).limit(1)
_REST = update(url).where(_WAITS, url.c.visits == 0).values(state=State.SKIPPED, reason=SkipReason.NOT_IN_SEEDS)
_REVERT = update(url).where(_WAITS, url.c.visits > 0).values(WAS_BEFORE)
_RETURN = update(url).where(_RESTS, _OF_THESE).values(WAITS_AGAIN)
_source = url.alias("source")
_NAMED_BY = (
    select(url.c.id, url.c.url, _source.c.seed_id, (func.min(_source.c.depth) + 1).label("depth"))
    .join(link, link.c.target == url.c.id)
    .join(_source, _source.c.id == link.c.source)
    .where(_WAITS, _source.c.state == State.DONE, among(_source.c.seed_id, "given"))
    .group_by(url.c.id, url.c.url, _source.c.seed_id)
    .order_by(url.c.id, "depth")
)
_TO_HEIR = (
    update(url).where(url.c.id == bindparam("key")).values(seed_id=bindparam("heir"), depth=bindparam("new_depth"))
)
_own = url.alias("own")
_RESTING_URLS = select(func.count()).select_from(url).where(url.c.seed_id == seed.c.id, _RESTS).scalar_subquery()
_RESTING = (
    select(seed.c.url, _RESTING_URLS.label("n"))
    .where(
        seed.c.given == 0, or_(_RESTING_URLS > 0, exists().where(_own.c.id == seed.c.id, _own.c.seed_id == seed.c.id))
    )
    .order_by(seed.c.url)
)
