"""Chromium for the tests of the web page, which notes all that a page must not do.

A page must not ask anything of another host, run a script of an article, open a window or a dialog, break its
Content-Security-Policy or write an error to the console. No name resolves but 127.0.0.1, so nothing leaves the machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
WIDTHS = {"narrow": 360, "middle": 768, "wide": 1280, "widest": 1920}
HEIGHT = 800
SCHEMES = ("light", "dark")

HIT = "__hit"
"""Name of the function that hostile text calls: what it was called with is kept in the page's `hits`."""
_DETECTOR = """
(() => {
  const hits = [];
  const note = (name) => (...values) => { hits.push(name + " " + values.join(" ")); };
  for (const name of ["__hit", "alert", "confirm", "prompt", "print", "open"])
    Object.defineProperty(window, name, { value: note(name), writable: false });
  Object.defineProperty(window, "__hits", { value: hits, writable: false });
  document.addEventListener("securitypolicyviolation", (event) =>
    hits.push("policy " + event.violatedDirective + " " + event.blockedURI));
})();
"""


def executable() -> str | None:
    """Find Chromium: the variable CHROMIUM names one; else Debian's or another on the path."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


MISSING = "no Chromium: install Debian's package `chromium`, or name another one in CHROMIUM"


@dataclass
class Noted:
    """Faults of the pages that were opened."""

    origin: str
    faults: list[str] = field(default_factory=list)
    requests: int = 0

    def follow(self, page: Page) -> None:
        """Note all that a page does from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))
        page.on("dialog", self._dialog)
        page.on("popup", lambda other: self.faults.append(f"{page.url}: opened {other.url}"))
        page.on("download", lambda download: self.faults.append(f"{page.url}: downloaded {download.url}"))

    def request(self, request: Any) -> None:
        """Note a request that is not for the server."""
        self.requests += 1
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin and parts.scheme not in {"about", "data", "blob"}:
            self.faults.append(f"asked for {request.url[:200]}")

    def unexpected(self) -> list[str]:
        """Return the faults but for pages that are not there: to a browser these are failed requests."""
        return [fault for fault in self.faults if "status of 404" not in fault]

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.location.get('url', '')}: {message.text[:300]}")

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog {dialog.message[:200]}")
        dialog.dismiss()


@contextmanager
def running() -> Iterator[Browser]:
    """Run one Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visiting(browser: Browser, origin: str, **options: Any) -> Iterator[tuple[Page, Noted]]:
    """Open a window of its own, without cookies; its faults are in what comes beside it."""
    values = {"viewport": {"width": WIDTHS["wide"], "height": HEIGHT}, "base_url": origin, **options}
    context: BrowserContext = browser.new_context(**values)
    context.set_default_timeout(60_000)
    noted = Noted(origin)
    context.on("request", noted.request)
    context.add_init_script(_DETECTOR)
    page = context.new_page()
    noted.follow(page)
    try:
        yield page, noted
    finally:
        context.close()


def hits(page: Page) -> list[str]:
    """Return what scripts of the page called that they must not call, and what its policy forbade."""
    return page.evaluate("window.__hits || []")


def overflow(page: Page) -> list[str]:
    """Name what makes the page wider than its window; nothing when it fits."""
    return page.evaluate(
        """() => {
          const root = document.scrollingElement;
          if (root.scrollWidth <= root.clientWidth) return [];
          const inScroller = (element) => {
            for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
              if (getComputedStyle(up).overflowX !== "visible") return true;
            return false;
          };
          const wide = [...document.querySelectorAll("body *")].filter((element) =>
            element.getBoundingClientRect().right > root.clientWidth + 1 && !inScroller(element));
          const name = (element) =>
            element.tagName + "." + (element.getAttribute("class") || "") + " " + element.textContent.slice(0, 40);
          return ["" + root.scrollWidth + " of " + root.clientWidth, ...wide.slice(0, 5).map(name)];
        }"""
    )


def harm(page: Page) -> list[str]:
    """Return what a stranger's text did to a page: scripts that ran, links that would run one, content too wide."""
    links = page.evaluate(
        "[...document.querySelectorAll('[href]')].map((one) => new URL(one.getAttribute('href'), location).href)"
    )
    wrong = [f"link {link[:80]}" for link in links if not link.startswith(("http://", "https://"))]
    if page.locator("header a").count() < 4 or page.locator("footer").count() != 1:
        wrong.append("the frame is broken")
    return [*hits(page), *overflow(page), *wrong]


def unseen_focus(page: Page) -> list[str]:
    """Name what a keyboard reaches without a visible sign of it, or cannot reach."""
    page.keyboard.press("Tab")
    return page.evaluate(
        """() => {
          const wrong = [];
          const name = (element) => element.outerHTML.slice(0, 120);
          const shown = (element) => element.checkVisibility({ visibilityProperty: true });
          const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
          for (const element of all) {
            if (element.disabled || element.type === "hidden" || !shown(element)) continue;
            if (element.tabIndex > 0) wrong.push("tabindex " + name(element));
            if (element.tabIndex < 0) continue;
            element.focus();
            if (document.activeElement !== element) { wrong.push("not reached " + name(element)); continue; }
            const style = getComputedStyle(element);
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
            if (!ring && style.boxShadow === "none") wrong.push("no ring " + name(element));
          }
          document.activeElement.blur();
          return wrong;
        }"""
    )


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def axe(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Run axe, or some of its rules, in a window opened with `bypass_csp`; returns what it objects to."""
    if page.evaluate("typeof window.axe") == "undefined":
        page.evaluate(_axe())
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("(options) => axe.run(document, options).then((found) => found.violations)", options)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['failureSummary'][:300]}"
        for one in found
        for node in one["nodes"][:5]
    ]
