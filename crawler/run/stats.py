"""What a crawl counts: which totals a stored page adds to.

pages, new, duplicate, updated ...   pages fetched, and what became of articles (`db.records.outcome.Stored.article`)
failed, retries, revisits, gone      pages
dropped/REASON, failed/REASON        pages that are no article, pages that could not be had
links/REASON                         links that are not followed
bounds/NAME                          what was cut because there was too much of it
doubts/NAME                          articles that are stored with a doubt
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from db.records.outcome import Outcome, Stored
from db.records.reasons import ArticleResult, FailReason, SkipReason, label
from db.records.url import Kind, State

if TYPE_CHECKING:
    from pipelines.stages import Page


_MOST_NAMES = 1_000
"""Different names that are counted: some reasons are partly the words of a server."""
OTHERS = "others"


def add(totals: Counter[str], group: str, reason: str, n: int = 1) -> None:
    """Count a reason in its group; when there are very many different ones, with others."""
    name = f"{group}/{reason}"
    totals[name if name in totals or len(totals) < _MOST_NAMES else f"{group}/{OTHERS}"] += n


def count(totals: Counter[str], page: Page, outcome: Outcome, stored: Stored) -> None:
    """Add an answer to the totals."""
    _count_bounds(totals, page, outcome)
    for new in outcome.new_urls:
        if new.reason:
            totals[f"links/{label(new.reason, new.detail)}"] += 1
    if stored.ruled:
        totals[f"links/{SkipReason.URL_RULE}"] += stored.ruled
    if outcome.claim.kind == Kind.PAGE:
        _count_page(totals, outcome, stored)


def _count_bounds(totals: Counter[str], page: Page, outcome: Outcome) -> None:
    """Count what was too much, and what is doubtful."""
    totals.update(f"bounds/{name}" for name in page.bounds)
    if page.worked is None:
        return
    parsed = page.worked.parsed
    totals.update(f"bounds/{name}" for name in parsed.bounds)
    if parsed.links.too_long:
        totals[f"bounds/{FailReason.URL_TOO_LONG}"] += parsed.links.too_long
    if outcome.article is not None and parsed.doubt:
        totals[f"doubts/{parsed.doubt}"] += 1


def _count_page(totals: Counter[str], outcome: Outcome, stored: Stored) -> None:
    """Count what became of a page."""
    waits = outcome.state == State.PENDING
    totals["pages"] += outcome.counted
    totals["gone"] += outcome.alive is False
    if outcome.claim.is_revisit and not waits:
        totals["revisits"] += 1
        totals["revisits/unchanged"] += outcome.kept or stored.article is ArticleResult.UNCHANGED
    totals["retries"] += waits
    if outcome.kept:
        return
    if stored.article:
        totals[stored.article] += 1
    totals.update(one.what for one in stored.joined)
    if waits:
        return
    why_not = None if stored.article is None else stored.article.why_not_stored
    if outcome.state == State.FAILED:
        totals["failed"] += 1
        add(totals, "failed", label(outcome.reason, outcome.detail))
    elif why_not is not None:
        add(totals, "dropped", why_not)
    elif outcome.reason and outcome.article is None:
        add(totals, "dropped", label(outcome.reason, outcome.detail))
