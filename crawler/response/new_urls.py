"""New URLs for the frontier: those that a page names, with first scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time
from types import MappingProxyType
from typing import Any

import numpy as np

from db.records.reasons import SkipReason
from db.records.url import Kind, NewUrl
from pipelines.dates import parse
from pipelines.item import Page
from pipelines.links.scope import url_id
from pipelines.records import BlockKind, ParseResult, Target

from ..rank.finds import DAY, Finds, Values, segments
from ..rank.priority import Priority
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


def new_url(
    target: Target,
    *,
    priority: Priority,
    depth: int,
    found_in: int,
    now: float,
    seed_id: int | None,
    hops: int = 0,
    dated: float | None = None,
    again: bool = False,
    anew: bool = False,
    legacy: Mapping[str, float] = _NOTHING,
) -> NewUrl:
    """Make a single URL for the frontier; links of a page are made by `links`.

    Seeds, feeds and sitemaps are scored as high as any page: nobody can know yet what they bring. The other arguments
    are columns of the table, see `db.records.url.NewUrl`.
    """
    kind = target.kind
    if found_in == BlockKind.SEED or kind in {Kind.FEED, Kind.SITEMAP}:
        legacy = priority.of_seeds
    stated = dated or (now if kind in {Kind.FEED, Kind.SITEMAP} else 0.0)
    values = priority.first(_finds([target.url], [found_in], [stated], depth, now), legacy)
    score, parts = float(priority.score(values)[0]), priority.texts(values)[0]
    if kind == Kind.ROBOTS:
        score = 1000 * GOES_FIRST  # before everything else on its host
    elif found_in in {BlockKind.PART, BlockKind.PROBE}:
        score = GOES_FIRST  # an article waits for it, or it keeps much from being fetched in vain
    return NewUrl(
        **target._asdict(),
        depth=depth,
        score=score,
        score_parts=parts,
        found_in=found_in,
        seed_id=seed_id,
        dated=dated,
        hops=hops,
        again=again,
        anew=anew,
        soon=found_in == BlockKind.PART,
    )


def beside(page: Page, target: Target, context: Context, found_in: int, **more: Any) -> NewUrl:
    lease = page.lease
    more |= {"depth": lease.depth, "now": page.fetched_at, "seed_id": lease.seed_id}
    return new_url(target, priority=context.priority, found_in=found_in, **more)


def links(page: Page, parsed: ParseResult, context: Context) -> list[NewUrl]:
    page_links, lease = parsed.links, page.lease
    depth = lease.depth + 1
    too_deep = context.depth is not None and depth > context.depth
    feeds = set(parsed.feeds)  # rows of their own, see `sources`
    depths = context.known.depths(page_links.ids)
    chosen: list[int] = []
    reasons: list[SkipReason | None] = []
    for i, at in enumerate(depths):
        if at is not None and at <= depth:
            continue
        url = page_links.urls[i]
        reason = page_links.reasons[i] or (SkipReason.TOO_DEEP if too_deep else None)
        if url in feeds or (at is not None and reason):
            continue
        if at is None and url_id(url, Kind.FEED) in context.known:
            continue
        chosen.append(i)
        reasons.append(reason)
    if not chosen:
        return []
    urls = [page_links.urls[i] for i in chosen]
    blocks = [page_links.blocks[i] for i in chosen]
    dated = [
        (page_links.dates[i] if page_links.dates else 0.0) or _day_of(url, page.fetched_at)
        for i, url in zip(chosen, urls, strict=True)
    ]
    finds = _finds(urls, blocks, dated, depth, page.fetched_at)
    count = len(depths)
    legacy: dict[str, float | Values] = {**context.priority.inherited(lease.parts, count, count - depths.count(None))}
    if parsed.relevance is not None:
        legacy |= context.priority.alike(parsed.relevance, [parsed.link_relevance[i] for i in chosen], lease.parts)
    values = context.priority.first(finds, legacy)
    scores, parts = context.priority.score(values).tolist(), context.priority.texts(values)
    rows = []
    for place, i in enumerate(chosen):
        number = page_links.host_of[i]
        rows.append(
            NewUrl(
                id=page_links.ids[i],
                url=urls[place],
                kind=Kind.PAGE,
                host_id=page_links.host_ids[number],
                host=page_links.hosts[number],
                site_id=page_links.site_ids[number],
                site=page_links.sites[number],
                depth=depth,
                score=scores[place],
                score_parts=parts[place],
                found_in=blocks[place],
                seed_id=lease.seed_id,
                anchor=page_links.anchors[i],
                dated=dated[place] or None,
                reason=reasons[place],
                detail=page_links.details[i] if page_links.details else "",
                form=page_links.forms[i] if page_links.forms else None,
            )
        )
    return rows


def _finds(urls: Sequence[str], blocks: Sequence[int], dated: Sequence[float], depth: int, now: float) -> Finds:
    return Finds(
        depths=np.full(len(urls), depth, np.int32),
        blocks=np.array(blocks, np.uint8),
        dated=np.array(dated, np.float64),
        segments=np.array([segments(url) for url in urls], np.uint8),
        today=now // DAY,
    )


def _day_of(url: str, now: float) -> float:
    if not any(map(url.__contains__, _CENTURIES)):
        return 0.0
    span = parse.read_url(url, datetime.fromtimestamp(now, UTC))
    return 0.0 if span is None else datetime.combine(span.day, time(), UTC).timestamp()


def sources(page: Page, parsed: ParseResult, context: Context) -> Iterable[NewUrl]:
    lease = page.lease
    is_nested = lease.hops > 0 and lease.found_in == BlockKind.SITEMAP
    sitemaps = _MOST_NESTED_SITEMAPS if is_nested else _MOST_SITEMAPS
    if lease.hops >= (_MOST_NESTED_HOPS if is_nested else _MOST_SITEMAP_HOPS):
        sitemaps = 0
    for target in parsed.sources:
        if target.kind == Kind.SITEMAP:
            sitemaps -= 1
            if sitemaps < 0:
                return
        elif lease.kind != Kind.PAGE or lease.depth > _MOST_FEED_DEPTH:
            continue
        if target.id not in context.known:
            is_feed = target.kind == Kind.FEED
            found_in, hops = (BlockKind.FEED, 0) if is_feed else (BlockKind.SITEMAP, lease.hops + 1)
            yield beside(page, target, context, found_in, hops=hops)
