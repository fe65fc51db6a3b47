"""A database that grows while it is watched, and receivers of messages that really listen."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller

from crawler.desk.watcher import Watcher
from crawler.options.alerts import AlertOptions, MailOptions
from db.desk.file import DeskFile
from db.engine.database import open_for_crawl
from tests.crawler.web.newsstand import Newsstand, Story

WORDS = (
    "harbour",
    "parliament",
    "orchestra",
    "glacier",
    "railway",
    "vaccine",
    "harvest",
    "museum",
    "volcano",
    "tariff",
)


def story(number: int, words: str, site: str = "a.example") -> Story:
    text = f"The report of number {number} speaks of {words}. " + " ".join(f"word{number}x{n}" for n in range(40))
    return Story(
        f"https://{site}/{number}.html", f"Number {number}: {words}", text, language="en", tags="t", description="d"
    )


def grow(database: Path, stories: list[Story]) -> None:
    """Store articles as a crawl does."""
    with closing(open_for_crawl(f"sqlite:///{database}")) as opened:
        stand = Newsstand(opened)
        stand.begin()
        stand.store(stories)
        stand.end({})


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def mail_options(port: int) -> MailOptions:
    return MailOptions("127.0.0.1", port, "none", "", "", "News <news@example.org>", ("me@example.org",))


def watch_for_ever(database: Path, desk: Path, port: int) -> None:
    """Watch until killed, without a pause between two messages of a search."""
    watcher = Watcher(f"sqlite:///{database}", DeskFile(desk), AlertOptions(mail_options(port), minutes=0))
    while True:
        watcher.try_step()
        time.sleep(0.01)


class HttpSink:
    """A webhook on this machine; `bodies` has what came, in its order."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 204
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if sink.status < 300:
                    sink.bodies.append(body)
                    sink.keys.append(self.headers["Idempotency-Key"])
                self.send_response(sink.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@contextmanager
def http_sink(address: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> Iterator[HttpSink]:
    sink = HttpSink(address)
    if context is not None:
        sink.server.socket = context.wrap_socket(sink.server.socket, server_side=True)
    thread = threading.Thread(target=sink.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield sink
    finally:
        sink.server.shutdown()
        sink.server.server_close()
        thread.join()


class MailSink:
    """Takes mail; `mails` has what came."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 taken"


@contextmanager
def mail_sink(port: int, **options: Any) -> Iterator[MailSink]:
    """Listen; the options are those of aiosmtpd's `Controller` and `SMTP`."""
    sink = MailSink()
    controller = Controller(sink, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield sink
    finally:
        controller.stop()
