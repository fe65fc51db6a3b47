"""`scrapy copy-database FROM TO`: copy a crawl into another database.

Scrapy calls a command by the name of its module, so this module has a dash in its name; nothing imports it by name.
"""

from __future__ import annotations

import logging
import shlex
import sys
from typing import TYPE_CHECKING

from rich.progress import Progress
from rich.table import Column, Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from db.engine.errors import DatabaseProblem, WrongDatabase
from db.queries.copy import Copied, copy_database, database_url

from ..run.config import Config, ConfigError, check_names
from ..run.exit_codes import EXIT_DATABASE, EXIT_STOPPED, EXIT_USAGE
from ..run.terminal import Terminal

if TYPE_CHECKING:
    import argparse


_LONGEST_START = 60.0


class Command(ScrapyCommand):
    """Copy a crawl."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "<from> <to>"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Copy a crawl into an empty database (SQLite or Postgres), to go on with it there"

    def long_desc(self) -> str:
        """Return the description for the help."""
        return (
            "Copy a crawl that is not running into an empty or new database. Both are named as in DATABASE_URL "
            "(sqlite:///news.db, postgresql://user:password@host/name); an existing SQLite file also by its path."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Copy; errors are one sentence each."""
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # its warnings would stand beside that sentence
        assert self.settings is not None
        if len(args) != 2:
            raise UsageError("name two databases: FROM and TO")
        try:
            check_names(self.settings)
            patience = min(Config.from_settings(self.settings).database_patience, _LONGEST_START)
            copied = self._copy(database_url(args[0]), database_url(args[1]), patience)
        except (ConfigError, WrongDatabase) as problem:
            self._fail(str(problem), EXIT_USAGE)
        except DatabaseProblem as problem:
            self._fail(str(problem), EXIT_DATABASE)
        except KeyboardInterrupt:
            self._fail("stopped; nothing was copied", EXIT_STOPPED)
        else:
            _print(copied)

    def _copy(self, source: str, target: str, patience: float) -> Copied:
        """Copy, with a line on a terminal that shows how far it is."""
        console = Terminal(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
            line = shown.add_task("", total=None)
            return copy_database(
                source,
                target,
                patience_seconds=patience,
                waiting=lambda sentence: console.print(sentence, soft_wrap=True, markup=False),
                progress=lambda rows, table, more: shown.update(line, total=rows, description=table, advance=more),
            )

    def _fail(self, sentence: str, code: int) -> None:
        sys.stderr.write(f"scrapy copy-database: {sentence}\n")
        self.exitcode = code


def _print(copied: Copied) -> None:
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
