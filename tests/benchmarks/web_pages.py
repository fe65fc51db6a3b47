"""Every page of the web server in Chromium: screenshots, and all that is wrong with a page.

    uv run python -m tests.benchmarks.web_pages [--folder screenshots] [--widths 360 1280] [--pages front crawl ...]

Serves the newsroom's articles (see `tests/crawler/web/newsstand.py`) and writes a picture of each kind of page in both
languages, light and dark, narrow and wide. Prints what is wrong: errors on the console, requests to other servers,
scripts that ran, content wider than the window, what a keyboard cannot reach or shows no focus on, what axe objects to.

    uv run python -m tests.benchmarks.web_pages --database news.db [--most 500]

shows every page of any database once, without pictures: a crawl of hostile sites, for instance. Exit code 1 when
anything was wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from tests.crawler.web import chromium, newsstand
from tests.crawler.web.visits import everything, kinds

from .screenshots import taken
from .web_load import served


def pictures(browser: Browser, origin: str, database: Path, options: argparse.Namespace) -> list[str]:
    """Write the screenshots; returns what is wrong."""
    wrong: list[str] = []
    shown = {name: path for name, path in kinds(database).items() if not options.pages or name in options.pages}
    for file, page in taken(browser, origin, shown, options.folder, options.widths, faults=wrong):
        found = (*chromium.hits(page), *chromium.overflow(page), *chromium.axe(page))
        wrong += [f"{file}: {fault}" for fault in (*found, *chromium.unseen_focus(page))]
    return wrong


def all_pages(browser: Browser, origin: str, database: Path, options: argparse.Namespace) -> list[str]:
    """Open every page of a database; returns what is wrong."""
    wrong = []
    paths = everything(database)[: options.most]
    for width in options.widths:
        window = {"viewport": {"width": width, "height": chromium.HEIGHT}}
        with chromium.visiting(browser, origin, **window) as (page, noted):
            for path in paths:
                page.goto(path)
                wrong += [f"{path} {width}: {fault}" for fault in chromium.harm(page)]
            wrong += noted.unexpected()
    print(f"{len(paths)} pages, {len(options.widths)} widths")
    return wrong


@contextmanager
def shown_database(given: Path | None) -> Iterator[Path]:
    """Yield the database that is shown: the given one, or the newsroom's."""
    if given:
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "news.db")
        newsstand.build(path)
        yield path


def main() -> int:
    """Look at the pages and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("screenshots"))
    parser.add_argument("--pages", nargs="+", default=[], help="kinds of pages, all by default")
    parser.add_argument("--widths", type=int, nargs="+", default=list(chromium.WIDTHS.values()))
    parser.add_argument("--database", type=Path, help="show all pages of this file, without pictures")
    parser.add_argument("--most", type=int, default=1_000, help="pages of it")
    options = parser.parse_args()
    if not chromium.executable():
        print(f"skipped: {chromium.MISSING}")
        return 0
    look = all_pages if options.database else pictures
    with shown_database(options.database) as database, served(database) as origin, chromium.running() as browser:
        wrong = look(browser, origin, database, options)
    for fault in dict.fromkeys(wrong):
        print(fault)
    print(f"{len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
