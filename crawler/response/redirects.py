"""Identify the URL that an answer leads to, once, when the answer comes. Pure."""

from __future__ import annotations

from dataclasses import replace

from db.records.reasons import SkipReason
from db.records.url import REDIRECTS, Kind, Lease
from pipelines.item import Page
from pipelines.links.scope import host_identity, identify_redirect
from pipelines.records import BlockKind, Target
from pipelines.urls import canonicalize, host_key, with_session

_SLASH = "%2F"


def with_redirect(page: Page) -> Page:
    lease = page.lease
    if page.error is None and page.status not in REDIRECTS and page.status != 404 and not lease.hops:
        return page  # most pages
    url = _url_instead(page)
    target = None if url is None else identify_redirect(url, lease.kind, page.scope)
    site_id = host_identity(host_key(lease.url))[1]
    return replace(
        page,
        redirect=None if target is None else of_seed(target, lease, site_id),
        is_away=_is_away(page, site_id),
    )


def _url_instead(page: Page) -> str | None:
    lease = page.lease
    if page.lacks_https:
        return f"http{lease.url.removeprefix('https')}"
    if page.error is not None:
        return None
    if page.status in REDIRECTS and (location := page.headers.get("location")):
        url = canonicalize(location, lease.url)
        if url == lease.url and not page.new_cookie:
            return with_session(location, lease.url) or url
        return url
    # servers decode all other escapes before they look for a page; that of a slash some compare as it is written
    if page.status == 404 and lease.kind == Kind.PAGE and _SLASH in lease.url and not lease.is_revisit:
        return lease.url.replace(_SLASH, _SLASH.lower())
    return None


def of_seed(target: Target, lease: Lease, site_id: int) -> Target:
    """Return a redirect's target as judged for a seed: no rule excludes it."""
    if lease.found_in != BlockKind.SEED:
        return target
    is_moved = target.reason is SkipReason.OUTSIDE and lease.seed_id is not None and target.site_id == site_id
    if is_moved or target.reason is SkipReason.EXCLUDED:
        return target._replace(reason=None, detail="")
    return target


def _is_away(page: Page, site_id: int) -> bool:
    lease = page.lease
    if not lease.hops or page.scope.covers(host_key(lease.url)):
        return False
    # a seed may move to another host of its site, which is its own soon after
    return lease.found_in != BlockKind.SEED or site_id not in {host_identity(host)[1] for host in page.scope.hosts}
