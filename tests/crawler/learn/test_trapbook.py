"""Traps in a crawl: what is shut is skipped, survives a restart, is opened again, and stands in the commands."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.learn.trapbook import Trapbook
from crawler.learn.traps import TRIAL_PAGES, Bounds
from crawler.seeds import Seed
from crawler.session import Session
from db.found import NewUrl, add_urls
from db.frontier import Claim, claim
from db.keys import fingerprint
from db.outcome import Outcome, Stored
from db.ownership import return_strays, take_hosts
from pipelines.patterns import folder_key
from pipelines.records import BlockKind, Links, PageKind, ParsedPage
from pipelines.scope import Scope, Targets
from pipelines.stages import Page
from pipelines.trapsigns import Signs
from pipelines.worker import Worked
from tests.crawler.crawling import rows, scrapy
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import page as article_page
from tests.db.frontier_rows import NOW, new_url, wish

SITE = "http://a.example"
LATELY = time.time()
HOST = fingerprint("a.example")


def month(number: int) -> str:
    return f"{SITE}/cal?month={number}"


def claim_of(url: str, found_on: str | None = None, found_in: int = BlockKind.LIST) -> Claim:
    source = None if found_on is None else fingerprint(found_on)
    return Claim(fingerprint(url), url, HOST, None, "page", 1, 0.5, found_in, source, NOW, 1, 0, None, None)


def list_page(url: str, *links: str, signs: Signs | None = None) -> tuple[Page, Outcome, Stored]:
    """A page that holds nothing but some new links."""
    ids = tuple(map(fingerprint, links))
    targets = Targets(ids=ids, folders=tuple(map(folder_key, links)))
    worked = Worked(ParsedPage(PageKind.LIST, "list page", links=Links(links)), targets, signs=signs or Signs(7, 8))
    page = Page(claim_of(url), Scope("host", ("a.example",)), status=200, fetched_at=LATELY, worked=worked)
    new = tuple(new_url(link) for link in links)
    return page, Outcome(page.claim, "done", new_urls=new, fetched_at=LATELY), Stored(new_urls=len(links))


def article(url: str, found_on: str) -> tuple[Page, Outcome, Stored]:
    worked = Worked(ParsedPage(PageKind.ARTICLE))
    page = Page(claim_of(url, found_on), Scope("host", ("a.example",)), status=200, fetched_at=LATELY, worked=worked)
    return page, Outcome(page.claim, "done", fetched_at=LATELY), Stored(article="new")


class Crawl:
    """A session with its trap book, and what the book has asked of the frontier."""

    def __init__(self, session: Session, *, days: float = 7) -> None:
        self.session = session
        self.days = days
        self.tasks: list[asyncio.Task[None]] = []
        self.cleared: list[int] = []
        self.changed: list[tuple[int, int]] = []
        self.added: list[NewUrl] = []
        self.totals: Counter[str] = Counter()
        self.book = self.new_book()

    def new_book(self) -> Trapbook:
        return Trapbook(
            self.session,
            Bounds(pages=10),
            self.days,
            totals=self.totals,
            is_own=lambda name: name == "a.example",
            start=lambda work: self.tasks.append(asyncio.ensure_future(work)),
            add=self.add,
            clear=self.cleared.append,
            changed=lambda *change: self.changed.append(change),
        )

    async def add(self, new_urls: Any) -> None:
        self.added += new_urls

    async def settled(self) -> None:
        while self.tasks:
            await self.tasks.pop()

    async def take(self) -> None:
        hosts = await self.session.submit(take_hosts, (self.session.resumed.run_id, 5))
        await self.book.take(hosts)

    async def claim(self, most: int) -> list[str]:
        request = wish(self.session.resumed.run_id, {HOST: most}, trap=self.book.objection)
        return [one.url for one in (await self.session.submit(claim, request)).urls]


def in_session(folder: Path, do: Callable[[Crawl], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        all_settings = Settings()
        all_settings.setmodule(project_settings, "project")
        all_settings.set("DATABASE_URL", f"sqlite:///{folder}/news.db", "cmdline")
        session = await Session.begin(all_settings, [Seed(f"{SITE}/")], lambda _: None)
        try:
            crawl = Crawl(session, **settings)
            await do(crawl)
            await crawl.settled()
        finally:
            await session.close()

    asyncio.run(run())


def states(folder: Path) -> dict[str, int]:
    found = rows(folder, "SELECT coalesce(reason, state), count(*) FROM url WHERE url LIKE '%cal?%' GROUP BY 1")
    return dict(found)


async def shut_the_calendar(crawl: Crawl) -> None:
    """Ten pages that lead to nothing but more of their kind."""
    await crawl.session.submit(add_urls, (NOW, [new_url(month(n)) for n in range(100, 160)]))
    await crawl.take()
    for n in range(10):
        crawl.book.note(*list_page(month(n), month(n + 1), month(n + 2)))
    await crawl.settled()


def test_what_is_shut_is_skipped_and_stays_so_after_a_restart(tmp_path: Path) -> None:
    async def first(crawl: Crawl) -> None:
        await shut_the_calendar(crawl)
        assert crawl.cleared == [HOST]
        assert crawl.totals == {"traps/calendar": 1}
        assert await crawl.claim(5) == [f"{SITE}/"], "the seed"
        assert states(tmp_path) == {"trap: calendar": 60}
        sitemap = claim_of(month(1), found_in=BlockKind.SITEMAP)
        assert crawl.book.objection(sitemap) == "", "a site knows what it has"

    async def second(crawl: Crawl) -> None:
        assert await crawl.book.try_again() == 0, "too early"
        await crawl.take()
        assert crawl.book.objection(claim_of(month(500))) == "trap: calendar"
        assert crawl.book.known(claim_of(month(500))).shut
        await crawl.book.let_go([HOST])
        assert crawl.book.objection(claim_of(month(500))) == ""

    in_session(tmp_path, first)
    in_session(tmp_path, second)


@pytest.mark.parametrize("restarted", [False, True])
def test_an_article_found_by_a_page_of_it_opens_a_pattern(tmp_path: Path, restarted: bool) -> None:  # noqa: FBT001
    async def first(crawl: Crawl) -> None:
        await shut_the_calendar(crawl)
        await crawl.claim(5)
        if restarted:
            await crawl.book.close()
            await crawl.session.submit(add_urls, (NOW, [new_url(month(3), reason="fetched before")]))
            await crawl.session.submit(return_strays, (crawl.session.resumed.run_id, set(), set()))
            crawl.book = crawl.new_book()
            await crawl.take()
        crawl.book.note(*article(f"{SITE}/news/1.html", month(3)))
        await crawl.book.close()
        await crawl.settled()
        assert crawl.changed == [(HOST, 60)]
        assert crawl.book.objection(claim_of(month(500))) == ""

    in_session(tmp_path, first)
    assert states(tmp_path)["pending"] == 60
    assert rows(tmp_path, "SELECT kind FROM url_pattern WHERE pattern = '/cal?month'") == [("",)]


def test_a_later_crawl_tries_some_pages_again(tmp_path: Path) -> None:
    async def first(crawl: Crawl) -> None:
        await shut_the_calendar(crawl)
        await crawl.claim(5)

    async def second(crawl: Crawl) -> None:
        assert await crawl.book.try_again() == TRIAL_PAGES
        await crawl.take()
        assert states(tmp_path) == {"trap: calendar": 60 - TRIAL_PAGES, "pending": TRIAL_PAGES}
        for n in range(TRIAL_PAGES):
            assert crawl.totals == {}
            crawl.book.note(*list_page(month(200 + n), month(300 + n)))
        assert crawl.totals == {"traps/calendar": 1}

    in_session(tmp_path, first)
    in_session(tmp_path, second, days=0)


def test_a_host_is_asked_for_a_page_that_nobody_has_made(tmp_path: Path) -> None:
    async def ask(crawl: Crawl) -> None:
        await crawl.take()
        for n in range(3):
            page, outcome, stored = list_page(f"{SITE}/old/{n}.html")
            crawl.book.note(page, outcome, Stored(article="same page", same_host=True))
        await crawl.settled()
        (probe,) = crawl.added
        assert probe.url.startswith(f"{SITE}/old/")
        assert probe.url.endswith(".html")
        assert probe.found_in == BlockKind.PROBE
        page, outcome, stored = list_page(probe.url, signs=Signs(7, 99))
        page.claim = claim_of(probe.url, found_in=BlockKind.PROBE)
        crawl.book.note(page, outcome, stored)
        assert crawl.book.known(claim_of(f"{SITE}/old/9.html")).missing == (99,)
        assert crawl.book.known(claim_of(f"{SITE}/", found_in=BlockKind.SEED)).missing is None
        await crawl.book.close()
        crawl.book = crawl.new_book()
        await crawl.session.submit(return_strays, (crawl.session.resumed.run_id, set(), set()))
        await crawl.take()
        assert crawl.book.known(claim_of(f"{SITE}/old/9.html")).missing == (99,)

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
            return 200, {}, f"<title>页面不存在</title><h1>页面不存在</h1><p>您要找的页面已被删除</p>{links}"
        if path.startswith("/events"):
            number = int(path.partition("=")[2] or 0)
            days = "".join(f'<a href="/events?month={number * 3 + n}">{n}</a> ' for n in range(1, 4))
            return 200, {}, f"<title>{number}月活动</title><p>没有活动，请看其他月份。</p>{days}<ul>{news}</ul>"
        links = '<a href="/events?month=0">活动日历</a><a href="/old.html">旧闻</a>'
        return (200, {}, f"<title>首页</title><ul>{news}</ul>{links}") if path == "/" else default


def test_a_crawl_ends_and_says_what_it_left_out(tmp_path: Path) -> None:
    with OddServer(Calendar()) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        given = {
            "DATABASE_URL": f"sqlite:///{tmp_path}/news.db",
            "ALLOW_NETWORKS": f"127.0.0.1:{server.port}",
            "HOST_DELAY": "0",
            "CRAWL_PRESET": "breadth",
            "WORKERS": "1",
            "TRAP_PATTERN_PAGES": "10",
        }
        arguments = [x for setting in given.items() for x in ("-s", "=".join(setting))]
        done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *arguments)
        assert done.returncode == 0, done.stderr
        asked = server.paths()
    assert sum("/events" in path for path in asked) < 60
    assert rows(tmp_path, "SELECT count(*) FROM article JOIN url USING (id) WHERE url LIKE '%/news/%'") == [(6,)]
    assert rows(tmp_path, "SELECT count(*) FROM article JOIN url USING (id) WHERE url LIKE '%/gone/%'") == [(0,)]
    assert rows(tmp_path, "SELECT count(*) > 0 FROM url WHERE reason = 'trap: calendar'") == [(1,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE found_in = 13 AND state = 'done'") == [(1,)]
    assert "traps: URLs not fetched" in done.stderr
    told = scrapy(tmp_path, "status", "--traps", "-s", f"DATABASE_URL={given['DATABASE_URL']}").stdout
    assert "calendar" in told
    assert "URLs were skipped as calendar" in told
