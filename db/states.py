"""What a URL is fetched for, what became of it, and why: the words that every layer shares. Pure."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What became of a URL."""

    PENDING = "pending"
    """Waits to be fetched (when `next_visit` is set, not before that time)."""
    LEASED = "leased"
    """Handed to the run in `leased_by`, which has not stored it yet."""
    DONE = "done"
    """Fetched and stored."""
    FAILED = "failed"
    """Given up; `reason` says why."""
    SKIPPED = "skipped"
    """Never to be fetched under the current limits, or another address of a page (`same_as`); `reason` says why."""


class Kind(StrEnum):
    """What a URL is fetched for."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"


URL_RULE = "url rule"
"""Reason of URLs that are skipped because a rule of their host says that another one (`same_as`) is the same page."""

SETTLED = ("same page", "off topic")
"""Reasons of pages that were read and need not be looked for at another address."""

LIST_REASONS = ("list page", "feed or sitemap")
"""Reasons of URLs that are no article and lead to some."""
