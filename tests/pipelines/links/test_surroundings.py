"""Source, times, pictures, keywords and channel: what stands around the text."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.metadata import metadata
from pipelines.parse_page import parse_page
from pipelines.records import Extraction, Image, Metadata
from tests.table import each_row

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)
PARAGRAPHS = [f"第{n}段，河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车。" for n in range(5)]
TEXT = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
TITLE = "河口大桥合龙在即"


def read(above: str = "", behind: str = "", head: str = "", text: str = TEXT) -> Metadata:
    body = f"<title>{TITLE}</title>{head}<h1>{TITLE}</h1>{above}<div>{text}</div>{behind}"
    return parse_page(body.encode(), "http://www.e.com/a/1.html", fetched_at=NOW).metadata


@each_row(
    ("above", "source"),
    [
        ("<p>2024-03-12 08:30 来源：新华网 作者：王小明</p>", "新华网"),
        ("<p>2024-03-12 08:30 来源：( 华声在线 )</p>", "华声在线"),
        ("<p><span>2024-03-12 08:30</span> <span>新华网</span></p>", "新华网"),
        ("<p>2024-03-12 08:30 新华网</p>", "新华网"),
        ("<div>2024-03-12 08:30</div><div>中国青年报</div>", "中国青年报"),
        ("<p>欣傳媒╱記者丁彥伶／台北報導 2024-01-17 17:03</p>", "欣傳媒"),
        ("<p>2024-03-12 08:30 王小明</p>", ""),
        ("<p>2024-03-12 08:30 相關新聞</p>", ""),
        ("<p>2024-03-12 08:30 阅读 1024</p>", ""),
    ],
)
def test_source(above: str, source: str) -> None:
    assert read(above).source == source


def test_source_in_the_dateline() -> None:
    assert read(text=f"<p>新华社北京3月12日电（记者王小明）{PARAGRAPHS[0]}</p>{TEXT}").source == "新华社"


@each_row(
    ("head", "above", "iso", "source"),
    [
        ("", "<p>发布时间：2024-03-12 08:30</p>", "2024-03-12T08:30+08:00", "visible"),
        ("", "<p>更新：2024-03-13 09:00</p><p>发布：2024-03-12 08:30</p>", "2024-03-12T08:30+08:00", "visible"),
        ("", "<p>更新时间 2024-03-13 09:00 发布时间 2024-03-12 08:30</p>", "2024-03-12T08:30+08:00", "visible"),
        ("", "<p>3小时前</p>", "2024-06-01T09:00+08:00", "visible"),
        ("", "<p>05-12 10:20 河口网</p>", "2024-05-12T10:20+08:00", "visible"),
        ("<meta name=pubdate content=2024-03-12>", "<p>2024-03-12 08:30</p>", "2024-03-12T08:30+08:00", "visible"),
        ("<meta name=pubdate content=2024-03-12>", "<p>2024-03-15 08:30</p>", "2024-03-12", "meta"),
        ("<meta name=pubdate content=2099-03-12>", "<p>2024-03-12 08:30</p>", "2024-03-12T08:30+08:00", "visible"),
        (
            '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-03-12T08:30:15Z"}</script>',
            "<p>2024-03-15</p>",
            "2024-03-12T08:30:15+00:00",
            "json-ld",
        ),
        ("<script>var ct = '1710203415';</script>", "", "2024-03-12T08:30:15+08:00", "script"),
        ('<script>x({"publishTime":"2024-03-12 08:30:15"})</script>', "", "2024-03-12T08:30:15+08:00", "script"),
        ("<script>var seed = '1710203415';</script>", "", "", ""),
    ],
)
def test_published(head: str, above: str, iso: str, source: str) -> None:
    found = read(above, head=head)
    assert (found.published_at, found.published_from) == (iso, source)


def test_zone_of_the_country() -> None:
    page = parse_page(
        (
            "<html lang=de><title>Die Brücke</title><h1>Die Brücke</h1><p>12.07.2023, 08:30 Uhr</p>"
            "<p>Die Brücke ist nicht mit dem Boot zu erreichen, und das ist ein Problem, sagen viele.</p>"
            "<p>Der Gemeinderat hat deshalb beschlossen, einen zweiten Steg zu bauen, der im Mai fertig ist.</p>"
            "<p>Er kostet vierzigtausend Euro; die Hälfte davon bezahlt der Verein der Fischer, der ihn auch nutzt.</p>"
        ).encode(),
        "http://www.e.de/a/1.html",
        fetched_at=NOW,
    )
    assert page.metadata.published_at == "2023-07-12T08:30+02:00"


@each_row(
    ("picture", "caption"),
    [
        ("<figure><img src=/p/1.jpg><figcaption>大桥全景</figcaption></figure>", "大桥全景"),
        ("<p><img src=/p/1.jpg></p><p align=center>大桥全景。王小明摄</p>", "大桥全景。王小明摄"),
        ("<p><img src=/p/1.jpg></p><p style='text-align: center'>大桥的全景，摄于昨天</p>", "大桥的全景，摄于昨天"),
        ("<p><img src=/p/1.jpg></p><p>图为昨日的大桥。</p>", "图为昨日的大桥。"),
        ("<div><img src=/p/1.jpg><div class=img-desc>大桥全景</div></div>", "大桥全景"),
        ("<p><img src=/p/1.jpg alt=大桥></p>", "大桥"),
        ("<p><img src=/p/1.jpg alt=1.jpg></p>", ""),
    ],
)
def test_captions(picture: str, caption: str) -> None:
    found = read(text=f"<p>{PARAGRAPHS[0]}</p>{picture}{TEXT}")
    assert found.images == (Image("http://www.e.com/p/1.jpg", caption, lead=True),)


def test_icons_are_no_pictures() -> None:
    icons = "<p><img src=/img/logo.png><img src=/p/2.jpg width=16 height=16><img src='data:image/gif;base64,x'></p>"
    head = "<meta property=og:image content=/p/9.jpg>"
    assert read(text=f"<p>{PARAGRAPHS[0]}</p>{icons}{TEXT}", head=head).images == (
        Image("http://www.e.com/p/9.jpg", "", lead=True),
    )


def test_keywords_and_section() -> None:
    found = read(
        above="<div class=crumb>首页 &gt; 要闻 &gt; 桥梁 &gt; 正文</div>",
        behind="<div class=tags>标签：<a href=/tag/1>大桥</a> <a href=/tag/2>通车</a></div>",
        head="<meta name=keywords content='河口，大桥'>",
    )
    assert found.keywords == ("河口", "大桥", "通车")
    assert found.section == "桥梁"
    assert read(behind="<p>关键词：大桥 通车</p>").keywords == ("大桥", "通车")


@given(st.lists(st.text(max_size=60), min_size=3, max_size=12))
def test_any_lines_are_read(lines: list[str]) -> None:
    document = parse(
        "".join(f"<p>{line}</p><img src=1.jpg>" for line in lines).encode("utf-8", "replace"), "http://e.com/1"
    )
    for kept in ((), tuple(range(min(2, len(document.blocks))))):
        found = metadata.extract(document, Extraction(text="x", blocks=kept), NOW)
        assert "\n" not in found.title + found.source + found.section
