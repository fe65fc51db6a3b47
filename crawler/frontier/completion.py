"""Judge a page, store it in one transaction, bring memory in line with the table."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from db.articles.page_transaction import Store
from db.engine.errors import DatabaseGone, DatabaseProblem
from db.frontier import claims as table
from db.records.outcome import Outcome, Stored
from db.records.url import Kind, State
from pipelines.articles.changes import differs
from pipelines.articles.multipage import make_joiner
from pipelines.dedup.judge import DuplicateJudge
from pipelines.describe import describe, judge_harm
from pipelines.item import Page
from pipelines.records import BlockKind
from pipelines.search.terms import index_terms
from pipelines.worker import FaultLog

from .. import clock
from ..corpus.warc_records import PROBE, Fetch
from ..corpus.warc_writer import Archive, ArchiveError
from ..learn.learning import Learning
from ..politeness.hosts import Hosts
from ..politeness.outage import Outage
from ..response import outcome as outcomes
from ..response.context import Context
from ..response.cookie_states import CookieStates
from ..response.outcome import depth_memory, internal_error
from ..response.revisit import next_visit, settle
from ..response.seed_scope import SeedScope
from ..response.seen_urls import KnownUrls
from ..run.background import Background, EngineCallbacks
from ..run.session import Session
from ..run.stats import count
from .pending import PendingUrls, best_scores
from .rescore import Rescorer
from .robots_update import RobotsUpdate
from .undescribed import Undescribed
from .watch import Watch

logger = logging.getLogger(__name__)


class PageCompletion:
    def __init__(
        self,
        session: Session,
        pending: PendingUrls,
        *,
        hosts: Hosts,
        seeds: SeedScope,
        urls: KnownUrls,
        outage: Outage,
        robots: RobotsUpdate,
        learning: Learning,
        rescorer: Rescorer,
        watch: Watch | None,
        undescribed: Undescribed,
        background: Background,
        engine: EngineCallbacks,
        archive: Archive | None = None,
    ) -> None:
        config = session.config
        method = config.duplicate_method
        judge = DuplicateJudge(method, config.duplicates)
        self._session = session
        self._pending = pending
        self._queues = pending.queues
        self._hosts = hosts
        self._seeds = seeds
        self._urls = urls
        self._outage = outage
        self._robots = robots
        self._learning = learning
        self._rescorer = rescorer
        self._watch = watch
        self._undescribed = undescribed
        self._background = background
        self._engine = engine
        self._archive = archive
        self._cookies = CookieStates(engine.cookies)
        self._reconnects = session.line.reconnects
        self._faults = FaultLog("could not be stored")
        used = judge_harm if config.describes_later else describe
        joiner = make_joiner(method.sign, partial(used, config.parse_options.describe))
        self._store = Store(
            session.resumed.run_id,
            judge,
            session.signatures,
            joiner,
            index_terms,
            differs,
            dealing=session.dealing,
            next_visit=partial(next_visit, schedule=config.schedule),
        )

    async def store(self, page: Page) -> Stored:
        """Write what came of a page in one transaction and take over its links.

        Raises:
            DatabaseProblem: the database gave up; the crawl is being stopped.
        """
        try:
            page = await self._archived(page)
            outcome, stored = await self._write(page)
        except ArchiveError as problem:
            self._background.give_up(problem, "archive")
            raise DatabaseGone(str(problem)) from problem
        except DatabaseProblem as problem:
            self._background.give_up(problem)
            raise
        except Exception as error:
            self._background.failed(error)
            raise
        finally:
            self._queues.stored(page.lease.id)
            self._engine.stored(page.lease.id)
        self._completed(page, outcome, stored)
        return stored

    async def finish(self) -> bool:
        """Store articles whose missing parts will not come; True if URLs wait again.

        Called when the frontier is empty.
        """
        if await self._learning.look_again():
            return True
        while (finished := await self._session.submit(self._store.finish, None)).joined:
            self._session.stats.update(one.what for one in finished.joined)
            self._undescribed.note(None, finished)
            await self._engine.export(finished.beside)
        return False

    async def _archived(self, page: Page) -> Page:
        if self._archive is None or page.wire is None:
            return page
        lease = page.lease
        purpose = "" if lease.kind == Kind.PAGE else lease.kind
        if lease.found_in == BlockKind.PROBE:
            purpose = PROBE
        known_at = lease.fetched_at if lease.is_revisit else None
        fetch = Fetch(lease.url, page.fetched_at, page.wire, page.address, purpose, known_at)
        if page.dom:  # before its page, so that who reads on has it when that comes
            await self._archive.conversion(lease.url, page.dom, clock.now(), page.fetched_at)
        return replace(page, wire=None, archived=await self._archive.keep(fetch))

    async def _write(self, page: Page) -> tuple[Outcome, Stored]:
        try:
            outcome = await self._judged(page)
            # while there is something else to fetch, pages may wait for each other and share a transaction
            write = self._session.gather if len(self._queues) else self._session.submit
            return outcome, await write(self._store.store, outcome)
        except DatabaseProblem:
            raise
        except Exception as error:  # noqa: BLE001 - of whatever kind: it costs this page only
            self._faults.note(page.lease.url, error)
            outcome = settle(page, internal_error(page, error), self._session.config.schedule)
        try:
            return outcome, await self._session.submit(self._store.store, outcome)
        except DatabaseProblem:
            raise
        except Exception as error:  # else it would be leased for ever, and fetched again and again
            logger.error("%s: that could not be stored either", page.lease.url, exc_info=error)
            failure = (self._session.resumed.run_id, page.lease.id, outcome.detail)
            await self._session.submit(table.abandon, failure)
            return outcome, Stored()

    async def _judged(self, page: Page) -> Outcome:
        config, lease, hosts = self._session.config, page.lease, self._hosts
        if self._session.line.reconnects != self._reconnects:  # what was said to be stored may not be
            self._reconnects = self._session.line.reconnects
            self._urls.clear()
        self._cookies.note(page)
        context = Context(
            priority=config.priority,
            tries=config.tries,
            redirects=config.redirects,
            depth=self._seeds.depth_of(lease.seed_id),
            known=self._urls,
            extractor=config.extractor,
            extractor_version=config.extractor_version,
            disallow_reason=hosts.cached_reason,
            focus=config.focus,
            honours_noindex=config.honours_noindex,
            harmful=config.harmful,
            robots_hosts=hosts.hosts_of_robots(lease),
            robots_again=hosts.robots_again(lease),
            robots_bytes=config.robots_bytes,
            in_backoff=self._outage.suspected or hosts.errors.is_in_backoff(lease.host_id),
            cookies=self._cookies,
        )
        judged = outcomes.judge(page, context)
        self._cookies.count_away(page, judged)
        for _, _, text in judged.robots[:1]:  # the same for all
            await hosts.parse_ahead(text)
        settled = settle(page, judged, config.schedule)
        return _never_again(settled) if page.recorded and lease.seed_id is None else settled

    def _completed(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        lease, stats = page.lease, self._session.stats
        count(stats, page, outcome, stored)
        for key, depth in depth_memory(outcome):
            self._urls.note(key, depth)
        if outcome.seed_host is not None:
            self._seeds.adopt(*outcome.seed_host)
        if lease.kind == Kind.ROBOTS and outcome.state != State.PENDING:
            self._robots.stored(lease, outcome)
        if not (page.error and self._outage.suspected):  # which says nothing of the host
            try:
                self._learning.note(page, outcome, stored)
            except Exception as error:  # noqa: BLE001 - of whatever kind: it knows less, and the crawl goes on
                self._background.helper_failed("Learning.note", error)
        self._undescribed.note(outcome.article, stored)
        self._queue(outcome, stored)
        if self._rescorer.is_due(stats["pages"]):
            self._background.start_helper(self._rescorer.rescore(stats["pages"]))

    def _queue(self, outcome: Outcome, stored: Stored) -> None:
        self._pending.count += stored.queued + (outcome.state == State.PENDING)
        waits = outcome.state == State.PENDING and outcome.next_visit is not None
        # a page that was on its way when its host was given up is skipped like the others
        if waits and not self._hosts.is_closed(outcome.lease.host_id):
            self._pending.later(outcome.next_visit or 0.0, outcome.lease.host_id)
        else:
            self._pending.found(stored.hosts, best_scores(outcome.new_urls))
            if self._watch is not None:
                self._watch.note(stored.next_visit if outcome.visit is not None else outcome.next_visit)


def _never_again(outcome: Outcome) -> Outcome:
    """Plan no visit of a URL of an archive: nobody has asked for its site."""
    if outcome.state == State.PENDING:
        return outcome
    visit = None if outcome.visit is None else replace(outcome.visit, is_last=True)
    return replace(outcome, next_visit=None, visit=visit)
