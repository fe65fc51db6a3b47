"""Connections: names with many addresses, and how many connections are kept."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from scrapy.http import Response

from crawler.fetch.connection import direct, open_first
from tests.crawler.fetching import RawServer, answering, fetch, keeping
from tests.table import each_row

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"


@contextmanager
def dead(port: int, addresses: list[str]) -> Iterator[None]:
    """Let connections to these addresses wait for ever: their queues are full."""
    with ExitStack() as stack:
        for address in addresses:
            listening = stack.enter_context(socket.socket())
            listening.bind((address, port))
            listening.listen(0)
            for _ in range(2):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)  # noqa: FBT003
                waiting.connect_ex((address, port))
        time.sleep(0.05)
        yield


def test_live_address_behind_many_dead_ones_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [f"127.0.0.{n}" for n in range(2, 10)]
    name = (*(f"::ffff:{address}" for address in broken), "127.0.0.1")
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: name)
    begun_with = []

    async def recorded(addresses: Sequence[str], *others: Any) -> tuple[socket.socket, str]:
        begun_with.append(addresses[0])
        return await open_first(addresses, *others)

    monkeypatch.setattr("crawler.fetch.connection.open_first", recorded)
    with RawServer(answering(PAGE)) as server, dead(server.port, broken):
        url = f"http://many.test:{server.port}/"
        both = fetch(url, url)
    assert [str(one.ip_address) for one in both if isinstance(one, Response)] == ["127.0.0.1"] * 2
    assert begun_with in (
        [name[0], "127.0.0.1"],
        [name[0]],
    ), "the second connection, if there is one, begins with the address that answered"


def test_requests_do_not_wait_for_receipts() -> None:
    """TCP_NODELAY: after a TLS handshake the request would leave a round trip later."""

    async def delays(port: int) -> int:
        opened = await direct(port)("127.0.0.1")
        transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=opened)
        try:
            return transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        finally:
            transport.close()

    with RawServer(answering(PAGE)) as server:
        assert asyncio.run(delays(server.port)) != 0


def test_addresses_that_refuse_are_not_waited_for() -> None:
    """The pause before the next address would outlast the test."""
    addresses = [f"192.0.2.{n}" for n in range(5)]
    dialed = []

    async def dial(address: str) -> socket.socket:
        dialed.append(address)
        if address != addresses[-1]:
            raise ConnectionRefusedError
        return socket.socket()

    opened, reached = asyncio.run(open_first(addresses, dial, pause=1000))
    opened.close()
    assert reached == addresses[-1]
    assert dialed == addresses


def test_name_with_very_many_addresses_has_some_of_them_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    name = (*(f"127.0.{n}.1" for n in range(1, 200)), "127.0.0.1")
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: name)
    with RawServer(answering(PAGE)) as server:
        (refused,) = fetch(f"http://many.test:{server.port}/")
        assert isinstance(refused, ConnectionRefusedError)
        assert server.connections == 0


@each_row(("most", "connections"), [(40, 40), (20, 80)])
def test_connections_of_many_hosts_in_turn_are_kept(most: int, connections: int) -> None:
    with RawServer(keeping(PAGE)) as server:
        urls = [server.url(host=f"h{n}.localhost") for n in range(40)]
        fetch(*urls, *urls, idle=most)
        assert server.connections == connections
