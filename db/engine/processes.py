"""Which process a run is, so that another one on the same machine can tell that it is gone without waiting."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PIDS = Path("/proc/self/ns/pid")


def here() -> str:
    """What makes process numbers comparable: this boot of this machine and its namespace of processes.

    (A container has its own.) Empty where the system does not tell, and then nothing is concluded from a number.
    """
    with suppress(OSError):
        return f"{_BOOT.read_text().strip()} {_PIDS.readlink()}"
    return ""


def is_gone(place: str, pid: int) -> bool:
    """Whether a process has surely ended: it was started here and has left no trace."""
    if not place or place != here():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
