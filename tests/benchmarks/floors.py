"""Floors of the figures that benchmarks reach, in floors.json: they rise by themselves, and fall only when asked."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path

_FILE = Path(__file__).with_name("floors.json")


def bounds(section: str) -> dict[str, dict[str, float]]:
    """Return the bounds of a section that has both floors and ceilings."""
    return json.loads(_FILE.read_text(encoding="utf-8"))[section]


def check(section: str, reached: Mapping[str, float], *, margin: float = 0.0, lower: bool = False) -> int:
    """Compare figures with their floors, and write the floors that rose (all, with `lower`).

    Args:
        margin: how far below what was reached a floor is set.

    Returns: 1 when a figure is below its floor, else 0.
    """
    floors = json.loads(_FILE.read_text(encoding="utf-8"))
    ground = floors.setdefault(section, {})
    missed = False
    for name, value in reached.items():
        safe = math.floor(1000 * (value - margin)) / 1000
        floor = ground.setdefault(name, safe)
        if value < floor:
            missed = True
            print(f"{section}, {name}: {value:.4f}, floor {floor}", file=sys.stderr)
        if safe > floor or lower:
            ground[name] = safe
    _FILE.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return int(missed and not lower)
