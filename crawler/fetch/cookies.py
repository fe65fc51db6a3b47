"""Cookies per site, in memory only, few and short. Pure.

Some sites answer every request without their cookie with a redirect to the same page. Nothing else is wanted of
cookies, so they are forgotten at the end of the crawl, never leave the site that set them, and never grow.

Source: RFC 6265bis (draft-ietf-httpbis-rfc6265bis), sections 5.6 (parsing), 5.7 (storage) and 5.8 (retrieval).
Differs: cookies without a name are refused; name and value have 4,093 bytes together, so that each fits the header;
cookies of equal path length are sent in the order in which they were last set; dates are read as those of mail;
SameSite and HttpOnly change nothing, as no page asks for another here.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

from cachetools import LRUCache

from pipelines.urls import site_key

MOST_SITES = 2_000
MOST_COOKIES = 50
MOST_SITE_BYTES = 8_192
MOST_HEADER_BYTES = 4_096
_MOST_LINES = 100
_MOST_DATE = 100
_MOST_ATTRIBUTE = 1_024
"""Characters of the value of an attribute; a longer one is ignored (RFC 6265bis, 5.6)."""

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

    def has_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.domain, self.path

    @property
    def size(self) -> int:
        return len(self.name) + len(self.value) + 3

    def fits(self, host: str, path: str, *, secure: bool, now: float) -> bool:
        if self.has_expired(now) or (self.secure and not secure):
            return False
        if host != self.domain and (self.host_only or not host.endswith("." + self.domain)):
            return False
        return self._covers(path)

    def is_overlaid(self, other: _Cookie) -> bool:
        domain, other_domain = f".{self.domain}", f".{other.domain}"
        overlaps = domain.endswith(other_domain) or other_domain.endswith(domain)
        return self.name == other.name and overlaps and self._covers(other.path)

    def _covers(self, path: str) -> bool:
        return path == self.path or path.startswith(self.path if self.path.endswith("/") else self.path + "/")


@dataclass(slots=True)
class _Jar:
    """Cookies of one site by name, domain and path; the newest last."""

    cookies: OrderedDict[tuple[str, str, str], _Cookie] = field(default_factory=OrderedDict)
    size: int = 0

    def protects(self, cookie: _Cookie, now: float) -> bool:
        stored = self.cookies.values()
        return any(one.secure and not one.has_expired(now) and one.is_overlaid(cookie) for one in stored)

    def put(self, cookie: _Cookie, now: float) -> bool:
        """Store or delete; tells whether a request will look different now.

        Beyond the bounds the expired ones go first, then those that are not secure, the oldest of them first.
        """
        replaced = self.cookies.pop(cookie.key, None)
        if replaced is not None:
            self.size -= replaced.size
        if cookie.has_expired(now):
            return replaced is not None
        self.cookies[cookie.key] = cookie
        self.size += cookie.size
        while len(self.cookies) > MOST_COOKIES or self.size > MOST_SITE_BYTES:
            dropped = min(self.cookies.values(), key=lambda one: (not one.has_expired(now), one.secure))
            self.size -= self.cookies.pop(dropped.key).size
        return replaced is None or replaced.value != cookie.value


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
        """Return the Cookie header of a request, empty for none; `now` is in Unix seconds.

        It has at most 4 KB of the cookies set last, those of longer paths first.
        """
        jar = self._jars.get(site_key(host))
        if jar is None:
            return ""
        sent: list[_Cookie] = []
        left = MOST_HEADER_BYTES
        for cookie in reversed(jar.cookies.values()):
            if cookie.size <= left and cookie.fits(host, path, secure=secure, now=now):
                left -= cookie.size
                sent.append(cookie)
        sent.reverse()
        sent.sort(key=lambda cookie: len(cookie.path), reverse=True)
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in sent)

    def keep(self, host: str, path: str, lines: Sequence[str], *, secure: bool, now: float) -> bool:
        """Store cookies; True if one is new, has another value, or is gone."""
        is_new = False
        for line in lines[:_MOST_LINES]:
            cookie = _parse(line, host, path, secure=secure, now=now)
            if cookie is None:
                continue
            jar = self._jars.setdefault(site_key(host), _Jar())
            if not secure and jar.protects(cookie, now):
                continue  # whoever can change what comes without TLS may not change what came with it
            is_new = jar.put(cookie, now) or is_new
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
        key, _, text = (part.strip() for part in item.partition("="))
        if len(text) <= _MOST_ATTRIBUTE:
            attributes[key.lower()] = text
    domain = attributes.get("domain", "").lower().removeprefix(".")
    if domain and not _may_set(domain, host):
        return None
    wanted_path = attributes.get("path", "")
    prefix = name.lower()
    needs_tls = "secure" in attributes or prefix.startswith(("__secure-", "__host-"))
    if needs_tls and not (secure and "secure" in attributes):
        return None
    if prefix.startswith("__host-") and (domain or wanted_path != "/"):
        return None
    return _Cookie(
        name=name,
        value=value,
        domain=domain or host,
        host_only=not domain,
        path=wanted_path if wanted_path.startswith("/") else path[: path.rfind("/")] or "/",
        secure="secure" in attributes,
        expires=_expires(attributes, now),
    )


def _may_set(domain: str, host: str) -> bool:
    # A public suffix is a site of its own, an address too: neither is above anything.
    return domain == host or (host.endswith("." + domain) and site_key(domain) == site_key(host))


def _expires(attributes: dict[str, str], now: float) -> float | None:
    """Return the expiry time of a cookie; Max-Age wins, and all dates are in UTC."""
    seconds = attributes.get("max-age", "")
    if _SECONDS.fullmatch(seconds):
        return now + int(seconds)
    text = attributes.get("expires", "")
    if not text or len(text) > _MOST_DATE:
        return None
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
