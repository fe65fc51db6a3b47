"""Wait for a state, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 300.0
"""For what takes a second on a machine that has nothing else to do."""


T = TypeVar("T")


def wait_for(condition: Callable[[], T], missing: str = "took too long") -> T:
    """Look every few milliseconds until a condition holds and return it; `missing` is said when it never does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, missing
        time.sleep(0.02)
    return found
