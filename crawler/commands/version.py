"""`scrapy version -v`: the versions that a report of a fault should name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands.version import Command as ScrapyVersion
from scrapy.utils.versions import get_versions

from ..run.command import NewsCommand, add_format

if TYPE_CHECKING:
    import argparse


class Command(NewsCommand, ScrapyVersion):
    usage = "[-v]"
    summary = "Print the versions of Scrapy, and with -v of this program, its tables and its models"
    requires_project = False
    examples = (
        ("scrapy version -v", "Name the versions of all that matters"),
        ("scrapy version -v --format jsonl", "The same for a script"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.format != "table":
            from ..terminal.output import Output

            of_others = get_versions() if opts.verbose else get_versions(["Scrapy"])
            for name, value in [*of_others, *(_own() if opts.verbose else ())]:
                Output(opts.format).record("", {"name": name, "version": value})
            return
        ScrapyVersion.run(self, args, opts)
        if opts.verbose:
            for name, value in _own():
                sys.stdout.write(f"{name:<17}: {value}\n")


def _own() -> list[tuple[str, str]]:
    from importlib.metadata import version

    from db.engine.migration import SCHEMA
    from pipelines.models import files

    versions = [("newscrawler", version("newscrawler")), ("database schema", SCHEMA)]
    for path in sorted(files.path("").parent.glob("*.json")):
        versions.append((f"model {path.stem}", files.describe(path.stem)))
    return versions
