"""Traps while a crawl runs: what the hosts of a run are known for, who is told, and what becomes of URLs that wait.

A pattern that is shut (`crawler.learn.traps`) is told to the workers, who mark its links, and to the database thread,
which skips what waits of it when it would be handed out; so nothing has to be looked for. When a pattern is opened
again, the URLs skipped for it are looked for and wait again. What is known is written every few seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from db.ownership import OwnedHost
from db.records.outcome import Outcome, Stored
from db.records.url import Claim, Kind, NewUrl, State
from db.traps import Source
from pipelines.patterns import Key, objection
from pipelines.records import BlockKind, PageKind
from pipelines.stages import Page
from pipelines.trapsigns import KnownTraps

from .. import clock
from ..outlinks import new_url
from ..session import Session
from .hooks import Hooks
from .trappages import made_up, seen_of, text_outline, trapped
from .trappattern import Bounds, open_for_trial
from .traps import HostTraps
from .traptable import TrapTable

logger = logging.getLogger(__name__)

_SAVE_SECONDS = 5.0
_TRIAL_SECONDS = 3600.0
_DAY = 86_400.0
_MOST_SOURCES = 50_000
_MOST_UNKNOWN = 2000
_HOPS = 3
_NOTHING = KnownTraps()
_EXEMPT = (BlockKind.SEED, BlockKind.PART, BlockKind.SITEMAP, BlockKind.FEED, BlockKind.PROBE)
"""What is found so is fetched whatever its pattern: the user, an article or the site's own list of pages names it."""


class Trapbook:
    """What is known of traps on the hosts that a run holds.

    Args:
        session: the open database.
        bounds: how long patterns may bring nothing.
        days: after so many days a few pages of a shut pattern are tried again.
        hooks: of the crawl.
    """

    def __init__(self, session: Session, bounds: Bounds, days: float, hooks: Hooks) -> None:
        self._priority = session.config.priority
        self._table = TrapTable(session)
        self._bounds = bounds
        self._seconds = days * _DAY
        self._hooks = hooks
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
        found = await self._table.load([host.id for host in hosts])
        for host in hosts:
            foreign = not self._hooks.is_own(host.name)
            self._hosts[host.id] = HostTraps(self._bounds, foreign=foreign, known=found[host.id])

    async def let_go(self, host_ids: Iterable[int]) -> None:
        """Forget what is known of hosts that the run gives up. It has to be written first: another may have them now.

        Raises:
            DatabaseProblem: the database gave up.
        """
        ids = list(host_ids)
        await self.write(ids)
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
        shut = host.observe(seen_of(page, outcome, stored, brought=brought), outcome.fetched_at)
        for one in shut:
            self._hooks.totals[f"traps/{one.kind}"] += 1
            logger.info("trap on %s: %s, %s; %s", claim.url, one.kind, one.text or "the whole host", one.why)
        if shut:
            self._hooks.clear(claim.host_id)
            self._hooks.start(self.write([claim.host_id]))
        if any(not objection(url, host.shut) for url in trapped(outcome)):  # opened while the page was being read
            self._hooks.start(self._free(claim.host_id))
        if host.wants_probe():
            self._hooks.start(self._hooks.add([self._probe(claim)]))

    def _probe(self, claim: Claim) -> NewUrl:
        """An address in the folder of a page that nobody has made."""
        return new_url(
            made_up(claim.url),
            Kind.PAGE,
            priority=self._priority,
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
        worked = page.worked if page.status == 200 else None
        signs = None if worked is None else worked.signs
        host.answered(0 if signs is None else signs.outline, page.claim.url, page.fetched_at)
        self._touched.add(page.claim.host_id)
        if worked is not None and worked.parsed.kind is PageKind.ARTICLE:
            title = worked.parsed.metadata.title or ""
            outline = text_outline(title, worked.parsed.extraction.text, page.claim.url)
            if outline:
                self._hooks.start(self._take_back(page.claim, title, outline))

    async def _take_back(self, claim: Claim, title: str, outline: int) -> None:
        """Mark what was stored before it was known that the host shows it when there is no such page."""
        count = await self._table.take_back(claim.host_id, title, outline)
        if count:
            self._hooks.totals["gone"] += count
            logger.info("%d articles say what %s says, which nobody has made: marked as gone", count, claim.url)

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
                    self._hooks.start(self._free(source.host_id))
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
            for source in await self._table.sources(unknown):
                self._remember(source)
                self._credit(source.id, _HOPS)
        await self.write(list(self._touched))

    async def write(self, host_ids: Sequence[int]) -> None:
        """Write what is new of some hosts.

        Raises:
            DatabaseProblem: the database gave up.
        """
        changed = [(key, one) for key in host_ids if key in self._hosts for one in self._hosts[key].worth_keeping()]
        self._touched.difference_update(host_ids)
        if not changed:
            return
        for _, one in changed:
            one.changed = False
        try:
            await self._table.save(changed)
        except BaseException:
            for host_id, one in changed:
                one.changed = True
                self._touched.add(host_id)
            raise

    async def _free(self, host_id: int) -> None:
        """Let URLs wait again that belong to no shut pattern any longer."""
        host = self._hosts.get(host_id)
        if host is None:  # given up meanwhile: what is known is written, and whoever has it frees what waits
            return
        freed = await self._table.free(host_id, lambda: host.shut)
        await self.write([host_id])
        if freed:
            self._hooks.changed(host_id, freed)

    # ------------------------------------------------------------ another trial

    async def try_again(self) -> int:
        """Let a few URLs wait of patterns that were shut long ago, on hosts that nobody crawls; returns how many.

        Raises:
            DatabaseProblem: the database gave up.
        """
        freed = 0
        for host_id, patterns in (await self._table.due(clock.now() - self._seconds)).items():
            for one in patterns:
                open_for_trial(one, self._bounds)
            await self._table.save([(host_id, one) for one in patterns])
            freed += await self._table.release(host_id, [(one.level, one.text) for one in patterns])
        return freed

    async def _try_own(self) -> None:
        """The same for the hosts that this run holds."""
        for host_id, host in list(self._hosts.items()):
            keys = [key for key in host.shut_before(clock.now() - self._seconds) if host.try_again(key)]
            if keys:
                await self.write([host_id])
                self._hooks.changed(host_id, await self._table.release(host_id, keys))
