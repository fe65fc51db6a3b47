"""Files that a test walks over."""

from __future__ import annotations

from pathlib import Path


def files_in(folder: Path, pattern: str, *, at_least: int) -> list[Path]:
    """Files below a folder, sorted; fewer than there must be are an error.

    A test over files would otherwise be green when they have moved and there is nothing left to look at.
    """
    found = sorted(path for path in folder.glob(pattern) if path.is_file())
    assert len(found) >= at_least, f"{len(found)} files in {folder} are {pattern}, there must be {at_least}"
    return found
