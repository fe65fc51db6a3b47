"""Records of rendering: wishes, requests of pages, their answers, rendered pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

Headers = tuple[tuple[str, str], ...]


class RenderWish(StrEnum):
    """Purpose of rendering a page.

    Attributes:
        TEXT: for an article: it is shown as tall as it is, "read more" and 展开全文 are pressed.
        LINKS: for a list: it is scrolled, "load more" and 加载更多 are pressed.
        RELATED: for the links around an article whose text is known from the data of its page: shown like `TEXT`.
    """

    TEXT = "text"
    LINKS = "links"
    RELATED = "related"


class RenderProblem(StrEnum):
    """Reason that a page was not (wholly) rendered; the first two concern all pages."""

    NO_BROWSER = "no browser"
    NO_ISOLATION = "the browser cannot be shut off from the network here"
    CRASHED = "the browser crashed"
    TOO_MUCH_MEMORY = "the page took too much memory"
    TIMED_OUT = "the page did not come to rest in time"
    TOO_MANY_REQUESTS = "the page made too many requests"
    NOT_A_PAGE = "the browser does not show it as a page"
    TOO_LARGE = "the rendered page is too large"


class RenderError(Exception):
    def __init__(self, problem: RenderProblem, detail: str = "") -> None:
        super().__init__(f"{problem}: {detail}" if detail else str(problem))
        self.problem = problem
        self.detail = detail


@dataclass(frozen=True, slots=True)
class PageDocument:
    """A page as fetched, before its scripts; of its headers `Content-Type` counts."""

    url: str
    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    """A request that a page makes: http or https, no fragment, no cookies."""

    url: str
    method: str = "GET"
    headers: Headers = ()
    body: bytes = b""
    kind: str = "fetch"


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """An answer to a request of a page.

    The status may be of a redirect, which the page follows with a new request. Headers of framing and compression are
    dropped. `refused` is the reason not to answer: the page sees a failed request.
    """

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    refused: str = ""


Fetch = Callable[[BrowserRequest], Awaitable[BrowserAnswer]]
"""Answers a request of a page. It is cancelled when the page has ended."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as its scripts made it: the DOM in UTF-8, b"" if there is none.

    With a problem it is what had come until then; without one the page came to rest within all bounds.
    """

    html: bytes = b""
    requests: int = 0
    problem: RenderProblem | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Options of rendering.

    Attributes:
        browser: file of the browser; "" for the first that is found.
        places: pages shown at a time.
        seconds: for a page, its requests included.
        memory_bytes: of a process of a page; beyond, it is killed.
        isolation: without it the browser has the network of the crawl.
        pages_a_browser: until it is replaced, for what leaks in it.
        user_agent: that scripts see; "" for the browser's own.
    """

    browser: str = ""
    places: int = 2
    seconds: float = 20.0
    requests: int = 60
    memory_bytes: int = 400 << 20
    isolation: bool = True
    pages_a_browser: int = 300
    user_agent: str = ""
