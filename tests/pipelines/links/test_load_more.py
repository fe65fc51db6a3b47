"""The control that loads more of a list."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.links.links import extract, resolve_urls
from pipelines.links.load_more import loads_more_links, loads_more_text
from pipelines.records import Extraction
from tests.table import each_row

LIST = "".join(f'<li><a href="/{n}.html">新闻标题第{n}号在这里</a></li>' for n in range(5))


def finds(control: str, script: str = "<script src=/a.js></script>") -> bool:
    body = f"<html><body><ul>{LIST}</ul>{control}{script}</body></html>"
    document = parse(body.encode(), "http://a.cn/", "text/html; charset=utf-8")
    return loads_more_links(document, extract(document, Extraction(), resolve_urls(document)))


@each_row(
    "control",
    [
        "<button>加载更多</button>",
        "<div class=more>点击加载更多 ▼</div>",
        '<a href="#">Load more posts</a>',
        '<a href="javascript:;">查看更多</a>',
        "<button>Mehr laden</button>",
        "<p><span>Show more…</span></p>",
    ],
)
def test_control_is_found(control: str) -> None:
    assert finds(control)


@each_row(
    "control",
    [
        "",
        '<a href="/list/2.html">加载更多</a>',
        "<p>市民加载更多应用之后手机变慢的原因在哪里，记者进行了调查</p>",
        "<button>更多</button>",
    ],
)
def test_link_or_prose_is_none(control: str) -> None:
    assert not finds(control)


def test_page_without_script_has_none() -> None:
    assert not finds("<button>加载更多</button>", script="")


def shows_beginning(text: str, head: str) -> bool:
    document = parse(f"<html><head>{head}</head><body><p>{text}</p></body></html>".encode(), "http://a.cn/1", "")
    return loads_more_text(document, text)


def test_short_text_beside_data_of_the_page_is_a_beginning() -> None:
    data = '<link rel="alternate" type="application/json" href="/api/1"><script src=/a.js></script>'
    assert shows_beginning("一段开头。" * 20, data)
    assert not shows_beginning("一段开头。" * 100, data)
    assert not shows_beginning("第一段。\n第二段。\n第三段。", data)
    assert not shows_beginning("一段开头。" * 20, "<script src=/a.js></script>")
    assert not shows_beginning("一段开头。" * 20, data.replace("application/json", "application/rss+xml"))
