"""Look at seeds as a crawl would begin: robots.txt, page, feeds, sitemaps."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request

from db.records.reasons import label
from db.records.url import REDIRECTS, Kind
from pipelines.metadata import language
from pipelines.records import PageKind, ParseResult
from pipelines.urls import canonicalize, host_key
from pipelines.worker import Job, PageUnreadable, WorkerPool

from ..fetch.errors import why
from ..fetch.guard import AddressRefused
from ..fetch.proxies import ProxyProblem
from ..politeness.delay import RobotsRules, decode_robots
from ..response.seed_scope import scope_of_seed
from ..run.session import row_of
from ..run.workers import open_pool

if TYPE_CHECKING:
    from scrapy.http import Response

    from ..fetch.one_shot import Ask
    from ..options.config import Config
    from ..options.seeds import Seed


_MOST_AT_ONCE = 32
"""Seeds under way."""
_MOST_FEEDS, _MOST_SITEMAPS = 3, 5
"""Fetched of one seed; more are counted by those."""
_FEW_LINKS = 5
"""A page with fewer is hardly one that lists articles."""
_OK, _SERVERS_FAULT = 200, 500


@dataclass(frozen=True, slots=True)
class SeedReport:
    """State of a seed, and what a crawl will have of it.

    Attributes:
        is_bad: a crawl would get nothing from it.
        problem: one sentence with what to do; empty when all is well.
        status: of the front page's last answer, None when there was none.
        robots: "rules", "none", "unreachable", or empty when it was not asked for.
        crawl_delay, delay: seconds that robots.txt asks for, and that a crawl will keep.
        sitemap_urls: partly estimated; None without a sitemap.
        newest: day of the newest entry of feeds and sitemaps.
        pages, seconds: estimated within the limits; None when nothing tells.
    """

    url: str
    line: int = 0
    is_bad: bool = False
    problem: str = ""
    status: int | None = None
    final_url: str = ""
    redirects: int = 0
    robots: str = ""
    allowed: bool = True
    crawl_delay: float = 0.0
    delay: float = 0.0
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    sitemap_urls: int | None = None
    newest: str = ""
    kind: str = ""
    links: int = 0
    language: str = ""
    pages: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    url: str
    hops: int = 0
    status: int | None = None
    body: bytes = b""
    content_type: str = ""
    problem: str = ""
    wants_http: bool = False
    allowed: bool = True


@dataclass(frozen=True, slots=True)
class _Robots:
    rules: RobotsRules
    word: str
    answer: _Answer

    def refusal(self, url: str) -> _Answer | None:
        """Return in place of an answer why a page is not asked for; None when it may be."""
        if self.word == "unreachable":
            problem = self.answer.problem or f"its robots.txt answers http {self.answer.status}"
            return replace(self.answer, url=url, status=None, problem=problem)
        reason = self.rules.disallow_reason(url)
        if reason is None:
            return None
        return _Answer(url, problem=f"robots.txt keeps us out ({label(reason, '')})", allowed=False)


@dataclass(frozen=True, slots=True)
class _Amount:
    found: tuple[str, ...] = ()
    urls: int = 0
    newest: float = 0.0


async def check_seeds(seeds: Sequence[Seed], config: Config, ask: Ask, done: Callable[[int], None]) -> list[SeedReport]:
    """Look at all seeds, each host at its own pace; `done` is told how many are done."""
    places = asyncio.Semaphore(_MOST_AT_ONCE)
    count = 0

    async def one(seed: Seed) -> SeedReport:
        nonlocal count
        async with places:
            report = await check.report(seed)
        count += 1
        done(count)
        return report

    async with open_pool(config, len(seeds)) as pool:
        check = _Check(config, ask, pool)
        return list(await asyncio.gather(*map(one, seeds)))


class _Check:
    def __init__(self, config: Config, ask: Ask, pool: WorkerPool) -> None:
        self._config = config
        self._ask = ask
        self._pool = pool
        self._clocks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._free_at: dict[str, float] = {}
        self._robots: dict[tuple[str, str], asyncio.Task[_Robots]] = {}

    async def report(self, seed: Seed) -> SeedReport:
        front, rules = await self._front(seed.url, seed.proxy)
        if front.wants_http and seed.bare:
            front, rules = await self._front(f"http://{seed.url.partition('://')[2]}", seed.proxy)
        report = SeedReport(
            seed.url,
            line=seed.line,
            status=front.status,
            final_url=front.url,
            redirects=front.hops,
            robots=rules.word,
            allowed=front.allowed,
            crawl_delay=rules.rules.delay_seconds,
            delay=self._config.delay.between(rules.rules),
        )
        if front.status != _OK:
            problem = front.problem or f"it answers http {front.status}"
            cure = "correct the address, or take it out" if front.allowed else "take it out, or ask its owner"
            return replace(report, is_bad=True, problem=f"{problem}; {cure}")
        page = await self._read(Kind.PAGE, front, seed)
        if page is None:
            return replace(report, is_bad=True, problem="the page cannot be read; name another page of the site")
        feeds, sitemaps = await self._sources(page, front.url, rules.rules, seed)
        links = sum(reason is None for reason in page.links.reasons)
        pages = self._pages(sitemaps.urls, seed)  # feeds have the newest alone
        problem, is_bad = _judge(seed, front, page.kind, links, listed=bool(feeds.found or sitemaps.found))
        newest = max(feeds.newest, sitemaps.newest)
        return replace(
            report,
            is_bad=is_bad,
            problem=problem,
            feeds=feeds.found,
            sitemaps=sitemaps.found,
            sitemap_urls=sitemaps.urls if sitemaps.found else None,
            newest=datetime.fromtimestamp(newest, UTC).date().isoformat() if newest else "",
            kind=page.kind.word,
            links=links,
            language=page.metadata.language or language.detect(" ".join(page.links.anchors)),
            pages=pages,
            seconds=None if pages is None else pages * report.delay,
        )

    def _pages(self, listed: int, seed: Seed) -> int | None:
        limits = self._config.limits
        most = [n for n in (seed.pages, limits.pages_per_host, limits.pages) if n is not None]
        return min([listed, *most]) if listed else None

    async def _front(self, url: str, proxy: str) -> tuple[_Answer, _Robots]:
        hops = 0
        while True:
            rules = await self._rules_of(url, proxy)
            answer = rules.refusal(url) or await self._get(url, proxy, rules.rules)
            if answer.status not in REDIRECTS:
                return replace(answer, hops=hops), rules
            hops += 1
            if not answer.url or hops > self._config.redirects:
                problem = f"it redirects more than {hops - 1} times" if answer.url else "it redirects to nowhere"
                return replace(answer, url=url, hops=hops, problem=problem), rules
            url = answer.url

    async def _rules_of(self, url: str, proxy: str) -> _Robots:
        key = url[: url.index("/", 8)], proxy
        if key not in self._robots:
            self._robots[key] = asyncio.create_task(self._read_robots(f"{key[0]}/robots.txt", proxy))
        return await self._robots[key]

    async def _read_robots(self, url: str, proxy: str) -> _Robots:
        config, hops = self._config, 0
        answer = await self._get(url, proxy)
        while answer.status in REDIRECTS and answer.url and hops < config.redirects:
            answer, hops = await self._get(answer.url, proxy), hops + 1
        text, word = "", "none"
        if answer.status == _OK:
            text, word = decode_robots(answer.body, config.robots_bytes), "rules"
        elif answer.status is None or answer.status >= _SERVERS_FAULT:
            word = "unreachable"
        most = config.delay.most_crawl_delay
        rules = await asyncio.to_thread(RobotsRules, text, config.robots_agent, most_delay=most)
        return _Robots(rules, word, answer)

    async def _sources(self, page: ParseResult, base: str, rules: RobotsRules, seed: Seed) -> tuple[_Amount, _Amount]:
        feed_urls = [one.url for one in page.sources if one.kind == Kind.FEED]
        sitemap_urls = [canonicalize(text, base) for text in rules.sitemaps] or [canonicalize("/sitemap.xml", base)]
        feeds = await self._look(Kind.FEED, feed_urls, rules, seed, _MOST_FEEDS)
        return feeds, await self._look(Kind.SITEMAP, [url for url in sitemap_urls if url], rules, seed, _MOST_SITEMAPS)

    async def _look(self, kind: Kind, urls: Sequence[str], rules: RobotsRules, seed: Seed, most: int) -> _Amount:
        """Fetch some sitemaps or feeds; what further ones hold is estimated by those."""
        waiting, present, read, counted, newest = list(dict.fromkeys(urls)), [], 0, 0, 0.0
        asked = set(waiting)
        while waiting and most:
            url = waiting.pop(0)
            if rules.disallow_reason(url) is not None:
                continue
            most -= 1
            answer = await self._get(url, seed.proxy, rules)
            if answer.status in REDIRECTS and answer.url and answer.url not in asked:
                asked.add(answer.url)
                waiting.insert(0, answer.url)
                continue
            page = await self._read(kind, answer, seed) if answer.status == _OK else None
            if page is None:
                continue
            below = [one.url for one in page.sources if one.kind == kind and one.url not in asked]
            if not (len(page.links) or below):
                continue
            present.append(url)
            waiting += below
            asked.update(below)
            read += bool(len(page.links))
            counted += len(page.links)
            newest = max([newest, *page.links.dates, *page.links.changed])
        if read:
            counted += round(counted / read * len(waiting))
        return _Amount((*present, *waiting) if present else (), counted, min(newest, time.time()))

    async def _read(self, kind: Kind, answer: _Answer, seed: Seed) -> ParseResult | None:
        """Read in a worker process; None when that fails."""
        scope = scope_of_seed(row_of(seed), self._config.period)
        scope = replace(scope, hosts=(*scope.hosts, host_key(answer.url)))  # that of a redirect is its own, too
        try:
            return await self._pool.run(
                Job(str(kind), answer.body, answer.url, answer.content_type, "", time.time(), scope)
            )
        except PageUnreadable:
            return None

    async def _get(self, url: str, proxy: str, rules: RobotsRules | None = None) -> _Answer:
        """Ask a host when its time has come; a redirect's answer has its target as URL.

        Raises:
            ProxyProblem: the proxies of the whole crawl do not serve.
        """
        host = host_key(url)
        request = Request(url, dont_filter=True, meta={"proxy": proxy}) if proxy else url
        async with self._clocks[host]:
            await asyncio.sleep(max(0.0, self._free_at.get(host, 0.0) - time.monotonic()))
            try:
                return _answer(url, await self._ask(request))
            except AddressRefused as refused:
                return _Answer(url, problem=str(refused))
            except ProxyProblem as problem:
                if not proxy:
                    raise
                return _Answer(url, problem=str(problem))
            except Exception as error:  # noqa: BLE001 - of whatever kind: the host did not answer
                reason, detail = why(error)
                description = f"it cannot be reached ({label(reason, detail)})"
                return _Answer(url, problem=description, wants_http=reason.may_be_for_want_of_https)
            finally:
                self._free_at[host] = time.monotonic() + self._config.delay.between(rules)


def _answer(url: str, response: Response) -> _Answer:
    kind, target = ((response.headers.get(name) or b"").decode("latin-1") for name in ("Content-Type", "Location"))
    if response.status in REDIRECTS:
        return _Answer((canonicalize(urljoin(url, target)) or "") if target else "", status=response.status)
    return _Answer(url, status=response.status, body=response.body, content_type=kind)


def _judge(seed: Seed, front: _Answer, kind: PageKind, links: int, *, listed: bool) -> tuple[str, bool]:
    """With feeds or sitemaps (`listed`) a page need have no links."""
    if not (links or listed):
        return "the page has no links to follow, no feed and no sitemap; name a page that lists articles", True
    if host_key(front.url) != host_key(seed.url):
        return f"it redirects to another host; write {front.url} instead", False
    if front.url.startswith("https:") and seed.url.startswith("http:"):
        return f"it redirects to https; write {front.url} instead", False
    if front.url.startswith("http:") and seed.bare:
        return f"it has no https; write {front.url} to save the attempt", False
    if kind is not PageKind.LIST and links < _FEW_LINKS and not listed:
        return f"the page reads as one of the kind {kind.word}, with {links} links; name one that lists articles", False
    return "", False
