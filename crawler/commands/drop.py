"""`scrapy drop HOST|SEED`: delete the URLs of a host or seed, or all of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..run.command import NewsCommand, add_format, opened_to_change, read
from ..run.exit_codes import EXIT_STOPPED, EXIT_USAGE

if TYPE_CHECKING:
    import argparse

    from db.articles.drop import Dropping


class Command(NewsCommand):
    usage = "[--articles] [--yes] [--format NAME] <host|seed>"
    summary = "Delete the URLs of a host or a seed, and with --articles all that is stored of them"
    most_arguments = None
    examples = (
        ("scrapy drop www.example.com", "Delete the URLs of a host; its articles stay"),
        ("scrapy drop https://www.example.com/news/ --articles --yes", "Delete those of a seed, articles too, unasked"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--articles", action="store_true", help="also articles, their versions, images and evidence of duplicates"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.articles.drop import drop, find
        from db.frontier.runs import refuse_beside_crawls
        from pipelines.urls import canonicalize, host_key

        from ..terminal.output import Output

        if len(args) != 1:
            raise UsageError("name one host or seed", print_help=False)
        given = args[0].strip()
        urls = [canonicalize(given if "://" in given else f"{scheme}://{given}") for scheme in ("https", "http")]
        seeds = [one for one in dict.fromkeys(urls) if one]
        if not seeds:
            raise UsageError(f"{given!r} is neither a host nor a URL", print_help=False)
        is_url = "/" in given
        host = "" if is_url else host_key(seeds[0])
        database_name, what = read(self, lambda connection: find(connection, host, seeds))
        if what is None:
            kind = "seed" if is_url else "host or seed"
            self.fail(f"{database_name} has no {kind} {given}; v_sites and seed list them", EXIT_USAGE)
            return
        with opened_to_change(self) as database:
            database.read(lambda connection: refuse_beside_crawls(connection, database.name))  # before anybody is asked
            output = Output(opts.format)
            output.say(_amount(what, articles=opts.articles))
            if not opts.yes and not _agreed():
                self.fail("nothing was deleted; say yes, or --yes where nobody can be asked", EXIT_STOPPED)
                return
            drop(database, what, articles=opts.articles)
        again = "Take it out of the seeds, too, or the next crawl begins with it again."
        output.say(f"Deleted. {again}")
        kept_urls = 0 if opts.articles else what.articles
        counts = {name: getattr(what, name) if opts.articles else 0 for name in ("articles", "versions", "images")}
        kind = "seed" if what.is_seed else "host"
        output.record("", {"database": database_name, kind: what.name, "urls": what.urls - kept_urls} | counts)


def _amount(what: Dropping, *, articles: bool) -> str:
    kind = "seed" if what.is_seed else "host"
    stored = f"{what.articles} articles with {what.versions} earlier versions and {what.images} images"
    if articles:
        return f"{kind} {what.name}: {what.urls} URLs ({what.fetched} fetched) and {stored} are deleted."
    gone = f"{what.urls - what.articles} URLs ({what.fetched - what.articles} fetched) are deleted"
    return f"{kind} {what.name}: {gone}; {what.articles} articles stay and are not visited again."


def _agreed() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write("Delete? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
