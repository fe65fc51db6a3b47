"""The morning of an analyst in Chromium: what each piece of work takes in clicks, keys and seconds.

    uv run python -m tests.benchmarks.morning [--database news.db --query 城市 --beside 医院] [--keyboard] [--language zh]

Copies the database (without one, the stories of the demo newsroom), serves the copy with `scrapy serve`, and plays:
save a search; read and mark as seen what a crawl stored since; narrow a search by its timeline; compare two searches;
label twenty results; export those with the label as XLSX; cite one. Each piece ends with a look at what it should have
brought, and the script with status 1 where that is not there.

With the pointer a click is one click, and typing a key for each character. With `--keyboard` everything is reached by
Tab or the keys of the page, each of which counts. Seconds are those of the browser and the server, without the time in
which a person would think.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Locator, Page

from tests.crawler.desk.growing import grow, story
from tests.crawler.web import chromium, newsstand

from .commands import new_parser
from .web_load import served

LABELLED = 20
NEW = 3
LABEL = "morning"
_MOST_TABS = 600


class Hand:
    """Works a page by pointer or by keyboard alone, and counts."""

    def __init__(self, page: Page, *, by_keyboard: bool) -> None:
        self.page, self.by_keyboard = page, by_keyboard
        self.clicks = self.keys = 0

    def press(self, key: str, times: int = 1) -> None:
        """Press a key."""
        for _ in range(times):
            self.page.keyboard.press(key)
        self.keys += times

    def back(self) -> None:
        """Go back, by a button of the mouse or a key of the browser."""
        self.page.go_back()
        self.clicks += not self.by_keyboard
        self.keys += self.by_keyboard

    def use(self, target: Locator, key: str = "Enter") -> None:
        """Click, or reach by Tab and press a key."""
        if self.by_keyboard:
            self.reach(target)
            self.press(key)
        else:
            target.click()
            self.clicks += 1

    def reach(self, target: Locator) -> None:
        """Press Tab until the focus is there."""
        for _ in range(_MOST_TABS):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.press("Tab")
        raise SystemExit(f"the keyboard does not reach {target}")

    def write(self, target: Locator, text: str) -> None:
        """Replace what stands in a field."""
        self.use(target, "Control+a")
        target.fill("")
        self.page.keyboard.type(text)
        self.keys += len(text)


@contextmanager
def piece(hand: Hand, name: str) -> Iterator[None]:
    """Print what a piece of work took."""
    clicks, keys, started = hand.clicks, hand.keys, time.perf_counter()
    yield
    seconds = time.perf_counter() - started
    print(f"{name:<36} {hand.clicks - clicks:>6} {hand.keys - keys:>6} {seconds:>8.1f}")


def expect(is_so: bool, what: str) -> None:
    """End the script where a piece did not bring what it should."""
    if not is_so:
        raise SystemExit(f"missing: {what}")


def rows_of(path: Path) -> int:
    """Count the rows of the first sheet of a workbook, without its head."""
    with zipfile.ZipFile(path) as book:
        return len(re.findall(r"<row ", book.read("xl/worksheets/sheet1.xml").decode())) - 1


def play(hand: Hand, query: str, beside: str, store: Callable[[], None]) -> None:
    """Play the morning; `store` adds articles that fit the query, as a crawl would."""
    page = hand.page
    main = page.locator("main")
    with piece(hand, "save a search"):
        page.goto("/?view=list")
        hand.write(page.locator("#q"), query)
        hand.press("Enter")
        page.wait_for_url("**/?*q=*")
        main.locator(".hit").first.wait_for()
        hand.use(main.locator(".save > summary"))
        hand.write(main.locator(".save input[name=name]"), "Daily")
        hand.press("Enter")
        page.wait_for_url("**/desk*")
        expect(main.locator(".saved > li").count() == 1, "the saved search")
    store()
    with piece(hand, f"read {NEW} unread, mark as seen"):
        page.goto("/")
        hand.use(page.locator("header a[href='/desk']"))
        page.wait_for_url("**/desk")
        expect(str(NEW) in main.locator(".saved .chip.on").inner_text(), "the number of new articles")
        hand.use(main.locator(".saved h2 a"))
        page.wait_for_url("**/desk/1*")
        expect(main.locator(".hit").count() == NEW, "the new articles")
        for number in range(NEW):
            hand.use(main.locator(".hit h2 a").nth(number))
            page.wait_for_url("**/article/*")
            hand.back()
            page.wait_for_url("**/desk/1*")
        hand.use(main.locator("form[action$='/look'] button"))
        page.wait_for_url("**/desk")
        expect(main.locator(".saved .chip.on").count() == 0, "the empty desk")
    with piece(hand, "narrow by the timeline"):
        hand.use(main.locator(".saved > li a[href^='/?']").last)
        main.locator(".hit").first.wait_for()
        box = main.locator("details.volume")
        if box.get_attribute("open") is None:
            hand.use(box.locator("> summary"))
        total = main.locator(".found-head .count").inner_text()
        if hand.by_keyboard:
            hand.use(box.locator("details.numbers > summary"))
            hand.use(box.locator("tbody th a").first)
        else:
            hand.use(box.locator("a.column").last)
        page.wait_for_url("**since=*")
        expect(main.locator(".found-head .count").inner_text() != total, "fewer results")
        hand.back()
        page.wait_for_url(lambda url: "since=" not in url)
    with piece(hand, "compare with another search"):
        if box.get_attribute("open") is None:
            hand.use(box.locator("> summary"))
        hand.use(box.locator("a[href^='/compare']"))
        page.wait_for_url("**/compare*")
        hand.write(page.locator("#q2"), beside)
        hand.press("Enter")
        page.wait_for_url("**/compare*q=*q=*")
        expect(main.locator("svg .line").count() == 2, "two lines")
    with piece(hand, f"label {LABELLED}"):
        hand.use(page.locator("header a[href='/']").last)
        main.locator(".hit").nth(LABELLED - 1).wait_for()
        if hand.by_keyboard:
            hand.press("Escape")  # leaves the search box
            for _ in range(LABELLED):
                hand.press("j")
                hand.press("x")
        else:
            for number in range(LABELLED):
                hand.use(main.locator(".hit input[type=checkbox]").nth(number))
        hand.use(main.locator(".bulk-box > summary"))
        hand.write(main.locator(".bulk-row input[name=label]"), LABEL)
        hand.use(main.locator(".bulk-row button[value=label]"))
        main.locator("p.note[role=status]").wait_for()
        page.goto(f"/?label={quote(LABEL)}")
        expect(str(LABELLED) in main.locator(".found-head .count").inner_text(), "the labelled articles")
    with piece(hand, "export them as XLSX"):
        hand.use(main.locator(".take > summary"))
        with page.expect_download() as coming:
            hand.use(main.locator(".take a[href*='xlsx']"))
        expect(rows_of(coming.value.path()) >= LABELLED, "the rows of the workbook")
    with piece(hand, "cite one"):
        hand.use(main.locator(".hit .title a, .hit h2 a").first)
        page.wait_for_url("**/article/*")
        hand.use(main.locator(".cite > summary"))
        with page.expect_download() as coming:
            hand.use(main.locator(".cite a[href*='gbt7714']"))
        expect(len(coming.value.path().read_text(encoding="utf-8")) > 20, "the citation")


def main() -> int:
    """Play it, and print a line for each piece."""
    parser = new_parser(__doc__)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--query", default="市")
    parser.add_argument("--beside", default="车")
    parser.add_argument("--keyboard", action="store_true")
    parser.add_argument("--language", default="zh", choices=("zh", "en"))
    options = parser.parse_args()
    if not chromium.executable():
        print(f"skipped: {chromium.MISSING}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "news.db"
        if options.database:
            shutil.copy(options.database, database)
        else:
            newsstand.build(database)
        new = [story(n, options.query, "morning.example") for n in range(NEW)]
        with served(database) as origin, chromium.running() as browser:
            window = {"locale": options.language, "accept_downloads": True}
            with chromium.visiting(browser, origin, **window) as (page, noted):
                hand = Hand(page, by_keyboard=options.keyboard)
                print(f"{'':<36} {'clicks':>6} {'keys':>6} {'seconds':>8}")
                with piece(hand, "together"):
                    play(hand, options.query, options.beside, lambda: grow(database, new))
        faults = [fault for fault in noted.unexpected() if ": downloaded " not in fault]
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
