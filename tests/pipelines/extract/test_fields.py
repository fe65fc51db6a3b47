"""Dates, authors, languages, links, kinds: the single fields."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from pipelines.extract import EXTRACTORS, authors, dates, density, extractor, language, links
from pipelines.extract.document import parse
from pipelines.extract.page import parse_page
from pipelines.extract.zones import CHINA, Habits
from pipelines.records import BlockKind, Extraction, PageKind

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)
CHINA_HABITS = Habits(CHINA)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024年3月12日 08:30", "2024-03-12T08:30+08:00"),
        ("2024年03月12日08时30分", "2024-03-12T08:30+08:00"),
        ("发布时间：2024-03-12 08:30:15", "2024-03-12T08:30:15+08:00"),
        ("2024-03-12", "2024-03-12"),
        ("2024.3.12", "2024-03-12"),
        ("２０２４－０３－１２　０８：３０", "2024-03-12T08:30+08:00"),
        ("二〇二四年三月十二日", "2024-03-12"),
        ("二〇二三年十二月三十一日", "2023-12-31"),
        ("中華民國113年3月12日", "2024-03-12"),
        ("2024-03-12T08:30:00Z", "2024-03-12T08:30:00+00:00"),
        ("2024-03-12T08:30:00.123+01:00", "2024-03-12T08:30:00+01:00"),
        ("2024年3月12日 下午3:05", "2024-03-12T15:05+08:00"),
        ("2024-03-12 08:30 PM", "2024-03-12T20:30+08:00"),
        ("18:07 2024-01-16", "2024-01-16T18:07+08:00"),
        ("2024 03/12 16:37", "2024-03-12T16:37+08:00"),
        ("March 12, 2024", "2024-03-12"),
        ("12. März 2024, 08:30", "2024-03-12T08:30+08:00"),
        ("12.03.2024", "2024-03-12"),
    ],
)
def test_dates(text: str, iso: str) -> None:
    found = dates.read(text, NOW, CHINA_HABITS)
    assert found is not None
    assert found.iso == iso


@pytest.mark.parametrize(
    "text", ["", "no date", "2099-01-01", "2024-13-45", "1850年1月1日", "电话 010-20241234", "13.45.2024", "1" * 400]
)
def test_no_dates(text: str) -> None:
    assert dates.read(text, NOW, CHINA_HABITS) is None


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("3小时前", "2024-06-01T09:00+08:00"),
        ("昨天 08:30", "2024-05-31T08:30+08:00"),
        ("昨天", "2024-05-31"),
        ("2天前", "2024-05-30"),
        ("05-12 10:20", "2024-05-12T10:20+08:00"),
        ("12-30 10:20", "2023-12-30T10:20+08:00"),
    ],
)
def test_relative_dates(text: str, iso: str) -> None:
    found = dates.read_relative(text, NOW, CHINA_HABITS)
    assert found is not None
    assert found.iso == iso


def test_dates_in_urls() -> None:
    for url in ("http://e.com/2024/03/12/a.html", "http://e.com/t20240312_1.html", "http://e.com/2024-03-12/a"):
        found = dates.read_url(url, NOW)
        assert found is not None
        assert found.iso == "2024-03-12"
    assert dates.read_url("http://e.com/20991231/a", NOW) is None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("作者：王小明 李雷", ["王小明", "李雷"]),
        ("【記者王小明╱台北報導】", ["王小明"]),
        ("（文/王小明）", ["王小明"]),
        ("本报记者 李雷 韩梅梅", ["李雷", "韩梅梅"]),
        ("中央社記者王小明桃園19日電", ["王小明"]),
        ("记者李莎莎黎史翔王进雨程磊", ["李莎莎", "黎史翔", "王进雨", "程磊"]),
        ("By Jane Doe", ["Jane Doe"]),
        ("记者从有关部门获悉，今年雨水多", []),
        ("记者纤维木工一起", []),
    ],
)
def test_bylines(line: str, names: list[str]) -> None:
    assert list(authors.tidy(authors.from_line(line), [])) == names


def test_site_is_no_author() -> None:
    assert authors.tidy(["River Post", "Jane Doe", "http://x.com/a", "admin", "x" * 200], ["River Post"]) == (
        "Jane Doe",
    )


@pytest.mark.parametrize(
    ("text", "declared", "code"),
    [
        ("国务院总理在会议上说，经济发展要稳。", "", "zh-Hans"),
        ("記者從縣政府獲悉，這個週末將舉辦活動。", "zh-CN", "zh-Hant"),
        ("これは日本語の文章です。東京で開かれた。", "", "ja"),
        ("The ferry is back and it is fine for all of us in the town", "", "en"),
        ("Der Fluss ist nicht mit dem Boot zu erreichen und das ist ein Problem", "en", "de"),
        ("Сегодня в Москве и не только на улице что-то с погодой по", "", "ru"),
        ("", "", ""),
    ],
)
def test_language(text: str, declared: str, code: str) -> None:
    assert language.detect(text, declared) == code


def test_density_scores_follow_the_formula() -> None:
    document = parse(
        b"<body><div><p>aaaa, bbbb.</p><p>cccc dddd.</p></div><ul><li><a href=/>eeee</a></li></ul></body>",
        "http://e.com/",
    )
    found = density.scores(document)
    plain = (document.T - document.LT).astype(float)
    each = plain / np.maximum(document.TG - document.LTG, 1)
    node = document.tags.index("div")
    symbols = plain[node] / (document.Sb[node] + 1)
    deviation = max(np.log(max(each.std(), 1)), 0.1)
    assert found[node] == pytest.approx(deviation * each[node] * np.log10(document.P[node] + 2) * np.log(symbols))
    assert found[document.tags.index("li")] == 0


def test_registry() -> None:
    assert extractor("density", {"min_chars": 10})(parse(b"", "http://e.com/")) == Extraction(reason="no text")
    with pytest.raises(ValueError, match="density"):
        extractor("dense")
    with pytest.raises(ValueError, match="min_chars"):
        extractor("density", {"min_char": 10})
    assert set(EXTRACTORS) >= {"density"}


PAGE = """<html><head><base href="http://e.com/d/"><title>x</title>
<link rel="alternate" type="application/rss+xml" href="/feed.xml">
<meta name="robots" content="nofollow"></head><body><nav><a href="/">home</a> <a href="a.html">A</a></nav>
<ul class="list"><li><a href="a.html">a headline of some length</a></li>
<li><a href="b.html#x" rel="nofollow">another headline of some length</a></li>
<li><a href="javascript:x()">no</a> <a href="mailto:x@y">mail</a>
<a href="self.html">this very page, linked once more</a></li></ul>
<div class="pages"><a href="p2.html">2</a> <a href="p2.html">下一页</a></div>
<footer><a href="/about">about</a></footer><area href="/area"></body></html>"""


def test_links() -> None:
    document = parse(PAGE.encode(), "http://e.com/d/self.html")
    found = links.extract(document, Extraction())
    kinds = dict(zip(found.urls, map(BlockKind, found.blocks), strict=True))
    assert kinds["http://e.com/d/a.html"] is BlockKind.LIST
    assert kinds["http://e.com/d/p2.html"] is BlockKind.PAGINATION
    assert kinds["http://e.com/about"] is BlockKind.FOOTER
    assert kinds["http://e.com/"] is BlockKind.NAVIGATION
    assert "http://e.com/area" in kinds
    assert "http://e.com/d/self.html" not in kinds
    assert found.anchors[found.urls.index("http://e.com/d/a.html")] == "a headline of some length"
    assert found.nofollow[found.urls.index("http://e.com/d/b.html")] == 1
    assert found.nofollow[found.urls.index("http://e.com/d/a.html")] == 0
    assert links.feeds(document) == ("http://e.com/feed.xml",)
    page = parse_page(PAGE.encode(), "http://e.com/d/self.html", fetched_at=NOW)
    assert set(page.links.nofollow) == {1}
    assert page.kind is PageKind.LIST


def test_links_are_bounded() -> None:
    body = "".join(f"<a href=/{number}>anchor {'x' * 300}</a>" for number in range(6000)).encode()
    found = links.extract(parse(body, "http://e.com/"), Extraction())
    assert len(found) == links.MAX_LINKS
    assert max(map(len, found.anchors)) <= 200


@pytest.mark.parametrize(
    ("head", "header", "noindex"),
    [
        ("<meta name=robots content='NOINDEX, follow'>", "", True),
        ("<meta name=newscrawler content=none>", "", True),
        ("<meta name=googlebot content=noindex>", "", False),
        ("", "noindex", True),
        ("", "newscrawler: noindex", True),
        ("", "googlebot: noindex, nofollow", False),
        ("", "unavailable_after: 25 Jun 2030 15:00:00 PST", False),
    ],
)
def test_robots(head: str, header: str, noindex: object) -> None:
    page = parse_page(f"<head>{head}</head><p>x</p>".encode(), "http://e.com/", robots_header=header, fetched_at=NOW)
    assert page.noindex is noindex


def test_next_page_is_the_articles_own() -> None:
    text = "".join(f"<p>第{n}段，河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。</p>" for n in range(4))
    pages = "<div class=page><a href=/a/5_2.html>2</a><a href=/a/5_2.html>下一页</a></div>"
    title = "河口大桥通车"
    body = f"<title>{title}</title><h1>{title}</h1><div>{text}</div><a href=/a/9.html>下一篇</a>{pages}"
    page = parse_page(body.encode(), "http://e.com/a/5.html", fetched_at=NOW)
    assert page.kind is PageKind.ARTICLE
    assert page.metadata.next_page == "http://e.com/a/5_2.html"
    assert parse_page(body.encode(), "http://e.com/a/7.html", fetched_at=NOW).metadata.next_page == ""


def test_naive_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        parse_page(b"<p>x</p>", "http://e.com/", fetched_at=datetime(2024, 1, 1))
