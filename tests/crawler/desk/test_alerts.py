"""Alerts of saved searches: each hit told once, whatever is killed, and later when nobody listens."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.desk.watcher import Watcher
from crawler.options.alerts import AlertOptions
from db.desk import outbox, searches
from db.desk.file import DeskFile
from tests.crawler.desk.growing import (
    WORDS,
    grow,
    http_sink,
    mail_options,
    mail_sink,
    story,
    unused_port,
    watch_for_ever,
)
from tests.waiting import wait_for

MINUTE = 60.0


class Clock:
    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@pytest.fixture
def database(tmp_path: Path) -> Path:
    grow(tmp_path / "news.db", [story(0, "beginning")])
    return tmp_path / "news.db"


def saved(database: Path, queries: list[tuple[str, str, str]]) -> DeskFile:
    """A desk with a search of each query, channel and target."""
    desk = DeskFile(database.with_name("news.desk.db"))
    with desk.writing() as connection:
        for number, (query, channel, target) in enumerate(queries, 1):
            searches.add(connection, f"search {number}", query, last(database), time.time())
            searches.set_alert(connection, number, channel, target, "en")
    return desk


def last(database: Path) -> int:
    with closing(sqlite3.connect(database)) as opened:
        return int(opened.execute("SELECT max(number) FROM article").fetchone()[0])


def watcher(database: Path, desk: DeskFile, options: AlertOptions, clock: Callable[[], float] = time.time) -> Watcher:
    return Watcher(f"sqlite:///{database}", desk, options, clock)


def told(bodies: list[dict[str, Any]]) -> Counter[tuple[int, str]]:
    """Count how often each search told of each title, a message that came again aside."""
    first = {body["id"]: body for body in bodies}
    return Counter((body["search"]["id"], one["title"]) for body in first.values() for one in body["articles"])


def test_webhook_is_told_once_and_at_most_every_so_many_minutes(database: Path) -> None:
    clock = Clock()
    with http_sink() as sink:
        desk = saved(database, [("q=harbour", "webhook", sink.url)])
        one = watcher(database, desk, AlertOptions(minutes=10), clock)
        grow(database, [story(1, "harbour"), story(2, "museum")])
        one.step()
        grow(database, [story(3, "harbour"), story(4, "harbour")])
        one.step()
        assert [len(body["articles"]) for body in sink.bodies] == [1]
        clock.ahead = 11 * MINUTE
        one.step()
        one.step()
        assert [[each["title"] for each in body["articles"]] for body in sink.bodies] == [
            ["Number 1: harbour"],
            ["Number 3: harbour", "Number 4: harbour"],
        ]
        assert sink.keys == [body["id"] for body in sink.bodies]
        article = sink.bodies[0]["articles"][0]
        assert (article["url"], article["site"]) == ("https://a.example/1.html", "a.example")


def test_server_that_is_down_is_told_later_with_growing_pauses(database: Path) -> None:
    port = unused_port()
    clock = Clock()
    desk = saved(database, [("q=harbour", "mail", "me@example.org")])
    one = watcher(database, desk, AlertOptions(mail_options(port)), clock)
    grow(database, [story(1, "harbour")])
    pauses = []
    for _ in range(3):
        one.step()
        with closing(sqlite3.connect(desk.path)) as opened:
            tries, pause, problem = opened.execute("SELECT tries, next_try, problem FROM message").fetchone()
        assert tries == len(pauses) + 1
        assert "refused" in problem
        pauses.append(pause - clock())
        clock.ahead += pauses[-1] + 1
    assert pauses[0] < pauses[1] < pauses[2]
    with mail_sink(port) as sink:
        one.step()
        one.step()
    (mail,) = sink.mails
    assert mail["Subject"] == "search 1: 1 new"
    assert mail["To"] == "me@example.org"
    assert "Number 1: harbour" in mail.get_content()


def test_refused_webhook_is_tried_again(database: Path) -> None:
    clock = Clock()
    with http_sink() as sink:
        desk = saved(database, [("q=harbour", "webhook", sink.url)])
        one = watcher(database, desk, AlertOptions(), clock)
        grow(database, [story(1, "harbour")])
        sink.status = 503
        one.step()
        with desk.reading() as connection:
            assert outbox.states(connection)[1] == (None, 1, "the webhook answered with status 503")
        sink.status, clock.ahead = 200, 31.0
        one.step()
        assert len(sink.bodies) == 1


def test_one_watcher_at_a_time(database: Path) -> None:
    with http_sink() as sink:
        desk = saved(database, [("q=harbour", "webhook", sink.url)])
        one, other = (watcher(database, desk, AlertOptions()) for _ in range(2))
        one.step()
        grow(database, [story(1, "harbour")])
        other.step()
        assert sink.bodies == []
        one.leave()
        other.step()
        assert len(sink.bodies) == 1


def test_each_hit_is_told_once_though_killed_three_times(database: Path) -> None:
    """1,000 articles and 20 searches, half by mail, half by webhook; the watcher is killed amid its work."""
    port = unused_port()
    with http_sink() as sink, mail_sink(port) as mails:
        targets = [("mail", "me@example.org"), ("webhook", sink.url)]
        desk = saved(database, [(f"q={word}", *target) for word in WORDS for target in targets])
        context = multiprocessing.get_context("spawn")

        def start() -> Any:
            process = context.Process(target=watch_for_ever, args=(database, desk.path, port))
            process.start()
            return process

        process = start()
        parts = 4
        for part in range(parts):
            numbers = range(1 + part * 250, 1 + (part + 1) * 250)
            grow(database, [story(n, f"{WORDS[n % 10]} and {WORDS[n // 10 % 10]}") for n in numbers])
            if part < parts - 1:
                before = len(mails.mails) + len(sink.bodies)
                wait_for(lambda before=before: len(mails.mails) + len(sink.bodies) > before, "nobody was told")
                os.kill(process.pid, signal.SIGKILL)
                process.join()
                process = start()

        def is_done() -> bool:
            with closing(sqlite3.connect(desk.path, timeout=10)) as opened:
                behind = opened.execute("SELECT count(*) FROM search WHERE position < ?", (last(database),)).fetchone()
                untold = opened.execute("SELECT count(*) FROM hit WHERE message_id IS NULL").fetchone()
                waiting = opened.execute("SELECT count(*) FROM message WHERE told IS NULL").fetchone()
            return (behind, untold, waiting) == ((0,), (0,), (0,))

        try:
            wait_for(is_done, "not all was told")
        finally:
            process.kill()
            process.join()
        wanted = {
            (2 * at + kind, f"Number {n}: {WORDS[n % 10]} and {WORDS[n // 10 % 10]}")
            for n in range(1, 1001)
            for at in {n % 10, n // 10 % 10}
            for kind in (1, 2)
        }
        by_webhook = told(sink.bodies)
        assert set(by_webhook.values()) == {1}
        assert set(by_webhook) == {one for one in wanted if one[0] % 2 == 0}
        by_mail = {mail["Message-ID"]: mail for mail in mails.mails}  # one that came again is the same to the letter
        assert {mail.get_content() for mail in mails.mails} == {mail.get_content() for mail in by_mail.values()}
        lines = Counter(
            (int(mail["Subject"].split()[1].rstrip(":")), line)
            for mail in by_mail.values()
            for line in mail.get_content().splitlines()
            if line.startswith("Number ")
        )
        assert set(lines.values()) == {1}
        assert set(lines) == {one for one in wanted if one[0] % 2 == 1}


def test_burst_is_said(database: Path) -> None:
    port = unused_port()
    desk = saved(database, [("q=harbour", "mail", "me@example.org")])
    now = time.time()
    with desk.writing() as connection:
        connection.execute("UPDATE search SET created = ?", (now - 10 * 86_400,))
        for hour in range(24, 240, 8):  # three a day, days ago
            number = int((now - hour * 3_600) * 1000)
            connection.execute("INSERT INTO hit VALUES (1, ?, ?, NULL, 0)", (hour, number))
    grow(database, [story(n, "harbour") for n in range(1, 31)])
    with mail_sink(port) as sink:
        watcher(database, desk, AlertOptions(mail_options(port))).step()
    assert sink.mails[0].get_content().startswith("Unusually many: 30 in the last hour, where")


def test_removed_search_tells_no_more(database: Path) -> None:
    with http_sink() as sink:
        desk = saved(database, [("q=harbour", "webhook", sink.url)])
        one = watcher(database, desk, AlertOptions())
        sink.status = 500
        grow(database, [story(1, "harbour")])
        one.step()
        with desk.writing() as connection:
            searches.remove(connection, 1)
        sink.status = 200
        watcher(database, desk, AlertOptions(), lambda: time.time() + 3_600).step()
        assert sink.bodies == []
        with closing(sqlite3.connect(desk.path)) as opened:
            assert opened.execute("SELECT count(*) FROM hit").fetchone() == (0,)


def test_old_hits_and_messages_are_pruned(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hits that wait to be told and the newest unseen ones remain, and when each search told last."""
    monkeypatch.setattr("crawler.desk.watcher._MOST_UNREAD", 3)
    desk = saved(database, [("q=harbour", "", ""), ("q=museum", "", "")])
    old = int((time.time() - 40 * 86_400) * 1000)
    with desk.writing() as connection:
        connection.execute("UPDATE search SET seen = ? WHERE id = 1", (old + 5,))
        connection.execute("UPDATE search SET seen = 0 WHERE id = 2")
        hits = [(search, n, old + n, None, int(n == 2)) for search in (1, 2) for n in range(1, 10)]
        connection.executemany("INSERT INTO hit VALUES (?, ?, ?, ?, ?)", hits)
        messages = [(n, f"key {n}", old / 1000 + n, old / 1000 + n) for n in (1, 2)]
        connection.executemany(
            "INSERT INTO message (search_id, key, channel, target, content, created, next_try, told) "
            "VALUES (1, ?2, 'mail', '', '{}', ?3, ?3, ?4)",
            [(n, key, created, told) for n, key, created, told in messages],
        )
    watcher(database, desk, AlertOptions()).step()
    with closing(sqlite3.connect(desk.path)) as opened:
        left = {n: [] for n in (1, 2)}
        for search_id, article_id in opened.execute("SELECT search_id, article_id FROM hit ORDER BY 1, 2"):
            left[search_id].append(article_id)
        kept = opened.execute("SELECT key FROM message").fetchall()
    assert left == {1: [2, 7, 8, 9], 2: [2, 7, 8, 9]}
    assert kept == [("key 2",)]
