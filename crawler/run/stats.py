"""Count what a crawl does: the stats that a stored page adds to.

pages, new, duplicate, updated ...   pages fetched, and what became of articles (`db.records.outcome.Stored.article`)
bytes                                of bodies, decoded
failed, retries, revisits, gone      pages
dropped/REASON, failed/REASON        pages that are no article, pages that could not be had
unread/REASON                        answers that could not be read through a fault of ours
links/REASON                         links that are not followed
bounds/NAME                          what was cut because there was too much of it
doubts/NAME                          articles that are stored with a doubt
missed/NAME                          articles on which a selector of the seed found nothing
rendered, rendered/gained            pages shown in a browser, and those of them that said more then
rendered/requests, rendered/PROBLEM  what that took, and what was wrong
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from db.records.outcome import Outcome, Stored
from db.records.reasons import ArticleResult, FailReason, counted, label
from db.records.url import Kind, State

if TYPE_CHECKING:
    from pipelines.item import Page


_MOST_NAMES = 1_000
"""Different names that are counted: some reasons are partly the words of a server."""
OTHERS = "others"


def add(stats: Counter[str], group: str, reason: str, n: int = 1) -> None:
    name = f"{group}/{reason}"
    stats[name if name in stats or len(stats) < _MOST_NAMES else f"{group}/{OTHERS}"] += n


def count(stats: Counter[str], page: Page, outcome: Outcome, stored: Stored) -> None:
    stats["bytes"] += len(page.body)
    _count_bounds(stats, page, outcome)
    stats.update({f"links/{reason}": n for reason, n in stored.refused.items()})
    if outcome.unread > outcome.lease.unread:
        add(stats, "unread", label(page.unreadable or page.error or FailReason.INTERNAL, page.detail))
    if outcome.lease.kind == Kind.PAGE:
        _count_page(stats, outcome, stored)


def _count_bounds(stats: Counter[str], page: Page, outcome: Outcome) -> None:
    stats.update(f"bounds/{name}" for name in page.bounds)
    parsed = page.parsed
    if parsed is None:
        return
    stats.update(f"bounds/{name}" for name in parsed.bounds)
    if parsed.links.too_long:
        stats[f"bounds/{FailReason.URL_TOO_LONG}"] += parsed.links.too_long
    stats.update(f"missed/{name}" for name in parsed.missed)
    if outcome.article is not None and parsed.doubt:
        stats[f"doubts/{parsed.doubt}"] += 1


def _count_page(stats: Counter[str], outcome: Outcome, stored: Stored) -> None:
    waits = outcome.state == State.PENDING
    stats["pages"] += outcome.counted
    stats["gone"] += outcome.alive is False
    if outcome.lease.is_revisit and not waits:
        stats["revisits"] += 1
        stats["revisits/unchanged"] += outcome.reverted or stored.article is ArticleResult.UNCHANGED
    stats["retries"] += waits
    if outcome.reverted:
        return
    if stored.article:
        stats[stored.article] += 1
    stats.update(one.what for one in stored.joined)
    if waits:
        return
    why_not = None if stored.article is None else stored.article.why_not_stored
    if outcome.state == State.FAILED:
        stats["failed"] += 1
        add(stats, "failed", counted(outcome.reason, outcome.detail))
    elif why_not is not None:
        add(stats, "dropped", why_not)
    elif outcome.reason and outcome.article is None:
        add(stats, "dropped", counted(outcome.reason, outcome.detail))
