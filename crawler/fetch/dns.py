"""Addresses of host names, permitted ones only: asked in threads, remembered, the same for all who connect.

Names               look-ups for the crawler's own connections
GuardedResolver     the same for whatever else connects through Twisted's reactor
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from twisted.internet.address import IPv4Address, IPv6Address

from db.records.reasons import FailReason

from .errors import FetchError
from .guard import AddressRefused, Guard, guard_from_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self


KEEP_SECONDS = 600.0
KEEP_FAILURE_SECONDS = 30.0
MAX_NAMES = 10_000
_THREADS = 16


class Names:
    """Resolves names and IP literals to permitted addresses.

    Names under `localhost` are this machine without asking anybody (RFC 6761). Answers are kept for ten minutes and
    failures for half a minute; requests for a name that is being looked up wait for that one look-up.
    """

    def __init__(self, guard: Guard) -> None:
        """Start with an empty memory.

        Args:
            guard: what may be connected to.
        """
        self.guard = guard
        self._known: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()
        self._asked: dict[str, asyncio.Future[tuple[str, ...]]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="names")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Find where a host may be connected to.

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
        permitted = [address for address in found if self.guard.permits(address, port)]
        if not permitted:
            raise AddressRefused(host, found[0])
        return permitted

    def close(self) -> None:
        """Forget what has been asked and not answered."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _recall(self, name: str) -> tuple[str, ...] | None:
        """The addresses of a name that need no asking; None when it must be asked."""
        if name == "localhost" or name.endswith(".localhost"):
            return ("127.0.0.1",)
        try:
            return (str(ipaddress.ip_address(name)),)
        except ValueError:
            pass
        expires, addresses = self._known.get(name, (0.0, ()))
        return addresses if expires > time.monotonic() else None

    async def _ask(self, name: str) -> tuple[str, ...]:
        """Ask the system, or wait for whom has asked it."""
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
        if done.cancelled():
            return
        addresses = done.result()
        keep = KEEP_SECONDS if addresses else KEEP_FAILURE_SECONDS
        self._known[name] = (time.monotonic() + keep, addresses)
        self._known.move_to_end(name)
        while len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)


class _Resolution:
    """A look-up under way; it is not cancelled, its answer is kept for the next one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Let it run: a thread that waits for a name server cannot be stopped."""


class GuardedResolver:
    """The reactor's resolver (`TWISTED_DNS_RESOLVER`): the crawler does not use it, but what others add might."""

    def __init__(self, reactor: Any, guard: Guard) -> None:
        """Prepare for a reactor; `install_on_reactor` puts it to use."""
        self._reactor = reactor
        self._names = Names(guard)
        self._answers: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Self:
        """Build it as Scrapy does; there `crawler` may be a crawler process."""
        return cls(reactor, guard_from_settings(crawler.settings))

    def install_on_reactor(self) -> None:
        """Make it the only resolver of the reactor."""
        self._reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[Any]] | None = None,
        transportSemantics: Literal["TCP", "UDP"] = "TCP",
    ) -> _Resolution:
        """Give the receiver the permitted addresses of a host, maybe none: see `IHostnameResolver`."""
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        async def answer() -> None:
            try:
                addresses = await self._names.addresses(hostName, portNumber)
            except (AddressRefused, FetchError):
                addresses = []
            for address in addresses:
                kind = IPv6Address if ":" in address else IPv4Address
                if addressTypes is None or kind in addressTypes:
                    resolutionReceiver.addressResolved(kind(transportSemantics, address, portNumber))
            resolutionReceiver.resolutionComplete()

        task = asyncio.ensure_future(answer())
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)
        return resolution


def _ask(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; runs in a thread."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        # Python would read a scope as part of the address; such addresses are local, and refused.
        return tuple(dict.fromkeys(str(ipaddress.ip_address(entry[4][0])) for entry in found))
    except (OSError, ValueError):
        # ValueError: the name cannot be encoded, or the answer is no address.
        return ()
