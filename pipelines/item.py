"""A page of the crawl on its way from the answer to its row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from db.records.outcome import ArchivePlace
from db.records.reasons import FailReason, SkipReason
from db.records.url import Lease

from .links.scope import Scope
from .records import ParseResult, Target


class CutBy(StrEnum):
    """Reason why an answer is incomplete, as WARC files name it."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True)
class WireExchange:
    """A request and its answer as they went over the wire, nothing decoded."""

    request: bytes
    answer: bytes
    cut: CutBy | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Answer for one lease; each stage hands on a new one with its results.

    Attributes:
        status: HTTP status, 0 when there was no answer.
        error: why there was no (usable) answer.
        detail: beside `error` or `unreadable`.
        headers: response headers of interest, lower-case names.
        body: decoded.
        dom: the document that a browser made of it; empty when none was asked.
        truncated: the body is only the beginning: good for links, never a whole article.
        cookies: the Cookie header of the request.
        new_cookie: the answer set a cookie, so the same request may be answered otherwise now.
        bounds: names of the bounds that this answer exceeded, for the summary.
        fetched_at, ready_at: Unix time of the answer, and from which its host may be asked again.
        wait: seconds for which its host cannot be asked, because its proxy does not serve.
        address: IP address that answered, empty when unknown.
        redirect: the URL to ask instead: target of a redirect, the same by http, or spelt otherwise; None when there is
            none that can be asked.
        is_away: it was asked only to be sent back from a host out of scope.
        wire, archived: kept until it is in the archive, and its place there.
        recorded: it comes from an archive; nothing was requested.
    """

    lease: Lease
    scope: Scope
    status: int = 0
    error: FailReason | None = None
    detail: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    dom: bytes = b""
    truncated: bool = False
    cookies: str = ""
    new_cookie: bool = False
    bounds: tuple[str, ...] = ()
    fetched_at: float = 0.0
    seconds: float = 0.0
    wait: float = 0.0
    address: str = ""
    ready_at: float = 0.0
    redirect: Target | None = None
    is_away: bool = False
    parsed: ParseResult | None = None
    unreadable: FailReason | None = None
    wire: WireExchange | None = None
    archived: ArchivePlace | None = None
    recorded: bool = False

    @property
    def lacks_https(self) -> bool:
        """Tell whether a host that was named without a scheme does not speak https."""
        lease = self.lease
        if self.error is None or not self.scope.bare or not lease.url.startswith("https:"):
            return False
        return self.error.may_be_for_want_of_https and (lease.visits == 0 or lease.reason == SkipReason.NO_HTTPS)
