"""IP addresses of host names."""

import asyncio
import socket

import pytest

from crawler.fetch.dns import DnsCache, look_up
from crawler.fetch.errors import FetchError
from crawler.fetch.guard import Guard
from db.records.reasons import FailReason


def test_look_up_gives_names_of_one_machine_one_address() -> None:
    found = asyncio.run(look_up(["127.0.0.1:80", "127.0.0.1", "[::1]:80", "no-such-host.invalid:99"]))
    assert found["127.0.0.1:80"] == found["127.0.0.1"] == "127.0.0.1"
    assert found["[::1]:80"] in {"::1", ""}
    assert found.get("no-such-host.invalid:99", "") == ""


@pytest.mark.parametrize(
    ("code", "reason"), [(socket.EAI_AGAIN, FailReason.NO_DNS), (socket.EAI_NONAME, FailReason.NO_HOST)]
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
