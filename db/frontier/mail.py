"""Mail between the databases of a crawl: each message arrives once, whoever is killed when.

What a page names and another database owns is written to the `outbox` in the page's own transaction. From there it is
brought in batches to the `inbox` of the other database, and read there by the code that inserts the links of a page.
The two databases commit one after the other. So a batch has a number: a sender that died in between tries it again, and
is told which messages it had.

    {"urls": [[source, time found, *fields of NewUrl], ...], "hosts": [[seed, host name], ...]}
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, select, update

from ..engine.database import Database
from ..engine.statements import among, insert_rows, one_by_one, run_many
from ..records.outcome import Outcome
from ..records.reasons import SkipReason
from ..records.shard import Dealing
from ..records.url import Found, NewUrl
from ..tables.shards import InboxRow, OutboxRow, ShardRow
from ..tables.urls import SeedRow
from .aliases import HAS_WORK
from .insert import add_hosts, insert_urls

shard, outbox, inbox, seed = (model.table() for model in (ShardRow, OutboxRow, InboxRow, SeedRow))

_AT_ONCE = 500
"""URLs of a message."""
_BATCH = 100
"""Messages of a batch."""
_READ = 20
"""Messages read in a transaction: others want their turn in between."""
_FIELDS = tuple(NewUrl.__dataclass_fields__)
_values_of = attrgetter(*_FIELDS)

Find = tuple[NewUrl, int | None, float]
"""A URL, the page that named it, and when."""


def post_foreign(connection: Connection, dealing: Dealing, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Post what other databases own; returns the outcomes without it."""
    finds: list[Find] = []
    rest = []
    for outcome in outcomes:
        foreign = {new.id for new in outcome.new_urls if dealing.belongs(new) != dealing.number}
        finds += [(new, outcome.lease.id, outcome.fetched_at) for new in outcome.new_urls if new.id in foreign]
        own = [new for new in outcome.new_urls if new.id not in foreign] if foreign else outcome.new_urls
        rest.append(replace(outcome, new_urls=own) if foreign else outcome)
    post(connection, dealing, finds, [outcome.seed_host for outcome in outcomes if outcome.seed_host is not None])
    return rest


@one_by_one
def post_urls(connection: Connection, request: tuple[Dealing, float, Sequence[NewUrl]]) -> None:
    """Post URLs that no page named: (from where, Unix time, URLs)."""
    dealing, now, new_urls = request
    post(connection, dealing, [(new, None, now) for new in new_urls])


def post(
    connection: Connection, dealing: Dealing, finds: Iterable[Find], hosts: Iterable[tuple[int, str]] = ()
) -> None:
    """Post URLs to the databases that own them, and further hosts of seeds to all."""
    urls: defaultdict[int, list[list[Any]]] = defaultdict(list)
    for new, source, at in finds:
        urls[dealing.belongs(new)].append([source, at, *_values_of(new)])
    told = sorted(set(hosts))
    for to in dealing.others if told else ():
        urls[to] += []
    rows = [
        (to, json.dumps({"urls": found[first : first + _AT_ONCE], "hosts": told if first == 0 else []}))
        for to, found in sorted(urls.items())
        for first in range(0, max(1, len(found)), _AT_ONCE)
    ]
    insert_rows(connection, outbox, ("shard", "body"), rows)


def deliver(here: Database, there: Database, own: int, other: int) -> int:
    """Bring a batch of the outbox of one database to another; returns how many messages.

    Raises:
        DatabaseProblem: one of the two does not answer; nothing is lost.
    """
    # both begin before anything is read: a process that is frozen in between loses both
    with there.transaction() as far, here.transaction() as near:
        if not near.execute(_ALONE, {"key": _MAIL_LOCK + other}).scalar_one():
            return 0  # another process of this database does it just now
        received, last = far.execute(_RECEIVED, {"from": own}).one()
        sent = near.execute(_SENT, {"to": other}).scalar_one()
        if received == sent + 1:  # this batch has come already, and whoever brought it died
            numbers = json.loads(last)
        else:
            messages = near.execute(_NEXT, {"to": other}).all()
            numbers = [message.number for message in messages]
            insert_rows(far, inbox, ("shard", "body"), [(own, message.body) for message in messages])
            if numbers:
                far.execute(_RECEIVE, {"from": own, "n": sent + 1, "numbers": json.dumps(numbers)})
        far.commit()
        if numbers:
            near.execute(_GONE, {"ids": numbers})
            near.execute(_SEND, {"to": other, "n": sent + 1})
    return len(numbers)


_OF_SENDER = shard.c.number == bindparam("from")
_RECEIVED = select(shard.c.received, shard.c.last_batch).where(_OF_SENDER).with_for_update()
_SENT = select(shard.c.sent).where(shard.c.number == bindparam("to"))
_ALONE = select(func.pg_try_advisory_xact_lock(bindparam("key", type_=BigInteger)))
_MAIL_LOCK = 7_241_896_000
_NEXT = (
    select(outbox.c.number, outbox.c.body)
    .where(outbox.c.shard == bindparam("to"))
    .order_by(outbox.c.number)
    .limit(_BATCH)
)
_RECEIVE = update(shard).where(_OF_SENDER).values(received=bindparam("n"), last_batch=bindparam("numbers"))
_GONE = delete(outbox).where(among(outbox.c.number))
_SEND = update(shard).where(shard.c.number == bindparam("to")).values(sent=bindparam("n"))


@one_by_one
def read(connection: Connection, _request: None) -> tuple[int, Found]:
    """Read some messages: (how many, what came of their URLs)."""
    messages = connection.execute(_UNREAD).all()
    found = Found()
    finds: list[Find] = []
    hosts: list[tuple[int, str]] = []
    for message in messages:
        body = json.loads(message.body)
        for source, at, *values in body["urls"]:
            new = NewUrl(*values)
            finds.append((new if new.reason is None else replace(new, reason=SkipReason(new.reason)), source, at))
        hosts += [(seed_id, name) for seed_id, name in body["hosts"]]
    if finds:
        add_hosts(connection, max(at for _, _, at in finds), [new for new, _, _ in finds])
        insert_urls(connection, finds, [found] * len(finds))
        run_many(connection, HAS_WORK, [{"key": key} for key in sorted(found.hosts)])
    run_many(connection, ADOPT, [{"key": seed_id, "name": " " + name} for seed_id, name in sorted(hosts)])
    connection.execute(_READ_ONES, {"ids": [message.number for message in messages]})
    return len(messages), found


_UNREAD = select(inbox.c.number, inbox.c.body).order_by(inbox.c.number).limit(_READ).with_for_update(skip_locked=True)
_READ_ONES = delete(inbox).where(among(inbox.c.number))
ADOPT = update(seed).where(seed.c.id == bindparam("key")).values(hosts=seed.c.hosts + bindparam("name"))
