"""What one page says of its host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.errors import BODY_CUT
from crawler.learn.health.answers import ROBOTS, AnswerKind, HostAnswer, answer_of, shape
from crawler.response.redirects import with_redirect
from db.records.reasons import FailReason, PageReason
from db.records.url import Kind, Lease
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.records import BlockKind, Description, Extraction, Links, Metadata, PageKind, ParseResult
from tests.table import each_row

URL = "http://a.example/news/1.html"


def page(kind: Kind = Kind.PAGE, url: str = URL, **values: Any) -> Page:
    lease = Lease(1, url, 2, None, kind, 0, 0.0, BlockKind.LIST, None, 0.0, 0, 0, None, None)
    return with_redirect(Page(lease, Scope("host", ("a.example",)), **{"status": 200, "seconds": 0.5, **values}))


def came(**values: Any) -> tuple[str, str] | None:
    answer = answer_of(page(**values))
    return None if answer is None else (answer.kind.name, answer.why)


def read(kind: PageKind, reason: str | None = None, title: str = "", links: int = 0, body: str = "") -> ParseResult:
    named = Links(tuple(f"http://a.example/{n}" for n in range(links)))
    return ParseResult(
        kind,
        reason and PageReason(reason),
        Metadata(title=title),
        Extraction(text=body, confidence=0.9),
        links=named,
    )


@each_row(
    ("status", "expected"),
    [
        (403, ("BLOCKED", "http 403")),
        (429, ("BLOCKED", "http 429")),
        (503, ("BLOCKED", "http 503")),
        (404, ("GONE", "http 404")),
        (410, ("GONE", "http 410")),
        (500, ("FAILED", "http 500")),
        (418, ("FAILED", "http 418")),
        (304, ("KEPT", "")),
        (204, ("KEPT", "")),
    ],
)
def test_statuses(status: int, expected: tuple[str, str]) -> None:
    assert came(status=status) == expected


@each_row(
    ("location", "expected"),
    [
        ("/login?back=/news/1.html", ("LOGIN", "redirect")),
        ("http://passport.b.example/sso", ("LOGIN", "redirect")),
        ("/antispider/?from=1", ("BLOCKED", "redirect")),
        ("/", ("GONE", "home page")),
        ("/news/2.html", None),
        ("https://a.example/news/1.html", None),
        ("http://[bad", None),
        ("", None),
    ],
)
def test_redirects(location: str, expected: tuple[str, str] | None) -> None:
    assert came(status=302, headers={"location": location}) == expected


def test_redirect_of_the_home_page_says_nothing() -> None:
    assert came(url="http://a.example/", status=301, headers={"location": "http://a.example/"}) is None


def test_no_answer() -> None:
    assert came(status=0, error=FailReason.TIMED_OUT) == ("FAILED", "timed out")
    assert came(truncated=True) == ("FAILED", "connection lost")
    assert came(truncated=True, bounds=(BODY_CUT,)) == ("KEPT", "")


@each_row(
    "values",
    [
        {"error": FailReason.ADDRESS_REFUSED},
        {"error": FailReason.OUT_OF_HANDLES},
        {"error": FailReason.NO_PROXY},
        {"kind": Kind.FEED},
    ],
)
def test_answers_that_say_nothing_of_the_host(values: dict[str, Any]) -> None:
    assert came(**values) is None


def test_robots() -> None:
    assert came(kind=Kind.ROBOTS, status=404) == ("KEPT", "")
    assert came(kind=Kind.ROBOTS, status=503) == ("FAILED", "http 503 (robots.txt)")
    answer = answer_of(page(Kind.ROBOTS, status=0, error=FailReason.TIMED_OUT))
    assert answer is not None
    assert answer.found_in == ROBOTS


@each_row(
    ("parsed", "expected"),
    [
        (read(PageKind.LIST, "list page", "频道", 40), AnswerKind.PAGE),
        (read(PageKind.OTHER, "no text"), AnswerKind.EMPTY),
        (read(PageKind.OTHER, "no text", "目录", 40), AnswerKind.PAGE),
        (read(PageKind.OTHER, "login wall", "登录"), AnswerKind.LOGIN),
        (read(PageKind.OTHER, "soft 404", "页面不存在"), AnswerKind.GONE),
        (read(PageKind.FORM, "form", "登录"), AnswerKind.LOGIN),
        (read(PageKind.NOTICE, "error or notice", "维护"), AnswerKind.GONE),
        (read(PageKind.LIST, "list page", "频道", 40, "好" * 700), AnswerKind.PAGE),
        (read(PageKind.THREAD, None, "帖子", 40, "好" * 700), AnswerKind.ARTICLE),
        (read(PageKind.OTHER, "soft 404", "Just a moment..."), AnswerKind.BLOCKED),
        (read(PageKind.OTHER, "too little prose", "安全验证"), AnswerKind.BLOCKED),
        (None, AnswerKind.KEPT),
    ],
)
def test_pages(parsed: ParseResult | None, expected: AnswerKind) -> None:
    answer = answer_of(page(parsed=parsed))
    assert answer is not None
    assert answer.kind == expected


def test_articles() -> None:
    answer = answer_of(page(parsed=read(PageKind.ARTICLE, title="标题", body="好" * 700)))
    assert answer is not None
    expected = HostAnswer(URL, BlockKind.LIST, AnswerKind.ARTICLE, "", 700, answer.title, dated=False, doubtful=False)
    assert answer == expected._replace(seconds=0.5)
    assert answer.title
    assert answer_of(page(parsed=read(PageKind.ARTICLE, body="好"))).title == 0  # type: ignore[union-attr]


@each_row(("kind", "hijacked"), [("hijacked", True), ("gambling", True), ("advert", False), ("", False)])
def test_articles_of_hijackers(kind: str, *, hijacked: bool) -> None:
    parsed = replace(read(PageKind.ARTICLE, body="好" * 700), description=Description(harm_kind=kind))
    answer = answer_of(page(parsed=parsed))
    assert answer is not None
    assert answer.hijacked is hijacked


def test_wrongly_decoded() -> None:
    assert answer_of(page(parsed=read(PageKind.ARTICLE, body="好" * 700 + "\ufffd" * 2))).doubtful  # type: ignore[union-attr]
    doubted = ParseResult(PageKind.ARTICLE, extraction=Extraction(text="好"), doubt=PageReason.DOUBTFUL_ENCODING)
    assert answer_of(page(parsed=doubted)).doubtful  # type: ignore[union-attr]


def test_articles_of_a_site_are_alike_and_other_pages_are_not() -> None:
    articles = {shape(f"http://a.example/news/2024/{n}/{n}.html", BlockKind.LIST) for n in range(50)}
    paths = ("tag/a", "author/b", "news/2009/1/1.html", "?p=1", "?cat=1")
    others = {shape(f"http://a.example/{path}", BlockKind.LIST) for path in paths}
    menu = shape("http://a.example/news/2024/1/1.html", BlockKind.NAVIGATION)
    assert (len(articles), len(others), len(articles | others | {menu})) == (1, 5, 7)
    assert shape("http://a.example/robots.txt", ROBOTS) == "robots"


@given(st.text(max_size=300), st.sampled_from(sorted(BlockKind)))
def test_any_url_has_a_short_shape(path: str, found_in: int) -> None:
    assert 0 < len(shape(f"http://a.example/{path}", found_in)) <= 80
