"""`scrapy describe`: keywords, summary, classes and harm of documents or articles."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from scrapy.exceptions import UsageError

from ..corpus.documents import WANTED, described, opened, rows_of
from ..options.config import Config
from ..run.command import ARTICLE_OPTIONS, NewsCommand, add_article_options, wanted_articles
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    import argparse

    from pipelines.describe import DescribeOptions, Describer


_TOLD: Final = 1_000
"""Documents between two lines of progress."""


class Command(NewsCommand):
    usage = (
        "[--model FILE ...] [--input FILE [--output FILE] [--language zh|en]] | "
        "[--host NAME] [--since 30d] [--where CONDITION]"
    )
    summary = "Describe documents of a file, or stored articles again: keywords, summary, classes, harm"
    description = (
        "Reads documents (JSON lines with id and text, best with title; maybe html, the whole page, and language) "
        "and writes a line for each, in their order: id, keywords (best first), summary, classes (best first) with "
        "memberships, class (the best), harmful (a number from 0 to 1), verdict (true if the document is harmful), "
        "kind and reasons. Files are read and written line by line; those named .gz are packed. Without --input "
        "the articles in the database are described again that were described by other models or settings."
    )
    examples = (
        ("scrapy describe --input docs.jsonl.gz --output out.jsonl.gz", "Describe each document of a file"),
        ("scrapy describe --input docs.jsonl --output - --model mine.json", "Use a model made by scrapy train"),
        ("scrapy describe -s CLASSES=mine.json", "Describe the articles in the database again, by other settings"),
        ("scrapy describe --model mine.json --host www.example.com", "The same for one host, by another model"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--input", metavar="FILE", help="documents: .jsonl, .jsonl.gz or - (standard input)")
        parser.add_argument("--output", metavar="FILE", help="where the lines go (standard output)")
        parser.add_argument(
            "--model",
            type=Path,
            metavar="FILE",
            action="append",
            default=[],
            help="a model of classes, keywords or harm by scrapy train, in place of the other; may be given for each",
        )
        parser.add_argument(
            "--language", choices=("zh", "en"), help="of documents that do not say theirs (found out by default)"
        )
        add_article_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from pipelines.describe import check, describer

        _refuse_mixed(opts)
        self.refuse_outputs(opts.output, inputs=[opts.input, *opts.model])
        config = Config.from_settings(self.settings)
        assert config.parse_options.describe is not None
        options = replace(config.parse_options.describe, models=tuple(str(path.absolute()) for path in opts.model))
        check(options)
        if opts.input is None:
            self._describe_again(opts, config, options)
            return
        count = describe(opts.input, opts.output or "-", describer(options), opts.language or "")
        sys.stderr.write(f"{count:,} documents described\n")

    def _describe_again(self, opts: argparse.Namespace, config: Config, options: DescribeOptions) -> None:
        from ..corpus.redescription import DESCRIBED_KINDS, Redescription
        from ..corpus.rework import UNREAD, rework

        config = replace(config, parse_options=replace(config.parse_options, describe=options))
        done = rework(config, Redescription, wanted_articles(opts, DESCRIBED_KINDS, options.version()))
        sys.stdout.writelines(done.report())
        if done.counts[UNREAD]:
            self.exitcode = EXIT_STOPPED


def _refuse_mixed(opts: argparse.Namespace) -> None:
    for name in ("output", "language") if opts.input is None else ARTICLE_OPTIONS:
        if getattr(opts, name):
            where = "needs --input" if opts.input is None else "has no meaning with --input"
            raise UsageError(f"--{name} {where}", print_help=False)


def describe(input_name: str, output_name: str, describer: Describer, language: str) -> int:
    """Write the description of each document as it is read; return their number.

    Args:
        input_name: JSON lines with id and text, maybe title, html and language; .gz is unpacked, "-" is standard input.
        output_name: gets a line of JSON for each; .gz is packed, "-" is standard output.
        language: of documents that do not name theirs; empty: it is detected.

    Raises:
        InputError: a line is no document; the results before it are written.
        OSError: a file cannot be opened.
    """
    count = 0
    with ExitStack() as stack:
        lines = stack.enter_context(opened(input_name))
        out = sys.stdout if output_name == "-" else stack.enter_context(_written(output_name))
        for _, row in rows_of(lines, input_name, WANTED):
            out.write(json.dumps(described(row, describer, language), ensure_ascii=False) + "\n")
            count += 1
            if count % _TOLD == 0:
                out.flush()
                sys.stderr.write(f"{count:,} documents\n")
    return count


def _written(name: str) -> IO[str]:
    if name.endswith(".gz"):
        return cast("IO[str]", gzip.open(name, "wt", encoding="utf-8", newline="\n"))
    return open(name, "w", encoding="utf-8", newline="\n")
