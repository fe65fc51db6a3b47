"""Related stories: lists under labels, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

from pipelines.document.document import parse
from pipelines.links import links, related
from pipelines.parse_page import parse_page
from pipelines.records import BlockKind, Extraction, ParseResult
from pipelines.site_memory.knowledge import NOTHING, learn, pack
from tests.table import each_row

URL = "http://news.h.cn/2024/1.html"
ONE, TWO = "河口大桥主桥今日顺利合龙", "河口大桥收费标准公开征求意见"
FARES = "Ferry fares rise again in spring"
HOT = "本市气温明日将骤降十二度"
BOTH = [ONE, TWO]


def a(path: str, title: str) -> str:
    return f"<a href='{path}'>{title}</a>"


def items(*links: str) -> str:
    return "<ul>" + "".join(f"<li>{link}</li>" for link in links) + "</ul>"


STORIES = items(a("/1", ONE), a("/2", TWO))


def titles(body: str) -> list[str]:
    document = parse(f"<body><div>{body}</div></body>".encode(), URL)
    urls = links.resolve_urls(document)
    return [story.title for story in related.find(document, links.extract(document, Extraction(), urls), urls, ())]


@each_row(
    "body, expected",
    [
        (f"<h3>相关新闻</h3>{STORIES}", BOTH),
        (f"<div class=hd>延伸阅读：</div><div class=bd>{STORIES}</div>", BOTH),
        (f"<b>相关报道</b><br>·{a('/1', ONE)}<br>·{a('/2', TWO)}", BOTH),
        (f"<h4>相關新聞</h4><p>{a('/1', ONE)}</p><p>{a('/2', TWO)}</p>", BOTH),
        (
            f"<h2>Related stories</h2>{items(a('/3', FARES))}",
            [FARES],
        ),
        # the list ends with its container, and at the next label
        (f"<h3>相关新闻</h3>{STORIES}<div class=side>{items(a('/9', HOT))}</div>", BOTH),
        (f"<h3>相关新闻</h3><p>{a('/1', ONE)}</p><h3>热门新闻</h3><p>{a('/9', HOT)}</p>", [ONE]),
        (f"<td>相关阅读<br>{a('/1', ONE)}<br>点击排行<br>{a('/9', HOT)}</td>", [ONE]),
        # no statement, or one about other things
        (STORIES, []),
        (f"<h3>热门新闻</h3>{STORIES}", []),
        (f"<h3>推荐阅读</h3>{STORIES}", []),
        (f"<h3>猜你喜欢</h3>{STORIES}", []),
        (f"<h3>相关视频</h3>{STORIES}", []),
        (f"<h3>Related topics</h3>{items(a('/3', FARES))}", []),
        (f"<div class=related>{STORIES}</div>", []),
        (f"<p>相关部门表示，将尽快修复受损的路面，恢复通行。</p>{STORIES}", []),
        # no stories of the same site
        (f"<h3>相关新闻</h3>{items(a('http://shop.example/1', ONE))}", []),
        (f"<h3>相关新闻</h3>{items(a('/t', '大桥'), a('/m', '更多'), a('#top', TWO))}", []),
        (f"<h3>相关新闻</h3>{items(a(URL, ONE))}", []),
        ("<h3>相关新闻</h3>", []),
    ],
)
def test_stories(body: str, expected: list[str]) -> None:
    assert titles(body) == expected


def test_stories_are_at_most_twenty() -> None:
    many = items(*(a(f"/{n}", f"{ONE}之{n}") for n in range(99)))
    assert len(titles(f"<h3>相关新闻</h3>{many}")) == related.MAX_STORIES


def test_deeply_nested_list() -> None:
    assert titles("<h3>相关新闻</h3>" + "<div>" * 400 + STORIES) == BOTH


# ---------------------------------------------------------------- on the way of a page

NOW = datetime(2024, 5, 1, tzinfo=UTC)
LINE = "号桥墩的浇筑昨日完成，工程人员说，主桥将在年内合龙，届时两岸居民过江只需十分钟。"
PROSE = "".join(f"<p>河口大桥第{n}{LINE}</p>" for n in range(6))


def article(number: int, *stories: str, label: str = "相关新闻") -> bytes:
    title = f"河口大桥第{number}号桥墩完成浇筑"
    linked = items(*(a(path, f"{ONE}{path}") for path in stories))
    head = f"<html><title>{title}</title><body><h1>{title}</h1><div>2024-05-01 08:00</div>"
    text = f"<div class=text><p>第{number}号。</p>{PROSE}</div>"
    return f"{head}{text}<div class=share><h3>{label}</h3>{linked}</div>".encode()


def read(body: bytes, number: int, model: bytes = b"") -> ParseResult:
    return parse_page(body, f"http://news.h.cn/{number}.html", fetched_at=NOW, site_model=model)


def test_links_of_stories_count_as_related() -> None:
    """By its name the list would be one of buttons to share."""
    parsed = read(article(1, "/a", "/b"), 1)
    assert [url for url, _ in parsed.stories] == ["http://news.h.cn/a", "http://news.h.cn/b"]
    assert parsed.links.blocks == bytes([BlockKind.RELATED] * 2)
    assert read(article(1, "/a", label="分享到"), 1).links.blocks == bytes([BlockKind.OTHER])


def test_text_is_the_same_with_and_without_a_label() -> None:
    labelled, other = (read(article(1, "/a", "/b", label=label), 1).extraction for label in ("相关新闻", "分享到"))
    assert (labelled.text, labelled.html) == (other.text, other.html)


def test_story_that_all_articles_of_a_site_name_is_none() -> None:
    model = NOTHING
    for number in range(4):
        parsed = read(article(number, "/always", f"/only-{number}"), number, pack(model))
        assert parsed.sample is not None
        model = learn(model, parsed.sample)
    parsed = read(article(9, "/always", "/only-9"), 9, pack(model))
    assert [url for url, _ in parsed.stories] == ["http://news.h.cn/only-9"]


def test_page_that_is_no_article_has_none() -> None:
    parsed = read(f"<body><h3>相关新闻</h3>{STORIES}</body>".encode(), 1)
    assert not parsed.is_leaf
    assert parsed.stories == ()
