"""What one answer says of the health of its host: from a `Page` to a few numbers.

Pure, and cheap enough for every page: lengths and flags are taken here, so that no page is held in memory; what costs
more is done with these numbers later.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from zlib import crc32

from db.records.url import Kind
from pipelines.records import PageKind, ParsedPage
from pipelines.stages import Page
from pipelines.urls import canonicalize

from ...fetch.errors import BODY_CUT, BOMB, OUT_OF_HANDLES, REFUSED


class Came(StrEnum):
    """What an answer was; one letter each, because windows of them are kept as text."""

    ARTICLE = "A"
    PAGE = "P"
    """A page that is no article: a list, a form, too little prose."""
    EMPTY = "E"
    """A page without any text or list."""
    LOGIN = "L"
    """Asks to log in, or leads to where one does."""
    CAPTCHA = "C"
    """Asks whether we are human."""
    BLOCKED = "B"
    """401, 403, 429, 451 or 503."""
    FAILED = "F"
    """No answer, or another error of the server."""
    GONE = "G"
    """404 or 410, or a page that says so, or leads to the home page instead."""
    KEPT = "K"
    """An answer that is well but shows no page: unchanged, a file."""


class Answer(NamedTuple):
    """One answer.

    Attributes:
        url, found_in: see `crawler.learn.health.shapes.shape`; `ROBOTS` for a robots.txt.
        came: what it was.
        why: what people may want to know: a status, an error, a reason.
        chars: of the article's text; 0 for others.
        confidence: of the extractor, for an article.
        title: a number for the article's title; 0 when it has none.
        dated: whether the article has a time of publication.
        doubtful: whether its characters look wrongly decoded.
        seconds: how long the answer took.
    """

    url: str
    found_in: int
    came: Came
    why: str = ""
    chars: int = 0
    confidence: float = 0.0
    title: int = 0
    dated: bool = False
    doubtful: bool = False
    seconds: float = 0.0


ROBOTS = -1
"""`Answer.found_in` of a robots.txt."""
_BLOCKED = {401, 403, 429, 451, 503}
_GONE = {404, 410}
_REDIRECTS = {301, 302, 303, 307, 308}
_NO_TEXT = {"no text", "text too short", "no prose"}
_HUMAN = re.compile(
    "captcha|are you (?:human|a robot)|you are human|just a moment|attention required|access (?:denied|blocked)|"
    "security check|robot check|too many requests|forbidden|验证码|安全验证|人机验证|访问验证|访问过于频繁|拒绝访问|"
    "安全检查|驗證碼|拒絕存取",
    re.IGNORECASE,
)
_DOOR = re.compile(r"(?:^|[/._-])(?:login|log-in|signin|sign-in|passport|sso|auth|oauth\d?|denglu)(?:[/._?-]|$)", re.I)
_GUARD = re.compile(r"captcha|challenge|verify|antispider|anti-?bot|/waf", re.IGNORECASE)
_MOST_TITLE = 200


def answer_of(page: Page) -> Answer | None:
    """What a page of a host says of it; None when it says nothing (another kind of URL, or a fault of this machine).

    Args:
        page: as it was fetched and read.
    """
    claim = page.claim
    if page.error in {REFUSED, OUT_OF_HANDLES, BOMB} or claim.kind not in {Kind.PAGE, Kind.ROBOTS}:
        return None
    if claim.kind == Kind.ROBOTS:
        return _robots(page)
    came, why = _trouble(page)
    if came is None:
        if page.worked is None:
            return Answer(claim.url, claim.found_in, Came.KEPT, page.unreadable, seconds=page.seconds)
        return _page(page, page.worked.parsed)
    if not came:
        return None
    return Answer(claim.url, claim.found_in, Came(came), why, seconds=page.seconds)


def _robots(page: Page) -> Answer:
    """A host whose robots.txt cannot be had is asked for nothing else: it must count as an answer."""
    lost = bool(page.error) or page.status >= 500 or page.status == 429
    came, why = (Came.FAILED, page.error[:60] or f"http {page.status}") if lost else (Came.KEPT, "")
    return Answer(page.claim.url, ROBOTS, came, f"{why} (robots.txt)" if why else "", seconds=page.seconds)


def _trouble(page: Page) -> tuple[str | None, str]:
    """What kept the page from being shown; None when nothing did, empty when that says nothing."""
    status = page.status
    if page.error:
        return Came.FAILED, page.error[:60]
    if status in _REDIRECTS:
        return _moved(page)
    if status >= 400:
        came = Came.BLOCKED if status in _BLOCKED else Came.GONE if status in _GONE else Came.FAILED
        return came, f"http {status}"
    if page.truncated and BODY_CUT not in page.bounds:
        return Came.FAILED, "connection lost"
    return (None, "") if status == 200 and not page.truncated else (Came.KEPT, "")


def _moved(page: Page) -> tuple[str, str]:
    """A redirect says something only when it leads to a door, or home."""
    url = page.claim.url
    try:
        target = canonicalize(urljoin(url, page.headers.get("location", ""))) or ""
    except ValueError:
        target = ""
    to, own = urlsplit(target), urlsplit(url)
    if not target or _DOOR.search(own.path):
        return "", ""
    if _GUARD.search(to.path):
        return Came.CAPTCHA, "redirect"
    if _DOOR.search(f"{to.netloc}{to.path}"):
        return Came.LOGIN, "redirect"
    return (Came.GONE, "home page") if to.path in {"", "/"} and len(own.path) > 1 else ("", "")


def _page(page: Page, parsed: ParsedPage) -> Answer:
    """A page that was read."""
    claim, title, reason = page.claim, parsed.metadata.title[:_MOST_TITLE], parsed.reason
    if parsed.kind == PageKind.ARTICLE:
        text = parsed.extraction.text
        return Answer(
            claim.url,
            claim.found_in,
            Came.ARTICLE,
            chars=len(text),
            confidence=parsed.extraction.confidence,
            title=crc32(title.encode("utf-8", "replace")) or 1 if title else 0,
            dated=bool(parsed.metadata.published_at),
            doubtful=bool(parsed.doubt) or text.count("\ufffd") * 500 > len(text),
            seconds=page.seconds,
        )
    came = Came.PAGE
    if reason == "login wall":
        came = Came.LOGIN
    elif _HUMAN.search(title):
        came = Came.CAPTCHA
    elif reason == "soft 404":
        came = Came.GONE
    elif reason in _NO_TEXT and len(parsed.links) < _FEW_LINKS:
        came = Came.EMPTY
    return Answer(claim.url, claim.found_in, came, reason, seconds=page.seconds)


_FEW_LINKS = 10
