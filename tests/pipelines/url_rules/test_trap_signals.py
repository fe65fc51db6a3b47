"""What pages show of traps: sketches, outlines, walls."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.parse_page import read_page
from pipelines.records import PageKind
from pipelines.url_rules.trap_signals import KnownTraps, Signs, alike, look, needs_look, outline, sketch, without_page
from tests.crawler.trap_sites import words
from tests.table import each_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def signs(title: str, body: str, url: str = "http://a.example/x.html") -> Signs:
    page = f"<html><head><meta charset=utf-8><title>{title}</title></head><body>{body}</body></html>"
    document = parse(page.encode(), url)
    return look(document, read_page(document, fetched_at=NOW)[1])


def test_pages_that_differ_in_figures_only_are_alike() -> None:
    one = sketch("2025年6月活动日历 1 2 3 下月 上月 本日暂无活动安排，请查看其他日期。")
    other = sketch("2031年11月活动日历 7 8 9 下月 上月 本日暂无活动安排，请查看其他日期。")
    assert alike(one, other)


def test_texts_of_other_words_are_not_alike() -> None:
    texts = [sketch(words(n, 60)) for n in range(40)]
    assert not any(alike(one, other) for i, one in enumerate(texts) for other in texts[:i])


def test_text_of_hardly_any_characters_is_like_no_other() -> None:
    assert sketch("") == sketch("12 34") == 0
    assert not alike(0, 0)


@given(st.text(max_size=100))
def test_sketches_fit_a_signed_column(text: str) -> None:
    assert 0 <= sketch(text) < 1 << 63


def test_outline_ignores_figures_and_the_name_of_the_page() -> None:
    one = outline("您访问的 abcdef12.html 不存在 请检查网址 12:30", "http://a.example/old/abcdef12.html")
    assert one == outline("您访问的 ffff9999.html 不存在 请检查网址 13:45", "http://a.example/old/ffff9999.html")
    assert one != outline("您访问的 ffff9999.html 已经存在 请检查网址", "http://a.example/old/ffff9999.html")
    assert outline("", "http://a.example/") == 0
    assert all(outline(words(n), "http://a.example/") > 0 for n in range(20))


@each_row("text", ["请完成安全验证后继续访问", "Checking your browser before accessing", "请先登录后查看"])
def test_walls_are_seen(text: str) -> None:
    assert signs("Just a moment", f"<p>{text}</p>").is_wall


def test_long_page_about_walls_is_none() -> None:
    assert not signs("验证码的历史", f"<p>验证码</p><p>{words(1, 900)}。</p>").is_wall


def test_most_articles_need_no_look_and_missing_pages_leave_nothing() -> None:
    body = "".join(f"<p>{words(n, 120)}。</p>" for n in range(5)) + '<a href="/b.html">b</a>'
    document = parse(
        f"<meta charset=utf-8><title>题目题目题目</title><h1>题目题目题目</h1>{body}".encode(),
        "http://a.example/a1.html",
    )
    parsed = read_page(document, fetched_at=NOW)[1]
    assert parsed.kind is PageKind.ARTICLE
    assert not needs_look(parsed, KnownTraps())
    assert needs_look(parsed, KnownTraps(missing=()))
    left = without_page(parsed)
    assert (left.kind, left.reason, len(left.links), left.extraction.text) == (PageKind.NOTICE, "soft 404", 0, "")
