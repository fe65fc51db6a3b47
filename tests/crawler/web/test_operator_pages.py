"""The pages of the operator on one database, in both languages."""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from scrapy.settings import Settings

from crawler.options.in_force import in_force
from crawler.options.table import defaults
from crawler.web.frame.kept import KeptValues
from crawler.web.frame.visit import WebOptions
from db.engine.database import open_for_crawl
from db.engine.errors import Unavailable
from db.frontier import samples
from db.queries.board import census, curves
from db.queries.sites import site_detail
from tests.crawler.web.asking import Asker
from tests.table import each_row
from tests.waiting import wait_for

SITE = "wanbao.example"
PATHS = ("/crawl", "/crawl?part=live", "/sites", f"/sites/{SITE}", "/graph", f"/graph?site={SITE}", "/why", "/settings")


@pytest.fixture(scope="module")
def board(stand: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with runs that ended, were killed, and live, and samples of the last two."""
    found = tmp_path_factory.mktemp("board") / "news.db"
    shutil.copyfile(stand, found)
    database = open_for_crawl(f"sqlite:///{found}")
    now = time.time()

    def sampled(connection: object) -> None:
        for run_id in (2, 3):
            for n in range(30):
                counts = {"pages": 10 * n, "new": 5 * n, "duplicate": n, "dropped/list page": 3 * n, "bytes": 9_000 * n}
                samples.add(connection, run_id, samples.sample_of(counts, now - 300 + 10 * n, 50 + n))

    database.write(sampled)
    database.close()
    return found


@pytest.fixture(scope="module")
def client(board: Path) -> Iterator[Asker]:
    settings = Settings({**defaults(), "MAX_PAGES": 70})
    settings.set("HOST_DELAY", 3, "cmdline")
    with Asker(f"sqlite:///{board}", WebOptions(in_force=in_force(settings))) as found:
        yield found


def text_of(client: Asker, path: str, language: str = "en") -> str:
    """Return a page once what is made beside the requests is there."""

    def counted() -> str | None:
        answer = client.get(path, accept_language=language)
        assert answer.status_code == 200, answer.text[-500:]
        return None if re.search("being counted|正在统计", answer.text) else answer.text

    return wait_for(counted, f"{path} is still being counted")


@each_row("language", ["en", "zh"])
@each_row("path", PATHS)
def test_page_is_there_in_both_languages(client: Asker, path: str, language: str) -> None:
    text = text_of(client, path, language)
    assert " style=" not in text
    assert ("采集" in text) is (language == "zh" or "采集" in re.sub("<[^>]+>", "", text))
    assert "None" not in re.sub("<[^>]+>", "", text)


def test_crawl_tells_living_runs_from_killed_ones(client: Asker) -> None:
    text = text_of(client, "/crawl")
    assert 'hx-trigger="every 3s"' in text
    assert text.count("polyline") >= 4
    assert "290" in text
    assert "blocks us: 38 of the last 40 answers, the last with http error: 403" in text
    dead = text_of(client, "/crawl?run=2")
    assert "was killed, or its machine went away" in dead
    assert client.get("/crawl?run=99").status_code == 404
    assert client.get("/crawl?run=x").status_code == 400


def test_crawl_that_ended_with_an_error_is_red_and_says_why(board: Path, tmp_path: Path) -> None:
    shutil.copyfile(board, tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db")) as database, database:
        why = "failed (internal error (IndexError: list index out of range); the same command goes on)"
        database.execute("UPDATE run SET outcome = ?, exit_code = 5, finished = started WHERE id = 1", [why])
    with Asker(f"sqlite:///{tmp_path}/news.db", WebOptions()) as client:
        text, chinese = text_of(client, "/crawl?run=1"), text_of(client, "/crawl?run=1", "zh")
    assert '<span class="chip bad">failed</span>' in text
    assert f"Run 1 ended with an error: {why}" in text
    assert '<span class="chip bad">出错</span>' in chinese


def test_crawl_counts_the_queue(client: Asker) -> None:
    text = text_of(client, "/crawl")
    assert re.search(rf'href="/sites/{SITE}">{SITE}</a>.*?<td class="number">1[123]</td>', text, re.DOTALL)
    assert "http error: 404" in text


def test_fragment_of_a_live_crawl_is_no_page(client: Asker) -> None:
    assert text_of(client, "/crawl?part=live").lstrip().startswith('<div id="live"')


def test_sites_are_sorted_and_found(client: Asker) -> None:
    names = re.findall(r'<th scope="row" class="name"><a href="/sites/([^"]+)"', text_of(client, "/sites?sort=name"))
    assert names == sorted(names)
    assert SITE in names
    assert "No site has a name" in text_of(client, "/sites?q=nowhere")
    assert "1 alarm" in text_of(client, "/sites?sort=trouble&q=wanbao")


def test_site_shows_its_traps_and_articles(client: Asker) -> None:
    text = text_of(client, f"/sites/{SITE}")
    assert "/c?m" in text
    assert "30 pages brought nothing" in text
    assert text.count('href="/article/') == 20
    assert client.get("/sites/nowhere.example").status_code == 404


def test_graph_leads_to_sites_and_pages(client: Asker) -> None:
    assert f'href="/graph?site={SITE}"' in text_of(client, "/graph")
    assert text_of(client, f"/graph?site={SITE}").count("<circle") > 10
    assert client.get("/graph?site=nowhere.example").status_code == 404


@each_row(
    ("url", "said"),
    [
        (f"https://{SITE}/lost.html", "http error"),
        (f"{SITE}/lost.html", "Where it comes from|never seen"),
        ("https://nowhere.example/", "never seen it"),
        ("javascript:alert(1)", "not an http or https URL"),
        ("<script>alert(1)</script>", "never seen|not an http"),
        (f"https://{SITE}/waiting/3.html", "waiting"),
    ],
)
def test_why_explains_a_url(client: Asker, url: str, said: str) -> None:
    text = client.get(f"/why?{urlencode({'url': url})}").text
    assert re.search(said, text)
    assert "<script>alert" not in text


def test_why_compares_versions_that_are_not_too_long(
    client: Asker, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(board)) as opened:
        (url,) = opened.execute("SELECT url FROM url JOIN article_version ON article_id = id LIMIT 1").fetchone()
    path = f"/why?{urlencode({'url': url})}"
    compared = re.compile(r"since it was seen at [^<]*:<br>")
    assert compared.search(text_of(client, path))
    monkeypatch.setattr("crawler.web.inspection.explanation._MOST_COMPARED", 10)
    assert "since it was seen at" in text_of(client, path)
    assert not compared.search(text_of(client, path))


def test_settings_say_where_they_come_from(client: Asker) -> None:
    text = text_of(client, "/settings?only=changed")
    assert re.findall(r"<code>([A-Z_]+)</code>", text)[:2] == ["MAX_PAGES", "HOST_DELAY"]
    assert "command line" in text
    assert "RANK_EVERY_PAGES" in text_of(client, "/settings")


def test_empty_database_has_empty_pages(tmp_path: Path) -> None:
    open_for_crawl(f"sqlite:///{tmp_path}/news.db").close()
    with Asker(f"sqlite:///{tmp_path}/news.db") as client:
        for page, said in (("/crawl", "No crawl has run yet"), ("/sites", "No site"), ("/graph", "no links yet")):
            assert said in text_of(client, page)


def test_queries_are_answered_by_both_databases(database: object) -> None:
    assert database.read(lambda connection: curves(connection, 1.0, 5)) == []
    found = database.read(lambda connection: census(connection, 1.0))
    assert (found.articles, found.states, found.sites) == (0, {}, [])
    assert database.read(lambda connection: site_detail(connection, "nowhere.example", 1.0)) is None


def test_values_are_kept_and_made_again_when_they_failed() -> None:
    kept, tries = KeptValues(), []

    def make() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise Unavailable("locked")
        return len(tries)

    assert kept.get("it", make) is None
    assert [kept.get("it", make).value for _ in range(3)] == [2, 2, 2]
    kept.forget()
    assert kept.get("it", make).value == 3
