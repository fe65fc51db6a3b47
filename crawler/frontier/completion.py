"""A page that has been read: judged, stored in one transaction, and memory brought in line with the table."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from db.articles.page_transaction import Store
from db.engine.errors import DatabaseProblem
from db.frontier import claims as table
from db.records.outcome import Outcome, Stored
from db.records.url import Kind, State
from pipelines.articles.changes import differs
from pipelines.articles.multipage import make_joiner
from pipelines.dedup.judge import DuplicateJudge

from ..response import outcome as outcomes
from ..response.context import Rulebook
from ..response.outcome import depth_memory, internal_error
from ..response.revisit import settle
from ..run.stats import count
from .robots_update import NewRules

if TYPE_CHECKING:
    from db.records.outcome import Joined
    from pipelines.stages import Page

    from ..learn.learning import Learning
    from ..politeness.hosts import Hosts
    from ..response.seed_scope import Seeds
    from ..response.seen_urls import KnownUrls
    from ..run.background import Background
    from ..run.session import Session
    from .host_queues import Window
    from .refill import Supply
    from .rescore import Ranker
    from .watch import Watch


logger = logging.getLogger(__name__)


class Storing:
    """Writes what came of pages, and tells everyone concerned.

    Args:
        session: the open database.
        window, supply: the URLs in memory, and what brings them there.
        hosts, seeds, known: what is known of hosts, of seeds, of URLs.
        learning: what is learned of sites.
        ranker: what scores the queue again.
        watch: what queues URLs again, when the crawl is to go on for ever.
        totals: where pages are counted.
        background: where work is begun, and faults end the crawl.
        stored: told a URL whose page is stored, or never will be.
    """

    def __init__(
        self,
        session: Session,
        window: Window,
        supply: Supply,
        *,
        hosts: Hosts,
        seeds: Seeds,
        known: KnownUrls,
        learning: Learning,
        ranker: Ranker,
        watch: Watch | None,
        totals: Counter[str],
        background: Background,
        stored: Callable[[int], None],
    ) -> None:
        config = session.config
        method = config.duplicate_method
        judge = DuplicateJudge(method, config.duplicates)
        self._session = session
        self._window = window
        self._supply = supply
        self._hosts = hosts
        self._seeds = seeds
        self._known = known
        self._learning = learning
        self._ranker = ranker
        self._watch = watch
        self._totals = totals
        self._background = background
        self._is_stored = stored
        self._store = Store(session.resumed.run_id, judge, session.signatures, make_joiner(method.sign), differs)
        self._new_rules = NewRules(session, window, hosts, seeds, supply=supply, start=background.start)

    async def store(self, page: Page) -> Stored:
        """Write what came of a page in one transaction and take over its links.

        Raises:
            DatabaseProblem: the database gave up; the crawl is being stopped.
        """
        page.stored = True
        try:
            outcome, stored = await self._write(page)
        except DatabaseProblem as problem:
            self._background.give_up(problem)
            raise
        except Exception as error:
            self._background.failed(error)
            raise
        finally:
            self._is_stored(page.claim.id)
        self._took(page, outcome, stored)
        return stored

    async def finish(self) -> list[Joined]:
        """Store some of the articles that wait for parts which will not come; nothing is left when it returns none.

        Raises:
            DatabaseProblem: the database gave up.
        """
        return await self._session.submit(self._store.finish, None)

    async def _write(self, page: Page) -> tuple[Outcome, Stored]:
        """Store a page; one that cannot be, through a fault of ours, is marked failed, never left as if it were."""
        try:
            outcome = await self._judged(page)
            # while there is something else to fetch, pages may wait for each other and share a transaction
            write = self._session.gather if len(self._window) else self._session.submit
            return outcome, await write(self._store.store, outcome)
        except DatabaseProblem:
            raise
        except Exception as error:
            logger.error("%s could not be stored", page.claim.url, exc_info=error)
            outcome = internal_error(page, error)
        try:
            return outcome, await self._session.submit(self._store.store, outcome)
        except DatabaseProblem:
            raise
        except Exception as error:  # else it would be leased for ever, and fetched again and again
            logger.error("%s: that could not be stored either", page.claim.url, exc_info=error)
            failure = (self._session.resumed.run_id, page.claim.id, outcome.detail)
            await self._session.submit(table.abandon, failure)
            return outcome, Stored()

    async def _judged(self, page: Page) -> Outcome:
        """What a page means."""
        config, claim = self._session.config, page.claim
        rulebook = Rulebook(
            priority=config.priority,
            tries=config.tries,
            redirects=config.redirects,
            depth=self._seeds.depth_of(claim.seed_id),
            known=self._known,
            extractor=config.extractor,
            objection=self._hosts.foreseen,
            focus=config.focus,
            robots_hosts=self._hosts.hosts_of_robots(claim),
            robots_again=self._hosts.robots_again(claim),
            robots_bytes=config.robots_bytes,
            resting=self._hosts.troubles.is_resting(claim.host_id),
        )
        judged = replace(outcomes.judge(page, rulebook), ready_at=page.ready_at)
        for _, _, text in judged.robots[:1]:  # the same for all
            await self._hosts.foreread(text)
        return settle(page, judged, config.schedule)

    def _took(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        """A page is stored: bring memory in line with the table."""
        claim = page.claim
        count(self._totals, page, outcome, stored)
        for key, depth in depth_memory(outcome):
            self._known.note(key, depth)
        if outcome.seed_host is not None:
            self._seeds.adopt(*outcome.seed_host)
        if claim.kind == Kind.ROBOTS and outcome.state != State.PENDING:
            self._new_rules.came(claim, outcome)
        self._learning.note(page, outcome, stored)
        self._queue(outcome, stored)
        self._supply.top_up()
        if self._ranker.is_due(self._totals["pages"]):
            self._background.start(self._ranker.hold(self._totals["pages"]))

    def _queue(self, outcome: Outcome, stored: Stored) -> None:
        """Say what waits now, and what will at some time."""
        best: dict[int, float] = {}
        for new in outcome.new_urls:
            if not new.reason:
                best[new.host_id] = max(new.score, best.get(new.host_id, new.score))
        waits = outcome.state == State.PENDING and outcome.next_visit is not None
        # a page that was on its way when its host was given up is skipped like the others
        if waits and not self._hosts.is_closed(outcome.claim.host_id):
            self._supply.later(outcome.next_visit or 0.0, outcome.claim.host_id)
        else:
            self._supply.found(best, stored.hosts)
            if self._watch is not None:
                self._watch.note(stored.next_visit if outcome.seen is not None else outcome.next_visit)
