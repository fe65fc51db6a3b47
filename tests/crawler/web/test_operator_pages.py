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
import sqlalchemy
from scrapy.settings import Settings

from crawler.options.in_force import in_force
from crawler.options.table import defaults
from crawler.web.frame.kept import KeptValues
from crawler.web.frame.visit import WebOptions
from crawler.web.pages.time_left import time_left
from db.engine.database import open_for_crawl
from db.engine.errors import Unavailable
from db.frontier import samples
from db.queries.board import CrawlCounts, Curve, census, crawl_counts, curves
from db.queries.sites import site_detail
from db.queries.status import RunStatus
from db.records.run import RunSample
from tests.crawler.web.asking import Asker
from tests.table import each_row
from tests.waiting import wait_for

SITE = "wanbao.example"
_NO_RUN = RunStatus(1, "", None, None, "", 1, 1.0, 0, 0, 0.0, {})
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


def test_crawl_that_crashed_beside_another_is_red(board: Path, tmp_path: Path) -> None:
    shutil.copyfile(board, tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db")) as database, database:
        why = "failed (disk full)"
        database.execute(
            "INSERT INTO run (started, finished, outcome, exit_code, machine, pid, alive_until, settings) "
            "SELECT started, started, ?, 5, machine, pid, 0, settings FROM run WHERE id = 3",
            [why],
        )
    with Asker(f"sqlite:///{tmp_path}/news.db", WebOptions()) as client:
        text = text_of(client, "/crawl")
    assert 'hx-trigger="every 3s"' in text
    assert f'<p class="note bad">Run 4 ended with an error: {why}</p>' in text
    assert f'<td class="wrong">{why}</td>' in text
    assert "Run 2 was killed" not in text  # it ended before the one that is shown began


def test_crawl_has_one_time_for_all_numbers_and_the_queue_is_exact(board: Path, tmp_path: Path) -> None:
    shutil.copyfile(board, tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db")) as database, database:
        (waiting,) = database.execute("SELECT count(*) FROM url WHERE state = 'pending'").fetchone()
        database.execute("UPDATE run_sample SET queued = 777777")  # as a run counted, some time ago
    with Asker(f"sqlite:///{tmp_path}/news.db", WebOptions()) as client:
        text = text_of(client, "/crawl")
        counts = client.get("/api/crawl").json()["counts"]
    assert re.search(rf'URLs waiting</p>\s*<p class="figure">{waiting}</p>', text)
    assert "777,777" not in re.search(r'<section class="cards figures".*?</section>', text, re.DOTALL)[0]
    assert text.count("All numbers are as of") == 1
    assert "Counted in" not in text
    assert re.search(r'Time left</p>\s*<p class="figure">(about|under)', text)
    assert counts["states"]["pending"] == waiting
    assert time.time() - counts["at"] < 10


def test_crawl_says_how_long_a_run_has_been_mute(board: Path, tmp_path: Path) -> None:
    shutil.copyfile(board, tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db")) as database, database:
        database.execute("UPDATE run_sample SET at = at - 500 WHERE run_id = 3")
    with Asker(f"sqlite:///{tmp_path}/news.db", WebOptions()) as client:
        assert re.search(r"Run 3 has not reported for 5\d\d seconds", text_of(client, "/crawl"))


@each_row(
    ("seconds", "slow"),
    [([0.1, 0.1, 0.2], []), ([5.0, 5.5, 6.0], []), ([0.1, 0.1, 0.9], [0.9]), ([0.1, 0.2, 4.0, 9.0, 0.1], [9.0, 4.0])],
)
def test_hosts_are_slow_when_they_differ_from_most(board: Path, seconds: list[float], slow: list[float]) -> None:
    with closing(sqlite3.connect(board)) as source:
        hosts = [key for (key,) in source.execute("SELECT id FROM host ORDER BY id LIMIT ?", [len(seconds)])]
    engine = sqlalchemy.create_engine("sqlite://")
    with closing(sqlite3.connect(board)) as source, engine.connect() as copy:
        source.backup(copy.connection.driver_connection)
        copy.exec_driver_sql("UPDATE host SET answer_seconds = NULL")
        copy.exec_driver_sql("UPDATE host SET answer_seconds = ? WHERE id = ?", list(zip(seconds, hosts, strict=True)))
        assert [each.answer_seconds for each in crawl_counts(copy, 1.0).slow] == slow


@each_row(
    ("limits", "budget", "seconds"),
    [({}, (0, 0), 100.0), ({"MAX_PAGES": 500}, (450, 0), 50.0), ({"MAX_PAGES_PER_RUN": 10}, (0, 20), 0.0)],
)
def test_time_left_is_what_waits_at_the_speed_of_the_last_minutes(
    limits: dict[str, int], budget: tuple[int, int], seconds: float
) -> None:
    samples = [RunSample(at, pages, 0, 0, 0, 0, None, {}) for at, pages in ((0.0, 0), (5_000.0, 400), (5_100.0, 500))]
    counts = CrawlCounts({"pending": 90, "leased": 10, "done": 7}, (), {}, (), (), (), budget)
    run = Curve(_NO_RUN, limits, samples)
    assert time_left([run], counts) == pytest.approx(seconds)
    assert time_left([Curve(run.run, limits, samples[:1])], counts) is None


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


def test_settings_are_found_by_words_of_name_and_description_in_both_languages(client: Asker) -> None:
    names = re.compile(r"<code>([A-Z_]+)</code>")
    assert names.findall(text_of(client, "/settings?q=max_pages_per_host")) == ["MAX_PAGES_PER_HOST"]
    assert "ALLOW_NETWORKS" in names.findall(text_of(client, f"/settings?{urlencode({'q': '非公网'})}", "zh"))
    assert "No setting has these words" in text_of(client, "/settings?q=nosuchword")
    assert names.findall(text_of(client, "/settings?q=max_pages&only=changed")) == ["MAX_PAGES"]
    groups = re.findall(r'<a class="chip" href="#([^"]+)">', text := text_of(client, "/settings"))
    assert len(groups) > 5
    assert all(f'<h2 id="{group}">' in text for group in groups)
    assert client.get(f"/settings?q={'x' * 81}").status_code == 400


def test_graph_of_a_large_crawl_is_a_sample_and_says_so(
    client: Asker, board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "A sample" not in text_of(client, "/graph")
    shutil.copyfile(board, tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db")) as database, database:
        database.execute("UPDATE url SET fetched_at = found_at + 1 WHERE fetched_at IS NOT NULL")
    monkeypatch.setattr("crawler.web.pages.graph._MOST_URLS", 40)
    with Asker(f"sqlite:///{tmp_path}/news.db") as sampled:
        text = text_of(sampled, "/graph")
    assert "A sample: the URLs found last" in text
    assert f'href="/graph?site={SITE}"' in text


def test_empty_database_has_empty_pages(tmp_path: Path) -> None:
    open_for_crawl(f"sqlite:///{tmp_path}/news.db").close()
    with Asker(f"sqlite:///{tmp_path}/news.db") as client:
        for page, said in (("/crawl", "No crawl has run yet"), ("/sites", "No site"), ("/graph", "no links yet")):
            assert said in text_of(client, page)


def test_queries_are_answered_by_both_databases(database: object) -> None:
    assert database.read(lambda connection: curves(connection, 1.0, 5)) == []
    found = database.read(lambda connection: census(connection, 1.0))
    assert (found.articles, found.sites) == (0, [])
    counts = database.read(lambda connection: crawl_counts(connection, 1.0))
    assert (counts.states, counts.slow) == ({}, [])
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
