"""Raise alarms when a host's answers depart from its past. Pure.

For every shape of URL the baseline counts how often answers show each signal. Evidence for a rate above its upper
confidence bound is summed up (`cusum`), and enough of it raises an alarm. Suspicious answers are held back from the
baseline until that is decided, and signals are not learned during an alarm. A host that was bad from its first answers
on has no baseline: there the share alone counts.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple
from zlib import crc32

from .answers import ACCESS, ROBOTS, AnswerKind, HostAnswer, shape
from .statistics import cusum, wilson

FEWEST = 10
"""The smallest window."""
_FEWEST_KNOWN, _KNOWN = 8, {"chars": 140, "seconds": 8}
"""Answers of a shape from which its rates and its numbers are known."""
_MEMORY = 480
"""Counts are halved at this size, so that the baseline forgets."""
_MOST_SHAPES, _MOST_TITLES = 24, 24
_SUSPICIOUS, _END = 4.0, 18.0
"""Nats of evidence to hold answers back, and to end an alarm."""
_NO_EVIDENCE = (0.0, 0, 0)
_NORMAL_AFTER = 20
"""Windows after which a change that leaves articles readable counts as normal."""
_NEARLY_ALL = 5 / 6
_ROBOTS_TRIES = 3
_LAST_SELECTED, _MANY_MISSED, _FEW_MISSED = 20, 10, 2
"""Last articles of a host with selectors, and how many of them miss something when an alarm begins and has ended."""
_MOST = 0.95
"""The highest rate that is ever expected."""
_WHOLE = ""
"""The shape under which `Signal.is_whole` is learned."""
_UNUSUAL = {"chars": math.log(1.7), "seconds": math.log(3.0)}
"""By how much a length or a time, as a logarithm, is unusual; 1.75 standard deviations where that is more."""


class Signal(NamedTuple):
    """Something that answers may show.

    Attributes:
        group: one alarm of a group is active at a time.
        bar: evidence for an alarm, in nats, as a multiple of the window.
        is_cold: it raises an alarm at a host's cold start.
        is_whole: it has one rate for all shapes of URL, and tells before a window is full.
        least, gain: the least rate that is expected, and by how much it must rise to matter.
    """

    group: str
    kind: str
    bar: float
    is_cold: bool = False
    is_whole: bool = False
    least: float = 0.1
    gain: float = 0.45


# Chosen with `tests.benchmarks.health`: no false alarms, then the shortest delays.
SIGNALS = {
    **{name: Signal("access", name, 0.4, is_cold=True) for name in ("blocks", "login", "unreachable")},
    "gone": Signal("access", "gone", 1.2, is_cold=True),
    "doubtful": Signal("content", "encoding", 1.2, is_cold=True),
    "empty": Signal("content", "empty", 1.2, is_cold=True),
    **{name: Signal("content", "layout", 1.2) for name in ("articles", "untitled", "undated")},
    **{name: Signal("length", "layout", 2.5) for name in ("short", "long")},
    "slow": Signal("speed", "slow", 2.0),
    "hijacked": Signal("harm", "hijacked", 0.4, is_cold=True, is_whole=True, least=0.02, gain=0.15),
}
SIGNALS["missed"] = Signal("selectors", "layout", 0.0)
"""Judged without a baseline: selectors that somebody wrote are to find something from the first article on."""
_OF_ALL_SHAPES = {name for name, signal in SIGNALS.items() if signal.is_whole}
_GROUPS = {name: signal.group for name, signal in SIGNALS.items()}
_GROUPS |= {"chars": "length", "chars2": "length", "seconds": "speed", "seconds2": "speed"}


@dataclass(slots=True)
class Finding:
    """An alarm.

    Attributes:
        before: rate of the signal in the baseline.
        of, hits: answers since that has changed, and those that show the signal.
        why, example: reason and URL of the last of these.
        nats: evidence that it is over.
        age: answers that were judged since.
    """

    kind: str
    signal: str
    before: float
    of: int
    hits: int
    why: str = ""
    example: str = ""
    nats: float = 0.0
    age: int = 0
    ended: str = ""


@dataclass(slots=True)
class _HostState:
    """All that is stored of a host, in types that JSON has.

    Attributes:
        totals: of signals, trials and hits since the first answer.
        baseline: of shapes, of signals and numbers, how many and their sum.
        evidence: of signals, nats; trials and hits since these began.
        titles: of the last articles, a number for the title and one for the URL.
        active: alarms that have not ended, by their groups.
        missed: of the last articles that selectors were tried on, 1 where they found nothing.
    """

    answers: int = 0
    robots_lost: int = 0
    totals: dict[str, list[int]] = field(default_factory=dict)
    baseline: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    evidence: dict[str, list[float]] = field(default_factory=dict)
    titles: list[list[int]] = field(default_factory=list)
    active: dict[str, Finding] = field(default_factory=dict)
    missed: list[int] = field(default_factory=list)


class HealthMonitor:
    """State of one host; `packed` of another version counts as nothing.

    Raises:
        ValueError: the window is too small to prove anything.

    Cost: `learn` takes some 50 microseconds.
    """

    def __init__(self, window: int, packed: str = "") -> None:
        if window < FEWEST:
            raise ValueError(f"a window of {window} answers proves nothing; it takes {FEWEST} or more")
        self._window = window
        self._held: list[tuple[str, dict[str, float]]] = []
        try:
            fields = json.loads(packed)
            active = {group: Finding(**finding) for group, finding in fields["active"].items()}
            self.state = _HostState(**{**fields, "active": active})
        except (ValueError, TypeError, KeyError):
            self.state = _HostState()

    def pack(self) -> str:
        """Return the state as JSON, without what is held back."""
        active = {group: asdict(finding) for group, finding in self.state.active.items()}
        state = {name: getattr(self.state, name) for name in _HostState.__slots__} | {"active": active}
        return json.dumps(_rounded(state), separators=(",", ":"))

    def learn(self, answer: HostAnswer) -> list[Finding]:
        state, key = self.state, shape(answer.url, answer.found_in)
        if len(state.baseline) >= _MOST_SHAPES and key not in state.baseline:
            key = "others"
        past, whole = state.baseline.setdefault(key, {}), state.baseline.get(_WHOLE, {})
        state.answers += 1
        state.robots_lost = state.robots_lost + (answer.found_in == ROBOTS) if answer.kind in ACCESS else 0
        numbers = _numbers(answer)
        signals = self._signals(answer, numbers, past)
        changed = []
        for name, hit in signals.items():
            group = _GROUPS[name]
            judge = self._ended if group in state.active else self._raised
            baseline = whole if name in _OF_ALL_SHAPES else past
            finding = judge(name, baseline.get(name, [0.0, 0.0]), answer, hit=hit)
            if finding is not None:
                changed.append(finding)
                state.evidence = {one: e for one, e in state.evidence.items() if _GROUPS[one] != group}
        self._hold_back(key, signals | numbers)
        return changed + self._selected(answer)

    def _selected(self, answer: HostAnswer) -> list[Finding]:
        """Judge the selectors of the host's seed by the last articles."""
        state, name = self.state, "missed"
        group, kind = SIGNALS[name].group, SIGNALS[name].kind
        finding = state.active.get(group)
        if answer.kind != AnswerKind.ARTICLE or (answer.missed is None and finding is None):
            return []
        n, hits = state.totals.get(name, (0, 0))
        if answer.missed is not None:
            n, hits = state.totals[name] = [n + 1, hits + answer.missed]
        state.missed = [*state.missed, int(bool(answer.missed))][-_LAST_SELECTED:]
        of, missed = len(state.missed), sum(state.missed)
        if finding is not None and missed <= _FEW_MISSED:
            del state.active[group]
            return [replace(finding, ended="no longer")]
        if finding is not None or not answer.missed or missed < _MANY_MISSED:
            return []
        before = (hits - missed) / (n - of) if n > of else 0.0
        state.active[group] = Finding(kind, name, before, of, missed, example=answer.url)
        return [state.active[group]]

    def _signals(self, answer: HostAnswer, numbers: dict[str, float], past: dict[str, list[float]]) -> dict[str, bool]:
        signals: dict[str, bool] = {name: name == answer.kind for name in ACCESS}
        if answer.kind in {AnswerKind.ARTICLE, AnswerKind.PAGE, AnswerKind.EMPTY}:
            signals |= {"empty": answer.kind == AnswerKind.EMPTY, "articles": answer.kind != AnswerKind.ARTICLE}
        if answer.kind == AnswerKind.ARTICLE:
            url, titles = crc32(answer.url.encode("utf-8", "replace")), self.state.titles
            is_repeated = any(title == answer.title and other != url for title, other in titles)
            signals |= {"untitled": not answer.title or is_repeated, "undated": not answer.dated}
            signals |= {"doubtful": answer.doubtful, "hijacked": answer.hijacked}
            self.state.titles = [*titles, [answer.title, url]][-_MOST_TITLES:]
        for name in numbers.keys() & past.keys() & _UNUSUAL.keys():
            n, total = past[name]
            if n < _KNOWN[name]:
                continue
            deviation = math.sqrt(max(0.0, past[f"{name}2"][1] / n - (total / n) ** 2))
            far = (numbers[name] - total / n) / max(_UNUSUAL[name], 1.75 * deviation)
            signals |= {"short": far < -1, "long": far > 1} if name == "chars" else {"slow": far > 1 <= answer.seconds}
        return signals

    def _raised(self, name: str, past: list[float], answer: HostAnswer, *, hit: bool) -> Finding | None:
        signal, state = SIGNALS[name], self.state
        is_access = signal.group == "access"
        n, hits = state.totals.get(name, (0, 0))
        n, hits = state.totals[name] = [n + 1, hits + hit]
        is_lost = name == "unreachable" and state.robots_lost >= _ROBOTS_TRIES
        if not hit and not is_lost and not state.evidence.get(name, _NO_EVIDENCE)[0]:
            return None  # most answers: it neither adds to the evidence nor takes from it
        is_cold = signal.is_cold and (is_access or n >= self._window // 2) and wilson(hits, n, 1.28)[0] >= _NEARLY_ALL
        finding = Finding(signal.kind, name, 0.0, n, hits, answer.why, answer.url)
        if is_lost:  # without it nothing else is asked for
            finding.of = finding.hits = state.robots_lost
        elif is_cold and hit:
            state.baseline, state.totals = {}, {}
        elif past[0] >= _FEWEST_KNOWN and (before := _expected(name, past)) <= _MOST - signal.gain / 2:
            nats, of, shown = state.evidence.get(name, _NO_EVIDENCE)
            nats = cusum(nats, before, min(_MOST, before + signal.gain), hit=hit)
            state.evidence[name] = [nats, of + 1, shown + hit] if nats else [0.0, 0, 0]
            is_early = of + 1 < self._window and not is_access and not signal.is_whole
            if not hit or nats < signal.bar * self._window or is_early:
                return None
            finding.before, finding.of, finding.hits = past[1] / past[0], round(of + 1), round(shown + hit)
        else:
            return None
        state.active[signal.group] = finding
        self._held.clear()
        return finding

    def _ended(self, name: str, past: list[float], answer: HostAnswer, *, hit: bool) -> Finding | None:
        group, signal = _GROUPS[name], SIGNALS[name]
        finding = self.state.active[group]
        is_known = past[0] >= _FEWEST_KNOWN
        before = _expected(name, past) if is_known else signal.least
        if finding.signal != name or (not is_known and not signal.is_cold) or before > _MOST - signal.gain / 2:
            return None
        finding.age += 1
        now = min(_MOST, max(before + signal.gain / 2, finding.hits / finding.of))
        finding.nats = cusum(finding.nats, now, before, hit=hit)
        is_readable = finding.kind in {"layout", "encoding", "slow"} and name != "articles"
        is_normal = is_readable and finding.age >= _NORMAL_AFTER * self._window
        if finding.nats < _END and not is_normal:
            return None
        del self.state.active[group]
        if is_normal:
            self.state.baseline = {}
        return replace(finding, ended="has stayed so for long and counts as normal now" if is_normal else "no longer")

    def _hold_back(self, key: str, values: dict[str, float]) -> None:
        """Learn an answer if nothing is suspicious, and all that were held back with it."""
        state = self.state
        self._held.append((key, {name: value for name, value in values.items() if _GROUPS[name] not in state.active}))
        if len(self._held) <= 4 * self._window and any(e[0] > _SUSPICIOUS for e in state.evidence.values()):
            return
        for key_of, learned in self._held:
            for name, value in learned.items():
                past = state.baseline.setdefault(_WHOLE if name in _OF_ALL_SHAPES else key_of, {})
                n, total = past.get(name, (0.0, 0.0))
                scale = 0.5 if n + 1 >= _MEMORY else 1.0
                past[name] = [(n + 1) * scale, (total + value) * scale]
        self._held.clear()


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [*map(_rounded, value)] if isinstance(value, list | tuple) else value


def _expected(name: str, past: list[float]) -> float:
    n, hits = past
    return max(SIGNALS[name].least, wilson(hits, n, 2.0 if _GROUPS[name] == "access" else 3.0)[1])


def _numbers(answer: HostAnswer) -> dict[str, float]:
    numbers = {} if answer.kind in ACCESS else {"seconds": math.log(max(0.01, answer.seconds))}
    if answer.kind == AnswerKind.ARTICLE:
        numbers["chars"] = math.log(max(1, answer.chars))
    return numbers | {f"{name}2": value * value for name, value in numbers.items()}
