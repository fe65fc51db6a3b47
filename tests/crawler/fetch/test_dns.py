"""IP addresses of host names."""

import asyncio
import socket
import subprocess
import sys
import threading
import time

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.fetch.dns import DnsCache, look_up
from crawler.fetch.errors import FetchError
from crawler.fetch.guard import Guard
from db.records.reasons import FailReason
from tests.crawler.fetching import RawServer, answering, fetch


def test_look_up_gives_names_of_one_machine_one_address() -> None:
    found = asyncio.run(look_up(["127.0.0.1:80", "127.0.0.1", "[::1]:80", "no-such-host.invalid:99"]))
    assert found["127.0.0.1:80"] == found["127.0.0.1"] == "127.0.0.1"
    assert found["[::1]:80"] in {"::1", ""}
    assert found.get("no-such-host.invalid:99", "") == ""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (socket.EAI_AGAIN, FailReason.NO_DNS),
        (socket.EAI_FAIL, FailReason.NO_DNS),
        (socket.EAI_SYSTEM, FailReason.NO_DNS),
        (socket.EAI_NONAME, FailReason.NO_HOST),
        (socket.EAI_NODATA, FailReason.NO_HOST),
    ],
)
def test_resolver_that_does_not_answer_is_told_from_a_name_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, code: int, reason: FailReason
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(code, "no")

    async def look() -> list[str]:
        names = DnsCache(Guard())
        monkeypatch.setattr("crawler.fetch.dns.socket.getaddrinfo", fail)
        for _ in range(2):  # the second time out of the memory
            with pytest.raises(FetchError) as caught:
                await names.addresses("news.example", 80)
            assert caught.value.reason is reason
        answer = [(0, 0, 0, "", ("93.184.216.34", 0))]
        monkeypatch.setattr("crawler.fetch.dns.socket.getaddrinfo", lambda *_, **__: answer)
        names.forget()
        found = await names.addresses("news.example", 80)
        names.close()
        return found

    assert asyncio.run(look()) == ["93.184.216.34"], "asked anew when the network is back"


PUBLIC = "93.184.216.34"


class SilentServers:
    """A resolver that answers for `live` names at once, for others when it is `released`."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.asked: list[str] = []

    def __call__(self, name: str) -> tuple[str, ...]:
        self.asked.append(name)
        if not name.startswith("live"):
            self.released.wait(300)
        return (PUBLIC,)


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> SilentServers:
    servers = SilentServers()
    monkeypatch.setattr("crawler.fetch.dns._ask", servers)
    return servers


async def ask(names: DnsCache, host: str) -> list[str] | FailReason:
    """Addresses of a host, or why there are none."""
    try:
        return await names.addresses(host, 80)
    except FetchError as error:
        return error.reason


def test_names_whose_servers_are_silent_hold_up_no_other(silent: SilentServers) -> None:
    async def look() -> None:
        names = DnsCache(Guard())
        waiting = [asyncio.ensure_future(ask(names, f"silent{n}.example")) for n in range(200)]
        await asyncio.sleep(0)
        assert await ask(names, "live.example") == [PUBLIC]
        assert not any(one.done() for one in waiting), "before the servers were given up"
        silent.released.set()
        assert await asyncio.gather(*waiting) == [[PUBLIC]] * 200
        names.close()

    asyncio.run(look())


def test_silence_is_told_after_a_while_and_a_late_answer_is_kept(
    silent: SilentServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> None:
        monkeypatch.setattr("crawler.fetch.dns._PATIENCE_SECONDS", 0.1)
        names = DnsCache(Guard())
        assert await ask(names, "silent.example") is FailReason.NO_DNS
        assert await ask(names, "silent.example") is FailReason.NO_DNS
        names.forget()
        again = asyncio.ensure_future(ask(names, "silent.example"))
        await asyncio.sleep(0)
        silent.released.set()
        assert await again == [PUBLIC]
        assert silent.asked == ["silent.example"], "no second thread for the same name"
        names.close()

    asyncio.run(look())


def test_name_that_waits_for_a_thread_is_not_taken_for_silent(
    silent: SilentServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> None:
        monkeypatch.setattr("crawler.fetch.dns._PATIENCE_SECONDS", 0.1)
        monkeypatch.setattr("crawler.fetch.dns._MOST_THREADS", 2)
        names = DnsCache(Guard())
        waiting = [asyncio.ensure_future(ask(names, host)) for host in ("silent1.test", "silent2.test", "live.test")]
        assert await asyncio.gather(*waiting[:2]) == [FailReason.NO_DNS] * 2
        assert not waiting[2].done()
        silent.released.set()
        assert await waiting[2] == [PUBLIC]
        names.close()

    asyncio.run(look())


def test_look_up_is_no_time_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_name: str) -> tuple[str, ...]:
        time.sleep(2)
        return ("127.0.0.1",)

    monkeypatch.setattr("crawler.fetch.dns._ask", slow)
    with RawServer(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as server:
        request = Request(f"http://slow.test:{server.port}/")
        (page,) = fetch(request, DOWNLOAD_TIMEOUT=1.5)
    assert isinstance(page, Response), page
    assert request.meta["download_latency"] < request.meta["lookup_seconds"]
    assert request.meta["lookup_seconds"] >= 2


def test_process_ends_without_waiting_for_name_servers() -> None:
    code = """
import asyncio, time
from crawler.fetch import dns
dns._ask = lambda name: time.sleep(60)
dns._PATIENCE_SECONDS = 0.1
try:
    asyncio.run(dns.DnsCache(dns.Guard()).addresses("silent.test", 80))
except dns.FetchError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert (done.stdout, done.stderr) == ("DNS does not answer\n", "")
