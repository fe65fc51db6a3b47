"""Cookies that redirects were asked with: with others they may show a page. Pure."""

from __future__ import annotations

from collections.abc import Callable

from cachetools import LRUCache

from db.records.keys import fingerprint
from db.records.outcome import Outcome
from db.records.url import REDIRECTS
from pipelines.item import Page
from pipelines.records import Target

# Chosen by hand.
_MOST_URLS = 20_000
_MOST_STATES = 16
"""Times a URL is asked with other cookies, at most."""
_MOST_HOSTS = 20_000
_MOST_AWAY = 5
"""Redirects with a cookie to hosts out of scope that a host may answer before one of them comes back."""


def _no_cookies(_url: str) -> str:
    return ""


class CookieStates:
    """States (URL, cookies) in which redirects were met.

    Some sites show a page only to those who have been sent around it and bring back the cookies set on the way. A URL
    that redirects is worth asking again while its cookies differ from all those that it was asked with.
    """

    def __init__(self, cookies: Callable[[str], str] = _no_cookies) -> None:
        self._cookies = cookies
        self._sent: LRUCache[int, frozenset[int]] = LRUCache(_MOST_URLS)
        self._away: LRUCache[int, int] = LRUCache(_MOST_HOSTS)

    def note(self, page: Page) -> None:
        leads_on = page.status in REDIRECTS or (page.parsed is not None and page.parsed.refresh is not None)
        sent = self._sent.get(page.lease.id, frozenset())
        if leads_on and len(sent) < _MOST_STATES:
            self._sent[page.lease.id] = sent | {fingerprint(page.cookies)}

    def is_new(self, target: Target) -> bool | None:
        """Tell whether a URL was not yet asked with the cookies it would get now.

        None when it is not known to redirect and no cookie goes to it.
        """
        sent, cookies = self._sent.get(target.id), self._cookies(target.url)
        if sent is None:
            return True if cookies else None
        return len(sent) < _MOST_STATES and fingerprint(cookies) not in sent

    def may_leave(self, page: Page) -> bool:
        return page.is_away or (page.new_cookie and self._away.get(page.lease.host_id, 0) < _MOST_AWAY)

    def count_away(self, page: Page, outcome: Outcome) -> None:
        if outcome.reason is not None and outcome.reason.is_redirect and page.lease.seed_id is not None:
            for new in outcome.new_urls:
                if page.scope.covers(new.host):
                    if page.is_away:
                        self._away.pop(new.host_id, None)
                elif not new.reason and not page.is_away:
                    self._away[page.lease.host_id] = self._away.get(page.lease.host_id, 0) + 1
