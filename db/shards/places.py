"""Databases of one crawl: the place of each, its state, its `MAX_PAGES`.

A crawl over several databases (`db.shards.databases`) writes into each its place, the number of databases, and the name
of the crawl, which no other crawl has. So a database is recognised wherever its server moves, and a list with databases
of two crawls, another order or another number is refused before anything is written.

`MAX_PAGES` is dealt in batches: the first database knows how much of it each was granted, and each counts its pages
against that (`budget.granted`). Unused pages are given back.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlalchemy import BigInteger, Connection, bindparam, exists, func, or_, select, update

from ..engine.database import Database, open_for_reading
from ..engine.errors import DatabaseGone, DatabaseProblem, WrongDatabase
from ..engine.locks import AdvisoryLock
from ..engine.processes import is_gone
from ..engine.statements import clock, in_state, one_by_one
from ..frontier.limits import within_limits
from ..records.run import Limits
from ..records.shard import Dealing, ShardState
from ..records.url import State
from ..tables.runs import BudgetRow, RunRow
from ..tables.shards import InboxRow, OutboxRow, ShardRow, SuspectRow
from ..tables.urls import UrlRow
from .databases import Shards

shard, inbox, outbox, suspect, url, run, budget = (
    model.table() for model in (ShardRow, InboxRow, OutboxRow, SuspectRow, UrlRow, RunRow, BudgetRow)
)

_TURN_SECONDS, _LONGEST_TURN = 0.05, 60.0


@dataclass(frozen=True, slots=True)
class _ShardPlace:
    name: str
    number: int
    count: int

    def check(self, connection: Connection, crawl: str | None = None) -> str | None:
        """Compare with what the database says; returns its crawl, None for none yet."""
        rows = connection.execute(select(shard.c.number, shard.c.is_own, shard.c.crawl)).all()
        own_row = next((row for row in rows if row.is_own), None)
        if own_row is None:
            if self.count > 1 and connection.execute(select(url.c.id).limit(1)).first() is not None:
                raise WrongDatabase(f"{self.name} holds a crawl of one database; name it alone, or an empty one")
            return None
        if (own_row.number, len(rows)) != (self.number, self.count):
            raise WrongDatabase(
                f"{self.name} is database {own_row.number} of {len(rows)} of its crawl; name all of them in "
                "DATABASE_URL, in the order of the first time"
            )
        if crawl not in {None, own_row.crawl}:
            raise WrongDatabase(f"{self.name} is of another crawl than those named before it; name those of one crawl")
        return str(own_row.crawl)

    def enter(self, connection: Connection, crawl: str | None) -> str:
        # two processes that start at once: the second sees what the first has written
        AdvisoryLock.ENTER.take(connection)
        crawl = self.check(connection, crawl) or crawl or secrets.token_hex(8)
        if connection.execute(select(shard.c.number).limit(1)).first() is None:
            own_number = self.number
            rows = [{"number": n, "is_own": int(n == own_number), "crawl": crawl} for n in range(1, self.count + 1)]
            connection.execute(shard.insert(), rows)
        return crawl


def enter(databases: Sequence[Database | None]) -> None:
    """Note or check the place of each database of a list; one alone must have none.

    `databases` are in the order of the list, None for those that do not answer.

    Raises:
        WrongDatabase: one has another place, is of another crawl, or of one that has only itself.
        DatabaseGone: one does not answer, and the crawl has not begun yet.
    """
    count = len(databases)
    database_places = [(one, _ShardPlace(one.name, n, count)) for n, one in enumerate(databases, 1) if one is not None]
    crawl: str | None = None
    for database, place in database_places:
        with database.transaction() as connection:
            crawl = place.check(connection, crawl) or crawl
    if crawl is None and len(database_places) < count:
        raise DatabaseGone("not all databases of DATABASE_URL answer; when a crawl is first started all of them must")
    if count > 1:
        for database, place in database_places:
            with database.transaction() as connection:
                crawl = place.enter(connection, crawl)


class OpenShards:
    def __init__(self, shards: Shards, dealing: Dealing, opened: Mapping[int, Database]) -> None:
        self.dealing = dealing
        self._shards = shards
        self._opened = dict(opened)

    @property
    def own(self) -> Database:
        return self._opened[self.dealing.number]

    @property
    def own_url(self) -> str:
        return self._shards.urls[self.dealing.number - 1]

    def answering(self) -> list[Database]:
        return [self._opened[n] for n in self.dealing.others if n in self._opened]

    def name(self, number: int) -> str:
        return f"database {number} of DATABASE_URL"

    def get(self, number: int) -> Database:
        """Return a database; `DatabaseProblem` if it never answered, nor does now."""
        if number not in self._opened:
            database = open_for_reading(self._shards.urls[number - 1])
            try:
                with database.transaction() as connection:
                    _ShardPlace(database.name, number, len(self._shards)).check(connection)
            except DatabaseProblem:
                database.close()
                raise
            self._opened[number] = database
        return self._opened[number]

    def close(self) -> None:
        for number in self.dealing.others:
            if number in self._opened:
                self._opened.pop(number).close()


@contextmanager
def place_of_process(
    shards: Shards, wanted: int | None, open_one: Callable[[str], Database], silent: Callable[[str], None]
) -> Iterator[OpenShards]:
    """Open the databases of a crawl and choose the one that a process works on.

    While the context lasts, no other process chooses: the next one counts every run that was written by its end.
    `wanted` is None for the one with the fewest living runs; `silent` is called with a sentence for each that does not
    answer.

    Raises:
        WrongDatabase: see `enter`; or there is no database of the number.
        DatabaseGone: the one that is wanted does not answer, or none.
    """
    count = len(shards)
    if wanted is not None and wanted > count:
        raise WrongDatabase(f"SHARD is {wanted}, but DATABASE_URL names {count} database{'s'[: count > 1]}")
    opened: dict[int, Database] = {}
    try:
        for number, url in enumerate(shards.urls, 1):
            try:
                opened[number] = open_one(url)
            except DatabaseGone as problem:
                if number == wanted or (number == count and not opened):
                    raise
                silent(str(problem))
        enter([opened.get(number) for number in range(1, count + 1)])
        with _turn(next(iter(opened.values()))):
            yield OpenShards(shards, Dealing(wanted or _least_busy(opened), count), opened)
    except BaseException:
        for database in opened.values():
            database.close()
        raise


@contextmanager
def _turn(database: Database) -> Iterator[None]:
    deadline = time.monotonic() + _LONGEST_TURN
    with database.transaction() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")  # it would be cut off in the middle of a transaction
        while not connection.execute(select(func.pg_try_advisory_lock(AdvisoryLock.TURN.value))).scalar_one():
            if time.monotonic() > deadline:
                break
            time.sleep(_TURN_SECONDS)
        try:
            yield
        finally:
            connection.execute(select(func.pg_advisory_unlock_all()))


def _least_busy(opened: Mapping[int, Database]) -> int:
    states = {number: database.read(lambda c: state(c, Limits())) for number, database in opened.items()}
    return min(states, key=lambda n: (states[n].runs, not (states[n].wants or states[n].under_way), n))


# ---------------------------------------------------------------- how each is doing


def state(connection: Connection, limits: Limits) -> ShardState:
    """Read the state of a database: first its work, then its mail.

    `limits` are its own, see `Dealing.part`.
    """
    runs = connection.execute(select(run.c.place, run.c.pid).where(_LIVING, run.c.alive_until > clock(connection, 0)))
    living = sum(not is_gone(one.place, one.pid) for one in runs)
    within = within_limits(connection, replace(limits, pages=None))
    row = connection.execute(
        select(
            or_(_UNREAD, exists().where(in_state(State.LEASED))).label("under_way"),
            exists().where(in_state(State.PENDING), within).label("wants"),
            func.coalesce(select(budget.c.pages).scalar_subquery(), 0).label("pages"),
            func.coalesce(select(budget.c.granted - budget.c.pages).scalar_subquery(), 0).label("spare"),
            select(func.coalesce(func.sum(shard.c.granted), 0)).scalar_subquery().label("granted"),
        )
    ).one()
    posted = frozenset(connection.execute(_POSTED).scalars())
    batches = connection.execute(select(shard.c.sent, shard.c.received).order_by(shard.c.number))
    messages = [(one.sent, one.received) for one in batches]
    counted = row.pages, row.spare, int(row.granted)
    return ShardState(living, row.under_way, posted, row.wants, *counted, messages)


_LIVING = run.c.finished.is_(None)
_UNREAD = exists().where(inbox.c.number.is_not(None))
_POSTED = select(outbox.c.shard).union(select(suspect.c.shard))


# ---------------------------------------------------------------- MAX_PAGES


@one_by_one
def keep_grant(connection: Connection, _request: None) -> None:
    """Let a database count no more pages than it is granted now."""
    connection.execute(update(budget).where(budget.c.granted.is_(None)).values(granted=budget.c.pages))


def grant(first: Database, own: Database, number: int, limits: Limits, ahead: int) -> bool | None:
    """Have a database granted `ahead` pages more than it counts; tells if it got some.

    None: it has enough, and the first database, which knows what was granted, was not asked.

    Pages that it has no use for go back. Its budget is locked meanwhile; it is lowered before the first database hears
    of it and raised after that: if a process dies in between, together they still never count more than the limit.

    Raises:
        DatabaseProblem: one of the two does not answer.
    """
    limit = _NO_LIMIT if limits.pages is None else limits.pages  # a later run may have one
    with own.transaction() as near:
        wants = exists().where(in_state(State.PENDING), within_limits(near, replace(limits, pages=None)))
        ahead *= near.execute(select(wants)).scalar_one()
        near.execute(_GIVE_BACK, {"ahead": ahead})
        pages, granted = near.execute(_BUDGET).one()
    if granted - pages > ahead // 2:
        return None
    with own.transaction() as near, first.transaction() as far:
        pages, granted = near.execute(_BUDGET.with_for_update()).one()
        grants = {row.number: row.granted for row in far.execute(_GRANTS)}
        left = limit - sum(n for key, n in grants.items() if key != number)
        more = max(granted, min(pages + ahead, left))
        if grants[number] != more:
            far.execute(_GRANT, {"key": number, "n": more})
        far.commit()
        if more > granted:
            near.execute(update(budget).values(granted=more))
    return bool(more > granted)


_NO_LIMIT = 1 << 62
_AHEAD = budget.c.pages + bindparam("ahead", type_=BigInteger)
_GIVE_BACK = update(budget).where(budget.c.granted > _AHEAD).values(granted=_AHEAD)
_BUDGET = select(budget.c.pages, budget.c.granted)
_GRANTS = select(shard.c.number, shard.c.granted).order_by(shard.c.number).with_for_update()
_GRANT = update(shard).where(shard.c.number == bindparam("key")).values(granted=bindparam("n"))
