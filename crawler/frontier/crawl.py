"""Build all parts of a crawl before the scheduler gets them; close them.

`Background` and `EngineCallbacks` exist without a database; a `Crawl` exists as soon as one is open. The parts know
those below them only:

    Session                     the open database
    HostQueues, PendingUrls     leased URLs in memory, what waits in the table
    Learning, Rescorer, Watch, HostBackoff, RobotsUpdate
    PageCompletion              stores pages and tells those
    Undescribed                 describes stored articles while workers are free
    HeldHosts, Idle, Refiller   what brings URLs into memory
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.desk.file import DeskFile
from db.engine.errors import DatabaseProblem
from db.queries import articles
from db.records.article import ArticleItem
from db.records.host import ShownAlarm
from db.records.lease import Waiting
from db.records.outcome import Stored
from db.records.run import FAILED
from db.records.url import Kind, Lease
from db.records.visit import Unread
from db.shards.databases import Shards
from pipelines.document.selectors import Selectors
from pipelines.focus.topic import Topic
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.url_rules.trap_signals import KnownTraps

from .. import clock
from ..corpus.replay import Replay, archives_of
from ..corpus.warc_records import SUBREQUEST, Fetch
from ..corpus.warc_writer import Archive, ArchiveError
from ..desk.watcher import Watcher
from ..learn.learning import Learning
from ..learn.rendering import Rendering
from ..learn.traps.crawl import Callbacks
from ..options.alerts import desk_path
from ..options.config import Config
from ..options.seeds import ArchiveSeeds
from ..options.values import ConfigError
from ..politeness.hosts import Hosts
from ..politeness.ip_clock import SharedClocks
from ..politeness.outage import Outage
from ..render.renderer import Renderer
from ..render.requests import BrowserRequests, HostTurns
from ..response.seed_scope import SeedScope
from ..response.seen_urls import KnownUrls
from ..run.background import Background, EngineCallbacks
from ..run.exit_codes import EXIT_DATABASE, EXIT_FAULT, EXIT_FINISHED, EXIT_NOTHING, EXIT_STOPPED
from ..run.exporters import export_command
from ..run.session import WATCH, Session
from . import retention
from .completion import PageCompletion
from .exchange import Exchange
from .held_hosts import HeldHosts
from .host_backoff import HostBackoff
from .host_queues import HostQueues
from .idle import Idle
from .pending import PendingUrls
from .refill import Refiller
from .rescore import Rescorer
from .robots_update import RobotsUpdate
from .undescribed import Undescribed
from .watch import Watch

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_MOST_KNOWN = 400_000


@dataclass(frozen=True, slots=True)
class Ended:
    left: Waiting | None = None
    unread: Unread = field(default_factory=Unread)
    alarms: Sequence[ShownAlarm] = ()


@dataclass(frozen=True, slots=True)
class Crawl:
    """An open crawl; also the `PageServices` of the spider and the stages."""

    session: Session
    background: Background
    seeds: SeedScope
    queues: HostQueues
    pending: PendingUrls
    outage: Outage
    backoff: HostBackoff
    learning: Learning
    rescorer: Rescorer
    watch: Watch | None
    completion: PageCompletion
    undescribed: Undescribed
    held: HeldHosts
    idle: Idle
    refiller: Refiller
    rendering: Rendering
    exchange: Exchange | None = None
    """With the other databases of the crawl, if it has some."""
    archive: Archive | None = None
    """Of all that is fetched, if it has one."""
    alerts: Watcher | None = None
    """Tells of hits of saved searches; of a single database."""
    replay: Replay | None = None
    """Pages of an archive, if nothing else is to be read."""

    @property
    def exhausted(self) -> bool:
        return (self.replay or self.idle).exhausted

    @property
    def watches(self) -> bool:
        return self.watch is not None

    @property
    def left_elsewhere(self) -> str:
        """One sentence about work left in other databases; empty for none."""
        return self.exchange.left if self.exchange is not None else ""

    @property
    def topic(self) -> Topic | None:
        return self.rescorer.topic

    def scope_of(self, lease: Lease) -> Scope:
        return self.seeds.scope_of(lease)

    def answered(self, page: Page) -> Page:
        return page if self.replay is not None else self.backoff.answered(page)

    async def site_model(self, lease: Lease) -> bytes | None:
        """Return the packed model of a page's site; None when nothing is to be learned."""
        try:
            return await self.learning.site_model(lease)
        except DatabaseProblem as problem:  # the page cannot be stored either, and says so
            self.background.give_up(problem)
            return None

    def url_rules(self, lease: Lease) -> str:
        return self.learning.url_rules(lease)

    def selectors(self, lease: Lease) -> Selectors:
        return self.seeds.selectors_of(lease)

    def known_traps(self, lease: Lease) -> KnownTraps | None:
        return self.learning.known_traps(lease)

    def needs_browser(self, page: Page) -> bool:
        return self.rendering.needs_browser(page)

    async def render(self, page: Page) -> Page | None:
        return await self.rendering.render(page)

    async def better(self, plain: Page, rendered: Page) -> Page:
        return await self.rendering.better(plain, rendered)

    async def store(self, page: Page) -> Stored:
        return await self.completion.store(page)

    async def finish(self) -> bool:
        """Finish what waits when no more pages come; True if something is left."""
        return await self.completion.finish() or not await self.undescribed.are_done()

    async def items(self, ids: Sequence[int]) -> list[ArticleItem]:
        return await self.session.submit(articles.items, ids)

    def export_failed(self, problem: str) -> None:
        command = export_command(self.session.database)
        message = f"{problem}; nothing is lost, this writes all articles to a file: {command}"
        self.background.give_up(OSError(message), "export")

    def run(self) -> None:
        start = self.background.start
        if self.watch is not None:
            start(self.watch.keep())
        self.learning.run()
        self.background.keep_helper(partial(retention.keep, self.session, self.session.config.keep))
        self.background.keep_helper(self.undescribed.keep)
        if self.alerts is not None:
            self.background.keep_helper(self.alerts.keep)
        if self.replay is not None:
            start(self.replay.keep_alive())
            start(self.replay.run())
            return
        if self.exchange is not None:
            start(self.exchange.keep())
        start(self.refiller.keep_alive())
        start(self.refiller.run())

    async def close(self, reason: str) -> Ended:
        ended = self.background.ended
        self.backoff.tell()
        await ended(self.rendering.close(), None)
        if self.exchange is not None:
            await ended(self.exchange.close(), None)
        if reason == "finished" and not self.background.problem:
            await ended(self.rescorer.finish(self.session.stats["pages"]), None)
        await ended(self.rescorer.close(), None)
        if self.alerts is not None:
            await ended(self.alerts.close(), None)
        alarms = await ended(self.learning.close(), ())
        result = Ended()
        try:
            if self.archive is not None:
                await self.archive.close()
            result = await self._end(reason)
        except DatabaseProblem as problem:
            self.background.give_up(problem)
        except Exception as error:  # noqa: BLE001 - of whatever kind: the database is still to be closed
            self.background.failed(error)
        await self.session.close()
        return replace(result, alarms=alarms)

    async def _end(self, reason: str) -> Ended:
        left = await self.session.release_all()
        unread = await self.session.unread()
        is_answered = left.within > 0 or await self.session.is_answered()
        text = self._ending(left, unread, reason, is_answered=is_answered)
        await self.session.end(text, self.background.exit_code)
        return Ended(left=left, unread=unread)

    def _ending(self, left: Waiting, unread: Unread, reason: str, *, is_answered: bool) -> str:
        if self.background.problem:
            has_failed = self.background.exit_code in {EXIT_DATABASE, EXIT_FAULT}
            return f"{FAILED if has_failed else 'stopped'} ({self.background.problem})"
        is_left = left.within > 0 or self.undescribed.count > 0
        self.background.exit_code = EXIT_STOPPED if is_left or unread.again else EXIT_FINISHED
        if is_left:
            return f"stopped ({reason})"
        if self.left_elsewhere:
            self.background.exit_code = EXIT_STOPPED
            return f"stopped ({self.left_elsewhere})"
        if unread.again:
            return f"finished but for {unread.again} pages that could not be read"
        if not is_answered:
            self.background.exit_code = EXIT_NOTHING
            return f"{FAILED} (no seed brought a page)"
        return "stopped watching" if self.watch is not None and not self.watch.spent else "finished"


async def open_crawl(
    config: Config,
    seeds: Any,
    mode: str,
    goes_on: Callable[[], bool],
    *,
    background: Background,
    engine: EngineCallbacks,
) -> Crawl:
    """Open the database, begin a run and build a complete crawl.

    `seeds` is the path of a seeds file, or `Seed` records; `goes_on` tells whether to wait any longer for a database
    that does not answer.

    Raises:
        SeedError, DatabaseProblem: nothing was started.
    """
    files = await asyncio.to_thread(archives_of, seeds) if isinstance(seeds, ArchiveSeeds) else ()
    if files:  # of hosts that are not asked there is nothing to learn but how their pages look
        config = replace(config, traps=False, url_rules=1.0, health_window=0)
    archive = await asyncio.to_thread(_archive, config)
    session = None
    try:
        session = await Session.begin(config, seeds, mode=mode, goes_on=goes_on)
        crawl = await _build(session, background, engine, archive, watches=mode == WATCH)
        if files:
            crawl = replace(
                crawl,
                replay=Replay(
                    files,
                    session,
                    in_flight=crawl.queues.in_flight,
                    poll=crawl.pending.poll,
                    finish=crawl.finish,
                    stop=background.stop,
                ),
            )
        return crawl
    except (DatabaseProblem, ValueError):
        if session is not None:
            await session.close()
        if archive is not None:
            await archive.close()
        raise


def _archive(config: Config) -> Archive | None:
    if not config.store_warc:
        return None
    about = {
        "software": f"newscrawler/{version('newscrawler')}",
        "format": "WARC file version 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey",
    }
    try:
        return Archive(Path(config.store_warc), about)
    except ArchiveError as problem:
        raise ConfigError(str(problem)) from None


async def _build(
    session: Session, background: Background, engine: EngineCallbacks, archive: Archive | None, *, watches: bool
) -> Crawl:
    config = session.config
    hosts = Hosts(config.delay, config.backoff, config.robots_agent, keep_seconds=config.robots_keep, now=clock.now())
    seeds = SeedScope(session.resumed.seeds, config.limits.depth, config.period)
    knows_addresses = not config.fetch.proxies.resolves
    queues = HostQueues(
        depth=config.window,
        connections=config.connections,
        most_hosts=config.hosts,
        patience=config.host_patience,
        shared=SharedClocks(config.same_ip_delay) if config.same_ip_delay and knows_addresses else None,
    )
    pending = PendingUrls(session, queues, background.start, engine.poll)
    callbacks = Callbacks(
        stats=session.stats,
        is_own=seeds.owns,
        start=background.start_helper,
        keep=background.keep_helper,
        add=pending.add_soon,
        clear=pending.reconsider,
        adjust=pending.adjust,
    )
    learning = Learning(session, callbacks)
    pending.count += await learning.load()
    outage = Outage(has_seed_proxies=any(seed.proxy for seed in session.resumed.seeds))
    backoff = HostBackoff(
        session, pending, hosts=hosts, background=background, engine=engine, outage=outage, waits_on=watches
    )
    rescorer = Rescorer(session, queues)
    watch = Watch(session, pending) if watches else None
    undescribed = Undescribed(session, engine.pool if config.describes_later else None)
    completion = PageCompletion(
        session,
        pending,
        hosts=hosts,
        seeds=seeds,
        urls=KnownUrls(_MOST_KNOWN),
        outage=outage,
        robots=RobotsUpdate(session, pending, hosts=hosts, seeds=seeds, background=background),
        learning=learning,
        rescorer=rescorer,
        watch=watch,
        undescribed=undescribed,
        background=background,
        engine=engine,
        archive=archive,
    )
    held = HeldHosts(session, pending, hosts=hosts, seeds=seeds, learning=learning)
    exchange = None
    if session.neighbours is not None:
        exchange = Exchange(session, found=pending.arrived, refill=pending.refill, watches=watches)
    idle = Idle(
        session,
        pending,
        held=held,
        backoff=backoff,
        outage=outage,
        completion=completion,
        watch=watch,
        undescribed=undescribed,
        exchange=exchange,
    )
    refiller = Refiller(
        session,
        pending,
        hosts=hosts,
        seeds=seeds,
        learning=learning,
        held=held,
        backoff=backoff,
        idle=idle,
        background=background,
    )
    return Crawl(
        session=session,
        background=background,
        seeds=seeds,
        queues=queues,
        pending=pending,
        outage=outage,
        backoff=backoff,
        learning=learning,
        rescorer=rescorer,
        watch=watch,
        completion=completion,
        undescribed=undescribed,
        held=held,
        idle=idle,
        refiller=refiller,
        rendering=_rendering(session, backoff, seeds, engine, archive),
        exchange=exchange,
        archive=archive,
        alerts=_alerts(config),
    )


def _alerts(config: Config) -> Watcher | None:
    urls = Shards.read(config.database_url).urls
    if len(urls) > 1:
        return None
    return Watcher(urls[0], DeskFile(desk_path(config.desk, urls[0])), config.alerts)


def _rendering(
    session: Session, turns: HostTurns, seeds: SeedScope, engine: EngineCallbacks, archive: Archive | None
) -> Rendering:
    config = session.config
    keep = None if archive is None else partial(_keep, archive)
    seconds = config.rendering.seconds
    requests = BrowserRequests(engine.download, turns, config.robots_policy, seconds=seconds, keep=keep)
    return Rendering(
        session,
        Renderer(config.rendering),
        requests.fetch,
        asked_for=seeds.render_of,
        proxy_of=seeds.proxy_of,
        goes_on=engine.goes_on,
    )


async def _keep(archive: Archive, request: Request, response: Response) -> None:
    wire = request.meta.pop("wire", None)
    if wire is not None:
        purpose = Kind.ROBOTS if request.url.endswith("/robots.txt") else SUBREQUEST
        await archive.keep(Fetch(request.url, clock.now(), wire, str(response.ip_address or ""), purpose))
