"""Find the crawler traps of all hosts of a run; skip and free the URLs that wait."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from cachetools import LRUCache

from db.frontier import aliases
from db.frontier.leases import OwnedHost
from db.records.keys import fingerprint, iso
from db.records.outcome import Outcome, Stored
from db.records.reasons import ArticleResult, PageReason, SkipReason, reason_of
from db.records.url import Kind, Lease, NewUrl, State
from db.sites import traps as table
from db.sites.traps import PatternRow, Source
from pipelines.item import Page
from pipelines.links.scope import identify
from pipelines.records import BlockKind
from pipelines.url_rules.trap_patterns import disallow_reason
from pipelines.url_rules.trap_signals import SHORT, KnownTraps, outline
from pipelines.urls import is_home

from ... import clock
from ...response.new_urls import new_url
from ...run.session import Session
from .host import Bounds, FetchedPage, HostTraps, Pattern

logger = logging.getLogger(__name__)

_SAVE_SECONDS = 5.0
_REOPEN_SECONDS = 3600.0
_DAY = 86_400.0
_MOST_SOURCES = 50_000
_MOST_UNKNOWN = 2000
_CHUNK = 1000
_MASK = (1 << 64) - 1
_NOTHING = KnownTraps()
_EXEMPT = (BlockKind.SEED, BlockKind.PART, BlockKind.SITEMAP, BlockKind.FEED, BlockKind.PROBE)
"""Places of links that are fetched whatever their pattern: the user, an article or the site's own list names them."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions of the crawl that learning calls.

    Attributes:
        is_own: tells whether a host, by its name, is one that the seeds mean.
        start: runs a coroutine in the background, which the crawl can do without.
        keep: runs for ever what a function begins, anew after an exception.
        clear: told a host of which some held URLs may no longer be wanted.
        adjust: told how many more URLs wait (negative: fewer) and of which hosts.
    """

    stats: Counter[str]
    is_own: Callable[[str], bool]
    start: Callable[[Coroutine[Any, Any, None]], None]
    keep: Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
    add: Callable[[Sequence[NewUrl]], None]
    clear: Callable[[int], None]
    adjust: Callable[[int, Set[int]], None]


class TrapRegistry:
    """URL patterns of a run's hosts; after `days` blocked ones are put on probation."""

    def __init__(self, session: Session, bounds: Bounds, days: float, callbacks: Callbacks) -> None:
        self._session = session
        self._bounds = bounds
        self._seconds = days * _DAY
        self._callbacks = callbacks
        self._hosts: dict[int, HostTraps] = {}
        self._touched: set[int] = set()
        self._sources: LRUCache[int, Source] = LRUCache(_MOST_SOURCES)
        self._unknown: set[int] = set()

    # ------------------------------------------------------------ hosts come and go

    async def take(self, hosts: Sequence[OwnedHost]) -> None:
        """Read what is known of new hosts, before any of their URLs is handed out."""
        rows = await self._session.submit(table.load, [host.id for host in hosts])
        for host in hosts:
            foreign = not self._callbacks.is_own(host.name)
            stored = map(_pattern_of, rows[host.id])
            self._hosts[host.id] = HostTraps(self._bounds, foreign=foreign, known=stored)

    async def let_go(self, host_ids: Iterable[int]) -> None:
        ids = list(host_ids)
        await self.write(ids)
        for host_id in ids:
            self._hosts.pop(host_id, None)
            self._touched.discard(host_id)

    def known(self, lease: Lease) -> KnownTraps:
        host = self._hosts.get(lease.host_id)
        if host is None:
            return _NOTHING
        if lease.found_in == BlockKind.PROBE:
            return KnownTraps(missing=())
        # some sites show their home page, or a list, where there is no page
        reason = reason_of(lease.reason)
        is_there = lease.found_in in _EXEMPT or is_home(lease.url) or (reason is not None and reason.is_list)
        return KnownTraps(host.blocked, None if is_there else host.missing)

    def disallow_reason(self, lease: Lease) -> str:
        """Return the kind of trap of a URL, "" for none; called from the database thread."""
        host = self._hosts.get(lease.host_id)
        if lease.kind != Kind.PAGE or lease.visits or lease.found_in in _EXEMPT:
            return ""
        return disallow_reason(lease.url, {} if host is None else host.blocked)

    # ------------------------------------------------------------ pages

    def note(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        lease = page.lease
        if lease.found_in == BlockKind.PROBE:
            self._learn_missing(page)
            return
        if (
            lease.kind != Kind.PAGE
            or outcome.state != State.DONE
            or page.parsed is None
            or lease.visits  # what it was worth is known since the first visit
            or stored.article is ArticleResult.UNCHANGED
        ):
            return
        is_leaf = page.parsed.is_leaf
        # what another host has printed is news of this one; what this one has shown before is not
        brought = is_leaf and not stored.is_again and not stored.same_host
        if outcome.new_urls:
            self._sources[lease.id] = Source(lease.id, lease.url, lease.host_id)
        if brought and lease.found_on is not None:
            self._credit(lease.found_on)
        host = self._hosts.get(lease.host_id)  # may have been given up meanwhile
        if host is None or lease.found_in == BlockKind.SEED or (page.parsed.signs is None and not is_leaf):
            return
        self._touched.add(lease.host_id)
        blocked = host.observe(_summary_of(page, outcome, stored, brought=brought), outcome.fetched_at)
        for one in blocked:
            self._callbacks.stats[f"traps/{one.kind}"] += 1
            logger.info("trap on %s: %s, %s; %s", lease.url, one.kind, one.pattern or "the whole host", one.why)
        if blocked:
            self._callbacks.clear(lease.host_id)
            self._callbacks.start(self.write([lease.host_id]))
        # marked when the page was read, and opened since
        marked = (new for new in outcome.new_urls if new.reason is SkipReason.TRAP and new.host_id == lease.host_id)
        if host.opened or any(not disallow_reason(new.url, host.blocked) for new in marked):
            self._free_soon(lease.host_id, host)
        if host.wants_probe():
            self._callbacks.add([self._probe(lease)])

    def _credit(self, source_id: int) -> None:
        source = self._sources.get(source_id)
        if source is None:
            if len(self._unknown) < _MOST_UNKNOWN:
                self._unknown.add(source_id)
            return
        host = self._hosts.get(source.host_id)
        if host is not None:
            self._touched.add(source.host_id)
            host.credit(source.url)
            if host.opened:
                self._free_soon(source.host_id, host)

    # ------------------------------------------------------------ pages that do not exist

    def _probe(self, lease: Lease) -> NewUrl:
        return new_url(
            identify(_nonexistent(lease.url)),
            priority=self._session.config.priority,
            depth=lease.depth,
            found_in=BlockKind.PROBE,
            now=clock.now(),
            seed_id=lease.seed_id,
            again=True,
        )

    def _learn_missing(self, page: Page) -> None:
        lease = page.lease
        host = self._hosts.get(lease.host_id)
        if host is None:
            return
        parsed = page.parsed if page.status == 200 else None
        signs = None if parsed is None else parsed.signs
        host.note_missing(0 if signs is None else signs.outline, lease.url, page.fetched_at)
        self._touched.add(lease.host_id)
        if parsed is not None and parsed.is_leaf:
            title = parsed.metadata.title or ""
            notice = _notice(title, parsed.extraction.text, lease.url)
            if notice:
                self._callbacks.start(self._mark_gone(lease, title, notice))

    async def _mark_gone(self, lease: Lease, title: str, notice: int) -> None:
        titled = await self._session.read(partial(table.titled, host_id=lease.host_id, title=title))
        same = [one.id for one in titled if _notice(one.title, one.text, one.url) == notice]
        if same:
            since = iso(clock.now())
            await self._session.submit(table.mark_missing, [(key, since) for key in same])
            self._callbacks.stats["gone"] += len(same)
            logger.info("%d articles say what %s says, which does not exist: marked as gone", len(same), lease.url)

    # ------------------------------------------------------------ the table

    async def keep(self) -> None:
        reopened_at = clock.uptime()
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            await self.close()
            if clock.uptime() - reopened_at >= _REOPEN_SECONDS:
                reopened_at = clock.uptime()
                for host_id, host in list(self._hosts.items()):
                    if freed := await self._put_on_probation(host_id, host):
                        self._callbacks.adjust(freed, {host_id})

    async def close(self) -> None:
        unknown, self._unknown = sorted(self._unknown), set()
        for source in await self._session.submit(table.sources, unknown) if unknown else ():
            self._sources[source.id] = source
            self._credit(source.id)
        await self.write(list(self._touched))

    async def write(self, host_ids: Sequence[int]) -> None:
        self._touched.difference_update(host_ids)
        try:
            await self._save({host_id: self._hosts[host_id] for host_id in host_ids if host_id in self._hosts})
        except BaseException:
            self._touched.update(host_ids)
            raise

    async def _save(self, hosts: Mapping[int, HostTraps]) -> None:
        changed = [(host_id, one) for host_id, host in hosts.items() for one in host.worth_keeping()]
        for _, one in changed:
            one.changed = False
        rows = [_row_of(host_id, one) for host_id, one in changed]
        try:
            if rows:
                await self._session.submit(table.save, (self._session.resumed.run_id, rows))
        except BaseException:
            for _, one in changed:
                one.changed = True
            raise

    def _free_soon(self, host_id: int, host: HostTraps) -> None:
        host.opened = False
        self._callbacks.start(self._free(host_id))

    async def _free(self, host_id: int) -> None:
        host = self._hosts.get(host_id)
        if host is None:  # given up meanwhile: what is known is written, and whoever has it frees what waits
            return
        freed = await self._let_wait(host_id, host, sys.maxsize)
        await self.write([host_id])
        if freed:
            self._callbacks.adjust(freed, {host_id})

    async def _let_wait(self, host_id: int, host: HostTraps, chunks: int) -> int:
        last, freed = -(1 << 63), 0
        while chunks and (
            rows := await self._session.read(partial(table.skipped, host_id=host_id, after=last, most=_CHUNK))
        ):
            last, chunks = rows[-1][0], chunks - 1
            free = [url_id for url_id, url in rows if not disallow_reason(url, host.blocked)]
            freed += await self._session.submit(aliases.let_wait, (host_id, free)) if free else 0
        return freed

    # ------------------------------------------------------------ probation

    async def reopen(self) -> int:
        """Put old patterns of unheld hosts on probation; returns how many URLs wait again."""
        due = await self._session.submit(table.due, clock.now() - self._seconds)
        rows_of = await self._session.submit(table.load, due) if due else {}
        freed = 0
        for host_id, rows in rows_of.items():
            freed += await self._put_on_probation(host_id, HostTraps(self._bounds, known=map(_pattern_of, rows)))
        return freed

    async def _put_on_probation(self, host_id: int, host: HostTraps) -> int:
        if not host.reopen(clock.now() - self._seconds):
            return 0
        await self._save({host_id: host})
        return await self._let_wait(host_id, host, 1)


# ---------------------------------------------------------------- records


def _pattern_of(row: PatternRow) -> Pattern:
    return Pattern(*row[1:], changed=False)


def _row_of(host_id: int, one: Pattern) -> PatternRow:
    return PatternRow(host_id, *(getattr(one, name) for name in PatternRow._fields[1:]))


def _summary_of(page: Page, outcome: Outcome, stored: Stored, *, brought: bool) -> FetchedPage:
    """`brought`: it was a new article."""
    assert page.parsed is not None
    parsed, links, signs = page.parsed, page.parsed.links, page.parsed.signs
    meta, host_id = parsed.metadata, page.lease.host_id
    new = (
        {each.id for each in outcome.new_urls if each.host_id == host_id and not each.reason} if stored.new_urls else ()
    )
    return FetchedPage(
        page.lease.url,
        brought=brought,
        named=bool(meta.published_at or meta.authors or meta.source),
        missing=parsed.reason in {PageReason.SOFT_404, PageReason.NOTICE},
        again=stored.is_again or stored.same_host,
        sketch=0 if signs is None else signs.sketch,
        is_wall=signs is not None and signs.is_wall and not parsed.is_leaf,
        links=links.ids,
        folders=links.folders,
        found=[folder for key, folder in zip(links.ids, links.folders, strict=False) if key in new],
    )


def _nonexistent(url: str) -> str:
    folder, _, name = url.partition("?")[0].rpartition("/")
    ending = name[name.rfind(".") :] if "." in name[-6:] else ""
    return f"{folder}/{fingerprint(f'no such page {folder}') & _MASK:016x}{ending}"


def _notice(title: str, text: str, url: str) -> int:
    """Return the outline of an article; 0 for one that says too much to be a notice."""
    return outline(f"{title}\n{text}", url) if len(text) <= SHORT else 0
