"""Opening a connection to one of the addresses of a host, all of which have been checked: whichever answers first."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from collections.abc import Sequence

from .connection import Connection

_NEXT_ADDRESS_SECONDS = 0.3
"""How long an address is waited for before the next one is tried beside it (RFC 8305)."""
_MOST_ADDRESSES = 6
_SHUTDOWN_SECONDS = 2.0


async def connect(
    addresses: Sequence[str], port: int, context: ssl.SSLContext | None, host: str, deadline: float
) -> Connection:
    """Open a connection to the first of some addresses that answers.

    Args:
        addresses: of the host, all permitted.
        port: there.
        context: for TLS, None without.
        host: whose certificate is expected.
        deadline: time of the event loop until which it must be there.

    Raises:
        OSError: none answered, or no TLS (`ssl.SSLError`) came about.
        TimeoutError: the deadline is over.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout_at(deadline):
        opened = await _race(addresses[:_MOST_ADDRESSES], port)
        peer = ipaddress.ip_address(opened.getpeername()[0])
        try:
            if context is None:
                _, connection = await loop.create_connection(Connection, sock=opened)
            else:
                _, connection = await loop.create_connection(
                    Connection,
                    sock=opened,
                    ssl=context,
                    server_hostname=host,
                    ssl_handshake_timeout=max(0.1, deadline - loop.time()),
                    ssl_shutdown_timeout=_SHUTDOWN_SECONDS,
                )
        except BaseException:
            opened.close()
            raise
    connection.peer = peer
    return connection


async def _race(addresses: Sequence[str], port: int) -> socket.socket:
    """The socket of the first address that answers; each has a short start before the next."""
    if len(addresses) == 1:
        return await _open(addresses[0], port)
    waiting = list(addresses)
    attempts: set[asyncio.Task[socket.socket]] = set()
    problem: BaseException = OSError("no address")
    try:
        while waiting or attempts:
            if waiting:
                attempts.add(asyncio.ensure_future(_open(waiting.pop(0), port)))
            done, attempts = await asyncio.wait(
                attempts, timeout=_NEXT_ADDRESS_SECONDS if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in done:
                error = attempt.exception()
                if error is None:
                    attempts |= done - {attempt}
                    return attempt.result()
                problem = error
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_drop)
    raise problem


def _drop(attempt: asyncio.Task[socket.socket]) -> None:
    """Close what nobody waits for any more."""
    with contextlib.suppress(OSError, asyncio.CancelledError):
        attempt.result().close()


async def _open(address: str, port: int) -> socket.socket:
    """A connected socket."""
    opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.settimeout(0.0)
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException:
        opened.close()
        raise
    return opened
