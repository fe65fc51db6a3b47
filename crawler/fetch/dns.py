"""DNS cache: permitted IP addresses of host names, asked in threads."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from cachetools import TLRUCache

from db.records.reasons import FailReason

from .errors import FetchError
from .guard import AddressRefused, Guard

KEEP_SECONDS = 600.0
KEEP_FAILURE_SECONDS = 30.0
MAX_NAMES = 10_000
_THREADS = 16
_LOOK_UP_SECONDS = 3.0
_UNANSWERED = ("",)
"""In place of addresses: nobody could be asked."""


class DnsCache:
    """A DNS cache: resolves names and IP literals to permitted addresses.

    Names under `localhost` are this machine without asking anybody (RFC 6761). Answers are kept for ten minutes and
    failures for half a minute; requests for a name that is being looked up wait for that one look-up.
    """

    def __init__(self, guard: Guard) -> None:
        """Start with an empty memory.

        Args:
            guard: what may be connected to.
        """
        self.guard = guard
        self._known: TLRUCache[str, tuple[str, ...]] = TLRUCache(MAX_NAMES, _expires, timer=time.monotonic)
        self._asked: dict[str, asyncio.Future[tuple[str, ...]]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="names")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Resolve a host to the addresses that it may be connected to.

        The addresses returned are those that were checked: connect to them, never to the name.

        Args:
            host: name or IP literal, without brackets.
            port: port of the connection.

        Raises:
            AddressRefused: it has addresses, but none that is permitted.
            FetchError: it has no address.
        """
        name = host.lower().removesuffix(".")
        found = self._recall(name)
        if found is None:
            found = await self._ask(name)
        if not found:
            raise FetchError(FailReason.NO_HOST)
        if found == _UNANSWERED:
            raise FetchError(FailReason.NO_DNS)
        permitted = [address for address in found if self.guard.permits(address, port)]
        if not permitted:
            raise AddressRefused(host, found[0])
        return permitted

    def forget(self, host: str | None = None) -> None:
        """Forget the addresses of a host; without one, all failures."""
        names = [name for name in self._known if not any(self._known[name])] if host is None else [host.lower()]
        for name in names:
            self._known.pop(name, None)

    def close(self) -> None:
        """Cancel look-ups that have not been answered."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _recall(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses of a name that need no look-up; None when it needs one."""
        if name == "localhost" or name.endswith(".localhost"):
            return ("127.0.0.1",)
        try:
            return (str(ipaddress.ip_address(name)),)
        except ValueError:
            pass
        return self._known.get(name)

    async def _ask(self, name: str) -> tuple[str, ...]:
        """Look a name up, or wait for a look-up under way."""
        loop = asyncio.get_running_loop()
        asked = self._asked.get(name)
        if asked is None:
            asked = loop.run_in_executor(self._threads, _ask, name)
            self._asked[name] = asked
            asked.add_done_callback(lambda done: self._learn(name, done))
        # One that gives up waiting must not end the look-up for the others.
        return await asyncio.shield(asked)

    def _learn(self, name: str, done: asyncio.Future[tuple[str, ...]]) -> None:
        """Remember an answer."""
        del self._asked[name]
        if not done.cancelled():
            self._known[name] = done.result()


def _expires(_name: str, addresses: tuple[str, ...], now: float) -> float:
    """Return the time at which a cached entry ends."""
    return now + (KEEP_SECONDS if any(addresses) else KEEP_FAILURE_SECONDS)


def _ask(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; runs in a thread."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        # Python would read a scope as part of the address; such addresses are local, and refused.
        return tuple(dict.fromkeys(str(ipaddress.ip_address(entry[4][0])) for entry in found))
    except (OSError, ValueError) as error:
        # ValueError: the name cannot be encoded, or the answer is no address.
        return _UNANSWERED if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN else ()


async def look_up(names: Sequence[str]) -> dict[str, str]:
    """Look up the IP addresses of hosts (with or without port).

    Those that cannot be told within some seconds are left out.
    """
    tasks = {name: asyncio.ensure_future(_first_address(name)) for name in dict.fromkeys(names)}
    if tasks:
        await asyncio.wait(tasks.values(), timeout=_LOOK_UP_SECONDS)
    for task in tasks.values():
        task.cancel()
    return {name: task.result() for name, task in tasks.items() if task.done() and not task.cancelled()}


async def _first_address(name: str) -> str:
    """Return the first address in text order, the same for all names of one machine."""
    host = name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ""
    return min((str(entry[4][0]) for entry in found), default="")
