"""Show the state of a crawl on stderr: a line now and then, a summary at the end."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, cast

from rich.cells import cell_len
from rich.live import Live
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.logformatter import LogFormatter

from db.records.reasons import FailReason, PageReason, SkipReason
from db.records.visit import MOST_UNREAD
from pipelines.item import Page
from pipelines.stages import NoArticle

from ..clock import GrowthRate
from ..learn.health.alarms import lines
from ..options.given import value_of
from ..response.new_urls import GOES_FIRST
from ..run.exit_codes import EXIT_DATABASE, EXIT_FAULT, EXIT_FINISHED, EXIT_NOTHING
from ..run.exporters import command_on, export_command
from ..terminal.text import UNBOUNDED, Terminal, guard_logs, log_as_json, one_line, shortened
from .crawl import Crawl, Ended
from .scheduler import FrontierScheduler

if TYPE_CHECKING:
    from rich.console import Console
    from scrapy import Spider
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

_LIVE_SECONDS = 0.5
_FEW_SEEDS = 3
_STOP_SECONDS = 0.1
"""Ctrl-C is acknowledged after so long."""
_LINE = ("rate", "pages", "queued", "failed", "articles", "duplicates", "undescribed", "active", "best", "waits_for")
"""Parts of the line in their order."""
_BETWEEN = " | "
_SELDOM = (
    ("visited again", "revisits"),
    ("  unchanged", "revisits/unchanged"),
    ("articles whose page is gone", "gone"),
    ("articles that repeat one of another database", "elsewhere"),
    ("hosts given up", "hosts given up"),
    ("pages rendered in a browser", "rendered"),
    ("  that said more then", "rendered/gained"),
    ("answers of the archive that are no newer than what is stored", "archive/known"),
    ("records of the archive that could not be read", "archive/passed over"),
    ("articles that an item pipeline dropped", "pipelines/dropped"),
    ("articles that an item pipeline failed on", "pipelines/failed"),
)
"""Counts that are shown when there are any: title and name."""


def _url_of(item: Any) -> Any:
    return item.lease.url if isinstance(item, Page) else getattr(item, "url", item)


class QuietFormatter(LogFormatter):
    """No log line per page or item: the table says it all, and formatting costs time."""

    def crawled(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Log no page: the table says why one is no article."""

    scraped = crawled  # type: ignore[assignment]

    def dropped(self, item: Any, exception: BaseException, response: Any, spider: Any) -> Any:
        if isinstance(exception, NoArticle):
            return None
        return super().dropped(_url_of(item), exception, response, spider)

    def item_error(self, item: Any, exception: BaseException, response: Any, spider: Any) -> Any:
        return super().item_error(_url_of(item), exception, response, spider)


class Progress:
    def __init__(self, crawler: Crawler, *, seconds: float, console: Console) -> None:
        self._crawler = crawler
        self._seconds = seconds
        self._console = console
        self._task: asyncio.Task[None] | None = None
        self._started = time.monotonic()
        self._rate = GrowthRate()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        seconds, is_json = (value_of(crawler.settings, name) for name in ("PROGRESS_SECONDS", "LOG_JSON"))
        # beside a log of JSON lines nothing else is written there
        quiet = is_json and not value_of(crawler.settings, "LOG_FILE")
        progress = cls(crawler, seconds=seconds, console=Terminal(file=sys.stderr, quiet=quiet))
        crawler.signals.connect(progress._opened, signal=signals.spider_opened)
        crawler.signals.connect(progress._closed, signal=signals.spider_closed)
        crawler.signals.connect(progress._dropped, signal=signals.item_dropped)
        crawler.signals.connect(progress._failed, signal=signals.item_error)
        return progress

    @property
    def _scheduler(self) -> FrontierScheduler:
        return cast("FrontierScheduler", self._crawler.engine.scheduler)

    def _opened(self, spider: Spider) -> None:
        crawl = self._scheduler.crawl
        if crawl is None:
            return
        resumed, woken = crawl.session.resumed, crawl.session.began.woken
        guard_logs()  # not before: Scrapy makes its handler anew when it has made the extensions
        if crawl.session.config.log_json:
            log_as_json(resumed.run_id)
        if resumed.begun_before:
            recovered = f", {resumed.recovered} of them recovered in flight from a crawl that was killed"
            self._console.print(
                f"Going on with run {resumed.run_id}: {resumed.pending} URLs pending"
                f"{recovered if resumed.recovered else ''}.",
                soft_wrap=True,
            )
        if resumed.resting:
            self._console.print(_resting(resumed.resting), soft_wrap=True, markup=False)
        if woken:
            self._console.print(f"{woken} URLs are visited again.", soft_wrap=True)
        if resumed.others:
            self._console.print(
                f"{resumed.others} other runs are at work on this database; hosts are shared with them "
                "('scrapy status' shows all).",
                soft_wrap=True,
            )
        self._task = asyncio.ensure_future(self._show(crawl))

    def _dropped(self, exception: BaseException) -> None:
        if not isinstance(exception, NoArticle) and self._scheduler.crawl is not None:
            self._scheduler.crawl.session.stats["pipelines/dropped"] += 1

    def _failed(self) -> None:
        if self._scheduler.crawl is not None:
            self._scheduler.crawl.session.stats["pipelines/failed"] += 1

    async def _show(self, crawl: Crawl) -> None:
        """The crawl goes on if showing the line fails."""
        try:
            await self._draw(crawl)
        except Exception as error:  # noqa: BLE001 - of whatever kind: the crawl goes on unseen
            crawl.background.helper_failed("Progress._show", error)

    async def _draw(self, crawl: Crawl) -> None:
        console, is_acknowledged = self._console, False
        live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        every = self._seconds if live is None else _LIVE_SECONDS
        due = time.monotonic() + every
        with live or nullcontext():
            while True:
                await asyncio.sleep(min(_STOP_SECONDS, every))
                if not is_acknowledged and not self._crawler.crawling:
                    console.print(_stopping(len(crawl.queues.in_flight)), soft_wrap=True)
                    is_acknowledged = True
                if time.monotonic() < due:
                    continue
                due += every
                if live is None:
                    console.print(f"{time.strftime('%H:%M:%S')} {self.line(crawl, UNBOUNDED)}", soft_wrap=True)
                else:
                    live.update(Text(self.line(crawl, console.width - 1)), refresh=True)

    def line(self, crawl: Crawl, width: int) -> str:
        stats, queues = crawl.session.stats, crawl.queues
        rate = self._rate.update(time.monotonic(), stats["pages"])
        queued = max(0, crawl.pending.count) + len(queues)
        active = sum(1 for host in queues.hosts.values() if host.queue or host.busy)
        best = queues.best_score()
        parts = {  # by their importance: the last ones go first
            "waits_for": crawl.session.line.waits_for,
            "pages": f"{stats['pages']} done",
            "articles": f"{stats['new'] + stats['duplicate']} articles",
            "rate": f"{rate:.1f} pages/s",
            "queued": "" if crawl.held.is_shared else f"{queued} queued",
            "failed": f"{stats['failed']} failed",
            "undescribed": f"{crawl.undescribed.count} to describe" if crawl.undescribed.count else "",
            "active": f"{active} hosts active",
            "duplicates": f"{stats['duplicate']} duplicates",
            "best": waiting_score(best),
        }
        return fitted({name: one_line(text) for name, text in parts.items() if text}, width)

    def _closed(self, spider: Spider, reason: str) -> None:
        if self._task is not None:
            self._task.cancel()
        crawl, ended = self._scheduler.crawl, self._scheduler.ended
        if crawl is None:
            return
        logger.info("%s", _ending(crawl, ended), extra={"counts": dict(crawl.session.stats)})
        self._console.print(self._summary(crawl))
        refused = crawl.session.stats[f"dropped/{FailReason.ADDRESS_REFUSED}"]
        if refused:
            self._console.print(
                f"{refused} URLs were not fetched because their address is not a public one; "
                "if they are meant, open their network with ALLOW_NETWORKS.",
                soft_wrap=True,
            )
        notes = chain(lines(ended.alarms), _unread(crawl, ended), _unrendered(crawl), _next_steps(crawl, ended))
        for line in notes:
            self._console.print(line, soft_wrap=True, markup=False)
        self._console.print(_ending(crawl, ended), soft_wrap=True)

    def _summary(self, crawl: Crawl) -> Table:
        stats, resumed = crawl.session.stats, crawl.session.resumed
        table = Table(title="This crawl", show_header=False, title_justify="left")
        table.add_column()
        table.add_column(justify="right")
        rows: list[tuple[str, object]] = []
        if resumed.begun_before:
            rows += [("pending at the start", resumed.pending), ("of them recovered in flight", resumed.recovered)]
        rows += [
            ("pages fetched", stats["pages"]),
            ("articles", stats["new"] + stats["duplicate"]),
            ("  new", stats["new"]),
            ("  duplicates of another", stats["duplicate"]),
            ("duplicates not stored", stats["dropped"]),
            ("articles updated", stats["updated"]),
            ("parts of articles of several pages", stats["part"]),
            ("other addresses of a stored article", stats["same page"]),
            ("failed", stats["failed"]),
            ("retries", stats["retries"]),
            *((title, stats[name]) for title, name in _SELDOM if stats[name]),
            ("seconds", f"{time.monotonic() - self._started:.1f}"),
        ]
        rescorer, longest_wait = crawl.rescorer, crawl.queues.longest_wait
        if rescorer.rounds:
            rows.append(("rounds of ranking, scores changed", f"{rescorer.rounds}, {rescorer.moved}"))
        if longest_wait >= 1:
            rows.append(("longest wait of a host that was ready, s", f"{longest_wait:.0f}"))
        for name, value in rows:
            table.add_row(name, one_line(value))
        for group, title in (
            ("dropped", "pages that are no article"),
            ("failed", "failed"),
            ("links", "links not followed"),
            ("doubts", "articles stored in doubt"),
            ("bounds", "left out because there was too much of it"),
        ):
            reasons = _reasons(stats, group)
            if reasons:
                table.add_section()
                table.add_row(title, "")
                for why, n in reasons.most_common(12):
                    table.add_row(f"  {one_line(why)}", str(n))
        traps = _traps(stats)
        if traps:
            table.add_section()
            table.add_row("traps: URLs not fetched ('scrapy status --traps' tells why)", "")
            for kind, n in traps.most_common(12):
                table.add_row(f"  {kind}", str(n))
        return table


def _reasons(stats: Mapping[str, int], group: str) -> Counter[str]:
    counts = {name.partition("/")[2]: n for name, n in stats.items() if name.startswith(group + "/") and n}
    return Counter({reason: n for reason, n in counts.items() if not _trap_of(reason)})


def _traps(stats: Mapping[str, int]) -> Counter[str]:
    """Count URLs skipped by kind of trap, with kinds that now have none."""
    counts: Counter[str] = Counter()
    for name, n in stats.items():
        group, _, reason = name.partition("/")
        if group == "traps":
            counts[reason] += 0
        elif kind := _trap_of(reason):
            counts[kind] += n
    return counts


def _trap_of(counted: str) -> str:
    reason, _, kind = counted.partition(": ")
    return kind if reason == SkipReason.TRAP else ""


def _unread(crawl: Crawl, ended: Ended) -> Iterator[str]:
    reasons = ", ".join(f"{one_line(why)} ({n})" for why, n in _reasons(crawl.session.stats, "unread").most_common(4))
    if ended.unread.again:
        why = reasons or "in earlier runs"
        yield f"{ended.unread.again} pages could not be read: {why}; 'scrapy why URL' tells more."
    if ended.unread.given_up:
        yield (
            f"{ended.unread.given_up} pages could not be read in {MOST_UNREAD} tries and are asked for no more, "
            "unless 'scrapy recrawl --failed' says so."
        )


def _unrendered(crawl: Crawl) -> Iterator[str]:
    if dead_ends := crawl.rendering.dead_ends:
        first, *others = dead_ends
        pages = f"{one_line(first)} and {len(others)} more" if others else one_line(first)
        yield (
            f"{pages} may need a browser, for all links look like menus: -s RENDER=auto shows such pages in one, "
            "'scrapy recrawl --lists' asks for them again."
        )
    n = crawl.session.stats[f"dropped/{PageReason.NEEDS_BROWSER}"]
    if n and crawl.session.config.render == "never":
        pages = "1 page needs" if n == 1 else f"{n} pages need"
        yield f"{pages} a browser: -s RENDER=auto shows such pages in one, 'scrapy recrawl --host NAME' these again."


def waiting_score(best: float | None) -> str:
    return "" if best is None or best >= GOES_FIRST else f"best waiting {best:.3f}"


def fitted(parts: Mapping[str, str], width: int) -> str:
    """Return as many parts of a line as fit, the most important first.

    >>> fitted({"pages": "1200 done", "articles": "800 articles", "rate": "3.1 pages/s"}, 30)
    '1200 done | 800 articles'
    """
    names = list(parts)
    while True:
        line = _BETWEEN.join(parts[name] for name in _LINE if name in names)
        if len(names) <= 1 or cell_len(line) <= width:
            return shortened(line, width)
        names.pop()


def _stopping(under_way: int) -> str:
    pages = {0: "no page is", 1: "1 page is"}.get(under_way, f"{under_way} pages are")
    return f"Stopping: {pages} under way and will be finished; Ctrl-C again ends at once."


def _next_steps(crawl: Crawl, ended: Ended) -> list[str]:
    database = crawl.session.database
    if crawl.background.exit_code == EXIT_DATABASE:
        return []
    return [
        f"Look:   {command_on(database, 'scrapy status')}",
        f"Export: {export_command(database)}",
        f"Go on:  {_goes_on(crawl, ended)}",
    ]


def _goes_on(crawl: Crawl, ended: Ended) -> str:
    limits, same = crawl.session.config.limits, "the same command"
    if crawl.background.exit_code == EXIT_NOTHING:
        return f"{same} asks them again"
    if crawl.background.exit_code != EXIT_FINISHED:
        return f"{same} goes on; with -a mode=watch it waits for news"
    if ended.left is None or not ended.left.beyond:
        return f"{same} visits again what is due; with -a mode=watch it waits for news"
    if limits.pages_per_day is not None:
        return f"{same} fetches the next {limits.pages_per_day} pages tomorrow (by UTC)"
    if limits.pages_per_run is not None:
        return f"{same} fetches the next {limits.pages_per_run} pages"
    return "with higher limits the same command fetches what lies beyond them"


def _ending(crawl: Crawl, ended: Ended) -> str:
    where = f"Database: {crawl.session.database.name}"
    if crawl.background.exit_code == EXIT_FINISHED:
        beyond = ended.left.beyond if ended.left else 0
        more = f" ({beyond} URLs lie beyond the limits)" if beyond else ""
        how = "Stopped watching" if crawl.watches else "Finished"
        return f"{how}: nothing is left within the limits{more}. {where}"
    if crawl.background.exit_code == EXIT_NOTHING:
        return (
            "Failed: no seed brought a page; look at the seeds and the network, 'scrapy why URL' says what came of "
            f"one. {where}"
        )
    if crawl.background.exit_code == EXIT_FAULT:
        return f"Failed: {one_line(crawl.background.problem)}. {where}"
    if crawl.left_elsewhere:
        return f"Stopped: {crawl.left_elsewhere}; the same command goes on. {where}"
    undescribed = crawl.undescribed.count
    if ended.left and not ended.left.within and not undescribed:
        return f"Finished but for {ended.unread.again} pages, which the same command asks for again. {where}"
    left = f"{ended.left.within} URLs left" if ended.left else "work left"
    left += f" and {undescribed} articles to describe" if undescribed else ""
    return f"Stopped with {left}; the same command goes on. {where}"


def _resting(seeds: Mapping[str, int]) -> str:
    few = ", ".join(list(seeds)[:_FEW_SEEDS]) + (" ..." if len(seeds) > _FEW_SEEDS else "")
    these = "1 seed is" if len(seeds) == 1 else f"{len(seeds)} seeds are"
    return (
        f"{these} not in the seeds given ({few}): {sum(seeds.values())} URLs rest and wait again when it returns, "
        "and what was fetched is not visited again; 'scrapy drop SEED' deletes them."
    )
