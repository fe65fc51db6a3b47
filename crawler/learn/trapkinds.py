"""Kinds of traps, named for people, and what an address tells of them before any page is looked at."""

from __future__ import annotations

from pipelines.patterns import ENDLESS_PATH, Patterns, is_deep, take_apart
from pipelines.urls import SESSION_NAMES

SESSION, CACHE_BUSTER, CALENDAR = "session id", "cache buster", "calendar"
FACETS, SOFT_404, LOOK_ALIKE, FARM, NOTHING = "facets", "soft 404", "look-alike pages", "link farm", "nothing new"
KINDS = (ENDLESS_PATH, SESSION, CACHE_BUSTER, CALENDAR, FACETS, SOFT_404, LOOK_ALIKE, FARM, NOTHING)

_BUSTER_NAMES = frozenset(
    {"t", "_t", "ts", "_ts", "time", "timestamp", "rand", "random", "rnd", "rd", "r", "_r", "_", "seed", "v", "_dc"}
    | {"nocache", "no_cache", "nc", "cb", "cachebuster", "cache"}
)
_ALONE = frozenset({"date", "month", "year", "day", "calendar", "ym", "yearmonth", "week"})
"""Names that stand for a date even when no other parameter does."""
_DATE_NAMES = _ALONE | {"y", "yy", "m", "mm", "mon", "d", "dd", "cal", "start_date"}
_FACET_NAMES = frozenset(
    {"sort", "order", "orderby", "order_by", "dir", "direction", "filter", "color", "colour", "size", "brand"}
    | {"price", "view", "display", "per_page", "limit"}
)
_CALENDAR_WORDS = ("calendar", "events", "rili", "kalender", "calendrier", "calendario")


def suspicion_of(url: str, found: Patterns) -> str:
    """Return what kind of trap an address looks like, or an empty string."""
    segments, query = take_apart(url)
    if found.exact.endswith(("/**", "/**?")) or is_deep(segments):
        return ENDLESS_PATH
    pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
    names = {name.lower() for name, _ in pairs}
    if names & SESSION_NAMES or ";" in found.exact:
        return SESSION
    named = any(word in segment.lower() for segment in segments for word in _CALENDAR_WORDS)
    if named or names & _ALONE or len(names & _DATE_NAMES) > 1:
        return CALENDAR
    if any(name.lower() in _BUSTER_NAMES and any(c.isdigit() for c in value) for name, value in pairs):
        return CACHE_BUSTER
    return FACETS if names & _FACET_NAMES or len(names) > 2 else ""
