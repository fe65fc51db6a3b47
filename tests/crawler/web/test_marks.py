"""Marks on the page and in the API: of one article, of many, as filters, in feeds, files and saved searches."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from lxml import html

from crawler.web.frame.desk import DeskOptions
from crawler.web.frame.visit import WebOptions
from crawler.web.pages import marks as marks_page
from db.desk import marks
from db.desk.file import DeskFile
from db.records.keys import fingerprint
from tests.crawler.desk.growing import grow, story
from tests.crawler.web.asking import Asker
from tests.crawler.web.hostile import STRINGS
from tests.crawler.web.serving import serving
from tests.table import each_row


def key(number: int, site: str = "a.example") -> int:
    return fingerprint(f"https://{site}/{number}.html")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    grow(tmp_path / "news.db", [story(n, "harbour storm" if n % 2 else "museum") for n in range(1, 13)])
    return tmp_path / "news.db"


@pytest.fixture
def asker(database: Path) -> Iterator[Asker]:
    with Asker(f"sqlite:///{database}", WebOptions(desk=DeskOptions(database.with_name("my.desk.db")))) as made:
        yield made


def do(asker: Asker, number: int, deed: str, **form: str) -> httpx.Response:
    return asker.post(f"/api/articles/{key(number)}/marks", {"deed": deed, **form})


def found(asker: Asker, query: str) -> list[int]:
    """Return the numbers of the stories that a search finds, all of them."""
    answer = asker.get(f"/api/search?{query}&limit=50")
    assert answer.status_code == 200, answer.text
    hits = answer.json()["hits"][: answer.json()["total"]]
    return sorted(int(hit["url"].rpartition("/")[2].removesuffix(".html")) for hit in hits)


def page(asker: Asker, path: str) -> html.HtmlElement:
    answer = asker.get(path)
    assert answer.status_code == 200, answer.text
    return html.document_fromstring(answer.text)


def press(asker: Asker, button: html.HtmlElement, **typed: str) -> httpx.Response:
    """Press a button of a form as a browser without scripts does; fields elsewhere on the page belong to it, too."""
    document = button.getroottree().getroot()
    name = button.get("form")
    form = document.get_element_by_id(name) if name else next(button.iterancestors("form"))
    fields = dict(form.form_values())
    return asker.post(form.action, {**fields, **typed, button.get("name"): button.get("value")})


# ---------------------------------------------------------------- one article


def test_buttons_of_an_article_mark_it_and_lead_back(asker: Asker) -> None:
    path = f"/article/{key(3)}?q=storm&site=a.example"
    star, read = page(asker, path).cssselect(".marks .toggle")
    assert press(asker, star).headers["location"] == f"/article/{key(3)}?q=storm&site=a.example#marks"
    press(asker, read)
    now = page(asker, path)
    assert [each.get("aria-pressed") for each in now.cssselect(".marks .toggle")] == ["true", "true"]
    add = now.cssselect(".label-form button")[0]
    assert press(asker, add, label="Ports, to read").status_code == 303
    save = page(asker, path).cssselect(".note-box button")[0]
    press(asker, save, note=" First line\r\nsecond <b> ")
    now = page(asker, path)
    assert now.cssselect(".note-box textarea")[0].text.strip("\n") == "First line\nsecond <b>"
    assert [each.text_content() for each in now.cssselect(".marks .labels a")] == ["Ports", "to read"]
    assert [each.get("value") for each in now.cssselect("#label-names option")] == ["Ports", "to read"]
    press(asker, now.cssselect(".marks .labels button")[0])
    press(asker, now.cssselect(".marks .toggle")[0])
    marked = asker.get(f"/api/articles/{key(3)}").json()["marks"]
    assert (marked["labels"], marked["starred_at"], marked["read_at"] is None) == (["to read"], None, False)


def test_results_show_marks_in_both_forms(asker: Asker) -> None:
    do(asker, 3, "star")
    do(asker, 5, "read")
    do(asker, 5, "label", label="<i>Häfen</i>")
    do(asker, 5, "note", note="remember")
    for view in ("cards", "list"):
        hits = {int(hit.get("data-article")): hit for hit in page(asker, f"/?q=storm&view={view}").cssselect(".hit")}
        pressed = {at: [each.get("aria-pressed") for each in hits[key(at)].cssselect(".toggle")] for at in (1, 3, 5)}
        assert pressed == {1: ["false", "false"], 3: ["true", "false"], 5: ["false", "true"]}
        assert [at for at, hit in hits.items() if "was-read" in hit.get("class").split()] == [key(5)]
        assert [each.text_content() for each in hits[key(5)].cssselect(".labels li")] == ["<i>Häfen</i>", "Note"]
        assert f"/?label={quote('<i>Häfen</i>', safe='')}" in [
            each.get("href") for each in hits[key(5)].cssselect(".labels a")
        ]


def test_button_beside_a_result_leads_back_to_it(asker: Asker) -> None:
    star = page(asker, "/?q=storm&limit=3&page=2").cssselect(".hit .toggle.star")[1]
    number = star.get("value").partition(".")[2]
    assert press(asker, star).headers["location"] == f"/?q=storm&limit=3&page=2#a{number}"
    assert [each.get("value") for each in page(asker, "/?is=&starred=1").cssselect(".toggle.star")] == [
        f"unstar.{number}"
    ]


def test_looking_marks_nothing_and_makes_no_file(asker: Asker, database: Path) -> None:
    for path in (
        "/",
        f"/article/{key(1)}",
        f"/api/articles/{key(1)}",
        f"/api/articles/{key(1)}/marks",
        "/?unread=1",
        "/desk",
    ):
        assert asker.get(path).status_code == 200
        assert asker.get(path, method="HEAD").status_code in {200, 405}
    assert not database.with_name("my.desk.db").exists()
    assert asker.get(f"/article/{key(1)}/marks").status_code in {404, 405}


def test_other_origins_mark_nothing(asker: Asker) -> None:
    for path in (f"/article/{key(1)}/marks", f"/api/articles/{key(1)}/marks", "/desk/marks"):
        form = {"deed": "star", "scope": "all"}
        assert asker.post(path, form, Origin="http://evil.example").status_code == 403
    assert found(asker, "starred=1") == []


# ---------------------------------------------------------------- many articles


def bulk(asker: Asker, path: str, deed: str, **typed: str) -> str:
    """Send the form of the results; return what the page then says."""
    form = page(asker, path).get_element_by_id("bulk")
    button = form.cssselect(f"button[name=deed][value={deed}]")[0]
    answer = press(asker, button, **typed)
    assert answer.status_code == 303, answer.text
    language = "zh" if "lang=zh" in path else "en"
    said = page(asker, f"{answer.headers['location']}&lang={language}").cssselect("p.note[role=status]")
    return said[0].text_content()


def test_ticked_articles_are_marked_and_others_not(asker: Asker) -> None:
    ticked = {f"pick.{key(number)}": "1" for number in (2, 3, 4)}
    for deed, said in (("star", "3 articles have a star now."), ("read", "3 articles are read now.")):
        assert bulk(asker, "/?lang=en", deed, **ticked) == said
    assert bulk(asker, "/?lang=en", "label", label="A, b", **ticked) == "3 articles have the labels now."
    assert found(asker, "starred=1&read=1&label=a&label=c") == [2, 3, 4]
    one = {f"pick.{key(3)}": "1"}
    assert bulk(asker, "/?lang=en", "unstar", **one) == "1 article has no star now."
    assert bulk(asker, "/?lang=en", "unread", **one) == "1 article is unread now."
    assert bulk(asker, "/?lang=zh", "unlabel", label="a", **one) == "1 篇文章已移除标签。"
    assert (found(asker, "starred=1"), found(asker, "read=1")) == ([2, 4], [2, 4])
    assert (found(asker, "label=a"), found(asker, "label=b")) == ([2, 4], [2, 3, 4])


def test_all_of_a_page_and_all_results_are_exact(asker: Asker) -> None:
    path = "/?q=storm&limit=4&page=2&lang=en"
    options = [each.text_content() for each in page(asker, path).cssselect("#bulk option")]
    assert options == ["Those ticked", "All 2 on this page", "All 6 results"]
    assert bulk(asker, path, "read", scope="page") == "2 articles are read now."
    assert len(found(asker, "read=1")) == 2
    assert bulk(asker, path, "star", scope="all") == "6 articles have a star now."
    assert found(asker, "starred=1") == [1, 3, 5, 7, 9, 11]
    bulk(asker, "/?q=-storm&lang=en", "label", label="other", scope="all")
    assert found(asker, "label=other") == [2, 4, 6, 8, 10, 12]


def test_all_results_are_bounded_and_say_so(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks_page, "MOST_AT_ONCE", 4)
    monkeypatch.setattr("crawler.web.pages.search.MOST_AT_ONCE", 4)
    options = [each.text_content() for each in page(asker, "/?q=storm&lang=en").cssselect("#bulk option")]
    assert options[-1] == "All results, at most 4"
    assert bulk(asker, "/?q=storm&sort=oldest&lang=en", "star", scope="all") == "4 articles have a star now."
    assert len(found(asker, "starred=1")) == 4


def test_articles_with_too_many_labels_are_told(asker: Asker) -> None:
    do(asker, 1, "label", label=",".join(f"x{n}" for n in range(20)))
    said = bulk(asker, "/?q=storm&lang=en", "label", label="more", scope="all")
    assert said == "5 articles have the labels now. 1 has as many labels as it may have."
    assert do(asker, 1, "label", label="more").json()["error"]["message"].startswith("this article has as many labels")


def test_deeds_are_said_once(asker: Asker) -> None:
    text = asker.get("/?q=storm&marked=3&deed=star&lang=en").text
    assert "3 articles have a star now." in text
    assert "marked=3" not in text
    for wrong in ("marked=3&deed=drop", "marked=x&deed=star", "marked=3&deed=%3Cb%3E", "deed=star&marked=-1"):
        assert 'role="status">' not in asker.get(f"/?{wrong}&lang=en").text.replace('role="status" data', "")


WRONG = [
    ("/api/articles/{}/marks", {"deed": "drop"}, "one of these is allowed"),
    ("/api/articles/{}/marks", {}, "one of these is allowed"),
    ("/api/articles/{}/marks", {"deed": "label", "label": " , "}, "give 1 to 20 labels"),
    ("/api/articles/{}/marks", {"deed": "label", "label": "x" * 61}, "at most 60 characters"),
    ("/api/articles/{}/marks", {"deed": "note", "note": "x" * 10_001}, "at most 10,000"),
    ("/desk/marks", {"deed": "star"}, "no article is chosen"),
    ("/desk/marks", {"deed": "star", "scope": "world"}, "one of these is allowed"),
    ("/desk/marks", {"deed": "star", "scope": "page", "shown": "1 x"}, "is wrong"),
    ("/desk/marks", {"one": "star.x"}, "is wrong"),
    ("/desk/marks", {"deed": "star", "scope": "all", "query": "q=%22a"}, "the query is wrong"),
    ("/desk/marks", {"deed": "star", "scope": "all", "query": "x" * 9_000}, "at most 8,000"),
    ("/desk/marks", {"deed": "drop", "scope": "page", "shown": "{}"}, "one of these is allowed"),
]


@each_row(("path", "form", "sentence"), WRONG)
def test_wrong_forms_get_a_sentence(asker: Asker, path: str, form: dict[str, str], sentence: str) -> None:
    given = {name: value.replace("{}", str(key(1))) for name, value in form.items()}
    answer = asker.post(path.format(key(1)), given)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_article_that_is_not_there_gets_no_marks(asker: Asker) -> None:
    for path in ("/api/articles/17/marks", "/article/17/marks", "/api/articles/x/marks"):
        for form in ({"deed": "star"}, {"deed": "note", "note": "x"}):
            assert asker.post(path, form).status_code == 404
    assert asker.post("/desk/marks", {"one": "star.17"}).status_code == 404
    assert asker.get("/api/articles/17/marks").status_code == 404
    assert bulk(asker, "/?lang=en", "star", **{"pick.17": "1"}) == "0 articles have a star now."


# ---------------------------------------------------------------- filters, with all that shows a search


@pytest.fixture
def marked(asker: Asker) -> Asker:
    """Stars on 1, 2, 3; 1 is read; label `ports` on 3 and 4."""
    for number in (1, 2, 3):
        do(asker, number, "star")
    do(asker, 1, "read")
    for number in (3, 4):
        do(asker, number, "label", label="Ports")
    return asker


QUERIES = {
    "starred=1": [1, 2, 3],
    "q=is:starred": [1, 2, 3],
    "q=is:starred+storm": [1, 3],
    "starred=1&unread=1": [2, 3],
    "-starred=1&label=ports": [4],
    "label=PORTS&-label=nothing": [3, 4],
    "q=-is:starred+-label:ports+storm": [5, 7, 9, 11],
    "q=label:ports+is:unread&site=a.example": [3, 4],
}


def test_marks_compose_with_whatever_shows_a_search(marked: Asker) -> None:
    for query, expected in QUERIES.items():
        assert found(marked, query) == expected, query
        answer = marked.get(f"/api/search?{query}").json()
        assert (answer["total"], answer["is_exact"]) == (len(expected), True)
        pages = [found_on(marked, f"/?{query}&limit=2&page={number}&sort=oldest") for number in (1, 2)]
        assert [len(each) for each in pages] == [min(2, len(expected)), min(2, max(0, len(expected) - 2))]
        rows = marked.get(f"/api/export?{query}&columns=url,labels").content.decode("utf-8-sig").splitlines()
        assert len(rows) == len(expected) + 1
        assert sum(marked.get(f"/api/timeline?{query}&by=month").json()["counts"]) == len(expected)
        feed = marked.get(f"/feed.json?{query}").json()
        assert len(feed["items"]) == len(expected)
        values = page(marked, f"/values?facet=site&{query}").cssselect(".value-list .number")
        assert [each.text_content() for each in values] == [str(len(expected))]


def found_on(asker: Asker, path: str) -> list[str]:
    return [hit.get("data-article") for hit in page(asker, path).cssselect(".hit")]


def test_facets_lead_to_what_they_count(marked: Asker) -> None:
    aside = page(marked, "/?q=storm&lang=en").cssselect(".facets section")
    sections = {each.cssselect("h2")[0].text_content(): each for each in aside}
    told = {
        link.cssselect(".value")[0].text_content(): (link.cssselect(".count")[0].text_content(), link.get("href"))
        for name in ("Marks", "Labels")
        for link in sections[name].cssselect("li > a:first-child")
    }
    assert {name: count for name, (count, _) in told.items()} == {
        "Starred": "2",
        "Read": "1",
        "Unread": "5",
        "Ports": "1",
    }
    for count, href in told.values():
        assert len(found(marked, href.partition("?")[2])) == int(count)
    without = sections["Labels"].cssselect(".exclude")[0].get("href")
    assert found(marked, without.partition("?")[2]) == [1, 5, 7, 9, 11]
    chips = page(marked, "/?starred=1&-label=Ports&lang=en").cssselect(".chips.active .on span:first-child")
    assert [each.text_content() for each in chips] == ["Starred: yes", "Not Labels: Ports"]
    names = page(marked, "/values?facet=label&q=storm").cssselect(".value-list label")
    assert [each.text_content() for each in names] == ["Ports"]
    assert [each.get("href") for each in page(marked, "/desk").cssselect(".desk-marks a")] == [
        "/?starred=1",
        "/?read=1",
        "/?label=Ports",
    ]


def test_feed_is_another_one_when_its_marks_change(marked: Asker) -> None:
    tags = {path: marked.get(path).headers["etag"] for path in ("/feed.atom?q=is:starred", "/feed.atom?q=storm")}
    do(marked, 5, "star")
    again = {path: marked.get(path, If_None_Match=tag).status_code for path, tag in tags.items()}
    assert again == {"/feed.atom?q=is:starred": 200, "/feed.atom?q=storm": 304}


def test_saved_search_asks_for_marks(marked: Asker, database: Path) -> None:
    for name, query in (("new", "q=storm&unread=1"), ("old", "starred=1"), ("labelled", "q=label:ports+OR+storm")):
        assert marked.post("/desk/save", {"name": name, "query": query}).status_code == 303
    grow(database, [story(20, "storm"), story(21, "museum")])
    do(marked, 21, "label", label="ports")
    new = {each.cssselect("h2")[0].text_content(): each.cssselect(".between .chip")[0].text_content()
           for each in page(marked, "/desk?lang=en").cssselect(".saved > li")}  # fmt: skip
    assert new == {"new": "1 new article", "old": "0 new articles", "labelled": "2 new articles"}


def test_files_have_columns_of_marks(marked: Asker) -> None:
    do(marked, 3, "note", note="=1+1")
    text = marked.get("/api/export?columns=all&label=ports").content.decode("utf-8-sig")
    rows = {row["title"].partition(":")[0]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert {name: rows["Number 3"][name] for name in ("starred", "labels", "note", "read_at")} == {
        "starred": "True",
        "labels": "Ports",
        "note": "'=1+1",
        "read_at": "",
    }
    (line,) = marked.get("/api/export?format=jsonl&columns=starred,read_at,labels,note&read=1").text.splitlines()
    one = json.loads(line)
    assert (one["starred"], one["labels"], one["note"], one["read_at"][:2]) == (True, [], "", "20")
    assert "labels" not in marked.get("/api/export?label=ports").text.splitlines()[0]
    for form in ("markdown", "xlsx", "bibtex", "ris", "gbt7714"):
        assert marked.get(f"/api/export?format={form}&label=ports").status_code == 200


def test_server_without_desk_has_no_marks_and_says_so(database: Path) -> None:
    with Asker(f"sqlite:///{database}") as asker:
        for path in ("/?q=storm", f"/article/{key(1)}"):
            text = asker.get(path).text
            assert "toggle" not in text
            assert '/marks"' not in text
        for query in ("q=is:starred", "starred=1", "-label=x"):
            answer = asker.get(f"/?{query}&lang=zh")
            assert answer.status_code == 400
            assert "这里没有可供搜索的标记" in answer.text
            assert "there are no marks here" in asker.get(f"/api/search?{query}").json()["error"]["message"]
            assert asker.get(f"/feed.atom?{query}").status_code == 400
        assert asker.get("/api/export?columns=labels").status_code == 400
        assert asker.get(f"/api/articles/{key(1)}").json()["marks"] is None
        assert asker.post(f"/api/articles/{key(1)}/marks", {"deed": "star"}).status_code == 400


def test_hostile_labels_and_notes_are_texts(asker: Asker) -> None:
    kept = [text for text in STRINGS if text.strip() and len(text) < 1_000]
    for number, text in enumerate(kept):
        do(asker, number % 12 + 1, "note", note=text)
        do(asker, number % 12 + 1, "label", label=text[:60].replace(",", " ").replace("、", " "))
    assert len(asker.get("/api/search").json()["facets"]["label"]) >= 15
    for path in (
        "/?limit=50",
        "/?view=list",
        "/desk",
        "/values?facet=label",
        *(f"/article/{key(n)}" for n in range(1, 13)),
    ):
        document = page(asker, path)
        for element in document.iter("script", "img", "iframe", "svg", "form", "base", "meta", "embed", "object"):
            assert "evil" not in html.tostring(element, encoding="unicode").partition(">")[0]
            assert element.get("onload") is element.get("onerror") is None
        for element in document.iter("a"):
            assert re.match(r"/|#|https://(a|wanhai)\.example/", element.get("href") or "/")
        assert "\u202e" not in document.text_content()


# ---------------------------------------------------------------- servers side by side


def test_two_servers_write_to_one_desk_at_once(database: Path, tmp_path: Path) -> None:
    desk = tmp_path / "shared.desk.db"
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    wrong: list[str] = []

    def mark(origin: str, numbers: range, label: str) -> None:
        with httpx.Client(base_url=origin, headers={"Origin": origin}) as client:
            for _ in range(3):
                for number in numbers:
                    for form in ({"deed": "star"}, {"deed": "label", "label": f"{label}, both"}):
                        answer = client.post(f"/api/articles/{key(number)}/marks", data=form)
                        wrong.extend([answer.text] if answer.status_code != 200 else [])

    with (
        serving(folders[0], database, "-s", f"DESK={desk}") as one,
        serving(folders[1], database, "-s", f"DESK={desk}") as other,
    ):
        threads = [
            threading.Thread(target=mark, args=(server.origin, range(1, 13), name))
            for server, name in ((one, "one"), (other, "other"), (one, "third"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        for server in (one, other):
            facets = httpx.get(f"{server.origin}/api/search").json()["facets"]
            assert {each["value"]: each["stories"] for each in facets["label"]} == dict.fromkeys(
                ("one", "other", "third", "both"), 12
            )
    with DeskFile(desk).reading() as connection:
        assert len(marks.label_counts(connection)) == 4
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with closing(sqlite3.connect(desk)) as opened:
        assert opened.execute("SELECT count(*) FROM mark WHERE starred_at IS NOT NULL").fetchone() == (12,)
