"""Slots for large bodies: few at once, nobody forgotten."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from scrapy import Request
from scrapy.http import Response

from crawler.fetch.body_slots import BodySlots
from crawler.fetch.handler import GuardedHandler, Network
from tests.crawler.fetching import RawServer, answering, crawler

LONG = b"<html><body>" + b"<p>page</p>" * 300_000


def test_slots_are_handed_on_in_order() -> None:
    slots, went = BodySlots(32 << 20), []
    assert [slots.acquire(n, lambda n=n: went.append(n)) for n in range(5)] == [True, True, False, False, False]
    assert slots.acquire(1, lambda: None)
    slots.release(3)
    slots.release(99)
    assert went == []
    slots.release(0)
    slots.release(1)
    assert went == [2, 4]
    assert not slots.acquire(5, lambda: went.append(5))
    slots.release(2)
    assert went == [2, 4, 5]


def test_one_body_may_always_come() -> None:
    assert BodySlots(1 << 62).acquire(1, lambda: None)


def test_large_body_waits_for_its_slot_and_loses_nothing() -> None:
    shared = crawler(DOWNLOAD_MAXSIZE=64 << 20, STALL_SECONDS=3)
    own, slots = GuardedHandler.from_crawler(shared), Network.of(shared).slots

    async def ask(number: int, path: str) -> Response:
        leased = {"lease": SimpleNamespace(id=number)}
        return await own.download_request(Request(server.url(path), meta=leased))

    async def crawl() -> list[Response]:
        async with asyncio.timeout(60):
            first = await ask(1, "/1")
            second = asyncio.ensure_future(ask(2, "/2"))
            await asyncio.sleep(3.5)  # without a byte for longer than is usually borne
            assert not second.done()
            slots.release(1)
            answers = [first, await second]
            slots.release(2)
            for path in ("/3", "/4"):  # nobody's leases: the slot is released at once
                answers.append(await own.download_request(Request(server.url(path))))
            await own.close()
            return answers

    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(LONG)
    with RawServer(answering(head + LONG)) as server:
        answers = asyncio.run(crawl())
    assert [(response.body == LONG, response.flags) for response in answers] == [(True, [])] * 4
