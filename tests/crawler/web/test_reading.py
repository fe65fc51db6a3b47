"""Search, article and story pages, the API and the feed, on one database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from email.utils import parsedate_to_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from lxml import etree, html

from crawler.web.app import OPERATOR_PAGES, PAGES
from crawler.web.drawing.timeline import Dot, draw, lag
from crawler.web.frame.body import body
from crawler.web.frame.desk import DeskOptions
from crawler.web.frame.endpoints import schema_of
from crawler.web.frame.visit import WebOptions
from crawler.web.pages.api import ENDPOINTS
from pipelines.links.feeds import parse_feed
from tests.crawler.desk.growing import grow, story
from tests.crawler.web import hostile
from tests.crawler.web.asking import Asker
from tests.table import each_row

ATOM = "{http://www.w3.org/2005/Atom}"


def read(asker: Asker, path: str, status: int = 200) -> html.HtmlElement:
    answer = asker.get(path)
    assert answer.status_code == status, answer.text[:500]
    return html.document_fromstring(answer.text)


def said(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


# ---------------------------------------------------------------- search


def test_search_marks_words_and_leads_to_article_and_story(asker: Asker) -> None:
    page = read(asker, f"/?q={quote('医生')}")
    assert {mark.text for mark in page.cssselect(".hit mark")} == {"医生", "醫生"}  # in both scripts
    hit = page.cssselect(".hit h2 a")[0].get("href")
    assert said(page.cssselect(".hit h2")[0]) == said(read(asker, hit).cssselect("h1")[0])
    story = page.cssselect(".hit-foot a.chip")[0].get("href")
    assert len(read(asker, story).cssselect(".story-list > li")) > 1


def test_related_words_are_searched_when_asked_for_and_named(asker: Asker) -> None:
    plain = read(asker, f"/?q={quote('医院')}")
    (link,) = (one for one in plain.cssselect(".results a") if "expand=1" in one.get("href"))
    wider = read(asker, link.get("href"))
    also = asker.get(f"/api/search?q={quote('医院')}&expand=1").json()["also"]
    assert also
    (note,) = (one for one in wider.cssselect(".note") if also[0] in said(one))
    assert "expand" not in note.cssselect("a")[0].get("href")
    assert wider.cssselect("input[type=hidden][name=expand]")
    assert asker.get(f"/api/search?q={quote('医院')}").json()["also"] == []


def test_facets_narrow_and_widen(asker: Asker) -> None:
    page = read(asker, "/?q=")
    facet = next(link for link in page.cssselect(".facet-list a") if "site=" in link.get("href"))
    narrower = read(asker, facet.get("href"))
    name = said(facet.cssselect(".value")[0])
    assert {said(site) for site in narrower.cssselect(".hit .site")} == {name}
    assert [field.get("value") for field in narrower.cssselect("input[type=hidden][name=site]")] == [name]
    chip = narrower.cssselect(".chips.active a")[0]
    assert name in said(chip)
    assert chip.get("href") == "/"


def test_month_narrows_to_its_days(asker: Asker) -> None:
    page = read(asker, "/")
    month = next(link for link in page.cssselect(".facet-list a") if re.search(r"since=\d{4}-\d\d&", link.get("href")))
    times = read(asker, month.get("href")).cssselect(".hit time")
    assert {time.get("datetime")[:7] for time in times} == {said(month.cssselect(".value")[0])}
    assert said(month.cssselect(".count")[0]) == str(
        len(read(asker, f"{month.get('href')}&limit=50").cssselect(".hit"))
    )


def test_pages_of_results_share_no_hit(asker: Asker) -> None:
    first = read(asker, "/?limit=10")
    second = read(asker, first.cssselect("a[rel=next]")[0].get("href"))
    links = [{link.get("href") for link in page.cssselect(".hit h2 a")} for page in (first, second)]
    assert [len(each) for each in links] == [10, 10]
    assert not links[0] & links[1]
    assert second.cssselect("a[rel=prev]")


@each_row(
    ("path", "status", "text"),
    [(f"/?q={quote('没有这样的词xyzzy')}", 200, "Nothing matches this search"),
     ("/?page=50", 200, "There are no more results"),
     ("/?since=2025&until=2024&q=a&lang=zh", 400, "截止时间 2024-12-31 早于起始时间 2025-01-01"),
     ("/?q=a+OR", 400, "the query is wrong at character 3: OR needs words on both sides"),
     (f"/?lang=zh&q={quote('港口 “码头')}", 400, "查询第 4 个字符处有误：引号没有闭合"),
     (f"/?lang=zh&q={quote('港口 before:soon')}", 400, "查询第 4 个字符处有误：“soon” 不是日期"),
     ("/?since=2024-13-45&q=a", 400, "is no date"), ("/?limit=0", 400, "a whole number from 1 to 50"),
     ("/?page=%D9%A3", 400, "a whole number"), (f"/?q={'x' * 20_001}", 200, "only the first 1,000 characters")],
)  # fmt: skip
def test_search_says_what_is_wrong_or_missing(asker: Asker, path: str, status: int, text: str) -> None:
    shown = said(read(asker, path, status).cssselect("main")[0])
    assert text in shown
    assert status == 200 or "Nothing matches this search" not in shown


def test_stories_with_some_of_the_words_have_a_heading_of_their_own(asker: Asker) -> None:
    query = quote("医生 医院 学校")
    answer = asker.get(f"/api/search?q={query}").json()
    assert answer["partial"] > 0
    page = read(asker, f"/?q={query}&lang=zh")
    (heading,) = page.cssselect("h2.partial")
    assert said(heading) == "仅含部分词语"
    lists = page.cssselect("ol.hits")
    assert [len(each) for each in lists] == [answer["total"], min(10, answer["partial"])]
    assert not read(asker, f"/?q={quote('医生')}").cssselect("h2.partial")
    entries = asker.get(f"/feed.atom?q={query}").text.count("<entry>")
    assert entries == answer["total"]


@each_row("language", ["en", "zh"])
def test_help_shows_queries_that_can_be_read(asker: Asker, language: str) -> None:
    links = read(asker, f"/?lang={language}").cssselect(".operators a")
    assert len(links) >= 16
    for link in links:
        assert asker.get(link.get("href")).status_code == 200


def test_links_keep_only_what_the_page_reads(asker: Asker) -> None:
    text = asker.get("/?q=%E6%B8%AF&q=%E6%B8%AF%E5%8F%A3&junk=xyzzy&theme=dark").text
    assert "xyzzy" not in text
    assert "q=%E6%B8%AF%E5%8F%A3&amp;since=7d" in text
    assert 'href="/?q=%E6%B8%AF%E5%8F%A3&amp;lang=zh"' in text


def test_query_comes_back_as_it_was_written(asker: Asker) -> None:
    query = '"港口" <b> & \' {{7*7}}'
    page = read(asker, f"/?q={quote(query)}")
    assert page.cssselect("#q")[0].get("value") == query
    assert not page.cssselect("main b")


# ---------------------------------------------------------------- article


def test_article_shows_text_facts_and_ways_out(asker: Asker, pages: dict[str, str]) -> None:
    page = read(asker, pages["article"])
    values = asker.get(f"/api/articles/{pages['article'].rpartition('/')[2]}").json()["article"]
    assert [said(p) for p in page.cssselect(".prose p")] == values["text"].split("\n")
    assert values["url"] in {link.get("href") for link in page.cssselect("a[rel~=noreferrer]")}
    assert [link.get("href") for link in page.cssselect(".pictures a")] == [each["url"] for each in values["images"]]
    assert [said(item) for item in page.cssselect("[aria-labelledby=related] li")] == [
        each["title"] for each in values["related"]
    ]
    (out,) = page.cssselect("[aria-labelledby=related] a")  # the other is no URL of a page
    assert out.get("href") == values["related"][0]["url"]
    assert not page.cssselect("img")
    assert "exact to the minute" in said(page.cssselect(".facts")[0])


def test_article_says_when_its_page_may_be_none(asker: Asker) -> None:
    for language, probability in (("zh", 0.98), ("en", 0.31)):
        hit = asker.get(f"/api/search?language={language}&limit=1").json()["hits"][0]
        assert asker.get(f"/api/articles/{hit['id']}").json()["article"]["kind_probability"] == probability
        facts = said(read(asker, f"/article/{hit['id']}").cssselect(".facts")[0])
        assert ("perhaps none: probability 0.31" in facts) == (language == "en")


def test_article_shows_keywords_and_summary_if_it_has_any(asker: Asker) -> None:
    for language, headings in (("zh", {"Summary", "Keywords"}), ("en", {"Keywords"})):
        hit = asker.get(f"/api/search?language={language}&limit=1").json()["hits"][0]
        values = asker.get(f"/api/articles/{hit['id']}").json()["article"]
        assert bool(values["summary"]) == bool(values["keywords"]) == (language == "zh")
        gist = read(asker, f"/article/{hit['id']}").cssselect(".gist")[0]
        assert headings == {said(each) for each in gist.cssselect("h2")} & {"Summary", "Keywords"}
        assert [said(each) for each in gist.cssselect(".chips li")] == (values["keywords"] or values["tags"])
        assert [said(each) for each in gist.cssselect("p[dir]")] == [" ".join(values["summary"].split())][
            : len(headings) - 1
        ]


def test_keywords_stand_in_their_sentences_and_lead_to_searches(asker: Asker) -> None:
    article = f"/article/{asker.get('/api/search?q=城市').json()['hits'][0]['id']}"
    sections = read(asker, f"{article}/words").cssselect("section.in-context")
    assert sections
    for section in sections:
        link = section.cssselect("h2 a")[0]
        word = said(link)
        assert link.get("href").replace("+", "%20") == f"/?q={quote(word)}"
        marked = [said(mark).lower() for mark in section.cssselect("li mark")]
        assert marked
        assert any(mark in word.lower() for mark in marked)
    assert read(asker, article).cssselect(f"a[href='{article}/words']")


def test_versions_are_told_by_marks(asker: Asker, pages: dict[str, str]) -> None:
    difference = read(asker, pages["versions"]).cssselect(".difference")[0]
    assert "本报将继续关注。" in {mark.text.strip() for mark in difference.cssselect("del")}
    assert difference.cssselect("ins")
    values = asker.get(f"/api/articles/{pages['versions'].rpartition('/')[2]}").json()
    for mark in difference.cssselect("del"):
        mark.drop_tree()
    before, _, after = said(difference).partition(" … ")
    text = " ".join(values["article"]["text"].split())
    assert text.startswith(before)
    assert text.endswith(after)
    assert len(before) + len(after) < len(text)
    assert len(values["versions"]) == 1


def test_stored_page_is_text_that_runs_nothing(asker: Asker) -> None:
    found = asker.get("/api/search?limit=20").json()["hits"]
    texts = (asker.get(f"/article/{each['id']}").text for each in found)
    link = next(match[0] for text in texts if (match := re.search(r"/article/-?\d+/page", text)))
    source = asker.get(link)
    assert source.text.startswith("<!doctype html><title>")
    assert source.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" in source.headers["content-security-policy"]
    assert source.headers["content-disposition"].startswith("inline; filename=")


def test_body_keeps_headings_lists_and_tables_and_nothing_else() -> None:
    shown = str(
        body(
            '<h1 onclick="x">A</h1><p style="x">B <a href="https://a.example/?a=1&amp;b">c</a>'
            '<a href="javascript:alert(1)">d</a></p><script>e()</script><ul><li>f<br>g</li></ul>'
            "<table><tr><th>h</th><td>i</td></tr></table>"
            '<figure><img src="https://a.example/j.png" alt="j&lt;"></figure>'
            '<img src="data:x"><svg><a xlink:href="javascript:k()">k</a></svg><custom>l</custom>\u202e m',
            "not this",
            "Image",
        )
    )
    assert "<h2>A</h2><p>B <a href=" in shown
    assert 'href="https://a.example/?a=1&amp;b" rel="noreferrer nofollow noopener"' in shown
    assert "</a>d</p><ul><li>f<br>g</li></ul>" in shown
    assert "<tr><th>h</th><td>i</td></tr>" in shown
    assert 'href="https://a.example/j.png"' in shown
    assert "j&lt;</a>" in shown
    assert shown.endswith('<span class="picture">Image</span>l\\u202e m')
    assert not re.search("script|style=|onclick|<img|<svg|data:", shown)


@each_row("stored", ["", "<!-- -->", "<script>x</script>", "<" * 1_000_001])
def test_body_without_html_is_the_text(stored: str) -> None:
    assert str(body(stored, "a <b>\n\n c ", "Image")) == "<p>a &lt;b&gt;</p>\n<p>c</p>"


def test_body_that_is_nested_without_end_is_bounded() -> None:
    assert len(body("<blockquote>" * 5_000 + "x", "y", "Image")) < 10_000


# ---------------------------------------------------------------- story


def test_story_shows_who_copied_whom_and_what_changed(asker: Asker, pages: dict[str, str]) -> None:
    page = read(asker, pages["story"])
    found = asker.get(f"/api/stories/{pages['story'].rpartition('/')[2]}").json()
    rows = page.cssselect("ol.story-list > li")
    assert [row.get("id") for row in rows] == [f"a{each['id']}" for each in found["articles"]]
    assert "First" in said(rows[0])
    assert all(f"repeats {rows[0].cssselect('strong')[0].text}" in said(row) for row in rows[1:])
    assert [each["repeats"] for each in found["articles"]] == [None, *[found["id"]] * (found["size"] - 1)]
    dots = page.cssselect(".only-wide .dot")
    assert [dot.get("class").split()[1:] for dot in dots] == [["first"], *[[]] * (len(rows) - 1)]


def test_texts_that_are_too_long_are_not_compared(
    asker: Asker, pages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, limit, changes in (
        (pages["story"], "story.MOST_COMPARED", '<ul class="difference"'),
        (pages["versions"], "article._MOST_COMPARED", "<ins>"),
    ):
        assert changes in asker.get(path).text
        monkeypatch.setattr(f"crawler.web.pages.{limit}", 100)
        text = asker.get(path).text
        assert changes not in text
        assert "to be compared here" in text


def test_story_is_found_by_any_of_its_articles(asker: Asker, pages: dict[str, str]) -> None:
    found = asker.get(f"/api/stories/{pages['story'].rpartition('/')[2]}").json()
    assert {asker.get(f"/api/stories/{each['id']}").json()["id"] for each in found["articles"]} == {found["id"]}


@each_row(("width", "step"), [(320, 9_000), (720, 9_000), (320, 40_000_000), (720, 70)])
def test_picture_keeps_within_its_width(width: int, step: int) -> None:
    dots = [
        Dot(f"网站{n}.example" * 3, lag(n * step, "zh"), float(n * step), 0 if n else None, "edited", n != 2)
        for n in range(9)
    ]
    picture = etree.fromstring(str(draw(dots, width, "zh")))
    centres = [float(dot.get("cx")) for dot in picture.iter("circle")]
    assert centres == sorted(centres)
    assert 0 < centres[0] < centres[-1] < width
    for label in picture.iter("g"):
        name, at = label[0], float(label[0].get("x"))
        letters = sum(13.0 if ord(sign) > 0x2E80 else 7.0 for sign in name.text or "")
        assert at + letters <= width if label.get("text-anchor") == "start" else at - letters >= 0
    ticks = [float(tick.get("x")) for tick in picture.iter("text") if tick.get("class") == "tick"]
    assert min(b - a for a, b in pairwise(ticks)) > 40


@each_row("times", [[0.0], [0.0, 0.0], [0.0, -500.0], [0.0, 9e9]])
def test_picture_of_any_times_is_drawn(times: list[float]) -> None:
    dots = [Dot("a", "", at, 0 if n else None, "?", is_dated=True) for n, at in enumerate(times)]
    assert len(list(etree.fromstring(str(draw(dots, 320, "en"))).iter("circle"))) == len(times)


def test_lags_have_two_units() -> None:
    told = [lag(seconds, "en") for seconds in (0, 20, 59, 3_600, 4_500, 86_400 * 40, 86_400 * 800, -90)]
    assert told == ["0", "0", "0", "+1 h", "+1 h 15 min", "+40 d", "+2 y 70 d", "−1 min"]
    assert lag(200_000, "zh") == "+2天7小时"


# ---------------------------------------------------------------- API


def check(value: Any, schema: dict[str, Any], schemas: dict[str, Any]) -> None:
    """A value that fits a schema of the description, in what such schemas say."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        kinds = [each for each in schema["anyOf"] if (each.get("type") == "null") == (value is None)]
        check(value, kinds[0], schemas)
        return
    types: dict[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": type(None)}
    types |= {"array": list, "object": dict}
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(isinstance(value, types[each]) and (each == "boolean") == isinstance(value, bool) for each in allowed)
    for each in value if isinstance(value, list) else ():
        check(each, schema["items"], schemas)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        assert set(schema.get("required", [])) <= set(value)
        for key, each in value.items():
            check(each, known[key] if known else schema["additionalProperties"], schemas)


@pytest.fixture
def desk_asker(stand: Path, tmp_path: Path) -> Iterator[Asker]:
    """The same with a desk of the test's own."""
    with Asker(f"sqlite:///{stand}", WebOptions(desk=DeskOptions(tmp_path / "news.desk.db"))) as made:
        yield made


def test_answers_are_as_the_description_says(desk_asker: Asker, pages: dict[str, str]) -> None:
    asker = desk_asker
    described = asker.get("/api/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    asked = {
        "/api/search": f"/api/search?q={quote('医生')}&limit=2",
        "/api/timeline": f"/api/timeline?q={quote('医生')}&by=day&stack=site",
        "/api/articles/{id}": f"/api/articles/{pages['versions'].rpartition('/')[2]}",
        "/api/articles/{id}/marks": f"/api/articles/{pages['versions'].rpartition('/')[2]}/marks",
        "/api/stories/{id}": f"/api/stories/{pages['story'].rpartition('/')[2]}",
        "/api/sites": "/api/sites?limit=3",
        "/api/crawl": "/api/crawl",
        "/api/export": "/api/export?limit=1",
    }
    assert set(asked) == set(described["paths"]) == {endpoint.path for endpoint in ENDPOINTS}
    assert set(asked) <= {path for path, _ in (*PAGES, *OPERATOR_PAGES)}
    schemas = described["components"]["schemas"]
    for path, url in asked.items():
        answers = described["paths"][path]["get"]["responses"]
        good = asker.get(url)
        assert good.status_code == 200, good.text
        assert good.headers["content-type"] in answers["200"]["content"]
        if good.headers["content-type"] == "application/json":
            check(good.json(), answers["200"]["content"]["application/json"]["schema"], schemas)
        bad = asker.get(f"{url.partition('?')[0]}?nothing=1")
        assert bad.status_code == 400
        check(bad.json(), answers["400"]["content"]["application/json"]["schema"], schemas)
    marks = described["paths"]["/api/articles/{id}/marks"]["post"]
    form = marks["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert (form["required"], set(form["properties"])) == (["deed"], {"deed", "label", "note"})
    for deed in form["properties"]["deed"]["description"].removeprefix("One of ").rstrip(".").split(", "):
        good = asker.post(asked["/api/articles/{id}/marks"], {"deed": deed, "label": "a", "note": "b"})
        check(good.json(), marks["responses"]["200"]["content"]["application/json"]["schema"], schemas)
    bad = asker.post(asked["/api/articles/{id}/marks"], {"deed": "drop"})
    check(bad.json(), marks["responses"]["400"]["content"]["application/json"]["schema"], schemas)


def test_description_names_parameters_with_their_bounds(asker: Asker) -> None:
    paths = asker.get("/api/openapi.json").json()["paths"]
    for path, parts in paths.items():
        for parameter in parts["get"]["parameters"]:
            schema = parameter["schema"]
            assert parameter["description"]
            assert parameter["required"] == (f"{{{parameter['name']}}}" in path)
            if schema["type"] == "integer":
                for value, status in (
                    (schema["minimum"], 200),
                    (schema["minimum"] - 1, 400),
                    (schema["maximum"] + 1, 400),
                ):
                    assert asker.get(f"{path}?{parameter['name']}={value}").status_code == status


def test_schema_of_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="has no schema"):
        schema_of(bytes, {})


def test_errors_of_the_api_are_json(asker: Asker) -> None:
    missing = ("/api/articles/1", "/api/articles/x", "/api/stories/1", "/api/nothing")
    wrong = ("/api/search?limit=x", "/api/search?q=(a", "/api/search?since=2024-02-31", "/api/sites?limit=0")
    for path, status in (*((path, 404) for path in missing), *((path, 400) for path in wrong)):
        answer = asker.get(path)
        assert answer.status_code == status
        assert answer.json()["error"]["status"] == status
        assert answer.json()["error"]["message"].strip()


def test_api_marks_words_and_turns_pages(asker: Asker) -> None:
    found = asker.get(f"/api/search?q={quote('医生')}&limit=1").json()
    hit = found["hits"][0]
    marked = {hit["title"][first:end] for first, end in hit["title_matches"]}
    marked |= {hit["snippet"][first:end] for first, end in hit["snippet_matches"]}
    assert marked == {"医生"}
    assert asker.get(found["next"]).json()["hits"][0]["id"] != hit["id"]
    assert sum(hit["signals"].values()) == pytest.approx(hit["score"])


# ---------------------------------------------------------------- feed


def test_feed_is_read_by_our_own_reader_last_stored_first(asker: Asker, stand: Path) -> None:
    answer = asker.get("/feed.atom?limit=30")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    with closing(sqlite3.connect(stand)) as opened:
        rows = opened.execute(
            "SELECT u.url FROM article a JOIN url u ON u.id = a.id WHERE a.number IN "
            "(SELECT min(number) FROM article GROUP BY cluster_id) ORDER BY a.number DESC LIMIT 30"
        ).fetchall()
    assert list(parse_feed(answer.content, "http://localhost/feed.atom").urls) == [url for (url,) in rows]
    feed = etree.fromstring(answer.content)
    times = [entry.findtext(f"{ATOM}updated") for entry in feed.iter(f"{ATOM}entry")]
    assert feed.findtext(f"{ATOM}updated") == max(times)
    assert len({entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")}) == len(times) == 30
    assert feed.find(f"{ATOM}link[@rel='self']").get("href") == "http://localhost/feed.atom?limit=30"


def test_feeds_have_the_same_entries(asker: Asker) -> None:
    query = f"q={quote('医生')}&limit=20"
    atom = etree.fromstring(asker.get(f"/feed.atom?{query}").content)
    rss = asker.get(f"/feed.rss?{query}")
    whole = asker.get(f"/feed.json?{query}")
    assert rss.headers["content-type"] == "application/rss+xml; charset=utf-8"
    assert whole.headers["content-type"] == "application/feed+json; charset=utf-8"
    ids = [entry.findtext(f"{ATOM}id") for entry in atom.iter(f"{ATOM}entry")]
    items = etree.fromstring(rss.content).findall("channel/item")
    assert [item.findtext("guid") for item in items] == [item["id"] for item in whole.json()["items"]] == ids != []
    assert list(parse_feed(rss.content, "http://localhost/").urls) == [item["url"] for item in whole.json()["items"]]
    assert whole.json()["version"] == "https://jsonfeed.org/version/1.1"
    assert whole.json()["feed_url"] == f"http://localhost/feed.json?{query}"
    assert all(parsedate_to_datetime(item.findtext("pubDate")).tzinfo for item in items)


def test_feed_that_nothing_new_can_be_in_is_not_made_again(tmp_path: Path) -> None:
    grow(tmp_path / "news.db", [story(1, "harbour"), story(2, "museum")])
    with Asker(f"sqlite:///{tmp_path}/news.db") as asker:
        for path in ("/feed.atom?q=harbour", "/feed.rss?q=harbour", "/feed.json?q=harbour"):
            tag = asker.get(path).headers["etag"]
            answer = asker.get(path, If_None_Match=tag)
            assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
            assert asker.get(f"{path}+museum", If_None_Match=tag).status_code == 200
        grow(tmp_path / "news.db", [story(3, "harbour")])
        assert asker.get("/feed.json?q=harbour", If_None_Match=tag).status_code == 200
        titles = [item["title"] for item in asker.get("/feed.json?q=harbour").json()["items"]]
        assert titles == ["Number 3: harbour", "Number 1: harbour"]


def test_feed_of_nothing_is_a_feed(asker: Asker) -> None:
    feed = etree.fromstring(asker.get("/feed.atom?q=xyzzyxyzzy").content)
    assert feed.findtext(f"{ATOM}updated") == "1970-01-01T00:00:00+00:00"
    assert feed.find(f"{ATOM}entry") is None
    assert asker.get("/feed.atom?since=x").status_code == 400


def test_search_page_leads_to_its_feed(asker: Asker) -> None:
    page = read(asker, f"/?q={quote('医生')}&limit=20&page=2")
    assert page.cssselect("link[type='application/atom+xml']")[0].get("href") == f"/feed.atom?q={quote('医生')}"


# ---------------------------------------------------------------- hostile stories


def test_hostile_stories_are_shown_as_text(hostile_stand: Path, tmp_path: Path) -> None:
    """On every page and in the feed; that nothing runs is tried in a browser elsewhere."""
    options = WebOptions(desk=DeskOptions(hostile.desk(hostile_stand, tmp_path / "hostile.desk.db")))
    with Asker(f"sqlite:///{hostile_stand}", options) as asker:
        hits = asker.get("/api/search?limit=50").json()["hits"]
        assert len(hits) >= 10
        paths = [f"{path}{hit['id']}" for hit in hits for path in ("/article/", "/story/")]
        for path in ("/?limit=50", *paths):
            page = read(asker, path)
            scripts = {script.get("src", "").partition("?")[0] for script in page.iter("script")}
            assert "/static/htmx.min.js" in scripts
            assert scripts <= {f"/static/{name}.js" for name in ("htmx.min", "volume", "copy", "keys")}
            for element in page.iter(etree.Element):
                assert not [name for name in element.keys() if name.startswith("on") or name in {"style", "srcdoc"}]  # noqa: SIM118
                for name in ("href", "src", "action"):
                    assert re.match(r"(/|#|https?://)(?!/)", element.get(name, "/")), element.get(name)
                if element.get("src") or (element.tag in {"link", "form"} and element.get("method") != "dialog"):
                    assert (element.get("src") or element.get("href") or element.get("action"))[:1] == "/"
            assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", page.text_content())
        feed = etree.fromstring(asker.get("/feed.atom?limit=100").content)
        assert not re.search("[\u202a-\u202e\x00-\x08]", "".join(feed.itertext()))
        assert {link.get("href").partition(":")[0] for link in feed.iter(f"{ATOM}link")} <= {"http", "https"}
