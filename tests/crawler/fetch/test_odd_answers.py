"""Odd answers, of one server at a time: what can be read of each is read, and in time."""

from __future__ import annotations

import asyncio
import socket
import time
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.fetch.handler import TRUNCATED
from tests.crawler.fetch.odd_answers import CASES, STALL, Case
from tests.crawler.fetching import RawServer, handler
from tests.table import each_row

Read = tuple[int, bytes, bool] | None
"""Status, body and whether it was cut; None if there was no answer of use."""


def speak(connection: socket.socket, asked: bytes) -> bool:
    """Give the answer whose number is the path."""
    case = CASES[int(asked.split()[1][1:])]
    for part in case.sent:
        if isinstance(part, bytes):
            connection.sendall(part)
        else:
            time.sleep(part)
    if case.waits:
        connection.recv(1)  # until the other side goes away
    return False


@pytest.fixture(scope="module")
def read() -> dict[str, Read]:
    """Fetch all at once."""

    async def fetch(url: str, own: object) -> Read:
        try:
            request = Request(url, meta={"lease": SimpleNamespace(id=url)})
            response = await own.download_request(request)  # type: ignore[attr-defined]
        except OSError:
            return None
        assert isinstance(response, Response)
        return response.status, response.body, TRUNCATED in response.flags

    async def together() -> list[Read]:
        own = handler(STALL_SECONDS=STALL, DOWNLOAD_TIMEOUT=4 * STALL, SITE_COOKIES=False)
        try:
            return await asyncio.gather(*(fetch(server.url(f"/{n}"), own) for n in range(len(CASES))))
        finally:
            await own.close()

    with RawServer(speak) as server:
        return dict(zip((case.name for case in CASES), asyncio.run(together()), strict=True))


@each_row("case", CASES)
def test_answer_is_read(read: dict[str, Read], case: Case) -> None:
    wanted = None if case.body is None else (case.status, case.body, case.cut)
    assert read[case.name] == wanted
