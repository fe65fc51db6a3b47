"""`scrapy describe`: keywords, summary, classes and harm of documents in a file."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from ..run.command import NewsCommand, refuse_unwritable
from ._documents import opened, page_of, refuse_same, rows_of

if TYPE_CHECKING:
    import argparse

    from pipelines.describe import Describer


_WANTED: Final = 'a JSON object like {"id": 1, "title": "...", "text": "..."} is expected'
_TOLD: Final = 1_000
"""Documents between two words of progress."""


class Command(NewsCommand):
    """Describe documents."""

    examples = (
        ("scrapy describe --input docs.jsonl.gz --output out.jsonl.gz", "Describe each document of a file"),
        ("scrapy describe --input docs.jsonl --output - --model mine.json", "Use a model made by scrapy train"),
    )

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "--input FILE [--output FILE] [--model FILE ...] [--language zh|en]"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Write keywords, summary, classes and harm of each document in a file"

    def long_desc(self) -> str:
        """Return the description for the help."""
        return (
            "Reads documents (JSON lines with id and text, best with title; maybe html, the whole page, and language) "
            "and writes a line for each, in their order: id, keywords (best first), summary, classes (best first) with "
            "memberships, class (the best), harmful (a number from 0 to 1), verdict (true if the document is harmful), "
            "kind and reasons. Files are read and written line by line; those named .gz are packed."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to Scrapy's own."""
        super().add_options(parser)
        parser.add_argument(
            "--input", metavar="FILE", required=True, help="documents: .jsonl, .jsonl.gz or - (standard input)"
        )
        parser.add_argument("--output", metavar="FILE", default="-", help="where the lines go (standard output)")
        parser.add_argument(
            "--model",
            type=Path,
            metavar="FILE",
            action="append",
            default=[],
            help="a model of classes, keywords or harm by scrapy train, for the shipped one; may be given for each",
        )
        parser.add_argument(
            "--language", choices=("zh", "en"), help="of documents that do not say theirs (found out by default)"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Describe a file."""
        from pipelines.describe import describer

        made = describer()
        for path in opts.model:
            made = made.with_model(path)
        count = describe(opts.input, opts.output, made, opts.language or "")
        sys.stderr.write(f"{count:,} documents described\n")


def describe(input_name: str, output_name: str, describer: Describer, language: str) -> int:
    """Write the description of each document of a file, as it is read.

    Args:
        input_name: JSON lines with id and text, maybe title, html and language; .gz is unpacked, "-" is standard input.
        output_name: gets a line of JSON for each; .gz is packed, "-" is standard output.
        describer: describes them.
        language: of documents that do not name theirs; empty: it is found out.

    Returns:
        How many there are.

    Raises:
        InputError: a line that is no document. What is before it is written.
        OSError: a file that cannot be opened.
    """
    count = 0
    refuse_same(input_name, output_name)
    refuse_unwritable(output_name)
    with ExitStack() as stack:
        lines = stack.enter_context(opened(input_name))
        out = sys.stdout if output_name == "-" else stack.enter_context(_written(output_name))
        for _, row in rows_of(lines, input_name, _WANTED):
            out.write(json.dumps(_described(row, describer, language), ensure_ascii=False) + "\n")
            count += 1
            if count % _TOLD == 0:
                out.flush()
                sys.stderr.write(f"{count:,} documents\n")
    return count


def _written(name: str) -> IO[str]:
    """Open a file to write lines to; .gz is packed."""
    if name.endswith(".gz"):
        return cast("IO[str]", gzip.open(name, "wt", encoding="utf-8", newline="\n"))
    return open(name, "w", encoding="utf-8", newline="\n")


def _described(row: dict[str, Any], describer: Describer, language: str) -> dict[str, object]:
    """Describe a document, as a row."""
    from pipelines.metadata.language import detect

    named, html = row.get("language"), row.get("html")
    language = (named if isinstance(named, str) else "") or language or detect(row["text"])
    page = page_of(html) if isinstance(html, str) else None
    anchors = [anchor for _, _, _, anchor, _ in page.links] if page else ()
    found = describer.describe(row["title"], row["text"], language, anchors, page)
    return {
        "id": row["id"],
        "keywords": found.keywords,
        "summary": found.summary,
        "classes": found.classes,
        "memberships": dict(found.memberships),
        "class": next(iter(found.classes), None),
        "harmful": found.harm,
        "verdict": bool(found.harm_kind),
        "kind": found.harm_kind or None,
        "reasons": found.harm_reasons,
    }
