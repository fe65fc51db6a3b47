"""`scrapy rank`: the best pages of a crawl by their links, while it runs or afterwards; pictures of its link graph."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from ..exits import EXIT_STOPPED, EXIT_USAGE
from ..jobs.database import read_with, wide_console

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Rank pages."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """No arguments."""
        return "[--by METHOD] [--top N] [--graph FILE]"

    def short_desc(self) -> str:
        """One line for `scrapy`."""
        return "Show the best pages by their links; draw the link graph"

    def long_desc(self) -> str:
        """What the options are."""
        return (
            "Methods: pagerank; hits (authorities) and hubs; site (SiteRank times DocRank); block (PageRank in which a "
            "link counts as much as the block it stands in); opic (cash handed on from page to page): their scores sum "
            "to 1 over all pages; topic (how near each page is to what the crawl looks for). The graph is drawn (.svg, "
            ".png), or written for Gephi and others (.graphml)."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's own, and those of the table and the picture."""
        super().add_options(parser)
        parser.add_argument("--by", default="pagerank", metavar="METHOD", help="how pages are scored (pagerank)")
        parser.add_argument("--top", default="20", metavar="N", help="pages to list, best first (20)")
        parser.add_argument("--graph", type=Path, metavar="FILE", help="draw the graph: .svg, .png or .graphml")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output; errors are one line each."""
        # scipy takes a while, and whatever the command, Scrapy imports them all
        from ..jobs import ranking as job  # noqa: PLC0415
        from ..rank.surfer import ConvergenceError  # noqa: PLC0415

        try:
            request = job.Request.parse(opts.by, opts.top, opts.graph)
            found = read_with(self, lambda database: job.rank(database, request, time.time()))
            if found is None:
                return
            name, ranking = found
            console = wide_console()
            console.print(f"Database: {name}")
            console.print(f"{ranking.pages:,} pages, {ranking.rows:,} of them fetched, {ranking.links:,} links")
            for table in ranking.tables:
                console.print(table)
            if request.graph is not None:
                request.graph.write_bytes(ranking.picture)
                console.print(f"{ranking.drawn}: {request.graph}", soft_wrap=True, markup=False)
        except (ValueError, ConvergenceError, OSError) as problem:
            self._fail(str(problem), EXIT_USAGE)
        except KeyboardInterrupt:
            self._fail("stopped", EXIT_STOPPED)

    def _fail(self, sentence: str, code: int) -> None:
        sys.stderr.write(f"scrapy rank: {sentence}\n")
        self.exitcode = code
