"""Proxies: read them, choose one for a request, have dead ones rest. Pure.

A proxy is named by a request (`meta["proxy"]`, where the `proxy=` of its seed stands, too), else by `PROXY`, else by
the variables that curl reads. Several make a list: each new connection takes the first that does not rest. Logs and
pages show proxies without user and password.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Final
from urllib.parse import unquote

from db.records.reasons import FailReason

from .errors import FetchError, clean

DIRECT: Final = "none"
"""Stands in a list for a connection without a proxy."""
FIRST_REST: Final = 5.0
LONGEST_REST: Final = 600.0
_LONGER: Final = 4.0
"""Factor from each rest in a row to the next."""

_PROXY = re.compile(r"(?:([a-z0-9+.-]+)://)?(?:(.*)@)?(\[[0-9a-f:.]+\]|[^\s\[\]/@:]+)?(?::([0-9]*))?/?", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,]+")
_ALLOWED = (
    "write http://user:password@host:port or socks5://..., signs in the password as percent escapes, several separated "
    f"by commas, or {DIRECT}"
)
_OTHER_SCHEMES = {
    "https": "https:// would be TLS to the proxy itself, which is not spoken; http:// serves https pages as well",
    "socks5h": "socks5h:// has the proxy resolve names; write socks5://, and PROXY_RESOLVES=True if that is meant",
}
_MOST_LOGIN_BYTES = 255  # RFC 1929


class ProxyKind(StrEnum):
    HTTP = "http"
    SOCKS5 = "socks5"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy; shown without user and password, which are empty if it asks for none.

    `named_by` is the setting, variable or the like that names it, for messages.
    """

    kind: ProxyKind
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    named_by: str = field(default="PROXY", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def basic(self) -> bytes:
        """Return user and password as HTTP has them (RFC 7617); empty without."""
        if not (self.user or self.password):
            return b""
        return b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())


Route = tuple[Proxy | None, ...]
"""Proxies in the order in which they are tried, None for no proxy; empty when no proxy is to be used at all."""


def read_proxies(text: str, named_by: str = "PROXY") -> Route:
    """Read proxies, separated by commas or white space.

    Each is `http://user:password@host:port`, `socks5://host:port`, or `none`; http when there is no scheme.

    Raises:
        ValueError: one is wrong. The message shows nothing of it, because a password might be in it.
    """
    entries = [entry for entry in _SEPARATORS.split(text) if entry]
    try:
        return tuple(_read_one(entry, named_by) for entry in entries)
    except ValueError as error:
        raise ValueError(f"{error}; {_ALLOWED}") from None


def _read_one(entry: str, named_by: str) -> Proxy | None:
    if entry.lower() == DIRECT:
        return None
    match = _PROXY.fullmatch(entry)
    if match is None:
        raise ValueError("a proxy is not written as one")
    scheme, login, host, port = match.groups()
    scheme = (scheme or ProxyKind.HTTP).lower()
    if scheme in _OTHER_SCHEMES:
        raise ValueError(_OTHER_SCHEMES[scheme])
    if scheme not in set(ProxyKind):
        raise ValueError("a proxy has a scheme that is not spoken")
    if not host:
        raise ValueError("a proxy has no name")
    if not port or not 0 < int(port[:6]) < 1 << 16:
        raise ValueError("a proxy has no port from 1 to 65535")
    user, _, password = map(unquote, (login or "").partition(":"))
    if max(len(user.encode()), len(password.encode())) > _MOST_LOGIN_BYTES:
        raise ValueError(f"user or password of a proxy have more than {_MOST_LOGIN_BYTES} bytes")
    if ":" in user:
        raise ValueError("the user of a proxy has a colon")
    return Proxy(ProxyKind(scheme), host.strip("[]").lower(), int(port), user, password, named_by)


def written(route: Route) -> str:
    return ",".join(str(proxy or DIRECT) for proxy in route)


# ------------------------------------------------------------ the variables of other programs


@dataclass(frozen=True, slots=True)
class Exempt:
    """Hosts, and those below, that need no proxy of the environment (`no_proxy`)."""

    all: bool = False
    names: tuple[tuple[str, int | None], ...] = ()
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def read(cls, text: str) -> Exempt:
        """Read `no_proxy` as curl does: names, networks, or `*`; pass over all else."""
        names: list[tuple[str, int | None]] = []
        networks = []
        entries = [entry for entry in _SEPARATORS.split(text.lower()) if entry]
        for entry in entries:
            try:
                networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                name, _, port = entry.partition(":")
                if (name := name.removeprefix("*").strip(".")) and (not port or port.isdecimal()):
                    names.append((name, int(port) if port else None))
        return cls("*" in entries, tuple(names), tuple(networks))

    def covers(self, host: str, port: int) -> bool:
        """Tell whether a host, given by name or IP address, is exempt."""
        if self.all:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            below = f".{host}"
            return any(below.endswith(f".{name}") and only in (None, port) for name, only in self.names)
        return any(address in network for network in self.networks)


@dataclass(frozen=True, slots=True)
class Environment:
    http: Route = ()
    https: Route = ()
    exempt: Exempt = field(default_factory=Exempt)


def read_environment(variables: Mapping[str, str]) -> Environment:
    """Read `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, also in capitals.

    Raises:
        ValueError: one is wrong, see `read_proxies`.
    """

    def of(*names: str) -> Route:
        for name in (spelled for one in names for spelled in (one, one.upper())):
            if value := variables.get(name):
                try:
                    return read_proxies(value, name)
                except ValueError as error:
                    message = f"the environment variable {name}: {error} (PROXY={DIRECT} goes without it)"
                    raise ValueError(message) from None
        return ()

    exempt = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
    return Environment(of("http_proxy", "all_proxy"), of("https_proxy", "all_proxy"), Exempt.read(exempt))


def _is_loopback(host: str) -> bool:
    """Tell whether a name or IP address is this machine, which no proxy would find."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# ------------------------------------------------------------ faults, and rests


class ProxyFault(Enum):
    """A fault that keeps a proxy from serving anybody: its description and its cure."""

    NO_NAME = "has a name that cannot be resolved", "correct {named_by}"
    UNREACHABLE = "cannot be connected to", "start it, or correct {named_by}"
    SILENT = "does not answer", "start it anew, or correct {named_by}"
    CLOSED = "closes every connection without a word", "let this machine use it, or correct {named_by}"
    GARBAGE = "does not answer as such a proxy does", "correct scheme and port in {named_by}"
    LOGIN = "asks for another user and password", "correct them in {named_by}"
    NO_LOGIN = "asks for a user and a password", "write them into PROXY: {kind}://user:password@host:port"
    NO_TUNNEL = (
        "opens no connections to this port",
        "let it open them, or ask for http pages by name: PROXY_RESOLVES=True",
    )
    NO_NAMES = "takes no names of hosts", "set PROXY_RESOLVES=False"


class ProxyProblem(FetchError):
    """A proxy does not serve; the host was asked nothing.

    It opens no connection to `port`, or serves nobody if None; it is tried again in `seconds` when no other serves.
    """

    def __init__(self, proxy: Proxy, fault: ProxyFault, detail: str = "", port: int | None = None) -> None:
        what, cure = fault.value
        super().__init__(FailReason.NO_PROXY, detail=f"{proxy} {what}{f' ({clean(detail)})' if detail else ''}")
        self.proxy = proxy
        self.port = port
        self.cure = cure.format(kind=proxy.kind, named_by=proxy.named_by)
        self.seconds = 0.0
        self._fault = fault
        self._detail = detail

    def again(self, seconds: float) -> ProxyProblem:
        problem = ProxyProblem(self.proxy, self._fault, self._detail, self.port)
        problem.seconds = seconds
        return problem


@dataclass(slots=True)
class _Rest:
    """A pause of a proxy that failed; `began` is that of the first in a row."""

    seconds: float
    began: float
    since: float
    until: float
    problem: ProxyProblem


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """Proxies of a crawl; those of the environment count where `PROXY` says nothing.

    With `resolves`, proxies are given names, which are then not judged here.
    """

    listed: Route = ()
    environment: Environment = field(default_factory=Environment)
    resolves: bool = False

    @property
    def are_given(self) -> bool:
        """Tell whether there are any, also such as only seeds name."""
        return any((*self.listed, *self.environment.http, *self.environment.https))


_MOST_READ = 1_000


class Proxies:
    """Chooses proxies, and knows which ones rest; times are seconds of any clock.

    A proxy whose rest is over is tried by one connection alone for `test_seconds`. `are_general` tells whether requests
    that name none may be for one.
    """

    def __init__(self, options: ProxyOptions, test_seconds: float = 20.0) -> None:
        self.resolves = options.resolves
        self._listed = _to_direct(options.listed)
        self._environment = Environment() if options.listed else options.environment
        self.are_general = bool(self._listed or self._environment.http or self._environment.https)
        self._test_seconds = test_seconds
        named = (*options.listed, *options.environment.http, *options.environment.https)
        self._logins = {(one.kind, one.host, one.port): one for one in reversed(named) if one is not None and one.basic}
        self._read: dict[tuple[str, bytes], Route] = {}
        self._rests: dict[tuple[Proxy, int | None], _Rest] = {}
        self._tunnels: set[tuple[Proxy, int]] = set()

    def general(self, host: str, port: int, *, secure: bool) -> Route:
        if self._listed:
            return self._listed
        route = self._environment.https if secure else self._environment.http
        if not route or _is_loopback(host) or self._environment.exempt.covers(host, port):
            return ()
        return _to_direct(route)

    def named(self, text: str | None, login: bytes = b"") -> Route:
        """Return the proxies that a request or seed names; `none` if it names none.

        A proxy without user and password gets those of the `Proxy-Authorization` header `login`, else those that
        `PROXY` or the environment has for the same proxy.

        Raises:
            ValueError: see `read_proxies`.
        """
        key = text or DIRECT, login
        route = self._read.get(key)
        if route is None:
            proxies = read_proxies(key[0], "the proxy of the request or seed")
            route = _to_direct(tuple(self._with_login(one, login) for one in proxies))
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[key] = route
        return route

    def _with_login(self, proxy: Proxy | None, login: bytes) -> Proxy | None:
        if proxy is None or proxy.basic:
            return proxy
        if login:
            user, _, password = base64.b64decode(login.partition(b" ")[2]).decode(errors="replace").partition(":")
            return replace(proxy, user=user, password=password)
        return self._logins.get((proxy.kind, proxy.host, proxy.port), proxy)

    def usable(self, route: Route, port: int, now: float) -> Proxy | None:
        """Return the first proxy of a route that does not rest; None for no proxy.

        One whose rest is over is returned once, and to others when it has served, or after some time.

        Raises:
            ProxyProblem: all rest; that of the one which is tried first again.
        """
        rests = []
        for proxy in route:
            rest = self._rest_of(proxy, port)
            if rest is None:
                return proxy
            if rest.until <= now:
                rest.since, rest.until = now, now + self._test_seconds
                return proxy
            rests.append(rest)
        first = min(rests, key=lambda rest: rest.until)
        raise first.problem.again(first.until - now)

    def rests(self, proxy: Proxy, since: float = 0.0) -> bool:
        rest = self._rests.get((proxy, None))
        return rest is not None and rest.since >= since

    def _rest_of(self, proxy: Proxy | None, port: int) -> _Rest | None:
        if proxy is None or not self._rests:
            return None
        return self._rests.get((proxy, None)) or self._rests.get((proxy, port))

    def failed(self, problem: ProxyProblem, tried: float, now: float) -> float:
        """Have a proxy rest; return the seconds of the first rest in a row, else 0.

        A connection that was `tried` before a rest began says nothing new.
        """
        key = problem.proxy, problem.port
        rest = self._rests.get(key)
        if rest is None:
            self._rests[key] = _Rest(FIRST_REST, now, now, now + FIRST_REST, problem)
            return FIRST_REST
        if tried >= rest.since:
            seconds = min(LONGEST_REST, _LONGER * rest.seconds)
            self._rests[key] = replace(rest, seconds=seconds, since=now, until=now + seconds, problem=problem)
        return 0.0

    def answered(self, proxy: Proxy, now: float) -> float:
        """Note that a proxy serves; return the seconds since its first rest, else 0."""
        rest = self._rests.pop((proxy, None), None) if self._rests else None
        return 0.0 if rest is None else max(now - rest.began, 0.001)

    def opened(self, proxy: Proxy, port: int) -> None:
        self._tunnels.add((proxy, port))
        if self._rests:
            self._rests.pop((proxy, port), None)

    def has_opened(self, proxy: Proxy, port: int) -> bool:
        """Tell whether a proxy has opened a port before: what it refuses then is a host."""
        return (proxy, port) in self._tunnels


def _to_direct(route: Route) -> Route:
    """Cut a route behind "none", which never fails; empty if it begins so."""
    if None not in route:
        return route
    used = route[: route.index(None)]
    return (*used, None) if used else ()
