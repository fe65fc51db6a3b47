"""`scrapy status`: what a crawl has done and what is left, from its database, while it runs or afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table
from scrapy.commands import ScrapyCommand

from db.queries import RunStatus, Status, status

from ._database import read

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Show what is left, per host."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """No arguments."""
        return "[--hosts N]"

    def short_desc(self) -> str:
        """One line for `scrapy`."""
        return "Show what the crawl has done and what is left, per host"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's own and `--hosts`."""
        super().add_options(parser)
        parser.add_argument("--hosts", type=int, default=20, metavar="N", help="hosts to list, busiest first (20)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output."""
        assert self.settings is not None
        found = read(self, lambda connection: status(connection, hosts=opts.hosts))
        if found is not None:
            name, value = found
            _print(_console(), name, value)


def _console() -> Console:
    """As wide as the terminal; wide enough for any host name when the output goes elsewhere."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=160)


def _print(console: Console, name: str, crawl: Status) -> None:
    console.print(f"Database: {name}")
    console.print(", ".join(f"{n} URLs {state}" for state, n in crawl.states.items() if n) or "no URLs yet")
    console.print(f"{crawl.articles} articles, {crawl.duplicates} of them duplicates of another")
    for run in crawl.runs:
        console.print(f"run {run.id} on {run.machine} (process {run.pid}), started {run.started}: {_how(run)}")
    hosts = Table(
        Column("host", overflow="fold"),
        "pending",
        "in flight",
        "done",
        "failed",
        "skipped",
        "articles",
        "robots",
        title="Hosts",
    )
    for h in crawl.hosts:
        robots = h.robots + (f", {h.failures} failures in a row" if h.failures else "")
        numbers = (h.pending, h.leased, h.done, h.failed, h.skipped, h.articles)
        hosts.add_row(h.name, *(str(n) for n in numbers), robots)
    console.print(hosts)
    if crawl.reasons:
        reasons = Table("state", "reason", "URLs", title="Why URLs were not stored as articles")
        for state, reason, n in crawl.reasons:
            reasons.add_row(state, reason, str(n))
        console.print(reasons)


def _how(run: RunStatus) -> str:
    """How a run ended, or that it is running."""
    if run.outcome:
        return run.outcome
    return "running" if run.alive_until > time.time() else "died (its work is taken up by the next run)"
