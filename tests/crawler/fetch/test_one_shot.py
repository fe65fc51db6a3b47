"""Single pages: redirects are followed, and problems are told."""

from __future__ import annotations

import asyncio

from scrapy import Request
from scrapy.http import Response

from crawler.fetch.guard import AddressRefused
from crawler.fetch.one_shot import fetch_page
from tests.table import each_row

SITE = "http://news.cn"
REDIRECTS = {
    "/there": b"/ok",
    "/relative": b"ok",
    "/utf8": "/新闻".encode(),
    "/gbk": b"/" + "新闻".encode("gbk"),
    "/loop": b"/loop",
    "/ftp": b"ftp://news.cn/ok",
    "/private": b"http://10.0.0.1/ok",
}


async def ask(url: str | Request) -> Response:
    assert isinstance(url, str)
    if url.startswith("http://10."):
        raise AddressRefused("10.0.0.1", "10.0.0.1")
    if url == f"{SITE}/lost":
        raise ConnectionResetError
    if (target := REDIRECTS.get(url.removeprefix(SITE))) is not None:
        return Response(url, status=302, headers={"Location": target})
    status = {"/gone": 410, "/nowhere": 302}.get(url.removeprefix(SITE), 200)
    return Response(url, status=status, headers={"Content-Type": "text/html"}, body=url.encode())


@each_row(
    ("path", "url", "problem"),
    [
        ("/ok", "/ok", ""),
        ("/there", "/ok", ""),
        ("/relative", "/ok", ""),
        ("/utf8", "/新闻", ""),
        ("/gbk", "/%D0%C2%CE%C5", ""),
        ("/loop", "/loop", "could not be fetched (too many redirects)"),
        ("/ftp", "/ftp", "http 302"),
        ("/nowhere", "/nowhere", "http 302"),
        ("/gone", "/gone", "http 410"),
        ("/lost", "/lost", "could not be fetched (connection lost)"),
    ],
)
def test_page_is_fetched_or_its_problem_is_told(path: str, url: str, problem: str) -> None:
    page = asyncio.run(fetch_page(ask, SITE + path, 3))
    assert (page.url, page.problem) == (SITE + url, problem)
    assert page.body == (b"" if problem else page.url.encode())
    assert page.content_type == ("" if problem else "text/html")


def test_redirect_to_a_private_address_is_refused() -> None:
    page = asyncio.run(fetch_page(ask, f"{SITE}/private", 3))
    assert page.url == f"{SITE}/private"
    assert "10.0.0.1, which is not public" in page.problem
