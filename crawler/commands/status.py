"""`scrapy status`: what a crawl has done and what is left, from its database, while it runs or afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.table import Column, Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from db.health import shown_alarms
from db.queries import HostStatus, RunStatus, Status, Waits, status
from db.records.keys import iso
from db.traps import listed

from ..jobs import traps, urlrules
from ..jobs.alarms import ENDED
from ..jobs.alarms import table as table_of_alarms
from ..jobs.database import read, wide_console
from ..shown import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from rich.console import Console


_MANY = 50
"""Pages among which most hosts have an article. No alarm: one crawl meets all lists first, another a mere portal."""


class Command(ScrapyCommand):
    """Show what is left, per host."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """No arguments."""
        return "[--hosts N] [--url-rules [afresh]] [--traps]"

    def short_desc(self) -> str:
        """One line for `scrapy`."""
        return "Show what the crawl has done and what is left, per host"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's own, `--hosts`, `--url-rules` and `--traps`."""
        super().add_options(parser)
        parser.add_argument("--hosts", type=int, default=20, metavar="N", help="hosts to list, busiest first (20)")
        parser.add_argument(
            "--url-rules",
            nargs="?",
            const=urlrules.KEPT,
            choices=(urlrules.KEPT, urlrules.AFRESH),
            help="show what makes no difference in addresses: as kept, or learned afresh from the pages fetched",
        )

        parser.add_argument(
            "--traps", action="store_true", help="show which addresses were shut because they brought nothing, and why"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output."""
        assert self.settings is not None
        if opts.url_rules:
            self._show_rules(opts.url_rules, opts.hosts)
            return
        if opts.traps:
            answer = read(self, listed)
            if answer is not None:
                traps.show(wide_console(), answer[1])
            return
        found = read(
            self,
            lambda connection: (
                status(connection, time.time(), hosts=opts.hosts),
                shown_alarms(connection, ended=ENDED),
            ),
        )
        if found is not None:
            name, (value, alarms) = found
            console = wide_console()
            _print(console, name, value)
            if alarms:
                console.print(table_of_alarms(alarms))

    def _show_rules(self, how: str, hosts: int) -> None:
        """Print the rules of addresses."""
        assert self.settings is not None
        threshold = self.settings.getfloat("URL_RULES")
        if not 0.5 <= threshold <= 1:
            raise UsageError(f"URL_RULES is {threshold:g}; it takes a number, 0.5 to 1", print_help=False)
        answer = read(self, lambda connection: urlrules.found(connection, how, threshold, hosts))
        if answer is not None:
            urlrules.show(wide_console(), how, answer[1])


def _print(console: Console, name: str, crawl: Status) -> None:
    console.print(f"Database: {name}")
    console.print(", ".join(f"{n} URLs {state}" for state, n in crawl.states.items() if n) or "no URLs yet")
    console.print(f"{crawl.articles} articles, {crawl.duplicates} of them duplicates of another")
    console.print(_runs(crawl.runs))
    hosts = Table(
        Column("host", overflow="fold"),
        "pending",
        "held",
        "done",
        "failed",
        "skipped",
        "articles",
        "robots",
        "health",
        "run",
        title="Hosts",
    )
    for h in crawl.hosts:
        numbers = (h.pending, h.leased, h.done, h.failed, h.skipped, h.articles)
        hosts.add_row(
            one_line(h.name), *(str(n) for n in numbers), h.robots, _health(h, time.time()), str(h.owner or "")
        )
    console.print(hosts)
    for line in _waits(crawl.waits):
        console.print(line)
    if crawl.next_visit is not None:
        first = "now" if crawl.next_visit <= time.time() else f"at {iso(crawl.next_visit)}"
        console.print(f"{crawl.again} URLs are to be visited again, the first {first}")
    if crawl.reasons:
        reasons = Table("state", "reason", "URLs", title="Why URLs were not stored as articles, or in doubt")
        for state, reason, n in crawl.reasons:
            reasons.add_row(state, one_line(reason), str(n))
        console.print(reasons)


def _health(host: HostStatus, now: float) -> str:
    """Whether a host answers, rests or is given up, and brings anything at all."""
    if host.given_up:
        return f"given up: {host.given_up}"
    if host.trouble and host.rests_until > now:
        return f"rests for {host.rests_until - now:.0f} s, {host.trouble} in a row"
    if host.failures:
        return f"{host.failures} failures in a row"
    return f"no article among {host.done} pages" if host.done >= _MANY and not host.articles else ""


def _waits(waits: Waits) -> Iterator[str]:
    """Who has waited longest."""
    if waits.host:
        yield f"Of the hosts that may be asked now {waits.host} has waited longest: {waits.seconds:.0f} s"
    if waits.unasked:
        yield f"{waits.unasked} hosts with URLs to fetch have not been asked yet"


def _runs(runs: Sequence[RunStatus]) -> Table:
    """Who is crawling, and who was: what each holds and has done."""
    table = Table("run", "machine", "process", "started", "pages", "articles", title="Runs")
    for name in ("pages/s", "hosts held", "URLs held"):
        table.add_column(name, justify="right")
    table.add_column("how it is doing", overflow="fold")
    for run in runs:
        articles = run.totals.get("new", 0) + run.totals.get("duplicate", 0)
        done = (str(run.totals.get("pages", 0)), str(articles))
        alive = run.finished is None and run.lease_seconds > 0
        holds = (f"{run.pages_per_second:.1f}" if alive else "", str(run.hosts or ""), str(run.urls or ""))
        table.add_row(str(run.id), run.machine, str(run.pid), run.started, *done, *holds, _how(run))
    return table


def _how(run: RunStatus) -> str:
    """How a run ended, or that it is running."""
    if run.finished is not None:
        return run.outcome or "ended"
    if run.lease_seconds > 0:
        return f"running; its lease is renewed or ends in {run.lease_seconds:.0f} s"
    return "died; what it held is taken up by the others or the next run"
