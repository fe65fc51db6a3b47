"""Rights of readers and operators, and servers without passwords."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ...manage.journal import Journal
from ...manage.passwords import FILE, PasswordError, PasswordFile, Role
from .sessions import Attempts, Sessions, SignedIn

logger = logging.getLogger(__name__)

TOKEN: Final = "token"
"""Field of forms that a session must know."""
SIGN_IN: Final = "/sign-in"
_MOST_CHECKS, _MOST_WAITING = 2, 8
"""Passwords that are looked at at once, and that wait for it: each takes 32 MB."""
_BUSY_SECONDS = 5
_NOTED_SECONDS = 3_600.0
"""Pause between two lines about wrong passwords, lest guesses push all else out of the list of changes."""
_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")
"""A path of this server, in the characters of URLs; browsers take a backslash for a slash."""


class Need(Enum):
    """Right that a page or form needs."""

    NOTHING = "nothing"
    READER = "reader"
    OPERATOR = "operator"
    CHANGES = "changes"
    """An operator, of a server started with --manage."""


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Options of access to the web page.

    Attributes:
        folder: of passwords and the list of changes; None for neither.
        manages: operators may change the crawl.
        is_local: only this machine reaches the server, so whoever does is its owner where nothing else is said.
        allows_plain: passwords may come without TLS from other machines.
        proxies: addresses and networks whose X-Forwarded headers are believed.
        root_path: path below which a proxy shows the server, such as "/news"; empty for none.
        readers_sign_in: readers had a password when the server was started.
    """

    folder: Path | None = None
    manages: bool = False
    is_local: bool = True
    allows_plain: bool = False
    proxies: Sequence[str] = ()
    root_path: str = ""
    readers_sign_in: bool = False


@dataclass(frozen=True, slots=True)
class Visitor:
    """Rights of somebody who asks for a page; `session` is None before signing in."""

    session: SignedIn | None
    may_read: bool
    may_look: bool
    """See the operator's pages."""
    may_change: bool
    may_sign_in: bool
    """There is a password that would give them more."""

    def lacks(self, need: Need) -> bool:
        rights = {Need.NOTHING: True, Need.READER: self.may_read, Need.OPERATOR: self.may_look}
        return not rights.get(need, self.may_change) or (need is not Need.NOTHING and not self.may_read)


class Verdict(Enum):
    """Result of an attempt to sign in."""

    RIGHT = "right"
    WRONG = "wrong"
    TOO_OFTEN = "too_often"
    PLAIN = "plain"


class Access:
    """The passwords and sessions of a server."""

    def __init__(self, options: AccessOptions) -> None:
        self.options = options
        self.passwords = None if options.folder is None else PasswordFile(options.folder / FILE)
        self.journal = None if options.folder is None else Journal(options.folder)
        self.sessions = Sessions()
        self.attempts = Attempts()
        self._checking = asyncio.Semaphore(_MOST_CHECKS)
        self._waiting = 0
        self._is_failing = False
        self._noted = -_NOTED_SECONDS
        # servers on other ports of a machine get each other's cookies
        place = str(options.folder.absolute()) if options.folder is not None else ""
        self._cookie = f"session-{hashlib.sha256(place.encode()).hexdigest()[:8]}"

    def visitor(self, request: Request) -> Visitor:
        """Return the rights of a visitor; none if the password file cannot be read."""
        roles = self._roles()
        session = self._session(request) if roles else None
        is_operator = session is not None and session.role is Role.OPERATOR
        is_guarded = self.options.manages or Role.READER in roles or not self.options.is_local
        return Visitor(
            session,
            may_read=Role.READER not in roles or session is not None,
            may_look=is_operator or not is_guarded,
            may_change=is_operator and self.options.manages,
            may_sign_in=bool(roles) and not is_operator,
        )

    async def try_password(self, request: Request, role: Role | None, password: str) -> tuple[Verdict, float]:
        """Look at a password; returns the seconds after which to try again, too, or 0."""
        address = client_of(request)
        if not self.is_safe(request):
            return Verdict.PLAIN, 0.0
        if (seconds := self.attempts.wait(address)) > 0:
            if time.monotonic() > self._noted + _NOTED_SECONDS:
                self._noted = time.monotonic()
                self.note(request, role, "sign in", result="refused: too many wrong passwords")
            return Verdict.TOO_OFTEN, seconds
        if self._waiting >= _MOST_WAITING:
            return Verdict.TOO_OFTEN, _BUSY_SECONDS
        self._waiting += 1
        try:
            async with self._checking:
                is_right = await asyncio.to_thread(self._fits, role, password)
        finally:
            self._waiting -= 1
        if is_right:
            self.attempts.succeeded(address)
        return (Verdict.RIGHT if is_right else Verdict.WRONG), 0.0

    def is_safe(self, request: Request) -> bool:
        """Tell whether nobody on the way can read what a browser sends."""
        return request.url.scheme == "https" or self.options.allows_plain or is_loopback(client_of(request))

    def begin(self, request: Request, response: Response, role: Role) -> None:
        """Begin a session of its own for a browser, and end the one it had."""
        assert self.passwords is not None
        self.end(request, response)
        sent = self.sessions.begin(role, self.passwords.stamp(role))
        name, path, is_secure = self._form(request)
        response.set_cookie(name, sent, path=path, secure=is_secure, httponly=True, samesite="strict")

    def end(self, request: Request, response: Response) -> None:
        name, path, is_secure = self._form(request)
        if sent := request.cookies.get(name):
            self.sessions.end(sent)
            response.delete_cookie(name, path=path, secure=is_secure, httponly=True, samesite="strict")

    def note(self, request: Request, role: Role | None, what: str, detail: str = "", result: str = "") -> None:
        """Add to the list of changes."""
        if self.journal is not None:
            try:
                self.journal.note(role.value if role else "", client_of(request), what, detail, result)
            except OSError as error:
                logger.warning("the list of changes cannot be written (%s)", error.strerror)

    def _form(self, request: Request) -> tuple[str, str, bool]:
        """Return name and path of the cookie, and whether it is for https alone."""
        if request.url.scheme == "https":
            return f"__Host-{self._cookie}", "/", True
        return self._cookie, f"{self.options.root_path}/", False

    def _session(self, request: Request) -> SignedIn | None:
        assert self.passwords is not None
        sent = request.cookies.get(self._form(request)[0])
        try:
            return self.sessions.find(sent, self.passwords.stamp) if sent else None
        except PasswordError as error:
            self._failed(error)
            return None

    def _roles(self) -> frozenset[Role]:
        if self.passwords is None:
            return frozenset()
        try:
            roles = self.passwords.roles()
        except PasswordError as error:
            self._failed(error)
            return frozenset(Role)
        self._is_failing = False
        return roles

    def _fits(self, role: Role | None, password: str) -> bool:
        try:
            return self.passwords is not None and self.passwords.check(role, password)
        except PasswordError as error:
            self._failed(error)
            return False

    def _failed(self, error: PasswordError) -> None:
        if not self._is_failing:
            logger.error("nobody can sign in: %s", error)
        self._is_failing = True


def client_of(request: Request) -> str:
    """Return the address of the client; that which a trusted proxy names."""
    return request.client.host if request.client is not None else ""


def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def own_path(path: str) -> str:
    """Return a path of this server as it is, and the first page for anything else.

    >>> own_path("/crawl?run=1"), own_path("//evil.example"), own_path("/" + chr(92) + "evil.example")
    ('/crawl?run=1', '/', '/')
    """
    return path if _PATH.fullmatch(path) else "/"
