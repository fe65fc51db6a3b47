"""Marks and keys in Chromium: by keyboard, by mouse, without scripts, and switched off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawler.desk.growing import grow, story
from tests.crawler.web import chromium
from tests.crawler.web.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright")

pytestmark = pytest.mark.skipif(not chromium.executable(), reason=chromium.MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.running() as one:
        yield one


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    grow(tmp_path / "news.db", [story(n, "harbour storm" if n % 2 else "museum") for n in range(1, 31)])
    with serving(tmp_path, tmp_path / "news.db") as running:
        yield running


def current(page: Page) -> str:
    """Return the number of the article that the keys are about; empty for none."""
    return page.evaluate(
        "(document.querySelector('.hit.current :is(h2, .title) a') || {textContent: 'Number :'}).textContent"
        ".trim().split(' ')[1].slice(0, -1)"
    )


def shown(page: Page) -> list[str]:
    return [title.split()[1].rstrip(":") for title in page.locator(".hit :is(h2, .title) > a").all_inner_texts()]


def pressed(page: Page, number: str) -> list[str]:
    hit = page.locator(".hit", has_text=f"Number {number}:")
    return [hit.locator(f".toggle.{deed}").get_attribute("aria-pressed") for deed in ("star", "read")]


def said(page: Page, text: str) -> None:
    page.wait_for_function("(text) => document.querySelector('#marks-said').textContent === text", arg=text)


@pytest.mark.parametrize("view", ["cards", "list"])
def test_keys_lead_through_results_and_mark_them(browser: Browser, server: Server, view: str) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        page.goto(f"/?q=storm&view={view}&limit=10")
        numbers = shown(page)
        assert len(numbers) == 10
        page.keyboard.press("k")
        assert current(page) == numbers[-1]
        assert page.locator(".hit.current").evaluate("(one) => one.getBoundingClientRect().bottom < innerHeight + 1")
        page.keyboard.press("Escape")
        assert current(page) == ""
        for number in numbers[:3]:
            page.keyboard.press("j")
            assert current(page) == number
        page.keyboard.press("k")
        page.keyboard.press("s")
        said(page, "Starred")
        page.keyboard.press("m")
        said(page, "Marked as read")
        assert pressed(page, numbers[1]) == ["true", "true"]
        page.keyboard.press("m")
        said(page, "Marked as unread")
        page.keyboard.press("x")
        assert page.locator(".hit input:checked").count() == 1
        page.keyboard.press("l")
        page.keyboard.type("to read, Häfen")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=storm&limit=10#a*")
        assert current(page) == numbers[1], "the selection is where it was"
        assert page.locator(".hit.current .labels a").all_inner_texts() == ["Häfen", "to read"]
        assert pressed(page, numbers[1]) == ["true", "false"]
        page.keyboard.press("o")
        page.wait_for_url("**/article/*")
        assert noted.unexpected() == []


def test_enter_opens_and_the_article_has_keys_of_its_own(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        page.goto("/?q=storm&view=cards")
        numbers = shown(page)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/article/*")
        said(page, "Marked as read")  # it is on the screen
        page.keyboard.press("m")
        said(page, "Marked as unread")
        page.keyboard.press("s")
        said(page, "Starred")
        page.keyboard.press("l")
        page.keyboard.type("ports")
        page.keyboard.press("m")  # a letter of the label
        page.keyboard.press("Enter")
        page.wait_for_url("**/article/*#marks")
        assert page.locator(".marks .labels a").all_inner_texts() == ["portsm"]
        page.keyboard.press("j")
        page.wait_for_function(f"document.querySelector('h1').textContent.startsWith('Number {numbers[1]}:')")
        page.keyboard.press("k")
        page.wait_for_function(f"document.querySelector('h1').textContent.startsWith('Number {numbers[0]}:')")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "quick"
        page.keyboard.type("jks?")
        assert page.locator("#quick").input_value() == "jks?"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.tagName") == "BODY"
        assert noted.unexpected() == []


def test_keys_with_modifiers_and_in_fields_do_nothing(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        page.goto("/?q=storm&view=cards")
        for key in ("Control+j", "Alt+j", "Meta+j", "Control+s", "Shift+J"):
            page.keyboard.press(key)
        assert current(page) == ""
        page.locator(".bulk-box summary").click()
        for field in ("#q", "#bulk input[name=label]", "#since"):
            page.locator(field).focus()
            page.keyboard.type("jk")
        page.locator("#bulk select").focus()
        page.keyboard.press("j")
        assert current(page) == ""
        assert page.locator("#since").input_value() == "jk"
        assert page.locator("dialog[open]").count() == 0
        assert noted.unexpected() == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_is_a_dialog_that_gives_the_focus_back(browser: Browser, server: Server, language: str) -> None:
    with chromium.visiting(browser, server.origin, bypass_csp=True) as (page, noted):
        page.goto(f"/?q=storm&view=cards&lang={language}")
        page.keyboard.press("j")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog")
        assert dialog.locator("h2").inner_text() == {"en": "Keyboard", "zh": "键盘快捷键"}[language]
        assert dialog.locator("kbd").all_inner_texts() == ["/", "j", "k", "o", "s", "m", "x", "l", "?", "Esc"]
        assert chromium.axe(page) == []
        assert page.evaluate("document.activeElement.closest('dialog') !== null")
        page.keyboard.press("j")  # the page behind it is inert
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert page.evaluate("document.activeElement.closest('.hit.current') !== null")
        page.emulate_media(color_scheme="dark")
        page.keyboard.press("?")
        assert chromium.axe(page, ["color-contrast"]) == []
        assert noted.unexpected() == []


def test_keys_are_switched_off_for_good_and_on_again(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        page.goto("/?q=storm&view=cards")
        page.keyboard.press("?")
        page.get_by_label("Use these keys").uncheck()
        page.get_by_label("Mark articles as read that I open").uncheck()
        page.get_by_role("button", name="Close").click()
        for _ in range(2):
            for key in ("j", "?", "/"):
                page.keyboard.press(key)
            assert current(page) == ""
            assert page.locator("dialog[open]").count() == 0
            assert page.evaluate("document.activeElement.id") != "q"
            page.reload()
        page.locator(".hit h2 a").first.click()
        page.wait_for_url("**/article/*")
        page.wait_for_load_state("networkidle")
        assert page.locator(".marks .toggle.read").get_attribute("aria-pressed") == "false"
        page.get_by_role("button", name="Keyboard").click()
        page.get_by_label("Use these keys").check()
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        said(page, "Starred")
        assert noted.unexpected() == []


def test_many_are_marked_by_keyboard_and_mouse(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, locale="en") as (page, noted):
        page.goto("/?q=storm&view=list&limit=10")
        for _ in range(2):
            page.keyboard.press("j")
            page.keyboard.press("x")
        page.locator(".bulk-box summary").press("Enter")
        page.locator("#bulk input[name=label]").fill("first")
        page.locator("#bulk input[name=label]").press("Enter")  # which adds, and does not star
        page.wait_for_url("**/?q=storm&limit=10&marked=2&deed=label")
        assert page.get_by_text("2 articles have the labels now.").count() == 1
        page.locator(".bulk-box summary").click()
        page.get_by_label("Articles", exact=True).select_option("all")
        page.get_by_role("button", name="Mark as read").click()
        page.wait_for_url("**/?q=storm&limit=10&marked=15&deed=read")
        assert page.locator(".hit.was-read").count() == 10
        page.locator(".facets").get_by_role("link", name="first 2").click()
        page.wait_for_url("**/?*label=first*")
        assert page.locator(".hit").count() == 2
        page.keyboard.press("j")  # the keys serve what htmx has put there
        assert current(page) == shown(page)[0]
        assert noted.unexpected() == []


def test_marks_need_no_script(browser: Browser, server: Server) -> None:
    with chromium.visiting(browser, server.origin, java_script_enabled=False, locale="en") as (page, noted):
        page.goto("/?q=storm&view=cards")
        page.locator(".hit .toggle.star").nth(1).click()
        page.wait_for_url("**/?q=storm#a*")
        assert page.locator(".hit .toggle.star[aria-pressed=true]").count() == 1
        page.locator(".hit h2 a").first.click()
        page.wait_for_url("**/article/*")
        assert page.locator(".toggle.read").get_attribute("aria-pressed") == "false", "opening it marks nothing"
        page.locator(".toggle.read").click()
        page.wait_for_url("**#marks")
        page.get_by_label("Labels, with commas").fill("a, b")
        page.get_by_role("button", name="Add label").click()
        page.locator(".note-box summary").click()
        page.locator("textarea").fill("one\ntwo")
        page.get_by_role("button", name="Save note").click()
        assert page.locator("textarea").input_value() == "one\ntwo"
        assert page.locator(".marks .labels a").all_inner_texts() == ["a", "b"]
        assert page.get_by_role("button", name="Keyboard").count() == 0
        assert noted.unexpected() == []


def test_marked_pages_fit_every_width(browser: Browser, server: Server) -> None:
    wrong = []
    with chromium.visiting(browser, server.origin, locale="en", bypass_csp=True) as (page, noted):
        page.goto("/?q=storm&view=cards")
        page.locator(".bulk-box summary").click()
        page.locator("#bulk input[name=label]").fill("W" * 60 + ", 港口港口港口港口, short")
        page.get_by_label("Articles", exact=True).select_option("page")
        page.locator("#bulk").get_by_role("button", name="Add label").click()
        page.wait_for_url("**deed=label")
        for path in (
            "/?q=storm&view=cards",
            "/?q=storm&view=list",
            page.locator(".hit h2 a").first.get_attribute("href"),
            "/desk",
        ):
            page.goto(path)
            for box in page.locator(".bulk-box, .note-box").all():
                box.evaluate("(one) => { one.open = true; }")
            wrong += [f"{path}: {fault}" for fault in (*chromium.unseen_focus(page), *chromium.axe(page))]
            for width in (360, 700, 1280, 1920):
                page.set_viewport_size({"width": width, "height": chromium.HEIGHT})
                wrong += [f"{path} {width}: {fault}" for fault in chromium.overflow(page)]
    assert wrong + noted.unexpected() == []
