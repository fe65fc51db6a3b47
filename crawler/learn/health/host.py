"""The health of one host: an alarm when its answers show something clearly more often than its own past. Pure.

Each answer shows signals or not: it was refused, is shorter than usual ... For every shape of URL the baseline counts
how often. Its upper confidence bound is the rate that is expected of the next answer; evidence for a rate that is
higher by as much as matters is summed up (`cusum`), and enough of it raises an alarm. What looks suspicious is held
back from the baseline until that is decided, and while an alarm is active its signals are not learned. New shapes are
learned and not judged. A host that was bad from its first answers on has no baseline: there the share alone counts.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple
from zlib import crc32

from .answers import ROBOTS, Answer, Came, shape
from .statistics import cusum, wilson

FEWEST = 10
"""The smallest window."""
_VERSION = 2
_KNOWN = 8
"""Answers from which a shape is known."""
_MEMORY = 480
"""Counts are halved at this size, so that the baseline forgets."""
_MOST_SHAPES = 24
_SUSPICIOUS, _END = 4.0, 18.0
"""Nats of evidence to hold answers back, and to end an alarm."""
_NORMAL_AFTER = 20
"""Windows after which a change that leaves articles readable counts as normal."""
_COLD_START = {"blocks", "login", "unreachable", "gone", "empty", "doubtful"}
_NEARLY_ALL = 5 / 6
_ROBOTS_TRIES = 3
_NUMBERS = {"chars": math.log(1.7), "confidence": 0.1, "seconds": math.log(3.0)}
"""By how much a number (lengths and times as logarithms) is unusual; 1.75 standard deviations where that is more."""


class Signal(NamedTuple):
    """Something that answers may show.

    Attributes:
        group: one alarm of a group is active at a time.
        kind: of alarm.
        least, z: expected is this rate at the least, and the upper bound of the past so many deviations wide.
        bar: evidence for an alarm, in nats, as a multiple of the window.
    """

    group: str
    kind: str
    least: float
    z: float
    bar: float


# Chosen with `tests.benchmarks.health`: no false alarms, then the shortest delays.
SIGNALS = {
    **{name: Signal("access", name, 0.07, 2.0, 0.45) for name in ("blocks", "login", "unreachable")},
    "gone": Signal("access", "gone", 0.1, 3.0, 1.2),
    "doubtful": Signal("content", "encoding", 0.1, 3.0, 1.2),
    "empty": Signal("content", "empty", 0.1, 3.0, 1.2),
    **{name: Signal("content", "layout", 0.1, 3.0, 1.2) for name in ("articles", "untitled", "undated")},
    **{name: Signal("content", "layout", 0.15, 3.0, 2.5) for name in ("short", "long", "unsure")},
    "slow": Signal("speed", "slow", 0.15, 3.0, 2.0),
}
_GAIN = 0.45
"""By how much a rate must rise to matter."""
_BAD = {Came.BLOCKED: "blocks", Came.CAPTCHA: "blocks", Came.LOGIN: "login", Came.FAILED: "unreachable"}
_BAD[Came.GONE] = "gone"


class Change(NamedTuple):
    """A signal, and its rate in the baseline and now."""

    what: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class Finding:
    """An alarm of a kind: the changes, the strongest first, with how many of the answers show that.

    `why` and `example` are of the last of these; `shapes` are those of the URLs concerned, none for all.
    """

    kind: str
    changes: tuple[Change, ...]
    of: int
    hits: int
    why: str = ""
    example: str = ""
    shapes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An alarm begins, or ends; `accepted` when it has been active so long that it counts as normal."""

    raised: bool
    finding: Finding
    accepted: bool = False


class HostHealth:
    """What is known of one host.

    Args:
        window: scale of the evidence that an alarm takes, in answers.

    Cost: `learn` takes some 50 microseconds.
    """

    def __init__(self, window: int) -> None:
        """Begin with nothing known."""
        if window < FEWEST:
            raise ValueError(f"a window of {window} answers proves nothing; it takes {FEWEST} or more")
        self._window = window
        self.answers = self._robots_lost = 0
        self._totals = {name: [0, 0] for name in sorted(_COLD_START)}  # trials and hits since the first answer
        self._baseline: dict[str, dict[str, list[float]]] = {}  # shape -> signal -> n, hits; number -> n, mean, square
        self._evidence = {name: [0.0] * 4 for name in SIGNALS}  # nats; trials, hits and expected hits since these began
        self._bars: dict[str, float] = {}  # nats above those of `SIGNALS`
        self._peaks: dict[str, float] = {}
        self._titles: deque[tuple[int, int]] = deque(maxlen=24)
        self._held: deque[tuple[str, dict[str, bool], dict[str, float]]] = deque()
        self._active: dict[str, tuple[Finding, float, int]] = {}  # group -> what, evidence for its end, age

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """Active alarms."""
        return tuple(finding for finding, _, _ in self._active.values())

    def learn(self, answer: Answer) -> list[Event]:
        """Take one answer in; returns what begins or ends with it."""
        self.answers += 1
        key = shape(answer.url, answer.found_in)
        if key not in self._baseline and len(self._baseline) >= _MOST_SHAPES:
            key = "others"
        self._robots_lost = self._robots_lost + (answer.found_in == ROBOTS) if answer.came in _BAD else 0
        numbers = _numbers(answer)
        signals = dict(self._signals(answer, numbers, self._baseline.get(key, {})))
        events = []
        for name, hit in signals.items():
            group = SIGNALS[name].group
            event = (
                self._ended(name, key, hit=hit) if group in self._active else self._raised(name, key, answer, hit=hit)
            )
            if event is not None:
                events.append(event)
                for one in (one for one, signal in SIGNALS.items() if signal.group == group):
                    self._evidence[one] = [0.0] * 4
        self._hold_back(key, signals, numbers)
        return events

    def _signals(
        self, answer: Answer, numbers: dict[str, float], past: dict[str, list[float]]
    ) -> Iterator[tuple[str, bool]]:
        """The signals that an answer may show, and whether it does."""
        for name in ("blocks", "login", "unreachable", "gone"):
            yield name, _BAD.get(answer.came) == name
        if answer.came in {Came.ARTICLE, Came.PAGE, Came.EMPTY}:
            yield "empty", answer.came == Came.EMPTY
            yield "articles", answer.came != Came.ARTICLE
        far = {name: d for name, value in numbers.items() if (d := _distance(past.get(name), name, value)) is not None}
        if "seconds" in far:
            yield "slow", far["seconds"] > 1 and answer.seconds >= 1
        if answer.came != Came.ARTICLE:
            return
        url = crc32(answer.url.encode("utf-8", "replace"))
        yield "doubtful", answer.doubtful
        yield "untitled", not answer.title or any(t == answer.title and other != url for t, other in self._titles)
        yield "undated", not answer.dated
        self._titles.append((answer.title, url))
        if "chars" in far:
            yield from (("short", far["chars"] < -1), ("long", far["chars"] > 1), ("unsure", far["confidence"] < -1))

    def _raised(self, name: str, key: str, answer: Answer, *, hit: bool) -> Event | None:
        """Whether a signal raises an alarm."""
        signal = SIGNALS[name]
        found = self._cold_start(name, answer, hit=hit) or self._risen(name, key, answer, hit=hit)
        if found is None:
            return None
        self._active[signal.group] = (found, 0.0, 0)
        self._held.clear()
        return Event(raised=True, finding=found)

    def _cold_start(self, name: str, answer: Answer, *, hit: bool) -> Finding | None:
        """A host that is bad from its first answers on, or without a robots.txt, after which nothing else comes."""
        if name == "unreachable" and self._robots_lost >= _ROBOTS_TRIES:
            n = self._robots_lost
            return Finding(name, (Change(name, 0.0, 1.0),), n, n, answer.why)
        if name not in _COLD_START:
            return None
        counts = self._totals[name]
        counts[0], counts[1] = counts[0] + 1, counts[1] + hit
        n, hits = counts
        is_enough = SIGNALS[name].group == "access" or n >= self._window // 2
        if not hit or not is_enough or wilson(hits, n, 1.28)[0] < _NEARLY_ALL:
            return None
        self._baseline.clear()
        self._totals = {name: [0, 0] for name in self._totals}
        return Finding(SIGNALS[name].kind, (Change(name, 0.0, hits / n),), n, hits, answer.why, answer.url)

    def _risen(self, name: str, key: str, answer: Answer, *, hit: bool) -> Finding | None:
        """A signal that comes more often than the baseline's confidence bound allows."""
        signal, total = SIGNALS[name], self._evidence[name]
        n, hits = self._baseline.get(key, {}).get(name, (0.0, 0.0))
        before = max(signal.least, wilson(hits, n, signal.z)[1])
        if n < _KNOWN or before > 0.95 - _GAIN / 2:
            return None
        nats = cusum(total[0], before, min(0.95, before + _GAIN), hit=hit)
        bar = signal.bar * self._window
        if not nats:  # evidence that came to nothing is this host's habit: in future it takes more
            if signal.group != "access" and (peak := self._peaks.pop(name, 0.0)) > bar / 4:
                self._bars[name] = min(3 * bar, max(0.9 * self._bars.get(name, 0.0), 1.5 * peak))
            total[:] = [0.0] * 4
            return None
        total[:] = nats, total[1] + 1, total[2] + hit, total[3] + hits / n
        self._peaks[name] = max(nats, self._peaks.get(name, 0.0))
        needed = self._window if signal.group != "access" else 0
        if not hit or nats < max(bar, self._bars.get(name, 0.0)) or total[1] < needed:
            return None
        return self._finding(name, key, answer)

    def _finding(self, name: str, key: str, answer: Answer) -> Finding:
        """With the other signals of the group that there is evidence for."""
        signal, (nats, n, hits, _) = SIGNALS[name], self._evidence[name]
        rest = [one for one, other in SIGNALS.items() if other.group == signal.group and one != name]
        also = [one for one in rest if self._evidence[one][0] > nats / 3]
        changes = tuple(Change(one, e[3] / e[1], e[2] / e[1]) for one in [name, *also] if (e := self._evidence[one]))
        kind = "empty" if name == "articles" and "empty" in also else signal.kind
        shapes = tuple(sorted({key, *(held for held, signals, _ in self._held if signals.get(name))}))
        return Finding(kind, changes, round(n), round(hits), answer.why, answer.url, shapes)

    def _ended(self, name: str, key: str, *, hit: bool) -> Event | None:
        """Whether an active alarm is over: answers are as before, or it has become normal."""
        signal = SIGNALS[name]
        finding, nats, age = self._active[signal.group]
        main = finding.changes[0]
        if main.what != name or (finding.shapes and key not in finding.shapes):
            return None
        before = min(0.7, max(signal.least, main.before))
        nats = cusum(nats, min(0.95, max(before + _GAIN / 2, main.now)), before, hit=hit)
        self._active[signal.group] = (finding, nats, age + 1)
        is_readable = finding.kind in {"layout", "encoding", "slow"} and name != "articles"
        is_normal = is_readable and age + 1 >= _NORMAL_AFTER * self._window
        if nats < _END and not is_normal:
            return None
        del self._active[signal.group]
        if is_normal:
            learned = {one for one, other in SIGNALS.items() if other.group == signal.group}
            learned |= {"seconds"} if signal.group == "speed" else {"chars", "confidence"}
            for past in self._baseline.values():
                for one in learned & past.keys():
                    del past[one]
        return Event(raised=False, finding=finding, accepted=is_normal)

    def _hold_back(self, key: str, signals: dict[str, bool], numbers: dict[str, float]) -> None:
        """Learn an answer when nothing is suspicious, and all that were held back with it."""
        known = {name: hit for name, hit in signals.items() if SIGNALS[name].group not in self._active}
        of = {"seconds": "speed"}
        used = {name: value for name, value in numbers.items() if of.get(name, "content") not in self._active}
        self._held.append((key, known, used))
        if len(self._held) <= 4 * self._window and any(e[0] > _SUSPICIOUS for e in self._evidence.values()):
            return
        for shape_of, marks, values in self._held:
            past = self._baseline.setdefault(shape_of, {})
            for name, hit in marks.items():
                n, hits = past.get(name, (0.0, 0.0))
                scale = 0.5 if n + 1 >= _MEMORY else 1.0
                past[name] = [(n + 1) * scale, (hits + hit) * scale]
            for name, value in values.items():
                n, mean, square = past.get(name, (0.0, 0.0, 0.0))
                n = min(n + 1, _MEMORY)
                past[name] = [n, mean + (value - mean) / n, square + (value * value - square) / n]
        self._held.clear()

    def pack(self) -> str:
        """All of it as JSON, but for what is held back."""
        state = {
            "version": _VERSION,
            "answers": [self.answers, self._robots_lost],
            "totals": self._totals,
            "baseline": self._baseline,
            "evidence": [self._evidence, self._bars, self._peaks],
            "titles": list(self._titles),
            "active": [[group, asdict(finding), nats, age] for group, (finding, nats, age) in self._active.items()],
        }
        rounded = json.loads(json.dumps(state), parse_float=lambda number: round(float(number), 3))
        return json.dumps(rounded, separators=(",", ":"))

    @classmethod
    def unpack(cls, packed: str, window: int) -> HostHealth:
        """The inverse of `pack`; what cannot be read (another version's) counts as nothing."""
        health = cls(window)
        try:
            state = json.loads(packed)
            if state["version"] != _VERSION:
                return cls(window)
            health.answers, health._robots_lost = map(int, state["answers"])
            health._totals.update((name, [int(n) for n in state["totals"][name]]) for name in health._totals)
            health._baseline = {
                key: {name: [float(x) for x in counts] for name, counts in past.items()}
                for key, past in state["baseline"].items()
            }
            evidence, bars, peaks = state["evidence"]
            health._evidence.update((name, [float(x) for x in evidence[name]]) for name in SIGNALS)
            health._bars, health._peaks = dict(bars), dict(peaks)
            health._titles.extend((int(title), int(url)) for title, url in state["titles"])
            for group, found, nats, age in state["active"]:
                found["changes"] = tuple(Change(*change) for change in found["changes"])
                found["shapes"] = tuple(found["shapes"])
                health._active[group] = (Finding(**found), float(nats), int(age))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return cls(window)
        return health


def _numbers(answer: Answer) -> dict[str, float]:
    """Numbers that are compared with what is usual: of articles, and of answers that are well."""
    numbers = {} if answer.came in _BAD else {"seconds": math.log(max(0.01, answer.seconds))}
    if answer.came == Came.ARTICLE:
        numbers |= {"chars": math.log(max(1, answer.chars)), "confidence": answer.confidence}
    return numbers


def _distance(past: list[float] | None, name: str, value: float) -> float | None:
    """How far a number lies from the mean, 1 where that is unusual; None when too few are known."""
    n, mean, square = past or (0.0, 0.0, 0.0)
    deviation = math.sqrt(max(0.0, square - mean * mean))
    return None if n < _KNOWN else (value - mean) / max(_NUMBERS[name], 1.75 * deviation)
