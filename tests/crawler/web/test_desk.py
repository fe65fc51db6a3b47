"""Saved searches: saving, what is new, names, alerts; who may change them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from lxml import html

from crawler.options.alerts import AlertOptions, MailOptions
from crawler.web.frame.desk import DeskOptions
from crawler.web.frame.visit import WebOptions
from db.desk import searches
from db.desk.file import DeskFile
from tests.crawler.desk.growing import grow, story
from tests.crawler.web.asking import Asker
from tests.table import each_row

MAIL = MailOptions("127.0.0.1", 25, "none", "", "", "news@example.org", ("me@example.org", "you@example.org"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    grow(tmp_path / "news.db", [story(1, "harbour storm"), story(2, "museum")])
    return tmp_path / "news.db"


@pytest.fixture
def asker(database: Path) -> Iterator[Asker]:
    options = DeskOptions(database.with_name("my.desk.db"), AlertOptions(MAIL))
    with Asker(f"sqlite:///{database}", WebOptions(desk=options)) as made:
        yield made


def save(asker: Asker, name: str, query: str) -> httpx.Response:
    return asker.post("/desk/save", {"name": name, "query": query})


def titles(answer: httpx.Response) -> list[str]:
    return [each.text_content() for each in html.fromstring(answer.text).cssselect(".hit h2")]


def unread(asker: Asker) -> list[str]:
    return [each.text_content() for each in html.fromstring(asker.get("/desk?lang=en").text).cssselect(".saved .on")]


def test_saved_search_shows_what_was_stored_since(asker: Asker, database: Path) -> None:
    assert "Nothing can be kept" not in asker.get("/desk?lang=en").text
    assert save(asker, "Ports", "q=harbour+-museum").headers["location"] == "/desk"
    assert unread(asker) == []
    assert titles(asker.get("/desk/1")) == []
    grow(database, [story(3, "harbour museum"), story(4, "harbour"), story(5, "a harbour again")])
    assert unread(asker) == ["2 new articles"]
    assert titles(asker.get("/desk/1")) == ["Number 5: a harbour again", "Number 4: harbour"]


def test_looking_is_a_deed_of_its_own(asker: Asker, database: Path) -> None:
    save(asker, "Ports", "q=harbour")
    grow(database, [story(3, "harbour")])
    form = html.fromstring(asker.get("/desk/1").text).cssselect("form[action$='/look']")[0]
    grow(database, [story(4, "harbour")])  # stored after the page was made
    assert asker.post(form.action, dict(form.fields)).headers["location"] == "/desk"
    assert titles(asker.get("/desk/1")) == ["Number 4: harbour"]


MEANT = {
    "q=%22harbour+storm%22": [3],
    "q=storm": [3, 4],
    "q=title:storm+OR+glacier": [3, 4, 5],
    "q=storm&site=b.example": [4],
    "site=b.example&sort=newest": [4],
    "q=-storm": [5, 6],
    "": [3, 4, 5, 6],
    "q=storm&since=2999": [],
}


def test_query_language_and_filters_mean_what_they_mean_in_search(asker: Asker, database: Path) -> None:
    for query in MEANT:
        assert save(asker, f"x{query}", query).status_code == 303
    new = [story(3, "harbour storm"), story(4, "storm harbour", "b.example"), story(5, "glacier"), story(6, "museum")]
    grow(database, new)
    shown = [titles(asker.get(f"/desk/{number}")) for number, _ in enumerate(MEANT, 1)]
    numbers = [sorted(int(re.findall(r"\d+", title)[0]) for title in some) for some in shown]
    assert dict(zip(MEANT, numbers, strict=True)) == MEANT


def test_search_page_saves_the_search_it_shows(asker: Asker) -> None:
    page = html.fromstring(asker.get(f"/?q={quote('港口 <b>')}&site=a.example&page=2&limit=20").text)
    form = page.cssselect("form[action='/desk/save']")[0]
    assert asker.post("/desk/save", {**form.fields, "name": "<i>Häfen</i>"}).status_code == 303
    shown = asker.get("/desk").text
    assert "&lt;i&gt;Häfen" in shown
    assert "<i>" not in shown
    link = html.fromstring(shown).cssselect(".saved a[href^='/?']")[0].get("href")
    assert link == f"/?q={quote('港口')}+%3Cb%3E&site=a.example"


def test_rename_and_remove(asker: Asker) -> None:
    save(asker, "One", "q=a")
    save(asker, "Two", "q=b")
    assert asker.post("/desk/1/rename", {"name": " Three\n"}).headers["location"] == "/desk/1"
    assert asker.post("/desk/1/rename", {"name": "Two"}).status_code == 400
    assert asker.post("/desk/2/remove", {}).status_code == 303
    assert [each.text_content() for each in html.fromstring(asker.get("/desk").text).cssselect(".saved h2")] == [
        "Three"
    ]
    assert asker.get("/desk/2").status_code == 404
    assert asker.post("/desk/2/rename", {"name": "x"}).status_code == 404


@each_row(
    ("path", "form", "sentence"),
    [
        ("/desk/save", {"name": "", "query": ""}, "needs a name of 1 to 100"),
        ("/desk/save", {"name": "x" * 101, "query": ""}, "needs a name of 1 to 100"),
        ("/desk/save", {"name": "Mine", "query": "q=a"}, "there is a saved search"),
        ("/desk/save", {"name": "x", "query": "q=%22a"}, "the query is wrong"),
        ("/desk/save", {"name": "x", "query": "q=%3F%3F"}, "the query has no word in it"),
        ("/desk/save", {"name": "x", "query": "q=a&since=soon"}, "soon"),
        ("/desk/save", {"name": "x", "query": "q=" + "a" * 9_000}, "at most 8,000"),
        ("/desk/1/look", {"number": "-1"}, "whole number"),
        ("/desk/1/alert", {"channel": "pigeon"}, "mail, webhook, or empty"),
        ("/desk/1/alert", {"channel": "mail", "mail": "all@example.org"}, "not among those"),
        ("/desk/1/alert", {"channel": "webhook", "webhook": "http://example.org/"}, "needs https"),
        ("/desk/1/alert", {"channel": "webhook", "webhook": "file:///etc/passwd"}, "such as https"),
        ("/desk/1/alert", {"channel": "webhook", "webhook": "https://a@b.example/"}, "such as https"),
        ("/desk/1/alert", {"channel": "webhook", "webhook": "https://a:b/"}, "no URL"),
    ],
)
def test_wrong_input_gets_a_sentence(asker: Asker, path: str, form: dict[str, str], sentence: str) -> None:
    save(asker, "Mine", "q=mine")
    answer = asker.post(path, form)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_alert_is_set_and_taken_back(asker: Asker, database: Path) -> None:
    save(asker, "Mine", "q=mine")
    file = DeskFile(database.with_name("my.desk.db"))
    for channel, target in (("mail", "you@example.org"), ("webhook", "https://example.org/hook?a=b"), ("", "")):
        form = {"channel": channel, "mail": "you@example.org", "webhook": "https://example.org/hook?a=b"}
        assert asker.post("/desk/1/alert", form, Accept_Language="zh").status_code == 303
        with file.reading() as connection:
            saved = searches.one_search(connection, 1)
        assert saved is not None
        assert (saved.channel, saved.target, saved.language) == (channel, target, "zh")


@each_row("origin", ["http://evil.example", "null", ""])
def test_other_origins_change_nothing(asker: Asker, origin: str) -> None:
    answer = asker.post("/desk/save", {"name": "x", "query": "q=a"}, Origin=origin)
    assert answer.status_code == 403
    assert asker.get("/desk/save").status_code == 404
    assert unread(asker) == []


def test_server_without_desk_says_so_and_has_no_buttons(database: Path) -> None:
    with Asker(f"sqlite:///{database}") as asker:
        assert "--no-desk" in asker.get("/desk?lang=en").text
        assert "/desk/save" not in asker.get("/?q=harbour").text
        assert asker.post("/desk/save", {"name": "x", "query": "q=a"}).status_code == 400


def test_foreign_file_is_not_written(database: Path) -> None:
    before = database.read_bytes()
    with Asker(f"sqlite:///{database}", WebOptions(desk=DeskOptions(database))) as asker:
        assert "is no desk" in asker.get("/desk?lang=en").text
        assert asker.post("/desk/save", {"name": "x", "query": "q=a"}).status_code == 400
    assert database.read_bytes() == before


def test_looking_makes_no_file(asker: Asker, database: Path) -> None:
    assert asker.get("/desk").status_code == 200
    assert not database.with_name("my.desk.db").exists()


def test_webhooks_of_this_machine_are_for_its_users(database: Path) -> None:
    options = DeskOptions(database.with_name("my.desk.db"), allows_loopback=False)
    with Asker(f"sqlite:///{database}", WebOptions(desk=options)) as asker:
        save(asker, "x", "q=a")
        answer = asker.post("/desk/1/alert", {"channel": "webhook", "webhook": "http://127.0.0.1:8000/"})
        assert "are for those who use it" in answer.text
