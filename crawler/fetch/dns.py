"""DNS cache: permitted IP addresses of host names, asked in threads.

The system's resolver blocks, for a minute when a name server is silent, and cannot be told to stop. So every look-up
has a thread of its own, which nobody waits for longer than some seconds, at the end of the process not at all.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from cachetools import LRUCache, TLRUCache

from db.records.reasons import FailReason

from .errors import FetchError
from .guard import AddressRefused, Guard

KEEP_SECONDS = 600.0
KEEP_FAILURE_SECONDS = 30.0
MAX_NAMES = 10_000
_MOST_THREADS = 256
"""Look-ups at a time: as many names must be silent before another one waits."""
_PATIENCE_SECONDS = 10.0
"""As long as glibc asks one name server (resolv.conf(5): 5 seconds, 2 attempts); later answers are kept, too."""
_SHARED_SECONDS = 3.0
_NO_SUCH_HOST = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)
)
"""Answers of a name server about a name; others say that none could be asked."""
_UNANSWERED = ("",)
"""In place of addresses: nobody could be asked."""


class DnsCache:
    """A DNS cache: resolves names and IP literals to permitted addresses.

    Names under `localhost` are this machine without asking anybody (RFC 6761). Answers are kept for ten minutes and
    failures for half a minute; requests for a name that is being looked up wait for that one look-up. Of several
    addresses the one that answered last comes first.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._answers: TLRUCache[str, tuple[str, ...]] = TLRUCache(MAX_NAMES, _expires, timer=time.monotonic)
        self._look_ups: dict[str, asyncio.Future[tuple[str, ...]]] = {}
        self._answering: LRUCache[str, str] = LRUCache(MAX_NAMES)
        self._waiting: deque[str] = deque()
        self._under_way: dict[str, asyncio.TimerHandle] = {}

    async def addresses(self, host: str, port: int) -> list[str]:
        """Resolve a host to the addresses that it may be connected to.

        Connect to these, which were checked, never to the name.

        Raises:
            AddressRefused: it has addresses, but none that is permitted.
            FetchError: it has no address, or nobody says so within some seconds.
        """
        name = host.lower().removesuffix(".")
        resolved = await self.resolve(name)
        permitted = [address for address in resolved if self.guard.permits(address, port)]
        if not permitted:
            raise AddressRefused(host, resolved[0])
        if len(permitted) > 1 and (answering := self._answering.get(name)) in permitted:
            permitted.sort(key=lambda address: address != answering)
        return permitted

    async def resolve(self, name: str) -> Sequence[str]:
        """Resolve a name that the user gives, such as a proxy's, without the guard.

        It is in small letters, or an IP literal without brackets.

        Raises:
            FetchError: it has no address, or nobody says so within some seconds.
        """
        addresses = await self._resolve(name)
        if not addresses:
            raise FetchError(FailReason.NO_HOST)
        if addresses == _UNANSWERED:
            raise FetchError(FailReason.NO_DNS)
        return addresses

    def unresolved(self, host: str, port: int) -> list[str]:
        """Return what to give a proxy that resolves names: the name, or an IP address.

        Raises:
            AddressRefused: the address is not permitted, or the port is another service's.
        """
        literal = self._literal(host.lower().removesuffix("."))
        if literal is None and not self.guard.closes(port):
            return [host]
        if literal is None or not self.guard.permits(literal[0], port):
            raise AddressRefused(host, "an unknown address" if literal is None else literal[0])
        return [*literal]

    def prefer(self, host: str, address: str) -> None:
        """Return this address of a host first from now on: it answers."""
        self._answering[host.lower()] = address

    def forget(self, host: str | None = None) -> None:
        """Forget the addresses of a host; without one, all failures."""
        names = [name for name in self._answers if not any(self._answers[name])] if host is None else [host.lower()]
        for name in names:
            self._answers.pop(name, None)

    def close(self) -> None:
        self._waiting.clear()
        for timer in self._under_way.values():
            timer.cancel()
        for answer in self._look_ups.values():
            answer.cancel()

    async def _resolve(self, name: str) -> tuple[str, ...]:
        addresses = self._literal(name) or self._answers.get(name)
        return await self._ask(name) if addresses is None else addresses

    @staticmethod
    def _literal(name: str) -> tuple[str, ...] | None:
        if name == "localhost" or name.endswith(".localhost"):
            return ("127.0.0.1",)
        try:
            return (str(ipaddress.ip_address(name)),)
        except ValueError:
            return None

    async def _ask(self, name: str) -> tuple[str, ...]:
        answer = self._look_ups.get(name)
        if answer is None:
            answer = self._look_ups[name] = asyncio.get_running_loop().create_future()
            if name in self._under_way:  # for long: it was given up once
                self._set_timer(name)
            else:
                self._waiting.append(name)
                self._start()
        # One that gives up waiting must not end the look-up for the others.
        return await asyncio.shield(answer)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and len(self._under_way) < _MOST_THREADS:
            name = self._waiting.popleft()
            self._set_timer(name)
            threading.Thread(target=_tell, args=(name, loop, self._learn), name="names", daemon=True).start()

    def _set_timer(self, name: str) -> None:
        self._under_way[name] = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._keep, name, _UNANSWERED)

    def _learn(self, name: str, addresses: tuple[str, ...]) -> None:
        """Store the result of a look-up's thread, however late."""
        self._under_way.pop(name).cancel()
        self._keep(name, addresses)
        self._start()

    def _keep(self, name: str, addresses: tuple[str, ...]) -> None:
        self._answers[name] = addresses
        waiting = self._look_ups.pop(name, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(addresses)


def _expires(_name: str, addresses: tuple[str, ...], now: float) -> float:
    return now + (KEEP_SECONDS if any(addresses) else KEEP_FAILURE_SECONDS)


def _tell(name: str, loop: asyncio.AbstractEventLoop, learn: Callable[[str, tuple[str, ...]], None]) -> None:
    addresses = _ask(name)
    with suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
        loop.call_soon_threadsafe(learn, name, addresses)


def _ask(name: str) -> tuple[str, ...]:
    try:
        entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        # Python would read a scope as part of the address; such addresses are local, and refused.
        return tuple(dict.fromkeys(str(ipaddress.ip_address(entry[4][0])) for entry in entries))
    except (OSError, ValueError) as error:
        # ValueError: the name cannot be encoded, or the answer is no address.
        was_told = isinstance(error, ValueError) or (
            isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_HOST
        )
        return () if was_told else _UNANSWERED


async def look_up(names: Sequence[str]) -> dict[str, str]:
    """Look up IP addresses of hosts (with or without port); slow ones are left out."""
    cache = DnsCache(Guard())
    tasks = {name: asyncio.ensure_future(_first_address(cache, name)) for name in dict.fromkeys(names)}
    if tasks:
        await asyncio.wait(tasks.values(), timeout=_SHARED_SECONDS)
    for task in tasks.values():
        task.cancel()
    cache.close()
    return {name: task.result() for name, task in tasks.items() if task.done() and not task.cancelled()}


async def _first_address(cache: DnsCache, name: str) -> str:
    """Return the first address in text order, the same for all names of one machine."""
    host = name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
    return min(await cache._resolve(host.lower()), default="")
