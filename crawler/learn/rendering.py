"""Decide which pages are rendered, and learn for which hosts that is worth it.

Candidates are pages whose text is made by script, whose scripts load more of what they show, or that lead nowhere but
by their menus. Where rendered pages say no more than before, the host is left alone for a week.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from cachetools import LRUCache

from db.records.article import TextFrom
from db.records.reasons import FailReason, PageReason, label, reason_of
from db.records.url import Kind, Lease
from db.sites import render_gains
from db.sites.render_gains import RenderRecord, RenderTry
from pipelines.item import Page
from pipelines.page_kind.features import describe_url
from pipelines.records import BlockKind, PageKind, ParseResult
from pipelines.worker import PageUnreadable

from .. import clock
from ..fetch.proxies import ProxyProblem
from ..render.records import BrowserAnswer, PageDocument, RenderProblem, RenderWish
from ..render.renderer import Renderer
from ..run.session import Session

logger = logging.getLogger(__name__)

# Chosen by hand.
_MOST_HOSTS: Final = 4_000
_MOST_NAMED: Final = 5_000
"""URLs of a host that are remembered as named by its rendered articles."""
_WEEK: Final = 7 * 86_400.0
_MISSES: Final = 3
"""Pages in a row that may say no more than before; each that did earns two more."""
_MOST_MISSES: Final = 20
_LONGER: Final = 1.5
"""An article gains when its text grows this many times: beside it stands what every page says."""
_LOOK_SECONDS: Final = 0.25
_FOR_GOOD: Final = frozenset({RenderProblem.NO_BROWSER, RenderProblem.NO_ISOLATION})
_SAID: Final = {
    RenderProblem.NO_BROWSER: "no Chromium was found; install chromium-headless-shell or name one by RENDER_BROWSER",
    RenderProblem.NO_ISOLATION: (
        "this system refuses the namespaces that keep the browser from the network; RENDER_ISOLATION=False renders "
        "without them"
    ),
}


class Rendering:
    """Renders the pages of a crawl that need it.

    `dead_ends` are URLs of seeds, home pages and lists that lead nowhere, but are not to be rendered.
    """

    def __init__(
        self,
        session: Session,
        renderer: Renderer,
        fetch: Callable[..., Awaitable[BrowserAnswer]],
        *,
        asked_for: Callable[[Lease], str],
        proxy_of: Callable[[Lease], str],
        goes_on: Callable[[], bool],
    ) -> None:
        self._session = session
        self._renderer = renderer
        self._fetch = fetch
        self._asked_for = asked_for
        self._proxy_of = proxy_of
        self._goes_on = goes_on
        self._is_default = session.config.render == "auto"
        self.dead_ends: LRUCache[str, None] = LRUCache(_MOST_NAMED)
        self._problem: RenderProblem | None = None
        self._known: LRUCache[int, dict[str, RenderRecord]] = LRUCache(_MOST_HOSTS)
        self._named: LRUCache[int, LRUCache[int, None]] = LRUCache(_MOST_HOSTS)

    def needs_browser(self, page: Page) -> bool:
        parsed, lease = page.parsed, page.lease
        if parsed is None or page.truncated or lease.kind != Kind.PAGE or self._problem is not None:
            return False
        if lease.found_in == BlockKind.PROBE or page.recorded or page.dom:
            return False
        is_data = parsed.text_from is TextFrom.DATA
        leads_nowhere = parsed.lacks_links and wish_of(page) is RenderWish.LINKS
        if not (parsed.loads_more or is_data or leads_nowhere or parsed.reason is PageReason.NEEDS_BROWSER):
            return False
        setting = self._asked_for(lease)
        is_wanted = setting == "auto" if setting else self._is_default
        if leads_nowhere and not is_wanted:
            self.dead_ends[lease.url] = None
        return is_wanted

    async def render(self, page: Page) -> Page | None:
        """Return a page with the document that a browser made of it; None if it could not.

        Raises:
            PageUnreadable: the crawl ends before, or no proxy serves; the page is asked for again.
        """
        wish = wish_of(page)
        if not is_worthwhile(await self._record(page.lease.host_id, wish), page, clock.now()):
            return None
        document = PageDocument(page.lease.url, page.status, tuple(page.headers.items()), page.body)
        fetch = partial(self._fetch, proxy=self._proxy_of(page.lease))
        rendering = asyncio.ensure_future(self._renderer.render(document, wish, fetch))
        try:
            while not rendering.done():
                await asyncio.wait([rendering], timeout=_LOOK_SECONDS)
                if not self._goes_on() and not rendering.done():
                    raise PageUnreadable(FailReason.STOPPED)
        finally:
            rendering.cancel()
        try:
            rendered = rendering.result()
        except ProxyProblem:
            raise PageUnreadable(FailReason.NO_PROXY) from None
        stats = self._session.stats
        stats["rendered"] += 1
        stats["rendered/requests"] += rendered.requests
        if rendered.problem is not None:
            stats[f"rendered/{rendered.problem}"] += 1
        if rendered.problem in _FOR_GOOD and self._problem is None:
            self._problem = rendered.problem
            problem = label(_SAID[rendered.problem], rendered.detail)
            logger.warning("pages whose text is made by script are not rendered: %s", problem)
        if rendered.html:
            return replace(page, dom=rendered.html)
        if rendered.problem not in _FOR_GOOD:
            await self._note(page.lease.host_id, wish, gained=False)
        return None

    async def better(self, plain: Page, rendered: Page) -> Page:
        assert plain.parsed is not None
        assert rendered.parsed is not None
        before, after = plain.parsed, replace(rendered.parsed, encoding=plain.parsed.encoding)
        gained, wish = has_gained(before, after), wish_of(plain)
        if wish is RenderWish.RELATED:
            gained = gained and self._names_more(plain.lease.host_id, after)
        await self._note(plain.lease.host_id, wish, gained=gained)
        self._session.stats["rendered/gained"] += gained
        if gained or before.reason is PageReason.NEEDS_BROWSER:
            return replace(rendered, parsed=after)
        return plain

    async def close(self) -> None:
        await self._renderer.close()

    # ------------------------------------------------------------ what it has brought so far

    def _names_more(self, host_id: int, parsed: ParseResult) -> bool:
        named = self._named.setdefault(host_id, LRUCache(_MOST_NAMED))
        new = [key for key in _followed(parsed) if key not in named]
        named.update(dict.fromkeys(new))
        return bool(new)

    async def _record(self, host_id: int, wish: RenderWish) -> RenderRecord:
        records = self._known.get(host_id)
        if records is None:
            records = self._known[host_id] = await self._session.submit(render_gains.load, host_id)
        return records.get(wish, RenderRecord())

    async def _note(self, host_id: int, wish: RenderWish, *, gained: bool) -> None:
        record, now = await self._record(host_id, wish), clock.now()
        self._known.setdefault(host_id, {})[wish] = record.after(gained=gained, at=now)
        await self._session.gather(render_gains.save, RenderTry(host_id, wish, gained, now))


def wish_of(page: Page) -> RenderWish:
    lease, parsed = page.lease, page.parsed
    assert parsed is not None
    if parsed.text_from is TextFrom.DATA:
        return RenderWish.RELATED
    before = reason_of(lease.reason)
    if parsed.kind is PageKind.LIST or lease.found_in == BlockKind.SEED or (before is not None and before.is_list):
        return RenderWish.LINKS
    is_root = urlsplit(lease.url).path in {"", "/"}
    return RenderWish.LINKS if is_root or describe_url(lease.url)["list"] > 0 else RenderWish.TEXT


def is_worthwhile(record: RenderRecord, page: Page, now: float) -> bool:
    """Tell whether another try is worth it, by those before.

    A page that says something without a browser is tried once, then where that brought more; a seed, as often as a page
    that says nothing.
    """
    assert page.parsed is not None
    if now - record.tried_at >= _WEEK:
        return True
    is_needed = page.parsed.reason is PageReason.NEEDS_BROWSER or page.lease.found_in == BlockKind.SEED
    if not is_needed and not record.gains:
        return not record.misses
    return record.misses < min(_MOST_MISSES, _MISSES + 2 * record.gains)


def has_gained(before: ParseResult, after: ParseResult) -> bool:
    if before.kind is PageKind.LIST and after.kind is not PageKind.LIST:
        return False
    if before.text_from is TextFrom.DATA:
        is_whole = _LONGER * len(after.extraction.text) > len(before.extraction.text)
        return after.is_leaf and is_whole and not _followed(after) <= _followed(before)
    if before.is_leaf:
        return after.is_leaf and len(after.extraction.text) > _LONGER * len(before.extraction.text)
    return after.is_leaf or len(_followed(after)) > len(_followed(before))


def _followed(parsed: ParseResult) -> set[int]:
    return {key for key, reason in zip(parsed.links.ids, parsed.links.reasons, strict=True) if reason is None}
