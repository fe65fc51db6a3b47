"""A small crawl with something of everything that people ask a database about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import text

from db.engine.database import Database, open_for_crawl
from db.records.outcome import Edges
from db.records.url import State
from tests.db.articles.test_clusters import MORE, OTHER, STORY, Crawl, story
from tests.db.frontier_rows import done, new_url
from tests.db.stores import store_of

HOSTILE = '=HYPERLINK("http://evil.example","x")'
HTML = (
    '<h2>背景</h2>\n<p>第一段 *星号* 与 <a href="http://a.example/2">链接</a>。</p>\n<ul>\n<li>一</li>\n<li>二</li>\n</ul>\n'
    "<table>\n<tr><th>甲</th><th>乙</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>"
)


def run_in(database: Database) -> Callable:
    """Run database work on one payload in a transaction of its own."""

    def run(work: Callable, payload: object) -> object:
        with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
            return work(connection, [payload])[0]

    return run


def fill(url: str) -> None:
    """Crawl into a database that has no rows yet: ten articles of four sites, in this order.

    a/1 is printed first and copied by b/1 word for word and by c/1 with more; a/2 changes once; b/2 has a title that
    spreadsheets take for a formula; d/1 is in English; d/2 states no time; a/3, c/2 and c/3 are ordinary. a/4 fails,
    a/5 is a list that named a/1 and a/2, something leads outside.
    """
    database = open_for_crawl(url)
    try:
        _fill(Crawl(run_in(database), database), run_in(database))
        with database.engine.begin() as connection:
            connection.execute(_NAMED)
    finally:
        database.close()


_NAMED = text(
    "UPDATE url SET found_on = (SELECT id FROM url WHERE url = 'http://a.example/5') "
    "WHERE url IN ('http://a.example/1', 'http://a.example/2')"
)


def _fill(crawl: Crawl, run: Callable) -> None:
    def at(day: str, hour: int = 8, **values: Any) -> dict[str, Any]:
        stamp = {"published_at": f"2025-03-{day}T{hour:02}:00+08:00", "published_precision": "minute"}
        return {**stamp, "published_utc": f"2025-03-{day} {hour - 8:02}:00:00", "published_from": "meta", **values}

    pictures = (("http://a.example/1.jpg", "大桥"), ("http://a.example/2.jpg", ""))
    crawl.come(
        "a", 1, STORY, title="修老桥", authors="张三、李四", source="甲报", images=pictures, html=HTML, **at("01")
    )
    crawl.come("b", 1, STORY, title="修老桥", source="甲报", **at("02"))
    crawl.come("c", 1, MORE, title="修老桥之后", source="甲报", tags="桥、工程", **at("03"))
    crawl.come("a", 2, OTHER, title="邮票展览", authors="张三", section="文化", **at("03", 9))
    crawl.come("a", 2, OTHER + "志愿者说展览延长一周。" * 9, title="邮票展览延期", section="文化", **at("03", 9))
    crawl.come("b", 2, story(2), title=HOSTILE, authors="@handle", description="'=1+1", **at("04"))
    english = "The ferry was late again. Passengers waited on the pier until the evening came. " * 9
    crawl.come("d", 1, english, title="Ferry late again", language="en", source="Reuters", **at("05"))
    crawl.come("d", 2, story(3), title="没有日期")
    crawl.come("a", 3, story(4), title="快讯", seen="2025-01-02T00:00:00+00:00", **at("05", 23))
    crawl.come("c", 2, story(5), title="标题、有 | 竖线", language="zh-Hant", **at("06"))
    crawl.come("c", 3, story(6), title="", **at("07"))
    leases = crawl.leases
    first, second = leases["http://a.example/1"].id, leases["http://a.example/2"].id
    outside, later = new_url("http://outside.example/x", reason="outside"), new_url("http://a.example/later")
    links = Edges([first, second, outside.id], bytes([1, 1, 0]))
    listed = done(
        leases["http://a.example/5"], reason="list page", page_kind="list", links=links, new_urls=[outside, later]
    )
    run(store_of().store, listed)
    run(store_of().store, done(leases["http://c.example/5"], page_kind="list", links=Edges([first], bytes([0]))))
    failed = {"state": State.FAILED, "reason": "http error", "detail": "500", "http_status": 500}
    run(store_of().store, done(leases["http://a.example/4"], **failed))
