"""Learn of sites while a crawl runs: memory, URL rules, traps and alarms."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from db.frontier.leases import OwnedHost
from db.records.host import ShownAlarm
from db.records.outcome import Outcome, Stored
from db.records.url import Kind, Lease

from ..response.outcome import leads_home
from .health.alarms import Alarms
from .site_memory import SiteMemory
from .traps.crawl import Callbacks, TrapRegistry
from .traps.host import Bounds
from .url_rules import UrlRules

if TYPE_CHECKING:
    from pipelines.item import Page
    from pipelines.url_rules.trap_signals import KnownTraps

    from ..run.session import Session


_RELOAD_SECONDS = 60.0
_PROBATION_DAYS = 7.0
"""After which some pages of a blocked pattern are tried again; chosen by hand: most sites change within weeks."""


class Learning:
    """All that is learned of sites; a part that is switched off is None."""

    def __init__(self, session: Session, callbacks: Callbacks) -> None:
        config = session.config
        self._session = session
        self._keep = callbacks.keep
        self.memory = SiteMemory(session, callbacks.start) if config.site_memory else None
        self.rules = UrlRules(session, callbacks.start, callbacks.adjust) if config.url_rules < 1 else None
        self.alarms = Alarms(session, config.health_window) if config.health_window else None
        bounds = Bounds(probe=config.soft_404_probe)
        self.traps = TrapRegistry(session, bounds, _PROBATION_DAYS, callbacks) if config.traps else None

    async def load(self) -> int:
        """Return how many URLs of traps wait again."""
        if self.rules is not None:
            await self.rules.load()
        return 0 if self.traps is None else await self.traps.reopen()

    def run(self) -> None:
        if self.traps is not None:
            self._keep(self.traps.keep)
        if self.alarms is not None:
            self._keep(self.alarms.run)
        if self.rules is not None and not self._session.database.is_sqlite:
            self._keep(partial(self.rules.reload, _RELOAD_SECONDS))

    async def close(self) -> Sequence[ShownAlarm]:
        if self.memory is not None:
            await self.memory.close()
        if self.traps is not None:
            await self.traps.close()
        return () if self.alarms is None else await self.alarms.close()

    # ------------------------------------------------------------ hosts come and go

    async def take_hosts(self, hosts: Sequence[OwnedHost]) -> None:
        if self.traps is not None:
            await self.traps.take(hosts)

    async def write_hosts(self, host_ids: Sequence[int]) -> None:
        if self.traps is not None:
            await self.traps.write(host_ids)
        if self.alarms is not None:
            await self.alarms.let_go(host_ids)

    async def let_go(self, host_ids: Collection[int]) -> None:
        if self.traps is not None and host_ids:
            await self.traps.let_go(host_ids)
        if self.alarms is not None and host_ids:
            await self.alarms.let_go(host_ids)

    # ------------------------------------------------------------ for a page that is to be read

    async def site_model(self, lease: Lease) -> bytes | None:
        """Return the packed model of a page's site; None when nothing is to be learned.

        Raises:
            DatabaseProblem: the database gave up.
        """
        if self.memory is None or lease.kind != Kind.PAGE:
            return None
        return await self.memory.of(lease.host_id)

    def url_rules(self, lease: Lease) -> str:
        return "" if self.rules is None else self.rules.of(lease.host_id)

    def known_traps(self, lease: Lease) -> KnownTraps | None:
        return None if self.traps is None else self.traps.known(lease)

    def trap_reason(self, lease: Lease) -> str:
        """Return the kind of trap of a URL, "" for none; called from the database thread."""
        return "" if self.traps is None else self.traps.disallow_reason(lease)

    # ------------------------------------------------------------ from a page that is stored

    def note(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        lease = page.lease
        sample = page.parsed.sample if page.parsed is not None else None
        if self.memory is not None and sample is not None and stored.article is not None and stored.article.is_added:
            self.memory.note(lease.host_id, sample)
        if self.rules is not None and lease.kind == Kind.PAGE:
            if stored.is_again or leads_home(outcome):
                self.rules.repeated(lease.host_id)
            if stored.article:
                self.rules.stored(lease.host_id)
        if self.traps is not None:
            self.traps.note(page, outcome, stored)
        if self.alarms is not None:
            self.alarms.note(page)

    async def look_again(self) -> bool:
        """Called when the frontier is empty; True if revoked rules re-queued URLs."""
        return self.rules is not None and await self.rules.look_again()
