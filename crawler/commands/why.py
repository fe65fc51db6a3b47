"""`scrapy why URL`: everything the crawl knows about one URL."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from db.records.keys import iso
from db.records.reasons import SkipReason

from ..options.given import value_of
from ..run.command import NewsCommand, add_format, read_each
from ..run.exit_codes import EXIT_USAGE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from db.engine.database import ReadConnection
    from db.queries.status import Explanation
    from pipelines.focus.profile import ProfileSource

    from ..web.inspection.explanation import LookUp


class Command(NewsCommand):
    usage = "[--format NAME] <url>"
    summary = "Explain a URL: where it was found, its score, its state, what it duplicates"
    most_arguments = 1
    examples = (("scrapy why https://www.example.com/news/1.html", "Tell why a page is no article, or when it comes"),)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.search.clicks import ClickFile, beside
        from db.shards.databases import Shards

        from ..terminal.output import Output
        from ..terminal.text import show_pairs
        from ..web.inspection.explanation import because, look_up, origin, read_url, results

        if not args:
            raise UsageError("name one URL", print_help=False)
        url = read_url(args[0])
        if url is None:
            raise UsageError(f"{args[0]!r} is no http or https URL", print_help=False)
        file = ClickFile(beside(Shards.read(value_of(self.settings, "DATABASE_URL")).urls[0]))

        def read(connection: ReadConnection) -> tuple[LookUp, Sequence[ProfileSource]]:
            found = look_up(connection, url)
            return found, because(connection, found.known, file) if found.known is not None else ()

        name, answers = read_each(self, read)
        answer, stayed_with = max(
            (each for _, each in answers), key=lambda each: (each[0].known is not None, each[0].is_pruned)
        )
        output = Output(opts.format, wide=opts.wide)
        if answer.is_pruned:
            output.say(f"{url} is outside of the seeds' scope; no more is kept of it (KEEP_DAYS)")
            output.record("", {"url": url, "state": "skipped", "reason": SkipReason.OUTSIDE})
            return
        if answer.known is None:
            self.fail(f"{url} has never been seen by the crawl in {name}; is it written as on its site?", EXIT_USAGE)
            return
        explanation = answer.known
        if output.is_table:
            show_pairs(
                output.console,
                [
                    *origin(explanation, answer.rules),
                    *_score(explanation),
                    *(("because", f"you stayed with “{one.title}” ({', '.join(one.words)})") for one in stayed_with),
                    *results(explanation),
                ],
            )
        reasons = [one._asdict() for one in stayed_with]
        output.record("", _record(explanation, answer.rules) | {"stayed_with": reasons})


_AS_THEY_ARE = (
    "url",
    "kind",
    "state",
    "reason",
    "detail",
    "page_kind",
    "host",
    "seed",
    "depth",
    "found_on",
    "anchor",
    "score",
    "tries",
    "http_status",
    "visits",
    "rests",
    "same_as",
)


_OF_ARTICLES = (
    "title",
    "authors",
    "source",
    "published_at",
    "published_from",
    "language",
    "text_chars",
    "quality",
    "kind_probability",
    "extractor",
    "published_precision",
    "text_from",
    "first_seen",
    "updated",
    "gone",
)


def _record(known: Explanation, rules: Sequence[str]) -> dict[str, Any]:
    from pipelines.records import BlockKind

    from ..web.inspection.explanation import score_shares

    record = {name: getattr(known, name) for name in _AS_THEY_ARE}
    record["found_in"] = BlockKind(known.found_in).name.lower()
    for name in ("fetched_at", "next_visit"):
        time = getattr(known, name)
        record[name] = None if time is None else iso(time)
    record["rules"] = list(rules)
    record["signals"] = [asdict(one) | {"added": one.added} for one in score_shares(known)] or dict(known.parts)
    record["part"] = None if known.part is None else dict(zip(("position", "url"), known.part, strict=True))
    record["article"] = {name: known.article[name] for name in _OF_ARTICLES} if known.article else None
    record["versions"] = [{"seen": one.seen, "title": one.title} for one in known.versions]
    names = ("url", "similarity", "method", "kind", "is_later")
    record["duplicates"] = [dict(zip(names, one, strict=True)) for one in known.duplicates]
    return record


def _score(known: Explanation) -> list[tuple[str, str]]:
    from ..web.inspection.explanation import score_shares

    shares = score_shares(known)
    if not shares:
        parts = ", ".join(f"{signal} {value:g}" for signal, value in known.parts.items())
        return [("score", f"{known.score:.4f}" + (f" (signals: {parts})" if parts else ""))]
    lines = [("score", f"{known.score:.4f}, of")]
    return lines + [("", f"{one.added:8.4f}  {one.signal:<10} {one.value:.4f} x {one.weight:g}") for one in shares]
