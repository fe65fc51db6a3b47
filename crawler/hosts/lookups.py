"""Which address hosts are at, asked before they are: see `crawler.hosts.addresses`.

Only for the order of requests. What is connected to is decided by `crawler.fetch.guard` alone.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

_SECONDS = 3.0


async def look_up(names: Sequence[str]) -> dict[str, str]:
    """Addresses of hosts (with or without port); those that cannot be told within some seconds are left out."""
    tasks = {name: asyncio.ensure_future(_look_up(name)) for name in dict.fromkeys(names)}
    if tasks:
        await asyncio.wait(tasks.values(), timeout=_SECONDS)
    for task in tasks.values():
        task.cancel()
    return {name: task.result() for name, task in tasks.items() if task.done() and not task.cancelled()}


async def _look_up(name: str) -> str:
    """The first address in the order of their text, so that all names of one machine give the same."""
    host = name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ""
    return min((str(entry[4][0]) for entry in found), default="")
