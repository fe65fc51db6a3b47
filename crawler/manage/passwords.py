"""Passwords of the web page, one for each role, as scrypt hashes in a file."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
from collections.abc import Mapping
from enum import Enum
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final, NamedTuple

FILE: Final = "access.json"
LEAST_LENGTH: Final = 10
MOST_LENGTH: Final = 1_000
_N, _R, _P = 1 << 15, 8, 3
"""Cost of scrypt: 32 MB and a quarter of a second, as OWASP's Password Storage Cheat Sheet advises."""
_MOST_MEMORY = 1 << 28
_MOST_N, _MOST_RP = 1 << 17, 64
_SALT_BYTES, _KEY_BYTES = 16, 32
_MOST_FILE = 1 << 16


class Role(Enum):
    """Role of somebody who has signed in; operators may all that readers may."""

    READER = "reader"
    OPERATOR = "operator"


class PasswordError(ValueError):
    """A password or the file cannot be used; the text says what to do."""


class _Hash(NamedTuple):
    n: int
    r: int
    p: int
    salt: bytes
    key: bytes

    @classmethod
    def of(cls, password: str) -> _Hash:
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(_N, _R, _P, salt, _derived(password, salt, _N, _R, _P))

    def fits(self, password: str) -> bool:
        return compare_digest(self.key, _derived(password, self.salt, self.n, self.r, self.p))


class PasswordFile:
    """The passwords in a file, which may be changed at any time by another process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state: object = ()
        self._hashes: Mapping[Role, _Hash] = {}
        self._nobody = _Hash(_N, _R, _P, secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_KEY_BYTES))

    def roles(self) -> frozenset[Role]:
        """Return the roles that have a password; raises `PasswordError`."""
        return frozenset(self._read())

    def stamp(self, role: Role) -> bytes:
        """Identify the password of a role, so that a change shows; empty when it has none."""
        stored = self._read().get(role)
        return b"" if stored is None else hashlib.sha256(stored.salt + stored.key).digest()

    def check(self, role: Role | None, password: str) -> bool:
        """Tell whether this is a role's password; one without takes as long to refuse.

        Cost: 32 MB and a quarter of a second.
        """
        stored = None if role is None else self._read().get(role)
        fits = (stored or self._nobody).fits(password[:MOST_LENGTH])
        return fits and stored is not None and len(password) <= MOST_LENGTH

    def change(self, role: Role, password: str) -> None:
        """Give a role a password; raises `PasswordError` for one of a wrong length."""
        if not LEAST_LENGTH <= len(password) <= MOST_LENGTH:
            raise PasswordError(f"a password has {LEAST_LENGTH} to {MOST_LENGTH:,} characters; choose another one")
        hashes = {**self._read(), role: _Hash.of(password)}
        content = {
            one.value: {"n": each.n, "r": each.r, "p": each.p, "salt": each.salt.hex(), "key": each.key.hex()}
            for one, each in hashes.items()
        }
        replace_file(self.path, json.dumps({"scrypt": content}, indent=1).encode() + b"\n")

    def _read(self) -> Mapping[Role, _Hash]:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PasswordError(f"{self.path} cannot be read ({error.strerror}); give this user the right to") from None
        state = status.st_ino, status.st_mtime_ns, status.st_size
        with self._lock:
            if state != self._state:
                if os.name == "posix" and status.st_mode & 0o077:
                    raise PasswordError(f"{self.path} may be read by others; say chmod 600 {self.path}")
                self._hashes = _parsed(self.path)
                self._state = state
            return self._hashes


def replace_file(path: Path, content: bytes) -> None:
    """Write a file for its owner alone, whole or not at all; makes its folder."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _parsed(path: Path) -> Mapping[Role, _Hash]:
    try:
        with path.open("rb") as file:
            content: Any = json.loads(file.read(_MOST_FILE))
        return {Role(name): _hash(each) for name, each in content["scrypt"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        msg = f"{path} is no file of passwords; remove it, and set them anew with scrapy serve --set-password"
        raise PasswordError(msg) from None


def _hash(stored: Mapping[str, Any]) -> _Hash:
    n, r, p = (int(stored[name]) for name in ("n", "r", "p"))
    salt, key = bytes.fromhex(stored["salt"]), bytes.fromhex(stored["key"])
    is_possible = 1 < n <= _MOST_N and not n & (n - 1) and 0 < r * p <= _MOST_RP and r > 0
    if not is_possible or len(salt) < _SALT_BYTES or len(key) != _KEY_BYTES:
        raise ValueError
    return _Hash(n, r, p, salt, key)


def _derived(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY, dklen=_KEY_BYTES)
