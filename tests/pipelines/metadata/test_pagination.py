"""Pages of one article, told from archives, channels and next articles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.metadata import pagination
from pipelines.metadata.pagination import Pages
from tests.table import each_row

SITE = "http://e.com"


def found(url: str, links: dict[str, str], head: str = "") -> Pages:
    anchors = "".join(f'<a href="{href}">{anchor}</a> ' for anchor, href in links.items())
    return pagination.find_pages(parse(f"{head}<p>x</p>{anchors}".encode(), SITE + url))


@each_row(
    ("url", "links", "number", "following", "preceding"),
    [
        ("/a/5.html", {"2": "/a/5_2.html", "下一页": "/a/5_2.html"}, 1, "/a/5_2.html", ""),
        ("/a/5_2.html", {"上一页": "/a/5.html", "1": "/a/5.html", "3": "/a/5_3.html"}, 2, "/a/5_3.html", "/a/5.html"),
        ("/a/5.html", {"[2]": "/a/5_1.html", "[3]": "/a/5_2.html"}, 1, "/a/5_1.html", ""),
        ("/a/5_1.html", {"1": "/a/5.html", "3": "/a/5_2.html"}, 2, "/a/5_2.html", "/a/5.html"),
        ("/s/read", {"Next page »": "/s/read/2/"}, 1, "/s/read/2/", ""),
        (
            "/s/read/2",
            {"1": "/s/read", "3": "/s/read/3"},
            2,
            "/s/read/3",
            "/s/read",
        ),
        ("/v?id=7", {"下一页": "/v?id=7&page=2"}, 1, "/v?id=7&page=2", ""),
        ("/v?id=7&page=2", {"下一頁": "/v?id=7&page=3", "上一頁": "/v?id=7"}, 2, "/v?id=7&page=3", "/v?id=7"),
        (
            "/thread-9-1-1.html",
            {"2": "/thread-9-2-1.html", "下一页": "/thread-9-2-1.html"},
            1,
            "/thread-9-2-1.html",
            "",
        ),
        ("/a/5.html", {"第2页：施工": "/a/5_2.html", "第3页：通车": "/a/5_3.html"}, 1, "/a/5_2.html", ""),
        ("/a/x.html", {"次のページ": "/a/x_2.html"}, 1, "/a/x_2.html", ""),
    ],
)
def test_pages(url: str, links: dict[str, str], number: int, following: str, preceding: str) -> None:
    expected = Pages(number, following and SITE + following, preceding and SITE + preceding)
    assert found(url, links) == expected


@each_row(
    ("url", "links"),
    [
        ("/a/5.html", {"下一篇": "/a/6.html"}),
        ("/a/5.html", {"下一页": "/a/6.html"}),
        ("/a/5.html", {"下一页": "/b/5_2.html"}),
        ("/a/5.html", {"下一页": "javascript:next()", "2": "#p2"}),
        ("/news-5.html", {"Next": "/other-6.html"}),
        ("/t20240312_123.html", {"下一页": "/t20240312_987.html"}),
        ("/a/5.html", {"2": "/list/2.html", "3": "/list/3.html"}),
        ("/a/5.html", {}),
    ],
)
def test_other_articles_are_no_pages(url: str, links: dict[str, str]) -> None:
    assert found(url, links) == Pages()


def test_relations_of_the_head() -> None:
    head = '<link rel=next href="/story/a?page=3"><link rel=prev href="/story/a">'
    assert found("/story/a?page=2", {}, head) == Pages(2, SITE + "/story/a?page=3", SITE + "/story/a")
    assert found("/2024/ferry", {}, "<link rel=next href=/2024/bridge>") == Pages()


@given(st.lists(st.tuples(st.text(max_size=12), st.text(alphabet="a/15_2?=p.&h", max_size=14)), max_size=6))
def test_any_links_are_read(links: list[tuple[str, str]]) -> None:
    place = found("/a/5_2.html", dict(links))
    assert 0 <= place.number <= pagination.MAX_PAGES + 1
