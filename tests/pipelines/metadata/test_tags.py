"""Keywords and channel: those of the article, not those of its site or template."""

from __future__ import annotations

from pipelines.document import structured_data
from pipelines.document.document import parse
from pipelines.metadata.tags import find_keywords, find_section
from pipelines.records import Extraction
from tests.table import each_row

TEXT = "The harbour of Oldport gets a new pier. NATO ships and ferries may land there, says the mayor of the town."


def keywords(head: str = "", body: str = "", text: str = TEXT, title: str = "New pier") -> tuple[str, ...]:
    """Keywords of a page with this head and these elements behind a text of one block."""
    document = parse(f"<head>{head}</head><body><p>{text}</p>{body}</body>".encode(), "http://h.example/a", "text/html")
    found = Extraction(text=text, blocks=(0,))
    return find_keywords(document, structured_data.read(document), found, title, ["Oldport Mail"])


@each_row(
    ("stated", "expected"),
    [
        ("pier, ferry, harbour", ("pier", "ferry", "harbour")),
        ("Pier, pier, PIER", ("Pier",)),
        ("News, Home, Blog, pier, Latest news, World news today", ("pier",)),
        ("New pier, Oldport Mail, pier", ("pier",)),
        ("RSBI:HUMAN-RIGHTS, MDIA08, n, 5d41402abc4b2a76b9719d911017c592, tag_id=7, pier", ("pier",)),
        ("MTVID, EREP, AERO, NP, NATO, SASIA, TGLF, CRSH", ("NATO",)),
        ("politics, sport, business, culture, travel, food, film, harbour", ("harbour",)),
        ("shipping, trade", ("shipping", "trade")),
        ("a sentence of many words that nobody would ever look for, pier", ("pier",)),
    ],
)
def test_stated_keywords(stated: str, expected: tuple[str, ...]) -> None:
    assert keywords(f'<meta name=keywords content="{stated}">') == expected


def test_blanks_part_chinese_keywords_when_nothing_else_does() -> None:
    text = "港口今天通航，渡轮明天靠岸。"
    assert keywords('<meta name=keywords content="港口 渡轮 通航">', text=text) == ("港口", "渡轮", "通航")
    assert keywords('<meta name=keywords content="New York">', text=text) == ("New York",)


def test_shown_tags_count_when_the_text_has_half_of_their_box() -> None:
    own = "<div class=tags><a href=/tag/pier>pier</a> <a href=/tag/ferry>ferry</a> <a href=/tag/quay>quay</a></div>"
    cloud = "".join(
        f"<li><a href=/tag/{word}>{word}</a></li>" for word in ("Italy", "Ukraine", "budget", "harbour", "film")
    )
    assert keywords(body=f"{own}<ul>{cloud}</ul>") == ("pier", "ferry", "quay", "harbour")


def test_buttons_and_labels_are_no_tags() -> None:
    body = "".join(
        f"<p><a rel=tag href=/tag/{n}>{word}</a></p>" for n, word in enumerate(["View all", "3 comments", "pier"])
    )
    assert keywords(body=body) == ("pier",)


@each_row(
    ("head", "crumbs", "expected"),
    [
        ("<meta property=article:section content='Onet / Zielony / Dom i ogród'>", "", "Dom i ogród"),
        ("<meta property=article:section content='Featured,Social Issues'>", "", "Social Issues"),
        ("<meta property=article:section content='/world/middle_east'>", "", "middle_east"),
        ("<meta property=article:section content='tags'>", "<div class=crumb>Home &gt; Harbour</div>", "Harbour"),
        ("", "<div class=crumb>首页 &gt; 国际 &gt; 重点推荐</div>", "国际"),
        ("", "<div class=crumb>首頁 &gt; 兩岸 &gt; 內文</div>", "兩岸"),
        ("", "<div class=crumb>首页 &gt; 新闻中心滚动条 --</div>", ""),
        ("", "<div class=crumb>首页 &gt; 今日关注 正文 订阅手机报</div>", "今日关注"),
        ("", "<div class=crumb>Home &gt; April 18, 2005</div>", ""),
    ],
)
def test_section(head: str, crumbs: str, expected: str) -> None:
    document = parse(f"<head>{head}</head><body>{crumbs}<p>x</p></body>".encode(), "http://h.example/a", "text/html")
    first = len(document.blocks) - 1
    assert find_section(document, structured_data.read(document), first, "A headline", ["Site"]) == expected
