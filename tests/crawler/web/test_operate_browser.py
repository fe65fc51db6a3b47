"""Managing a crawl in Chromium: sign in, add a seed, start, pause, go on, stop; both languages, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.demo.server import Newsroom
from crawler.web.frame.language import Language
from tests.crawler.web import chromium
from tests.crawler.web.operating import OPERATOR, managed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright")

pytestmark = pytest.mark.skipif(not chromium.executable(), reason=chromium.MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.running() as one:
        yield one


@pytest.mark.parametrize(("language", "has_scripts"), [("zh", True), ("en", False)])
def test_crawl_is_managed_in_a_browser(browser: Browser, tmp_path: Path, language: str, has_scripts: bool) -> None:  # noqa: FBT001
    t = Language(language)
    with Newsroom(port=0, latency_seconds=0.05) as newsroom:
        settings = (f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}", "HOST_DELAY=1", "WORKERS=1", "CRAWL_PRESET=breadth")
        options = [part for one in settings for part in ("-s", one)]
        window = {"locale": language, "java_script_enabled": has_scripts, "bypass_csp": False}
        with (
            managed(tmp_path, tmp_path / "news.db", *options) as (server, _),
            chromium.visiting(browser, server.origin, **window) as (page, noted),
        ):
            _manage(page, t, newsroom.seeds()[0], has_scripts=has_scripts)
        unexpected = [fault for fault in noted.unexpected() if "status of 403" not in fault]
        assert unexpected == []


def _manage(page: Page, t: Language, seed: str, *, has_scripts: bool) -> None:
    def button(key: str) -> None:
        page.get_by_role("button", name=t(key), exact=key in {"operate.start", "sign_in.go"}).first.click()

    def until(text: str) -> None:
        """Wait for a text; without scripts by loading the page again."""
        for _ in range(60):
            if has_scripts:
                page.get_by_text(text).first.wait_for(timeout=60_000)
                return
            if page.get_by_text(text).count():
                return
            page.wait_for_timeout(1_000)
            page.reload()
        raise AssertionError(text)

    page.goto("/crawl")
    page.get_by_label(t("sign_in.password")).fill("wrong password")
    button("sign_in.go")
    assert page.get_by_role("alert").inner_text() == t("sign_in.wrong")
    page.get_by_label(t("sign_in.password")).fill(OPERATOR)
    button("sign_in.go")
    assert page.url.endswith("/crawl")
    page.get_by_role("link", name=t("nav.operate")).click()
    page.get_by_label(t("operate.seeds.add")).fill(seed)
    button("operate.seeds.look")
    until("200")
    button("operate.seeds.keep")
    page.get_by_role("heading", name=t("operate.seeds"), exact=True).wait_for()
    button("operate.start")
    until(t("run.running"))
    button("operate.pause")
    until(t("run.asked.pause"))
    button("operate.resume")
    until(t("run.running"))
    button("operate.stop")
    until(t("operate.ended", code="3"))
    assert t("operate.did.resume") in page.locator("main").inner_text() or has_scripts
    button("sign_out")
    page.goto("/operate")
    assert "/sign-in" in page.url


def test_pages_of_operators_fit_and_are_read_by_all(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("https://www.example.com/ depth=3\n", "utf-8")
    wrong: list[str] = []
    with managed(tmp_path, tmp_path / "news.db") as (server, operator):
        operator.send("/operate", "/operate/limits", MAX_PAGES="100")
        (name, value), *_ = operator.client.cookies.items()
        with chromium.visiting(browser, server.origin, bypass_csp=True) as (page, noted):
            for path in ("/sign-in", "/operate"):
                if path == "/operate":
                    page.context.add_cookies([{"name": name, "value": value, "url": server.origin}])
                for language in ("en", "zh"):
                    for scheme in chromium.SCHEMES:
                        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                        page.goto(f"{path}?lang={language}")
                        wrong += [f"{path} {language} {scheme}: {fault}" for fault in chromium.axe(page)]
                    for width in (360, 1_920):
                        page.set_viewport_size({"width": width, "height": chromium.HEIGHT})
                        wrong += [f"{path} {language} {width}: {fault}" for fault in chromium.overflow(page)]
                    wrong += [f"{path}: {fault}" for fault in (*chromium.hits(page), *chromium.unseen_focus(page))]
        assert wrong + noted.unexpected() == []
