"""`scrapy status`: show the state of a crawl, while it runs or afterwards."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db.records.keys import iso

from ..run.command import NewsCommand, add_wide, read
from ..run.config import value_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from db.queries.status import HostStatus, RunStatus, Status, Waits
    from db.sites.health import ShownAlarm
    from db.sites.traps import PatternRow
    from db.sites.url_rules import RepeatedPages, RuleRow
    from pipelines.url_rules.learn import Params


_MOST_TRAPS = 200
_ENDED = 5
"""Alarms that have ended and are shown all the same."""
_MANY = 50
"""Pages among which most hosts have an article. No alarm: one crawl meets all lists first, another a mere portal."""
_KEPT, _AFRESH = "kept", "afresh"


class Command(NewsCommand):
    """Show the work left, per host."""

    examples = (
        ("scrapy status --hosts 5", "Show the five busiest hosts; also while a crawl runs"),
        ("scrapy status --traps", "Show which URLs were blocked because they brought nothing"),
        ("scrapy status -s DATABASE_URL=sqlite:///other.db", "Look into another database"),
    )

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "[--hosts N] [--url-rules [afresh]] [--traps]"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Show what the crawl has done and what is left, per host"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to Scrapy's own."""
        super().add_options(parser)
        parser.add_argument("--hosts", type=int, default=20, metavar="N", help="hosts to list, busiest first (20)")
        parser.add_argument(
            "--url-rules",
            nargs="?",
            const=_KEPT,
            choices=(_KEPT, _AFRESH),
            help="show what makes no difference in URLs: as kept, or learned afresh from the pages fetched",
        )
        add_wide(parser)
        parser.add_argument(
            "--traps", action="store_true", help="show which URLs were blocked because they brought nothing, and why"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output."""
        from db.queries.status import status
        from db.sites.health import shown_alarms
        from db.sites.traps import listed

        from ..run.terminal import console_for

        console = console_for(wide=opts.wide)
        if opts.url_rules:
            self._show_rules(console, opts.url_rules, opts.hosts)
            return
        if opts.traps:
            _, traps = read(self, listed)
            _show_traps(console, traps)
            return
        name, (value, alarms) = read(
            self,
            lambda connection: (
                status(connection, time.time(), hosts=opts.hosts),
                shown_alarms(connection, [_ENDED])[0],
            ),
        )
        _print(console, name, value)
        if alarms:
            _alarms(console, alarms)

    def _show_rules(self, console: Console, how: str, hosts: int) -> None:
        """Print the URL rules."""
        from db.sites.url_rules import repeated_pages, rules
        from pipelines.url_rules.learn import Params

        from ..learn.url_rules import MOST_PAGES

        assert self.settings is not None
        params = Params(threshold=value_of(self.settings, "URL_RULES"))
        _, found = (
            read(self, rules)
            if how == _KEPT
            else read(self, lambda connection: _learned(repeated_pages(connection, hosts, MOST_PAGES), params))
        )
        _show_url_rules(console, how, found)


def _print(console: Console, name: str, crawl: Status) -> None:
    from ..run.terminal import Field, show_table

    console.print(f"Database: {name}")
    console.print(", ".join(f"{n} URLs {state}" for state, n in crawl.states.items() if n) or "no URLs yet")
    console.print(f"{crawl.articles} articles, {crawl.duplicates} of them duplicates of another")
    _runs(console, crawl.runs)
    fields = (
        Field("host", cut=True),
        *(Field(name, right=True) for name in ("pending", "held", "done")),
        Field("failed", drop=1, right=True),
        Field("skipped", drop=3, right=True),
        Field("articles", right=True),
        Field("robots", drop=4),
        Field("health"),
        Field("run", drop=2, right=True),
    )
    now = time.time()
    rows = []
    for h in crawl.hosts:
        numbers = (h.pending, h.leased, h.done, h.failed, h.skipped, h.articles)
        rows.append((h.name, *numbers, h.robots, _health(h, now), h.owner or ""))
    show_table(console, "Hosts", fields, rows)
    for line in _waits(crawl.waits):
        console.print(line)
    if crawl.next_visit is not None:
        first = "now" if crawl.next_visit <= time.time() else f"at {iso(crawl.next_visit)}"
        console.print(f"{crawl.again} URLs are to be visited again, the first {first}")
    if crawl.unread.again or crawl.unread.given_up:
        console.print(
            f"{crawl.unread.again + crawl.unread.given_up} pages could not be read; the same crawl command asks for "
            f"{crawl.unread.again} of them again, and for all after 'scrapy recrawl --failed'"
        )
    if crawl.reasons:
        fields = (Field("state"), Field("reason"), Field("URLs", right=True))
        show_table(console, "Why URLs were not stored as articles, or in doubt", fields, crawl.reasons)


def _health(host: HostStatus, now: float) -> str:
    """Describe the health of a host: dead, in backoff, failing, or without articles."""
    if host.dead_reason:
        return f"dead: {host.dead_reason}"
    if host.backoffs and host.backoff_until > now:
        return f"in backoff for {host.backoff_until - now:.0f} s, {host.backoffs} in a row"
    if host.failures:
        return f"{host.failures} failures in a row"
    return f"no article among {host.done} pages" if host.done >= _MANY and not host.articles else ""


def _waits(waits: Waits) -> Iterator[str]:
    """Yield lines about the hosts that have waited longest."""
    if waits.host:
        yield f"Of the hosts that may be asked now {waits.host} has waited longest: {waits.seconds:.0f} s"
    if waits.unasked:
        yield f"{waits.unasked} hosts with URLs to fetch have not been asked yet"


def _runs(console: Console, runs: Sequence[RunStatus]) -> None:
    """List the runs: what each holds and has done."""
    from ..run.terminal import Field, show_table

    fields = (
        Field("run", right=True),
        Field("machine", drop=4),
        Field("process", drop=6, right=True),
        Field("started", drop=2),
        Field("pages", right=True),
        Field("articles", right=True),
        Field("pages/s", drop=1, right=True),
        Field("hosts held", drop=3, right=True),
        Field("URLs held", drop=5, right=True),
        Field("how it is doing"),
    )
    rows = []
    for run in runs:
        articles = run.totals.get("new", 0) + run.totals.get("duplicate", 0)
        alive = run.is_running
        holds = (f"{run.pages_per_second:.1f}" if alive else "", run.hosts or "", run.urls or "")
        done = (run.totals.get("pages", 0), articles)
        rows.append((run.id, run.machine, run.pid, run.started, *done, *holds, _how(run)))
    show_table(console, "Runs", fields, rows)


def _how(run: RunStatus) -> str:
    """Describe how a run ended, or that it is running."""
    if run.finished is not None:
        return run.outcome or "ended"
    if run.lease_seconds > 0:
        return f"running; its lease is renewed or ends in {run.lease_seconds:.0f} s"
    return "died; what it held is taken up by the others or the next run"


def _alarms(console: Console, alarms: Sequence[ShownAlarm]) -> None:
    """List alarms, active ones first."""
    from ..run.terminal import Field, show_table

    rows = [(alarm.host, alarm.text, alarm.since, alarm.until or "it lasts") for alarm in alarms]
    fields = (Field("host", cut=True), Field("what"), Field("since", drop=1), Field("until", drop=2))
    show_table(console, "Alarms", fields, rows)


def _show_traps(console: Console, found: tuple[Sequence[tuple[str, PatternRow]], Sequence[tuple[str, int]]]) -> None:
    """Print the blocked patterns with an example each, and the skipped URLs by kind."""
    from ..run.terminal import Field, show_table

    patterns, skipped = found
    if not patterns and not skipped:
        console.print("No traps are known")
        return
    fields = (
        Field("host", cut=True),
        Field("pattern", cut=True),
        Field("kind"),
        Field("pages", drop=3, right=True),
        Field("articles", drop=4, right=True),
        Field("since", drop=2),
        Field("why"),
        Field("for instance", drop=1, cut=True),
    )
    rows = []
    for host, row in patterns[:_MOST_TRAPS]:
        since = datetime.fromtimestamp(row.blocked_at, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        what = (_named(row.level, row.pattern), row.kind or "on probation", row.pages, row.brought, since)
        rows.append((host, *what, row.why, row.example))
    show_table(console, "Traps", fields, rows)
    if len(patterns) > _MOST_TRAPS:
        console.print(f"and {len(patterns) - _MOST_TRAPS} more")
    for kind, n in skipped:
        console.print(f"{n} URLs were skipped as {kind}", markup=False)


def _named(level: int, pattern: str) -> str:
    """Describe a pattern for people."""
    from pipelines.traps.patterns import ANSWER, HOST

    return {HOST: "the whole host", ANSWER: "pages that say there is no such page"}.get(level, pattern)


def _learned(hosts: Iterable[RepeatedPages], params: Params) -> list[tuple[str, RuleRow]]:
    """Learn the rules of hosts from their newest pages and the rules in use."""
    from pipelines.url_rules.forms import Rule
    from pipelines.url_rules.learn import learn

    from ..learn.url_rules import row_of

    return [
        (host.name, row_of(one))
        for host in hosts
        for one in learn(host.pages, {Rule(*rule) for rule in host.used}, params)
    ]


def _show_url_rules(console: Console, how: str, found: Sequence[tuple[str, RuleRow]]) -> None:
    """Print the rules with a pair of URLs each."""
    from pipelines.url_rules.forms import Rule

    from ..run.terminal import Field, show_table

    if not found:
        hint = "" if how == _AFRESH else "; --url-rules afresh learns from the pages it holds"
        console.print(f"No URL rules are known{hint}")
        return
    title = "URL rules" + (", learned from the pages now" if how == _AFRESH else "")
    fields = (
        Field("host", cut=True),
        Field("rule"),
        Field("support", drop=4, right=True),
        Field("against", drop=3, right=True),
        Field("confidence", drop=2, right=True),
        Field("state"),
        Field("for instance", drop=1, cut=True),
        Field("the same as", drop=1, cut=True),
    )
    rows = []
    for host, row in found:
        state = "proposed" if not row.used else "used" if how == _KEPT else "sure"
        numbers = (row.support, row.against, f"{row.confidence:.3f}")
        rows.append((host, Rule(row.kind, row.pattern), *numbers, state, *(*json.loads(row.example), "", "")[:2]))
    show_table(console, title, fields, rows)
