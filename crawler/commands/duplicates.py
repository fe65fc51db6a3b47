"""`scrapy duplicates`: reprints of an article, the state of what they are found by, and duplicates in any file."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from db import runs, signatures
from db.database import open_for_crawl
from db.errors import DatabaseGone, DatabaseProblem
from db.records.evidence import RELATED, REPEATING
from db.records.signature import Reader
from db.reprints import reprints
from pipelines.duplicates import SignatureIndex
from pipelines.urls import canonicalize

from ..config import Config, ConfigError
from ..exits import EXIT_DATABASE, EXIT_STOPPED, EXIT_USAGE
from ..jobs.database import read, wide_console

if TYPE_CHECKING:
    import argparse


_MOST_SHOWN = 100
_MOST_NAMED = 5
EXIT_DIFFERENT = 1


class Command(ScrapyCommand):
    """Look at duplicates, and find them in files."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """One of the four."""
        return "--show URL | --input FILE [--output FILE] [--method NAME] | --check | --rebuild"

    def short_desc(self) -> str:
        """One line for `scrapy`."""
        return "Show who reprinted an article; find duplicates in a file of documents"

    def long_desc(self) -> str:
        """What the four do."""
        return (
            "--show prints the reprints of an article as a tree: who printed first, who copied whom, what differs. "
            "--input reads documents (JSON lines with id, title, text; .gz is unpacked; - is standard input) in their "
            "order and writes the pairs found: id of the earlier, id of the later, similarity, kind. --check compares "
            "the signatures in the database, by which duplicates are found, with its articles; --rebuild makes them "
            "anew. Duplicates are judged by DUPLICATE_METHOD, DUPLICATE_PARAMS and DUPLICATE_THRESHOLD."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's own, and what to do."""
        super().add_options(parser)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--show", metavar="URL", help="print the reprints of an article")
        what.add_argument("--input", metavar="FILE", help="find duplicates among documents: .jsonl, .jsonl.gz or -")
        what.add_argument("--check", action="store_true", help="compare the signatures with the articles")
        what.add_argument("--rebuild", action="store_true", help="make the signatures anew from the articles")
        parser.add_argument("--output", metavar="FILE", default="-", help="where pairs go (standard output)")
        parser.add_argument("--method", metavar="NAME", help="how texts are compared (DUPLICATE_METHOD)")
        parser.add_argument(
            "--related", action="store_true", help="write pairs of the kinds template and quotes, too: no duplicates"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output; errors are one line each."""
        assert self.settings is not None
        if opts.method:
            self.settings.set("DUPLICATE_METHOD", opts.method, priority="cmdline")
        try:
            config = Config.from_settings(self.settings)
            if args:
                raise ConfigError(f"{args[0]!r} is not understood; see scrapy duplicates --help")
            if opts.show is not None:
                self._show(opts.show)
            elif opts.input is not None:
                self._find(opts, config)
            elif opts.check:
                self._check(config)
            elif opts.rebuild:
                self._rebuild(config)
        except DatabaseProblem as problem:
            self._fail(str(problem), EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE)
        except BrokenPipeError:  # whoever read the output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (ValueError, OSError) as problem:
            self._fail(str(problem), EXIT_USAGE)
        except KeyboardInterrupt:
            self._fail("stopped", EXIT_STOPPED)

    def _show(self, address: str) -> None:
        """Print a cluster."""
        from ..jobs.reprints import tree  # noqa: PLC0415 - whatever the command, Scrapy imports them all

        url = canonicalize(address)
        if url is None:
            raise ValueError(f"{address!r} is no http(s) URL")
        found = read(self, lambda connection: reprints(connection, url, _MOST_SHOWN))
        if found is None:
            return
        name, cluster = found
        if cluster is None:
            raise ValueError(f"{name} has no article {url}; `scrapy why {url}` tells what became of the page")
        console = wide_console(markup=True)  # the tree has colours; what is crawled is escaped there
        console.print(f"Database: {name}", markup=False)
        if cluster.size == 1:
            console.print("nothing repeats this article")
        for part in tree(cluster):
            console.print(part)

    def _find(self, opts: argparse.Namespace, config: Config) -> None:
        """Go through a file."""
        from ..jobs import documents  # noqa: PLC0415

        kinds = REPEATING | RELATED if opts.related else REPEATING
        counts = documents.find(
            opts.input, opts.output, config.duplicate_method, config.duplicates.threshold, frozenset(kinds)
        )
        sys.stderr.write(
            f"{counts.documents:,} documents, {counts.duplicates:,} of them duplicates of earlier ones, "
            f"{counts.pairs:,} pairs written\n"
        )

    def _check(self, config: Config) -> None:
        """Print what a rebuild would change."""
        method = config.duplicate_method
        found = read(self, lambda connection: signatures.check(connection, method.form, method.sign))
        if found is None:
            return
        name, differences = found
        sys.stdout.write(f"Database: {name}\n{differences.signatures:,} signatures\n")
        if differences.form:
            sys.stdout.write("they were made in another way than DUPLICATE_METHOD and DUPLICATE_PARAMS say\n")
        for what in ("missing", "orphans", "wrong"):
            ids = getattr(differences, what)
            if ids:
                named = ", ".join(map(str, ids[:_MOST_NAMED])) + (" ..." if len(ids) > _MOST_NAMED else "")
                sys.stdout.write(f"{len(ids):,} {what}: articles {named}\n")
        if differences:
            sys.stdout.write("make them anew with: scrapy duplicates --rebuild\n")
            self.exitcode = EXIT_DIFFERENT
        else:
            sys.stdout.write("no difference: signatures and articles agree\n")

    def _rebuild(self, config: Config) -> None:
        """Make all signatures again, while nothing else writes."""
        if read(self, lambda _: None) is None:  # there is nothing
            return
        database = open_for_crawl(config.database_url, patience_seconds=config.database_patience)
        index = SignatureIndex(config.duplicate_method, None)
        try:
            with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
                runs.refuse_beside_crawls(connection, database.name)
                signatures.lock_articles(connection)
                made = signatures.rebuild(connection, Reader(index, config.duplicate_method.sign, _say))
        finally:
            database.close()
        sys.stdout.write(f"Database: {database.name}\n{made:,} signatures made\n")

    def _fail(self, sentence: str, code: int) -> None:
        sys.stderr.write(f"scrapy duplicates: {sentence}\n")
        self.exitcode = code


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
