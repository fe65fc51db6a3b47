"""`scrapy extract PATH|URL...`: extract articles of saved, stored or web pages."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from db.engine.errors import DatabaseProblem

from ..corpus import saved_pages as files
from ..options.config import Config
from ..options.given import value_of
from ..run.command import ARTICLE_OPTIONS, NewsCommand, add_article_options, wanted_articles
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

    from ..corpus.page_reader import SavedResult
    from ..corpus.saved_pages import SavedPage
    from ..fetch.one_shot import Fetched


_Fetch = Callable[[Sequence[str], "Settings"], dict[str, "SavedPage"]]
FORMATS: Final = ("text", "markdown", "html", "jsonl")


class Command(NewsCommand):
    usage = "[options] <path or url> ... | --database [URL] [--host NAME] [--since 30d] [--where CONDITION]"
    summary = "Extract the articles of files, folders or URLs: text, Markdown, HTML or JSON lines"
    description = (
        "Extract articles from saved pages (files, also gzipped; folders; a manifest; WARC files; - is standard "
        "input), or "
        "from URLs: those stored in the database by a crawl with STORE_HTML are read from there, others are "
        "fetched. With --database and nothing else the articles in the database are extracted again; those whose "
        "pages are not stored are asked for by the next crawl."
    )
    most_arguments = None
    examples = (
        ("scrapy extract page.html", "Print the text of a saved page"),
        ("scrapy extract - < page.html", "Print the text of what another program hands over"),
        ("scrapy extract --format markdown https://www.example.com/news/1.html", "Fetch a page, print its article"),
        ("scrapy extract --render https://www.example.com/app/1", "The same of a page that shows its text by script"),
        ("scrapy extract --format jsonl --output articles.jsonl pages/", "Extract all pages of a folder into a file"),
        ("scrapy extract --format jsonl --output articles.jsonl CC-NEWS.warc.gz", "Extract the pages of a WARC file"),
        ("scrapy extract --fetched-at 2024-03-12 pages/", "Read '2 hours ago' as of the day when pages were saved"),
        ("scrapy extract --explain shown.html page.html", "Show in colours what was kept of a page"),
        ("scrapy extract --database", "Extract the articles in the database again, with this version and EXTRACTOR"),
        ("""scrapy extract --database --since 30d --where "language = 'zh'\"""", "The same for some of them"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--extractor", metavar="NAME", help="how the main text is found (EXTRACTOR; a wrong name lists all)"
        )
        parser.add_argument(
            "--format", metavar="NAME", help=f"one of {', '.join(FORMATS)} (text; jsonl for a manifest)"
        )
        parser.add_argument(
            "--manifest", metavar="FILE", help="JSON lines with id, file and maybe url, fetched_at: a line each"
        )
        parser.add_argument(
            "--fetched-at",
            metavar="TIME",
            help="when the files were fetched, for times such as '2 hours ago' (now): 2024-03-12T08:30+08:00",
        )
        parser.add_argument(
            "--render", action="store_true", help="show fetched pages in a browser first (docs/rendering.md)"
        )
        parser.add_argument("--output", metavar="FILE", help="where the result goes (standard output)")
        parser.add_argument("--explain", metavar="FILE", help="write the first page here, kept and dropped in colours")
        parser.add_argument(
            "--database",
            metavar="URL",
            nargs="?",
            const="",
            help="where stored pages are looked up (DATABASE_URL); alone: extract the articles there again",
        )
        add_article_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        again = opts.database is not None and not args and not opts.manifest
        _refuse_mixed(opts, again=again)
        if not args and not opts.manifest and not again:
            raise UsageError("name a file, a folder, a URL or a --manifest", print_help=False)
        form = _format(opts)
        saved_at = _saved_at(opts.fetched_at)
        self.refuse_outputs(opts.output, opts.explain, inputs=[*args, opts.manifest, opts.database])
        if opts.extractor and opts.extractor != value_of(self.settings, "EXTRACTOR"):
            self.settings.set("EXTRACTOR_PARAMS", {}, "project")  # they are another's, unless they are given by -s
        for option, setting in (("extractor", "EXTRACTOR"), ("database", "DATABASE_URL")):
            if getattr(opts, option):
                self.settings.set(setting, getattr(opts, option), "cmdline")
        config = Config.from_settings(self.settings)
        if again:
            self._extract_again(config, opts)
            return
        fetched = partial(_shown, config=config) if opts.render else _fetched
        inputs = _inputs(args, opts.manifest, self.settings, fetched, saved_at, named=bool(opts.database))
        self.refuse_destroying([opts.output, opts.explain], [page.path for page in inputs.pages if page.path])
        with _opened(opts.output) as out:
            asyncio.run(_extract(inputs, config, form, opts.explain, out))

    def _extract_again(self, config: Config, opts: argparse.Namespace) -> None:
        from ..corpus.reextraction import Reextraction
        from ..corpus.rework import UNREAD, rework

        done = rework(config, Reextraction, wanted_articles(opts, config.parse_options.kinds))
        sys.stdout.writelines(done.report())
        if done.counts[UNREAD]:
            self.exitcode = EXIT_STOPPED


def _refuse_mixed(opts: argparse.Namespace, *, again: bool) -> None:
    only = ("format", "output", "explain", "render", "fetched_at") if again else ARTICLE_OPTIONS
    for name in only:
        if getattr(opts, name):
            where = "has no meaning with --database alone" if again else "needs --database, and no file or URL"
            raise UsageError(f"--{name.replace('_', '-')} {where}", print_help=False)


def _format(opts: argparse.Namespace) -> str:
    form = opts.format or ("jsonl" if opts.manifest else "text")
    if form not in FORMATS:
        raise files.InputError(f"--format is {opts.format!r}; it takes {', '.join(FORMATS)}")
    return form


def _saved_at(stated: str | None) -> float:
    try:
        return files.read_time(stated) if stated is not None else 0.0
    except ValueError:
        raise files.InputError(f"--fetched-at is {stated!r}; it takes {files.TIME_FORMS}") from None


@contextmanager
def _opened(path: str | None) -> Iterator[IO[str]]:
    """Open the output, which replaces an older file once it is complete."""
    if not path:
        yield sys.stdout
        return
    from ..run.outputs import written_whole

    with written_whole(Path(path)) as file, TextIOWrapper(file, encoding="utf-8", newline="\n") as out:
        yield out
        out.flush()


@dataclass(frozen=True, slots=True)
class _Inputs:
    pages: Sequence[SavedPage]
    archives: Sequence[Path]

    @property
    def are_several(self) -> bool:
        return len(self.pages) > 1 or bool(self.archives)

    def __iter__(self) -> Iterator[SavedPage]:
        """Yield all pages, printing damaged records on standard error."""
        from ..corpus import warc

        yield from self.pages
        notes: list[str] = []
        for page in warc.pages_of_archives(self.archives, notes):
            yield page
            _tell(notes)
        _tell(notes)


def _tell(notes: list[str]) -> None:
    sys.stderr.writelines(f"{note}\n" for note in notes)
    notes.clear()


def _inputs(
    args: Sequence[str], manifest: str | None, settings: Settings, fetch: _Fetch, saved_at: float, *, named: bool
) -> _Inputs:
    """Collect everything to read, in the order named; URLs are looked up or fetched.

    `saved_at` is when files were fetched that do not say so themselves; 0 means now.
    """
    from pipelines.urls import canonicalize

    from ..corpus import warc

    urls = {arg: canonicalize(arg) for arg in args if "://" in arg}
    for arg, url in urls.items():
        if url is None:
            raise files.InputError(f"{arg!r} is no http or https URL")
    pages: list[SavedPage] = []
    archives: list[Path] = []
    for arg in args:
        if arg not in urls:
            archives_here = warc.files(Path(arg))
            archives += archives_here
            with suppress(files.InputError) if archives_here else nullcontext():
                pages += [] if archives_here == [Path(arg)] else files.files(Path(arg))
    for path in archives:
        if problem := warc.why_none(path):
            raise files.InputError(problem)
    if manifest:
        pages += files.manifest(Path(manifest))
    pages = [page if page.fetched_at else replace(page, fetched_at=saved_at) for page in pages]
    if urls:
        wanted = [url for url in urls.values() if url]
        by_url = _stored(wanted, settings, named=named)
        missing = [url for url in wanted if url not in by_url]
        if missing:
            by_url |= fetch(missing, settings)
        pages = [by_url[url] for url in wanted] + pages
    return _Inputs(pages, archives)


def _stored(urls: Sequence[str], settings: Settings, *, named: bool) -> dict[str, SavedPage]:
    """Return the pages of stored URLs; only a database that was named must exist."""
    from ..corpus.sources import find_stored

    try:
        return find_stored(
            urls,
            value_of(settings, "DATABASE_URL"),
            archive=value_of(settings, "STORE_WARC"),
            most_bytes=value_of(settings, "DOWNLOAD_MAXSIZE"),
        )
    except DatabaseProblem:
        if named:
            raise
        return {}


def _fetched(urls: Sequence[str], settings: Settings) -> dict[str, SavedPage]:
    from ..fetch.one_shot import fetch

    now = time.time()
    return _as_saved(fetch(urls, settings, value_of(settings, "CONCURRENT_REQUESTS")), now)


def _shown(urls: Sequence[str], settings: Settings, config: Config) -> dict[str, SavedPage]:
    from ..render.one_page import show

    now = time.time()
    return _as_saved(show(urls, settings, config.rendering, config.robots_policy, config.redirects), now)


def _as_saved(pages: Mapping[str, Fetched], fetched_at: float) -> dict[str, SavedPage]:
    return {
        asked: files.SavedPage(
            asked,
            url=one.url,
            body=one.body,
            content_type=one.content_type,
            fetched_at=fetched_at,
            problem=one.problem,
            dom=one.dom,
        )
        for asked, one in pages.items()
    }


async def _extract(inputs: _Inputs, config: Config, form: str, explained: str | None, out: IO[str]) -> None:
    from ..corpus.page_reader import SavedOptions, line_of, read_in_order, read_page, row_of
    from ..run.workers import open_pool

    most = config.fetch.bounds.size
    reading = SavedOptions(most, "markdown" if form == "markdown" else "", config.site_memory and inputs.are_several)
    async with open_pool(config, None if inputs.archives else max(len(inputs.pages), 1)) as pool:
        if explained and (shown := next(iter(inputs), None)):
            first = await read_page(pool, shown, SavedOptions(most, "explained"))
            if not first.rendered:
                raise files.InputError(
                    f"{shown.id}: {first.problem or first.page.reason}, so there is nothing to explain"
                )
            Path(explained).write_text(first.rendered, encoding="utf-8")
        async for result in read_in_order(pool, inputs, reading):
            if form == "jsonl":
                out.write(line_of(row_of(result, config.extractor)))
            else:
                _write_page(result, form, out, several=inputs.are_several)


def _write_page(result: SavedResult, form: str, out: IO[str], *, several: bool) -> None:
    page = result.page
    if not page.extraction.text:
        out.flush()
        sys.stderr.write(f"{result.input.id}: no article ({result.problem or page.reason})\n")
        return
    if several:
        name = escape(result.input.id).replace("--", "- -")
        out.write(f"<!-- {name} -->\n" if form == "html" else f"==> {result.input.id} <==\n")
    if form == "text":
        out.write(f"{page.extraction.text}\n")
    elif form == "markdown":
        out.write(f"# {page.metadata.title}\n\n{result.rendered}\n" if page.metadata.title else f"{result.rendered}\n")
    else:
        title = f"<h1>{escape(page.metadata.title)}</h1>\n" if page.metadata.title else ""
        out.write(f"<article>\n{title}{page.extraction.html}\n</article>\n")
    if several:
        out.write("\n")
