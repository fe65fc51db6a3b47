"""Screenshots of every kind of page, in both languages, light and dark, narrow and wide.

    uv run python -m tests.benchmarks.screenshots DATABASE FOLDER [--widths 360 1920] [--pages front crawl ...]

Serves the database with `scrapy serve` and writes KIND-LANGUAGE-SCHEME-WIDTH.png.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.crawler.web import chromium
from tests.crawler.web.visits import kinds, with_language

from .commands import new_parser
from .web_load import served

LANGUAGES = ("en", "zh")


def taken(
    browser: Browser, origin: str, paths: Mapping[str, str], folder: Path, widths: Sequence[int], *, faults: list[str]
) -> Iterator[tuple[str, Page]]:
    """Write the screenshots of pages; yields the name of each with the open page, and adds to the faults."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in chromium.SCHEMES:
        for width in widths:
            window = {"viewport": {"width": width, "height": chromium.HEIGHT}, "color_scheme": scheme}
            with chromium.visiting(browser, origin, bypass_csp=True, **window) as (page, noted):
                for language in LANGUAGES:
                    for kind, path in paths.items():
                        page.goto(with_language(path, language))
                        name = f"{kind.replace(' ', '-')}-{language}-{scheme}-{width}.png"
                        page.screenshot(path=folder / name, full_page=True)
                        yield name, page
                faults += noted.unexpected()


def main() -> int:
    """Take the pictures."""
    parser = new_parser(__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", nargs="+", default=[], help="kinds of pages, all by default")
    parser.add_argument("--widths", type=int, nargs="+", default=list(chromium.WIDTHS.values()))
    options = parser.parse_args()
    if not chromium.executable():
        print(f"skipped: {chromium.MISSING}")
        return 0
    database = options.database.resolve()
    faults: list[str] = []
    paths = {kind: path for kind, path in kinds(database).items() if not options.pages or kind in options.pages}
    with served(database) as server, chromium.running() as browser:
        count = sum(1 for _ in taken(browser, server.origin, paths, options.folder, options.widths, faults=faults))
    print(*faults, f"{count} pictures in {options.folder}", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
