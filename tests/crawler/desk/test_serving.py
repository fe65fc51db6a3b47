"""The desk of the real `scrapy serve`: its settings, its watcher, mail to a server on this machine."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.parse import urlencode

import pytest

from crawler.options.alerts import alert_options
from crawler.options.given import apply_environment
from tests.crawler.desk.growing import grow, mail_sink, story
from tests.crawler.options.test_config import given
from tests.crawler.web.serving import Answer, Server, ask, serving
from tests.waiting import wait_for

MAIL = {"host": "127.0.0.1", "security": "none", "from": "news@example.org", "to": ["me@example.org"]}


def post(server: Server, path: str, **form: str) -> Answer:
    body = urlencode(form).encode()
    here = f"127.0.0.1:{server.port}"
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {here}",
        f"Origin: http://{here}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return ask(server, "\r\n".join([*lines, "", ""]).encode() + body, method="POST")


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_server_keeps_the_desk_that_is_named_and_mails_what_is_new(tmp_path: Path) -> None:
    database, desk = tmp_path / "news.db", tmp_path / "elsewhere.desk.db"
    grow(database, [story(1, "museum")])
    port = unused_port()
    settings = (f"DESK={desk}", f"ALERT_MAIL={json.dumps({**MAIL, 'port': port})}", "ALERT_MINUTES=0")
    with (
        mail_sink(port) as mails,
        serving(tmp_path, database, *(word for each in settings for word in ("-s", each))) as server,
    ):
        assert post(server, "/desk/save", name="Ports", query="q=harbour").status == 303
        assert post(server, "/desk/1/alert", channel="mail", mail="me@example.org").status == 303
        assert desk.exists()
        grow(database, [story(2, "harbour")])
        wait_for(lambda: mails.mails, "no mail came")
    assert not database.with_name("news.desk.db").exists()


def test_password_of_the_mail_server_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALERT_MAIL_PASSWORD", "secret")
    settings = given(ALERT_MAIL=json.dumps({**MAIL, "user": "me"}), ALERT_MINUTES="3")
    apply_environment(settings)
    options = alert_options(settings)
    assert options.mail is not None
    assert (options.mail.password, options.minutes) == ("secret", 3)
    assert "secret" not in repr(options)
