"""The download handler against real servers: bounds of size and time, kept connections, redirects' headers, cookies."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import struct
import threading
import time
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.fetch.errors import FetchError, why
from crawler.fetch.handler import BOUND, NEW_COOKIE, TRUNCATED, GuardedHandler
from crawler.fetch.http_parser import HeadBounds
from db.records.reasons import label
from tests.crawler.fetching import RawServer, answering, crawler, fetch, fetch_all, handler, keeping
from tests.table import each_row

BODY = b"<html><body><p>page</p></body></html>"


def answer(body: bytes = BODY, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, b"Content-Type: text/html", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join([*lines, b"", body])


def one(result: Response | Exception) -> Response:
    assert isinstance(result, Response), result
    return result


def leased(url: str) -> Request:
    """A request as the frontier makes it, which wants pages."""
    return Request(url, meta={"lease": SimpleNamespace(id=url)})


def test_page_and_what_is_asked() -> None:
    with RawServer(keeping(answer())) as server:
        request = Request(server.url("/a?b=1#c"), headers={"User-Agent": "x"})
        response = one(fetch(request)[0])
        asked = server.requests[0].split(b"\r\n")
    assert (response.status, response.body, response.flags) == (200, BODY, [])
    assert response.headers["content-type"] == b"text/html"
    assert str(response.ip_address) == "127.0.0.1"
    assert asked[0] == b"GET /a?b=1 HTTP/1.1"
    assert asked[1] == b"Host: 127.0.0.1:%d" % server.port
    assert sorted(asked[2:-2]) == [b"Accept-Encoding: gzip, deflate, br, zstd", b"User-Agent: x"]


def test_connections_are_kept_and_a_dead_one_is_no_failure() -> None:
    with RawServer(keeping(answer())) as server:
        assert [one(result).status for result in fetch(*[server.url(f"/{n}") for n in range(4)])] == [200] * 4
        assert server.connections == 1
    with RawServer(answering(answer(BODY, b"Connection: keep-alive"))) as server:  # promised, and closed at once
        assert [one(result).status for result in fetch(*[server.url(f"/{n}") for n in range(4)])] == [200] * 4
        assert len(server.requests) == 4


def test_silence_on_a_kept_connection_is_waited_for_once() -> None:
    def speak(connection: socket.socket, asked: bytes) -> bool:
        if b"/mute" in asked:
            return mute(connection, asked)
        connection.sendall(answer())
        return True

    with RawServer(speak) as server:
        _, silent = fetch(server.url(), server.url("/mute"), DOWNLOAD_TIMEOUT=0.3)
        assert why(silent if isinstance(silent, Exception) else None)[0] == "timed out"
        assert len(server.requests) == 2


def test_farewell_on_a_kept_connection_is_no_answer() -> None:
    farewell = answer(b"", b"Connection: close", status=b"408 Request Timeout")
    with RawServer(keeping(answer(), farewell, answer())) as server:
        assert [one(result).status for result in fetch(server.url("/1"), server.url("/2"))] == [200, 200]


@each_row("coding", [b"", b"Content-Encoding: gzip"])
def test_body_without_end_is_cut_and_the_connection_dropped(coding: bytes) -> None:
    sent = 0

    def flood(connection: socket.socket, _: bytes) -> bool:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + (coding + b"\r\n" if coding else b"") + b"\r\n")
        while sent < 100 << 20:
            piece = b"".join(b"<p>%d</p>" % n for n in range(sent, sent + 5_000))
            piece = gzip.compress(piece) if coding else piece
            connection.sendall(piece)
            sent += len(piece)
        return False

    with RawServer(flood) as server:
        response = one(fetch(server.url(), DOWNLOAD_MAXSIZE=1 << 20)[0])
    assert len(response.body) == 1 << 20
    assert set(response.flags) == {TRUNCATED, BOUND + "body cut"}
    assert sent < 20 << 20


def test_request_may_have_a_bound_of_its_own() -> None:
    with RawServer(answering(answer(b"x" * 5_000))) as server:
        request = Request(server.url(), meta={"download_maxsize": 1_000})
        small, whole = fetch(request, server.url())
    assert (len(one(small).body), TRUNCATED in one(small).flags) == (1_000, True)
    assert (len(one(whole).body), one(whole).flags) == (5_000, [])


@each_row("status", [b"302 Found", b"404 Not Found"])
def test_other_answers_need_no_whole_body(status: bytes) -> None:
    bomb = gzip.compress(b"x" * (4 << 20))
    answers = [answer(b"x" * 900_000, status=status), answer(bomb, b"Content-Encoding: gzip", status=status)]
    with RawServer(answering(*answers)) as server:
        long, exploding = fetch(leased(server.url()), leased(server.url()))
    assert (one(long).flags, one(exploding).flags) == ([], [])


@each_row(
    ("kind", "begins", "whole"),
    [
        (b"video/mp4", b"\0\0\0 ftyp", False),
        (b"application/pdf", b"%PDF-1.7", False),
        (b"application/pdf", b"\n<!DOCTYPE html>", True),
        (b"text/html", b"%PDF-1.7", True),
        (b"image/png", b"", False),
    ],
)
def test_bodies_that_can_be_no_page_are_not_read_to_their_end(kind: bytes, begins: bytes, *, whole: bool) -> None:
    body = begins + b"x" * 500_000
    sent = answer(body).replace(b"text/html", kind)
    with RawServer(answering(sent)) as server:
        response, unleased = map(one, fetch(leased(server.url()), server.url()))
    assert response.flags == unleased.flags == []
    assert (response.body == body) is whole
    assert unleased.body == body, "what code of the user asks for is never cut"


def test_bomb_is_refused() -> None:
    with RawServer(answering(answer(gzip.compress(b"x" * (4 << 20)), b"Content-Encoding: gzip"))) as server:
        (error,) = fetch(server.url())
    assert isinstance(error, FetchError)
    assert (why(error)[0], error.bounds) == ("compression bomb", ("compression bomb",))


def lose(connection: socket.socket) -> None:
    """Close with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@each_row(
    ("sent", "is_reset"),
    [
        (answer(BODY + b"x" * 50)[:-50], False),
        (answer(BODY + b"x" * 50)[:-50], True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % 99 + BODY, False),
        (b"HTTP/1.1 200 OK\r\n\r\n" + BODY, True),
        (answer(gzip.compress(BODY * 99)[:-9], b"Content-Encoding: gzip"), False),
    ],
)
def test_body_that_stops_is_truncated(sent: bytes, *, is_reset: bool) -> None:
    def speak(connection: socket.socket, _: bytes) -> bool:
        connection.sendall(sent)
        if is_reset:
            time.sleep(0.1)  # what was sent must have been read, a reset drops the rest
            lose(connection)
        return False

    with RawServer(speak) as server:
        response = one(fetch(server.url())[0])
    assert TRUNCATED in response.flags
    assert response.body.startswith(BODY)


def test_coded_body_that_says_it_is_whole_is_whole() -> None:
    packed = gzip.compress(BODY)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    with RawServer(answering(head + b"%x\r\n" % len(packed) + packed + b"\r\n")) as server:
        response = one(fetch(server.url())[0])
    assert (response.body, response.flags) == (BODY, [])


def test_chunks_of_one_byte_are_given_up_before_they_cost_much() -> None:
    sent = 0

    def speak(connection: socket.socket, _: bytes) -> bool:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while sent < 50 << 20:
            connection.sendall(b"1;name=value\r\nx\r\n" * 4_000)
            sent += 68_000
        return False

    with RawServer(speak) as server:
        response = one(fetch(server.url(), DOWNLOAD_MAXSIZE=1 << 20)[0])
    assert response.flags == [TRUNCATED, "dataloss"]
    assert len(response.body) < 20_000
    assert sent < 20 << 20


def mute(connection: socket.socket, _: bytes) -> bool:
    connection.recv(1)  # until the other side goes away
    return False


def begin(connection: socket.socket, asked: bytes) -> bool:
    connection.sendall(b"HTTP/1.1 200")
    return mute(connection, asked)


def drip(connection: socket.socket, _: bytes) -> bool:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _n in range(600):
        connection.sendall(b"x")
        time.sleep(0.05)
    return False


def test_silence_drips_and_slowness_end() -> None:
    with RawServer(mute) as server:
        (silent,) = fetch(server.url(), STALL_SECONDS=0.1, DOWNLOAD_TIMEOUT=0.4)
    assert isinstance(silent, FetchError)
    assert (silent.reason, silent.bounds) == ("timed out", ("timed out",))
    with RawServer(begin) as server:
        (stalled,) = fetch(server.url(), STALL_SECONDS=0.3)
    assert isinstance(stalled, FetchError)
    assert (stalled.reason, stalled.bounds) == ("stalled", ("stalled",))
    with RawServer(drip) as server:
        dripping = one(fetch(server.url(), STALL_SECONDS=0.3)[0])
        slow = one(fetch(server.url(), STALL_SECONDS=0.3, DOWNLOAD_TIMEOUT=1, bounds={"least_rate": 1})[0])
    assert set(dripping.flags) == {TRUNCATED, BOUND + "stalled"}
    assert set(slow.flags) == {TRUNCATED, BOUND + "timed out"}
    assert len(slow.body) > len(dripping.body)


def test_errors_have_reasons() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with RawServer(answering(b"SSH-2.0-OpenSSH_9\r\n")) as server:
        urls = [server.url(), f"http://127.0.0.1:{port}/", "http://127.0.0.1:99999/", "http://10.0.0.1/"]
        found = [label(*why(error)) for error in fetch(*urls) if isinstance(error, Exception)]
    assert found == [
        "protocol error: the answer is not HTTP",
        "connection refused",
        "invalid URL",
        "IP address not allowed",
    ]


def test_headers_that_are_too_many_are_dropped_and_said_so() -> None:
    many = [b"X-%d: v" % n for n in range(50)]
    with RawServer(answering(answer(BODY, *many))) as server:
        response = one(fetch(server.url(), bounds={"head": HeadBounds(lines=20)})[0])
    assert (response.body, response.flags) == (BODY, [BOUND + "headers dropped"])


def test_cookies_go_back_to_their_site_and_nowhere_else() -> None:
    def speak(connection: socket.socket, asked: bytes) -> bool:
        has_it = b"Cookie: seen=1" in asked
        wall = answer(b"", b"Set-Cookie: seen=1; Path=/", b"Location: /", status=b"302 Found")
        connection.sendall(answer() if has_it else wall)
        return True

    with RawServer(speak) as server:
        urls = [server.url(host=host) for host in ("a.localhost", "a.localhost", "b.localhost")]
        first, second, other = (one(result) for result in fetch(*urls))
        assert (first.status, first.flags) == (302, [NEW_COOKIE])
        assert (second.status, second.flags) == (200, [])
        assert other.status == 302
        assert [one(result).status for result in fetch(*urls, SITE_COOKIES=False)] == [302] * 3


def test_both_schemes_share_what_they_know() -> None:
    both = crawler()
    plain, secure = GuardedHandler.from_crawler(both), GuardedHandler.from_crawler(both)
    assert plain._network is secure._network
    assert handler()._network is not plain._network


def test_header_cannot_be_smuggled() -> None:
    with RawServer(answering(answer())) as server:
        request = Request(server.url(), headers={"X-A": "a\r\nX-B: b", "Connection": "close", "Content-Length": "9"})
        one(fetch(request)[0])
        asked = server.requests[0]
    assert b"\r\nX-B" not in asked
    assert b"Connection" not in asked
    assert b"Content-Length" not in asked


def test_cookies_of_a_request_go_along_and_are_kept() -> None:
    with RawServer(answering(answer(BODY, b"Set-Cookie: theirs=1; Path=/"))) as server:
        bare = {"meta": {"dont_merge_cookies": True}}
        requests = [
            Request(server.url("/a/"), cookies={"mine": "1", "n": 2}),
            Request(server.url("/a/b")),
            Request(server.url("/"), cookies=[{"name": b"safe", "value": "3", "path": "/", "secure": True}]),
            Request(server.url("/a/"), headers={"Cookie": "own=4"}),
            Request(server.url("/a/"), cookies={"never": "5"}, **bare),
        ]
        answers = [one(result) for result in fetch(*requests)]
        asked = [re.findall(rb"Cookie: (.*?)\r\n", request) for request in server.requests]
    assert asked == [[b"mine=1; n=2"], [b"mine=1; n=2; theirs=1"], [b"theirs=1"], [b"own=4"], []]
    assert {response.headers["Set-Cookie"] for response in answers} == {b"theirs=1; Path=/"}


def test_request_that_may_not_be_repeated_takes_no_kept_connection() -> None:
    with RawServer(keeping(answer())) as server:
        fetch(server.url(), Request(server.url(), method="POST"), server.url(), Request(server.url(), method="PUT"))
        assert server.connections == 2


def test_body_without_bound_is_read_whole() -> None:
    body = b"<html>" + b"x" * (2 << 20)
    with RawServer(answering(answer(body))) as server:
        cut, whole = fetch(server.url(), Request(server.url(), meta={"download_maxsize": 0}), DOWNLOAD_MAXSIZE=1 << 20)
    assert (len(one(cut).body), one(whole).body) == (1 << 20, body)


def test_address_to_connect_from_is_that_of_the_request_or_the_settings() -> None:
    peers: list[str] = []

    def speak(connection: socket.socket, _asked: bytes) -> bool:
        peers.append(connection.getpeername()[0])
        connection.sendall(answer())
        return True

    with RawServer(speak) as server:
        own = Request(server.url(), meta={"bindaddress": ("127.0.0.3", 0)})
        fetch(server.url(), own, server.url(), DOWNLOAD_BIND_ADDRESS="127.0.0.2")
    assert peers == ["127.0.0.2", "127.0.0.3", "127.0.0.2"]


def test_first_of_several_addresses_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: ("127.0.0.3", "127.0.0.1", "127.0.0.2"))
    with RawServer(answering(answer())) as server:
        response = one(fetch(f"http://many.test:{server.port}/")[0])
    assert str(response.ip_address) == "127.0.0.1"


def test_name_is_looked_up_once_for_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ask(name: str) -> tuple[str, ...]:
        asked.append(name)
        time.sleep(0.2)
        return ("127.0.0.1",)

    monkeypatch.setattr("crawler.fetch.dns._ask", ask)

    async def together() -> list[list[Response | Exception]]:
        own = handler()
        try:
            return await asyncio.gather(
                *(own.download_request(Request(f"http://one.test:{server.port}/{n}")) for n in range(5))
            )
        finally:
            await own.close()

    with RawServer(answering(answer())) as server:
        assert [response.status for response in asyncio.run(together())] == [200] * 5
    assert asked == ["one.test"]


def test_fetch_that_is_given_up_leaves_nothing_open() -> None:
    async def give_up() -> None:
        async with asyncio.timeout(0.3):
            await fetch_all([server.url()])

    with RawServer(mute) as server:
        with pytest.raises(TimeoutError):
            asyncio.run(give_up())
        assert server.connections == 1


@each_row(("kind", "unpacked"), [(b"text/html", True), (b"application/x-gzip", False)])
def test_pages_are_unpacked_though_nobody_says_that_they_are_packed(*, kind: bytes, unpacked: bool) -> None:
    packed = gzip.compress(BODY)
    with RawServer(answering(answer(packed).replace(b"text/html", kind))) as server:
        response = one(fetch(server.url())[0])
    assert (response.body, response.flags) == (BODY if unpacked else packed, [])


def test_body_whose_server_did_not_wait_for_the_slot_is_asked_for_again() -> None:
    body = b"<html>" + b"x" * (20 << 20)
    has_slot = threading.Event()

    def speak(connection: socket.socket, asked: bytes) -> bool:
        sent = answer(body)
        if b"/slow" in asked:
            connection.sendall(sent[: 2 << 20])
            has_slot.set()
            time.sleep(1)
            connection.sendall(sent[2 << 20 :])
        else:
            has_slot.wait(300)
            connection.settimeout(0.3)  # as servers have it
            connection.sendall(sent)
        return False

    async def together() -> list[Response]:
        own = handler(DOWNLOAD_MAXSIZE=64 << 20)
        try:
            asked = [own.download_request(Request(server.url(path))) for path in ("/slow", "/")]
            return await asyncio.gather(*asked)
        finally:
            await own.close()

    with RawServer(speak) as server:
        pages = asyncio.run(together())
        assert [(page.body == body, page.flags) for page in pages] == [(True, [])] * 2
        assert len(server.requests) == 3


def test_question_mark_behind_the_number_sign_is_no_query() -> None:
    with RawServer(keeping(answer())) as server:
        fetch(server.url("/a#x?y"), server.url("/b?x"), server.url("/c?d#x"))
        assert [asked.split()[1] for asked in server.requests] == [b"/a", b"/b?x", b"/c?d"]
