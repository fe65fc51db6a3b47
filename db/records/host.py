"""Hosts that fail: backoffs, dead hosts, alarms."""

from __future__ import annotations

from dataclasses import dataclass

from .reasons import SkipReason


@dataclass(frozen=True, slots=True)
class BackoffState:
    """Number of backoffs in a row, and the end of the last (Unix time); 0 when well."""

    host_id: int
    number: int
    until: float


@dataclass(frozen=True, slots=True)
class DeadHost:
    """A host that a run has given up, the reason, and when it may be tried again."""

    run_id: int
    host_id: int
    reason: SkipReason
    until: float


@dataclass(frozen=True, slots=True)
class ShownAlarm:
    """An alarm as people see it; `until` is None while it is active."""

    host: str
    kind: str
    since: str
    until: str | None
    text: str
