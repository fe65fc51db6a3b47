"""The morning of an analyst in Chromium: what each piece of work takes in clicks, keys and seconds.

    uv run python -m tests.benchmarks.morning [--keyboard] [--language zh|en]

Makes a database of the demo newsroom's stories, serves it with `scrapy serve`, and plays: save a search; read and mark
as seen what a crawl stored since; narrow a search by its timeline; compare two searches; label twenty results; export
those with the label as XLSX; cite one. Each piece ends with a look at what it should have brought; where that is not
there the script ends with status 1.

With the pointer a click is one click, and typing a key for each character. With `--keyboard` everything is reached by
Tab or the keys of the page, each of which counts. Seconds are those of the browser and the server, without the time in
which a person would think.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Locator, Page

from tests.crawler.desk.growing import grow, story
from tests.crawler.web import chromium, newsstand

from .commands import new_parser
from .web_load import served

QUERY, BESIDE = "市", "车"
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


def expect(found: object, what: str) -> None:
    """End the script where a piece did not bring what it should."""
    if not found:
        raise SystemExit(f"missing: {what}")


def rows_of(path: Path) -> int:
    """Count the rows of the first sheet of a workbook, without its head."""
    with zipfile.ZipFile(path) as book:
        return len(re.findall(r"<row ", book.read("xl/worksheets/sheet1.xml").decode())) - 1


@dataclass
class Morning:
    """Pieces of work, each of which begins where the one before has ended.

    Attributes:
        store: adds articles that fit the query, as a crawl would.
    """

    hand: Hand
    store: Callable[[], None]

    @property
    def page(self) -> Page:
        return self.hand.page

    @property
    def main(self) -> Locator:
        return self.page.locator("main")

    def play(self) -> None:
        """Play them all."""
        with piece(self.hand, "save a search"):
            self._save()
        self.store()
        with piece(self.hand, f"read {NEW} unread, mark as seen"):
            self._read_unread()
        with piece(self.hand, "narrow by the timeline"):
            self._narrow()
        with piece(self.hand, "compare with another search"):
            self._compare()
        with piece(self.hand, f"label {LABELLED}"):
            self._label()
        with piece(self.hand, "export them as XLSX"):
            self._export()
        with piece(self.hand, "cite one"):
            self._cite()

    def _save(self) -> None:
        self.page.goto("/?view=list")
        self.hand.write(self.page.locator("#q"), QUERY)
        self.hand.press("Enter")
        self.page.wait_for_url("**/?*q=*")
        self.main.locator(".hit").first.wait_for()
        self.hand.use(self.main.locator(".save > summary"))
        self.hand.write(self.main.locator(".save input[name=name]"), "Daily")
        self.hand.press("Enter")
        self.page.wait_for_url("**/desk*")
        expect(self.main.locator(".saved > li").count() == 1, "the saved search")

    def _read_unread(self) -> None:
        self.page.goto("/")
        self.hand.use(self.page.locator("header a[href='/desk']"))
        self.page.wait_for_url("**/desk")
        expect(str(NEW) in self.main.locator(".saved .chip.on").inner_text(), "the number of new articles")
        self.hand.use(self.main.locator(".saved h2 a"))
        self.page.wait_for_url("**/desk/1*")
        expect(self.main.locator(".hit").count() == NEW, "the new articles")
        for number in range(NEW):
            self.hand.use(self.main.locator(".hit h2 a").nth(number))
            self.page.wait_for_url("**/article/*")
            self.hand.back()
            self.page.wait_for_url("**/desk/1*")
        self.hand.use(self.main.locator("form[action$='/look'] button"))
        self.page.wait_for_url("**/desk")
        expect(self.main.locator(".saved .chip.on").count() == 0, "the empty desk")

    def _narrow(self) -> None:
        self.hand.use(self.main.locator(".saved > li a[href^='/?']").last)
        self.main.locator(".hit").first.wait_for()
        box = self._open_chart()
        total = self.main.locator(".found-head .count").inner_text()
        if self.hand.by_keyboard:
            self.hand.use(box.locator("details.numbers > summary"))
            self.hand.use(box.locator("tbody th a").first)
        else:
            self.hand.use(box.locator("a.column").last)
        self.page.wait_for_url("**since=*")
        expect(self.main.locator(".found-head .count").inner_text() != total, "fewer results")
        self.hand.back()
        self.page.wait_for_url(lambda url: "since=" not in url)

    def _open_chart(self) -> Locator:
        box = self.main.locator("details.volume")
        if box.get_attribute("open") is None:
            self.hand.use(box.locator("> summary"))
        return box

    def _compare(self) -> None:
        self.hand.use(self._open_chart().locator("a[href^='/compare']"))
        self.page.wait_for_url("**/compare*")
        self.hand.write(self.page.locator("#q2"), BESIDE)
        self.hand.press("Enter")
        self.page.wait_for_url("**/compare*q=*q=*")
        expect(self.main.locator("svg .line").count() == 2, "two lines")

    def _label(self) -> None:
        self.hand.use(self.page.locator("header a[href='/']").last)
        self.main.locator(".hit").nth(LABELLED - 1).wait_for()
        if self.hand.by_keyboard:
            self.hand.press("Escape")  # leaves the search box
            for _ in range(LABELLED):
                self.hand.press("j")
                self.hand.press("x")
        else:
            for number in range(LABELLED):
                self.hand.use(self.main.locator(".hit input[type=checkbox]").nth(number))
        self.hand.use(self.main.locator(".bulk-box > summary"))
        self.hand.write(self.main.locator(".bulk-row input[name=label]"), LABEL)
        self.hand.use(self.main.locator(".bulk-row button[value=label]"))
        self.main.locator("p.note[role=status]").wait_for()
        self.page.goto(f"/?label={quote(LABEL)}")
        expect(str(LABELLED) in self.main.locator(".found-head .count").inner_text(), "the labelled articles")

    def _export(self) -> None:
        self.hand.use(self.main.locator(".take > summary"))
        with self.page.expect_download() as coming:
            self.hand.use(self.main.locator(".take a[href*='xlsx']"))
        expect(rows_of(coming.value.path()) >= LABELLED, "the rows of the workbook")

    def _cite(self) -> None:
        self.hand.use(self.main.locator(".hit .title a, .hit h2 a").first)
        self.page.wait_for_url("**/article/*")
        self.hand.use(self.main.locator(".cite > summary"))
        with self.page.expect_download() as coming:
            self.hand.use(self.main.locator(".cite a[href*='gbt7714']"))
        expect(len(coming.value.path().read_text(encoding="utf-8")) > 20, "the citation")


def main() -> int:
    """Play it, and print a line for each piece."""
    parser = new_parser(__doc__)
    parser.add_argument("--keyboard", action="store_true")
    parser.add_argument("--language", default="zh", choices=("zh", "en"))
    options = parser.parse_args()
    if not chromium.executable():
        print(f"skipped: {chromium.MISSING}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "news.db"
        newsstand.build(database)
        new = [story(n, QUERY, "morning.example") for n in range(NEW)]
        with served(database) as origin, chromium.running() as browser:
            window = {"locale": options.language, "accept_downloads": True}
            with chromium.visiting(browser, origin, **window) as (page, noted):
                hand = Hand(page, by_keyboard=options.keyboard)
                print(f"{'':<36} {'clicks':>6} {'keys':>6} {'seconds':>8}")
                with piece(hand, "together"):
                    Morning(hand, lambda: grow(database, new)).play()
        faults = [fault for fault in noted.unexpected() if ": downloaded " not in fault]
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
