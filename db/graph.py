"""The link graph of a crawl, read from its tables as numpy columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from .database import Database
from .errors import classify
from .tables import Host, Kind, Link, State, Url

url, host, link = (model.table() for model in (Url, Host, Link))

Int64s: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]

KINDS = tuple(Kind)
"""`UrlRows.kinds` holds places in this list."""
STATES = tuple(State)
"""`UrlRows.states` holds places in this list."""

_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class UrlRows:
    """URLs that were found, as parallel columns.

    Attributes:
        ids, hosts, sites: identifiers.
        kinds, states: places in `KINDS` and `STATES`.
        depths, found_in, dated: as in the table; 0 for no date.
    """

    ids: Int64s
    hosts: Int64s
    sites: Int64s
    kinds: Bytes
    states: Bytes
    depths: Int32s
    found_in: Bytes
    dated: Floats


@dataclass(frozen=True, slots=True)
class LinkRows:
    """Links of pages that were fetched, all of each page together.

    Attributes:
        sources: pages that were read, and URLs that redirect, in the order in which they were fetched.
        counts: how many links each has; 0 for one without.
        targets: where they lead, of all sources one after the other.
        blocks: the kind of block each stands in.
    """

    sources: Int64s
    counts: Int32s
    targets: Int64s
    blocks: Bytes


class GraphReader:
    """Gives everything that is in a crawl's tables.

    Args:
        database: opened for reading; it is not closed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, now: float) -> Iterator[UrlRows | LinkRows]:
        """All URLs, then all pages that were fetched with their links, in pieces of bounded size.

        Raises:
            DatabaseGone, Unavailable: the database gave up or does not answer.
        """
        try:
            with self._database.engine.connect() as connection:
                yield from _urls(connection)
                yield from _links(connection)
        except DBAPIError as error:
            raise classify(error, self._database.name) or error from error

    def close(self) -> None:
        """Nothing is left open."""


def _urls(connection: Connection) -> Iterator[UrlRows]:
    for rows in connection.execute(_URLS.execution_options(yield_per=_ROWS)).partitions():
        ids, hosts, sites, kinds, states, depths, found_in, dated = zip(*rows, strict=True)
        yield UrlRows(
            ids=np.array(ids, np.int64),
            hosts=np.array(hosts, np.int64),
            sites=np.array(sites, np.int64),
            kinds=np.array([KINDS.index(Kind(kind)) for kind in kinds], np.uint8),
            states=np.array([STATES.index(State(state)) for state in states], np.uint8),
            depths=np.array(depths, np.int32),
            found_in=np.array(found_in, np.uint8),
            dated=np.array([at or 0.0 for at in dated]),
        )


def _links(connection: Connection) -> Iterator[LinkRows]:
    """Links, never those of one page in two pieces."""
    rest: list[Any] = []
    for rows in connection.execute(_LINKS.execution_options(yield_per=_ROWS)).partitions():
        rest.extend(rows)
        end = next((n for n in range(len(rest) - 1, 0, -1) if rest[n][0] != rest[n - 1][0]), 0)
        if end:
            yield _link_rows(rest[:end])
            del rest[:end]
    if rest:
        yield _link_rows(rest)


def _link_rows(rows: Sequence[Any]) -> LinkRows:
    counts: dict[int, int] = {}
    for source, target, _ in rows:
        counts[source] = counts.get(source, 0) + (target is not None)
    return LinkRows(
        sources=np.array(list(counts), np.int64),
        counts=np.array(list(counts.values()), np.int32),
        targets=np.array([target for _, target, _ in rows if target is not None], np.int64),
        blocks=np.array([block for _, target, block in rows if target is not None], np.uint8),
    )


_URLS = select(
    url.c.id, url.c.host_id, host.c.site_id, url.c.kind, url.c.state, url.c.depth, url.c.found_in, url.c.dated
).join(host, host.c.id == url.c.host_id)
_LINKS = (
    select(url.c.id, link.c.target, link.c.block)
    .outerjoin(link, link.c.source == url.c.id)
    .where(url.c.kind == Kind.PAGE, url.c.fetched_at.is_not(None))
    .where((url.c.state == State.DONE) | link.c.target.is_not(None))
    .order_by(url.c.fetched_at, url.c.id)
)
