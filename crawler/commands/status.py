"""`scrapy status`: show the state of a crawl, while it runs or afterwards."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db.records.keys import iso

from ..options.given import value_of
from ..run.command import NewsCommand, add_format, read_each

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from db.queries.status import HostStatus, RunStatus, Status, Waits
    from db.records.host import ShownAlarm
    from db.sites.render_gains import RenderRecord
    from db.sites.traps import PatternRow
    from db.sites.url_rules import RepeatedPages, RuleRow
    from pipelines.url_rules.learn import Params

    from ..terminal.output import Output


_MOST_TRAPS = 200
_ENDED = 5
"""Alarms that have ended and are shown all the same."""
_MANY = 50
"""Pages among which most hosts have an article. No alarm: one crawl meets all lists first, another a mere portal."""
_KEPT, _AFRESH = "kept", "afresh"


class Command(NewsCommand):
    usage = "[--hosts N] [--url-rules [afresh]] [--traps] [--format NAME]"
    summary = "Show what the crawl has done and what is left, per host"
    examples = (
        ("scrapy status --hosts 5", "Show the five busiest hosts; also while a crawl runs"),
        ("scrapy status --traps", "Show which URLs were blocked because they brought nothing"),
        ("scrapy status --format jsonl", "The same for a script: an object a line, of which `record` says the kind"),
        ("scrapy status -s DATABASE_URL=sqlite:///other.db", "Look into another database"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--hosts", type=int, default=20, metavar="N", help="hosts to list, busiest first (20)")
        parser.add_argument(
            "--url-rules",
            nargs="?",
            const=_KEPT,
            choices=(_KEPT, _AFRESH),
            help="show what makes no difference in URLs: as kept, or learned afresh from the pages fetched",
        )
        add_format(parser, "table", "jsonl")
        parser.add_argument(
            "--traps", action="store_true", help="show which URLs were blocked because they brought nothing, and why"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.queries.status import joined, status
        from db.sites.health import shown_alarms
        from db.sites.render_gains import shown_gains
        from db.sites.traps import listed

        from ..terminal.output import Output

        output = Output(opts.format, wide=opts.wide)
        if opts.url_rules:
            self._show_rules(output, opts.url_rules, opts.hosts)
            return
        if opts.traps:
            _, traps = read_each(self, listed)
            counts = Counter[str]()
            for _, (_, skipped) in traps:
                for kind, n in skipped:
                    counts[kind] += n
            patterns = [pattern for _, (some, _) in traps for pattern in some]
            _show_traps(output, patterns, counts.most_common())
            return
        name, answers = read_each(
            self,
            lambda connection: (
                status(connection, time.time(), hosts=opts.hosts),
                shown_alarms(connection, [_ENDED])[0],
                shown_gains(connection, opts.hosts),
            ),
        )
        runs = {database: value.runs for database, (value, _, _) in answers}
        _print(output, name, joined([value for _, (value, _, _) in answers], hosts=opts.hosts), runs)
        if alarms := [alarm for _, (_, some, _) in answers for alarm in some]:
            _alarms(output, alarms)
        if rendered := [host for _, (_, _, some) in answers for host in some]:
            _rendered(output, rendered)

    def _show_rules(self, output: Output, how: str, hosts: int) -> None:
        from db.sites.url_rules import repeated_pages, rules
        from pipelines.url_rules.learn import Params

        from ..learn.url_rules import MOST_PAGES

        params = Params(threshold=value_of(self.settings, "URL_RULES"))
        _, answers = (
            read_each(self, rules)
            if how == _KEPT
            else read_each(self, lambda connection: _learned(repeated_pages(connection, hosts, MOST_PAGES), params))
        )
        _show_url_rules(output, how, [rule for _, some in answers for rule in some])


def _print(output: Output, name: str, crawl: Status, runs: Mapping[str, Sequence[RunStatus]]) -> None:
    from ..terminal.text import Field

    output.say(f"{'Database' if len(runs) == 1 else 'Databases'}: {name}")
    output.say(", ".join(f"{n} URLs {state}" for state, n in crawl.states.items() if n) or "no URLs yet")
    output.say(f"{crawl.articles} articles, {crawl.duplicates} of them duplicates of another")
    output.record(
        "crawl",
        {
            "database": name,
            "urls": dict(crawl.states),
            "articles": crawl.articles,
            "duplicates": crawl.duplicates,
            "unasked_hosts": crawl.waits.unasked,
            "to_visit_again": crawl.again,
            "next_visit": None if crawl.next_visit is None else iso(crawl.next_visit),
            "unread": crawl.unread.again,
            "unread_for_good": crawl.unread.given_up,
        },
    )
    for database, some in runs.items():
        _runs(output, database, some, "Runs" if len(runs) == 1 else f"Runs on {database}")
    fields = (
        Field("host", cut=True),
        *(Field(name, right=True) for name in ("pending", "held", "done")),
        Field("failed", drop=1, right=True),
        Field("skipped", drop=3, right=True),
        Field("articles", right=True),
        Field("robots", drop=4),
        Field("health"),
        Field("run", drop=2, right=True),
        *(Field("", key=name) for name in ("failures", "backoffs", "backoff_until", "dead_reason")),
    )
    now = time.time()
    rows = []
    for h in crawl.hosts:
        numbers = (h.pending, h.leased, h.done, h.failed, h.skipped, h.articles)
        backoff = (h.failures, h.backoffs, iso(h.backoff_until) if h.backoffs else None, h.dead_reason)
        rows.append((h.name, *numbers, h.robots, _health(h, now), h.owner, *backoff))
    output.show("Hosts", fields, rows, "host")
    for line in _waits(crawl.waits):
        output.say(line)
    if crawl.next_visit is not None:
        first = "now" if crawl.next_visit <= time.time() else f"at {iso(crawl.next_visit)}"
        output.say(f"{crawl.again} URLs are to be visited again, the first {first}")
    if crawl.unread.again or crawl.unread.given_up:
        output.say(
            f"{crawl.unread.again + crawl.unread.given_up} pages could not be read; the same crawl command asks for "
            f"{crawl.unread.again} of them again, and for all after 'scrapy recrawl --failed'"
        )
    if crawl.reasons:
        fields = (Field("state"), Field("reason"), Field("URLs", right=True))
        output.show("Why URLs were not stored as articles, or in doubt", fields, crawl.reasons, "reason")


def _health(host: HostStatus, now: float) -> str:
    if host.dead_reason:
        return f"dead: {host.dead_reason}"
    if host.backoffs and host.backoff_until > now:
        return f"in backoff for {host.backoff_until - now:.0f} s, {host.backoffs} in a row"
    if host.failures:
        return f"{host.failures} failures in a row"
    return f"no article among {host.done} pages" if host.done >= _MANY and not host.articles else ""


def _waits(waits: Waits) -> Iterator[str]:
    if waits.host:
        yield f"Of the hosts that may be asked now {waits.host} has waited longest: {waits.seconds:.0f} s"
    if waits.unasked:
        yield f"{waits.unasked} hosts with URLs to fetch have not been asked yet"


def _runs(output: Output, database: str, runs: Sequence[RunStatus], title: str) -> None:
    from ..terminal.text import Field

    fields = (
        Field("run", right=True),
        Field("machine", drop=4),
        Field("process", drop=6, right=True),
        Field("started", drop=2),
        Field("pages", right=True),
        Field("articles", right=True),
        Field("pages/s", drop=1, right=True, key="pages_per_second", show=lambda n: "" if n is None else f"{n:.1f}"),
        Field("hosts held", drop=3, right=True, show=_unless_none),
        Field("URLs held", drop=5, right=True, show=_unless_none),
        Field("how it is doing", key="outcome"),
        *(Field("", key=name) for name in ("is_running", "finished", "database")),
    )
    rows = []
    for run in runs:
        articles = run.totals.get("new", 0) + run.totals.get("duplicate", 0)
        alive = run.is_running
        holds = (run.pages_per_second if alive else None, run.hosts, run.urls)
        done = (run.totals.get("pages", 0), articles)
        state_cells = (_how(run), alive, run.finished, database)
        rows.append((run.id, run.machine, run.pid, run.started, *done, *holds, *state_cells))
    output.show(title, fields, rows, "run")


def _unless_none(n: int) -> object:
    return n or ""


def _how(run: RunStatus) -> str:
    if run.finished is not None:
        return run.outcome or "ended"
    if run.lease_seconds > 0:
        return f"running; its lease is renewed or ends in {run.lease_seconds:.0f} s"
    return "died; what it held is taken up by the others or the next run"


def _rendered(output: Output, gains: Sequence[tuple[str, str, RenderRecord]]) -> None:
    from ..terminal.text import Field

    fields = (
        Field("host", cut=True),
        Field("for", key="wish"),
        Field("pages", right=True, key="tries"),
        Field("said more", right=True, key="gains"),
        Field("in vain since then", right=True, drop=1, key="misses"),
    )
    rows = [(host, wish, one.tries, one.gains, one.misses) for host, wish, one in gains]
    output.show("Shown in a browser", fields, rows, "rendered")


def _alarms(output: Output, alarms: Sequence[ShownAlarm]) -> None:
    from ..terminal.text import Field

    rows = [(alarm.host, alarm.text, alarm.since, alarm.until, alarm.kind) for alarm in alarms]
    until = Field("until", drop=2, show=lambda time: time or "it lasts")
    fields = (Field("host", cut=True), Field("what"), Field("since", drop=1), until, Field("", key="kind"))
    output.show("Alarms", fields, rows, "alarm")


def _show_traps(output: Output, patterns: Sequence[tuple[str, PatternRow]], skipped: Sequence[tuple[str, int]]) -> None:
    from ..terminal.text import Field

    if not patterns and not skipped:
        output.say("No traps are known")
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
    most = _MOST_TRAPS if output.is_table else len(patterns)
    for host, row in patterns[:most]:
        since = datetime.fromtimestamp(row.blocked_at, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        what = (_named(row.level, row.pattern), row.kind or "on probation", row.pages, row.brought, since)
        rows.append((host, *what, row.why, row.example))
    output.show("Traps", fields, rows, "trap")
    if len(patterns) > most:
        output.say(f"and {len(patterns) - most} more")
    for kind, n in skipped:
        output.say(f"{n} URLs were skipped as {kind}")
        output.record("skipped", {"kind": kind, "urls": n})


def _named(level: int, pattern: str) -> str:
    from pipelines.url_rules.trap_patterns import ANSWER, HOST

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


def _show_url_rules(output: Output, how: str, found: Sequence[tuple[str, RuleRow]]) -> None:
    from pipelines.url_rules.forms import Rule

    from ..terminal.text import Field

    if not found:
        hint = "" if how == _AFRESH else "; --url-rules afresh learns from the pages it holds"
        output.say(f"No URL rules are known{hint}")
        return
    title = "URL rules" + (", learned from the pages now" if how == _AFRESH else "")
    fields = (
        Field("host", cut=True),
        Field("rule"),
        Field("support", drop=4, right=True),
        Field("against", drop=3, right=True),
        Field("confidence", drop=2, right=True, show=lambda share: f"{share:.3f}"),
        Field("state"),
        Field("for instance", drop=1, cut=True),
        Field("the same as", drop=1, cut=True),
    )
    rows = []
    for host, row in found:
        state = "proposed" if not row.used else "used" if how == _KEPT else "sure"
        numbers = (row.support, row.against, row.confidence)
        rows.append((host, str(Rule(row.kind, row.pattern)), *numbers, state, *(*json.loads(row.example), "", "")[:2]))
    output.show(title, fields, rows, "url_rule")
