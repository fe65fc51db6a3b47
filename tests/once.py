"""Things that all workers of a run share: the first that needs one makes it, the others wait and use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import wait_for


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` has filled, once a run; tests read what is there, or copy it."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # whose folder is inside that of the run
        root = root.parent
    folder, unfinished = root / name, root / f"{name}.unfinished"

    def is_made() -> bool:
        if folder.exists():
            return True
        try:
            unfinished.mkdir()
        except FileExistsError:
            return False
        try:
            make(unfinished)
        except BaseException:
            unfinished.rename(factory.mktemp(f"failed-{name}") / name)  # the next one fails by itself
            raise
        unfinished.rename(folder)
        return True

    wait_for(is_made, f"{name} was not made")
    return folder
