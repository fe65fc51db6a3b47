"""Base of our commands: help with examples, one sentence for what is wrong."""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, TypeVar

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from db.engine.errors import DatabaseProblem, Unavailable, WrongDatabase
from pipelines.dates.period import parse_seconds

from ..options.given import apply_environment, check_values, feed_names, value_of
from ..options.names import check_names
from ..options.values import ConfigError
from .exit_codes import EXIT_DATABASE, EXIT_STOPPED, EXIT_USAGE

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

    from db.articles.rework import Wanted
    from db.engine.database import Database, Query
    from pipelines.records import PageKind


T = TypeVar("T")


class NewsCommand(ScrapyCommand):
    """A command of this project: `execute` does its work and raises what goes wrong.

    `ValueError`, `OSError` and `DatabaseProblem` become one sentence on stderr and the exit code of the README. For an
    empty `description` the help has the summary; `examples` are command lines, each with what it does.
    """

    requires_project = True
    requires_crawler_process = False
    usage: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    description: ClassVar[str] = ""
    examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    most_arguments: ClassVar[int | None] = 0
    settings: Settings  # Scrapy sets it before it calls any method

    @property
    def name(self) -> str:
        return self.__module__.rpartition(".")[2]

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.description or self.summary

    def notes(self) -> str:
        """Return what the help says below the options, as it is."""
        return ""

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        raise NotImplementedError

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's own options, and the examples to the help."""
        super().add_options(parser)
        parser.formatter_class = _Help
        examples = "".join(f"  {does}:\n    {line}\n" for line, does in self.examples)
        parser.epilog = "\n".join(filter(None, (self.notes(), examples and heading("Examples") + examples)))
        setattr(parser, "error", self._refuse)  # noqa: B010 - Scrapy makes the parser; its own says more than a sentence

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check what is the same for all commands, before Scrapy builds anything."""
        # All that is imported stays: looking for cycles in it each time it grows costs a tenth of the start.
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        _replace_closed()
        try:
            pidfile, opts.pidfile = opts.pidfile, None  # Scrapy would write it before anything is checked
            super().process_options(args, opts)
            apply_environment(self.settings)
            args[:] = self._checked_arguments(args)
            self.check(args)
            named = (*args, *getattr(opts, "spargs", {}).values())
            self.refuse_outputs(value_of(self.settings, "LOG_FILE"), pidfile, opts.profile, inputs=named)
            self.refuse_destroying(feed_names(self.settings), inputs=named)
            if pidfile:
                Path(pidfile).write_text(f"{os.getpid()}\n", encoding="utf-8")
        except (ConfigError, OSError) as problem:
            raise UsageError(sentence(problem), print_help=False) from None

    def _checked_arguments(self, args: list[str]) -> list[str]:
        """Return the arguments; behind "--" all are some, whatever they begin with."""
        end = args.index("--") if "--" in args else len(args)
        unknown = [arg for arg in args[:end] if arg.startswith("-") and arg != "-"]
        if unknown:
            raise ConfigError(f"there is no option {unknown[0]}")
        args = args[:end] + args[end + 1 :]
        if self.most_arguments is not None and len(args) > self.most_arguments:
            raise ConfigError(f"{args[self.most_arguments]!r} is one argument too many")
        return args

    def refuse_outputs(self, *outputs: str | Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
        """Refuse files that cannot be written; see `refuse_destroying`."""
        for output in outputs:
            refuse_unwritable(output)
        self.refuse_destroying(outputs, inputs)

    def refuse_destroying(self, outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()) -> None:
        """Refuse files to write that are an input, the database or each other."""
        named = [output for output in outputs if output]
        if named:
            from .outputs import refuse_destroying  # noqa: PLC0415 - Scrapy imports all commands whichever is run

            refuse_destroying(named, inputs, value_of(self.settings, "DATABASE_URL"))

    def check(self, args: list[str]) -> None:
        """Check the settings; raises `ConfigError`."""
        check_names(self.settings)
        check_values(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        for stream in (sys.stdout, sys.stderr):  # a terminal that knows ASCII alone gets escapes, not an error
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            self.execute(args, opts)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read the output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (WrongDatabase, ValueError, OSError) as problem:
            self.fail(sentence(problem), EXIT_USAGE)
        except Unavailable as problem:
            self.fail(f"{problem}; mend that, or wait, and run the same command again", EXIT_DATABASE)
        except DatabaseProblem as problem:
            self.fail(str(problem), EXIT_DATABASE)
        except KeyboardInterrupt:
            self.fail("stopped", EXIT_STOPPED)

    def fail(self, text: str, code: int) -> None:
        sys.stderr.write(f"scrapy {self.name}: {text}\n")
        self.exitcode = code

    def _refuse(self, message: str) -> NoReturn:
        self.fail(f"{message}; see scrapy {self.name} --help", EXIT_USAGE)
        sys.exit(EXIT_USAGE)


class _Help(ScrapyHelpFormatter):
    """Help in which a text of several lines stays as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text.rstrip() if "\n" in text else super()._fill_text(text, width, indent)


def add_format(parser: argparse.ArgumentParser, *forms: str) -> None:
    """Add `--format`, with all `FORMS` unless some are named, and `--wide`."""
    parser.add_argument(
        "--format",
        choices=forms or ("table", "jsonl", "csv"),
        default="table",
        help="table for people (the default); for scripts jsonl: a JSON object a line"
        + (", or csv" if not forms or "csv" in forms else ""),
    )
    add_wide(parser)


def add_wide(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wide", action="store_true", help="all columns and whole URLs, however wide the terminal is")


ARTICLE_OPTIONS: Final = ("host", "since", "where")


def add_article_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that work on the articles of a database again."""
    parser.add_argument("--host", default="", metavar="NAME", help="again: only articles of this host")
    parser.add_argument("--since", default="", metavar="TIME", help="again: only first seen in this time: 12h, 7d")
    parser.add_argument(
        "--where",
        default="",
        metavar="CONDITION",
        help="again: only those for which this SQL on columns of v_articles is true",
    )


def wanted_articles(opts: argparse.Namespace, kinds: Iterable[PageKind], made_with: str = "") -> Wanted:
    """Return the articles that the options choose, but those made with `made_with`."""
    from db.articles.rework import Wanted  # noqa: PLC0415
    from db.records.keys import iso  # noqa: PLC0415

    since = iso(time.time() - seconds("--since", opts.since)) if opts.since else ""
    words = sorted(kind.word for kind in kinds)
    return Wanted(made_with, opts.host.strip().lower(), since, opts.where.strip(), words)


class _ClosedOutput(io.RawIOBase):
    """Standard output that was closed before we began; refuses what is written."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise ValueError("standard output is closed; name a file for the output, or leave it open")


def _replace_closed() -> None:
    """Open something in place of standard streams that are closed (`>&-`).

    Else the next file to be opened, the database say, would be taken for one of them.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedOutput(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")


def heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n"


def sentence(problem: Exception) -> str:
    """Say in a sentence what is wrong, without the system's numbers."""
    if not isinstance(problem, OSError) or problem.strerror is None:
        return str(problem)
    what = problem.strerror[:1].lower() + problem.strerror[1:]
    if problem.filename is None:
        return what
    return f"{os.fsdecode(problem.filename)} cannot be used ({what}); check its name, its folder and your rights"


def refuse_unwritable(path: str | Path | None) -> None:
    """Raise `ConfigError` for a file that cannot be written; "-" is standard output."""
    if not path or str(path) == "-":
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise ConfigError(f"{path} cannot be written; there is no folder {folder}")
    if Path(path).is_dir():
        raise ConfigError(f"{path} is a folder; name a file")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise ConfigError(f"{path} may not be written; name another file")


def read(command: NewsCommand, query: Query[T]) -> tuple[str, T]:
    """Answer a query from the database of the settings; returns its name and answer."""
    return read_with(command, lambda database: database.read(query))


def read_each(command: NewsCommand, query: Query[T]) -> tuple[str, list[tuple[str, T]]]:
    """Answer a query from every database; returns their names, and the answers."""
    with opened_all(command) as databases:
        answers = [(database.name, database.read(query)) for database in databases]
    return ", ".join(name for name, _ in answers), answers


@contextmanager
def opened_all(command: NewsCommand, tell: Callable[[str], object] | None = None) -> Iterator[list[Database]]:
    """Open every database of the settings for reading.

    `tell` gets a sentence for each that does not answer and is left out; by default standard error.

    Raises:
        DatabaseProblem: one cannot be read; one of several that does not answer is named, and left out.
    """
    from db.engine.database import open_for_reading  # noqa: PLC0415 - Scrapy imports all commands whichever is run
    from db.shards.databases import Shards  # noqa: PLC0415

    shards = Shards.read(value_of(command.settings, "DATABASE_URL"))
    with ExitStack() as stack:
        opened: list[Database] = []
        for place, url in enumerate(shards.urls, 1):
            try:
                opened.append(stack.enter_context(closing(open_for_reading(url))))
            except Unavailable as problem:
                if place == len(shards) and not opened:
                    raise
                (tell or sys.stderr.write)(f"{problem}; what is in it is not shown\n")
        yield opened


def read_with(command: NewsCommand, work: Callable[[Database], T]) -> tuple[str, T]:
    """Do work that makes its connections itself; returns the database's name, too."""
    from db.engine.database import open_for_reading  # noqa: PLC0415 - Scrapy imports all commands whichever is run

    with closing(open_for_reading(value_of(command.settings, "DATABASE_URL"))) as database:
        return database.name, work(database)


@contextmanager
def opened_to_change(command: NewsCommand) -> Iterator[Database]:
    """Open the database of the settings to write to it, but make none.

    Raises:
        DatabaseProblem: it cannot be read or written, or a crawl is at work on the SQLite file (`WrongDatabase`).
    """
    from db.engine.database import open_for_crawl  # noqa: PLC0415

    read(command, lambda _: None)
    url, patience = (value_of(command.settings, name) for name in ("DATABASE_URL", "DATABASE_PATIENCE"))
    with closing(open_for_crawl(url, patience_seconds=patience)) as database:
        yield database


def seconds(option: str, period: str) -> float:
    """Convert a time such as 7d to seconds; raises `UsageError`."""
    try:
        return parse_seconds(period)
    except ValueError as error:
        raise UsageError(f"{option} is {period!r}; {error}", print_help=False) from None
