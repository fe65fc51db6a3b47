"""Proxies: how they are written, chosen and rested, and what goes through real ones on loopback."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import NotSupported
from scrapy.http import Response

from crawler.fetch.errors import why
from crawler.fetch.guard import AddressRefused
from crawler.fetch.handler import Network
from crawler.fetch.proxies import (
    Environment,
    Exempt,
    Proxies,
    Proxy,
    ProxyFault,
    ProxyKind,
    ProxyOptions,
    ProxyProblem,
    read_environment,
    read_proxies,
    written,
)
from crawler.options.config import fetch_options
from crawler.options.values import ConfigError
from db.records.reasons import label
from tests.crawler.fetch.test_tls import Authority
from tests.crawler.fetching import RawServer, answering, crawler, fetch, keeping, settings
from tests.crawler.proxy_server import PASSWORD, USER, WRITTEN, ProxyServer
from tests.table import each_row

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
KINDS = ["http", "socks5"]
FIRST, SECOND = Proxy(ProxyKind.HTTP, "a.cn", 1), Proxy(ProxyKind.SOCKS5, "b.cn", 2)


def said(result: object) -> str:
    """The reason and detail of an error."""
    assert isinstance(result, Exception), result
    return label(*why(result))


def bodies(results: list[Response | Exception]) -> list[object]:
    return [result.text if isinstance(result, Response) else said(result) for result in results]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# ------------------------------------------------------------ how they are written


@each_row(
    ("text", "proxies"),
    [
        ("", ()),
        ("none", (None,)),
        ("http://h.cn:3128", (Proxy(ProxyKind.HTTP, "h.cn", 3128),)),
        ("H.cn:3128/", (Proxy(ProxyKind.HTTP, "h.cn", 3128),)),
        ("SOCKS5://[::1]:1080", (Proxy(ProxyKind.SOCKS5, "::1", 1080),)),
        ("socks5://me:a%40b%3a@h.cn:1", (Proxy(ProxyKind.SOCKS5, "h.cn", 1, "me", "a@b:"),)),
        ("http://me:a@b/c@h.cn:1", (Proxy(ProxyKind.HTTP, "h.cn", 1, "me", "a@b/c"),)),
        ("http://a.cn:1, socks5://b.cn:2 none", (FIRST, SECOND, None)),
    ],
)
def test_proxies_are_read(text: str, proxies: tuple[Proxy | None, ...]) -> None:
    assert read_proxies(text) == proxies
    assert read_proxies(written(proxies)) == tuple(p and Proxy(p.kind, p.host, p.port) for p in proxies)


@each_row(
    ("text", "reason"),
    [
        ("http://:3128", "a proxy has no name"),
        ("http://me:SESAME@:3128", "a proxy has no name"),
        ("http://h.cn", "no port from 1 to 65535"),
        ("h.cn:99999", "no port from 1 to 65535"),
        ("h.cn:0", "no port from 1 to 65535"),
        ("h.cn:3128:me:SESAME", "not written as one"),
        ("http://me:SESAME@h.cn:x", "not written as one"),
        ("http://h.cn:1/path", "not written as one"),
        ("http://me:SES,AME@h.cn:1", "not written as one"),
        ("socks4://me:SESAME@h.cn:1", "scheme that is not spoken"),
        ("socks5h://me:SESAME@h.cn:1", "write socks5://, and PROXY_RESOLVES=True"),
        ("https://me:SESAME@h.cn:1", "http:// serves https pages as well"),
        (f"http://me:{'SESAME' * 50}@h.cn:1", "more than 255 bytes"),
        ("http://m%3ae:SESAME@h.cn:1", "has a colon"),
    ],
)
def test_wrong_proxies_are_refused_without_showing_a_password(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        read_proxies(text)
    assert "SES" not in str(refused.value)
    with pytest.raises(
        ConfigError, match=f"^PROXY: .*{reason}.*; write http://user:password@host:port"
    ) as refused_option:
        fetch_options(settings(PROXY=text))
    assert "SES" not in str(refused_option.value)


@given(st.sampled_from(KINDS), st.text(max_size=60), st.text(max_size=60), st.integers(1, 65535))
def test_proxies_of_any_user_and_password_are_read_and_never_shown(
    kind: str, user: str, password: str, port: int
) -> None:
    user = user.replace(":", "")
    (proxy,) = read_proxies(f"{kind}://{quote(user, safe='')}:SESAME{quote(password, safe='')}@proxy.example:{port}")
    assert proxy is not None
    assert (proxy.kind, proxy.user, proxy.password, proxy.port) == (kind, user, f"SESAME{password}", port)
    shown = f"{proxy} {proxy!r} {written((proxy,))} {ProxyProblem(proxy, ProxyFault.LOGIN)!r}"
    assert "SESAME" not in shown
    assert f"proxy.example:{port}" in shown


@given(st.text(alphabet=":/@,.%[]a1 \nS"))
def test_proxies_are_read_or_refused_whatever_is_given(text: str) -> None:
    problem = ""
    try:
        found = read_proxies(text)
        assert read_proxies(written(found)) == tuple(p and Proxy(p.kind, p.host, p.port) for p in found)
    except ValueError as error:
        problem = str(error)
    assert not problem or problem.endswith("separated by commas, or none")


@each_row(
    ("text", "covered", "not_covered"),
    [
        ("", [], ["h.cn"]),
        ("*", ["h.cn", "1.2.3.4"], []),
        ("h.cn", ["h.cn", "www.h.cn"], ["oh.cn", "cn"]),
        (".h.cn, *.k.cn", ["h.cn", "a.h.cn", "k.cn", "a.k.cn"], ["ak.cn"]),
        ("h.cn:80", ["h.cn"], []),
        ("h.cn:81 k.cn:x", [], ["h.cn", "k.cn"]),
        ("10.0.0.0/8,192.0.2.7,[2001:db8::]/32", ["10.1.2.3", "192.0.2.7"], ["192.0.2.8", "h.cn"]),
        ("2001:db8::/32", ["2001:db8::1"], ["2001:db9::1"]),
    ],
)
def test_no_proxy_is_read_as_curl_does(text: str, covered: list[str], not_covered: list[str]) -> None:
    exempt = Exempt.read(text)
    assert [host for host in [*covered, *not_covered] if exempt.covers(host, 80)] == covered


def test_environment_is_read_as_curl_does() -> None:
    found = read_environment({"http_proxy": "a.cn:1", "HTTP_PROXY": "x.cn:1", "ALL_PROXY": "socks5://b.cn:2"})
    assert (found.http, found.https) == ((FIRST,), (SECOND,))
    assert found.http[0] is not None
    assert found.http[0].named_by == "http_proxy"
    assert read_environment({"HTTPS_PROXY": "a.cn:1", "https_proxy": ""}).https == (FIRST,)
    with pytest.raises(
        ValueError, match=r"^the environment variable HTTPS_PROXY: .*PROXY=none goes without it\)$"
    ) as no:
        read_environment({"HTTPS_PROXY": "https://me:SESAME@a.cn:1"})
    assert "SESAME" not in str(no.value)


# ------------------------------------------------------------ choice and rests


def test_choice_is_that_of_the_request_then_of_the_setting_then_of_the_environment() -> None:
    environment = Environment((FIRST,), (SECOND,), Exempt.read("k.cn"))
    by_variables = Proxies(ProxyOptions(environment=environment))
    assert by_variables.are_general
    assert by_variables.general("h.cn", 80, secure=False) == (FIRST,)
    assert by_variables.general("h.cn", 443, secure=True) == (SECOND,)
    local = ("k.cn", "www.k.cn", "localhost", "x.localhost", "127.0.0.3", "::1")
    assert {by_variables.general(host, 80, secure=False) for host in local} == {()}
    assert by_variables.named("none") == by_variables.named(None) == by_variables.named("") == ()
    assert by_variables.named("a.cn:1 none b.cn:2") == (FIRST, None)
    by_setting = Proxies(ProxyOptions((SECOND,), environment))
    assert by_setting.general("127.0.0.1", 80, secure=False) == (SECOND,)
    without = Proxies(ProxyOptions((None, FIRST), environment))
    assert not without.are_general


def test_password_of_a_proxy_that_a_seed_names_stands_in_the_setting_or_the_environment() -> None:
    known, other = read_proxies("http://me:SESAME@a.cn:1 http://you:secret@c.cn:1")
    proxies = Proxies(ProxyOptions((None, known), Environment(http=(other,))))
    assert proxies.named("http://a.cn:1,c.cn:1,socks5://a.cn:1") == (known, other, Proxy(ProxyKind.SOCKS5, "a.cn", 1))
    (own,) = proxies.named("http://i:myself@a.cn:1")
    assert own is not None
    assert own.password == "myself"


def test_rests_of_a_dead_proxy_grow_and_one_connection_alone_tries_it_again() -> None:
    proxies = Proxies(ProxyOptions((FIRST, SECOND)), test_seconds=20)
    route, dead = (FIRST, SECOND), ProxyProblem(FIRST, ProxyFault.SILENT)
    assert proxies.usable(route, 80, 0.0) is FIRST
    assert proxies.failed(dead, 0.0, 1.0) == 5.0
    assert proxies.failed(dead, 0.5, 2.0) == 0.0, "tried before it rested"
    now, pauses = 1.0, []
    for _ in range(5):
        until = now + next(n for n in range(1, 1_000) if proxies.usable((FIRST, None), 80, now + n) is FIRST)
        pauses.append(until - now)
        assert proxies.usable(route, 80, until) is SECOND, "somebody tries it"
        now = until + 1
        assert proxies.failed(dead, until, now) == 0.0, "told once"
    assert pauses == [5, 20, 80, 320, 600]
    assert proxies.rests(FIRST)
    assert proxies.answered(FIRST, now) == now - 1.0
    assert proxies.answered(FIRST, now) == 0.0
    assert proxies.usable(route, 80, now) is FIRST


def test_problem_of_the_proxy_that_is_tried_first_again_is_told_when_all_rest() -> None:
    proxies = Proxies(ProxyOptions((FIRST, SECOND)))
    proxies.failed(ProxyProblem(FIRST, ProxyFault.SILENT), 0.0, 1.0)
    proxies.failed(ProxyProblem(SECOND, ProxyFault.NO_LOGIN, "407"), 0.0, 3.0)
    with pytest.raises(ProxyProblem, match=r"^no proxy serves: http://a\.cn:1 does not answer$") as problem:
        proxies.usable((FIRST, SECOND), 80, 4.0)
    assert problem.value.seconds == 2.0
    assert proxies.usable((FIRST, SECOND, None), 80, 4.0) is None


def test_port_that_a_proxy_does_not_open_rests_by_itself() -> None:
    proxies = Proxies(ProxyOptions((FIRST,)))
    proxies.failed(ProxyProblem(FIRST, ProxyFault.NO_TUNNEL, "403", 80), 0.0, 1.0)
    assert proxies.usable((FIRST,), 443, 2.0) is FIRST
    with pytest.raises(ProxyProblem):
        proxies.usable((FIRST,), 80, 2.0)


# ------------------------------------------------------------ through real ones


@each_row("login", [False, True])
@each_row("kind", KINDS)
def test_page_comes_through_a_proxy_that_is_given_the_address(kind: str, login: bool) -> None:  # noqa: FBT001
    with RawServer(keeping(OK)) as server, ProxyServer(kind, login=login) as proxy:
        results = fetch(*[server.url(f"/{n}", host="x.localhost") for n in range(3)], PROXY=proxy.url)
        assert bodies(results) == ["ok"] * 3
        assert [str(result.ip_address) for result in results if isinstance(result, Response)] == ["127.0.0.1"] * 3
        assert proxy.asked == [f"127.0.0.1:{server.port}"], "one connection, kept"
        assert server.requests[0].startswith(f"GET /0 HTTP/1.1\r\nHost: x.localhost:{server.port}\r\n".encode())
        assert b"roxy" not in b"".join(server.requests)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.path))
    return made


@pytest.mark.parametrize("resolves", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_https_page_is_verified_by_its_name(
    kind: str,
    resolves: bool,  # noqa: FBT001
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts = ("good.example", "bad.example")
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: ("127.0.0.1",))
    monkeypatch.setattr("tests.crawler.proxy_server.RESOLVED", dict.fromkeys(hosts, "127.0.0.1"))
    wrap = authority.wrap([x509.DNSName("good.example")])
    with RawServer(answering(OK), wrap=wrap) as server, ProxyServer(kind, login=True) as proxy:
        urls = [server.url(scheme="https", host=host) for host in hosts]
        good, bad = fetch(*urls, PROXY=proxy.url, PROXY_RESOLVES=resolves)
        assert isinstance(good, Response)
        assert good.certificate is not None
        assert "certificate not valid" in said(bad)
        assert proxy.asked == [f"{host if resolves else '127.0.0.1'}:{server.port}" for host in hosts]


@pytest.mark.parametrize("kind", KINDS)
def test_guard_holds_through_a_proxy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda name: ("10.0.0.1",) if name == "inside.example" else ())
    with ProxyServer(kind) as proxy:
        hosts = ("inside.example", "10.0.0.1", "localhost", "169.254.169.254", "gone.example")
        results = fetch(*[f"http://{host}/" for host in hosts], PROXY=proxy.url, ALLOW_NETWORKS=[])
        assert [type(result) for result in results[:-1]] == [AddressRefused] * 4
        assert said(results[-1]) == "no such host"
        assert proxy.connections == 0


def test_addresses_of_a_host_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: ("127.0.0.3", "127.0.0.1"))
    refuse = {"127.0.0.3": 4}
    with RawServer(answering(OK)) as server, ProxyServer("socks5", refuse=lambda host, _: refuse.get(host, 0)) as proxy:
        results = fetch(*[server.url(host="two.example")] * 2, PROXY=proxy.url)
        assert bodies(results) == ["ok"] * 2
        tried = [asked.partition(":")[0] for asked in proxy.asked]
        assert tried == ["127.0.0.3", "127.0.0.1", "127.0.0.1"], "the one that answers is the first from then on"


def test_connections_are_kept_for_the_same_proxies_only() -> None:
    with RawServer(keeping(OK)) as server, ProxyServer("http") as one, ProxyServer("socks5") as other:
        names = [one.url, "none", other.url, one.url, "", other.url]
        fetched = fetch(*[Request(server.url(), meta={"proxy": name}) for name in names])
        assert bodies(fetched) == ["ok"] * 6
        assert (len(one.asked), len(other.asked), server.connections) == (1, 1, 3)


def test_local_address_to_connect_from_holds_for_the_proxy() -> None:
    came: list[str] = []

    def speak(opened: socket.socket) -> None:
        came.append(opened.getpeername()[0])

    with ProxyServer("http", speak=speak) as proxy:
        fetch(Request("http://127.0.0.1:8/", meta={"bindaddress": "127.0.0.9"}), PROXY=proxy.url)
    assert "127.0.0.9" in came


# ------------------------------------------------------------ what is wrong with a proxy


def sending(*data: bytes, hold: float = 0.0) -> Callable[[socket.socket], None]:
    """Whatever comes is answered so."""

    def speak(opened: socket.socket) -> None:
        opened.settimeout(hold or 5)
        for piece in data:
            if not opened.recv(4096):
                return
            opened.sendall(piece)
        time.sleep(hold)

    return speak


@pytest.mark.parametrize(
    ("kind", "speak", "fault"),
    [
        ("http", sending(hold=2), "does not answer"),
        ("socks5", sending(hold=2), "does not answer"),
        ("http", sending(b""), "closes every connection without a word"),
        ("socks5", sending(b""), "closes every connection without a word"),
        ("http", sending(b"SSH-2.0-OpenSSH_9.2\r\n"), "does not answer as such a proxy does"),
        ("http", sending(b"HTTP/1.1 two hundred\r\n\r\n"), "does not answer as such a proxy does"),
        ("http", sending(b"\x05\xff"), "does not answer as such a proxy does"),
        ("socks5", sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not answer as such a proxy does"),
        ("socks5", sending(b"\x05\x00", b"\x05\x07\x00\x01"), "does not answer as such a proxy does"),
        ("socks5", sending(b"\x05\x02"), "does not answer as such a proxy does"),
        ("http", sending(b"HTTP/1.1 405 Not Allowed\r\nAllow: GET\r\n\r\n<html>"), "opens no connections to this port"),
        ("socks5", sending(b"\x05\x00", b"\x05\x02\x00\x01"), "opens no connections to this port"),
    ],
)
def test_proxy_that_does_not_serve_is_named_in_one_sentence(
    kind: str, speak: Callable[[socket.socket], None], fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with ProxyServer(kind, speak=speak) as proxy:
        urls = ["http://127.0.0.1:8/a", "http://127.0.0.1:8/b"]
        results = fetch(*urls, PROXY=proxy.address, STALL_SECONDS=0.3)
        assert [type(result) for result in results] == [ProxyProblem] * 2
        assert said(results[1]).startswith(f"no proxy serves: {proxy.address} {fault}")
        (warning,) = warnings(caplog)
        assert warning.startswith(f"the proxy {proxy.address} {fault}")
        assert warning.endswith("it rests for 5 s")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("login", "fault"), [("", "for a user and a password"), ("reader:SESAME@", "for another user")]
)
def test_password_that_is_wrong_or_missing_is_named_and_not_shown(
    kind: str, login: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with ProxyServer(kind, login=True) as proxy:
        (result,) = fetch("http://127.0.0.1:8/", PROXY=proxy.address.replace("//", f"//{login}"))
        assert f"{proxy.address} asks {fault}" in said(result)
        assert "SESAME" not in f"{result!r} {caplog.text}"
        assert proxy.asked == []


def test_proxy_that_cannot_be_reached_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (refused,) = fetch("http://127.0.0.1:8/", PROXY=f"http://127.0.0.1:{port}")
    assert said(refused) == f"no proxy serves: http://127.0.0.1:{port} cannot be connected to (connection refused)"
    (nameless,) = fetch("http://127.0.0.1:8/", PROXY="http://proxy.invalid:1")
    assert "http://proxy.invalid:1 has a name that cannot be resolved" in said(nameless)
    assert [text.rpartition("; ")[0].rpartition("; ")[2] for text in warnings(caplog)] == [
        "start it, or correct PROXY",
        "correct PROXY",
    ]


@pytest.mark.parametrize(
    ("kind", "code", "reason"),
    [
        ("http", 502, "no route to host: the proxy says 502"),
        ("http", 504, "timed out: the proxy says 504"),
        ("socks5", 3, "no route to host: the proxy says network unreachable"),
        ("socks5", 4, "no route to host: the proxy says host unreachable"),
        ("socks5", 5, "connection refused: the proxy says connection refused"),
        ("socks5", 8, "no route to host: the proxy says no such kind of address"),
        ("socks5", 200, "no route to host: the proxy says reply 200"),
    ],
)
def test_failure_of_a_host_is_not_its_proxys(
    kind: str, code: int, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with RawServer(answering(OK)) as server:
        with ProxyServer(kind, refuse=lambda _, port: code * (port != server.port)) as proxy:
            results = fetch("http://127.0.0.1:8/", server.url(), PROXY=proxy.url)
        assert bodies(results) == [reason, "ok"]
        assert warnings(caplog) == []


@each_row(("kind", "code"), [("http", 403), ("socks5", 2)])
def test_host_that_a_proxy_refuses_is_told_from_a_port_that_it_does_not_open(kind: str, code: int) -> None:
    forbidden = {"127.0.0.2"}
    proxy = ProxyServer(kind, refuse=lambda host, _: code * (host in forbidden))
    with RawServer(answering(OK)) as server, proxy:
        urls = [server.url(), server.url(host="127.0.0.2")]
        assert said(fetch(*reversed(urls), PROXY=proxy.url)[0]).startswith("no proxy serves")
        good, refused = bodies(fetch(*urls, PROXY=proxy.url))
    assert good == "ok"
    assert str(refused).startswith("refused by the proxy")


def test_next_proxy_of_a_list_serves_while_one_rests(caplog: pytest.LogCaptureFixture) -> None:
    with RawServer(answering(OK)) as server, ProxyServer("http") as one, ProxyServer("socks5", login=True) as other:
        one.stop()
        results = fetch(*[server.url(f"/{n}") for n in range(3)], PROXY=[one.url, other.url])
        assert bodies(results) == ["ok"] * 3
        assert len(other.asked) == 3
        assert len(warnings(caplog)) == 1
        direct = fetch(server.url(), PROXY=[one.url, "none"])
        assert bodies(direct) == ["ok"]


@each_row("whole", [False, True])
@each_row("kind", KINDS)
def test_page_that_a_proxy_dies_with_comes_through_the_next(kind: str, whole: bool) -> None:  # noqa: FBT001
    dying = ProxyServer(kind)
    turns: list[bytes] = []

    def speak(connection: socket.socket, asked: bytes) -> None:
        turns.append(asked)
        if len(turns) == 1:
            if not whole:
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nbeginning"
                )
                time.sleep(0.1)
            dying.stop()
        else:
            connection.sendall(OK)

    with RawServer(speak) as server, ProxyServer("http") as other:
        assert bodies(fetch(server.url(), PROXY=[dying.url, other.url])) == ["ok"]
        assert len(other.asked) == 1


def test_page_that_the_only_proxy_dies_with_was_not_the_hosts_fault(caplog: pytest.LogCaptureFixture) -> None:
    with ProxyServer("http") as proxy, RawServer(lambda *_: proxy.stop()) as server:
        (result,) = fetch(server.url(), PROXY=proxy.url)
        assert said(result).startswith(f"no proxy serves: {proxy.address} cannot be connected to")
        assert isinstance(result, ProxyProblem)
        assert 0.0 < result.seconds <= 5.0


@each_row("kind", KINDS)
def test_page_that_its_host_cuts_is_not_its_proxys_fault(kind: str) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nbeginning"
    with RawServer(answering(half, b"", OK)) as server, ProxyServer(kind) as proxy:
        cut, lost, good = fetch(*[server.url()] * 3, PROXY=proxy.url)
        assert isinstance(cut, Response)
        assert "dataloss" in cut.flags
        assert said(lost) == "connection lost"
        assert bodies([good]) == ["ok"]


def test_silent_host_behind_a_proxy_that_answers_is_not_its_proxys_fault() -> None:
    with ProxyServer("http", refuse=lambda *_: time.sleep(1) or 0) as proxy:
        (result,) = fetch("http://127.0.0.1:8/", PROXY=proxy.url, STALL_SECONDS=0.3)
        assert said(result) == "timed out"


def test_proxy_is_found_alive_again_by_the_look_for_the_network(caplog: pytest.LogCaptureFixture) -> None:
    with RawServer(answering(OK)) as server, ProxyServer("socks5") as proxy:
        network = Network.from_options(fetch_options(settings(PROXY=proxy.url)))
        (known,) = read_proxies(proxy.url)
        assert known is not None

        async def looks() -> list[bool]:
            found = [await network.reaches(server.url())]
            proxy.stop()
            found += [await network.reaches(server.url()), await network.reaches(server.url(), "none")]
            network.proxies.failed(ProxyProblem(known, ProxyFault.SILENT), 0.0, time.monotonic())
            proxy.start()
            return [*found, await network.reaches("http://127.0.0.1:8/"), await network.reaches("http://127.0.0.1:8/")]

        assert asyncio.run(looks()) == [True, False, True, True, False], "the last two tell of a host that is dead"
        assert "serves again" in caplog.text


def test_proxy_that_is_asked_by_url_is_there_once_it_answers() -> None:
    answer = [b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"]

    def speak(opened: socket.socket) -> None:
        sending(answer[0])(opened)

    with ProxyServer("http", speak=speak) as proxy:
        network = Network.from_options(fetch_options(settings(PROXY=proxy.url, PROXY_RESOLVES=True)))

        async def looks() -> list[bool]:
            found = [await network.reaches("http://h.example/")]
            answer[0] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
            return [*found, await network.reaches("http://h.example/")]

        assert asyncio.run(looks()) == [False, True]


# ------------------------------------------------------------ which one, and by name


def test_request_names_its_proxy_and_the_setting_its_password() -> None:
    with RawServer(answering(OK)) as server, ProxyServer("http", login=True) as proxy:
        given = {"PROXY": f"none {proxy.url}"}
        requests = [server.url(), Request(server.url(), meta={"proxy": proxy.address})]
        assert bodies(fetch(*requests, **given)) == ["ok"] * 2
        assert len(proxy.asked) == 1
        header = {"Proxy-Authorization": read_proxies(proxy.url)[0].basic}  # as Scrapy's own middleware writes it
        assert bodies(fetch(Request(server.url(), headers=header, meta={"proxy": proxy.address}))) == ["ok"]
        (wrong,) = fetch(Request(server.url(), meta={"proxy": f"ftp://me:SESAME@{proxy.port}"}))
        assert isinstance(wrong, NotSupported)
        assert "SESAME" not in str(wrong)


def test_variables_of_the_environment_count_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda _name: ("127.0.0.1",))
    with RawServer(answering(OK)) as server, ProxyServer("http", login=True) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "k.example")
        urls = [server.url(host=host) for host in ("h.example", "www.k.example", "x.localhost", "127.0.0.1")]
        assert bodies(fetch(*urls)) == ["ok"] * 4
        assert len(proxy.asked) == 1
        assert bodies(fetch(urls[0], PROXY="none")) == ["ok"]
        assert len(proxy.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_given_to_a_proxy_that_resolves_them(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.dns._ask", lambda name: pytest.fail(f"{name} was looked up"))
    monkeypatch.setattr("tests.crawler.proxy_server.RESOLVED", {"h.example": "127.0.0.1"})
    with RawServer(answering(OK)) as server, ProxyServer(kind, login=True) as proxy:
        urls = [server.url(f"/{n}?q", host="h.example") for n in range(2)]
        first, second = fetch(*urls, PROXY=proxy.url, PROXY_RESOLVES=True)
        assert bodies([first, second]) == ["ok"] * 2
        assert isinstance(first, Response)
        assert first.ip_address is None
        assert server.requests[0].startswith(f"GET /0?q HTTP/1.1\r\nHost: h.example:{server.port}\r\n".encode())
        assert proxy.asked == (urls if kind == "http" else [f"h.example:{server.port}"] * 2)


def test_addresses_are_judged_also_where_a_proxy_resolves_names() -> None:
    with ProxyServer("http") as proxy:
        hosts = ("127.0.0.1", "localhost", "x.localhost", "[::1]", "169.254.169.254", "h.example:25")
        given = {"PROXY": proxy.url, "PROXY_RESOLVES": True, "ALLOW_NETWORKS": []}
        results = fetch(*[f"http://{host}/" for host in hosts], **given)
        assert [type(result) for result in results] == [AddressRefused] * 6
        assert proxy.connections == 0


@each_row(
    ("speak", "fault"),
    [
        (sending(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"), "asks for a user and a password (407)"),
        (sending(b"SSH-2.0-OpenSSH_9.2\r\n"), "does not answer as such a proxy does"),
        (sending(b""), "closes every connection without a word"),
    ],
)
def test_proxy_that_is_asked_by_url_and_does_not_serve_is_named(
    speak: Callable[[socket.socket], None], fault: str
) -> None:
    with ProxyServer("http", speak=speak) as proxy:
        results = fetch(*["http://h.example/"] * 2, PROXY=proxy.url, PROXY_RESOLVES=True)
        assert {said(result) for result in results} == {f"no proxy serves: {proxy.address} {fault}"}


def test_start_says_that_the_guard_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    from crawler.run.wiring import ConfiguredNetwork

    ConfiguredNetwork.from_crawler(crawler(PROXY="http://h.cn:1"))
    assert warnings(caplog) == []
    ConfiguredNetwork.from_crawler(crawler(PROXY="http://h.cn:1", PROXY_RESOLVES=True))
    (warning,) = warnings(caplog)
    assert "PROXY_RESOLVES" in warning


def test_login_is_that_of_the_test_server() -> None:
    (proxy,) = read_proxies(f"http://{WRITTEN}@h.cn:1")
    assert proxy is not None
    assert (proxy.user, proxy.password) == (USER, PASSWORD)
