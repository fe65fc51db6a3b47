"""Hosts that do not answer properly."""

from __future__ import annotations

from dataclasses import dataclass

from .reasons import SkipReason


@dataclass(frozen=True, slots=True)
class Rest:
    """A host is not to be asked for a while: which rest in a row it is, and until when (Unix seconds); 0 when well."""

    host_id: int
    number: int
    until: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A host that a run waits for no longer, why, and when (Unix seconds) it may try again."""

    run_id: int
    host_id: int
    reason: SkipReason
    until: float
