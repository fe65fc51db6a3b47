"""Sessions and limits on guesses, in memory: a restart signs everybody out."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...manage.passwords import Role

IDLE_SECONDS: Final = 12 * 3_600.0
LONGEST_SECONDS: Final = 7 * 86_400.0
TRIES: Final = 5
"""Passwords that an address may try at once; then one every `TRY_SECONDS`."""
TRY_SECONDS: Final = 60.0
_MOST_SESSIONS = 1_000
_MOST_ADDRESSES = 10_000
_TOKEN_BYTES = 32
_NONCE = 32
"""Hexadecimal digits of the part of a form's token that differs in each answer."""
_NETWORK = 64
"""Bits of an IPv6 address that a provider gives to one customer."""


@dataclass(slots=True)
class SignedIn:
    """Somebody who has signed in; `stamp` is that of the password they used."""

    role: Role
    stamp: bytes
    begun: float
    used: float
    secret: bytes

    def token(self) -> str:
        """Return a token for forms, another one each time: compression tells nothing."""
        nonce = secrets.token_hex(_NONCE // 2)
        return nonce + self._signed(nonce)

    def knows(self, token: str) -> bool:
        return hmac.compare_digest(token[_NONCE:].encode(), self._signed(token[:_NONCE]).encode())

    def _signed(self, nonce: str) -> str:
        return hmac.new(self.secret, nonce.encode(), "sha256").hexdigest()


class Sessions:
    """All sessions by the SHA-256 of what the browser has; any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: OrderedDict[bytes, SignedIn] = OrderedDict()

    def begin(self, role: Role, stamp: bytes) -> str:
        """Begin a session; returns the random text that the browser is to send."""
        sent, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        with self._lock:
            self._sessions[_key(sent)] = SignedIn(role, stamp, now, now, secrets.token_bytes(_TOKEN_BYTES))
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return sent

    def find(self, sent: str, stamp_of: Callable[[Role], bytes]) -> SignedIn | None:
        """Return the session of a browser; one too old or of another password ends."""
        key, now = _key(sent), self._clock()
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            is_old = now > session.used + IDLE_SECONDS or now > session.begun + LONGEST_SECONDS
            if is_old or not session.stamp or session.stamp != stamp_of(session.role):
                del self._sessions[key]
                return None
            session.used = now
            self._sessions.move_to_end(key)
            return session

    def end(self, sent: str) -> None:
        with self._lock:
            self._sessions.pop(_key(sent), None)


class Attempts:
    """Tries at passwords that each address has left."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tries that were left, and when; who is not in it has all."""

    def wait(self, address: str) -> float:
        """Count a try of an address; returns 0, or for how many seconds it may not."""
        key, now = network_of(address), self._clock()
        with self._lock:
            left, at = self._left.get(key, (float(TRIES), now))
            left = min(float(TRIES), left + (now - at) / TRY_SECONDS)
            if left < 1:
                return (1 - left) * TRY_SECONDS
            self._left[key] = (left - 1, now)
            self._left.move_to_end(key)
            if len(self._left) > _MOST_ADDRESSES:
                self._left.popitem(last=False)
            return 0.0

    def succeeded(self, address: str) -> None:
        """Forget the tries of an address that knew the password."""
        with self._lock:
            self._left.pop(network_of(address), None)


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or an IPv6 network.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3::4"), network_of("::ffff:192.0.2.7"), network_of("?")
    ('192.0.2.7', '2001:db8:1:2::/64', '192.0.2.7', '?')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed.packed, _NETWORK), strict=False))
    return str(parsed)


def _key(sent: str) -> bytes:
    return hashlib.sha256(sent.encode("utf-8", "surrogatepass")).digest()
