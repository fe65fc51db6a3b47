"""The pages in Chromium: they fit, keep to themselves, are read by keyboard, screen reader and without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from pipelines.export.read import read_articles
from tests.crawler.web import chromium, hostile, newsstand
from tests.crawler.web.hostile import PAGES
from tests.crawler.web.serving import Server, serving
from tests.crawler.web.visits import everything, kinds, with_language

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright")

pytestmark = pytest.mark.skipif(not chromium.executable(), reason=chromium.MISSING)

LANGUAGES = {"en": "en", "zh": "zh-Hans"}
FEW = {"search", "article"}
"""Pages that are looked at each time; all are by the slow tests."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.running() as one:
        yield one


@pytest.fixture(scope="module")
def pages(server: Server, stand: Path) -> dict[str, str]:
    """A path of each kind of page, with a saved search on the desk."""
    form = {"name": "桥与港口", "query": "q=bridge&language=en"}
    assert httpx.post(f"{server.origin}/desk/save", data=form, headers={"Origin": server.origin}).status_code == 303
    return kinds(stand) | {"saved": "/desk/1"}


def visit(page: Page, path: str) -> None:
    """Open a page."""
    answer = page.goto(path)
    assert answer is not None
    assert answer.status in {200, 404}, f"{path}: {answer.status}"


@pytest.mark.parametrize(
    ("language", "names"), [("zh", FEW), *(pytest.param(each, None, marks=pytest.mark.slow) for each in LANGUAGES)]
)
def test_pages_fit_and_keep_to_themselves(
    browser: Browser, server: Server, pages: dict[str, str], language: str, names: set[str] | None
) -> None:
    pages = {name: path for name, path in pages.items() if names is None or name in names}
    wrong = []
    with chromium.visiting(browser, server.origin) as (page, noted):
        for name, path in pages.items():
            for width in chromium.WIDTHS.values():
                page.set_viewport_size({"width": width, "height": chromium.HEIGHT})
                if width == chromium.WIDTHS["narrow"]:
                    page.goto(with_language(path, language))
                    assert page.locator("html").get_attribute("lang") == LANGUAGES[language]
                    assert page.locator("h1").count() == 1, name
                wrong += [f"{name} {width}: {fault}" for fault in chromium.overflow(page)]
            wrong += [f"{name}: {fault}" for fault in (*chromium.hits(page), *chromium.unseen_focus(page))]
        assert noted.requests > len(pages)
    assert wrong + noted.unexpected() == []


@pytest.mark.slow
def test_axe_finds_nothing(browser: Browser, server: Server, pages: dict[str, str]) -> None:
    """All of its rules in the light at every width; in the dark those of colours."""
    wrong = []
    with chromium.visiting(browser, server.origin, bypass_csp=True) as (page, _):
        for name, path in pages.items():
            visit(page, with_language(path, "zh"))
            for width in chromium.WIDTHS.values():
                page.set_viewport_size({"width": width, "height": chromium.HEIGHT})
                wrong += [f"{name} {width}: {fault}" for fault in chromium.axe(page)]
            page.emulate_media(color_scheme="dark")
            wrong += [f"{name}, dark: {fault}" for fault in chromium.axe(page, ["color-contrast"])]
            page.emulate_media(color_scheme="light")
    assert wrong == []


@pytest.mark.slow
def test_reading_needs_no_script(browser: Browser, server: Server, pages: dict[str, str]) -> None:
    with chromium.visiting(browser, server.origin, java_script_enabled=False, locale="en") as (page, noted):
        texts = {}
        for name, path in pages.items():
            visit(page, path)
            texts[name] = page.locator("main").inner_text()
            assert len(texts[name]) > 20, name
        visit(page, "/")
        page.get_by_role("searchbox").fill("bridge")
        page.get_by_role("searchbox").press("Enter")
        page.wait_for_url("**/?*q=bridge*")
        first = page.locator("main a[href^='/article/']").first
        title = first.inner_text()
        first.click()
        page.wait_for_url("**/article/*")
        assert title in page.locator("main").inner_text()
        assert noted.unexpected() == []


def test_keyboard_leads_from_the_first_key_to_an_article(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        visit(page, "/?q=bridge")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#content"
        page.keyboard.press("Enter")
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            href = page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.tagName")
            seen.append(href)
            if href.startswith("/article/"):
                break
        assert seen[-1].startswith("/article/"), seen
        page.keyboard.press("Enter")
        page.wait_for_url("**/article/*")
        assert noted.faults == []


def test_dragging_over_columns_narrows_to_their_days(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        visit(page, "/?by=month&view=cards")
        columns = page.locator(".volume a.column")
        first, last = columns.first, columns.nth(columns.count() - 2)
        days = first.get_attribute("data-first"), last.get_attribute("data-last")
        first.locator(".reach").hover()
        page.mouse.down()
        last.locator(".reach").hover()
        assert page.locator(".volume a.column.chosen").count() == columns.count() - 1
        page.mouse.up()
        page.wait_for_url(f"**/?*since={days[0]}&until={days[1]}*")
        chips = page.locator(".chips.active a.on").all_inner_texts()
        assert [chip.partition("×")[0].strip() for chip in chips] == [f"From: {days[0]}", f"To: {days[1]}"]
        assert noted.unexpected() == []


def test_choosing_values_needs_no_script(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, java_script_enabled=False, locale="en") as (page, noted):
        visit(page, "/values?facet=site&language=zh-Hans")
        boxes = page.locator("input[type=checkbox]")
        names = [boxes.nth(n).get_attribute("value") for n in (0, 1)]
        for n in (0, 1):
            boxes.nth(n).check()
        page.get_by_role("button", name="Show those chosen").click()
        page.wait_for_url(f"**/?language=zh-Hans&site={names[0]}&site={names[1]}")
        assert set(page.locator(".hit .site").all_inner_texts()) <= set(names)
        assert noted.unexpected() == []


@pytest.mark.parametrize("most", [6, pytest.param(None, marks=pytest.mark.slow)])
def test_hostile_stories_do_nothing_on_any_page(
    browser: Browser, hostile_stand: Path, tmp_path: Path, most: int | None
) -> None:
    wrong = []
    desk = hostile.desk(hostile_stand, tmp_path / "hostile.desk.db")
    with serving(tmp_path, hostile_stand, "-s", f"DESK={desk}") as server:
        narrow = {"viewport": {"width": chromium.WIDTHS["narrow"], "height": chromium.HEIGHT}}
        with chromium.visiting(browser, server.origin, **narrow) as (page, noted):
            for path in ["/desk", "/?view=list&limit=50", "/values?facet=label", *everything(hostile_stand)][:most]:
                page.goto(path)
                wrong += [f"{path}: {fault}" for fault in chromium.harm(page)]
    assert wrong + noted.unexpected() == []


@pytest.fixture(scope="module")
def page_stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a hostile page behind each article."""
    made = tmp_path_factory.mktemp("pages") / "news.db"
    text = "港口的吊车今天装卸了集装箱。" * 5
    stories = [
        newsstand.Story(f"https://h{n}.example/a/{n}", f"第{n}篇", text, raw=source.encode() or b" ")
        for n, source in enumerate(PAGES)
    ]
    newsstand.build(made, stories)
    return made


def test_hostile_pages_do_nothing_beside_their_text(browser: Browser, page_stand: Path, tmp_path: Path) -> None:
    keys = [article.id for article in read_articles(str(page_stand))]
    assert len(keys) == len(PAGES)
    wrong: list[str] = []
    with (
        serving(tmp_path, page_stand) as server,
        chromium.visiting(browser, server.origin) as (page, noted),
    ):
        for key in keys:
            for path in (f"/article/{key}/view", f"/article/{key}/still"):
                page.goto(path)
                for frame in page.frames:
                    wrong += [f"{path}: {fault}" for fault in frame.evaluate("window.__hits || []")]
                assert page.url == f"{server.origin}{path}"
    assert wrong + noted.unexpected() == []
