"""`scrapy batch extract|describe|duplicates|rank SOURCE`: many pages, on Dask."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from ..options.config import Config
from ..run.command import NewsCommand
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    import argparse

    from ..batch.frame import BatchTotals

ACTIONS: Final = ("extract", "describe", "duplicates", "rank")


class Command(NewsCommand):
    usage = (
        "extract|describe|duplicates|rank <source> [--workers N] [--scheduler ADDRESS] [--partitions N] "
        "[--dashboard] [--output FILE]"
    )
    summary = "Extract, describe, find duplicates or rank, for many pages at once, on Dask"
    description = (
        "The source is a database (a URL or a SQLite file), a folder of pages, WARC files or JSON lines; gzipped "
        "ones are unpacked. It is cut into partitions, each of which is one task. A batch that was killed goes on "
        "where it was when the same command is given again."
    )
    most_arguments = 2
    examples = (
        ("scrapy batch extract pages/ --output articles.jsonl.gz", "Extract the pages of a folder"),
        ("scrapy batch extract news.db", "Extract all stored articles again, with this version and EXTRACTOR"),
        ("scrapy batch duplicates docs.jsonl.gz --output pairs.tsv", "Find duplicates in a file of documents"),
        ("scrapy batch rank news.db --output ranks.jsonl", "Rank all pages of a database by their links"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--workers", metavar="N", help="processes on this machine (WORKERS)")
        parser.add_argument("--scheduler", metavar="ADDRESS", help="a scheduler of Dask: its workers do the work")
        parser.add_argument("--partitions", metavar="N", help="parts that the source is cut into (by its size)")
        parser.add_argument(
            "--dashboard", action="store_true", help="show what the scheduler of this machine does, on loopback"
        )
        parser.add_argument("--output", metavar="FILE", help="where the result goes; .gz is packed")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..batch.frame import BatchStopped
        from ..batch.request import Request
        from ..corpus.rework import UNREAD

        if len(args) != 2 or args[0] not in ACTIONS:
            raise UsageError(f"name what to do ({', '.join(ACTIONS)}) and a source", print_help=False)
        self.refuse_outputs(opts.output, inputs=[args[1]])
        if opts.output and Path(opts.output).exists() and not Path(opts.output).is_file():
            raise UsageError(f"--output {opts.output} is no file, and parts are kept beside it", print_help=False)
        config = Config.from_settings(self.settings)
        request = Request(
            action=args[0],
            source=args[1],
            output=Path(opts.output) if opts.output else None,
            config=config,
            workers=_count("--workers", opts.workers, config.workers),
            scheduler=opts.scheduler,
            partitions=_count("--partitions", opts.partitions, 0),
            dashboard=opts.dashboard,
        )
        try:
            totals = import_module(f"crawler.batch.{request.action}").batch(request)
        except BatchStopped as problem:
            self.fail(f"{problem}; what is done is kept, the same command goes on", EXIT_STOPPED)
            return
        _say(totals)
        if totals.counts[UNREAD] and not request.output:
            self.exitcode = EXIT_STOPPED


def _count(option: str, given: str | None, usual: int) -> int:
    if given is None:
        return usual
    if not given.isdecimal() or not int(given):
        raise UsageError(f"{option} is {given!r}; it takes a number, 1 or more", print_help=False)
    return int(given)


def _say(totals: BatchTotals) -> None:
    for note in totals.notes:
        sys.stderr.write(f"{note}\n")
    sys.stdout.writelines(totals.report)
    if totals.counts and not totals.report:
        sys.stdout.write(", ".join(f"{count:,} {what}" for what, count in totals.counts.items() if count) + "\n")
