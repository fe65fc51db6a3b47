"""Pages of other kinds than articles, stored or told apart: `STORE_KINDS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import crawl, rows, scrapy
from tests.crawler.odd_server import Answer, OddServer, article

ALONE = ("SITE_MEMORY=False", "REVISIT_AHEAD=0")
STORED = "SELECT url, kind, text_chars > 0 FROM v_articles ORDER BY url"
DROPPED = "SELECT url, kind, reason FROM v_dropped WHERE state = 'done' ORDER BY url"


def front(*stories: str) -> Answer:
    """A home page: a headline that is a link, and a sentence below it, for each story."""
    cards = "".join(
        f'<div class="card"><h2><a href="{path}">第{n}则新闻的标题写在这里了</a></h2>'
        f"<p>这是第{n}则新闻的提要，说的是市里完成了一项工作，居民可以放心使用。</p></div>"
        for n, path in enumerate(stories)
    )
    return 200, {}, f"<html><head><title>首页</title></head><body><h1>首页</h1>{cards}</body></html>"


@pytest.fixture(scope="module")
def site() -> Iterator[OddServer]:
    stories = [f"/2024/{n}.html" for n in range(6)]
    answers = {("a.localhost", path): article(f"第{n}则新闻{n * 37}号") for n, path in enumerate(stories)}
    answers["a.localhost", "/news/"] = front(*stories)
    answers["a.localhost", "/"] = 200, {}, '<title>入口</title><a href="/news/">新闻频道</a>'
    with OddServer(answers) as server:
        yield server


def visit(site: OddServer, folder: Path, *settings: str) -> str:
    done = crawl(cast("Newsroom", site), folder, *ALONE, *settings, seeds=[f"http://a.localhost:{site.port}/"])
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


def kinds(folder: Path, query: str) -> dict[str, tuple[object, ...]]:
    """Rows by path."""
    return {re.sub("^http://[^/]+", "", row[0]): row[1:] for row in rows(folder, query)}


def extract_again(folder: Path, *settings: str) -> str:
    named = (f"DATABASE_URL=sqlite:///{folder}/news.db", *ALONE, *settings)
    done = scrapy(folder, "extract", "--database", *(part for one in named for part in ("-s", one)))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_other_kinds_are_told_and_not_stored(site: OddServer, tmp_path: Path) -> None:
    said = visit(site, tmp_path)
    assert {row[0] for row in kinds(tmp_path, STORED).values()} == {"article"}
    assert kinds(tmp_path, DROPPED)["/news/"] == ("list", "list page")
    assert re.search(r"list page +│ +\d", said)
    url = f"http://a.localhost:{site.port}/news/"
    why = scrapy(tmp_path, "why", url, "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db").stdout
    assert re.search(r"state +done \(list page\)\s+page +list", why)


def test_wanted_kinds_are_stored_with_their_kind(site: OddServer, tmp_path: Path) -> None:
    visit(site, tmp_path, "STORE_KINDS=list,article")
    stored = kinds(tmp_path, STORED)
    assert stored["/news/"] == ("list", 1)
    assert stored["/2024/0.html"] == ("article", 1)
    assert "/news/" not in kinds(tmp_path, DROPPED)
    assert rows(tmp_path, "SELECT reason FROM url WHERE url LIKE '%/news/'") == [("list page",)], "it leads on"
    visit(site, tmp_path, "STORE_KINDS=list,article", "REVISIT_AHEAD=864000")
    assert rows(tmp_path, "SELECT visits FROM url WHERE url LIKE '%/news/'") == [(2,)]
    assert kinds(tmp_path, STORED) == stored


def test_articles_may_be_left_out(site: OddServer, tmp_path: Path) -> None:
    visit(site, tmp_path, "STORE_KINDS=list")
    assert set(kinds(tmp_path, STORED)) == {"/news/"}
    assert kinds(tmp_path, DROPPED)["/2024/0.html"] == ("article", "article")


@pytest.mark.parametrize("bytes_kept", ["all", "articles"])
def test_stored_pages_are_judged_again_by_other_kinds(site: OddServer, tmp_path: Path, bytes_kept: str) -> None:
    visit(site, tmp_path, f"STORE_HTML={bytes_kept}")
    assert extract_again(tmp_path).startswith("0 articles")
    assert "/news/" not in kinds(tmp_path, STORED)
    said = extract_again(tmp_path, "STORE_KINDS=article,list")
    assert "pages that were not stored are of a kind that is wanted" in said
    if bytes_kept == "articles":
        assert "to be asked for by the next crawl" in said
        visit(site, tmp_path, "STORE_KINDS=article,list")
    else:
        assert "1 stored now" in said
    assert kinds(tmp_path, STORED)["/news/"] == ("list", 1)
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE url LIKE '%/news/' AND next_visit IS NOT NULL") == [(1,)]


def test_saved_page_is_extracted_by_its_kind(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(
        f'<link rel="canonical" href="http://a.example/news/">{front("/1", "/2", "/3", "/4", "/5")[2]}', "utf-8"
    )
    assert "no article (list page)" in scrapy(tmp_path, "extract", str(page)).stderr
    assert "第1则新闻的提要" in scrapy(tmp_path, "extract", str(page), "-s", "STORE_KINDS=list").stdout


def test_wrong_kind_is_refused_in_a_sentence(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "extract", "x.html", "-s", "STORE_KINDS=article,threads")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "STORE_KINDS is 'article,threads'; it takes one or more of article, list, other, thread" in done.stderr
