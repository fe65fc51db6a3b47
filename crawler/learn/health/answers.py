"""Reduce one answer to a few numbers on the health of its host. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from db.records.reasons import FailReason, PageReason, label
from db.records.url import REDIRECTS, Kind
from pipelines.item import Page
from pipelines.records import BlockKind, ParseResult
from pipelines.text.harmful.records import HarmKind
from pipelines.url_rules.forms import patterns

from ...fetch.errors import BODY_CUT


class AnswerKind(StrEnum):
    ARTICLE = "article"
    PAGE = "page that is no article"
    EMPTY = "page without text or list"
    LOGIN = "login"
    """It asks to log in, or leads to where one does."""
    BLOCKED = "blocks"
    """401, 403, 429, 451 or 503, or it asks whether we are human."""
    FAILED = "unreachable"
    """No answer, or another error of the server."""
    GONE = "gone"
    """404, 410, a page that says so, or a redirect to the home page."""
    KEPT = "well, but shows no page: unchanged, a file"


class HostAnswer(NamedTuple):
    """One answer, found in a `BlockKind` or `ROBOTS`; `title` is a number, 0 for none.

    `missed` tells of an article whether a selector that every article should fit found nothing; None without selectors.
    """

    url: str
    found_in: int
    kind: AnswerKind
    why: str = ""
    chars: int = 0
    title: int = 0
    dated: bool = False
    doubtful: bool = False
    hijacked: bool = False
    seconds: float = 0.0
    missed: bool | None = None


ACCESS = (AnswerKind.BLOCKED, AnswerKind.LOGIN, AnswerKind.FAILED, AnswerKind.GONE)
"""Kinds of answers that show no page; their values are names of signals."""
ROBOTS = -1
"""`HostAnswer.found_in` of a robots.txt."""
_STATUSES = dict.fromkeys((401, 403, 429, 451, 503), AnswerKind.BLOCKED) | dict.fromkeys((404, 410), AnswerKind.GONE)
_OURS = {FailReason.ADDRESS_REFUSED, FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY, FailReason.BOMB}
"""Failures that are not the host's."""
_NO_TEXT = {PageReason.NO_TEXT, PageReason.TEXT_TOO_SHORT, PageReason.NO_PROSE}
_REASONS: dict[PageReason | None, AnswerKind] = {
    PageReason.LOGIN_WALL: AnswerKind.LOGIN,
    PageReason.FORM: AnswerKind.LOGIN,
    PageReason.SOFT_404: AnswerKind.GONE,
    PageReason.NOTICE: AnswerKind.GONE,
}
_OF_HIJACKERS = {HarmKind.HIJACKED, HarmKind.GAMBLING, HarmKind.PORN, HarmKind.FRAUD}
"""Kinds of harm that hijackers bring to honest sites; adverts and abuse those have of their own."""
_EVERYWHERE = {"body", "title"}
"""Selectors that find something on every article until its template changes."""
_HUMAN = re.compile(
    "captcha|are you (?:human|a robot)|you are human|just a moment|attention required|access (?:denied|blocked)|"
    "security check|robot check|too many requests|forbidden|验证码|安全验证|人机验证|访问验证|访问过于频繁|拒绝访问|"
    "安全检查|驗證碼|拒絕存取",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"(?:^|[/._-])(?:login|log-in|signin|sign-in|passport|sso|auth|oauth\d?|denglu)(?:[/._?-]|$)", re.I)
_CHALLENGE = re.compile(r"captcha|challenge|verify|antispider|anti-?bot|/waf", re.IGNORECASE)
_MENUS = {BlockKind.NAVIGATION, BlockKind.FOOTER, BlockKind.OTHER, BlockKind.PAGINATION, BlockKind.SEED}
_YEAR = re.compile(r"/((?:19|20)\d\d)(?:[-_]?[01]\d(?:[-_]?[0-3]\d)?)?/")


def shape(url: str, found_in: int) -> str:
    """Return what URLs have in common that probably lead to pages of one kind.

    That is the folder pattern, the parameters, the year of an archive, and whether a list named them: a crawl meets
    lists, articles and archives in no fair order, so only like is compared with like.

    >>> shape("http://a.example/news/2024/03/12/123456.html", BlockKind.LIST)
    'list 2024 /news/*/*/*/*.html'
    """
    if found_in == ROBOTS:
        return "robots"
    forms, year = patterns(url), _YEAR.search(url)
    place = "menu" if found_in in _MENUS else "list"
    return f"{place} {year[1] if year else ''} {forms.folder}{forms.exact.partition('?')[2]}"[:80]


def answer_of(page: Page) -> HostAnswer | None:
    """Reduce a page to its answer; None for other kinds of URLs and own faults."""
    lease = page.lease
    if page.error in _OURS or lease.kind not in {Kind.PAGE, Kind.ROBOTS}:
        return None
    is_robots = lease.kind == Kind.ROBOTS  # without it a host is asked for nothing else: it must count as an answer
    plain = HostAnswer(lease.url, ROBOTS if is_robots else lease.found_in, AnswerKind.KEPT, seconds=page.seconds)
    if is_robots and not page.error and page.status < 500 and page.status != 429:
        return plain
    if is_robots or page.error or (page.status < 300 and page.truncated and BODY_CUT not in page.bounds):
        lost = page.error or (None if is_robots else FailReason.LOST)
        why = label(lost, page.detail) or f"http {page.status}"
        return plain._replace(kind=AnswerKind.FAILED, why=f"{why[:60]}{' (robots.txt)' if is_robots else ''}")
    if page.status in REDIRECTS:
        return _redirect(page, plain)
    if page.status >= 400:
        return plain._replace(kind=_STATUSES.get(page.status, AnswerKind.FAILED), why=f"http {page.status}")
    parsed = page.parsed if page.status == 200 and not page.truncated else None
    return plain if parsed is None else _read(parsed, plain)


def _redirect(page: Page, answer: HostAnswer) -> HostAnswer | None:
    path = urlsplit(answer.url).path
    if page.redirect is None or _LOGIN.search(path):
        return None
    target = urlsplit(page.redirect.url)
    if _CHALLENGE.search(target.path):
        return answer._replace(kind=AnswerKind.BLOCKED, why="redirect")
    if _LOGIN.search(f"{target.netloc}{target.path}"):
        return answer._replace(kind=AnswerKind.LOGIN, why="redirect")
    goes_home = target.path in {"", "/"} and len(path) > 1
    return answer._replace(kind=AnswerKind.GONE, why="home page") if goes_home else None


def _read(parsed: ParseResult, answer: HostAnswer) -> HostAnswer:
    title, reason, text = parsed.metadata.title[:200], parsed.reason, parsed.extraction.text
    if parsed.is_leaf:
        return answer._replace(
            kind=AnswerKind.ARTICLE,
            chars=len(text),
            title=crc32(title.encode("utf-8", "replace")) or 1 if title else 0,
            dated=bool(parsed.metadata.published_at),
            doubtful=bool(parsed.doubt) or text.count("\ufffd") * 500 > len(text),
            hijacked=parsed.description.harm_kind in _OF_HIJACKERS,
            missed=_missed(parsed),
        )
    kind = _REASONS.get(reason, AnswerKind.PAGE)
    if kind != AnswerKind.LOGIN and _HUMAN.search(title):
        kind = AnswerKind.BLOCKED
    elif reason in _NO_TEXT and len(parsed.links) < 10:
        kind = AnswerKind.EMPTY
    return answer._replace(kind=kind, why=label(reason))


def _missed(parsed: ParseResult) -> bool | None:
    """Tell whether body or title was missed, or everything.

    Not all articles name author and time.
    """
    if not parsed.selected and not parsed.missed:
        return None
    return not parsed.selected or not _EVERYWHERE.isdisjoint(parsed.missed)
