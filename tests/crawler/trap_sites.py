"""Sites made of rules, honest ones and traps, and a crawl of them without a network: what is blocked, what is lost.

A site is a function from an address to what stands there. The crawl does what the real one does with traps
(`crawler.learn.traps.crawl`), in memory.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urljoin

from crawler.learn.traps.host import Bounds, FetchedPage, HostTraps
from db.records.keys import fingerprint
from pipelines.url_rules.forms import folder_key
from pipelines.url_rules.trap_patterns import disallow_reason
from pipelines.url_rules.trap_signals import sketch

HOST = "http://site.example"


@dataclass(frozen=True)
class Shown:
    """What an address shows: its links, and a text; of an article also which one it is."""

    links: Sequence[str] = ()
    text: str = ""
    article: str = ""
    missing: bool = False


Site = Callable[[str], Shown | None]


@dataclass
class Crawled:
    """What came of a crawl."""

    pages: int = 0
    articles: set[str] = field(default_factory=set)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0
    traps: HostTraps | None = None


def crawl(site: Site, *, most: int, order: str = "fifo", traps: bool = True, seed: int = 1) -> Crawled:
    """Crawl from the root until nothing is left or so many pages have been fetched; order: fifo, lifo or random."""
    draw = random.Random(seed)
    host = HostTraps(Bounds())
    result = Crawled(traps=host)
    found_on: dict[str, str] = {}
    queue: deque[str] = deque([f"{HOST}/"])
    known = {f"{HOST}/"}
    skipped: list[str] = []
    while queue and result.pages < most:
        if order == "random":
            queue.rotate(draw.randrange(len(queue)))
        url = queue.pop() if order == "lifo" else queue.popleft()
        reason = disallow_reason(url, host.blocked) if traps and url in found_on else ""
        if reason:
            skipped.append(url)
            result.skipped.append((url, reason))
            continue
        shown = site(url)
        result.pages += 1
        if shown is None:
            continue
        links = list(dict.fromkeys(urljoin(url, link) for link in shown.links))
        new = [link for link in links if link not in known]
        known.update(new)
        found_on.update(dict.fromkeys(new, url))
        queue.extend(new)
        brought = bool(shown.article) and shown.article not in result.articles
        again = bool(shown.article) and not brought
        if brought:
            result.articles.add(shown.article)
            if url in found_on:
                host.credit(found_on[url])
        if url in found_on:
            host.observe(_seen(url, shown, links, new, brought=brought, again=again), 1e9)
        if host.opened:
            host.opened = False
            queue.extend(one for one in skipped if not disallow_reason(one, host.blocked))
            skipped = [one for one in skipped if disallow_reason(one, host.blocked)]
    result.left = len(queue)
    return result


def _seen(url: str, shown: Shown, links: list[str], new: list[str], *, brought: bool, again: bool) -> FetchedPage:
    return FetchedPage(
        url,
        brought=brought,
        named=brought,
        again=again,
        missing=shown.missing,
        sketch=sketch(shown.text),
        links=[fingerprint(link) for link in links],
        folders=[folder_key(link) for link in links],
        found=[folder_key(link) for link in new],
    )


def words(seed: object, count: int = 30) -> str:
    """Some words that depend on nothing but the seed."""
    draw = random.Random(str(seed))
    return "".join(chr(draw.randrange(0x4E00, 0x9FA5)) for _ in range(count))


# ---------------------------------------------------------------- honest sites

ARTICLES = 400


def _article(number: int, *links: str) -> Shown:
    return Shown(("/", *links), words(number, 200), article=str(number))


def _home(*links: str) -> Shown:
    return Shown(links, words("home"))


def archive_by_date(url: str) -> Shown | None:
    """Days of five years, of which one in four has an article; each day leads to the day before and after."""
    path = url.removeprefix(HOST)
    if path == "/":
        return _home("/archive?date=1")
    if path.startswith("/archive?date="):
        day = int(path.partition("=")[2])
        if not 1 <= day <= 4 * ARTICLES:
            return None
        there = [f"/news/{day // 4}.html"] if day % 4 == 0 else []
        return Shown((*there, f"/archive?date={day - 1}", f"/archive?date={day + 1}"), f"{day}日 当日新闻一览")
    return _article(int(path[6:-5])) if path.startswith("/news/") else None


def slow_pagination(url: str) -> Shown | None:
    """Long lists, ten articles a page, with the newest ones in a column beside every page."""
    path = url.removeprefix(HOST)
    if path == "/":
        return _home("/list?page=1")
    if path.startswith("/list?page="):
        page = int(path.partition("=")[2])
        if not 1 <= page <= ARTICLES // 10:
            return None
        items = [f"/a/{n}.html" for n in range(10 * page - 9, 10 * page + 1)]
        return Shown((*items, *(f"/a/{n}.html" for n in range(1, 6)), f"/list?page={page + 1}"), "新闻列表 下一页")
    return _article(int(path[3:-5]), "/list?page=1") if path.startswith("/a/") else None


def tags(url: str) -> Shown | None:
    """Every article has tags, and every tag lists articles that are known; tags lead to other tags."""
    path = url.removeprefix(HOST)
    if path == "/":
        return _home(*(f"/news/{n}.html" for n in range(1, 40)))
    if path.startswith("/news/"):
        number = int(path[6:-5])
        more = [f"/news/{number + 39}.html"] if number + 39 <= ARTICLES else []
        return _article(number, f"/tag/t{number % 300}", *more)
    if path.startswith("/tag/t"):
        tag = int(path[6:])
        mine = [f"/news/{n}.html" for n in range(tag or 300, ARTICLES + 1, 300)]
        return Shown((*mine, f"/tag/t{(tag * 7) % 300}", f"/tag/t{(tag + 1) % 300}"), f"标签 {words(tag, 2)}")
    return None


def forum(url: str) -> Shown | None:
    """One script shows boards, threads and members; members' pages hold nothing."""
    query = dict(parse_qsl(url.partition("?")[2]))
    match query.get("mod"):
        case None:
            return _home(*(f"/forum.php?mod=board&fid={n}&page=1" for n in range(1, 5)))
        case "board":
            board, page = int(query["fid"]), int(query["page"])
            threads = range(page * 10 - 9, page * 10 + 1)
            if page > ARTICLES // 40:
                return None
            links = [f"/forum.php?mod=thread&tid={board * 1000 + n}" for n in threads]
            return Shown((*links, f"/forum.php?mod=board&fid={board}&page={page + 1}"), "板块 主题 作者 回复")
        case "thread":
            thread = int(query["tid"])
            return _article(thread, *(f"/forum.php?mod=member&uid={(thread * 3 + n) % 900}" for n in range(3)))
        case _:
            return Shown((f"/forum.php?mod=member&uid={(int(query['uid']) + 7) % 900}",), "会员资料 等级 积分")


def galleries(url: str) -> Shown | None:
    """Pictures with a line of text each, and one article among twenty of the same pattern."""
    path = url.removeprefix(HOST)
    if path == "/":
        return _home("/item/1.html")
    number = int(path[6:-5])
    if number > 20 * ARTICLES // 10:
        return None
    following = [f"/item/{n}.html" for n in range(number + 1, number + 4)]
    if number % 20 == 0:
        return _article(number, *following)
    return Shown(following, words(number, 20))


HONEST: dict[str, tuple[Site, int]] = {
    "archive by date": (archive_by_date, ARTICLES),
    "slow pagination": (slow_pagination, ARTICLES),
    "tags": (tags, ARTICLES),
    "forum": (forum, ARTICLES),
    "galleries": (galleries, 40),
}
"""Sites with the number of their articles."""


# ---------------------------------------------------------------- traps

_SIDEBAR = tuple(f"/news/{n}.html" for n in range(1, 9))


def _with_news(trap: Callable[[str, dict[str, str]], Shown], first: str) -> Site:
    """A trap beside eight honest articles, which every page of it names."""

    def site(url: str) -> Shown | None:
        path = url.removeprefix(HOST)
        if path == "/":
            return _home(first, *_SIDEBAR)
        if path.startswith("/news/"):
            return _article(int(path[6:-5]), first)
        shown = trap(path, dict(parse_qsl(path.partition("?")[2])))
        return Shown((*shown.links, *_SIDEBAR), shown.text, shown.article, shown.missing)

    return site


def _calendar(path: str, query: dict[str, str]) -> Shown:
    year, month = int(query["year"]), int(query["month"])
    days = [f"/events?year={year}&month={month}&day={day}" for day in range(1, 29)]
    beside = [f"/events?year={y}&month={m}" for y, m in ((year + month // 12, month % 12 + 1), (year - 1, month))]
    return Shown((*days, *beside), f"{year}年{month}月 本日没有活动")


def _calendar_in_path(path: str, _query: dict[str, str]) -> Shown:
    year, month = map(int, path.split("/")[2:4])
    links = [f"/agenda/{year + month // 12}/{month % 12 + 1}", *(f"/agenda/{year}/{month}/{d}" for d in range(1, 29))]
    return Shown(links, f"{year} {month} nothing planned")


def _sessions(path: str, _query: dict[str, str]) -> Shown:
    return Shown([f"/browse?c={c}&sess={fingerprint(f'{path}{c}') & 0xFFFFFFFF:08x}" for c in range(6)], "浏览 目录")


def _facets(path: str, query: dict[str, str]) -> Shown:
    draw = random.Random(path)
    links = []
    for name in ("color", "size", "sort", "brand", "price", "view"):
        for value in ("a", "b", "c", "d"):
            items = list({**query, name: value}.items())
            draw.shuffle(items)
            links.append(f"/goods?{urlencode(items)}")
    return Shown(links, "商品 筛选结果")


def _deep(path: str, _query: dict[str, str]) -> Shown:
    here = path.rpartition("/")[0]
    return Shown([f"{here}/{name}/" for name in ("docs", "img", f"x{fingerprint(path) % 1000}")], "目录为空")


def _soft_404(path: str, _query: dict[str, str]) -> Shown:
    links = [f"/old/{fingerprint(f'{path}{n}') & 0xFFFFFFFF:08x}.html" for n in range(5)]
    return Shown(links, "您访问的页面不存在 推荐阅读", missing=True)


def _buster(path: str, _query: dict[str, str]) -> Shown:
    return Shown([f"/next?_={fingerprint(f'{path}{n}') & 0xFFFFFFFFFF}" for n in range(3)], "换一批 随便看看")


def _random_folders(path: str, _query: dict[str, str]) -> Shown:
    draw = random.Random(path)
    names = ["".join(draw.choice("bcdfghklmnprst") + draw.choice("aeiou") for _ in range(4)) for _ in range(8)]
    return Shown([f"/{name}/{draw.randrange(10**6)}.html" for name in names], "更多 精彩 内容")


TRAPS: dict[str, tuple[Site, int]] = {
    "calendar": (_with_news(_calendar, "/events?year=2025&month=6"), 100),
    "calendar in the path": (_with_news(_calendar_in_path, "/agenda/2025/6"), 100),
    "session ids": (_with_news(_sessions, "/browse?c=1&sess=0000aaaa"), 100),
    "facets": (_with_news(_facets, "/goods?color=a"), 150),
    "deep paths": (_with_news(_deep, "/tree/"), 100),
    "soft 404": (_with_news(_soft_404, "/old/a.html"), 100),
    "cache buster": (_with_news(_buster, "/next?_=1"), 100),
    "random folders": (_with_news(_random_folders, "/kada/1.html"), 200),
}
"""Sites with the number of pages that the trap may cost."""
