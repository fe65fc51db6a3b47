"""Answers of servers and what workers made of them, for tests of what they mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crawler.rank.priority import Priority
from crawler.response.context import Context
from crawler.response.redirects import with_redirect
from crawler.response.seen_urls import KnownUrls
from db.records.keys import fingerprint
from db.records.outcome import Outcome
from db.records.reasons import FailReason, PageReason
from db.records.url import Kind, Lease, NewUrl
from pipelines.item import Page
from pipelines.links.scope import Scope, resolve_page
from pipelines.records import BlockKind, Extraction, Image, Links, Metadata, PageKind, ParseResult, Signature

NOW = 1_700_000_000.0
URL = "http://h.cn/a"
SEED_ID = 7
SCOPE = Scope("host", ("h.cn",))
PRIORITY = Priority("breadth", {"freshness": 1.0})
FAR = 1 << 30
NO_LINKS = Links()


def lease(url: str = URL, **values: Any) -> Lease:
    defaults: dict[str, Any] = {
        "kind": Kind.PAGE,
        "depth": 1,
        "score": 0.5,
        "found_in": BlockKind.LIST,
        "found_on": None,
        "found_at": NOW - 10,
        "tries": 0,
        "hops": 0,
        "etag": None,
        "last_modified": None,
        "seed_id": SEED_ID,
    }
    return Lease(id=fingerprint(url), url=url, host_id=fingerprint(url.split("/")[2]), **{**defaults, **values})


def rules(**values: Any) -> Context:
    defaults: dict[str, Any] = {
        "priority": PRIORITY,
        "tries": 3,
        "redirects": 4,
        "depth": None,
        "known": KnownUrls(100),
        "extractor": "density",
        "disallow_reason": lambda _host, _url: None,
    }
    return Context(**{**defaults, **values})


_OWN = ("error", "detail", "body", "parsed", "unreadable", "truncated", "bounds", "cookies", "new_cookie")


def page(status: int = 200, url: str = URL, *, scope: Scope = SCOPE, headers: Any = None, **values: Any) -> Page:
    """An answer; names that a page does not have are those of its lease."""
    own = {name: values.pop(name) for name in _OWN if name in values}
    own |= {name: FailReason(own[name]) for name in ("error", "unreadable") if own.get(name)}
    answer = Page(lease(url, **values), scope, status=status, headers=headers or {}, fetched_at=NOW, **own)
    return with_redirect(answer)


def remember(depths: dict[int, int]) -> KnownUrls:
    """A memory of these URLs."""
    memory = KnownUrls(1_000)
    for key, depth in depths.items():
        memory.note(key, depth)
    return memory


def edges(outcome: Outcome) -> list[tuple[int, int]]:
    """The links of an outcome, target and block kind."""
    return list(zip(outcome.links.targets, outcome.links.blocks, strict=True))


def links(*urls: str, **values: Any) -> Links:
    defaults: dict[str, Any] = {
        "urls": urls,
        "anchors": tuple(f"about {url}" for url in urls),
        "blocks": bytes([BlockKind.LIST] * len(urls)),
        "nofollow": bytes(len(urls)),
    }
    return Links(**{**defaults, **values})


def listed(found: Links, *, scope: Scope = SCOPE, sitemaps: tuple[str, ...] = (), **values: Any) -> ParseResult:
    """What a worker makes of a page that is a list of links."""
    defaults: dict[str, Any] = {"kind": PageKind.LIST, "reason": PageReason.LIST, "links": found}
    return resolve_page(ParseResult(**{**defaults, **values}), URL, scope, sitemaps=sitemaps)


def written(*, found: Links = NO_LINKS, scope: Scope = SCOPE, **values: Any) -> ParseResult:
    """What a worker makes of an article."""
    meta = Metadata(
        title="题目",
        authors=("张三", "李四"),
        source="新华社",
        published_at="2023-11-14",
        published_utc="2023-11-13 16:00:00",
        published_precision="day",
        published_from="meta",
        language="zh-Hans",
        summary="提要",
        keywords=("一", "二"),
        section="要闻",
        images=(Image("http://h.cn/1.jpg", "图", lead=True),),
        **values,
    )
    text = Extraction("第一段。", "<p>第一段。</p>", 0.75)
    signature = Signature(5, b"abcd", 9)
    article = ParseResult(PageKind.ARTICLE, None, meta, text, signature, found, encoding="gb18030")
    article = replace(article, stories=(("http://h.cn/2.html", "后续"),))
    return resolve_page(article, URL, scope)


def by_url(outcome: Outcome) -> dict[str, NewUrl]:
    assert len({new.url for new in outcome.new_urls}) == len(outcome.new_urls)
    return {new.url: new for new in outcome.new_urls}


def replace_lease(of: Page, **values: Any) -> Page:
    return with_redirect(replace(of, lease=replace(of.lease, **values)))
