"""Memory and file handles of a process that runs for weeks."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import sys
from contextlib import suppress

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
"""Parameters of mallopt, as glibc's malloc.h numbers them."""
_ARENAS = 2
_OWN_MAPPING = 1 << 20
_SPARE = 16 << 20


def settle() -> None:
    """Tune garbage collector and allocator for a process that runs long.

    What exists by now stays and is never looked at again; collecting seldom saves a tenth of the time of a process full
    of short-lived cycles. By itself glibc keeps a heap for each of many threads, of which every one keeps the most that
    it ever needed (165 MB of nothing in a crawl of hostile sites); two are enough where Python's lock lets one thread
    run at a time. Large buffers are mapped each by itself, and so given back when they are free.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none, and one heap
    if mallopt is not None:
        for parameter, value in (
            (_ARENA_MAX, _ARENAS),
            (_MMAP_THRESHOLD, _OWN_MAPPING),
            (_TRIM_THRESHOLD, _SPARE),
        ):
            mallopt(parameter, value)


# ---- File handles: every connection is one; a machine that is out of them is no fault of the server.

_ENOUGH, _ENOUGH_ON_MACOS = 65_536, 10_240
"""The second is all that macOS allows where it names no limit."""
_OTHERS = 100
"""Files beside those of requests: databases, logs, pipes to workers."""


def raise_limit() -> int:
    """Raise the limit of open files as far as allowed; returns it, -1 for none."""
    if sys.platform == "win32":  # sockets are no files there
        return -1
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for enough in (_ENOUGH, _ENOUGH_ON_MACOS):
        most = enough if hard == resource.RLIM_INFINITY else min(hard, enough)
        if soft == resource.RLIM_INFINITY or soft >= most:
            break
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return most
    return soft


def files_needed(requests: int) -> int:
    """Return how many files must be allowed for so many requests under way."""
    return 2 * requests + _OTHERS


def spare_files(allowed: int, requests: int) -> int | None:
    """Return how many files may be open beside those needed; None for any number."""
    return max(0, allowed - files_needed(requests)) if allowed >= 0 else None


def exhausted() -> bool:
    """Tell whether no file can be opened at the moment. Cost: a system call or two."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in {errno.EMFILE, errno.ENFILE}
    return False
