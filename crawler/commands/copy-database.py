"""`scrapy copy-database FROM TO`: copy a crawl into another database.

Scrapy names a command as its module, hence the dash; nothing imports it.
"""

from __future__ import annotations

import logging
import shlex
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..options.given import value_of
from ..run.command import NewsCommand
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    import argparse

    from db.queries.copy import Copied


class Command(NewsCommand):
    usage = "<from> <to>"
    summary = "Copy a crawl into an empty database (SQLite or Postgres), to go on with it there"
    description = (
        "Copy a crawl that is not running into an empty or new database. Both are named as in DATABASE_URL "
        "(postgresql://user:password@host/name); a SQLite file by its path."
    )
    most_arguments = 2
    examples = (
        ("scrapy copy-database news.db postgresql://user:password@host/name", "Go on in Postgres"),
        ("scrapy copy-database postgresql://user:password@host/name copy.db", "Take a crawl home as one file"),
    )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # its warnings would stand beside that sentence
        if len(args) != 2:
            raise UsageError("name two databases: FROM and TO", print_help=False)
        patience = value_of(self.settings, "DATABASE_PATIENCE")
        try:
            _print(self._copy(args[0], args[1], patience))
        except KeyboardInterrupt:
            self.fail("stopped; nothing was copied", EXIT_STOPPED)

    def _copy(self, source: str, target: str, patience: float) -> Copied:
        from rich.progress import Progress

        from db.queries.copy import copy_database
        from pipelines.search.terms import index_terms

        from ..terminal.text import Terminal

        console = Terminal(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
            line = shown.add_task("", total=None)
            return copy_database(
                source,
                target,
                patience_seconds=patience,
                make_terms=index_terms,
                waiting=lambda sentence: console.print(sentence, soft_wrap=True, markup=False),
                progress=lambda rows, table, more: shown.update(line, total=rows, description=table, advance=more),
            )


def _print(copied: Copied) -> None:
    from rich.table import Column, Table

    from ..terminal.text import Terminal

    console = Terminal(soft_wrap=True)
    table = Table("table", Column("rows", justify="right"))
    for name, n in copied.rows.items():
        table.add_row(name, f"{n:,}")
    console.print(table)
    if copied.changed:
        console.print(f"{copied.changed} texts were changed: they held characters that the new database cannot hold.")
    hidden = " (with the password in place of ***)" if ":***@" in copied.url else ""
    console.print(
        "Go on there, and no longer in the old database, with: "
        f"DATABASE_URL={shlex.quote(copied.url)} scrapy crawl news -a seeds=...{hidden}",
        markup=False,
    )
