"""IP addresses of host names."""

import asyncio

from crawler.fetch.dns import look_up


def test_look_up_gives_names_of_one_machine_one_address() -> None:
    found = asyncio.run(look_up(["127.0.0.1:80", "127.0.0.1", "[::1]:80", "no-such-host.invalid:99"]))
    assert found["127.0.0.1:80"] == found["127.0.0.1"] == "127.0.0.1"
    assert found["[::1]:80"] in {"::1", ""}
    assert found.get("no-such-host.invalid:99", "") == ""
