"""Kinds of little pages, each written as sites write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from db.records.reasons import PageReason
from pipelines.document.document import parse
from pipelines.extract import extractor
from pipelines.links import links
from pipelines.metadata import metadata
from pipelines.page_kind.decision import PageJudgement, classify
from pipelines.page_kind.features import describe_url, features
from pipelines.page_kind.model import shipped
from pipelines.page_kind.words import Words, words
from pipelines.parse_page import parse_page
from pipelines.records import Extraction, Links, Metadata, PageKind
from tests.table import each_row

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FRAME = """<html lang=en><head><title>{title} | Wenlow</title></head><body><header><a href=/>Wenlow</a><nav>
<a href=/a>News</a> <a href=/b>Sport</a> <a href=/login>Log in</a></nav></header><main>{main}</main>
<footer>© Wenlow. All rights reserved. <a href=/privacy>Privacy</a></footer></body></html>"""
STORY = "".join(
    f"<p>The council voted {number} to two on Tuesday to repair the old ferry, said Ada Brook, its harbour master. "
    "“We have waited for nine years,” she told the meeting, which went on until midnight.</p>"
    for number in ("seven", "eight", "nine", "ten", "six", "five")
)
CARDS = "".join(
    f"""<article class=card><h3><a href=/news/{day}/a-story>Story number {day} of the harbour and the town</a></h3>
<time datetime=2026-05-{day:02}>May {day}</time>
<p>What happened on day {day} in a line or two, and what comes next.</p></article>"""
    for day in range(1, 25)
)
POSTS = "".join(
    f"""<div class=post><div class=author><a href=/user/{number}>user{number}</a> Member, joined 2019</div>
<div class=date>#{number} May {number}, 2026 10:{number:02}</div><div class=content>I had the same with mine, try to
turn it off and on again, worked for me {number} times. Thanks!</div><a href=/reply/{number}>Reply</a>
<a href=/quote/{number}>Quote</a></div>"""
    for number in range(1, 16)
)
FORM = """<h1>Create your account</h1><p>Please fill in all fields. We never share your address with others.</p>
<form method=post action=/register><label>Email <input type=email name=email></label>
<label>Password <input type=password name=password></label>
<label>Confirm password <input type=password name=password2></label>
<label><input type=checkbox> I agree to the terms of use</label><button type=submit>Sign up</button></form>
<p>Already have an account? <a href=/login>Log in</a>. <a href=/forgot>Forgot your password?</a></p>"""
LAMPS = "".join(
    f"<li class=product><a href=/p/{n}><img src={n}.jpg>Brass lamp {n}</a> <span class=price>$1{n}.00</span></li>"
    for n in range(8)
)
BELL = f"""<div class=product itemscope itemtype=https://schema.org/Product>
<h1 itemprop=name>Brass ship bell, 20 cm</h1>
<span class=price itemprop=price>$49.90</span><p>In stock. SKU 11238. Free shipping on orders over $50.</p>
<form action=/cart><select name=qty><option>1<option>2</select><button class=add-to-cart>Add to cart</button></form>
<h2>Description</h2><p>Solid brass bell with a rope, for your boat or your home.</p>
<h2>You may also like</h2><ul class=products>{LAMPS}</ul></div>"""
PAGES = {
    "article": FRAME.format(title="Council votes for the ferry", main=f"<h1>Council votes for the ferry</h1>{STORY}"),
    "list": FRAME.format(title="News", main=f"<h1>Latest news</h1>{CARDS}<div class=pages><a href=?page=2>2</a></div>"),
    "form": FRAME.format(title="Create your account", main=FORM),
    "thread": FRAME.format(
        title="Engine does not start - View topic",
        main=f"<h1>Engine does not start</h1><div class=forum>{POSTS}</div><a href=/reply class=btn>Post reply</a>",
    ),
    "product": FRAME.format(title="Brass ship bell, 20 cm - Buy online", main=BELL),
}


def judged(html: str, url: str = "http://wenlow.example/ferry.html", name: str = "combined") -> PageJudgement:
    document = parse(html.encode(), url)
    found = extractor(name)(document)
    return classify(document, found, metadata.extract(document, found, NOW), links.extract(document, found))


@each_row("kind", list(PAGES))
def test_kinds_are_told_apart(kind: str) -> None:
    found = judged(PAGES[kind])
    assert found.kind is PageKind[kind.upper()]
    assert (found.reason is None) == (kind == "article")
    assert 0.2 < found.probability <= 1


@each_row("name", ["combined", "rules", "bte"])
def test_article_is_one_for_every_extractor(name: str) -> None:
    assert judged(PAGES["article"], name=name).kind is PageKind.ARTICLE


def test_address_counts_for_and_against() -> None:
    chances = {
        url: shipped().predict(evidence(PAGES["article"]), Words(), describe_url(url))[0]
        for url in ("http://e.com/2026/05/12/council-votes.html", "http://e.com/", "http://e.com/login")
    }
    dated, root, form = chances.values()
    assert dated > root
    assert dated > form


def test_article_is_one_at_no_root_and_without_a_url() -> None:
    assert judged(PAGES["article"], "").kind is PageKind.ARTICLE
    assert judged(PAGES["article"], "http://wenlow.example/").kind is PageKind.LIST


def test_page_says_how_sure_it_is() -> None:
    page = parse_page(PAGES["article"].encode(), "http://wenlow.example/ferry.html", fetched_at=NOW)
    assert page.kind is PageKind.ARTICLE
    assert page.probability == pytest.approx(judged(PAGES["article"]).probability)
    missing = parse_page(
        b"<title>404 Not Found</title><p>There is nothing here, look for it elsewhere.</p>",
        "http://e.com/x",
        fetched_at=NOW,
    )
    assert (missing.kind, missing.reason, missing.probability) == (PageKind.NOTICE, PageReason.SOFT_404, 1.0)


def test_page_without_text_is_none() -> None:
    empty = parse(b"<html><body></body></html>", "http://e.com/a/b")
    found = classify(empty, Extraction(reason=PageReason.NO_TEXT), Metadata(), Links())
    assert (found.kind, found.reason) == (PageKind.OTHER, PageReason.NO_TEXT)


def evidence(html: str) -> dict[str, float]:
    document = parse(html.encode(), "http://wenlow.example/ferry.html")
    found = extractor("combined")(document)
    return features(document, found, metadata.extract(document, found, NOW), links.extract(document, found))


def test_features_count_forms_and_what_repeats() -> None:
    form, cards, story = evidence(PAGES["form"]), evidence(PAGES["list"]), evidence(PAGES["article"])
    assert form["password fields of form"] == pytest.approx(1.0986, abs=1e-3), "log(1 + 2)"
    assert form["text in form"] > 0.2 > story["text in form"]
    assert cards["teasers"] == pytest.approx(3.2189, abs=1e-3), "log(1 + 24)"
    assert story["teasers"] == 0
    assert evidence(PAGES["product"])["goods"] > story["goods"] == 0
    assert evidence(PAGES["thread"])["posts"] > cards["posts"]
    assert set(form) == set(cards) == set(story)
    thread = evidence(PAGES["thread"])
    assert (thread["names"], thread["people"]) == pytest.approx((2.7726, 2.7726), abs=1e-3), "log(1 + 15)"
    assert (story["names"], story["people"], story["members in text"], story["times in text"]) == (0, 0, 0, 0)
    assert story["one headline"] == story["longest run"] == 1


def test_words_are_marked_by_their_place() -> None:
    document = parse(PAGES["form"].encode(), "http://wenlow.example/ferry.html")
    found = words(document, Extraction(text="Please fill in"))
    assert {"h:account", "t:create", "i:password", "b:sign"} <= found.site
    assert set(found.text) == {"please", "fill", "in"}


HEADLINES = (
    "市立图书馆明天重新开放",
    "页面不存在",
    "东湖公园的门票今年不再涨价",
    "北岸码头的404路公交车改道",
    "请先登录再买票吗",
)


def front(title: str, more: str = "") -> str:
    items = "".join(f'<li><a href="/{number}.html">{text}</a></li>' for number, text in enumerate(HEADLINES))
    return f"<html><head><title>{title}</title></head><body><ul>{items}</ul>{more}</body></html>"


@each_row("url", ["http://h.cn/", "http://h.cn/news/", "http://h.cn/list.php?id=4"])
@each_row("title", ["山城晨报", "最新消息"])
def test_headlines_that_speak_of_errors_make_none_of_their_list(title: str, url: str) -> None:
    assert judged(front(title), url).kind is PageKind.LIST


def test_home_page_may_be_named_after_an_error() -> None:
    for title in ("404 Media", "Forbidden Stories", "404新闻网"):
        assert judged(front(title), "http://h.cn/").kind is PageKind.LIST
        assert judged(front(title), "http://h.cn/404.html").reason is PageReason.SOFT_404


def test_error_page_is_one_whatever_it_links_to() -> None:
    said = "<h1>抱歉</h1><p>您访问的页面不存在，可能已被删除。</p><a href=/>返回首页</a>"
    for html in (
        f"<title>提示</title>{said}",
        f"<title>页面未找到</title>{said}",
        f"<title>404</title>{said}<form></form>",
    ):
        for url in ("http://h.cn/", "http://h.cn/2.html"):
            assert judged(html, url).reason is PageReason.SOFT_404
