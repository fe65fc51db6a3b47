"""TLS with verified certificates, except of hosts known to have bad ones."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from functools import cached_property

import certifi

_HOST = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:.]+")
_CIPHERS = "DEFAULT"
"""OpenSSL's own list, as curl's: Python's leaves out RSA key exchange and SHA-1 MACs, all that some old servers have.

The security level stays Python's (2), so keys and signatures of certificates are as strong as with its own list.
"""
_LEGACY_RENEGOTIATION = 0x4
"""OpenSSL's OP_LEGACY_SERVER_CONNECT, named in Python from 3.12 on: many old servers know nothing newer."""


def trusting_context() -> ssl.SSLContext:
    """Trust the authorities of the system (or of SSL_CERT_FILE) and Mozilla's."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


class Trust:
    """Verifies certificates, except those of some hosts (`TLS_UNVERIFIED_HOSTS`).

    A certificate must be signed by an authority that the system or Mozilla trusts, for this host, and not expired. The
    exceptions are names, addresses, or `*.name`.

    Raises:
        ValueError: one of them is no host.
    """

    def __init__(self, unverified: Iterable[str] = ()) -> None:
        hosts = [host.strip().lower() for host in unverified if host.strip()]
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise ValueError(f"TLS_UNVERIFIED_HOSTS: {host!r} is no host; write for example old.example.cn")
        self._exact = frozenset(host for host in hosts if not host.startswith("*."))
        self._under = tuple(host[1:] for host in hosts if host.startswith("*."))

    def verifies(self, host: str) -> bool:
        return host not in self._exact and not host.endswith(self._under)

    def context(self, host: str) -> ssl.SSLContext:
        return self._strict if self.verifies(host) else self._lenient

    @cached_property
    def _strict(self) -> ssl.SSLContext:
        context = _for_old_servers(trusting_context(), _CIPHERS)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # browsers do not ask for that either
        return context

    @cached_property
    def _lenient(self) -> ssl.SSLContext:
        context = _for_old_servers(ssl.create_default_context(), f"{_CIPHERS}:@SECLEVEL=0")
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        return context


def _for_old_servers(context: ssl.SSLContext, ciphers: str) -> ssl.SSLContext:
    context.set_ciphers(ciphers)
    context.options |= _LEGACY_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context
