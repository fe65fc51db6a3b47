"""`scrapy duplicates`: show reprints, check signatures, find duplicates in files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from db.records.evidence import RELATED, REPEATING
from db.records.signature import Reader

from ..corpus.documents import documents_of, opened
from ..options.config import Config
from ..run.command import NewsCommand, add_format, opened_to_change, read
from ..run.exit_codes import EXIT_FOUND

if TYPE_CHECKING:
    import argparse

    from rich.console import RenderableType

    from db.queries.reprints import Reprint, Reprints
    from pipelines.dedup.shape import Method
    from pipelines.dedup.stream import Counts

    from ..terminal.output import Output


_MOST_SHOWN = 100
_MOST_NAMED = 5
_MOST_SENTENCES = 3
_SENTENCE_CHARS = 70
_INDENT = 4
"""Cells by which a branch of the tree is moved to the right."""


class Command(NewsCommand):
    usage = "--show URL | --input FILE [--output FILE] [--method NAME] | --check | --rebuild"
    summary = "Show who reprinted an article; find duplicates in a file of documents"
    description = (
        "--show prints the reprints of an article as a tree: who printed first, who copied whom, what differs. "
        "--input reads documents (JSON lines with id, title, text; .gz is unpacked; - is standard input) in their "
        "order and writes the pairs found: id of the earlier, id of the later, similarity, kind. --check compares "
        "the signatures in the database, by which duplicates are found, with its articles; --rebuild makes them "
        "anew. Duplicates are judged by DUPLICATE_METHOD, DUPLICATE_PARAMS and DUPLICATE_THRESHOLD."
    )
    examples = (
        ("scrapy duplicates --show https://www.example.com/news/1.html", "Show who reprinted an article"),
        ("scrapy duplicates --input docs.jsonl --output pairs.tsv", "Find duplicates in a file of documents"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--show", metavar="URL", help="print the reprints of an article")
        what.add_argument("--input", metavar="FILE", help="find duplicates among documents: .jsonl, .jsonl.gz or -")
        what.add_argument("--check", action="store_true", help="compare the signatures with the articles")
        what.add_argument("--rebuild", action="store_true", help="make the signatures anew from the articles")
        add_format(parser, "table", "jsonl")
        parser.add_argument("--output", metavar="FILE", default="-", help="where pairs go (standard output)")
        parser.add_argument("--method", metavar="NAME", help="how texts are compared (DUPLICATE_METHOD)")
        parser.add_argument(
            "--related", action="store_true", help="write pairs of the kinds template and quotes, too: no duplicates"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..terminal.output import Output

        if opts.method:
            self.settings.set("DUPLICATE_METHOD", opts.method, priority="cmdline")
        if opts.show is not None:
            self._show(opts.show, opts)
            return
        config = Config.from_settings(self.settings)
        if opts.input is not None:
            self.refuse_outputs(opts.output, inputs=[opts.input])
            self._find(opts, config)
        elif opts.check:
            self._check(config, Output(opts.format))
        elif opts.rebuild:
            self._rebuild(config, Output(opts.format))

    def _show(self, named: str, opts: argparse.Namespace) -> None:
        from db.queries.reprints import reprints
        from pipelines.urls import canonicalize

        from ..terminal.output import TABLE, Output
        from ..terminal.text import console_for

        url = canonicalize(named)
        if url is None:
            raise ValueError(f"{named!r} is no http(s) URL")
        name, cluster = read(self, lambda connection: reprints(connection, url, _MOST_SHOWN))
        if cluster is None:
            raise ValueError(f"{name} has no article {url}; `scrapy why {url}` tells what became of the page")
        if opts.format != TABLE:
            _records(Output(opts.format), cluster)
            return
        console = console_for(wide=opts.wide, markup=True)  # the tree has colours; what is crawled is escaped there
        console.print(f"Database: {name}", markup=False)
        if cluster.size == 1:
            console.print("nothing repeats this article")
        for part in tree(cluster, console.width):
            console.print(part)

    def _find(self, opts: argparse.Namespace, config: Config) -> None:
        kinds = REPEATING | RELATED if opts.related else REPEATING
        policy, memory = config.duplicates, config.duplicate_memory_bytes
        counts = find(
            opts.input, opts.output, config.duplicate_method, policy.threshold, frozenset(kinds), memory=memory
        )
        sys.stderr.write(
            f"{counts.documents:,} documents, {counts.duplicates:,} of them duplicates of earlier ones, "
            f"{counts.pairs:,} pairs written\n"
        )

    def _check(self, config: Config, output: Output) -> None:
        from db.articles import signatures

        method = config.duplicate_method
        name, differences = read(self, lambda connection: signatures.check(connection, method.form, method.sign))
        kinds = ("missing", "orphans", "wrong")
        numbers = {what: [str(key) for key in getattr(differences, what)] for what in kinds}
        report = {"database": name, "signatures": differences.signatures, "other_method": bool(differences.form)}
        output.record("", report | numbers)
        output.say(f"Database: {name}\n{differences.signatures:,} signatures")
        if differences.form:
            output.say("they were made in another way than DUPLICATE_METHOD and DUPLICATE_PARAMS say")
        for what, ids in numbers.items():
            if ids:
                named = ", ".join(ids[:_MOST_NAMED]) + (" ..." if len(ids) > _MOST_NAMED else "")
                output.say(f"{len(ids):,} {what}: articles {named}")
        if differences:
            output.say("make them anew with: scrapy duplicates --rebuild")
            self.exitcode = EXIT_FOUND
        else:
            output.say("no difference: signatures and articles agree")

    def _rebuild(self, config: Config, output: Output) -> None:
        """Make all signatures again, while nothing else writes."""
        from db.articles import signatures
        from pipelines.dedup.judge import SignatureIndex

        reader = Reader(SignatureIndex(config.duplicate_method, None), config.duplicate_method.sign, _say)
        with opened_to_change(self) as database:
            count = signatures.write_alone(database, lambda connection: signatures.rebuild(connection, reader))
        output.say(f"Database: {database.name}\n{count:,} signatures made")
        output.record("", {"database": database.name, "signatures": count})


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


_SHOWN = ("url", "site", "title", "source", "published_at", "first_seen", "text_chars", "similarity", "method", "kind")


def _records(output: Output, cluster: Reprints) -> None:
    for articles, related in ((cluster.articles, False), (cluster.related, True)):
        for one in articles:
            repeats = None if one.of_id is None else str(one.of_id)
            ids = {"id": str(one.id), "repeats": repeats, "is_related": related}
            output.record("", ids | {name: getattr(one, name) for name in _SHOWN})


def tree(cluster: Reprints, width: int) -> Iterator[RenderableType]:
    """Yield the tree of a cluster for a terminal of this width, then related articles."""
    from rich.tree import Tree

    trees: dict[int, Tree] = {}
    for one, above, depth in cluster.branches():
        head = _head(one, width - _INDENT * depth)
        if above is None:
            trees[one.id] = Tree(head)
            continue
        branch = trees[one.id] = trees[above.id].add(head)
        for line in _changes(one, above, cluster):
            branch.add(line)
    yield trees[cluster.articles[0].id]
    if cluster.size > len(cluster.articles):
        yield f"and {cluster.size - len(cluster.articles):,} more"
    if cluster.related:
        related = Tree("related, but stories of their own")
        for one in cluster.related:
            related.add(_head(one, width - _INDENT))
        yield related


def _head(one: Reprint, width: int) -> str:
    from rich.markup import escape

    from ..terminal.text import shortened

    when = one.published_at or f"seen {one.first_seen}"
    source = f", source {one.source}" if one.source else ""
    lines = [
        f"[bold]{escape(when)}[/bold]  {escape(one.site + source)}",
        escape(one.title),
        f"[dim]{escape(shortened(one.url, width))}[/dim]",
    ]
    if one.kind is not None:
        lines.insert(1, f"{one.kind}, similarity {one.similarity:.3f} ({one.method})")
    return "\n".join(lines)


def _changes(one: Reprint, other: Reprint, cluster: Reprints) -> Iterator[str]:
    from rich.markup import escape

    from pipelines.dedup.differences import compare_sentences

    if one.title != other.title:
        yield f"other headline than {escape(_short(other.title))}"
    if not one.text:
        yield f"text not kept ({one.text_chars:,} characters)"
        return
    before = cluster.text_of(other)
    if before is None:
        return
    for sign, color, sentences in zip("+-", ("green", "red"), compare_sentences(before, one.text), strict=True):
        for sentence in sentences[:_MOST_SENTENCES]:
            yield f"[{color}]{sign}[/{color}] {escape(_short(sentence))}"
        if len(sentences) > _MOST_SENTENCES:
            yield f"[{color}]{sign}[/{color}] {len(sentences) - _MOST_SENTENCES} more sentences"


def _short(text: str) -> str:
    return text if len(text) <= _SENTENCE_CHARS else text[: _SENTENCE_CHARS - 1] + "…"


def find(
    input_name: str,
    output_name: str,
    method: Method,
    threshold: float,
    kinds: frozenset[str],
    *,
    memory: int | None = None,
) -> Counts:
    """Write the pairs of a file's documents, as they are found.

    Args:
        input_name: JSON lines with id, title (may be missing) and text, in order of arrival; .gz is unpacked, "-" is
            standard input.
        output_name: gets the lines of `write_pairs`; "-" is standard output.
        threshold: least similarity of duplicates.
        memory: bytes that the index may take.

    Raises:
        InputError: a line is no document; the pairs before it are written.
        OSError: a file cannot be opened.
    """
    from pipelines.dedup.spool import Spool
    from pipelines.dedup.stream import Finder, write_pairs

    with ExitStack() as stack:
        lines = stack.enter_context(opened(input_name))
        out = sys.stdout if output_name == "-" else stack.enter_context(open(output_name, "w", encoding="utf-8"))
        finder = Finder(method, threshold, stack.enter_context(Spool()), memory=memory)
        return write_pairs(finder, documents_of(lines, input_name), out, kinds)
