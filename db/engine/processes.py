"""Identity of a run's process, so that others on its machine can tell it is gone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PIDS = Path("/proc/self/ns/pid")


def here() -> str:
    """Identify the boot and namespace in which process numbers are comparable.

    A container has its own. Empty where the system does not tell; then a number proves nothing.
    """
    with suppress(OSError):
        return f"{_BOOT.read_text().strip()} {_PIDS.readlink()}"
    return ""


def is_gone(place: str, pid: int) -> bool:
    """Tell whether a process has surely ended: it was started here and left no trace."""
    if not place or place != here():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
