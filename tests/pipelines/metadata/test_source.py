"""The publisher that a page credits, and what stands in its place without being one."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.metadata.source import find_source
from tests.table import each_row


def source(body: str, head: str = "") -> str:
    """The source named in the lines of a page."""
    document = parse(f"<head>{head}</head><body>{body}</body>".encode(), "http://h.example/a", "text/html")
    return find_source(document, range(len(document.blocks)), [])


@each_row("name", ["央视新闻", "央視新聞", "中国新闻网", "聯合報", "民視新聞", "图片社"])
def test_publisher_beside_the_date_is_the_source(name: str) -> None:
    assert source(f"<p>2024-03-12 08:30 {name}</p>") == name


@each_row(
    "name",
    ["热门新闻", "熱門新聞", "国际新闻", "國際新聞", "其他社會新聞", "綜合報", "即時新聞", "财经在线", "兩岸新聞"],
)
def test_channel_in_either_script_is_no_source(name: str) -> None:
    assert source(f"<p>2024-03-12 08:30 {name}</p>") == ""


def test_heading_beside_the_date_is_no_source() -> None:
    assert source("<p>2024-03-12 08:30</p><h3>山海日报</h3>") == ""
    assert source("<p>2024-03-12 08:30</p><p><a href=/>山海日报</a></p>") == ""
    assert source("<p>2024-03-12 08:30</p><p>山海日报</p>") == "山海日报"


@each_row(
    ("stated", "expected"),
    [
        ("Courtesy of Zillow", ""),
        ("Photo: Jane Doe", ""),
        ("From", ""),
        ("wordpress", ""),
        ("http://copymatter.example/", ""),
        ("Źródło: PAP", "PAP"),
        ("Reuters", "Reuters"),
    ],
)
def test_stated_source(stated: str, expected: str) -> None:
    assert source("<p>x</p>", f'<meta name=source content="{stated}">') == expected


def test_source_of_a_picture_is_not_that_of_the_article() -> None:
    assert source("<p>图片来源：全景视觉</p>") == ""
    assert source("<p>图片来源：全景视觉</p><p>来源：山海日报</p>") == "山海日报"


@each_row(
    ("line", "expected"),
    [
        ("来源: 21世纪经济报道(广州)", "21世纪经济报道"),
        ("摘自《山海日报》", "山海日报"),
        ("摘自：《读者》2024年第3期", "读者"),
        ("来源：微信公众号“山海评论”", "山海评论"),
        ("来源｜量子位", "量子位"),
        ("来源：综合报道", ""),
        ("（本段摘自：山海周刊）", ""),
    ],
)
def test_labelled_source(line: str, expected: str) -> None:
    assert source(f"<p>{line}</p>") == expected
