"""A pattern of URLs that may be a trap: what is counted of its pages, and how many of them may bring nothing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.traps.patterns import ENDLESS_PATH, HOST, Patterns, is_deep, take_apart
from pipelines.traps.signals import alike
from pipelines.urls import SESSION_NAMES

FEW_PAGES = 5
"""So many pages say something of a pattern."""
LEAST_GROWTH = 0.5
"""New addresses like its own that a page without an article names, from which on a pattern grows."""
TRIAL_PAGES = 5
"""Pages of a pattern that a later crawl tries again."""
_TIMES = (1.0, 2.0, 4.0)
"""How many more pages a wider pattern may cost."""
_RARE = 10.0
"""So many times its usual distance between two articles a pattern may go without one."""
_PROVEN = 2.0
"""So much longer one that has brought anything may bring nothing: archives of days have long gaps."""
_MOST_TIMES = 20.0
"""But no more than so many times what one without articles may cost: each article found would earn ever more pages."""
_LEAST_SHARE = 0.05
_SKETCHES = 6
_SHOWN_BITS = 1 << 12


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a pattern or host may bring nothing.

    Attributes:
        pages: of a pattern, in a row.
        host_pages: of a host that is no seed's own.
        probe: whether a host may be asked for a page that does not exist.
    """

    pages: int = 30
    host_pages: int = 200
    probe: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as far as traps are concerned.

    Attributes:
        url: its address.
        brought: whether it was an article that was not known yet.
        named: whether that named its time, its author or its source.
        missing: it says that there is no such page.
        again: it is an article, but one that the host has shown before.
        sketch, is_wall: see `pipelines.traps.signals.Signs`.
        links, folders: what it links to and their folder patterns as numbers, 0 for other hosts.
        found: folder patterns of the URLs that it was the first to name.
    """

    url: str
    brought: bool = False
    named: bool = False
    missing: bool = False
    again: bool = False
    sketch: int = 0
    is_wall: bool = False
    links: Sequence[int] = ()
    folders: Sequence[int] = ()
    found: Sequence[int] = ()


@dataclass(slots=True)
class Pattern:
    """What is known of one pattern of a host.

    Attributes:
        text, level: which it is.
        pages: fetched in all.
        brought: of these, how many were articles or led to some.
        reached: how many had been fetched when one last brought something.
        barren: how many in a row brought nothing, less for those that look honest.
        grown: URLs of unfruitful patterns that these led to or that were found of it.
        kind: of trap, when it is shut; else empty.
        shut_at: Unix time at which it was last shut; 0.0 for never.
        why: for people.
        example: the URL of one of its pages.
        trial: it was shut before; what was skipped of it waits again only when it brings something.
        missing, alike: pages in a row that said they were missing, or said what others had said.
        doubts: pages that said they were missing, or repeated others.
        changed: it differs from what the table holds.
    """

    text: str
    level: int
    pages: int = 0
    brought: int = 0
    reached: int = 0
    barren: float = 0.0
    grown: int = 0
    kind: str = ""
    shut_at: float = 0.0
    why: str = ""
    example: str = ""
    trial: bool = False
    missing: int = 0
    alike: int = 0
    doubts: int = 0
    changed: bool = True
    _sketches: list[int] = field(default_factory=list)
    _shown: bytearray = field(default_factory=bytearray)

    @property
    def is_dull(self) -> bool:
        """Whether links to its pages promise nothing."""
        return bool(self.kind) or (self.pages >= FEW_PAGES and self.is_unproven)

    @property
    def is_fruitful(self) -> bool:
        """Whether its pages bring something, lately too."""
        return not self.kind and self.brought > 0 and self.barren < FEW_PAGES

    @property
    def is_unproven(self) -> bool:
        """Whether hardly any of its pages brought something."""
        return self.brought <= _LEAST_SHARE * self.pages + 1 or self.barren >= FEW_PAGES * _RARE

    def patience(self, bounds: Bounds) -> float:
        """How many pages in a row may bring nothing."""
        if self.level >= HOST:
            return float(bounds.host_pages)
        usual = bounds.pages * _TIMES[self.level]
        if not self.brought:
            return usual
        return min(max(usual, _PROVEN * bounds.pages, _RARE * self.reached / self.brought), _MOST_TIMES * usual)

    def shows_more(self, links: Sequence[int]) -> bool:
        """Whether some links are shown by its pages for the first time; they are remembered."""
        if not links:
            return False
        if not self._shown:
            self._shown = bytearray(_SHOWN_BITS // 8)
        more = 0
        for link in links:
            place, bit = (link % _SHOWN_BITS) >> 3, 1 << (link & 7)
            if not self._shown[place] & bit:
                self._shown[place] |= bit
                more += 1
        return more > 0

    def repeats(self, sketch: int) -> bool:
        """Whether one of its last pages said the same; this one is remembered."""
        same = any(alike(sketch, other) for other in self._sketches)
        if not same and sketch:
            self._sketches = [*self._sketches[1 - _SKETCHES :], sketch]
        return same

    def relieve(self) -> None:
        """Something came of one of its pages."""
        self.brought += 1
        self.reached = self.pages
        self.barren, self.grown, self.missing, self.alike = 0.0, 0, 0, 0
        self._shown = bytearray()
        self.changed = True


def open_for_trial(one: Pattern, bounds: Bounds) -> None:
    """Open a pattern for a few pages; when these bring nothing either it is shut at once."""
    one.kind, one.why, one.trial, one.changed = "", "", True, True
    one.barren = max(0.0, one.patience(bounds) - TRIAL_PAGES)
    one.grown = int(LEAST_GROWTH * one.barren) + TRIAL_PAGES


# ---- Kinds of traps, named for people, and what an address tells of them before any page is looked at.


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
