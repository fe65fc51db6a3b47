"""Seeds and home pages that lead nowhere but by their menus: shown in a browser, or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.render.chromium import find
from tests.crawler.crawling import rows
from tests.crawler.odd_server import OddServer
from tests.crawler.repeating_site import crawl, page

HOST = "a.localhost"
APP = """for (let n = 1; n < 4; n++) {
  const item = document.createElement('li');
  item.innerHTML = '<h3><a href="/story/' + n + '.html">第' + n + '号新闻的标题，写得长一点</a></h3>';
  document.querySelector('main').append(item);
}"""
HOME = (
    "<html><head><title>河口新闻</title></head><body><nav><a href=/about.html>关于我们</a></nav><main></main>"
    f"<footer>{'河口新闻是一家虚构的新闻网站，地址在河口市东湖路。' * 12}</footer><script src=/app.js></script></body>"
)


@pytest.fixture
def server() -> OddServer:
    return OddServer(
        {
            (HOST, "/robots.txt"): (404, {}, ""),
            (HOST, "/"): (200, {}, HOME),
            (HOST, "/app.js"): (200, {"Content-Type": "text/javascript"}, APP),
            **{(HOST, f"/story/{n}.html"): page(n) for n in range(1, 4)},
        }
    )


def test_seed_that_leads_nowhere_is_named_with_the_setting_that_helps(server: OddServer, tmp_path: Path) -> None:
    with server:
        done = crawl(server, tmp_path, HOST, path="/")
    told = " ".join(done.stderr.split())
    assert f"http://{HOST}:{server.port}/ may need a browser" in told
    assert "RENDER=auto" in told
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(0,)]


@pytest.mark.skipif(find() is None, reason="no Chromium is installed here")
def test_seed_that_leads_nowhere_is_shown_in_a_browser(server: OddServer, tmp_path: Path) -> None:
    with server:
        done = crawl(server, tmp_path, HOST, path="/", RENDER="auto")
    assert "may need a browser" not in done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(3,)]
