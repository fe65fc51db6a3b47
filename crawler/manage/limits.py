"""Limits of crawls that operators may set between two runs, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from .passwords import replace_file

_FILE = "limits.json"
_MOST_FILE = 1 << 16
_MOST_DIGITS = 12


class LimitBounds(NamedTuple):
    """Least and most of a limit; `is_whole` for numbers without a fraction."""

    least: float
    most: float
    is_whole: bool = True


LIMITS: Final[Mapping[str, LimitBounds]] = {
    "MAX_PAGES": LimitBounds(1, 10**9),
    "MAX_PAGES_PER_RUN": LimitBounds(1, 10**9),
    "MAX_PAGES_PER_HOST": LimitBounds(1, 10**9),
    "MAX_DEPTH": LimitBounds(0, 1_000),
    "CLOSESPIDER_TIMEOUT": LimitBounds(1, 10**8),
    "HOST_DELAY": LimitBounds(0.2, 3_600, is_whole=False),
    "CONCURRENT_REQUESTS": LimitBounds(1, 1_000),
}
"""By setting; one without a value is as the server was started."""


class LimitsFile:
    """The limits of the next crawl."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def read(self) -> dict[str, str]:
        """Return those that are set, as `-s` takes them; of a broken file none."""
        try:
            with self._path.open("rb") as file:
                read: Any = json.loads(file.read(_MOST_FILE))
            return checked({name: str(value) for name, value in read.items()})
        except (OSError, ValueError, AttributeError):
            return {}

    def write(self, given: Mapping[str, str]) -> dict[str, str]:
        """Keep limits; raises `ValueError` with a sentence, and keeps those before."""
        limits = checked(given)
        replace_file(self._path, json.dumps(limits, indent=1).encode() + b"\n")
        return limits


def checked(given: Mapping[str, str]) -> dict[str, str]:
    """Return the limits that have a value, each a number within its bounds.

    >>> checked({"MAX_DEPTH": " 3 ", "HOST_DELAY": ""})
    {'MAX_DEPTH': '3'}

    Raises:
        ValueError: one is no limit, no number, or out of bounds.
    """
    limits = {}
    for name, value in given.items():
        text = value.strip()
        if not text:
            continue
        if name not in LIMITS:
            msg = f"{name[:40]} is none of the limits {', '.join(LIMITS)}"
            raise ValueError(msg)
        bounds = LIMITS[name]
        digits = text if bounds.is_whole else text.replace(".", "", 1)
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
        if not is_number or not bounds.least <= float(text) <= bounds.most:
            what = "a whole number" if bounds.is_whole else "a number"
            msg = f"{name} is {text[:40]!r}; {what} from {bounds.least:,} to {bounds.most:,} is allowed"
            raise ValueError(msg)
        limits[name] = f"{int(text)}" if bounds.is_whole else f"{float(text):g}"
    return limits
