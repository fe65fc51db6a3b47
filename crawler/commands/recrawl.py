"""`scrapy recrawl`: mark URLs that the next crawl is to visit again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from db.records.keys import fingerprint
from db.records.url import Kind
from db.records.visit import Wish

from ..run.command import NewsCommand, add_format, opened_to_change, read, seconds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


class Command(NewsCommand):
    usage = "[--older-than 7d] [--host NAME] [--articles|--lists|--failed] [--all] [--dry-run] [url ...]"
    summary = "Let the next crawl visit URLs again: articles, lists of links, what failed, a host's, or those named"
    most_arguments = None
    examples = (
        ("scrapy recrawl --older-than 7d --host www.example.com", "Visit again what is a week old on one host"),
        ("scrapy recrawl --lists --dry-run", "Say how many lists of links there are"),
        ("scrapy recrawl https://www.example.com/news/1.html", "Visit one page again"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--older-than", default="", metavar="TIME", help="only what was last fetched so long ago: 90m, 12h, 7d, 2w"
        )
        parser.add_argument("--host", default="", metavar="NAME", help="only URLs of this host (with its port, if any)")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--articles", dest="what", action="store_const", const="articles", help="only articles")
        what.add_argument(
            "--lists",
            dest="what",
            action="store_const",
            const="lists",
            help="only home and list pages, feeds, sitemaps",
        )
        what.add_argument(
            "--failed",
            dest="what",
            action="store_const",
            const="failed",
            help="only what failed, for whatever reason, or was read in part",
        )
        parser.add_argument("--all", action="store_true", help="everything, when nothing else says what")
        parser.add_argument("--dry-run", action="store_true", help="say how many there are, and mark none")
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.frontier.revisits import count, mark

        from ..terminal.output import Output

        before = None if not opts.older_than else time.time() - seconds("--older-than", opts.older_than)
        wish = Wish(tuple(_ids(args)), before, opts.host.strip().lower(), opts.what or "")
        chosen = wish != Wish() or opts.all or opts.dry_run
        name, marked = read(self, lambda connection: count(connection, wish))  # one that is not there is not made
        if not chosen:
            raise UsageError(f"all {marked} URLs would be visited again; say --all, or which of them", print_help=False)
        if not opts.dry_run:
            with opened_to_change(self) as database:
                marked = database.write(lambda connection: mark(connection, [wish])[0])
        would = "would be" if opts.dry_run else "will be"
        output = Output(opts.format)
        output.say(f"{marked} URLs {would} visited again by the next crawl of {name}")
        output.record("", {"database": name, "urls": marked, "dry_run": opts.dry_run})


def _ids(urls: Sequence[str]) -> list[int]:
    """Return the identifiers of URLs, as pages and as feeds or sitemaps."""
    from pipelines.links.scope import url_id
    from pipelines.urls import canonicalize

    ids: list[int] = []
    for text in urls:
        url = canonicalize(text if "://" in text else f"http://{text}")
        if url is None:
            raise UsageError(f"{text!r} is no http or https URL", print_help=False)
        ids += [fingerprint(url), url_id(url, Kind.FEED), url_id(url, Kind.SITEMAP)]
    return ids
