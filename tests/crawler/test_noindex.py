"""Pages that ask not to be indexed: what a crawl says of them, and the setting that stores them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawler.crawling import command, rows
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import crawl, lists, page

HOST = "a.localhost"
PATHS = ("/meta.html", "/header.html", "/none.html")


def asking(number: int, *, meta: str = "", header: str = "") -> Answer:
    status, headers, body = page(number)
    head = f'<head><meta name="robots" content="{meta}">' if meta else "<head>"
    return status, {**headers, **({"X-Robots-Tag": header} if header else {})}, body.replace("<head>", head)


@pytest.fixture
def server() -> OddServer:
    pages = (asking(1, meta="noindex,follow"), asking(2, header="noindex"), asking(3, meta="none"))
    return OddServer(
        {
            (HOST, "/robots.txt"): (404, {}, ""),
            (HOST, "/list/0.html"): lists(0, PATHS),
            **{(HOST, path): answer for path, answer in zip(PATHS, pages, strict=True)},
        }
    )


def test_noindex_is_named_with_the_setting_that_stores_it(server: OddServer, tmp_path: Path) -> None:
    with server:
        crawl(server, tmp_path, HOST)
    named = rows(
        tmp_path, "SELECT reason, reason_detail FROM v_dropped WHERE url LIKE '%html' AND reason <> 'list page'"
    )
    assert named == [("noindex", "NOINDEX=store keeps it")] * len(PATHS)
    url = f"http://{HOST}:{server.port}/meta.html"
    told = command("why", url, "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert "noindex: NOINDEX=store keeps it" in told.stdout


def test_noindex_is_stored_where_the_setting_says_so(server: OddServer, tmp_path: Path) -> None:
    with server:
        crawl(server, tmp_path, HOST, NOINDEX="store")
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(len(PATHS),)]
