"""Requests of every bad kind: a clear answer, never a traceback, never a write, and the next reader is served."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import uvicorn
from uvicorn.server import ServerState

from crawler.web.server import ReaderConnection, give_way
from tests.crawler.crawling import scrapy
from tests.crawler.web.serving import Answer, Server, ask, get, serving

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

QUERIES = (
    "AND OR NOT", "NEAR(港口 船, 5)", '"unclosed', "a* ^b title:c -d +e", "(((((", "'; DROP TABLE article; --",
    '" OR 1=1 --', "的 了 在", "the of and", "😀👩‍👩‍👧‍👦", "!!! ??? ……", "\u202e\u2066 \u200b", "港" * 10_000,
    "w " * 5_000, '"' * 5_000, "%_%", "\\", "\x00a\x00", "{{1234*5678}}${1234*5678}", "<script>__hit(1)</script>",
    "é" * 300, " ", "1/0",
)  # fmt: skip
DAYS = ("2024-13-45", "2024-02-30", "0", "-1d", "99999999999999d", "yesterday'", "٣d", "9" * 400, "2024年13月", "∞")
NUMBERS = ("0", "-1", "9" * 30, "0" * 20 + "9" * 5_000, "abc", "1e3", "1.5", "٣", "0x10", " 1", "1;2", "")
IDS = (
    "0", "-1", str(2**63 - 1), str(-(2**63)), str(2**63), "9" * 40, "abc", "1e5", "٣", "1.0",
    "%00", "--1", "+1", "1%20",
)  # fmt: skip
SEARCHES = ("/", "/api/search", "/feed.atom")
PAGES = ("/", "/crawl", "/sites", "/graph", "/why", "/settings", "/feed.atom", "/api/search", "/api/openapi.json")


@pytest.fixture(scope="module", autouse=True)
def unchanged(stand: Path, server: Server) -> Iterator[None]:
    """Compare the file, byte by byte, before and after all that is asked here."""
    before = stand.read_bytes()
    with closing(sqlite3.connect(f"file:{stand}?mode=ro", uri=True)) as watching:
        version = watching.execute("PRAGMA data_version").fetchone()
        yield
        assert watching.execute("PRAGMA data_version").fetchone() == version
    assert stand.read_bytes() == before
    others = {path.name: path.stat().st_size for path in stand.parent.iterdir() if path != stand}
    others.pop("news.db-shm", None)  # which readers of a file share
    assert not any(others.values()), others


def check(answer: Answer, *statuses: int) -> Answer:
    """An answer with one of the statuses that gives nothing away and is guarded."""
    assert answer.status in statuses, f"{answer.status} {answer.text[:300]}"
    assert "Traceback" not in answer.text
    assert not re.search(r"File \"|sqlalchemy|sqlite3\.|site-packages", answer.text), answer.text[:500]
    return answer


def guarded(answer: Answer, *statuses: int) -> Answer:
    """The same of an answer that the application made."""
    assert check(answer, *statuses).headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer


@pytest.mark.parametrize("path", SEARCHES)
def test_queries_of_any_kind_are_answered(server: Server, path: str) -> None:
    for query in QUERIES:
        answer = guarded(get(server, f"{path}?q={quote(query)}"), 200, 400)
        assert answer.status == 200 or "the query is wrong at character" in answer.text
        assert "<script>__hit" not in answer.text
        assert str(1234 * 5678) not in answer.text
    for raw in ("%ED%A0%80", "%FF%FE", "%", "%zz", "%C0%AF", "a&q=b&q=c", "a;b", "+", "%0d%0aX-Injected:%201"):
        assert "x-injected" not in guarded(get(server, f"{path}?q={raw}"), 200).headers
    guarded(get(server, f"{path}?q={'x' * 30_000}"), 200, 400)
    raw = get(server, f"{path}?q={'港口'.encode().decode('latin-1')}")
    found, wanted = (
        re.findall(r"(?:/article/|\"id\":\")(-?\d+)", answer.text)
        for answer in (raw, get(server, f"{path}?q={quote('港口')}"))
    )
    assert guarded(raw, 200).status == 200
    assert found == wanted != []


@pytest.mark.slow
def test_days_and_numbers_that_there_are_not_get_a_sentence(server: Server) -> None:
    for day in DAYS:
        for name in ("since", "until"):
            for path in SEARCHES:
                guarded(get(server, f"{path}?q=a&{name}={quote(day)}"), 200, 400)
    for number in NUMBERS:
        for path in ("/?page", "/?limit", "/feed.atom?limit", "/api/search?limit", "/api/search?offset", "/crawl?run"):
            guarded(get(server, f"{path}={quote(number)}"), 400, 200 if number.strip() in {"", "0", "1"} else 400)
    for name in ("site", "language", "source", "section", "page", "lang", "theme", "sort"):
        for value in ("'", "%00", "x" * 3_000, quote("<b>"), "../..", quote("\u202e")):
            guarded(get(server, f"/?q=a&{name}={value}"), 200, 400, 404)


@pytest.mark.parametrize("path", ["/article/{}", "/article/{}/page", "/story/{}", "/api/articles/{}", "/sites/{}"])
def test_identifiers_of_nothing_are_not_found(server: Server, path: str) -> None:
    for one in IDS:
        guarded(get(server, path.format(quote(one, safe="%"))), 404)
    guarded(get(server, path.format("x" * 20_000)), 404)


def test_urls_of_any_kind_have_a_why(server: Server) -> None:
    for url in (
        "",
        "news",
        "javascript:alert(1)",
        "http://",
        "https://[::1",
        "http://a..b/",
        "x" * 9_000,
        "\x00",
        "http://h/%zz",
    ):
        guarded(get(server, f"/why?url={quote(url)}"), 200, 400, 404)


def test_other_methods_are_refused(server: Server) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"):
        for path in ("/", "/crawl", "/static/style.css", "/api/search"):
            assert check(get(server, path, method=method), 400, 403, 405).body or method in {"OPTIONS", "TRACE"}


def test_head_is_get_without_its_body(server: Server) -> None:
    for path in (*PAGES, "/static/style.css"):
        head, whole = get(server, path, method="HEAD"), get(server, path)
        assert (head.status, head.body) == (whole.status, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]


def test_paths_lead_to_nothing_else(server: Server) -> None:
    paths = (
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/..%5capp.py", "/static/%00",
        "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/style.css%00.html", "/static/", "/static",
        "/static/.",
        "/%00", "/../../etc/passwd", "//etc/passwd", "/article/../../../etc/passwd", "/.git/config", "/news.db",
        "/%ff%fe",
        "/" + "a" * 60_000, "/" + "../" * 3_000, "/api", "/api/", "/api/none", "/article", "/sites/..%2f..", "/*", "*",
        "/static/style.css/", "/;", "/?" + "&" * 9_000, "/?" + "a=1&" * 5_000,
    )  # fmt: skip
    for path in paths:
        answer = check(get(server, path), 200, 307, 400, 404, 405)
        assert "root:" not in answer.text
        assert "SQLite format" not in answer.text
        if answer.status == 307:  # a path with or without a slash at its end, of this server
            assert answer.headers["location"].startswith((server.origin + "/", "/static", "/api"))


def test_pages_of_problems_link_to_this_server_alone(server: Server) -> None:
    for path in ("//evil.example/", "//evil.example/%2e%2e", "/\\evil.example", "///evil.example", "/%09/evil.example"):
        answer = guarded(get(server, path), 400, 404)
        for link in re.findall(r"""(?:href|action|src|hx-get)=["']([^"']*)""", answer.text):
            assert re.match(r"/(?![/\\])|#|\?", link), (path, link)
            assert not re.match(r"/[\t\n\r]*[/\\]", link), (path, link)


def test_names_of_others_are_refused(server: Server) -> None:
    """A page of the web whose name leads to this machine must not read what is here."""
    port = server.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", "LOCALHOST", "[::1]", f"[::1]:{port}"):
        guarded(get(server, "/", host=host), 200)
    wrong = (
        "evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", "evil.localhost",
        f"127.0.0.1:{port}@evil.example", "localhost:80:80", "[::1", "10.0.0.1", "0.0.0.0", "::1", "127.1",
        "127.0.0.1,evil.example", "127.0.0.1 evil.example", "xn--localhost", "localhost.", "a" * 5_000, "2130706433",
    )  # fmt: skip
    for host in wrong:
        for path in ("/", "/api/search?q=a", "/static/style.css", "/none"):
            answer = guarded(get(server, path, host=host), 400)
            assert host not in answer.text
    assert check(ask(server, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), 400)
    assert check(ask(server, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil.example\r\n\r\n".encode()), 400)
    absolute = b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert check(ask(server, absolute), 400, 404)


def test_requests_that_are_none_get_400(server: Server) -> None:
    ours = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    requests = (
        b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 99,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n" + ours + b"Content-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + ours + b"Content-Length: abc\r\n\r\n", b"GET / HTTP/1.1\r\n" + ours + b"A b: c\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + ours + b"X: \x00\r\n\r\n", b"GET /\x00 HTTP/1.1\r\n" + ours + b"\r\n",
        b"GET / HTTP/1.1\r\n" + ours + b"X-Big: " + b"a" * (1 << 20) + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + ours + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\n" + ours + b"Transfer-Encoding: gzip, chunked\r\nContent-Length: 4\r\n\r\nabcd",
    )  # fmt: skip
    for request in requests:
        check(ask(server, request), 0, 400, 403, 405, 413, 431, 501)


def test_bodies_and_headers_are_bounded(server: Server) -> None:
    ours = f"Host: 127.0.0.1:{server.port}\r\nOrigin: {server.origin}\r\n".encode()
    for path in (b"/", b"/static/style.css", b"/learn"):
        large = b"POST " + path + b" HTTP/1.1\r\n" + ours + b"Content-Length: 10000000\r\n\r\n" + b"x" * 10_000_000
        check(ask(server, large), 0, 403, 404, 405, 413)
    many = b"".join(b"X-%d: v\r\n" % n for n in range(2_000))
    check(ask(server, b"GET / HTTP/1.1\r\n" + ours + b"Connection: close\r\n" + many + b"\r\n"), 200, 400, 431)
    with_body = b"GET / HTTP/1.1\r\n" + ours + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello"
    check(ask(server, with_body), 200)
    odd = (
        f"Accept-Language: {'zh;q=9,' * 900}", "Accept-Language: \xff;q=x", f"Cookie: lang={'x' * 9_000}",
        "Cookie: lang=<script>; theme=../x", 'If-None-Match: ' + '"' * 4_000, "Accept-Encoding: gzip;q=x",
    )  # fmt: skip
    for header in odd:
        guarded(get(server, "/", header), 200)


def test_ranges_of_files(server: Server) -> None:
    assert len(check(get(server, "/static/style.css", "Range: bytes=0-9"), 206).body) == 10
    for wanted in (
        "bytes=9-1",
        "bytes=99999999-",
        "bytes=-0",
        "lines=1-2",
        "bytes=",
        "bytes=" + "0-1," * 3_000,
        "bytes=a-b",
    ):
        check(get(server, "/static/style.css", f"Range: {wanted}"), 200, 206, 400, 416)


def test_clients_that_never_finish_hold_nobody_up(server: Server) -> None:
    begun = b"GET /?q=a HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
    with ExitStack() as stack:
        for _ in range(60):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=300))
            slow.sendall(begun)
        guarded(get(server, "/"), 200)
        for _ in range(20):  # asks for pages and reads none
            deaf = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=300))
            deaf.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode() * 30)
        guarded(get(server, "/"), 200)


BEGUN = (
    b"",
    b"GET /quick HTTP/1.1\r\nX-Slow: ",
    b"GET /quick HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\nX-Slow: ",
    b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n",
)


@pytest.mark.parametrize("begun", BEGUN, ids=["nothing", "a request", "the next request", "reading"])
def test_client_that_never_finishes_is_let_go(monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    for name in ("_HEAD_SECONDS", "_MOST_SECONDS"):
        monkeypatch.setattr(f"crawler.web.server.{name}", 0.2)

    async def answer(scope: Any, _receive: Any, send: Any) -> None:
        body = b"x" * ((64 << 20) if scope["path"] == "/long" else 1)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def visit() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        config = uvicorn.Config(answer, lifespan="off", log_config=None, access_log=False)
        state = ServerState()
        listening = await loop.create_server(lambda: ReaderConnection(config, state, {}, loop), "127.0.0.1", 0)
        async with listening:
            _, writer = await asyncio.open_connection(*listening.sockets[0].getsockname(), limit=1)
            writer.write(begun)
            await asyncio.sleep(0.1)
            at_first = len(state.connections)
            for _ in range(50):
                await asyncio.sleep(0.02)
                if begun.endswith(b" "):
                    writer.write(b"a")
                if not state.connections:
                    break
            writer.transport.abort()
            return at_first, len(state.connections)

    assert asyncio.run(visit()) == (1, 0)


def test_port_in_use_is_said(server: Server, stand: Path, tmp_path: Path) -> None:
    ended = scrapy(tmp_path, "serve", "--port", str(server.port), "--database", str(stand))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"port {server.port}" in ended.stderr
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_two_servers_show_one_database(server: Server, stand: Path, tmp_path: Path) -> None:
    with serving(tmp_path, stand) as other:
        for one in (server, other, server):
            guarded(get(one, "/"), 200)


def of_session() -> str | None:
    """Return the priority of this session, None where the kernel shares processors without sessions."""
    try:
        return Path("/proc/self/autogroup").read_text(encoding="ascii").split()[-1]  # some sandboxes: an empty file
    except (OSError, IndexError):
        return None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads
@pytest.mark.parametrize("own", [True, False], ids=["session of its own", "session of others"])
def test_server_gives_way_to_a_crawl(own: bool) -> None:  # noqa: FBT001
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        if own:
            os.setsid()
        before = of_session()  # a new session may have a priority where the first one of a machine has none
        give_way()
        os.write(writable, f"{os.nice(0)} {before} {of_session()}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    nice, before, session = os.read(readable, 99).decode().split()
    os.close(readable)
    assert int(nice) == min(os.nice(0) + 10, 19)
    assert session == ("10" if own and before != "None" else before)
