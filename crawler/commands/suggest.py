"""`scrapy suggest HOST`: selectors for a host, as a line of a seeds file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from ..options.config import Config
from ..run.command import NewsCommand, add_format
from ..run.exit_codes import EXIT_FOUND

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..corpus.suggestion import Suggestion


_PAGES: Final = 40


class Command(NewsCommand):
    usage = "[--database URL] [--pages N] [--format NAME] <host> [file|folder ...]"
    summary = "Suggest selectors for a host: a line for the seeds file, from its pages that are kept"
    description = (
        "Read the newest article pages of a host that the database keeps (STORE_HTML, STORE_WARC), or saved pages "
        "(files, folders, WARC files, JSON lines), and print a line for the seeds file: the shortest selectors of "
        "body, title, time and author that find what was found without them, with the share of the pages on which "
        "each is right. One that is right on less than 80 % of them is not suggested. Exit code 1: there is none."
    )
    most_arguments = None
    examples = (
        ("scrapy suggest www.example.com", "Suggest selectors for a host that was crawled with STORE_HTML"),
        ("scrapy suggest www.example.com --pages 10 >> seeds.txt", "The same from its newest pages, after a redesign"),
        ("scrapy suggest www.example.com saved/ CC-NEWS.warc.gz", "Suggest them from saved pages, without a crawl"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--database", metavar="URL", default="", help="where pages are kept (DATABASE_URL)")
        parser.add_argument(
            "--pages", metavar="N", type=int, default=_PAGES, help=f"how many pages are read at most ({_PAGES})"
        )
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..corpus.saved_pages import InputError
        from ..corpus.suggestion import saved, stored, suggest
        from ..terminal.output import Output

        if not args:
            raise UsageError("name a host, for example www.example.com", print_help=False)
        if opts.pages < 1:
            raise UsageError(f"--pages is {opts.pages}; it takes a number from 1 on", print_help=False)
        if opts.database:
            self.settings.set("DATABASE_URL", opts.database, "cmdline")
        host, names = _host(args[0]), args[1:]
        config = Config.from_settings(self.settings)
        pages = saved(host, names, config, opts.pages) if names else stored(host, config, opts.pages)
        if not pages:
            where = " and ".join(names) if names else "the database"
            raise InputError(
                f"{where} keeps no page of an article of {host}; "
                + (
                    "name others, or another host"
                    if names
                    else "crawl it first (not with STORE_HTML=none), or name a folder or WARC file of saved pages"
                )
            )
        made = asyncio.run(suggest(host, pages, config))
        output = Output(opts.format, wide=opts.wide)
        if not any(one.is_suggested for one in made.found.values()):
            self.exitcode = EXIT_FOUND
        output.record("", _row(host, made))
        for line in _lines(made):
            output.say(line)


def _host(name: str) -> str:
    from pipelines.urls import canonicalize, host_key

    url = canonicalize(name if "://" in name else f"http://{name}/")
    if url is None:
        raise UsageError(f"{name!r} is no host; write for example www.example.com", print_help=False)
    return host_key(url)


def _row(host: str, made: Suggestion) -> dict[str, object]:
    suggested = {name: one.selector for name, one in made.found.items() if one.is_suggested}
    tried = {name: one._asdict() for name, one in made.found.items()}
    about = {"host": host, "pages": made.pages, "articles": made.articles}
    return {**about, "seed": made.root, **suggested, "tried": tried}


def _lines(made: Suggestion) -> Iterator[str]:
    """Yield a line for the seeds file, and comments on it."""
    from pipelines.document.selectors import Selectors
    from pipelines.suggest import LEAST_SHARE

    options = [f'{name}="{one.selector}"' for name, one in made.found.items() if one.is_suggested]
    if options:
        yield " ".join([made.root, *options])
    yield f"# from {made.articles} article pages of {made.pages} that were read"
    bad = []
    for name in Selectors._fields:
        one = made.found.get(name)
        if one is None:
            yield f"# {name}: no stable id or class leads to it, or too few pages have it"
            continue
        text = f", text F1 {one.agreement:.2f} to the one found without it" if name == "body" else ""
        yield f"# {name}: {one.selector} is right on {one.right} of {one.of} pages{text}" + (
            "" if one.is_suggested else f": not suggested, less than {LEAST_SHARE:.0%}"
        )
        bad += [] if one.is_suggested else [name]
    if bad:
        yield "# if the site has changed of late, try its newest pages alone, for example --pages 10"
