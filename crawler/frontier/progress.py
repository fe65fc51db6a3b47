"""Seeing a crawl run: a live line on a terminal, plain lines elsewhere, a summary at the end. All goes to stderr."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from rich.live import Live
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.logformatter import LogFormatter

from db.records.reasons import FailReason, SkipReason

from ..clock import Rate
from ..learn.health.alarms import lines
from ..run.config import Config
from ..run.exit_codes import EXIT_FINISHED
from ..run.terminal import Terminal, guard_logs, one_line
from .scheduler import FrontierScheduler

if TYPE_CHECKING:
    from rich.console import Console
    from scrapy import Spider
    from scrapy.crawler import Crawler


_LIVE_SECONDS = 0.5
_SELDOM = (
    ("visited again", "revisits"),
    ("  unchanged", "revisits/unchanged"),
    ("articles whose page is gone", "gone"),
    ("hosts given up", "hosts given up"),
)
"""Counts that are shown when there are any: title and name."""


class QuietFormatter(LogFormatter):
    """No log line per page or item: the frontier's table says it all, and formatting costs time on every page."""

    def crawled(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Nothing."""

    def scraped(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Nothing."""

    def dropped(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Nothing: a page that is no article is no item; the table says why."""


class Progress:
    """Scrapy extension that shows how the crawl is doing (`PROGRESS_SECONDS` between plain lines)."""

    def __init__(self, crawler: Crawler, *, seconds: float, console: Console) -> None:
        self._crawler = crawler
        self._seconds = seconds
        self._console = console
        self._task: asyncio.Task[None] | None = None
        self._started = time.monotonic()
        self._rate = Rate()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        guard_logs()
        progress = cls(
            crawler,
            seconds=Config.of(crawler).progress_seconds,
            console=Terminal(file=sys.stderr),
        )
        crawler.signals.connect(progress._opened, signal=signals.spider_opened)
        crawler.signals.connect(progress._closed, signal=signals.spider_closed)
        return progress

    @property
    def _frontier(self) -> FrontierScheduler:
        return cast("FrontierScheduler", self._crawler.engine.scheduler)

    def _opened(self, spider: Spider) -> None:
        frontier = self._frontier
        if frontier.session is None:
            return
        resumed = frontier.session.resumed
        if resumed.begun_before:
            recovered = f", {resumed.recovered} of them recovered in flight from a crawl that was killed"
            self._console.print(
                f"Going on with run {resumed.run_id}: {resumed.pending} URLs pending"
                f"{recovered if resumed.recovered else ''}.",
                soft_wrap=True,
            )
        if frontier.session.woken:
            self._console.print(f"{frontier.session.woken} URLs are visited again.", soft_wrap=True)
        if resumed.others:
            self._console.print(
                f"{resumed.others} other runs are at work on this database; hosts are shared with them "
                "('scrapy status' shows all).",
                soft_wrap=True,
            )
        self._task = asyncio.ensure_future(self._show())

    async def _show(self) -> None:
        if not self._console.is_terminal:
            while True:
                await asyncio.sleep(self._seconds)
                self._console.print(f"{time.strftime('%H:%M:%S')} {self.line()}", soft_wrap=True)
        with Live(Text(one_line(self.line())), console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                await asyncio.sleep(_LIVE_SECONDS)
                live.update(Text(one_line(self.line())), refresh=True)

    def line(self) -> str:
        """The state of the crawl in one line."""
        frontier, totals = self._frontier, self._frontier.totals
        window = frontier.window
        rate = self._rate.update(time.monotonic(), totals["pages"])
        queued = max(0, frontier.supply.queued if frontier.supply else 0) + (len(window) if window else 0)
        parts = [
            f"{rate:.1f} pages/s",
            f"{totals['pages']} done",
            *([] if frontier.supply and frontier.supply.is_shared else [f"{queued} queued"]),
            f"{totals['failed']} failed",
            f"{totals['new'] + totals['duplicate']} articles",
            f"{totals['duplicate']} duplicates",
        ]
        if window:
            active = sum(1 for host in window.hosts.values() if host.queue or host.busy)
            parts.append(f"{active} hosts active")
            best = window.best_score()
            if best is not None:
                parts.append(f"best waiting {best:.3f}")
        if frontier.waiting_for:
            parts.append(frontier.waiting_for)
        return " | ".join(parts)

    def _closed(self, spider: Spider, reason: str) -> None:
        if self._task is not None:
            self._task.cancel()
        frontier = self._frontier
        if frontier.session is not None:
            self._console.print(self._summary(frontier))
            refused = frontier.totals[f"dropped/{FailReason.ADDRESS_REFUSED}"]
            if refused:
                self._console.print(
                    f"{refused} URLs were not fetched because their address is not a public one; "
                    "if they are meant, open their network with ALLOW_NETWORKS.",
                    soft_wrap=True,
                )
            for line in lines(frontier.alarms):
                self._console.print(line, soft_wrap=True, markup=False)
            self._console.print(_ending(frontier), soft_wrap=True)

    def _summary(self, frontier: FrontierScheduler) -> Table:
        totals = frontier.totals
        table = Table(title="This crawl", show_header=False, title_justify="left")
        table.add_column()
        table.add_column(justify="right")
        assert frontier.session is not None
        resumed = frontier.session.resumed
        rows: list[tuple[str, object]] = []
        if resumed.begun_before:
            rows += [
                ("pending at the start", resumed.pending),
                ("of them recovered in flight", resumed.recovered),
            ]
        rows += [
            ("pages fetched", totals["pages"]),
            ("articles", totals["new"] + totals["duplicate"]),
            ("  new", totals["new"]),
            ("  duplicates of another", totals["duplicate"]),
            ("duplicates not stored", totals["dropped"]),
            ("articles updated", totals["updated"]),
            ("parts of articles of several pages", totals["part"]),
            ("other addresses of a stored article", totals["same page"]),
            ("failed", totals["failed"]),
            ("retries", totals["retries"]),
            *((title, totals[name]) for title, name in _SELDOM if totals[name]),
            ("seconds", f"{time.monotonic() - self._started:.1f}"),
        ]
        if frontier.ranker is not None and frontier.ranker.rounds:
            rows.append(("rounds of ranking, scores changed", f"{frontier.ranker.rounds}, {frontier.ranker.moved}"))
        if frontier.window is not None and frontier.window.longest_wait >= 1:
            rows.append(("longest wait of a host that was ready, s", f"{frontier.window.longest_wait:.0f}"))
        for name, value in rows:
            table.add_row(name, one_line(value))
        for group, title in (
            ("dropped", "pages that are no article"),
            ("failed", "failed"),
            ("links", "links not followed"),
            ("doubts", "articles stored in doubt"),
            ("bounds", "left out because there was too much of it"),
        ):
            reasons = _reasons(totals, group)
            if reasons:
                table.add_section()
                table.add_row(title, "")
                for why, n in reasons.most_common(12):
                    table.add_row(f"  {one_line(why)}", str(n))
        traps = _traps(totals)
        if traps:
            table.add_section()
            table.add_row("traps: URLs not fetched ('scrapy status --traps' tells why)", "")
            for kind, n in traps.most_common(12):
                table.add_row(f"  {kind}", str(n))
        return table


def _reasons(totals: Mapping[str, int], group: str) -> Counter[str]:
    """How often each reason of a group came up; traps have a section of their own."""
    found = {name.partition("/")[2]: n for name, n in totals.items() if name.startswith(group + "/") and n}
    return Counter({reason: n for reason, n in found.items() if not _trap_of(reason)})


def _traps(totals: Mapping[str, int]) -> Counter[str]:
    """URLs that were not fetched, by kind of trap; also kinds of which none was left."""
    found: Counter[str] = Counter()
    for name, n in totals.items():
        group, _, reason = name.partition("/")
        if group == "traps":
            found[reason] += 0
        elif kind := _trap_of(reason):
            found[kind] += n
    return found


def _trap_of(counted: str) -> str:
    """The kind of trap in a counted reason, see `db.records.reasons.label`; empty when it is another reason."""
    reason, _, kind = counted.partition(": ")
    return kind if reason == SkipReason.TRAP else ""


def _ending(frontier: FrontierScheduler) -> str:
    """How it ended, what is left, where the result is."""
    assert frontier.session is not None
    where = f"Database: {frontier.session.database.name}"
    if frontier.exit_code == EXIT_FINISHED:
        beyond = frontier.left.beyond if frontier.left else 0
        more = f" ({beyond} URLs lie beyond the limits)" if beyond else ""
        ended = "Stopped watching" if frontier.watches else "Finished"
        return f"{ended}: nothing is left within the limits{more}. {where}"
    left = f"{frontier.left.within} URLs left" if frontier.left else "work left"
    return f"Stopped with {left}; the same command goes on. {where}"
