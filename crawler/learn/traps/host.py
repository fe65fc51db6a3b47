"""Find the crawler traps of one host by what its URL patterns bring. Pure.

Pages that a program makes without end have few patterns (`pipelines.url_rules.forms`). A pattern is blocked when

- so many of its pages in a row brought nothing: no article, nor a link by which an article was found later;
- these pages showed no article that its pages had not shown before (lists of known articles are honest);
- and it grows: its pages lead to ever more URLs of unproductive patterns.

A pattern that has brought articles has more time, in proportion to how rare they were. It is opened when something is
found after all, and some days later for a few pages, on probation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from pipelines.url_rules.forms import is_deep, key_of, patterns, split
from pipelines.url_rules.trap_patterns import ANSWER, ENDLESS_PATH, EXACT, FOLDER, HOST, SHAPE, Key, keys_of
from pipelines.url_rules.trap_signals import alike
from pipelines.urls import SESSION_NAMES

# Chosen by hand; `tests.benchmarks.traps` shows what traps cost with them, and what honest sites lose.

PROBATION_PAGES = 5
"""Pages of a pattern on probation that may bring nothing."""
_FEW_PAGES = 5
"""Pages that are enough to say something of a pattern."""
_LEAST_GROWTH = 0.5
"""A pattern grows when its pages without an article name so many new URLs like their own each."""
_TIMES = (1.0, 2.0, 4.0)
"""Factor by which a wider pattern may cost more pages."""
_RARE = 10.0
"""A pattern may go so many times its usual distance between two articles without one."""
_PROVEN = 2.0
"""A pattern that has brought anything may bring nothing for so much longer: archives of days have long gaps."""
_MOST_TIMES = 20.0
"""Bound of both, as a multiple of what a pattern without articles may cost: each article would earn ever more pages."""
_DEEP_SHARE = 0.5
_SHOWN_WEIGHT = 0.1
"""Weight of a page that shows articles which its pattern has not shown before."""
_OWN_TEXT_WEIGHT = 0.5
"""Weight of a page that is like no other of its pattern and whose URL looks honest."""
_SKETCHES = 6
_SHOWN_BITS = 1 << 12
_MOST_GROWTH = 5
_DOUBTS = 3
_MOST_PROBES = 3
_MOST_PATTERNS = 300

# ---------------------------------------------------------------- kinds of traps

SESSION, CACHE_BUSTER, CALENDAR = "session id", "cache buster", "calendar"
FACETS, SOFT_404, LOOK_ALIKE, FARM, NOTHING = "facets", "soft 404", "look-alike pages", "link farm", "nothing new"

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


def suspicion_of(url: str) -> str:
    exact = patterns(url).exact
    segments, query = split(url)
    if exact.endswith(("/**", "/**?")) or is_deep(segments):
        return ENDLESS_PATH
    pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
    names = {name.lower() for name, _ in pairs}
    if names & SESSION_NAMES or ";" in exact:
        return SESSION
    named = any(word in segment.lower() for segment in segments for word in _CALENDAR_WORDS)
    if named or names & _ALONE or len(names & _DATE_NAMES) > 1:
        return CALENDAR
    if any(name.lower() in _BUSTER_NAMES and any(c.isdigit() for c in value) for name, value in pairs):
        return CACHE_BUSTER
    return FACETS if names & _FACET_NAMES or len(names) > 2 else ""


# ---------------------------------------------------------------- pages and patterns


@dataclass(frozen=True, slots=True)
class Bounds:
    """Pages in a row that a pattern, or all of a foreign host, may cost for nothing.

    With `probe`, a host may be asked for a page that does not exist.
    """

    pages: int = 30
    host_pages: int = 200
    probe: bool = True


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as far as traps are concerned.

    Attributes:
        brought: it was an article that was not known yet; `again`: one that the host has shown before.
        named: the article names its time, its author or its source.
        sketch, is_wall: see `pipelines.url_rules.trap_signals.Signs`.
        links, folders: its links and their folder patterns as numbers, 0 for other hosts.
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
    """A pattern of a host's URLs and what its pages brought.

    The first eleven attributes are columns of the table.

    Attributes:
        brought: pages that were articles or led to one.
        reached: pages that had been fetched when one last brought something.
        unproductive: pages in a row that brought nothing, less for those that look honest.
        grown: URLs of unproductive patterns that these led to or that were found of it.
        kind: of trap, when it is blocked; else empty.
        blocked_at: Unix time at which it was blocked, also while it is on probation; else 0.0.
        missing, alike: pages in a row that said they were missing, or said what others had said.
        doubts: pages that said they were missing, or repeated others.
        changed: it differs from what the table holds.
    """

    level: int
    pattern: str
    pages: int = 0
    brought: int = 0
    reached: int = 0
    unproductive: float = 0.0
    grown: int = 0
    kind: str = ""
    blocked_at: float = 0.0
    why: str = ""
    example: str = ""
    missing: int = 0
    alike: int = 0
    doubts: int = 0
    changed: bool = True
    _sketches: list[int] = field(default_factory=list)
    _shown: bytearray = field(default_factory=bytearray)

    @property
    def is_productive(self) -> bool:
        return not self.kind and self.brought > 0 and self.unproductive < _FEW_PAGES

    def patience(self, bounds: Bounds) -> float:
        """Pages in a row that may bring nothing."""
        if self.level >= HOST:
            return float(bounds.host_pages)
        usual = bounds.pages * _TIMES[self.level]
        if not self.brought:
            return usual
        return min(max(usual, _PROVEN * bounds.pages, _RARE * self.reached / self.brought), _MOST_TIMES * usual)

    def is_spent(self, bounds: Bounds, suspicion: str) -> bool:
        if self.kind:
            return False
        if self.level == HOST:
            return self.unproductive >= bounds.host_pages
        patience = self.patience(bounds) * (_DEEP_SHARE if suspicion == ENDLESS_PATH else 1.0)
        return self.unproductive >= patience and self.grown >= _LEAST_GROWTH * self.unproductive

    def shows_more(self, links: Sequence[int]) -> bool:
        """Note the links of a page; True if its pages had not shown some of them."""
        if links and not self._shown:
            self._shown = bytearray(_SHOWN_BITS // 8)
        more = False
        for link in links:
            place, bit = (link % _SHOWN_BITS) >> 3, 1 << (link & 7)
            more = more or not self._shown[place] & bit
            self._shown[place] |= bit
        return more

    def repeats(self, sketch: int) -> bool:
        """Note the sketch of a page; True if one of the last pages said the same."""
        same = any(alike(sketch, other) for other in self._sketches)
        if not same and sketch:
            self._sketches = [*self._sketches[1 - _SKETCHES :], sketch]
        return same

    def relieve(self) -> None:
        self.brought += 1
        self.reached = self.pages
        self.unproductive, self.grown, self.missing, self.alike = 0.0, 0, 0, 0
        self.blocked_at = self.blocked_at if self.kind else 0.0
        self.changed = True
        self._shown = bytearray()

    def block(self, suspicion: str, now: float) -> None:
        if self.level == HOST:
            self.kind, self.why = FARM, f"{self.pages} pages, of which none said when or by whom it was written"
        else:
            by_pages = LOOK_ALIKE if self.alike * 2 > self.unproductive else NOTHING
            by_pages = SOFT_404 if self.missing * 2 > self.unproductive else by_pages
            since = f" since the last of {self.brought} articles" if self.brought else ""
            brought = f"{self.unproductive:.0f} pages in a row brought no article{since}"
            self.kind, self.why = suspicion or by_pages, f"{brought}, and named {self.grown} more URLs like them"
        self.blocked_at, self.changed = now, True

    def put_on_probation(self, bounds: Bounds) -> None:
        """Open it for a few pages; when these bring nothing either it is blocked at once."""
        self.kind, self.why, self.changed = "", "", True
        self.unproductive = max(0.0, self.patience(bounds) - PROBATION_PAGES)
        self.grown = int(_LEAST_GROWTH * self.unproductive) + PROBATION_PAGES


# ---------------------------------------------------------------- one host


class HostTraps:
    """The patterns of one host's URLs; `foreign` if the host is no seed's own.

    Other threads read `blocked` (pattern -> kind, empty for those that are open although a wider one is blocked).
    `opened` is set when a pattern is opened.
    """

    def __init__(self, bounds: Bounds, *, foreign: bool = False, known: Iterable[Pattern] = ()) -> None:
        self._bounds = bounds
        self._foreign = foreign
        self._patterns: dict[Key, Pattern] = {(one.level, one.pattern): one for one in known}
        self._folders = {key_of(text): one for (level, text), one in self._patterns.items() if level == FOLDER}
        self._doubtful = ""
        self._asked: set[str] = set()
        self.blocked: dict[Key, str] = {}
        self.opened = False
        self._note_blocked()

    def observe(self, sample: FetchedPage, now: float) -> list[Pattern]:
        keys = keys_of(sample.url)
        page_patterns = [self._pattern(key, sample.url) for key in (keys if self._foreign else keys[:HOST])]
        for one in page_patterns:
            one.pages += 1
            one.changed = True
        suspicion = suspicion_of(sample.url)
        same = [one.repeats(sample.sketch) for one in page_patterns]
        if sample.brought and not (
            same[EXACT] and suspicion
        ):  # a calendar's days differ in their dates, as bulletins do
            return self._praise(page_patterns, sample, now)
        folder = page_patterns[FOLDER]
        folder.doubts += sample.missing or sample.again or same[EXACT]
        self._doubtful = folder.pattern if folder.doubts >= _DOUBTS else ""
        productive = {key for key, one in self._folders.items() if one.is_productive}
        growth = self._growth(sample.found, productive)
        if sample.is_wall and not growth:
            return []
        promising = [link for link, where in zip(sample.links, sample.folders, strict=True) if where in productive]
        sure = bool(suspicion or sample.missing or not sample.sketch)
        for one, repeats in zip(page_patterns, same, strict=True):
            one.alike += repeats
            weight = 1.0 if sure or repeats else _OWN_TEXT_WEIGHT
            one.unproductive += _SHOWN_WEIGHT if one.shows_more(promising) else weight
            one.grown += growth
            one.missing += sample.missing
        return self._block(page_patterns, suspicion, now)

    def credit(self, url: str) -> None:
        page_patterns = [self._patterns[key] for key in keys_of(url)[:HOST] if key in self._patterns]
        for one in page_patterns:
            one.kind, one.why = "", ""
        self._relieve(page_patterns)

    def reopen(self, before: float) -> bool:
        due = [one for one in self._patterns.values() if one.kind and one.blocked_at < before]
        for one in due:
            one.put_on_probation(self._bounds)
        self._note_blocked()
        return bool(due)

    def worth_keeping(self) -> list[Pattern]:
        changed = (one for one in self._patterns.values() if one.changed)
        return [one for one in changed if one.pages >= _FEW_PAGES or one.blocked_at]

    # ------------------------------------------------------------ pages that do not exist

    @property
    def missing(self) -> tuple[int, ...] | None:
        """Outlines of the host's soft 404 pages; None while nothing suggests any."""
        outlines = tuple(int(text, 16) for level, text in self.blocked if level == ANSWER)
        return outlines or (() if self._asked else None)

    def wants_probe(self) -> bool:
        """Tell whether a soft-404 probe beside the last page is due, once a folder."""
        folder = self._doubtful
        wanted = bool(folder) and self._bounds.probe and folder not in self._asked and not self.missing
        if not wanted or len(self._asked) >= _MOST_PROBES:
            return False
        self._asked.add(folder)
        return True

    def note_missing(self, outline: int, url: str, now: float) -> None:
        """Note the outline of a nonexistent page (0: nothing that looks like a page)."""
        if outline:
            why = "the host answers so, with status 200, when there is no such page"
            one = Pattern(ANSWER, f"{outline:016x}", pages=1, kind=SOFT_404, blocked_at=now, why=why, example=url)
            self._patterns[ANSWER, one.pattern] = one
            self._note_blocked()

    # ------------------------------------------------------------ patterns

    def _pattern(self, key: Key, url: str) -> Pattern:
        one = self._patterns.get(key)
        if one is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                self._forget()
            one = self._patterns[key] = Pattern(*key, example=url)
            if one.level == FOLDER:
                self._folders[key_of(one.pattern)] = one
        return one

    def _forget(self) -> None:
        by_cost = sorted((one for one in self._patterns.values() if not one.kind), key=lambda one: one.pages)
        for one in by_cost[: len(by_cost) // 2]:
            del self._patterns[one.level, one.pattern]
            if one.level == FOLDER:
                self._folders.pop(key_of(one.pattern), None)

    def _praise(self, page_patterns: Sequence[Pattern], sample: FetchedPage, now: float) -> list[Pattern]:
        """On a foreign host an article counts only with a time or author."""
        praised = page_patterns if sample.named else page_patterns[:HOST]
        self._relieve(praised)
        for one in page_patterns[len(praised) :]:
            one.unproductive += 1
        return self._block(page_patterns[len(praised) :], FARM, now)

    def _relieve(self, page_patterns: Sequence[Pattern]) -> None:
        opened = any(one.blocked_at and not one.kind for one in page_patterns)
        first = any(not one.brought for one in page_patterns)
        for one in page_patterns:
            one.relieve()
        self.opened = self.opened or opened
        if opened or first:
            self._note_blocked()

    def _growth(self, new_folders: Sequence[int], productive: Set[int]) -> int:
        poor = [key for key in new_folders if key not in productive]
        for key in poor:
            if (folder := self._folders.get(key)) is not None:
                folder.grown += 1
        return min(len(poor), _MOST_GROWTH)

    def _block(self, page_patterns: Sequence[Pattern], suspicion: str, now: float) -> list[Pattern]:
        spent = [one for one in page_patterns if one.is_spent(self._bounds, suspicion)]
        for one in spent:
            one.block(suspicion, now)
        if spent:
            self._note_blocked()
        return spent

    def _note_blocked(self) -> None:
        blocked = {key: one.kind for key, one in self._patterns.items() if one.kind}
        if any(level in {FOLDER, SHAPE} for level, _ in blocked):  # a trap may have the shape of honest pages
            blocked |= {key: "" for key, one in self._patterns.items() if key[0] < SHAPE and one.is_productive}
        self.blocked = blocked
