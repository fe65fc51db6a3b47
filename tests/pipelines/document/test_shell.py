"""Pages whose text is made by script, and short pages that are not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from db.records.reasons import PageReason
from pipelines.document.document import parse
from pipelines.document.shell import is_shell, is_thin
from pipelines.parse_page import parse_page
from pipelines.records import PageKind

NOW = datetime(2024, 6, 1, tzinfo=UTC)
LIST = "".join(f"<li><a href=/{n}>A headline of some length, number {n}</a></li>" for n in range(9))
SCRIPT = "<script src=/assets/index.js></script>"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "body",
    [
        "<p>Back on Monday.</p>",
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
