"""What a page tells robots: metas, headers, rel."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.links.robots_meta import is_nofollow, read_directives
from tests.table import each_row

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)


def said(head: str = "", header: str = "") -> tuple[bool, bool]:
    return read_directives(parse(f"<head>{head}</head><p>x</p>".encode(), "http://e.com/"), header, NOW)


@each_row(
    ("head", "noindex", "nofollow"),
    [
        ("<meta name=robots content='NOINDEX, follow'>", True, False),
        ("<META NAME='ROBOTS' CONTENT='none'>", True, True),
        ("<meta name=newscrawler content=none>", True, True),
        ("<meta name=googlebot content=noindex>", False, False),
        ("<meta name=robots content='index'><meta name=robots content='nofollow'>", False, True),
        ("<meta name=robots content='noindex;nofollow'>", True, True),
        ("<meta name=robots content='noindex nofollow'>", True, True),
        ("<meta name=robots content='max-snippet:20, max-image-preview:none'>", False, False),
        ("<meta name=robots content='noindexed, xnofollow, all'>", False, False),
        ("<meta name=robots content='unavailable_after: 2024-05-31, nofollow'>", True, True),
        ("<meta name=robots content=''><meta name=robots>", False, False),
    ],
)
def test_metas(head: str, noindex: object, nofollow: object) -> None:
    assert said(head) == (noindex, nofollow)


@each_row(
    ("header", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NoIndex,NoFollow", True, True),
        ("newscrawler: noindex", True, False),
        ("NewsCrawler : none", True, True),
        ("*: noindex", True, False),
        ("googlebot: noindex, nofollow", False, False),
        ("googlebot: noindex\nnofollow", False, True),
        ("googlebot: nofollow\nnewscrawler: noindex\notherbot: none", True, False),
        ("googlebot: nofollow, newscrawler: noindex, otherbot: none", True, False),
        ("newscrawler: unavailable_after: 25 Jun 2010 15:00:00 PST", True, False),
        ("googlebot: unavailable_after: 25 Jun 2010 15:00:00 PST", False, False),
        ("max-snippet: 0, noindex", True, False),
    ],
)
def test_headers(header: str, noindex: object, nofollow: object) -> None:
    assert said(header=header) == (noindex, nofollow)


@each_row(
    ("time", "over"),
    [
        ("25 Jun 2010 15:00:00 PST", True),
        ("25 Jun 2030 15:00:00 PST", False),
        ("Friday, 25-Jun-10 15:00:00 UTC", True),
        ("Fri, 25 Jun 2010 15:00:00 GMT", True),
        ("Tue, 25 Jun 2030 15:00:00 GMT", False),
        ("2024-06-01T03:59:59Z", True),
        ("2024-06-01T04:00:01+00:00", False),
        ("2024-06-01T11:59:59+08:00", True),
        ("2024-05-31", True),
        ("never", False),
        ("", False),
        ("99 Foo 99999999999999999999", False),
    ],
)
def test_end_of_a_pages_time(time: str, over: object) -> None:
    assert said(header=f"unavailable_after: {time}") == (over, False)
    assert said(header=f"nofollow, unavailable_after: {time}") == (over, True)
    assert said(f"<meta name=robots content='unavailable_after: {time}'>") == (over, False)


@each_row(
    ("rel", "closed"),
    [
        ("nofollow", True),
        ("noopener NOFOLLOW", True),
        ("ugc", True),
        ("sponsored,noopener", True),
        ("follow noopener", False),
        ("next", False),
        ("", False),
        ("nofollowing", False),
    ],
)
def test_rel(rel: str, closed: object) -> None:
    assert is_nofollow(rel) is closed


@given(st.text(), st.text(alphabet="newscrawler: unavailable_after,\n0123-TZ"))
def test_directives_never_raise(meta: str, header: str) -> None:
    document = parse(b"<p>x</p>", "http://e.com/")
    document.metas["robots"] = [meta, f"unavailable_after:{meta}"]
    for text in (header, meta):
        assert set(map(type, read_directives(document, text, NOW))) == {bool}
