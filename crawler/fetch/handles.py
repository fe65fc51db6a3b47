"""File handles: every connection is one, and a machine that is out of them is no fault of the server that was asked."""

from __future__ import annotations

import errno
import os
import resource

_ENOUGH = 65_536


def raise_limit() -> int:
    """Let this process open as many files as the system allows it (up to 65,536); returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


def exhausted() -> bool:
    """Whether no file can be opened at the moment.

    Cost: one system call or two; asked only when a request has failed.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in {errno.EMFILE, errno.ENFILE}
    return False
