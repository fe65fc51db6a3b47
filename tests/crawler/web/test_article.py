"""The article page: its order, marks and ways, and the stored page beside the text."""

from __future__ import annotations

import re
from urllib.parse import quote

from lxml import html

from crawler.web.frame.still import still, still_css
from tests.crawler.web.asking import Asker
from tests.crawler.web.hostile import PAGES
from tests.table import each_row

DOCTOR = quote("医生")
FORBIDDEN = {"script", "iframe", "object", "embed", "svg", "math", "form", "input", "button", "link", "base"}
FORBIDDEN |= {"video", "audio", "noscript", "template"}


def read(asker: Asker, path: str, status: int = 200) -> html.HtmlElement:
    answer = asker.get(path)
    assert answer.status_code == status, answer.text[:500]
    return html.document_fromstring(answer.text)


def said(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


# ---------------------------------------------------------------- from a search


def hits(asker: Asker, path: str) -> list[str]:
    return [link.get("href") for link in read(asker, path).cssselect(".hit h2 a")]


def way(page: html.HtmlElement, rel: str) -> str | None:
    links = page.cssselect(f".way a[rel={rel}]")
    return links[0].get("href") if links else None


def test_words_of_the_search_are_marked_in_title_and_text(asker: Asker) -> None:
    first = hits(asker, f"/?q={DOCTOR}")[0]
    page = read(asker, first)
    assert {mark.text for mark in page.cssselect(".prose mark, h1 mark")} <= {"医生", "醫生"}
    assert page.cssselect(".prose mark")
    plain = read(asker, first.partition("?")[0])
    assert not plain.cssselect("mark, .way")
    assert said(plain.cssselect(".prose")[0]) == said(page.cssselect(".prose")[0])


def test_way_leads_through_all_results_and_back(asker: Asker) -> None:
    listed = [*hits(asker, f"/?q={DOCTOR}&limit=2"), *hits(asker, f"/?q={DOCTOR}&limit=2&page=2")]
    assert len(listed) == 4
    page, seen = read(asker, listed[0]), [listed[0]]
    assert way(page, "prev") is None
    for _ in listed[1:]:
        following = way(page, "next")
        assert following is not None
        seen.append(following)
        page = read(asker, following)
    paths = [each.partition("?")[0] for each in seen]
    assert paths == [each.partition("?")[0] for each in listed]
    back = page.cssselect(".way a")[0].get("href")
    assert hits(asker, back) == listed[2:]
    before = way(page, "prev")
    assert before is not None
    assert before.partition("?")[0] == paths[2]


def test_way_ends_with_the_results(asker: Asker) -> None:
    query = "bridge&language=en"
    last = hits(asker, f"/?q={query}")[-1]
    assert way(read(asker, last), "next") is None


@each_row("query", ["q=(a", "since=soon", f"q={quote('没有这个词')}", "page=40"])
def test_article_is_shown_whatever_search_its_link_names(asker: Asker, pages: dict[str, str], query: str) -> None:
    page = read(asker, f"{pages['article']}?{query}")
    assert page.cssselect(".prose")[0].text_content().strip()
    assert len(page.cssselect(".way a")) == 1


# ---------------------------------------------------------------- what stands where


def test_summary_and_reprints_stand_before_the_text_and_internals_are_closed(
    asker: Asker, pages: dict[str, str]
) -> None:
    story = read(asker, pages["story"]).cssselect(".story-list h3 a")[0].get("href")
    page = read(asker, f"{story}?lang=en")
    order = [each.get("class", "").split()[0] for each in page.cssselect(".article > div > *") if each.get("class")]
    assert order.index("gist") < order.index("prose")
    others = page.cssselect(".gist .others a")
    assert others
    assert said(read(asker, others[0].get("href")).cssselect(".kicker")[0]).startswith(said(others[0]))
    (details,) = page.cssselect("aside details.details")
    assert details.get("open") is None
    inside = {said(term) for term in details.cssselect("dt")}
    assert {"Extractor", "Confidence", "Fetched"} <= inside
    outside = {said(term) for term in page.cssselect("aside > dl dt")}
    assert {"Published", "Language", "Kind", "URL"} <= outside
    assert not inside & outside


def test_stored_page_stands_beside_the_text_in_a_frame_that_runs_nothing(asker: Asker, pages: dict[str, str]) -> None:
    keyed = next(path for path in hits(asker, "/?limit=50") if read(asker, path).cssselect("a[href$='/view']"))
    page = asker.get(f"{keyed.partition('?')[0]}/view")
    frame = html.document_fromstring(page.text).cssselect("iframe")[0]
    assert frame.get("sandbox") == ""
    assert page.headers["content-security-policy"].endswith("; frame-src 'self'")
    answer = asker.get(frame.get("src"))
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox;")
    assert "frame-ancestors 'self'" in policy
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert asker.get("/article/1/view").status_code == asker.get("/article/1/still").status_code == 404
    assert asker.get(pages["article"]).headers["x-frame-options"] == "DENY"


# ---------------------------------------------------------------- pages of strangers


@each_row("source", PAGES)
def test_still_page_has_nothing_that_runs_loads_or_leads_away(source: str) -> None:
    for made in (still(source), still(still(source))):  # read once more it is no other
        root = html.document_fromstring(made + "<p>end</p>")
        tags = {node.tag for node in root.iter() if isinstance(node.tag, str)}
        assert not tags & FORBIDDEN
        assert [node.get("http-equiv") for node in root.iter("meta")] == [None] * len(list(root.iter("meta")))
        for node in root.iter():
            assert isinstance(node.tag, str)
            names = set(node.keys())
            assert not {name for name in names if name.startswith("on")}
            assert not names & {"href", "action", "srcset", "poster", "background", "ping", "srcdoc", "xlink:href"}
            assert node.get("src", "data:image/png;").lower().startswith("data:image/png;")
            assert not re.search(r"url\s*\(|@import|expression|binding", node.get("style", ""))
        assert not re.search(r"url\s*\(|@import|expression|binding", "".join(root.xpath("//style/text()")))


def test_still_page_keeps_text_layout_and_its_own_pictures() -> None:
    page = still(
        "<html lang=zh><head><style>p > b { color: red }</style></head><body><form>"
        "<article class=a style='margin: 1px'>"
        "<h1>港口</h1><p><b>甲</b> &amp; <a href='http://a.example'>乙</a></p><img alt=图 src=http://a.example/1.png>"
        "<img src='data:image/png;base64,iVBORw0KGgo='></article></form></body></html>"
    )
    root = html.document_fromstring(page)
    assert said(root.find("body")) == "港口甲 & 乙"
    assert root.cssselect("article.a")[0].get("style") == "margin: 1px"
    assert [image.get("src") for image in root.iter("img")] == [None, "data:image/png;base64,iVBORw0KGgo="]
    assert "color: red" in page
    assert root.get("lang") == "zh"


@each_row(
    ("css", "left"),
    [("a{b:url(x)}", "a{b:none}"), ("ururl(x)l(//e)", "urnonel(//e)"), ("@import 'x';p{}", "p{}"),
     ("u\\0072l(//e)", "ul(//e)"), ("u/**/rl(//e)", "u rl(//e)"), ("image-set('//e' 1x)", "none"),
     ("</style><b>", "/style>b>"), ("content:'\\e900'", "content:''"), ("p{color:red}", "p{color:red}")],
)  # fmt: skip
def test_styles_load_nothing(css: str, left: str) -> None:
    assert still_css(css) == left
