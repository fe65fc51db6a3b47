"""`scrapy compact`: give back the space that a crawl no longer needs."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from db.records.keys import iso

from ..run.command import NewsCommand, add_format, opened_to_change, read_with, seconds

if TYPE_CHECKING:
    import argparse

    from db.articles.compact import Compaction, Removable


_DIGITS = 10


class Command(NewsCommand):
    usage = "[--versions N|TIME] [--dead-hosts TIME] [--samples] [--dry-run] [--format NAME]"
    summary = "Give back space: earlier texts, URLs of dead hosts, free pages of the database"
    description = (
        "Without options nothing is deleted: SQLite writes the file anew (as much free space is needed beside it), "
        "Postgres does VACUUM ANALYZE. It may be stopped or killed at any time; no crawl may be running."
    )
    examples = (
        ("scrapy compact", "Give back free space, renew indexes and statistics"),
        ("scrapy compact --versions 3 --dead-hosts 90d --dry-run", "Say what would be deleted, and delete nothing"),
        ("scrapy compact --versions 365d", "Delete earlier texts of articles that were seen over a year ago, too"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--versions",
            default="",
            metavar="N|TIME",
            help="keep so many earlier texts of each article, the newest (0: none); or those of this time: 90d",
        )
        parser.add_argument(
            "--dead-hosts",
            default="",
            metavar="TIME",
            help="delete the URLs of hosts that have been dead so long (90d), those that never brought anything",
        )
        parser.add_argument(
            "--samples", action="store_true", help="delete the curves of all runs but the newest (`scrapy serve`)"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be deleted, and delete nothing")
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.articles import compact

        from ..terminal.output import Output

        what = replace(_what(opts.versions, opts.dead_hosts, time.time()), samples=opts.samples)
        output = Output(opts.format, wide=opts.wide)
        name, (before, would, free) = read_with(
            self,
            lambda database: (
                compact.size(database),
                database.read(lambda connection: compact.count(connection, what)) if opts.dry_run else None,
                database.read(compact.free_bytes),
            ),
        )
        if would is not None:
            output.say(f"{name}: {_amount(would)} would be deleted")
            output.say(f"{before:,} bytes" + ("" if free is None else f", {free:,} of them free by now"))
            sizes = {"bytes": before, "free_bytes": free}
            output.record("", {"database": name, "dry_run": True, **asdict(would), **sizes})
            return
        with opened_to_change(self) as database:
            gone = compact.remove(database, what)
            compact.rewrite(database, _say)
            after = compact.size(database)
        output.say(f"{name}: {_amount(gone)} were deleted")
        output.say(f"{before - after:,} bytes were freed, {after:,} are left")
        sizes = {"bytes": after, "freed_bytes": before - after}
        output.record("", {"database": name, "dry_run": False, **asdict(gone), **sizes})


def _amount(rows: Removable) -> str:
    return f"{rows.versions:,} earlier texts, {rows.urls:,} URLs of dead hosts and {rows.samples:,} samples"


def _say(step: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{step} ...\n")


def _what(versions: str, dead_hosts: str, now: float) -> Compaction:
    from db.articles.compact import Compaction

    dead_since = now - seconds("--dead-hosts", dead_hosts) if dead_hosts else None
    if not versions or (versions.isdecimal() and len(versions) < _DIGITS):
        return Compaction(int(versions) if versions else None, dead_since=dead_since)
    try:
        since = iso(now - seconds("--versions", versions))
    except UsageError as error:
        raise UsageError(f"{error}; or a number of texts to keep", print_help=False) from None
    return Compaction(versions_since=since, dead_since=dead_since)
