"""Traps in a crawl: what is blocked is skipped, survives a restart, is opened again, and stands in the commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawler.learn.traps.host import PROBATION_PAGES
from db.frontier.insert import add_urls
from db.frontier.leases import return_orphans
from db.records.keys import fingerprint
from db.records.outcome import Stored
from pipelines.records import BlockKind, Signs
from tests.crawler.crawling import rows, scrapy
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import page as article_page
from tests.crawler.trap_crawl import (
    HOST,
    SITE,
    Crawl,
    article,
    block_the_calendar,
    in_session,
    lease_of,
    list_page,
    month,
    states,
)
from tests.db.frontier_rows import NOW, new_url


def test_blocked_patterns_are_skipped_and_stay_so_after_a_restart(tmp_path: Path) -> None:
    async def first(crawl: Crawl) -> None:
        await block_the_calendar(crawl)
        assert crawl.cleared == [HOST]
        assert crawl.totals == {"traps/calendar": 1}
        assert await crawl.lease(5) == [f"{SITE}/"], "the seed"
        assert states(tmp_path) == {"trap: calendar": 60}
        sitemap = lease_of(month(1), found_in=BlockKind.SITEMAP)
        assert crawl.registry.disallow_reason(sitemap) == "", "a site knows what it has"

    async def second(crawl: Crawl) -> None:
        assert await crawl.registry.reopen() == 0, "too early"
        await crawl.take()
        assert crawl.registry.disallow_reason(lease_of(month(500))) == "calendar"
        assert crawl.registry.known(lease_of(month(500))).blocked
        await crawl.registry.let_go([HOST])
        assert crawl.registry.disallow_reason(lease_of(month(500))) == ""

    in_session(tmp_path, first)
    in_session(tmp_path, second)


@pytest.mark.parametrize("restarted", [False, True])
def test_article_found_by_a_page_of_it_opens_a_pattern(tmp_path: Path, restarted: bool) -> None:  # noqa: FBT001
    async def first(crawl: Crawl) -> None:
        await block_the_calendar(crawl)
        await crawl.lease(5)
        if restarted:
            await crawl.registry.close()
            await crawl.session.submit(add_urls, (NOW, [new_url(month(3), reason="file")]))
            await crawl.session.submit(return_orphans, (crawl.session.resumed.run_id, set(), set()))
            crawl.registry = crawl.new_registry()
            await crawl.take()
        crawl.registry.note(*article(f"{SITE}/news/1.html", month(3)))
        await crawl.registry.close()
        await crawl.settled()
        assert crawl.changed == [(60, {HOST})]
        assert crawl.registry.disallow_reason(lease_of(month(500))) == ""

    in_session(tmp_path, first)
    assert states(tmp_path)["pending"] == 60
    assert rows(tmp_path, "SELECT kind FROM url_pattern WHERE pattern = '/cal?month'") == [("",)]


def test_later_crawl_tries_some_pages_again(tmp_path: Path) -> None:
    async def first(crawl: Crawl) -> None:
        await block_the_calendar(crawl)
        await crawl.lease(5)

    async def second(crawl: Crawl) -> None:
        assert await crawl.registry.reopen() == 60
        await crawl.take()
        assert states(tmp_path) == {"pending": 60}
        assert (
            "on probation"
            in scrapy(tmp_path, "status", "--traps", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db").stdout
        )
        for n in range(PROBATION_PAGES):
            assert crawl.totals == {}
            crawl.registry.note(*list_page(month(200 + n), month(300 + n)))
        assert crawl.totals == {"traps/calendar": 1}
        assert await crawl.lease(99) == [f"{SITE}/"]
        assert states(tmp_path) == {"trap: calendar": 60}

    in_session(tmp_path, first)
    in_session(tmp_path, second, days=0)


def test_all_that_was_skipped_waits_when_probation_brings_an_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.learn.traps.crawl._CHUNK", 20)

    async def first(crawl: Crawl) -> None:
        await block_the_calendar(crawl)
        await crawl.lease(5)

    async def second(crawl: Crawl) -> None:
        assert await crawl.registry.reopen() == 20
        await crawl.take()
        assert states(tmp_path) == {"trap: calendar": 40, "pending": 20}
        page, outcome, stored = article(month(105), month(100))
        crawl.registry.note(page, outcome, stored)
        await crawl.settled()
        assert crawl.changed == [(40, {HOST})]
        assert states(tmp_path) == {"pending": 60}

    in_session(tmp_path, first)
    in_session(tmp_path, second, days=0)


def test_host_is_asked_for_a_page_that_does_not_exist(tmp_path: Path) -> None:
    async def ask(crawl: Crawl) -> None:
        await crawl.take()
        for n in range(3):
            page, outcome, stored = list_page(f"{SITE}/old/{n}.html")
            crawl.registry.note(page, outcome, Stored(article="same page", same_host=True))
        await crawl.settled()
        (probe,) = crawl.added
        assert probe.url.startswith(f"{SITE}/old/")
        assert probe.url.endswith(".html")
        assert probe.found_in == BlockKind.PROBE
        page, outcome, stored = list_page(probe.url, signs=Signs(7, 99))
        page = replace(page, lease=lease_of(probe.url, found_in=BlockKind.PROBE))
        crawl.registry.note(page, outcome, stored)
        assert crawl.registry.known(lease_of(f"{SITE}/old/9.html")).missing == (99,)
        assert crawl.registry.known(lease_of(f"{SITE}/", found_in=BlockKind.SEED)).missing is None
        await crawl.registry.close()
        crawl.registry = crawl.new_registry()
        await crawl.session.submit(return_orphans, (crawl.session.resumed.run_id, set(), set()))
        await crawl.take()
        assert crawl.registry.known(lease_of(f"{SITE}/old/9.html")).missing == (99,)

    in_session(tmp_path, ask)


# ---------------------------------------------------------------- a crawl


class Calendar(dict[tuple[str, str], Answer]):
    """A site of six articles and a calendar for all time, where every page links to all articles."""

    def get(self, key: Any, default: Any = None) -> Any:
        path = key[1]
        news = "".join(f'<li><a href="/news/{n}.html">新闻标题在这里第{n}条</a></li>' for n in range(6))
        if path.startswith("/news/"):
            return article_page(int(path[6:-5]))
        if path == "/old.html" or path.startswith("/gone/"):
            name = fingerprint(path) & 0xFFFF
            links = "".join(f'<a href="/gone/{name + n:06x}.html">看看</a>' for n in range(3))
            notice = "<p>您访问的网页已经搬家或者被编辑删除，请检查地址，或从首页重新进入。</p>" * 3
            return 200, {}, f"<title>温馨提示</title><h1>温馨提示</h1><div>{notice}</div>{links}"
        if path.startswith("/events"):
            number = int(path.partition("=")[2] or 0)
            days = "".join(f'<a href="/events?month={number * 3 + n}">{n}</a> ' for n in range(1, 4))
            return 200, {}, f"<title>{number}月活动</title><p>没有活动，请看其他月份。</p>{days}<ul>{news}</ul>"
        links = '<a href="/events?month=0">活动日历</a><a href="/old.html">旧闻</a>'
        return (200, {}, f"<title>首页</title><ul>{news}</ul>{links}") if path == "/" else default


def test_crawl_ends_and_says_what_it_left_out(tmp_path: Path) -> None:
    with OddServer(Calendar()) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        given = {
            "DATABASE_URL": f"sqlite:///{tmp_path}/news.db",
            "ALLOW_NETWORKS": f"127.0.0.1:{server.port}",
            "HOST_DELAY": "0",
            "CRAWL_PRESET": "breadth",
            "WORKERS": "1",
        }
        arguments = [x for setting in given.items() for x in ("-s", "=".join(setting))]
        done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *arguments)
        assert done.returncode == 0, done.stderr
        asked = server.paths()
    assert sum("/events" in path for path in asked) < 60
    assert rows(tmp_path, "SELECT count(*) FROM article JOIN url USING (id) WHERE url LIKE '%/news/%'") == [(6,)]
    notices = "FROM article JOIN url USING (id) WHERE title = '温馨提示'"
    assert rows(tmp_path, f"SELECT count(*), count(gone) {notices}") == [(1, 1)], "stored before the host was asked"
    assert rows(tmp_path, "SELECT count(*) > 0 FROM url WHERE reason = 'trap' AND reason_detail = 'calendar'") == [(1,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE found_in = 13 AND state = 'done'") == [(2,)]
    assert "traps: URLs not fetched" in done.stderr
    told = scrapy(tmp_path, "status", "--traps", "-s", f"DATABASE_URL={given['DATABASE_URL']}").stdout
    assert "calendar" in told
    assert "URLs were skipped as calendar" in told
