"""Mail between the databases of a crawl: each message arrives exactly once.

What a page names and another database owns is written to the `outbox` in the page's own transaction. From there it is
brought in batches to the `inbox` of the other database, and read there by the code that inserts the links of a page.
The two databases commit one after the other. So a batch has a number: a sender that died in between tries it again, and
is told which messages the receiver had.

A message is a JSON object of lists, each of one kind:

    urls    [page that names it, Unix time, *fields of NewUrl]
    hosts   [seed, host name that is the seed's own from now on]
    others  see `db.articles.elsewhere`
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, select, update

from ..engine.database import Database
from ..engine.locks import AdvisoryLock
from ..engine.statements import among, insert_rows, one_by_one, run_many
from ..frontier.aliases import HAS_WORK
from ..frontier.insert import add_hosts, insert_urls
from ..records.outcome import Outcome
from ..records.reasons import SkipReason
from ..records.shard import Dealing
from ..records.url import Found, NewUrl
from ..tables.shards import InboxRow, OutboxRow, ShardRow
from ..tables.urls import SeedRow

shard, outbox, inbox, seed = (model.table() for model in (ShardRow, OutboxRow, InboxRow, SeedRow))

_AT_ONCE = 500
"""Entries of a message."""
_BATCH = 100
_READ = 20
"""Messages read in a transaction: others want their turn in between."""
_FIELDS = tuple(NewUrl.__dataclass_fields__)
_values_of = attrgetter(*_FIELDS)

MailReader = Callable[[Connection, Sequence[Any]], None]


def post_foreign(connection: Connection, dealing: Dealing, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Post what other databases own; returns the outcomes without it."""
    letters = Letters(dealing)
    rest = []
    for outcome in outcomes:
        own_urls = []
        for new in outcome.new_urls:
            if dealing.belongs(new) == dealing.number:
                own_urls.append(new)
            else:
                letters.url(new, outcome.lease.id, outcome.fetched_at)
        rest.append(outcome if len(own_urls) == len(outcome.new_urls) else replace(outcome, new_urls=own_urls))
        for to in dealing.others if outcome.seed_host is not None else ():
            letters.add(to, "hosts", outcome.seed_host)
    letters.post(connection)
    return rest


@one_by_one
def post_urls(connection: Connection, request: tuple[Dealing, float, Sequence[NewUrl]]) -> None:
    """Post URLs that no page names: (from where, Unix time, URLs)."""
    dealing, now, new_urls = request
    letters = Letters(dealing)
    for new in new_urls:
        letters.url(new, None, now)
    letters.post(connection)


class Letters:
    def __init__(self, dealing: Dealing) -> None:
        self._dealing = dealing
        self._things: defaultdict[int, list[tuple[str, Any]]] = defaultdict(list)

    def url(self, new: NewUrl, source: int | None, at: float) -> None:
        self.add(self._dealing.belongs(new), "urls", [source, at, *_values_of(new)])

    def add(self, to: int, kind: str, thing: Any) -> None:
        self._things[to].append((kind, thing))

    def post(self, connection: Connection) -> None:
        """Write to the outbox; what is for this database itself goes to its inbox."""
        for to, things in sorted(self._things.items()):
            messages = []
            for first in range(0, len(things), _AT_ONCE):
                body: defaultdict[str, list[Any]] = defaultdict(list)
                for kind, thing in things[first : first + _AT_ONCE]:
                    body[kind].append(thing)
                messages.append((to, json.dumps(body)))
            box = inbox if to == self._dealing.number else outbox
            insert_rows(connection, box, ("shard", "body"), messages)


def deliver(here: Database, there: Database, own: int, other: int) -> int:
    """Bring a batch of the outbox to another database; counts its messages.

    Raises:
        DatabaseProblem: one of the two does not answer; nothing is lost.
    """
    # both begin before anything is read: a process that is frozen in between loses both
    with there.transaction() as far, here.transaction() as near:
        if not near.execute(_ALONE, {"key": AdvisoryLock.MAIL.value + other}).scalar_one():
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
def read(connection: Connection, others: Mapping[str, MailReader]) -> tuple[int, Found]:
    """Read some messages: (how many, what came of their URLs).

    `others` reads what is neither a URL nor a host, by kind.
    """
    messages = connection.execute(_UNREAD).all()
    things: defaultdict[str, list[Any]] = defaultdict(list)
    for message in messages:
        for kind, some in json.loads(message.body).items():
            things[kind] += some
    insert_result = Found()
    if finds := [(_new_url(values), source, at) for source, at, *values in things.pop("urls", ())]:
        add_hosts(connection, max(at for _, _, at in finds), [new for new, _, _ in finds])
        insert_urls(connection, finds, [insert_result] * len(finds))
        run_many(connection, HAS_WORK, [{"key": key} for key in sorted(insert_result.hosts)])
    hosts = sorted((seed_id, name) for seed_id, name in things.pop("hosts", ()))
    run_many(connection, ADOPT, [{"key": seed_id, "name": " " + name} for seed_id, name in hosts])
    for kind, some in sorted(things.items()):
        others[kind](connection, some)
    connection.execute(_READ_ONES, {"ids": [message.number for message in messages]})
    return len(messages), insert_result


def _new_url(values: Sequence[Any]) -> NewUrl:
    new = NewUrl(*values)
    return new if new.reason is None else replace(new, reason=SkipReason(new.reason))


_UNREAD = select(inbox.c.number, inbox.c.body).order_by(inbox.c.number).limit(_READ).with_for_update(skip_locked=True)
_READ_ONES = delete(inbox).where(among(inbox.c.number))
ADOPT = update(seed).where(seed.c.id == bindparam("key")).values(hosts=seed.c.hosts + bindparam("name"))
