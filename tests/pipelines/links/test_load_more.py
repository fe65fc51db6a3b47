"""The control that loads more of a list."""

from __future__ import annotations

import pytest

from pipelines.document.document import parse
from pipelines.links.links import extract, resolve_urls
from pipelines.links.load_more import loads_more
from pipelines.records import Extraction

LIST = "".join(f'<li><a href="/{n}.html">新闻标题第{n}号在这里</a></li>' for n in range(5))


def finds(control: str, script: str = "<script src=/a.js></script>") -> bool:
    body = f"<html><body><ul>{LIST}</ul>{control}{script}</body></html>"
    document = parse(body.encode(), "http://a.cn/", "text/html; charset=utf-8")
    return loads_more(document, extract(document, Extraction(), resolve_urls(document)))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
