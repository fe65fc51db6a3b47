"""A crawl's URLs, links and words as numpy columns, read while the tables grow.

A reader has no part in the crawl: it has a connection of its own, reads only, and may be in another process. It goes
by the times at which URLs were found and pages were fetched. A page is stored seconds after it was fetched, and several
processes' clocks differ a little, so the last minutes before the newest row are looked through again each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Float, Integer, Select, case, func, select
from sqlalchemy.exc import DBAPIError

from ..engine.database import Database
from ..engine.errors import classify
from ..engine.statements import among
from ..records.reasons import PageReason
from ..records.url import Kind, State
from ..tables.articles import ArticleRow
from ..tables.learned import PageTermsRow
from ..tables.urls import HostRow, LinkRow, OutsideRow, SeedRow, SiteRow, UrlRow

url, host, site, seed, link, outside, article, page_terms = (
    model.table() for model in (UrlRow, HostRow, SiteRow, SeedRow, LinkRow, OutsideRow, ArticleRow, PageTermsRow)
)

Int64s: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]

KINDS = tuple(Kind)
"""`UrlRows.kinds` holds places in this list."""
STATES = tuple(State)
"""`UrlRows.states` and `FetchedRows.states` hold places in this list."""


@dataclass(frozen=True, slots=True)
class UrlRows:
    """URLs that were found, as parallel columns.

    One that was found again by a shorter way, or that is to be fetched again, is given again as it is now. A site that
    is not known, or no date, is 0; `kinds` and `states` are places in `KINDS` and `STATES`; `urls` are empty unless
    `Params.texts` asks for them.
    """

    ids: Int64s
    hosts: Int64s
    sites: Int64s
    kinds: Bytes
    states: Bytes
    depths: Int32s
    found_in: Bytes
    dated: Floats
    urls: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FetchedRows:
    """Answered URLs in the order of fetching."""

    ids: Int64s
    states: Bytes


@dataclass(frozen=True, slots=True)
class LinkRows:
    """Links of fetched pages, all of each page together, in the order of fetching.

    `sources` are pages that were read, and URLs that redirect; `counts` says how many of the `targets` each has.
    """

    sources: Int64s
    counts: Int32s
    targets: Int64s
    blocks: Bytes


@dataclass(frozen=True, slots=True)
class TermRows:
    """Words of fetched pages as stored with them, see `db.tables.learned.PageTerms`.

    `wasted` pages were of no use, neither an article nor a way to others.
    """

    ids: Int64s
    relevance: Floats
    wasted: NDArray[np.bool_]
    terms: Sequence[bytes]


Rows: TypeAlias = UrlRows | FetchedRows | LinkRows | TermRows


@dataclass(frozen=True, slots=True)
class Params:
    """Options of a reader.

    Attributes:
        urls, pages: approximate numbers that it reads at a time.
        overlap_seconds: how late a row may come, by the times of the newest.
        most: URLs that it gives at first; where the table has more, those that were found last, with what was fetched
            since then, and the seeds.
    """

    urls: int = 50_000
    pages: int = 1_000
    overlap_seconds: float = 120.0
    texts: bool = False
    most: int | None = None


DEFAULTS = Params()


class GraphReader:
    """Reads what has come into a crawl's tables since it was last asked.

    Every question to the database is a transaction of its own: a reader that takes its time holds up neither SQLite's
    checkpoints nor Postgres's clean-up. The database is not closed.

    Raises:
        ValueError: a number in `params` is too small.

    Cost: 16 bytes for each host and for each row of the last `overlap_seconds`, and one piece.
    """

    def __init__(self, database: Database, params: Params = DEFAULTS) -> None:
        if params.urls < 1 or params.pages < 1 or not params.overlap_seconds >= 0:
            raise ValueError(f"{params} must have at least one URL and one page at a time, and an overlap of 0 or more")
        self._source = _Source(database)
        self._found = _Stream(self._source, url.c.found_at, params.urls, params.overlap_seconds)
        self._fetched = _Stream(self._source, url.c.fetched_at, params.pages, params.overlap_seconds)
        self._sites = _Sites(self._source)
        self._most_urls = params.urls
        self._most = params.most
        self._since = 0.0
        self._texts = params.texts
        self._knows_pruned = False
        self._columns = (*_URL_COLUMNS, url.c.url) if params.texts else _URL_COLUMNS

    def read(self, now: float) -> Iterator[Rows]:
        """Yield what has come in bounded pieces: URLs first, then what was fetched.

        What was read counts as given, so iterate to the end. A row dated later than `now` (Unix time) does not make the
        others look old.

        Raises:
            DatabaseGone, Unavailable: the database gave up or does not answer now; the next call goes on from here.
        """
        if self._most is not None:
            yield from self._leave_out()
        for condition in self._found.conditions(now):
            yield from self._urls(condition)
        if not self._knows_pruned:  # behind them: what is pruned in the meantime is in both
            self._knows_pruned = True
            yield from self._pruned()
        for condition in self._fetched.conditions(now):
            yield from self._pages(condition)

    def yields(self) -> tuple[Int64s, Int64s, Int64s]:
        """Return hosts with the number of their fetched pages and of their articles."""
        ids, pages, articles = self._source.columns(_YIELDS)
        return ids, pages, articles

    def articles(self) -> Int64s:
        (ids,) = self._source.columns(select(article.c.id))
        return ids

    def lists(self) -> Int64s:
        (ids,) = self._source.columns(_LISTS)
        return ids

    def close(self) -> None:
        self._source.close()

    @property
    def is_whole(self) -> bool:
        return self._since == 0.0

    def _leave_out(self) -> Iterator[Rows]:
        newest = select(url.c.found_at).order_by(url.c.found_at.desc()).offset(self._most).limit(1)
        self._most = None
        (since,) = self._source.columns(newest)
        if since.size:
            self._since = float(since[0])
            self._found.begin(self._since)
            self._fetched.begin(self._since)
            self._knows_pruned = True
            yield from self._older(url.c.id.in_(select(seed.c.id)))

    def _older(self, condition: ColumnElement[bool]) -> Iterator[Rows]:
        left_out = condition & (url.c.found_at <= self._since)
        ids, _, *others = self._source.columns(select(*self._columns).where(left_out))
        if ids.size:
            yield self._url_rows(ids, *others)

    def _urls(self, condition: ColumnElement[bool]) -> Iterator[Rows]:
        ids, times, *others = self._source.columns(select(*self._columns).where(condition))
        fresh = self._found.fresh(ids, times)
        url_rows = self._url_rows(ids[fresh], *(column[fresh] for column in others))
        self._found.add(ids, times)
        if url_rows.ids.size:
            yield url_rows

    def _url_rows(self, ids: Int64s, hosts: Int64s, *others: NDArray[Any]) -> UrlRows:
        kinds, states, depths, found_in, dated, *texts = others
        return UrlRows(
            ids=ids,
            hosts=hosts,
            sites=self._sites.of(hosts),
            kinds=kinds.astype(np.uint8),
            states=states.astype(np.uint8),
            depths=depths.astype(np.int32),
            found_in=found_in.astype(np.uint8),
            dated=dated,
            urls=texts[0].tolist() if texts else (),
        )

    def _pruned(self) -> Iterator[Rows]:
        """Yield URLs outside whose rows were pruned; later ones were read before that."""
        last = -(1 << 63)
        while True:
            statement = select(outside.c.id, outside.c.host_id).where(outside.c.id > last).order_by(outside.c.id)
            ids, hosts = self._source.columns(statement.limit(self._most_urls))
            if not ids.size:
                return
            last = int(ids[-1])
            zeros = np.zeros(ids.size, np.uint8)
            yield UrlRows(
                ids=ids,
                hosts=hosts,
                sites=self._sites.of(hosts),
                kinds=zeros + KINDS.index(Kind.PAGE),
                states=zeros + STATES.index(State.SKIPPED),
                depths=zeros.astype(np.int32),
                found_in=zeros,
                dated=zeros.astype(np.float64),
                urls=[""] * ids.size if self._texts else (),
            )

    def _pages(self, condition: ColumnElement[bool]) -> Iterator[Rows]:
        ids, times, kinds, states = self._source.columns(select(*_FETCHED_COLUMNS).where(condition))
        over = np.flatnonzero(self._fetched.fresh(ids, times) & np.isin(states, _OVER))
        over = over[np.argsort(times[over], kind="stable")]
        pages = over[kinds[over] == KINDS.index(Kind.PAGE)]
        if not self.is_whole:
            for part in _parts(ids[pages]):
                yield from self._older(url.c.id.in_(part.tolist()))
        links = self._links(ids[pages], states[pages] == STATES.index(State.DONE))
        terms = self._terms(ids[pages])
        self._fetched.add(ids, times)
        if over.size:
            yield FetchedRows(ids[over], states[over].astype(np.uint8))
        if links.sources.size:
            yield links
        if terms.ids.size:
            yield terms

    def _links(self, pages: Int64s, read: NDArray[np.bool_]) -> LinkRows:
        sources, targets, blocks = self._source.columns_of(pages, _LINKS)
        sorter = np.argsort(pages)
        places = sorter[np.searchsorted(pages, sources, sorter=sorter)]
        order = np.argsort(places, kind="stable")
        counts = np.bincount(places, minlength=len(pages)).astype(np.int32)
        page_mask = read | (counts > 0)
        return LinkRows(pages[page_mask], counts[page_mask], targets[order], blocks[order].astype(np.uint8))

    def _terms(self, pages: Int64s) -> TermRows:
        ids, relevance, wasted, terms = self._source.columns_of(pages, _TERMS)
        return TermRows(ids, relevance, wasted.astype(np.bool_), terms.tolist())


def names_of(database: Database, level: str, ids: Int64s) -> list[str]:
    """Return names of `hosts` or `sites`, `ips` of hosts, or URLs of `pages`.

    Those of unknown identifiers are empty.

    Raises:
        DatabaseGone, Unavailable: the database gave up or does not answer now.
    """
    source = _Source(database)
    try:
        found, names = source.columns_of(ids, _NAMES[level]) if ids.size else (ids, ids)
    finally:
        source.close()
    known = dict(zip(found.tolist(), names.tolist(), strict=True))
    return [known.get(key, "") for key in ids.tolist()]


class PartReader:
    """Reads parts of a link graph, as `GraphReader` would give them at that moment."""

    def __init__(self, database: Database) -> None:
        self._source = _Source(database)

    def pages(self, first: int, last: int) -> tuple[Int64s, Int64s, NDArray[np.bool_]]:
        """Return pages from `first` to `last`, their hosts, and whether their links count."""
        ids, hosts, times, states = self._source.columns(_PAGES.where(url.c.id.between(first, last)))
        pruned, of_pruned = self._source.columns(_PRUNED.where(outside.c.id.between(first, last)))
        more = ~np.isin(pruned, ids)
        was_read = np.append((times > 0) & np.isin(states, _OVER), np.zeros(int(more.sum()), np.bool_))
        return np.append(ids, pruned[more]), np.append(hosts, of_pruned[more]), was_read

    def sites(self, hosts: Int64s) -> Int64s:
        """Return the sites of hosts; 0 for unknown ones."""
        return _Sites(self._source).of(hosts)

    def links(self, sources: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return links of some pages: source, target, host of the target or 0."""
        links = self._source.columns_of(sources, _LINKS_WITH_HOSTS)
        return links[0], links[1], links[2]

    def queued(self, pages: Int64s) -> tuple[Int64s, Floats, Sequence[str]]:
        """Return pages that wait or are leased, with their scores and the parts of these."""
        ids, scores, parts = self._source.columns_of(pages, _QUEUED)
        return ids, scores, parts.tolist()

    def close(self) -> None:
        self._source.close()


def _code(column: ColumnElement[str], names: Sequence[str]) -> ColumnElement[int]:
    return case(*((column == name, place) for place, name in enumerate(names)), else_=len(names))


_OVER = [STATES.index(state) for state in (State.DONE, State.FAILED, State.SKIPPED)]
_URL_COLUMNS = (
    url.c.id,
    url.c.found_at,
    url.c.host_id,
    _code(url.c.kind, KINDS),
    _code(url.c.state, STATES),
    url.c.depth,
    url.c.found_in,
    func.coalesce(url.c.dated, 0.0),
)
_FETCHED_COLUMNS = (url.c.id, url.c.fetched_at, _code(url.c.kind, KINDS), _code(url.c.state, STATES))
_LINKS = select(link.c.source, link.c.target, link.c.block).where(among(link.c.source))
_PAGES = select(url.c.id, url.c.host_id, func.coalesce(url.c.fetched_at, 0.0), _code(url.c.state, STATES)).where(
    url.c.kind == Kind.PAGE.value
)
_PRUNED = select(outside.c.id, outside.c.host_id)
_LINKS_WITH_HOSTS = (
    select(link.c.source, link.c.target, func.coalesce(url.c.host_id, outside.c.host_id, 0))
    .outerjoin(url, (url.c.id == link.c.target) & (url.c.kind == Kind.PAGE.value))
    .outerjoin(outside, outside.c.id == link.c.target)
    .where(among(link.c.source), link.c.target != link.c.source)
)
_QUEUED = select(url.c.id, url.c.score, url.c.score_parts).where(
    among(url.c.id),
    url.c.kind == Kind.PAGE.value,
    url.c.state.in_((State.PENDING.value, State.LEASED.value)),
    url.c.score_parts.is_not(None),
)
_OF_NO_USE = (
    PageReason.SAME_PAGE,
    PageReason.SOFT_404,
    PageReason.NOTICE,
    PageReason.LOGIN_WALL,
    PageReason.FORM,
    PageReason.REPEATS,
)
_TERMS = (
    select(
        page_terms.c.url_id,
        page_terms.c.relevance,
        case((url.c.reason.in_([reason.value for reason in _OF_NO_USE]), 1), else_=0),
        page_terms.c.terms,
    )
    .join_from(page_terms, url, url.c.id == page_terms.c.url_id)
    .where(among(page_terms.c.url_id))
)
_YIELDS = select(host.c.id, host.c.pages, host.c.articles)
_LISTS = select(url.c.id).where(
    url.c.kind == Kind.PAGE.value, url.c.state == State.DONE.value, url.c.reason == PageReason.LIST.value
)
_NAMES = {
    "hosts": select(host.c.id, host.c.name).where(among(host.c.id)),
    "ips": select(host.c.id, func.coalesce(host.c.ip_address, "")).where(among(host.c.id)),
    "sites": select(site.c.id, site.c.name).where(among(site.c.id)),
    "pages": select(url.c.id, url.c.url).where(among(url.c.id)),
}
_SITES = select(host.c.id, host.c.site_id).where(among(host.c.id))


class _Source:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None

    def columns(self, statement: Select[Any]) -> list[NDArray[Any]]:
        """Return the answer as an array for each column: int64, float64 or objects.

        Rows go from the driver into arrays some hundreds at a time, past SQLAlchemy, which would double the time.
        """
        dialect: Any = self._database.engine.dialect
        sql = str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
        types = [_dtype(column) for column in statement.selected_columns]
        pieces: list[list[NDArray[Any]]] = [[np.empty(0, dtype) for dtype in types]]
        try:
            cursor = self._connected().cursor()
            cursor.execute(sql)
            while rows := cursor.fetchmany(_FETCHED_ROWS):
                pieces.append([np.array(c, dtype) for c, dtype in zip(zip(*rows, strict=True), types, strict=True)])
        except (DBAPIError, dialect.loaded_dbapi.Error) as error:
            self.close()
            problem = error if isinstance(error, DBAPIError) else DBAPIError(None, None, error)
            raise classify(problem, self._database.name) or problem from error
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]

    def columns_of(self, ids: Int64s, statement: Select[Any]) -> list[NDArray[Any]]:
        answers = [self.columns(statement.params(ids=part.tolist())) for part in _parts(ids)]
        return [np.concatenate(column) for column in zip(*answers, strict=True)]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> Any:
        if self._connection is None:
            pooled = self._database.engine.raw_connection()
            self._connection = pooled.driver_connection
            pooled.detach()  # what is set here is for this one alone
            if self._database.is_sqlite:
                self._connection.execute("PRAGMA query_only = on")
                self._connection.execute(f"PRAGMA cache_size = {-_CACHE_KB}")
            else:
                self._connection.autocommit = True
                self._connection.execute("SET default_transaction_read_only = on")
        return self._connection


_FETCHED_ROWS = 500  # with some thousands it takes half as long again
_FETCHED_IDS = 500
_CACHE_KB = 4_096


def _parts(ids: Int64s) -> list[Int64s]:
    return np.split(ids, range(_FETCHED_IDS, len(ids), _FETCHED_IDS))


def _dtype(column: Any) -> Any:
    if isinstance(column.type, Integer):
        return np.int64
    return np.float64 if isinstance(column.type, Float) else np.object_


class _Stream:
    """A column of times: how far it was read, and which of the last minutes' rows.

    Times are above 0; a row may come `overlap_seconds` late.
    """

    def __init__(self, source: _Source, column: ColumnElement[float], rows: int, overlap_seconds: float) -> None:
        self._source = source
        self._column = column
        self._rows = rows
        self._overlap = overlap_seconds
        self._upto = self._least = 0.0
        self._now = 0.0
        self._ids: Int64s = np.empty(0, np.int64)
        self._times: Floats = np.empty(0)

    def begin(self, since: float) -> None:
        self._upto = self._least = since

    def conditions(self, now: float) -> Iterator[ColumnElement[bool]]:
        if self._now:
            self._upto = min(self._upto, self._now)  # what is dated later than the last call may have come since
        self._now = now
        if self._ids.size:
            since = max(self._upto - self._overlap, self._least)
            late = select(url.c.id, self._column).where(self._column > since, self._column <= self._upto)
            ids, times = self._source.columns(late)
            for part in _parts(ids[self.fresh(ids, times)]):
                if part.size:
                    yield url.c.id.in_(part.tolist())
        while True:
            newer = self._column > self._upto
            last = select(self._column).where(newer).order_by(self._column).offset(self._rows - 1).limit(1)
            (bound,) = self._source.columns(last)
            if not bound.size:
                yield newer
                return
            upto = float(bound[0])
            yield newer & (self._column <= upto)
            self._upto = upto

    def fresh(self, ids: Int64s, times: Floats) -> NDArray[np.bool_]:
        return ~np.isin(_keys(ids, times), _keys(self._ids, self._times))

    def add(self, ids: Int64s, times: Floats) -> None:
        fresh = self.fresh(ids, times)
        self._upto = max(self._upto, float(times.max(initial=0.0)))
        ids, times = np.append(self._ids, ids[fresh]), np.append(self._times, times[fresh])
        recent = times > min(self._upto, self._now) - self._overlap
        self._ids, self._times = ids[recent], times[recent]


def _keys(ids: Int64s, times: Floats) -> NDArray[np.uint64]:
    return ids.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ times.view(np.uint64)


class _Sites:
    def __init__(self, source: _Source) -> None:
        self._source = source
        self._hosts: Int64s = np.empty(0, np.int64)
        self._sites: Int64s = np.empty(0, np.int64)

    def of(self, hosts: Int64s) -> Int64s:
        """Return the sites of hosts; 0 where the table does not know the host."""
        missing = np.setdiff1d(hosts, self._hosts)
        if missing.size:
            ids, sites = self._source.columns_of(missing, _SITES)
            ids, sites = np.append(self._hosts, ids), np.append(self._sites, sites)
            order = np.argsort(ids)
            self._hosts, self._sites = ids[order], sites[order]
        if not self._hosts.size:
            return np.zeros(len(hosts), np.int64)
        places = np.minimum(np.searchsorted(self._hosts, hosts), len(self._hosts) - 1)
        return np.where(self._hosts[places] == hosts, self._sites[places], 0)
