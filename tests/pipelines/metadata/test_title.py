"""The headline among headings, metadata and the site's names."""

from __future__ import annotations

from datetime import UTC, datetime

from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)
TEXT = "".join(
    f"<p>第{n}段，河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车。</p>" for n in range(5)
)
SITE = "<meta property=og:site_name content=河口网>"
ENGLISH = "".join(
    f"<p>Part {n}: the harbour bridge was closed for repairs, and the ferry carried people, who waited.</p>"
    for n in range(6)
)


@each_row(
    ("page", "title"),
    [
        ("<title>大桥合龙在即_河口网</title><h1>大桥合龙在即</h1>", "大桥合龙在即"),
        ("<title>大桥合龙在即-河口网</title>", "大桥合龙在即"),
        ("<title>大桥合龙在即(2)-河口网</title>", "大桥合龙在即"),
        ("<title>河口网</title><h2>大桥合龙在即</h2>", "大桥合龙在即"),
        (
            "<title>大桥合龙在即</title><h1>大桥合龙在即 - 河口网</h1><meta property=og:site_name content=河口网>",
            "大桥合龙在即",
        ),
        (
            "<title>大桥合龙在即</title><meta property=og:title content=大桥合龙在即><h1>要闻：大桥合龙在即</h1>",
            "大桥合龙在即",
        ),
        ("<title>大桥合龙在即_河口网</title><h1><span class=tag>原创</span>大桥合龙在即</h1>", "大桥合龙在即"),
        ("<title>大桥合龙在即_河口网</title><h1>大桥合龙在即 <em>已解决</em></h1>", "大桥合龙在即"),
        ("<meta property=og:title content='大桥合龙在即\\n\\n江上的船都停下来看。'>", "大桥合龙在即"),
    ],
)
def test_chinese(page: str, title: str) -> None:
    parsed = parse_page(f"{page}<div>{TEXT}</div>".encode(), "http://e.com/a/1.html", fetched_at=NOW)
    assert parsed.metadata.title == title


@each_row(
    ("page", "title"),
    [
        ("<title>KI-Foto of a bridge and a ferry | The Post</title>", "KI-Foto of a bridge and a ferry"),
        (
            "<title>Harbour Notes: Ferry runs again today</title><h1>Harbour Notes</h1><p>about</p><p>more</p>"
            "<h2>Ferry runs again today</h2>",
            "Ferry runs again today",
        ),
        (
            "<title>Harbour Notes: Ferry runs again today</title><h1><a href=/>Harbour Notes</a></h1>"
            "<h3>Ferry runs again today</h3>",
            "Ferry runs again today",
        ),
        (
            "<title>Why the harbour bridge had to be closed</title><h1>Ferry runs again while the bridge waits</h1>",
            "Ferry runs again while the bridge waits",
        ),
        ("<title>Ferry runs again today - The Post</title><p><b>Share this</b></p>", "Ferry runs again today"),
    ],
)
def test_western(page: str, title: str) -> None:
    parsed = parse_page(f"{page}<div>{ENGLISH}</div>".encode(), "http://e.com/a/1.html", fetched_at=NOW)
    assert parsed.metadata.title == title


@each_row(
    ("page", "title"),
    [
        # no heading, and `<title>` only names the site or the section
        ("<title>河口网</title><p><font size=4><b>大桥合龙在即</b></font></p>", "大桥合龙在即"),
        (
            "<title>新闻动态--河口网</title><div class=biaoti>河口大桥完成最后一段桥面浇筑</div>",
            "河口大桥完成最后一段桥面浇筑",
        ),
        # the headline given as the name of the site
        (
            "<title>大桥合龙在即 医师说注意交通</title>"
            "<meta property=og:site_name content='大桥合龙在即 医师说注意交通'>"
            "<meta property=og:title content='大桥合龙在即 医师说注意交通'><h1>大桥合龙在即 医师说注意交通</h1>",
            "大桥合龙在即 医师说注意交通",
        ),
        # what a template puts in front of it
        ("<title>河口大桥完成桥面浇筑_河口网</title><h1>【原创】河口大桥完成桥面浇筑</h1>", "河口大桥完成桥面浇筑"),
        ("<title>河口大桥完成桥面浇筑_河口网</title><h1>图：河口大桥完成桥面浇筑</h1>", "河口大桥完成桥面浇筑"),
        ("<title>图：河口大桥完成桥面浇筑_河口网</title><h1>图：河口大桥完成桥面浇筑</h1>", "图：河口大桥完成桥面浇筑"),
        ("<title>河口大桥完成桥面浇筑_河口网</title><h1>要闻》河口大桥完成桥面浇筑</h1>", "河口大桥完成桥面浇筑"),
        ("<title>评《大桥》一书_河口网</title><h1>评《大桥》一书</h1>", "评《大桥》一书"),
        # shorter than four characters
        ("<title>河口</title><meta property=og:title content=河口><p>散文</p><h1>河口</h1>", "河口"),
    ],
)
def test_headline_is_not_the_site(page: str, title: str) -> None:
    parsed = parse_page(f"{page}<div>{TEXT}</div>".encode(), "http://e.com/a/1.html", fetched_at=NOW)
    assert parsed.metadata.title == title
