"""Languages, links, densities, directives: the single fields that have no file of their own."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from db.records.reasons import PageReason
from pipelines.document.document import parse
from pipelines.document.limits import DEFAULT as BOUNDS
from pipelines.extract import EXTRACTORS, density, extractor
from pipelines.links import links
from pipelines.metadata import language
from pipelines.parse_page import parse_page
from pipelines.records import BlockKind, Extraction, PageKind
from tests.table import each_row

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)


@each_row(
    ("text", "declared", "code"),
    [
        ("国务院总理在会议上说，经济发展要稳。", "", "zh-Hans"),
        ("記者從縣政府獲悉，這個週末將舉辦活動。", "zh-CN", "zh-Hant"),
        ("これは日本語の文章です。東京で開かれた。", "", "ja"),
        ("The ferry is back and it is fine for all of us in the town", "", "en"),
        ("Der Fluss ist nicht mit dem Boot zu erreichen und das ist ein Problem", "en", "de"),
        ("Сегодня в Москве и не только на улице что-то с погодой по", "", "ru"),
        ("Le village fête ses deux cents ans", "en", "fr"),
        ("2024 – 12:30", "sv-SE", "sv"),
        ("2024 – 12:30", "zh-TW", ""),
        ("\ud800\x00\ufffe", "", ""),
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


def test_density_takes_the_node_between_wrapper_and_paragraph() -> None:
    """By hand, characters over tags below: body 120/6, div 120/3, and a paragraph has no tags below it."""
    lines = [f"{letter * 19}, {letter * 19}." for letter in "abc"]
    paragraphs = "".join(f"<p>{line}</p>" for line in lines)
    menu = "<ul><li><a href=/>home page</a></li></ul>"
    page = parse(f"<body>{menu}<div>{paragraphs}</div></body>".encode(), "http://e.com/")
    found = density.extract(page, density.Params())
    assert found.text.split("\n") == lines


def test_registry() -> None:
    assert extractor("density", {"min_chars": 10})(parse(b"", "http://e.com/")) == Extraction(reason=PageReason.NO_TEXT)
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
    assert links.find_feeds(document) == ("http://e.com/feed.xml",)
    page = parse_page(PAGE.encode(), "http://e.com/d/self.html", fetched_at=NOW)
    assert set(page.links.nofollow) == {1}
    assert page.kind is PageKind.LIST


def test_links_are_bounded() -> None:
    body = "".join(f"<a href=/{number}>anchor {'x' * 300}</a>" for number in range(6000)).encode()
    found = links.extract(parse(body, "http://e.com/"), Extraction())
    assert len(found) == BOUNDS.links
    assert max(map(len, found.anchors)) <= 200


def test_addresses_that_are_too_long_are_counted() -> None:
    hrefs = ["/" + "x" * 2_001, "/" + "x" * 2_001, "/y?" + "z" * 3_000, "data:," + "x" * 3_000, "/short"]
    body = "".join(f"<a href='{href}'>an anchor</a>" for href in hrefs).encode()
    found = links.extract(parse(body, "http://e.com/"), Extraction())
    assert (found.urls, found.too_long) == (("http://e.com/short",), 2)


def test_naive_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        parse_page(b"<p>x</p>", "http://e.com/", fetched_at=datetime(2024, 1, 1))


def test_live_blog_is_dated_by_its_beginning() -> None:
    lines = (
        "The wind has dropped and the ferries sail again, says the harbour master.",
        "Two hundred passengers who had spent the night in the school of the village are on their way home.",
        "The council asks everybody to stay away from the pier, whose railing was torn off in the night.",
    )
    entries = ",".join(f'{{"@type": "BlogPosting", "articleBody": "{lines[n % 3]}"}}' for n in range(1000))
    for updates in ("[]", f"[{entries}]"):
        data = (
            '{"@type": "LiveBlogPosting", "datePublished": "2024-05-05T06:00:00Z", "coverageStartTime": '
            f'"2024-05-05T06:00:00Z", "dateModified": "2024-05-06T19:00:00Z", "liveBlogUpdate": {updates}}}'
        )
        page = (
            f'<html><head><title>Storm: live</title><script type="application/ld+json">{data}</script>'
            "<meta property=article:published_time content=2024-05-06T19:00:00Z></head><body><h1>Storm: live</h1>"
            f"{''.join(f'<p>{line}</p>' for line in lines)}"
        )
        found = parse_page(page.encode(), "http://h.example/live", fetched_at=NOW)
        assert found.metadata.published_at == "2024-05-05T06:00:00+00:00"


def test_height_that_a_script_sets_makes_no_icon() -> None:
    prose = (
        "<p>The pier of Oldport was opened on Sunday after two years of work, and the first ferry landed at noon.</p>"
    )
    picture = '<figure><img src="/p/t_share/pier.jpg" width="1440" height="0"></figure>'
    page = f"<title>Pier</title><article><h1>A pier for Oldport</h1>{prose}{picture}{prose.replace('Sunday', 'Monday')}"
    found = parse_page(f"{page}</article>".encode(), "http://h.example/a.html", fetched_at=NOW)
    assert [image.url for image in found.metadata.images] == ["http://h.example/p/t_share/pier.jpg"]


def test_captions_say_something_of_their_picture() -> None:
    pictures = "".join(
        f"<figure><img src=/p{n}.jpg><figcaption>{text}</figcaption></figure>"
        for n, text in enumerate(["GET THE RECIPE", "A ferry at the pier", "[1/2] Two ferries", "[1/2] Two ferries"])
    )
    prose = (
        "<p>The pier of Oldport was opened on Sunday after two years of work, and the first ferry landed at noon.</p>"
        "<p>“We have waited for this day,” said Ada Brook, the harbour master, to two hundred guests.</p>"
    )
    head = '<head><meta property="og:image" content="/static/shareF2023.png"></head>'
    page = f"<html>{head}<body><article><h1>Pier</h1>{prose}{pictures}{prose}</article>"
    images = parse_page(page.encode(), "http://h.example/2024/pier.html", fetched_at=NOW).metadata.images
    assert [(image.url[-6:], image.caption) for image in images] == [
        ("p0.jpg", ""),
        ("p1.jpg", "A ferry at the pier"),
        ("p2.jpg", "[1/2] Two ferries"),
        ("p3.jpg", ""),
    ]


def test_picture_in_several_sizes_is_one_and_boxes_beside_the_text_have_none() -> None:
    prose = (
        "<p>The pier of Oldport was opened on Sunday after two years of work, and the first ferry landed at noon.</p>"
        "<p>“We have waited for this day,” said Ada Brook, the harbour master, to two hundred guests.</p>"
    )
    pictures = (
        "<figure><img src=/2024/old-ferry-at-the-pier-1024x768.jpg?w=300><figcaption>A ferry</figcaption></figure>"
        "<img src=https://i0.example.com/h.example/2024/old-ferry-at-the-pier.jpg><img src=/a/1.jpg><img src=/b/1.jpg>"
        "<div class=author-box><img src=/people/brook.jpg></div><div class=share><img src=/s/x.png></div>"
        "<img src=/arrows.svg><img src=/image?id=7&amp;w=90><img src=/image?id=8&amp;w=90>"
    )
    head = '<head><meta property="og:image" content="/2024/old-ferry-at-the-pier.jpg"></head>'
    page = f"<html>{head}<body><article><h1>Pier</h1>{prose}{pictures}{prose}</article>"
    images = parse_page(page.encode(), "http://h.example/2024/pier.html", fetched_at=NOW).metadata.images
    assert [(image.url.partition("example/")[2], image.caption, image.lead) for image in images] == [
        ("2024/old-ferry-at-the-pier.jpg", "A ferry", True),
        ("a/1.jpg", "", False),
        ("b/1.jpg", "", False),
        ("image?id=7&w=90", "", False),
        ("image?id=8&w=90", "", False),
    ]


PIER = (
    "<p>The pier of Oldport was opened on Sunday after two years of work, and the first ferry landed at noon.</p>"
    "<p>“We have waited for this day,” said Ada Brook, the harbour master, to two hundred guests.</p>"
)


def pictures_of(body: str, og: str = "") -> list[tuple[str, str]]:
    head = f'<head><meta property="og:image" content="{og}"></head>' if og else ""
    page = f"<html>{head}<body>{body}</body></html>"
    images = parse_page(page.encode(), "http://h.example/2024/pier.html", fetched_at=NOW).metadata.images
    return [(image.url.partition("example/")[2], image.caption) for image in images]


@each_row(
    ("figure", "lead", "caption"),
    [
        ("<img src=/p/ferry-300x200.jpg><figcaption>A ferry</figcaption>", "/p/ferry.jpg", "A ferry"),
        (
            "<picture><source><source><img src=/p/ferry.jpg></picture><figcaption><p>A ferry.</p><p>Photo: Ida Berg</p>"
            "</figcaption>",
            "/p/ferry.jpg",
            "A ferry. Photo: Ida Berg",
        ),
        ("<figcaption>A ferry</figcaption><img src=/p/ferry.jpg>", "/p/ferry.jpg", "A ferry"),
        # another crop of the lead image
        ("<img src=/m/AS20190301001.jpg><figcaption>A ferry</figcaption>", "/c_AS20190301001_comm.jpg", "A ferry"),
        ("<img src=/i/Open-The-Piers-2160.png><figcaption>Ah</figcaption>", "/Open-The-Piers-1200-1.png", "Ah"),
    ],
)
def test_figure_above_the_text_is_the_lead_image(figure: str, lead: str, caption: str) -> None:
    body = f"<article><h1>Pier</h1><figure>{figure}</figure><p>By Ida Berg</p>{'<hr>' * 9}{PIER}</article>"
    assert pictures_of(body, lead) == [(lead[1:], caption)]


def test_figure_with_another_name_is_another_image() -> None:
    figure = "<figure><img src=/p/{}><figcaption>{}</figcaption></figure>"
    body = f"<article><h1>Pier</h1>{figure.format('storm-20240501-02.jpg', 'A wave')}{PIER}</article>"
    assert pictures_of(body, "/p/storm-20240501-01.jpg") == [
        ("p/storm-20240501-01.jpg", ""),
        ("p/storm-20240501-02.jpg", "A wave"),
    ]


@each_row(
    "box",
    [
        "<div><a href=/2024/storm.html><img src=/p/2.jpg></a>"
        "<h4><a href=/2024/storm.html>Storm takes roof from chapel</a></h4></div>",
        "<div class='video video-inline'><div><img src=/p/2.jpg alt='Storm takes roof'></div></div>",
        "<p><img src=/p/2.jpg alt='Ida Berg'></p>",
        "<p><img src=/img/blue-favicon.png></p>",
        "<p><img src=/img/envelope.jpg></p>",
        "<p><img src=/img/clear.gif></p>",
        "<p><img src=/images/banners/summer-sale-2024.jpg></p>",
    ],
)
def test_pictures_of_other_stories_and_of_authors_are_left_out(box: str) -> None:
    article = f"<article><h1>Pier</h1><p>By Ida Berg</p>{PIER}{box}<img src=/p/1.jpg>{PIER}</article>"
    assert pictures_of(f'{article}<meta name="author" content="Ida Berg">') == [("p/1.jpg", "")]


@each_row(
    "name", ["Europe-Twitter-offices-in-Dublin.jpg", "google-pixel-quick-tap.jpg?w=800", "24-grey-goose-2.w160.webp"]
)
def test_words_of_buttons_may_tell_what_a_photo_shows(name: str) -> None:
    found = pictures_of(f"<article><h1>Pier</h1>{PIER}<img src=/p/{name}>{PIER}</article>")
    assert [url for url, _ in found] == [f"p/{name}"]


def test_picture_that_links_to_its_own_page_stays() -> None:
    linked = "<a href=/photo/7.html><img src=/p/1.jpg></a><a href=/p/2.jpg><img src=/s/2.jpg></a>"
    assert pictures_of(f"<article><h1>Pier</h1>{PIER}{linked}{PIER}</article>") == [("p/1.jpg", ""), ("s/2.jpg", "")]


def test_several_sizes_in_one_attribute_are_one_picture() -> None:
    sizes = "<img data-src='/p/1-300x200.jpg 300w, /p/1-600x400.jpg 600w' alt='ferry-at-the-pier'>"
    assert pictures_of(f"<article><h1>Pier</h1>{PIER}{sizes}{PIER}</article>") == [("p/1-300x200.jpg", "")]


def test_marks_of_word_processors_stand_inside_their_line() -> None:
    document = parse(
        "<p>简介：<st1:chsdate>2010年12月22日</st1:chsdate>，网帖流传。</p>".encode(), "http://h.example/", ""
    )
    assert document.blocks.texts == ["简介：2010年12月22日，网帖流传。"]
