"""`scrapy export articles|links|duplicates|sites`: write what is stored to a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from scrapy.exceptions import UsageError

from db.engine.errors import DatabaseProblem

from ..options.given import value_of
from ..run.command import NewsCommand, refuse_unwritable
from ..run.exit_codes import EXIT_DATABASE, EXIT_STOPPED
from ..run.full_text import renew_indexes

if TYPE_CHECKING:
    import argparse

    from pipelines.export.formats import RowWriter
    from pipelines.export.read import ExportTable, Reading

NAMES: Final = ("articles", "links", "duplicates", "sites")
FORMATS: Final = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".md": "markdown",
    ".bib": "bibtex",
    ".ris": "ris",
}
"""By the ending of the file."""
_CITATIONS: Final = frozenset(("bibtex", "ris", "gbt7714"))
_BINARY: Final = frozenset(("parquet", "xlsx"))
_IN_PLACE: Final = frozenset(("jsonl", "csv"))
"""Formats of which every line is of use by itself: what is written stays, and can be added to."""


class Command(NewsCommand):
    usage = f"{'|'.join(NAMES)} [--format NAME] [--output FILE] [options]"
    summary = "Write articles, links, duplicates or sites as JSON lines, CSV, XLSX, Parquet, Markdown or citations"
    description = (
        "Write what is stored, also while a crawl runs, in an order that stays: articles in the order in which "
        "they were stored. The last key is said at the end and stands in every row (number of articles, id of "
        "sites, key of links and duplicates); --after goes on behind it. docs/exports.md tells the rest."
    )
    most_arguments = 1
    examples = (
        ("scrapy export articles --output articles.csv --bom", "Write all articles for Excel"),
        ("scrapy export articles --since 7d --site example.com --output week.jsonl", "One site's last seven days"),
        ("scrapy export articles --output articles.jsonl --append", "Add what has come since the last export"),
        ("scrapy export articles --format markdown --output articles/", "A Markdown file for each article"),
        ("scrapy export articles --query port --output port.bib", "Citations for BibTeX; also .ris, --format gbt7714"),
        ("scrapy export links --output links.parquet", "The link graph for pandas, DuckDB, Spark"),
        ("scrapy export sites --format csv", "Print the sites"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        forms = (*FORMATS.values(), "gbt7714")
        parser.add_argument("--format", choices=forms, help="by default by the ending of the file, else jsonl")
        parser.add_argument("--output", metavar="FILE", default="-", help="where it goes; - is standard output")
        parser.add_argument("--since", default="", metavar="TIME", help="published from then on: 2024-05-01, 7d, 12h")
        parser.add_argument("--until", default="", metavar="TIME", help="published until then")
        parser.add_argument("--site", default="", metavar="NAME", help="only this site: example.com")
        parser.add_argument("--language", default="", metavar="CODE", help="only this language: zh, zh-Hant, en")
        parser.add_argument(
            "--query", default="", metavar="WORDS", help="only articles of this query, with all its words"
        )
        parser.add_argument("--after", default="", metavar="KEY", help="only what comes behind this key")
        parser.add_argument(
            "--columns",
            default="",
            metavar="A,B",
            help="these columns, or all; articles have html, images, too, with a desk starred, read_at, labels, note",
        )
        parser.add_argument("--bom", action="store_true", help="begin CSV with a mark by which Excel knows UTF-8")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--overwrite", action="store_true", help="replace a file that exists")
        how.add_argument("--append", action="store_true", help="go on behind the last row of a file that exists")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.desk.file import DeskFile
        from db.shards.databases import Shards
        from pipelines.export.read import MARKED_ARTICLES, TABLES, reading

        from ..options.alerts import desk_path

        if not args or args[0] not in NAMES:
            raise UsageError(f"name what to export: {', '.join(NAMES)}", print_help=False)
        url = value_of(self.settings, "DATABASE_URL")
        databases = Shards.read(url).urls
        if opts.append and not opts.after and len(databases) > 1:
            raise ValueError(
                "--append takes up the last row of one database; of several, add --after KEY, which the last export "
                "said at its end"
            )
        desk = DeskFile(desk_path(value_of(self.settings, "DESK"), databases[0]))
        has_desk = args[0] == "articles" and desk.exists()
        table = MARKED_ARTICLES if has_desk else TABLES[args[0]]
        target = _target(opts, table)
        self.refuse_destroying([target.path])
        after = opts.after or target.key
        export_reading: Reading[Any] = reading(
            table,
            url,
            since=opts.since,
            until=opts.until,
            site=opts.site,
            language=opts.language,
            query=opts.query,
            after=after,
            desk=desk if has_desk else None,
        )
        if opts.query:
            renew_indexes(self)
        self._export(export_reading, target)

    def _export(self, found: Reading[Any], target: _Target) -> None:
        name, count, key = found.table.name, 0, target.key
        pages = found.steps(target.read)
        first = next(pages, None)  # what is wrong with the database is known before a file is made
        try:
            with _opened(target) as out, _writer(target, found.table, out) as writer, _progress(name) as shown:
                for page, place in chain((first,), pages) if first else ():
                    writer.write([row for _, row in page])
                    if out is not None:
                        out.flush()  # whoever reads it, or kills us, has whole lines
                    count, key = count + len(page), place
                    shown(count)
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            self.fail(f"stopped after {count:,} {name}{_hint(target, key)}", EXIT_STOPPED)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            where = "standard output" if target.path is None else target.path
            self.fail(f"{where} cannot be written ({why}) after {count:,} {name}{_hint(target, key)}", EXIT_DATABASE)
        except DatabaseProblem as problem:
            self.fail(f"{problem}; {count:,} {name} were read{_hint(target, key)}", EXIT_DATABASE)
        else:
            later = f"; what is stored later: --after {key}" if name == "articles" and key else ""
            sys.stderr.write(f"{count:,} {name}{later}\n")


class _Target(NamedTuple):
    """Where an export goes, and how.

    Attributes:
        path: None is standard output.
        is_folder: whether each article becomes a file.
        is_new: whether nothing of what is there stays.
        bom: whether CSV begins with a mark.
        end, key: bytes of the file that stay, and the key of its last row.
    """

    path: Path | None
    form: str
    is_folder: bool
    is_new: bool
    columns: tuple[str, ...]
    read: tuple[str, ...]
    bom: bool
    end: int = 0
    key: str = ""


def _target(opts: argparse.Namespace, table: ExportTable[Any]) -> _Target:
    from pipelines.export.formats import FRONT_MATTER, columns_read

    path = None if opts.output == "-" else Path(opts.output)
    form = _format(opts.format, path)
    named = [name.strip() for name in opts.columns.split(",") if name.strip()]
    are_documents = form == "markdown" and table.name == "articles"
    if form in _CITATIONS and (table.name != "articles" or named):
        raise ValueError(f"{form} is for citations of articles, and has no --columns")
    columns = table.check_columns(named or (FRONT_MATTER if are_documents else ()))
    read = columns_read(form, columns, are_articles=table.name == "articles")
    is_folder = are_documents and path is not None and path.suffix.lower() != ".md"
    target = _Target(path, form, is_folder, not opts.append, columns, read, opts.bom)
    if opts.bom and form != "csv":
        raise ValueError("--bom is for CSV, other formats are UTF-8 by themselves")
    if path is None:
        if opts.append or opts.overwrite:
            raise ValueError("--append and --overwrite need --output FILE")
        if form in _BINARY and sys.stdout.isatty():
            raise ValueError(f"{form} is not for terminals; name a file with --output")
        return target
    if opts.append and not is_folder and form not in _IN_PLACE:
        raise ValueError(f"nothing can be added to a file of {form}; export to another one with --after KEY")
    _refuse_path(target, opts)
    if opts.append and not is_folder and path.is_file():
        target = _behind(target, table)
    return target


def _format(named: str | None, path: Path | None) -> str:
    form = named or ("jsonl" if path is None else FORMATS.get(path.suffix.lower()))
    if form is None:
        raise ValueError(f"say --format {'|'.join(FORMATS.values())}, or name a file with such an ending: {path}")
    return form


def _refuse_path(target: _Target, opts: argparse.Namespace) -> None:
    """Refuse what cannot be written, or is there and may not be changed."""
    path = target.path
    assert path is not None
    if target.is_folder:
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file; name a folder, or a file that ends in .md for one document")
        refuse_unwritable(path / "x" if path.exists() else path)
        is_there = path.exists() and any(path.iterdir())
        if opts.append and not opts.after:
            raise ValueError("--append to a folder needs --after KEY, which the last export said at its end")
    else:
        refuse_unwritable(path)
        is_there = path.is_file()
    if is_there and not opts.overwrite and not opts.append:
        adds = ", --append adds to it" if target.is_folder or target.form in _IN_PLACE else ""
        raise ValueError(f"{path} exists; --overwrite replaces it{adds}")


def _behind(target: _Target, table: ExportTable[Any]) -> _Target:
    from pipelines.export.formats import csv_end, json_end

    assert target.path is not None
    try:
        with target.path.open("rb") as file:
            end, key = csv_end(file, table.key, target.columns) if target.form == "csv" else json_end(file, table.key)
    except ValueError as error:
        raise ValueError(f"nothing can be added to {target.path}: {error}") from None
    return target._replace(end=end, key=key)


@contextmanager
def _opened(target: _Target) -> Iterator[BinaryIO | None]:
    """Open the target; a file that is of use only as a whole appears when it is whole."""
    path = target.path
    if path is None:
        yield sys.stdout.buffer
    elif target.is_folder:
        path.mkdir(exist_ok=True)
        yield None
    elif target.form in _IN_PLACE:
        with path.open("r+b" if target.end else "wb") as file:
            if target.end:
                file.truncate(target.end)
                file.seek(target.end)
            yield file
    else:
        from ..run.outputs import written_whole

        with written_whole(path) as file:
            yield file


def _save(path: Path, content: bytes) -> None:
    from ..run.outputs import written_whole

    path.parent.mkdir(exist_ok=True)
    with written_whole(path) as file:
        file.write(content)


def _writer(target: _Target, table: ExportTable[Any], out: BinaryIO | None) -> RowWriter:
    from pipelines.export import formats

    if target.is_folder:
        assert target.path is not None
        return formats.MarkdownFolder(target.path, target.read, target.columns, _save)
    assert out is not None
    if target.form == "csv" and target.end:
        return formats.Csv(out, target.columns, b"", header=False)
    begin = formats.BOM if target.bom else b""
    return formats.row_writer(target.form, out, table.record, target.columns, target.read, begin=begin)


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """Show on a terminal how many rows were written; yields a function to call."""
    from rich.progress import Progress

    from ..terminal.text import Terminal

    console = Terminal(stderr=True)
    columns = ("{task.completed:,.0f}", name)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        line = shown.add_task(name, total=None)
        yield lambda count: shown.update(line, completed=count)


def _hint(target: _Target, key: str) -> str:
    if target.path is not None and not target.is_folder and target.form not in _IN_PLACE:
        return "; nothing was written, the same command begins anew"
    if target.path is not None and not target.is_folder:
        return "; the same command with --append goes on" if "," not in key else f"; go on with --append --after {key}"
    return f"; go on with --after {key}" if key else ""
