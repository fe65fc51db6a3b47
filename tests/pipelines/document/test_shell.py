"""Pages whose text is made by script, and short pages that are not."""

from __future__ import annotations

from datetime import UTC, datetime

from db.records.reasons import PageReason
from pipelines.document.document import parse
from pipelines.document.shell import is_shell, is_thin
from pipelines.parse_page import parse_page
from pipelines.records import PageKind
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
LIST = "".join(f"<li><a href=/{n}>A headline of some length, number {n}</a></li>" for n in range(9))
SCRIPT = "<script src=/assets/index.js></script>"


@each_row(
    "body",
    [
        f'<div id="app"></div>{SCRIPT}',
        f'<noscript>You need to enable JavaScript to run this app.</noscript><div id="main"></div>{SCRIPT}',
        f"<noscript><strong>本网站需要启用 JavaScript 才能正常运行</strong></noscript><p>南岸</p>{SCRIPT}",
        f'<div id="__next"><header>Harbour News <a href=/a>About</a></header><i class="skeleton">…</i></div>{SCRIPT}',
        '<div id=x></div><script>window.__INITIAL_STATE__={"title":"A long title"}</script>',
        f"<app-root></app-root>{SCRIPT}",
        f"<p>Loading</p>{SCRIPT * 3}",
    ],
)
def test_shell_needs_a_browser(body: str) -> None:
    page = parse_page(f"<html><body>{body}</body></html>".encode(), "http://h.example/a", fetched_at=NOW)
    assert (page.kind, page.reason) == (PageKind.OTHER, PageReason.NEEDS_BROWSER)


FALLBACK = '<!--$!--><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template><p>Loading...</p><!--/$-->'
MENU = "<header><a href=/>Harbour News</a><nav><a href=/about>About us</a><a href=/login>Log in</a></nav></header>"
FLIGHT = f"<script>(self.__next_f=self.__next_f||[]).push([0])</script>{SCRIPT}"
FRAMEWORKS = {
    "Next.js": f"{MENU}<main>{FALLBACK}</main>{FLIGHT}",
    "Next.js, cut": f'{MENU}<main><!--$?--><template id="B:0"></template><p>Loading</p><!--/$--></main>{FLIGHT}',
    "SvelteKit": (
        '<link rel=modulepreload href="/_app/immutable/entry/start.js"><div style="display: contents"><script>'
        '{__sveltekit_1x2y={base:""};Promise.all([import("/_app/immutable/entry/start.js")]).then(k=>k.start())}'
        "</script></div>"
    ),
    "Remix": '<p>Loading, please wait...</p><script>window.__remixContext = {"isSpaMode":true};</script>',
    "React Router": '<p>Loading</p><script>window.__reactRouterContext = {"basename":"/"};</script>',
    "Nuxt": '<div id="__nuxt"></div><script type="module" src="/_nuxt/entry.js"></script>',
    "Astro": f'{MENU}<main><astro-island component-url="/_astro/List.js" client="only"></astro-island></main>{SCRIPT}',
    "Angular": '<news-portal></news-portal><script src="main.js" type="module"></script>',
    "Solid": "<div></div><script>window._$HY||(e=>{})(window._$HY={})</script>",
    "Ember": '<script src="/assets/vendor.js"></script><script src="/assets/app.js"></script>',
    "Flutter": '<script src="flutter_bootstrap.js" async></script>',
    "Vite": '<div id="page"></div><script type="module" src="/assets/index.js"></script>',
}


@each_row("name", list(FRAMEWORKS))
@each_row("path", ["", "news/12.html"])
def test_empty_page_of_a_framework_needs_a_browser(name: str, path: str) -> None:
    html = f"<html><head><title>Harbour News</title></head><body>{FRAMEWORKS[name]}</body></html>"
    page = parse_page(html.encode(), f"http://h.example/{path}", fetched_at=NOW)
    assert (page.kind, page.reason) == (PageKind.OTHER, PageReason.NEEDS_BROWSER)


@each_row(
    ("body", "leads_nowhere"),
    [
        (f"{MENU}<main id=list></main>{SCRIPT}", True),
        (f"{MENU}<main>{FALLBACK}</main><footer>{'Where we are and since when. ' * 20}</footer>{FLIGHT}", True),
        (f"{MENU}<main id=list></main>", False),
        (f"{MENU}<main><ul>{LIST}</ul></main>{SCRIPT}", False),
        (f"{MENU}<main><h2><a href=/1>A headline of some length, number 1</a></h2></main>{SCRIPT}", False),
    ],
)
def test_page_that_leads_nowhere_but_by_its_menus(body: str, *, leads_nowhere: bool) -> None:
    page = parse_page(f"<html><body>{body}</body></html>".encode(), "http://h.example/", fetched_at=NOW)
    assert page.lacks_links is leads_nowhere


def test_list_of_which_a_part_is_left_to_the_browser_loads_more() -> None:
    for fallback in ("", FALLBACK):
        body = f"<html><body>{MENU}<main><ul>{LIST}</ul>{fallback}</main>{FLIGHT}</body></html>"
        page = parse_page(body.encode(), "http://h.example/", fetched_at=NOW)
        assert (page.kind, page.loads_more) == (PageKind.LIST, bool(fallback))


@each_row(
    "body",
    [
        "<p>Back on Monday.</p>",
        "<script async src=https://www.googletagmanager.com/gtag/js></script>",
        "<a href=/index.html><img src=/splash.jpg></a><script src=/count.js></script>",
        f"<p>{'The harbour is open. ' * 20}</p>{FALLBACK}{FLIGHT}",
        f'<template id="B:0"></template><div hidden id="S:0"><ul>{LIST}</ul></div>{FLIGHT}',
        f"<h1>关于我们</h1><p>港湾要闻是一家虚构的网站，欢迎来信。</p>{SCRIPT * 4}",
        f'<div id="app"><ul>{LIST}</ul></div><noscript>Please enable JavaScript for comments.</noscript>{SCRIPT}',
    ],
)
def test_page_that_shows_something_is_no_shell(body: str) -> None:
    assert not is_shell(parse(f"<html><body>{body}</body></html>".encode(), "http://h.example/a", "text/html"))


FOOTER = "<p>Copyright 2026 Example Media. All rights reserved.</p>"
APP = "<script src=/app.js></script>"


def thin(body: str, text: str = "") -> bool:
    return is_thin(parse(f"<html><body>{body}</body></html>".encode(), "http://a.cn/1.html", ""), text)


def test_page_that_shows_next_to_nothing_beside_scripts_is_thin() -> None:
    assert thin(FOOTER + APP, "Copyright 2026 Example Media.")
    assert thin("<script>document.body.append(1)</script>")


def test_page_with_a_text_or_without_scripts_is_not_thin() -> None:
    assert not thin("<p>" + "A sentence of the text. " * 30 + "</p>" + APP)
    assert not thin(FOOTER + APP, "A text of some length. " * 6)
    assert not thin(FOOTER, "Copyright")
