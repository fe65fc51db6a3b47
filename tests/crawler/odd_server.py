"""A small HTTP server for tests: what each host answers at each path, and what was asked for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

Answer = tuple[int, Mapping[str, str], str]


class OddServer:
    """Serves on a free port of 127.0.0.1, hosts told apart by name (`a.localhost`); PORT in answers is filled in."""

    def __init__(self, answers: Mapping[tuple[str, str], Answer | Callable[[], Answer]]) -> None:
        self.asked: list[tuple[float, str, str]] = []
        self.alias: Callable[[str], str] = str
        """Makes the name of an answer of the one that was asked."""
        self.missing: Answer | Callable[[], Answer] = (404, {}, "nothing")
        """Where there is no page."""
        self.cookies = ""
        """Of the last request."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or the body waits 40 ms for the receipt of the head

            def do_GET(self) -> None:
                host = outer.alias(self.headers["Host"].partition(":")[0])
                outer.asked.append((time.time(), host, self.path))
                outer.cookies = self.headers["Cookie"] or ""
                answer = answers.get((host, self.path), outer.missing)
                status, headers, body = answer() if callable(answer) else answer
                data = body.replace("PORT", str(outer.port)).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                    self.send_header(name, value.replace("PORT", str(outer.port)))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                error = sys.exception()
                if not isinstance(error, OSError):  # a crawl that was killed has closed its connections
                    outer.faults.append(repr(error))

        self.faults: list[str] = []
        """Of the answers: a request that failed by one would look like a lost connection."""
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        assert not self.faults

    def paths(self) -> list[str]:
        """`host/path` of every request, in order."""
        return [host.partition(".")[0] + path for _, host, path in self.asked]


def article(title: str, *links: str) -> Answer:
    """A page with enough text to be an article."""
    text = f"{title}：记者从市里获悉，这项工作已经完成，居民可以放心使用，后续安排将另行公布。"
    body = "".join(f"<p>{text}第{n}段。</p>" for n in range(6)) + "".join(f'<a href="{u}">{u}</a>' for u in links)
    return 200, {}, f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def redirect(to: str) -> Answer:
    """302."""
    return 302, {"Location": to}, ""
