"""A guard that permits connections to public IP addresses only. Pure.

So no page can send the crawler into the local network. Names are checked by what they resolve to, and the connection is
made to the address that was checked: no second look-up could answer otherwise (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
_PORTS_OF_OTHERS = """
    1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
    135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993
    995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
_CLOSED_PORTS = frozenset(map(int, _PORTS_OF_OTHERS.split()))
"""Ports of services that might obey a request as their own (mail, chat, files): the Fetch Standard's list."""
_BRACKETS = re.compile(r"\[([^\[\]]*)\](?::(.*))?")
_PORT = re.compile(r"[0-9]{1,5}")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class AddressRefused(Exception):
    def __init__(self, host: str, address: str) -> None:
        super().__init__(host, address)
        self.host = host
        self.address = address

    def __str__(self) -> str:
        where = f"{self.host} is at {self.address}"
        return f"{where}, which is not public (or its port is not the web's); ALLOW_NETWORKS can open it"


class Guard:
    """Permits globally routable unicast addresses, and those the user opens."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        """Read the networks that are permitted besides the public ones.

        They are networks or single addresses, with or without port: `127.0.1.0/24`, `127.0.0.1:8710`, `[::1]:8710`.

        Raises:
            ValueError: one of them is no network.
        """
        self._allowed = [_parse_network(text.strip()) for text in allow if text.strip()]

    def permits(self, address: str, port: int | None = None) -> bool:
        """Tell whether a connection to an IP address may be made.

        Addresses that carry an IPv4 address inside (mapped, 6to4, NAT64) count as that one; anything that is no address
        is refused. Networks opened with a port need that port; ports of other services than the web are closed unless
        they are opened by number.
        """
        try:
            parsed = _inner(ipaddress.ip_address(address))
        except ValueError:
            return False
        opened = [only for network, only in self._allowed if parsed in network and only in (None, port)]
        if port in _CLOSED_PORTS and port not in opened:
            return False
        if opened:
            return True
        if isinstance(parsed, ipaddress.IPv6Address) and (parsed not in _PUBLIC_V6 or parsed.scope_id):
            return False
        return parsed.is_global and not any(parsed in network for network in _CLOSED)

    def closes(self, port: int) -> bool:
        """Tell whether a port is another service's, and opened nowhere by number."""
        return port in _CLOSED_PORTS and all(only != port for _, only in self._allowed)


def is_address(text: str) -> bool:
    """Tell whether a host is an IP address, which no domain can point elsewhere."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


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
    host, port = text, None
    if bracketed := _BRACKETS.fullmatch(text):
        host, port = bracketed[1], bracketed[2]
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
