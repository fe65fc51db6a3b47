"""Reasons of URLs (skipped, failed, no article), and results of articles.

`url.reason` holds one of the first three, `url.reason_detail` the detail. All their texts differ, so that a text names
one member; what follows from a reason is one of its properties and stands nowhere else.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    @property
    def is_redirect(self) -> bool:
        return self in _REDIRECTS

    @property
    def is_list(self) -> bool:
        return self in _LISTS

    @property
    def is_kind(self) -> bool:
        """Tell whether the page was not stored because of its kind alone."""
        return self in _KINDS

    @property
    def is_part(self) -> bool:
        return self in _PARTS

    @property
    def is_doubt(self) -> bool:
        """Tell whether an article is stored in spite of it."""
        return self in _DOUBTS

    @property
    def is_settled(self) -> bool:
        """Tell whether the page was read and need not be tried under another URL."""
        return self in _SETTLED

    @property
    def is_final(self) -> bool:
        """Tell whether asking again soon would bring the same."""
        return self in _FINAL

    @property
    def may_be_overruled(self) -> bool:
        """Tell whether another link to the same URL makes it worth fetching."""
        return self in _OVERRULED

    @property
    def may_be_reconsidered(self) -> bool:
        """Tell whether it may have passed when the next run starts."""
        return self in _RECONSIDERED

    @property
    def is_ours(self) -> bool:
        """Tell whether the answer was good, and this program failed to read or store it."""
        return self in _OURS

    @property
    def is_cut(self) -> bool:
        return self in _CUT

    @property
    def may_be_for_want_of_https(self) -> bool:
        return self in _NO_HTTPS

    @property
    def is_dead_host(self) -> bool:
        return self in _DEAD_HOST


class SkipReason(Reason):
    """Reasons why a URL is not fetched, or not kept for itself."""

    OUTSIDE = "outside"
    FILE = "file"
    NOFOLLOW = "nofollow"
    TOO_DEEP = "too deep"
    TRAP = "trap"
    URL_RULE = "url rule"
    """A rule of its host says that another one (`same_as`) is the same page."""
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots unreachable"
    ROBOTS_TOO_MANY = "no room for its robots.txt"
    """The memory for long rules is full of those of other hosts."""
    CRAWL_DELAY = "crawl-delay too long"
    HOST_UNREACHABLE = "host unreachable"
    HOST_BUSY = "host busy"
    EXCLUDED = "excluded"
    """Detail: the rule of its seed."""
    TOO_OLD = "too old"
    """Of a URL, or of an article that is not stored. Detail: its day, as far as it is known."""
    TOO_NEW = "too new"
    NOT_IN_SEEDS = "not in seeds"
    """Its seed is no longer among those given; it waits again when that comes back."""
    NO_HTTPS = "no https"
    """Its host was named without a scheme and has http only (`same_as`). Detail: the error."""
    REDIRECT = "redirect"
    NO_SITEMAP = "no sitemap"
    """Detail, as of the next: the answer."""
    NO_FEED = "no feed"


class FailReason(Reason):
    """Reasons why a fetch brought nothing usable.

    Details: the status of `HTTP`, the content type of `NOT_A_PAGE`, the exit code of `WORKER_DIED` if it is known, the
    name of the exception of `INTERNAL`; for `CERTIFICATE`, `TLS`, `PROTOCOL` and `NO_PROXY` what is wrong, for
    `REFUSED_BY_PROXY` what the proxy said.
    """

    TIMED_OUT = "timed out"
    STALLED = "stalled"
    NO_HOST = "no such host"
    NO_DNS = "DNS does not answer"
    LOST = "connection lost"
    CONNECTION_REFUSED = "connection refused"
    NETWORK_UNREACHABLE = "network unreachable"
    NO_ROUTE = "no route to host"
    ADDRESS_REFUSED = "IP address not allowed"
    CERTIFICATE = "certificate not valid"
    TLS = "TLS failed"
    PROTOCOL = "protocol error"
    INVALID_URL = "invalid URL"
    URL_TOO_LONG = "URL too long"
    BOMB = "compression bomb"
    TRUNCATED = "truncated"
    OUT_OF_HANDLES = "out of file handles"
    NO_PROXY = "no proxy serves"
    """Nothing was asked of the host."""
    REFUSED_BY_PROXY = "refused by the proxy"
    HTTP = "http error"
    REDIRECTS_NOWHERE = "redirects nowhere"
    REDIRECTS_TO_ITSELF = "redirects to itself"
    COOKIE_REDIRECT = "redirects to itself with a cookie"
    TOO_MANY_REDIRECTS = "too many redirects"
    NOT_A_PAGE = "not a page"
    TOO_SLOW = "took too long to read"
    TOO_MUCH_MEMORY = "took too much memory to read"
    WORKER_DIED = "worker died"
    STOPPED = "the crawl was stopped"
    NOT_READ = "not read"
    INTERNAL = "internal error"


class PageReason(Reason):
    """Reasons of pages that are no article of their own, or one in doubt."""

    ARTICLE = "article"
    """This and the next seven: pages of a kind that is not stored."""
    LIST = "list page"
    """Also a list that is stored, because it leads to others all the same."""
    THREAD = "forum thread"
    FORM = "form"
    PRODUCT = "product page"
    COMPANY = "company page"
    NOTICE = "error or notice"
    MEDIA = "media alone"
    FEED = "feed or sitemap"
    NO_TEXT = "no text"
    NO_PROSE = "no prose"
    TOO_LITTLE_PROSE = "too little prose"
    TEXT_TOO_SHORT = "text too short"
    TOO_LARGE = "too large"
    FILE = "a file, not a page"
    SOFT_404 = "soft 404"
    LOGIN_WALL = "login wall"
    NEEDS_BROWSER = "needs a browser"
    """Its text is made by script."""
    NOINDEX = "noindex"
    """Detail: the setting that keeps it."""
    OFF_TOPIC = "off topic"
    HARMFUL = "harmful"
    """Detail: gambling, porn ..., and the words that show it."""
    DOUBTFUL_ENCODING = "doubtful encoding"
    """The text looks read in a wrong character set; it is stored all the same."""
    NO_ROBOTS = "no robots.txt"
    PROBE = "soft-404 probe"
    """A soft-404 probe: asked for to see what the host answers where there is no page."""
    SAME_PAGE = "same page"
    DUPLICATE = "duplicate"
    WAITS = "waits for other parts"
    JOINED = "part of an article"
    REPEATS = "repeats a part"
    SURPLUS = "too many parts"


_REDIRECTS = frozenset(
    {
        SkipReason.REDIRECT,
        SkipReason.NO_HTTPS,
        FailReason.REDIRECTS_NOWHERE,
        FailReason.REDIRECTS_TO_ITSELF,
        FailReason.COOKIE_REDIRECT,
        FailReason.TOO_MANY_REDIRECTS,
    }
)
_LISTS = frozenset({PageReason.LIST, PageReason.FEED})
_KINDS = frozenset(
    {
        PageReason.ARTICLE,
        PageReason.LIST,
        PageReason.THREAD,
        PageReason.FORM,
        PageReason.PRODUCT,
        PageReason.COMPANY,
        PageReason.NOTICE,
        PageReason.MEDIA,
        PageReason.LOGIN_WALL,
        PageReason.SOFT_404,
        PageReason.TOO_LITTLE_PROSE,
    }
)
_PARTS = frozenset({PageReason.WAITS, PageReason.JOINED, PageReason.REPEATS, PageReason.SURPLUS})
_DOUBTS = frozenset({PageReason.DOUBTFUL_ENCODING})
_SETTLED = frozenset({PageReason.SAME_PAGE, PageReason.OFF_TOPIC, PageReason.HARMFUL})
_FINAL = frozenset({FailReason.BOMB, FailReason.CERTIFICATE, FailReason.ADDRESS_REFUSED})
_OVERRULED = frozenset(
    {SkipReason.NOFOLLOW, SkipReason.TOO_DEEP, SkipReason.OUTSIDE, SkipReason.EXCLUDED, SkipReason.NOT_IN_SEEDS}
)
_DATED = frozenset({SkipReason.TOO_OLD, SkipReason.TOO_NEW})
"""Their details are days, too many to be counted one by one."""
_DEAD_HOST = frozenset({SkipReason.ROBOTS_UNREACHABLE, SkipReason.HOST_UNREACHABLE, SkipReason.HOST_BUSY})
_OURS = frozenset(
    {
        FailReason.OUT_OF_HANDLES,
        FailReason.NO_PROXY,
        FailReason.TOO_SLOW,
        FailReason.TOO_MUCH_MEMORY,
        FailReason.WORKER_DIED,
        FailReason.STOPPED,
        FailReason.NOT_READ,
        FailReason.INTERNAL,
    }
)
_CUT = frozenset({FailReason.TRUNCATED, PageReason.TOO_LARGE})
_NO_HTTPS = frozenset(
    {
        FailReason.CONNECTION_REFUSED,
        FailReason.TIMED_OUT,
        FailReason.STALLED,
        FailReason.LOST,
        FailReason.NO_ROUTE,
        FailReason.CERTIFICATE,
        FailReason.TLS,
        FailReason.PROTOCOL,
    }
)
_RECONSIDERED = _DEAD_HOST | {SkipReason.CRAWL_DELAY, FailReason.ADDRESS_REFUSED}
REASONS: tuple[Reason, ...] = (*SkipReason, *FailReason, *PageReason)
_BY_TEXT = {str(reason): reason for reason in REASONS}


def reason_of(text: str | None) -> Reason | None:
    """Return the reason with this text, None for None; `KeyError` if there is none.

    >>> reason_of("list page")
    <PageReason.LIST: 'list page'>
    """
    return _BY_TEXT[text] if text else None


def label(reason: str | None, detail: str | None = "") -> str:
    """Return a reason and its detail as one text, for people and for names of stats.

    >>> label(SkipReason.TRAP, "calendar"), label(PageReason.LIST)
    ('trap: calendar', 'list page')
    """
    return f"{reason or ''}: {detail}" if detail else str(reason or "")


def counted(reason: str | None, detail: str | None = "") -> str:
    """Return the label that a reason is counted under, which leaves out days.

    >>> counted(SkipReason.TOO_OLD, "2024-05-01"), counted(SkipReason.TRAP, "calendar")
    ('too old', 'trap: calendar')
    """
    return label(reason, "" if reason in _DATED else detail)


class ArticleResult(StrEnum):
    NEW = "new"
    DUPLICATE = "duplicate"
    DROPPED = "dropped"
    """A duplicate of which nothing is stored but the evidence."""
    SAME_PAGE = "same page"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    PART = "part"
    """Kept as one page of an article of several."""

    @property
    def is_added(self) -> bool:
        return self in {ArticleResult.NEW, ArticleResult.DUPLICATE}

    @property
    def is_exported(self) -> bool:
        """Tell whether it is new or says something new."""
        return self.is_added or self is ArticleResult.UPDATED

    @property
    def why_not_stored(self) -> PageReason | None:
        return _WHY_NOT_STORED.get(self)


_WHY_NOT_STORED = {
    ArticleResult.SAME_PAGE: PageReason.SAME_PAGE,
    ArticleResult.DROPPED: PageReason.DUPLICATE,
}
