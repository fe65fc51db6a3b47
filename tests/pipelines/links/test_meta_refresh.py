"""Pages that send their readers on."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.links.meta_refresh import find_target
from tests.table import each_row

URL = "http://h.cn/a/b.html"


def sent(content: str, rest: str = "", head: str = "") -> str:
    page = f"<html><head>{head}<meta http-equiv='Refresh' content=\"{content}\"></head><body>{rest}</body></html>"
    return find_target(parse(page.encode(), URL))


@each_row(
    ("content", "to"),
    [
        ("0;url=/x", "http://h.cn/x"),
        ("0; URL='c.html'", "http://h.cn/a/c.html"),
        ("0;URL=&quot;/x&quot; ", "http://h.cn/x"),
        (" 3 , url = http://o.cn/ ", "http://o.cn/"),
        ("0.5;/x", "http://h.cn/x"),
        ("0;url=b.html", URL),
        ("0; url=/新闻", "http://h.cn/%E6%96%B0%E9%97%BB"),
        ("5", ""),
        ("0;", ""),
        ("0;url=", ""),
        ("300;url=/x", ""),
        ("x;url=/x", ""),
        ("0;url=javascript:alert(1)", ""),
        ("0;url=data:text/html,x", ""),
        ("0;url=/" + "x" * 3_000, ""),
        (" " * 4_000 + "0" + " " * 4_000, ""),
    ],
)
def test_targets_of_meta_refresh(content: str, to: str) -> None:
    assert sent(content) == to


def test_only_pages_that_show_nothing_send_on() -> None:
    assert sent("0;url=/x", "<p>正在跳转</p><a href='/x'>请点这里</a>") == "http://h.cn/x"
    assert sent("0;url=/x", "<p>" + "内容很多。" * 100 + "</p>") == ""
    assert sent("0;url=/x", "".join(f"<a href='/{n}'>{n}</a>" for n in range(9))) == ""
    assert find_target(parse(b"<meta name=refresh content='0;url=/x'>", URL)) == ""
    assert find_target(parse(b"", URL)) == ""


def test_base_and_noscript() -> None:
    assert sent("0;url=x", head="<base href='http://h.cn/z/'>") == "http://h.cn/z/x"
    page = b"<html><head><noscript><meta http-equiv=refresh content='0;url=/plain'></noscript></head></html>"
    assert find_target(parse(page, URL)) == "http://h.cn/plain"
