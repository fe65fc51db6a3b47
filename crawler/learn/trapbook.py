"""Traps while a crawl runs: what the hosts of a run are known for, who is told, and what becomes of URLs that wait.

A pattern that is shut (`crawler.learn.traps`) is told to the workers, who mark its links, and to the database thread,
which skips what waits of it when it would be handed out; so nothing has to be looked for. When a pattern is opened
again, the URLs skipped for it are looked for and wait again. What is known is written every few seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from db import traps as table
from db.found import NewUrl
from db.frontier import Claim
from db.keys import fingerprint
from db.outcome import Outcome, Stored
from db.ownership import OwnedHost
from db.tables import Kind, State
from db.traps import PatternRow, Source
from db.urlrules import look_up
from pipelines.patterns import PREFIX, Key, objection
from pipelines.records import BlockKind, PageKind
from pipelines.stages import Page
from pipelines.trapsigns import KnownTraps

from .. import clock
from ..outlinks import new_url
from ..session import Session
from .traps import TRIAL_PAGES, Bounds, HostTraps, Pattern, Seen, open_for_trial

logger = logging.getLogger(__name__)

_SAVE_SECONDS = 5.0
_TRIAL_SECONDS = 3600.0
_DAY = 86_400.0
_CHUNK = 500
_LOOKED_AT = 2000
_MOST_SOURCES = 50_000
_MOST_UNKNOWN = 2000
_HOPS = 3
_MASK = (1 << 64) - 1
_NOTHING = KnownTraps()
_EXEMPT = (BlockKind.SEED, BlockKind.PART, BlockKind.SITEMAP, BlockKind.FEED, BlockKind.PROBE)
"""What is found so is fetched whatever its pattern: the user, an article or the site's own list of pages names it."""


class Trapbook:
    """What is known of traps on the hosts that a run holds.

    Args:
        session: the open database.
        bounds: how long patterns may bring nothing.
        days: after so many days a few pages of a shut pattern are tried again.
        totals: where traps are counted.
        is_own: whether a host, by its name, is one that the seeds mean.
        start: runs a coroutine in the background and sees to its exceptions.
        add: adds URLs to the frontier.
        clear: told a host of which some URLs that are held may not be wanted any more.
        changed: told a host and how many more of its URLs wait.
    """

    def __init__(
        self,
        session: Session,
        bounds: Bounds,
        days: float,
        *,
        totals: Counter[str],
        is_own: Callable[[str], bool],
        start: Callable[[Coroutine[Any, Any, None]], None],
        add: Callable[[Sequence[NewUrl]], Coroutine[Any, Any, None]],
        clear: Callable[[int], None],
        changed: Callable[[int, int], None],
    ) -> None:
        self._session = session
        self._bounds = bounds
        self._seconds = days * _DAY
        self._totals = totals
        self._is_own = is_own
        self._start = start
        self._add = add
        self._clear = clear
        self._changed = changed
        self._hosts: dict[int, HostTraps] = {}
        self._touched: set[int] = set()
        self._sources: dict[int, Source] = {}
        self._older: dict[int, Source] = {}
        self._unknown: set[int] = set()

    # ------------------------------------------------------------ hosts come and go

    async def take(self, hosts: Sequence[OwnedHost]) -> None:
        """Read what is known of hosts that the run has just taken over, before anything of them is handed out.

        Raises:
            DatabaseProblem: the database gave up.
        """
        found = await self._session.submit(table.load, [host.id for host in hosts])
        for host in hosts:
            known = map(pattern_of, found[host.id])
            self._hosts[host.id] = HostTraps(self._bounds, foreign=not self._is_own(host.name), known=known)

    async def let_go(self, host_ids: Iterable[int]) -> None:
        """Write what is known of hosts that the run gives up, and forget it.

        Raises:
            DatabaseProblem: the database gave up.
        """
        ids = list(host_ids)
        await self._save(ids)
        for host_id in ids:
            self._hosts.pop(host_id, None)
            self._touched.discard(host_id)

    def shut_of(self, host_id: int) -> Mapping[Key, str]:
        """Patterns of a host that are shut, with their kinds."""
        host = self._hosts.get(host_id)
        return {} if host is None else host.shut

    def known(self, claim: Claim) -> KnownTraps:
        """What is known of the traps of a claim's host."""
        host = self._hosts.get(claim.host_id)
        if host is None:
            return _NOTHING
        if claim.found_in == BlockKind.PROBE:
            return KnownTraps(missing=())
        return KnownTraps(host.shut, None if claim.found_in in _EXEMPT else host.missing)

    def objection(self, claim: Claim) -> str:
        """Why a URL is not to be fetched, or an empty string. Called from the database thread."""
        if claim.kind != Kind.PAGE or claim.visits or claim.found_in in _EXEMPT:
            return ""
        return objection(claim.url, self.shut_of(claim.host_id))

    # ------------------------------------------------------------ pages

    def note(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        """A page has been stored."""
        claim = page.claim
        if claim.found_in == BlockKind.PROBE:
            self._learn_missing(page)
            return
        if (
            claim.kind != Kind.PAGE
            or outcome.state != State.DONE
            or page.worked is None
            or claim.visits  # what it was worth is known since the first visit
            or stored.article == "unchanged"
        ):
            return
        parsed = page.worked.parsed
        # what another host has printed is news of this one; what this one has shown before is not
        brought = parsed.kind is PageKind.ARTICLE and stored.article != "same page" and not stored.same_host
        if brought:
            self._credit(claim.found_on, _HOPS)
        elif outcome.new_urls:
            self._remember(Source(claim.id, claim.url, claim.host_id, claim.found_on))
        if claim.found_in == BlockKind.SEED or (page.worked.signs is None and parsed.kind is not PageKind.ARTICLE):
            return
        host = self._hosts.get(claim.host_id)
        if host is None:  # given up meanwhile
            return
        self._touched.add(claim.host_id)
        shut = host.observe(_seen(page, outcome, stored, brought=brought), outcome.fetched_at)
        for one in shut:
            self._totals[f"traps/{one.kind}"] += 1
            logger.info("trap on %s: %s, %s; %s", claim.url, one.kind, one.text or "the whole host", one.why)
        if shut:
            self._clear(claim.host_id)
            self._start(self._save([claim.host_id]))
        if host.wants_probe():
            self._start(self._add([self._probe(claim)]))

    def _probe(self, claim: Claim) -> NewUrl:
        """An address in the folder of a page that nobody has made."""
        folder, _, name = claim.url.partition("?")[0].rpartition("/")
        ending = name[name.rfind(".") :] if "." in name[-6:] else ""
        made_up = f"{folder}/{fingerprint(f'no such page {folder}') & _MASK:016x}{ending}"
        return new_url(
            made_up,
            Kind.PAGE,
            priority=self._session.config.priority,
            depth=claim.depth,
            found_in=BlockKind.PROBE,
            now=clock.now(),
            seed_id=claim.seed_id,
            again=True,
        )

    def _learn_missing(self, page: Page) -> None:
        """What a host shows when there is no such page."""
        host = self._hosts.get(page.claim.host_id)
        if host is None:
            return
        signs = page.worked.signs if page.worked is not None and page.status == 200 else None
        host.answered(0 if signs is None else signs.outline, page.claim.url, page.fetched_at)
        self._touched.add(page.claim.host_id)

    def _credit(self, source_id: int | None, hops: int) -> None:
        """An article was found: so much for the pages that led there."""
        while source_id is not None and hops:
            source = self._sources.get(source_id) or self._older.get(source_id)
            if source is None:
                if len(self._unknown) < _MOST_UNKNOWN:
                    self._unknown.add(source_id)
                return
            host = self._hosts.get(source.host_id)
            if host is not None:
                self._touched.add(source.host_id)
                if host.credit(source.url):
                    self._start(self._free(source.host_id))
            source_id, hops = source.found_on, hops - 1

    def _remember(self, source: Source) -> None:
        self._sources[source.id] = source
        if len(self._sources) >= _MOST_SOURCES // 2:
            self._older, self._sources = self._sources, {}

    # ------------------------------------------------------------ the table

    async def keep(self) -> None:
        """Write what is new again and again, and try again what was shut long ago."""
        tried_at = clock.uptime()
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            await self._settle()
            if clock.uptime() - tried_at >= _TRIAL_SECONDS:
                tried_at = clock.uptime()
                await self._try_own()

    async def close(self) -> None:
        """Write what is new.

        Raises:
            DatabaseProblem: the database gave up.
        """
        await self._settle()

    async def _settle(self) -> None:
        unknown, self._unknown = sorted(self._unknown), set()
        if unknown:
            for source in await self._session.submit(table.sources, unknown):
                self._remember(source)
                self._credit(source.id, _HOPS)
        await self._save(list(self._touched))

    async def _save(self, host_ids: Sequence[int]) -> None:
        changed = [(key, one) for key in host_ids if key in self._hosts for one in self._hosts[key].worth_keeping()]
        self._touched.difference_update(host_ids)
        if not changed:
            return
        rows = [row_of(host_id, one) for host_id, one in changed]
        for _, one in changed:
            one.changed = False
        try:
            await self._session.submit(table.save, rows)
        except BaseException:
            for host_id, one in changed:
                one.changed = True
                self._touched.add(host_id)
            raise

    async def _free(self, host_id: int) -> None:
        """Let URLs wait again that belong to no shut pattern any longer."""
        shut, last, freed = self.shut_of(host_id), -(1 << 63), 0
        loop = asyncio.get_running_loop()
        while True:
            rows = await loop.run_in_executor(None, self._skipped, host_id, last)
            if not rows:
                break
            last = rows[-1].id
            free = [row.id for row in rows if not objection(row.url, shut)]
            freed += await self._session.submit(table.let_wait, (host_id, free)) if free else 0
        await self._save([host_id])
        if freed:
            self._changed(host_id, freed)

    def _skipped(self, host_id: int, after: int, most: int = _CHUNK) -> list[table.Skipped]:
        return look_up(self._session.database, lambda connection: table.skipped(connection, host_id, after, most))

    # ------------------------------------------------------------ another trial

    async def try_again(self) -> int:
        """Let a few URLs wait of patterns that were shut long ago, on hosts that nobody crawls; returns how many.

        Raises:
            DatabaseProblem: the database gave up.
        """
        by_host: dict[int, list[Pattern]] = {}
        for row in await self._session.submit(table.due, clock.now() - self._seconds):
            by_host.setdefault(row.host_id, []).append(pattern_of(row))
        freed = 0
        for host_id, patterns in by_host.items():
            for one in patterns:
                open_for_trial(one, self._bounds)
            await self._session.submit(table.save, [row_of(host_id, one) for one in patterns])
            freed += await self._release(host_id, [(one.level, one.text) for one in patterns])
        return freed

    async def _try_own(self) -> None:
        """The same for the hosts that this run holds."""
        for host_id, host in list(self._hosts.items()):
            keys = [key for key in host.shut_before(clock.now() - self._seconds) if host.try_again(key)]
            if keys:
                await self._save([host_id])
                self._changed(host_id, await self._release(host_id, keys))

    async def _release(self, host_id: int, keys: Sequence[Key]) -> int:
        """Let some of the URLs wait that were skipped for each of these patterns."""
        rows = await asyncio.get_running_loop().run_in_executor(None, self._skipped, host_id, -(1 << 63), _LOOKED_AT)
        chosen: set[int] = set()
        for key in keys:
            of_it = [row.id for row in rows if objection(row.url, {key: "it"}) == f"{PREFIX}it"]
            chosen.update(of_it[:: max(1, len(of_it) // TRIAL_PAGES)][:TRIAL_PAGES])
        return await self._session.submit(table.let_wait, (host_id, sorted(chosen))) if chosen else 0


def pattern_of(row: PatternRow) -> Pattern:
    """A pattern as it is remembered."""
    return Pattern(
        row.pattern,
        row.level,
        pages=row.pages,
        brought=row.brought,
        reached=row.reached,
        barren=row.barren,
        grown=row.grown,
        kind=row.kind,
        shut_at=row.shut_at,
        why=row.why,
        example=row.example,
        trial=bool(row.trial),
        changed=False,
    )


def row_of(host_id: int, one: Pattern) -> PatternRow:
    """A pattern as the table holds it."""
    return PatternRow(
        host_id,
        one.level,
        one.text,
        one.pages,
        one.brought,
        one.reached,
        one.barren,
        one.grown,
        one.kind,
        one.shut_at,
        int(one.trial),
        one.why,
        one.example,
    )


def _seen(page: Page, outcome: Outcome, stored: Stored, *, brought: bool) -> Seen:
    """A page as far as traps are concerned."""
    assert page.worked is not None
    parsed, targets, signs = page.worked.parsed, page.worked.targets, page.worked.signs
    meta = parsed.metadata
    return Seen(
        page.claim.url,
        brought=brought,
        named=bool(meta.published_at or meta.authors or meta.source),
        missing=parsed.reason == "soft 404",
        again=stored.article == "same page" or stored.same_host,
        sketch=0 if signs is None else signs.sketch,
        is_wall=signs is not None and signs.is_wall and parsed.kind is not PageKind.ARTICLE,
        links=targets.ids,
        folders=targets.folders,
        found=_found(page, outcome, stored),
    )


def _found(page: Page, outcome: Outcome, stored: Stored) -> list[int]:
    """Folders of the URLs of its own host that a page was the first to name."""
    assert page.worked is not None
    if not stored.new_urls:
        return []
    targets, own = page.worked.targets, page.claim.host_id
    new = {each.id for each in outcome.new_urls if each.host_id == own and not each.reason}
    return [folder for key, folder in zip(targets.ids, targets.folders, strict=False) if key in new]
