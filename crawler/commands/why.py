"""`scrapy why URL`: everything the crawl knows about one URL."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..run.command import NewsCommand, add_wide, read
from ..run.exit_codes import EXIT_USAGE

if TYPE_CHECKING:
    import argparse

    from db.queries.status import Explanation


class Command(NewsCommand):
    """Explain one URL."""

    most_arguments = 1
    examples = (("scrapy why https://www.example.com/news/1.html", "Tell why a page is no article, or when it comes"),)

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "<url>"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Explain a URL: where it was found, its score, its state, what it duplicates"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to Scrapy's own."""
        super().add_options(parser)
        add_wide(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output."""
        from ..inspection.explanation import look_up, origin, read_url, results
        from ..run.terminal import console_for, show_pairs

        if not args:
            raise UsageError("name one URL", print_help=False)
        url = read_url(args[0])
        if url is None:
            raise UsageError(f"{args[0]!r} is no http or https URL", print_help=False)
        name, found = read(self, lambda connection: look_up(connection, url))
        if found.is_pruned:
            sys.stdout.write(f"{url} is outside of the seeds' scope; no more is kept of it (KEEP_OUTSIDE)\n")
            return
        if found.known is None:
            self.fail(f"{url} has never been seen by the crawl in {name}; is it written as on its site?", EXIT_USAGE)
            return
        known = found.known
        show_pairs(console_for(wide=opts.wide), [*origin(known, found.rules), *_score(known), *results(known)])


def _score(known: Explanation) -> list[tuple[str, str]]:
    """Split the score into its signals."""
    from ..inspection.explanation import score_shares

    shares = score_shares(known)
    if not shares:
        parts = ", ".join(f"{signal} {value:g}" for signal, value in known.parts.items())
        return [("score", f"{known.score:.4f}" + (f" (signals: {parts})" if parts else ""))]
    lines = [("score", f"{known.score:.4f}, of")]
    return lines + [("", f"{one.added:8.4f}  {one.signal:<10} {one.value:.4f} x {one.weight:g}") for one in shares]
