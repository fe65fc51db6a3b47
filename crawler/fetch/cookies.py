"""Cookies per site, in memory only, few and short. Pure.

Some sites answer every request without their cookie with a redirect to the same page. Nothing else is wanted of
cookies, so they are forgotten at the end of the crawl, never leave the site that set them, and never grow.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from cachetools import LRUCache

from pipelines.urls import site_key

MOST_SITES = 2_000
MOST_COOKIES = 50
MOST_SITE_BYTES = 8_192
MOST_HEADER_BYTES = 4_096
_MOST_LINES = 100
_MOST_DATE = 100

_UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SECONDS = re.compile(r"-?[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class _Cookie:
    """A cookie as RFC 6265 stores it; `expires` is in Unix seconds, or None."""

    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    expires: float | None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.domain, self.path

    @property
    def size(self) -> int:
        return len(self.name) + len(self.value) + 3

    def fits(self, host: str, path: str, *, secure: bool, now: float) -> bool:
        """Tell whether the cookie belongs to a request."""
        if (self.expires is not None and self.expires <= now) or (self.secure and not secure):
            return False
        if host != self.domain and (self.host_only or not host.endswith("." + self.domain)):
            return False
        return self._covers(path)

    def is_overlaid(self, other: _Cookie) -> bool:
        """Tell whether another cookie is sent where this one is (RFC 6265bis, 5.7)."""
        own, theirs = f".{self.domain}", f".{other.domain}"
        return self.name == other.name and (own.endswith(theirs) or theirs.endswith(own)) and self._covers(other.path)

    def _covers(self, path: str) -> bool:
        return path == self.path or path.startswith(self.path if self.path.endswith("/") else self.path + "/")


@dataclass(slots=True)
class _Jar:
    """Cookies of one site by name, domain and path; the newest last."""

    cookies: OrderedDict[tuple[str, str, str], _Cookie] = field(default_factory=OrderedDict)
    size: int = 0

    def protects(self, cookie: _Cookie, now: float) -> bool:
        """Tell whether a cookie that came without TLS must be refused."""
        living = (one for one in self.cookies.values() if one.expires is None or one.expires > now)
        return any(one.secure and one.is_overlaid(cookie) for one in living)

    def put(self, cookie: _Cookie, *, is_gone: bool) -> bool:
        """Store or delete; tells whether a request will look different now."""
        key = cookie.key
        known = self.cookies.pop(key, None)
        if known is not None:
            self.size -= known.size
        if is_gone:
            return known is not None
        self.cookies[key] = cookie
        self.size += cookie.size
        while len(self.cookies) > MOST_COOKIES or self.size > MOST_SITE_BYTES:
            oldest = next((one for one in self.cookies.values() if not one.secure), None)
            oldest = oldest or next(iter(self.cookies.values()))
            self.size -= self.cookies.pop(oldest.key).size
        return known is None or known.value != cookie.value


class SiteCookies:
    """The cookies of all sites.

    >>> cookies = SiteCookies()
    >>> cookies.keep("www.news.cn", "/", ["seen=1; Path=/"], secure=False, now=0.0)
    True
    >>> cookies.header("www.news.cn", "/a", secure=False, now=1.0)
    'seen=1'
    >>> cookies.header("other.cn", "/", secure=False, now=1.0)
    ''
    """

    def __init__(self) -> None:
        self._jars: LRUCache[str, _Jar] = LRUCache(MOST_SITES)

    def header(self, host: str, path: str, *, secure: bool, now: float) -> str:
        """Return the Cookie header of a request.

        Args:
            now: Unix seconds.

        Returns:
            At most 4 KB, the cookies set last; empty for none.
        """
        jar = self._jars.get(site_key(host))
        if jar is None:
            return ""
        parts: list[str] = []
        left = MOST_HEADER_BYTES
        for cookie in reversed(jar.cookies.values()):
            if cookie.size <= left and cookie.fits(host, path, secure=secure, now=now):
                left -= cookie.size
                parts.append(f"{cookie.name}={cookie.value}")
        return "; ".join(reversed(parts))

    def keep(self, host: str, path: str, lines: Sequence[str], *, secure: bool, now: float) -> bool:
        """Store the cookies that a server sets.

        Args:
            now: Unix seconds.

        Returns:
            Whether there is a cookie that was not there before, or has another value.
        """
        is_new = False
        for line in lines[:_MOST_LINES]:
            cookie = _parse(line, host, path, secure=secure, now=now)
            if cookie is None:
                continue
            jar = self._jars.setdefault(site_key(host), _Jar())
            if not secure and jar.protects(cookie, now):
                continue  # whoever can change what comes without TLS may not change what came with it
            is_gone = cookie.expires is not None and cookie.expires <= now
            is_new = jar.put(cookie, is_gone=is_gone) or is_new
        return is_new


def _parse(line: str, host: str, path: str, *, secure: bool, now: float) -> _Cookie | None:
    """Parse a cookie; None when it is malformed, too long or not for this host."""
    if len(line) > 2 * MOST_HEADER_BYTES or _UNSAFE.search(line):
        return None
    pair, *rest = line.replace("\t", " ").split(";")
    name, equals, value = (part.strip() for part in pair.partition("="))
    if not equals or not name or len(name) + len(value) + 3 > MOST_HEADER_BYTES:
        return None
    attributes: dict[str, str] = {}
    for item in rest:
        key, _, said = item.partition("=")
        attributes[key.strip().lower()] = said.strip()
    domain = attributes.get("domain", "").lower().removeprefix(".")
    if domain and not _may_set(domain, host):
        return None
    asked = attributes.get("path", "")
    prefix = name.lower()
    needs_tls = "secure" in attributes or prefix.startswith(("__secure-", "__host-"))
    if needs_tls and not (secure and "secure" in attributes):
        return None
    if prefix.startswith("__host-") and (domain or asked != "/"):
        return None
    return _Cookie(
        name=name,
        value=value,
        domain=domain or host,
        host_only=not domain,
        path=asked if asked.startswith("/") else path[: path.rfind("/")] or "/",
        secure="secure" in attributes,
        expires=_expires(attributes, now),
    )


def _may_set(domain: str, host: str) -> bool:
    """Tell whether a host may set cookies for a domain: itself or one above it."""
    # A public suffix is a site of its own, an address too: neither is above anything.
    return domain == host or (host.endswith("." + domain) and site_key(domain) == site_key(host))


def _expires(attributes: dict[str, str], now: float) -> float | None:
    """Return the expiry time of a cookie; Max-Age wins."""
    seconds = attributes.get("max-age", "")
    if _SECONDS.fullmatch(seconds):
        return now + int(seconds)
    text = attributes.get("expires", "")
    if not text or len(text) > _MOST_DATE:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
