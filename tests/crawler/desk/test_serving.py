"""The desk of the real `scrapy serve` and `scrapy crawl`: settings, watchers, receivers on this machine."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from crawler.demo.server import Newsroom
from crawler.desk.delivery import WEBHOOK
from crawler.options.alerts import alert_options
from crawler.options.given import apply_environment
from db.desk import searches
from db.desk.file import DeskFile
from tests.crawler.crawling import crawl, rows
from tests.crawler.desk.growing import grow, http_sink, mail_sink, story, unused_port
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


def test_crawl_tells_of_what_it_stores(tmp_path: Path) -> None:
    desk = DeskFile(tmp_path / "news.desk.db")
    with Newsroom() as newsroom, http_sink() as sink:
        with desk.writing() as connection:
            searches.add(connection, "all", "", 0, time.time())
            searches.set_alert(connection, 1, WEBHOOK, sink.url, "en")
        crawl(newsroom, tmp_path, "CLOSESPIDER_PAGECOUNT=40", "ALERT_MINUTES=0")
    told = [one["id"] for body in sink.bodies for one in body["articles"]]
    stored = [str(row[0]) for row in rows(tmp_path, "SELECT id FROM article")]
    assert sorted(told) == sorted(stored)
    assert stored
