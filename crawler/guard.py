"""Which addresses may be connected to: public ones only, so that no page can send the crawler into the local network.

Names are checked by what they resolve to, inside the look-up whose answer the connection is then made with: there is no
second look-up that could answer otherwise (DNS rebinding).

    AddressRefused      raised instead of connecting
    Guard               the rule itself, pure
    GuardedResolver     the reactor's only source of addresses: asks, remembers, filters
    GuardedHandler      HTTP download handler: installs the resolver, and names refusals to the request's errback
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections import OrderedDict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import CannotResolveHostError, NotSupported
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.threads import deferToThreadPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal, Self

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

KEEP_SECONDS = 600.0
KEEP_FAILURE_SECONDS = 30.0
MAX_NAMES = 10_000

# Ranges that belong to nobody's public site, although parts of them are routed.
_CLOSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        "168.63.129.16/32",  # the host's own service on Azure
        "2001::/23",  # Teredo, ORCHID, benchmarks
        "2001:db8::/32",
        "3fff::/20",
    )
)
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_BRACKETS = re.compile(r"\[([^\[\]]*)\](?::(.*))?")
_PORT = re.compile(r"[0-9]{1,5}")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class AddressRefused(Exception):
    """A host resolves to addresses that may not be connected to.

    Attributes:
        host: host of the request.
        address: the first address it resolved to.
    """

    def __init__(self, host: str, address: str) -> None:
        """Keep what was refused."""
        super().__init__(host, address)
        self.host = host
        self.address = address

    def __str__(self) -> str:
        """Say what was refused, and what would open it."""
        return f"{self.host} is at {self.address}, which is not public; ALLOW_NETWORKS can open it"


class Guard:
    """Decides which addresses may be connected to: globally routable unicast, and what the user opens."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        """Read the networks that are open besides the public ones.

        Args:
            allow: networks or single addresses, with or without port: `127.0.1.0/24`, `127.0.0.1:8710`, `[::1]:8710`;
                white space around them and empty ones do not matter.

        Raises:
            ValueError: one of them is no network.
        """
        self._allowed = [_parse_network(text.strip()) for text in allow if text.strip()]

    def permits(self, address: str, port: int | None = None) -> bool:
        """Tell whether a connection may be made.

        Args:
            address: IPv4 or IPv6 address; anything else is refused.
            port: port of the connection; networks opened with a port need it.

        Returns:
            True for public and opened addresses. Addresses that carry an IPv4 address inside (mapped, 6to4, NAT64)
            count as that one.
        """
        try:
            parsed = _inner(ipaddress.ip_address(address))
        except ValueError:
            return False
        if any(parsed in network and only in (None, port) for network, only in self._allowed):
            return True
        if isinstance(parsed, ipaddress.IPv6Address) and (parsed not in _PUBLIC_V6 or parsed.scope_id):
            return False
        return parsed.is_global and not any(parsed in network for network in _CLOSED)


def guard_from_settings(settings: BaseSettings) -> Guard:
    """Make the guard that setting `ALLOW_NETWORKS` asks for.

    Args:
        settings: `ALLOW_NETWORKS` is a list, or a text with commas; empty by default.

    Returns:
        The guard.

    Raises:
        ValueError: the setting holds something that is no network.
    """
    return Guard(map(str, settings.getlist("ALLOW_NETWORKS")))


class _Resolution:
    """A look-up under way; it is not cancelled, its answer is kept for the next one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Let it run: a thread that waits for a name server cannot be stopped."""


class GuardedResolver:
    """Resolves names and IP literals to permitted addresses only.

    Names under `localhost` are this machine without asking anybody (RFC 6761). Answers are kept for ten minutes and
    failures for half a minute; requests for a name that is being looked up wait for that one look-up.
    """

    def __init__(self, reactor: Any, guard: Guard) -> None:
        """Prepare for a reactor; `install_on_reactor` puts it to use."""
        self.guard = guard
        self._reactor = reactor
        self._known: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()
        self._waiting: dict[str, list[Callable[[tuple[str, ...]], None]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Self:
        """Build it as Scrapy does for `TWISTED_DNS_RESOLVER`; there `crawler` may be a crawler process."""
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

        def answer(addresses: tuple[str, ...]) -> None:
            for address in addresses:
                if self.guard.permits(address, portNumber):
                    kind = IPv6Address if ":" in address else IPv4Address
                    if addressTypes is None or kind in addressTypes:
                        resolutionReceiver.addressResolved(kind(transportSemantics, address, portNumber))
            resolutionReceiver.resolutionComplete()

        self._look_up(_key(hostName), answer)
        return resolution

    def refused(self, host: str, port: int) -> str | None:
        """Return the address for which a host was refused; None when it has not been refused.

        Args:
            host: host as requested.
            port: port as requested.

        Returns:
            Its first address, if it is known to have addresses, and none of them is permitted.
        """
        name = _key(host)
        # An answer that is too old to connect with still says why nothing was connected to.
        _, learned = self._known.get(name, (0.0, ()))
        addresses = self._recall(name) or learned
        if addresses and not any(self.guard.permits(address, port) for address in addresses):
            return addresses[0]
        return None

    def _recall(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses of a name that need no asking; None when it must be asked."""
        if name == "localhost" or name.endswith(".localhost"):
            return ("127.0.0.1",)
        try:
            return (str(ipaddress.ip_address(name)),)
        except ValueError:
            pass
        expires, addresses = self._known.get(name, (0.0, ()))
        return addresses if expires > self._reactor.seconds() else None

    def _look_up(self, name: str, answer: Callable[[tuple[str, ...]], None]) -> None:
        """Call `answer` with the addresses of a name, at once or later."""
        known = self._recall(name)
        if known is not None:
            answer(known)
            return
        if name in self._waiting:
            self._waiting[name].append(answer)
            return
        self._waiting[name] = [answer]
        asked = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _ask, name)
        asked.addErrback(lambda _: ())
        asked.addCallback(lambda addresses: self._learn(name, addresses))

    def _learn(self, name: str, addresses: tuple[str, ...]) -> None:
        """Remember an answer and pass it to all who wait for it."""
        keep = KEEP_SECONDS if addresses else KEEP_FAILURE_SECONDS
        self._known[name] = (self._reactor.seconds() + keep, addresses)
        self._known.move_to_end(name)
        while len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)
        for answer in self._waiting.pop(name):
            answer(addresses)


class GuardedHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP handler, connecting through a `GuardedResolver` only.

    It installs the resolver itself, so that the spider's own settings count, and nothing is open when
    `TWISTED_DNS_RESOLVER` is forgotten. The resolver is the reactor's: with several crawlers in one process, the one
    that started last decides.
    """

    def __init__(self, crawler: Any) -> None:
        """Put the crawler's guard in charge of the reactor."""
        super().__init__(crawler)
        # Only here, because importing the module is what chooses the reactor.
        reactor = import_module("twisted.internet.reactor")
        guard = guard_from_settings(crawler.settings)
        installed = reactor.nameResolver
        if isinstance(installed, GuardedResolver):
            # That of the process, or of the other scheme's handler: one memory of names is enough.
            installed.guard = guard
            self._resolver = installed
        else:
            self._resolver = GuardedResolver(reactor, guard)
            self._resolver.install_on_reactor()

    async def download_request(self, request: Request) -> Response:
        """Download, or raise `AddressRefused`.

        Proxies are not supported: what a proxy connects to cannot be seen from here.
        """
        if request.meta.get("proxy"):
            msg = "requests through a proxy escape the address guard; set HTTPPROXY_ENABLED = False"
            raise NotSupported(msg)
        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            parts = urlparse_cached(request)
            host = parts.hostname or ""
            address = self._resolver.refused(host, parts.port or (443 if parts.scheme == "https" else 80))
            if address is None:
                raise
            raise AddressRefused(host, address) from error


def _ask(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; runs in a thread."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        # Python would read a scope as part of the address; such addresses are local, and refused.
        return tuple(dict.fromkeys(str(ipaddress.ip_address(entry[4][0])) for entry in found))
    except (OSError, ValueError):
        # ValueError: the name cannot be encoded, or the answer is no address.
        return ()


def _key(host: str) -> str:
    """Return the name under which a host is looked up."""
    return host.lower().removesuffix(".")


def _inner(address: _Address) -> _Address:
    """Return the IPv4 address inside an IPv6 address, where there is one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _parse_network(text: str) -> tuple[_Network, int | None]:
    """Read a network or address, with an optional port."""
    host, port = text, None
    if found := _BRACKETS.fullmatch(text):
        host, port = found[1], found[2]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        network = ipaddress.ip_network(host)
    except ValueError as error:
        msg = f"ALLOW_NETWORKS: {text!r} is no network ({error}); write for example 127.0.1.0/24 or 127.0.0.1:8710"
        raise ValueError(msg) from None
    if port is not None and not (_PORT.fullmatch(port) and 0 < int(port) < 65536):
        msg = f"ALLOW_NETWORKS: {text!r} has no port from 1 to 65535 after the address"
        raise ValueError(msg)
    return network, None if port is None else int(port)
