"""URLs for the frontier: what a page names, with first scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time
from types import MappingProxyType

import numpy as np

from db.records.keys import fingerprint
from db.records.reasons import SkipReason
from db.records.url import Kind, NewUrl
from pipelines.dates import parse
from pipelines.links.scope import host_identity
from pipelines.records import BlockKind
from pipelines.stages import Page
from pipelines.urls import host_key, same_host

from ..rank.finds import DAY, Finds, Values, segments
from ..rank.priority import FOCUS_SIGNALS, GRAPH_SIGNALS, Priority
from .context import Context

_MOST_FEED_DEPTH = 1
_MOST_SITEMAP_HOPS = 4
_MOST_SITEMAPS = 1000
"""Sitemaps of one index."""
_MOST_NESTED_HOPS, _MOST_NESTED_SITEMAPS = 2, 3
"""The same for an index in an index, which the protocol forbids: without a bound they go on for ever."""
_NOTHING: Mapping[str, float] = MappingProxyType({})
GOES_FIRST = 1e6
"""Score of URLs that no weights may hold back, and more."""
_CENTURIES = ("19", "20")


def url_id(url: str, kind: str) -> int:
    """The identifier of a URL fetched for a purpose: a page that is named as a feed, too, is two rows."""
    return fingerprint(url if kind == Kind.PAGE else f"{kind} {url}")


def new_url(
    url: str,
    kind: str,
    *,
    priority: Priority,
    depth: int,
    found_in: int,
    now: float,
    seed_id: int | None,
    reason: SkipReason | None = None,
    hops: int = 0,
    dated: float | None = None,
    again: bool = False,
    legacy: Mapping[str, float] = _NOTHING,
) -> NewUrl:
    """A single URL for the frontier (links of a page come in columns, see `links`).

    What leads to pages - seeds, feeds, sitemaps - is taken for as good as any page: nobody can know yet what it brings.

    The score is made by `priority` at the time `now`, and of `legacy` for signals that its address and place do not
    give; the others are columns of the table, see `db.records.url.NewUrl`.
    """
    host = host_key(url)
    host_id, site_id, site = host_identity(host)
    if found_in == BlockKind.SEED or kind in {Kind.FEED, Kind.SITEMAP}:
        legacy = dict.fromkeys((*GRAPH_SIGNALS, *FOCUS_SIGNALS), 1.0)
    stated = dated or (now if kind in {Kind.FEED, Kind.SITEMAP} else 0.0)
    values = priority.first(_finds([url], [found_in], [stated], depth, now), legacy)
    score, parts = float(priority.score(values)[0]), priority.texts(values)[0]
    if kind == Kind.ROBOTS:
        score = 1000 * GOES_FIRST  # before everything else on its host
    elif found_in in {BlockKind.PART, BlockKind.PROBE}:
        score = GOES_FIRST  # an article waits for it, or it keeps much from being fetched in vain
    return NewUrl(
        id=url_id(url, kind),
        url=url,
        kind=kind,
        host_id=host_id,
        host=host,
        site_id=site_id,
        site=site,
        depth=depth,
        score=score,
        score_parts=parts,
        found_in=found_in,
        seed_id=seed_id,
        dated=dated,
        reason=reason,
        hops=hops,
        again=again,
        soon=found_in == BlockKind.PART,
    )


def links(page: Page, context: Context) -> list[NewUrl]:
    """Those of the page's links that the frontier may not know yet."""
    assert page.worked is not None
    named, targets, lease = page.worked.parsed.links, page.worked.targets, page.lease
    depth = lease.depth + 1
    too_deep = context.depth is not None and depth > context.depth
    feeds = set(page.worked.parsed.feeds)  # rows of their own, see `sources`
    known = context.known.depths(targets.ids)
    chosen: list[int] = []
    reasons: list[SkipReason | None] = []
    for i, at in enumerate(known):
        if at is not None and at <= depth:
            continue
        url = named.urls[i]
        reason = targets.reasons[i] or (SkipReason.TOO_DEEP if too_deep else None)
        if url in feeds or (at is not None and reason):
            continue
        if at is None and url_id(url, Kind.FEED) in context.known:
            continue
        chosen.append(i)
        reasons.append(reason)
    if not chosen:
        return []
    urls = [named.urls[i] for i in chosen]
    blocks = [named.blocks[i] for i in chosen]
    dated = [
        (named.dates[i] if named.dates else 0.0) or _day_of(url, page.fetched_at)
        for i, url in zip(chosen, urls, strict=True)
    ]
    finds = _finds(urls, blocks, dated, depth, page.fetched_at)
    count = len(known)
    legacy: dict[str, float | Values] = {**context.priority.inherited(lease.parts, count, count - known.count(None))}
    likeness = page.worked.likeness
    if likeness is not None:
        legacy |= context.priority.alike(likeness.page, [likeness.anchors[i] for i in chosen], lease.parts)
    values = context.priority.first(finds, legacy)
    scores, parts = context.priority.score(values).tolist(), context.priority.texts(values)
    rows = []
    for place, i in enumerate(chosen):
        number = targets.host_of[i]
        rows.append(
            NewUrl(
                id=targets.ids[i],
                url=urls[place],
                kind=Kind.PAGE,
                host_id=targets.host_ids[number],
                host=targets.hosts[number],
                site_id=targets.site_ids[number],
                site=targets.sites[number],
                depth=depth,
                score=scores[place],
                score_parts=parts[place],
                found_in=blocks[place],
                seed_id=lease.seed_id,
                anchor=named.anchors[i],
                dated=dated[place] or None,
                reason=reasons[place],
                detail=targets.traps[i] if targets.traps else "",
                form=targets.forms[i] if targets.forms else None,
            )
        )
    return rows


def _finds(urls: Sequence[str], blocks: Sequence[int], dated: Sequence[float], depth: int, now: float) -> Finds:
    """What is known of URLs, as the signals want it."""
    return Finds(
        depths=np.full(len(urls), depth, np.int32),
        blocks=np.array(blocks, np.uint8),
        dated=np.array(dated, np.float64),
        segments=np.array([segments(url) for url in urls], np.uint8),
        today=now // DAY,
    )


def _day_of(url: str, now: float) -> float:
    """Unix time of the day that an address names; 0.0 for none."""
    if not any(map(url.__contains__, _CENTURIES)):
        return 0.0
    found = parse.read_url(url, datetime.fromtimestamp(now, UTC))
    return 0.0 if found is None else datetime.combine(found.day, time(), UTC).timestamp()


def sources(page: Page, context: Context) -> Iterable[NewUrl]:
    """Feeds that a home or channel page declares, sitemaps that a sitemap index names."""
    assert page.worked is not None
    lease = page.lease
    named: list[tuple[str, str, int]] = []
    if lease.kind == Kind.PAGE and lease.depth <= _MOST_FEED_DEPTH:
        named += [(feed, Kind.FEED, 0) for feed in page.worked.parsed.feeds]
    is_nested = lease.hops > 0 and lease.found_in == BlockKind.SITEMAP
    if lease.hops < (_MOST_NESTED_HOPS if is_nested else _MOST_SITEMAP_HOPS):
        most = _MOST_NESTED_SITEMAPS if is_nested else _MOST_SITEMAPS
        named += [(sitemap, Kind.SITEMAP, lease.hops + 1) for sitemap in page.worked.sitemaps[:most]]
    for url, kind, hops in named:
        if url_id(url, kind) in context.known:
            continue
        yield new_url(
            url,
            kind,
            priority=context.priority,
            depth=lease.depth,
            found_in=BlockKind.FEED if kind == Kind.FEED else BlockKind.SITEMAP,
            now=page.fetched_at,
            seed_id=lease.seed_id,
            reason=None if page.scope.covers(host_key(url)) else SkipReason.OUTSIDE,
            hops=hops,
        )


def canonical(page: Page, context: Context) -> tuple[int | None, NewUrl | None]:
    """The URL the page calls its canonical one, if it is another.

    One on another host is recorded as an edge and nothing else: a page cannot give its identity away.
    """
    assert page.worked is not None
    url = page.worked.parsed.metadata.canonical
    if not url or url == page.lease.url or page.lease.kind != Kind.PAGE:
        return None, None
    own_host = same_host(host_key(url), host_key(page.lease.url))
    return fingerprint(url), new_url(
        url,
        Kind.PAGE,
        priority=context.priority,
        depth=page.lease.depth,
        found_in=BlockKind.CANONICAL,
        now=page.fetched_at,
        seed_id=page.lease.seed_id,
        reason=None if own_host else SkipReason.OUTSIDE,
        legacy=page.lease.parts,
    )
