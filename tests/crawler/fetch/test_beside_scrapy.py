"""The download handler beside Scrapy's own: the same spider, the same server, the same requests and responses."""

from __future__ import annotations

import json
import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.crawler.crawling import scrapy
from tests.crawler.fetching import RawServer
from tests.crawler.own_spiders import Describing
from tests.table import each_row

OURS = (
    'DOWNLOAD_HANDLERS={"http": "crawler.fetch.handler.GuardedHandler"}',
    'EXTENSIONS={"crawler.run.wiring.ConfiguredNetwork": 0}',
    "ALLOW_NETWORKS=127.0.0.0/8",
    "SITE_COOKIES=0",
)
LONG = 200_000
PAUSE = 0.4


def response(body: bytes, *headers: bytes, status: bytes = b"200 OK", kind: bytes = b"text/html") -> bytes:
    lines = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join([*lines, b"", body])


def speak(connection: socket.socket, asked: bytes) -> bool:
    """Answer with what was asked, or as the path says."""
    head, _, body = asked.partition(b"\r\n\r\n")
    if found := re.search(rb"content-length: *(\d+)", head, re.IGNORECASE):
        while len(body) < int(found[1]):
            body += connection.recv(65536)
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split()
    said = dict(line.lower().split(": ", 1) for line in lines)
    said["cookie"] = "; ".join(sorted(said.get("cookie", "").split("; ")))
    told = {"method": method, "path": path, "headers": said, "body": body.decode(), "peer": connection.getpeername()[0]}
    page = json.dumps(told, sort_keys=True).encode()
    name = path.rpartition("/")[2]
    keep = True
    if name == "silent":
        time.sleep(3 * PAUSE)
        keep = False
    elif method == "HEAD":
        connection.sendall(response(page).partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
    elif name.startswith("image"):
        connection.sendall(response(b"\x89PNG\r\n\x1a\n" + bytes(LONG), kind=b"image/png"))
    elif name == "missing":
        connection.sendall(response(b"<html>" + b"x" * LONG, status=b"404 Not Found"))
    elif name == "no-length":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>whole?")
        keep = False
    elif name.startswith("cut"):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<html>part")
        keep = False
    elif name == "get":
        whole = response(page, b"Set-Cookie: one=1; Path=/other", b"Set-Cookie: two=2; Path=/other", b"X-Odd: yes")
        connection.sendall(whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
        time.sleep(PAUSE)
        connection.sendall(page)
    else:
        connection.sendall(response(page))
    return keep


def described(folder: Path, *settings: str) -> dict[str, dict[str, Any]]:
    """Run the spider; returns what it says of each request."""
    folder.mkdir()
    with RawServer(speak) as server:
        given = ("SPIDER_MODULES=tests.crawler.own_spiders", "CONCURRENT_REQUESTS_PER_DOMAIN=1", *settings)
        options = [x for one in given for x in ("-s", one)]
        done = scrapy(folder, "crawl", "describing", "-a", f"url={server.url()}", "-o", "-:jsonl", *options)
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace(str(server.port), "PORT")
    return {item["asked"]: item for item in map(json.loads, text.splitlines())}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict]:
    folder = tmp_path_factory.mktemp("beside")
    return described(folder / "scrapys"), described(folder / "ours", *OURS)


REQUESTS = list(Describing().requests())


@each_row("asked", REQUESTS)
def test_request_and_response_are_those_of_scrapys_handler(both: tuple[dict, dict], asked: str) -> None:
    scrapys, ours = ({k: v for k, v in one[asked].items() if k != "latency"} for one in both)
    if asked == "no length":  # the sentinel of Twisted; its other handlers say None, too
        scrapys["heard"] = ours["heard"]
    if asked in {"stop at head", "stop fails"}:
        assert (scrapys.pop("ip"), ours.pop("ip")) == ("None", "127.0.0.1")
    assert ours == scrapys


@each_row("which", [0, 1])
def test_comparison_rests_on_what_it_should(both: tuple[dict, dict], which: int) -> None:
    """The descriptions hold what they are compared by."""
    told = both[which]
    page = {name: json.loads(one["body"]) for name, one in told.items() if str(one.get("body")).startswith("{")}
    assert page["post"]["headers"]["content-length"] == page["put"]["headers"]["content-length"] == "0"
    assert page["post body"]["body"] == "a=1"
    assert "content-length" not in page["delete"]["headers"]
    assert (told["head"]["body"], page["after head"]["method"]) == ("", "GET")
    assert page["cookies"]["headers"]["cookie"] == "a=1; b=2"
    assert page["cookie header"]["headers"]["cookie"] == "mine=1"
    assert page["accept-encoding"]["headers"]["accept-encoding"] == "identity"
    assert page["host"]["headers"]["host"] == "other.example"
    assert page["bind"]["peer"] == "127.0.0.2"
    assert told["image"]["body"] == told["image no limit"]["body"] == LONG + 8
    assert told["missing"]["body"] == LONG + 6
    assert told["get"]["headers"]["Set-Cookie"] == ["one=1; Path=/other", "two=2; Path=/other"]
    assert [told[name]["flags"] for name in ("get", "no length", "cut")] == [[], ["partial"], ["dataloss"]]
    stopped = [told[name]["flags"] for name in ("stop at head", "stop at body", "stop fails")]
    assert stopped == [["download_stopped"]] * 3
    assert [name for name in REQUESTS if told[name].get("error")] == ["cut fails", "silent", "stop fails"]
    assert told["stop at head"]["body"] == ""
    kind, length, came = told["post"]["heard"]
    assert (kind, length) == ("text/html", came)
    assert came > 100
    assert told["get"]["latency"] > 0
