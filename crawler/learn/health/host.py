"""The health of one host: its last answers against its past, and an alarm when they differ too much to be chance.

Like is compared with like. Every answer belongs to the shape of its address (`crawler.learn.health.shapes`), and what
is expected of the window is what was met before at the same shapes, weighted as the window is mixed. A shape that is
new teaches and is judged of nothing; whether pages are articles is asked only where most were. So the order in which a
crawl meets lists, articles and archives raises no alarm.

An alarm needs an effect that matters, a test of the whole window that is strong although it is made all the time, and
each half of the window by itself: two windows in a row. How much a host's windows differ from each other anyway is
learned (`Judge.spread`) and what they prove is weakened by as much. While an alarm lasts, the past stays as it was.

Pure: no clock, no randomness; the same answers in the same order give the same alarms.

Source: the tests are those of `crawler.learn.health.statistics`; direct standardisation and over-dispersion are those
of any
    textbook of epidemiology. Nothing here is from one paper.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any
from zlib import crc32

from .answers import ROBOTS, Answer, Came
from .findings import (
    OF_CONTENT,
    SHIFT,
    AccessItem,
    Change,
    ContentItem,
    Event,
    Finding,
    commonest,
    place_of,
    shows_change,
)
from .judge import NUMBERS_OF_TEXT, Judge, mean_of
from .lasting import Lasting
from .newcomer import Newcomer
from .past import ACCESS, FLAGS, KNOWN, METRICS, Past, count, expected, no_bins
from .shapes import shape
from .statistics import LEAST

FEWEST = 10
"""The smallest window."""
_MOST_SHAPES = 24
_MOST_TITLES = 24
_CHANCE_OF_STREAK = 1e-9
_TELLING = 0.1
"""Where more pages than this showed a fault anyway, addresses tell little, and pages without it come in runs."""
_VERSION = 1

_PAGES = {Came.ARTICLE, Came.PAGE, Came.EMPTY}
_SLOW_SECONDS = 1.0


class HostHealth:
    """What is known of one host.

    Args:
        window: so many of the last answers are compared with those before.

    Cost: `learn` takes about 50 microseconds; 5 to 20 KB of memory.
    """

    def __init__(self, window: int) -> None:
        if window < FEWEST:
            raise ValueError(f"a window of {window} answers proves nothing; it takes {FEWEST} or more")
        self._window = window
        self._half = window // 2
        self._step = max(2, window // 4)
        self._streak = max(8, window // 4)
        self.answers = 0
        self._words: list[str] = []
        self._past: dict[str, Past] = {}
        self._judge = Judge(window, self._past)
        self._access: deque[AccessItem] = deque()
        self._content: deque[ContentItem] = deque()
        self._newcomer = Newcomer(window, self._streak)
        self._titles: deque[tuple[int, int]] = deque(maxlen=_MOST_TITLES)
        self._seen = {"access": 0, "content": 0}
        self._since: dict[str, int] = {}
        self._suspected = {"access": False, "content": False}
        self._limbo: dict[str, list[AccessItem | ContentItem]] = {"access": [], "content": []}
        self._open: dict[str, Lasting] = {}

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """What is wrong now."""
        return tuple(one.finding for one in self._open.values())

    # ------------------------------------------------------------ learning

    def learn(self, answer: Answer) -> list[Event]:
        """Take one answer in; returns what begins or ends with it."""
        self.answers += 1
        place = place_of(answer.came)
        self._newcomer.note(answer)
        is_robots = answer.found_in == ROBOTS
        kind = "robots" if is_robots else shape(answer.url, answer.found_in, self._words)
        past = self._past.get(kind) or self._new(kind)
        access = AccessItem(kind, place, math.log(max(0.01, answer.seconds)), answer.why, answer.url)
        content = self._read_content(answer, kind) if answer.came in _PAGES else None
        events = list(self._ended(access, content))
        if past.access[0] < KNOWN or is_robots:
            self._fold_access(access)
        else:
            self._access.append(access)
            self._seen["access"] += 1
            if len(self._access) > self._window:
                self._leave(self._access.popleft())
        if content is not None:
            if past.content[0] < KNOWN or past.articles < 0.5:
                self._fold_content(content)
            else:
                self._content.append(content)
                self._seen["content"] += 1
                if len(self._content) > self._window:
                    self._leave(self._content.popleft())
        for finding in self._found(content):
            self._open[finding.kind] = Lasting(finding, self._window, self._streak)
            self._judge.raised()
            events.append(Event(raised=True, finding=finding))
        return events

    def settle(self) -> None:
        """Some time has passed, or another process: what waits in the windows is past, unless it looks suspicious.

        So a change between two visits need not fill a window half of which is older.
        """
        if not self._is_open(*ACCESS, "slow") and not self._judge.doubts(Judge.of_access(list(self._access))):
            while self._access:
                self._fold_access(self._access.popleft())
        if not self._is_open(*OF_CONTENT):
            items = list(self._content)
            moved = [
                abs(mean_of(v for v, _ in self._judge.deviations(name, items))) >= SHIFT[name] / 2
                for name in NUMBERS_OF_TEXT
            ]
            if not self._judge.doubts(Judge.of_content(items)) and not any(moved):
                while self._content:
                    self._fold_content(self._content.popleft())

    def _new(self, kind: str) -> Past:
        """Room for a shape: of very many, the one met least makes place."""
        if len(self._past) >= _MOST_SHAPES:
            windows: Iterable[Iterable[AccessItem | ContentItem]]
            windows = (self._access, self._content, *self._limbo.values())
            waiting = {item.kind for window in windows for item in window}
            free = [key for key in self._past if key not in waiting] or list(self._past)
            least = min(free, key=lambda key: self._past[key].access[0])
            del self._past[least]
            self._access = deque(item for item in self._access if item.kind != least)
            self._content = deque(item for item in self._content if item.kind != least)
            for limbo in self._limbo.values():
                limbo[:] = [item for item in limbo if item.kind != least]
        past = self._past[kind] = Past()
        return past

    def _read_content(self, answer: Answer, kind: str) -> ContentItem:
        came = answer.came.value
        if answer.came != Came.ARTICLE:
            return ContentItem(kind, came, 0, 0.0, 0.0, answer.why, answer.url)
        key = crc32(answer.url.encode("utf-8", "replace"))
        repeated = any(title == answer.title and other != key for title, other in self._titles)
        self._titles.append((answer.title, key))
        flags = (answer.title == 0 or repeated) | (not answer.dated) << 1 | answer.doubtful << 2
        return ContentItem(kind, came, flags, math.log(max(1, answer.chars)), answer.confidence, answer.why, answer.url)

    def _leave(self, item: AccessItem | ContentItem) -> None:
        """An answer leaves its window for the past; while that looks wrong it waits for what comes of it."""
        family = "access" if isinstance(item, AccessItem) else "content"
        limbo: list[Any] = self._limbo[family]
        if self._is_open(*(ACCESS if family == "access" else OF_CONTENT)):
            limbo.clear()
        elif self._suspected[family] and len(limbo) < 2 * self._window:
            limbo.append(item)
        else:
            for one in (*limbo, item):
                self._fold(one)
            limbo.clear()

    def _fold(self, item: AccessItem | ContentItem) -> None:
        if isinstance(item, AccessItem):
            self._fold_access(item)
        else:
            self._fold_content(item)

    def _fold_access(self, item: AccessItem) -> None:
        past = self._past[item.kind]
        count(past.access, *((1 + item.place,) if item.place >= 0 else ()))
        if item.place < 0 and not self._is_open("slow"):
            self._judge.learn_number(past, "seconds", item.seconds)

    def _fold_content(self, item: ContentItem) -> None:
        past = self._past[item.kind]
        if item.came != Came.ARTICLE:
            count(past.content, *((2,) if item.came == Came.EMPTY else ()))
            return
        count(past.content, 1)
        count(past.flags, *(1 + place for place in range(len(FLAGS)) if item.flags >> place & 1))
        self._judge.learn_number(past, "chars", item.chars)
        self._judge.learn_number(past, "confidence", item.confidence)

    def _is_open(self, *kinds: str) -> bool:
        return any(kind in self._open for kind in kinds) if self._open else False

    # ------------------------------------------------------------ alarms that end

    def _ended(self, access: AccessItem, content: ContentItem | None) -> Iterator[Event]:
        for kind, alarm in list(self._open.items()):
            if alarm.hears(access, content) and (alarm.is_normal or alarm.is_over):
                del self._open[kind]
                self._after(alarm.finding, accepted=alarm.is_normal)
                yield Event(raised=False, finding=alarm.finding, accepted=alarm.is_normal)

    def _after(self, finding: Finding, *, accepted: bool) -> None:
        """An alarm is over: what lies in the window belongs to it, and if that comes again it proves less."""
        self._judge.ended(finding.changes[0])
        if finding.kind in OF_CONTENT:
            self._content.clear()
            if accepted:
                for past in self._past.values():
                    past.forget_content()
                self._judge.bins["chars"], self._judge.bins["confidence"] = no_bins(), no_bins()
        else:
            self._access.clear()
            if accepted:
                for past in self._past.values():
                    past.moments["seconds"].n = 0
                self._judge.bins["seconds"] = no_bins()

    # ------------------------------------------------------------ alarms that begin

    def _found(self, content: ContentItem | None) -> Iterator[Finding]:
        if not self._is_open(*ACCESS):
            finding = self._streak_found() or self._newcomer.shut() or self._newcomer.never_had()
            if finding is None and self._seen["access"] >= self._step:
                finding = self._access_found()
            if finding is not None:
                yield finding
        if not self._is_open(*ACCESS, *OF_CONTENT):
            finding = self._newcomer.never_read()
            if finding is not None:
                yield finding
        if self._seen["access"] >= self._step:
            self._seen["access"] = 0
            slow = None if self._is_open(*ACCESS, "slow") else self._slow_found()
            if slow is not None:
                yield slow
        if content is not None and self._seen["content"] >= self._step:
            self._seen["content"] = 0
            finding = None if self._is_open(*OF_CONTENT) else self._content_found()
            if finding is not None:
                yield finding

    def _streak_found(self) -> Finding | None:
        """Refused or unanswered so often in a row that a window need not be waited for: the host soon rests."""
        n = self._streak
        if len(self._access) < n or self._access[-1].place not in _IN_A_ROW:
            return None
        place = self._access[-1].place
        items = list(islice(reversed(self._access), n))
        if any(item.place != place for item in items):
            return None
        before, _ = expected([item.kind for item in items], self._past, "access", 1 + place)
        chance = max(before**n, LEAST)
        if chance > _CHANCE_OF_STREAK:
            return None
        return self._finding(ACCESS[place], [Change(ACCESS[place], before, 1.0, chance)], items[::-1])

    def _access_found(self) -> Finding | None:
        items = list(self._access)
        self._judge.suspects = False
        changes = self._judge.rates(Judge.of_access(items))
        self._suspected["access"] = self._judge.suspects
        if not changes:
            return None
        best = min(changes, key=lambda change: (-change.now, change.what))
        return self._finding(best.what, [best], items)

    def _slow_found(self) -> Finding | None:
        items = [item for item in self._access if item.place < 0]
        self._judge.suspects = False
        change = self._judge.moved("seconds", items)
        self._suspected["access"] |= self._judge.suspects
        is_slow = change is not None and change.now >= max(_SLOW_SECONDS, change.before)
        if not self._lasts("slow", self._window, is_so=is_slow) or change is None:
            return None
        return self._finding("slow", [change], items)

    def _lasts(self, what: str, answers: int, *, is_so: bool) -> bool:
        """Whether what comes in runs has been otherwise for a second window."""
        if not is_so:
            self._since.pop(what, None)
            return False
        return self.answers - self._since.setdefault(what, self.answers) >= answers

    def _content_found(self) -> Finding | None:
        items = list(self._content)
        self._judge.suspects = False
        changes = self._judge.rates(Judge.of_content(items))
        articles = [item for item in items if item.came == Came.ARTICLE]
        for name in NUMBERS_OF_TEXT:
            change = self._judge.moved(name, articles)
            if change is not None and (name != "confidence" or change.now < change.before):
                changes.append(change)
        weak = bool(changes) and all(change.what in METRICS or change.before > _TELLING for change in changes)
        found = bool(changes)
        self._suspected["content"] = self._judge.suspects
        if not self._lasts("content", self._window if weak else self._half, is_so=found):
            return None
        changes.sort(key=lambda change: (_WEIGHTIEST.index(change.what), change.chance))
        main = changes[0].what
        others = [item.came for item in items if item.came != Came.ARTICLE]
        if main == "articles" and others.count(Came.EMPTY) * 2 > len(others):
            main = "empty"
        kind = {"doubtful": "encoding", "empty": "empty"}.get(main, "layout")
        return self._finding(kind, changes, items)

    def _finding(self, kind: str, changes: Sequence[Change], items: Sequence[AccessItem | ContentItem]) -> Finding:
        """With what people want to see of it."""
        main = changes[0]
        hits = [item for item in items if shows_change(main, item)]
        shapes = tuple(sorted({item.kind for item in hits}))
        of = [item for item in items if item.kind in shapes] if kind in OF_CONTENT else items
        why = commonest(item.why for item in hits)
        return Finding(kind, tuple(changes), len(of), len(hits), why, hits[-1].url if hits else "", shapes)

    # ------------------------------------------------------------ keeping it

    def pack(self) -> str:
        """All of it as JSON."""
        return json.dumps(
            {
                "version": _VERSION,
                "counts": self._newcomer.counts(),
                "words": self._words,
                "past": {key: past.packed() for key, past in self._past.items()},
                "bins": {name: [round(x, 2) for x in bins] for name, bins in self._judge.bins.items()},
                "spread": {name: round(value, 3) for name, value in self._judge.spread.items()},
                "access": [_short(item) for item in self._access],
                "content": [_short(item) for item in self._content],
                "latest": list(self._newcomer.latest),
                "titles": list(self._titles),
                "since": [self._since, self._newcomer.robots_lost],
                "open": [[asdict(one.finding), *one.packed()] for one in self._open.values()],
            },
            separators=(",", ":"),
        )

    @classmethod
    def unpack(cls, packed: str, window: int) -> HostHealth:
        """The inverse of `pack`; what cannot be read (another version's) counts as nothing."""
        health = cls(window)
        try:
            health._fill(json.loads(packed))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return cls(window)
        return health

    def _fill(self, state: dict[str, Any]) -> None:
        if state["version"] != _VERSION:
            raise ValueError("another version")
        self._newcomer.fill(state["counts"], state["latest"], state["since"][1])
        self.answers = int(state["counts"][0])
        self._words = [str(word) for word in state["words"]]
        self._past.update((str(key), Past.unpacked(past)) for key, past in state["past"].items())
        for name in METRICS:
            bins = [float(x) for x in state["bins"][name]]
            if len(bins) == len(self._judge.bins[name]):
                self._judge.bins[name] = bins
        self._judge.spread.update((str(name), float(value)) for name, value in state["spread"].items())
        self._access.extend(AccessItem(*item) for item in state["access"][-self._window :] if item[0] in self._past)
        self._content.extend(ContentItem(*item) for item in state["content"][-self._window :] if item[0] in self._past)
        self._titles.extend((int(title), int(url)) for title, url in state["titles"])
        self._since.update((str(what), int(at)) for what, at in state["since"][0].items())
        self._suspected = {"access": "slow" in self._since, "content": "content" in self._since}
        for finding, recent, age in state["open"]:
            finding["changes"] = tuple(Change(**change) for change in finding["changes"])
            finding["shapes"] = tuple(finding["shapes"])
            made = Finding(**finding)
            self._open[made.kind] = Lasting(made, self._window, self._streak, str(recent), int(age))


_IN_A_ROW = (0, 2)
_WEIGHTIEST = ("doubtful", "empty", "articles", "chars", "untitled", "undated", "confidence")


def _short(item: AccessItem | ContentItem) -> list[Any]:
    """For JSON; without the address, which is for an example only."""
    return [round(x, 3) if isinstance(x, float) else x for x in item[:-1]] + [""]
