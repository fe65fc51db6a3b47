"""The main job on the bundled newsroom: real command, real HTTP, real database."""

from __future__ import annotations

import itertools
import json
import re
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from crawler.demo.server import Newsroom
from tests.crawler.crawling import DESCRIBED, Running, command, crawl, crawl_arguments, rows, scrapy, start
from tests.waiting import wait_for


@dataclass
class Crawled:
    newsroom: Newsroom
    folder: Path
    output: str


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One whole crawl that many tests look at."""
    folder = tmp_path_factory.mktemp("crawled")
    with Newsroom() as newsroom:
        done = crawl(newsroom, folder, "CONTACT=editor@example.org", "CRAWL_PRESET=news", *DESCRIBED)
        assert done.returncode == 0, done.stderr
        yield Crawled(newsroom, folder, done.stderr)


@pytest.fixture
def newsroom() -> Iterator[Newsroom]:
    with Newsroom() as serving:
        yield serving


def test_every_article_is_stored_once(crawled: Crawled) -> None:
    stored = Counter(url for (url,) in rows(crawled.folder, "SELECT url FROM v_articles"))
    wanted = {article.url for article in crawled.newsroom.truth()}
    assert wanted - set(stored) == set()
    assert max(stored.values()) == 1
    assert set(stored) - wanted == set()


def test_titles_times_and_texts(crawled: Crawled) -> None:
    stored = {
        row[0]: row[1:]
        for row in rows(crawled.folder, "SELECT url, title, authors, published_at, text FROM v_articles")
    }
    truth = crawled.newsroom.truth()
    titles = sum(stored[a.url][0] == a.title for a in truth)
    days = sum((stored[a.url][2] or "")[:10] == a.published[:10] for a in truth)
    texts = sum(_overlap(a.text, stored[a.url][3]) > 0.9 for a in truth)
    assert titles >= 0.97 * len(truth)
    assert days >= 0.97 * len(truth)
    assert texts >= 0.95 * len(truth)
    assert all(_overlap(a.text, stored[a.url][3]) > 0.9 for a in truth if a.parts)
    assert all("\ufffd" not in row[3] for row in stored.values())


def test_articles_are_described(crawled: Crawled) -> None:
    described = rows(crawled.folder, "SELECT title, text, keywords, summary, classes, harm FROM v_articles")
    long = [row for row in described if len(row[1]) > 150]
    assert len(long) > 30
    assert all(keywords and summary and harm is not None for _, _, keywords, summary, _, harm in long)
    assert all(word in f"{row[0]}\n{row[1]}" for row in long for word in row[2].split("、") if word.isalpha())
    classes = {title: told for title, *_, told, _ in described}
    assert {told for title, told in classes.items() if "收盘" in title} == {"finance"}
    assert classes["Rovers beat Tannery Creek to stay unbeaten"] == "sport"
    for nothing in ("今夜有小雨 明后天气温先降后升", "老房子加装电梯 七楼的婆婆两年来第一次逛早市"):
        assert classes[nothing] == "", "weather and local news are no section"
    assert 10 < sum(map(bool, classes.values())) < 0.3 * len(classes), "most of the invented news is of none"


def test_memberships_are_those_of_the_classes_that_are_told(crawled: Crawled) -> None:
    kept = dict(
        rows(crawled.folder, "SELECT article_id, group_concat(name, '、') FROM article_class GROUP BY article_id")
    )
    told = dict(rows(crawled.folder, "SELECT id, classes FROM article WHERE classes <> ''"))
    assert {key: set(names.split("、")) for key, names in kept.items()} == {
        key: set(names.split("、")) for key, names in told.items()
    }
    assert rows(crawled.folder, "SELECT min(membership) > 0.5, max(membership) <= 1 FROM article_class") == [(1, 1)]


def test_words_of_the_crawl_are_learned(crawled: Crawled, tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.json"
    database = f"DATABASE_URL=sqlite:///{crawled.folder}/news.db"
    done = command("train", "lexicon", "--output", str(lexicon), "-s", database)
    assert (done.returncode, done.stderr) == (0, "")
    model = json.loads(lexicon.read_text("utf-8"))["model"]
    (originals,) = rows(crawled.folder, "SELECT count(*) FROM v_articles WHERE duplicate_of IS NULL")
    assert (model["documents"],) == originals
    assert model["terms"]["今年"] > 10


def _overlap(wanted: str, found: str) -> float:
    """Share of the wanted sentences' characters that are found, in order of appearance."""
    kept = sum(len(line) for line in wanted.split("\n") if line.strip() in found)
    return kept / max(1, len(wanted.replace("\n", "")))


def test_export_and_extract_say_what_the_database_shows(newsroom: Newsroom, tmp_path: Path) -> None:
    output = tmp_path / "articles.jsonl"
    seeds = [url for url in newsroom.seeds() if "wanbao" in url or "kuaixun" in url]
    done = scrapy(tmp_path, *crawl_arguments(newsroom, tmp_path, seeds=seeds), "-o", str(output))
    assert done.returncode == 0, done.stderr
    items = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    exported = {item["url"]: (item["text"], item["published_at"]) for item in items}
    columns = "SELECT url, text, coalesce(published_at, '') FROM v_articles"
    shown = {url: (body, published) for url, body, published in rows(tmp_path, columns)}
    assert exported == shown
    copies = "SELECT url FROM v_articles WHERE duplicate_of IS NOT NULL AND id NOT IN (SELECT id FROM part)"
    urls = [url for (url,) in rows(tmp_path, copies)]
    assert len(urls) > 2
    allowed = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}", "-s", "HOST_DELAY=0")
    read = scrapy(tmp_path, "extract", "--format", "jsonl", *allowed, *urls)
    assert {one["url"]: one["text"] for one in map(json.loads, read.stdout.splitlines())} == {
        url: shown[url][0] for url in urls
    }


def test_references_of_a_crawl_lead_somewhere(crawled: Crawled) -> None:
    assert rows(crawled.folder, "PRAGMA foreign_key_check") == []


def test_reprints_point_to_an_original(crawled: Crawled) -> None:
    clusters = dict(rows(crawled.folder, "SELECT url, coalesce(duplicate_of, url) FROM v_articles"))
    reprints = [a for a in crawled.newsroom.truth() if a.reprint_of]
    together = [a for a in reprints if clusters[a.url] == clusters[a.reprint_of]]
    assert len(reprints) >= 10
    assert len(together) >= 0.9 * len(reprints)
    originals = [a.url for a in crawled.newsroom.truth() if not a.reprint_of]
    assert len({clusters[url] for url in originals}) >= 0.98 * len(originals)


def test_politeness_on_the_wire(crawled: Crawled) -> None:
    log = crawled.newsroom.requests()
    hosts = {request.host for request in log}
    for host in hosts:
        own = sorted((r for r in log if r.host == host), key=lambda r: r.start)
        assert own[0].path == "/robots.txt"
        assert all(a.end <= b.start for a, b in itertools.pairwise(own)), f"two requests at once to {host}"
    assert not [r for r in log if r.path.startswith("/internal/")]
    assert {r.user_agent for r in log} == {"newscrawler/0.1 (+editor@example.org)"}


def test_each_page_is_fetched_once(crawled: Crawled) -> None:
    counts = Counter((r.host, r.path) for r in crawled.newsroom.requests())
    assert {key: n for key, n in counts.items() if n > 1} == {}


def test_sitemaps_and_feeds_are_found(crawled: Crawled) -> None:
    kinds = dict(rows(crawled.folder, "SELECT kind, count(*) FROM url WHERE state = 'done' GROUP BY kind"))
    assert kinds["sitemap"] >= 3
    assert kinds["feed"] >= 2


def test_outside_links_are_left_alone_but_known(crawled: Crawled) -> None:
    outside = rows(crawled.folder, "SELECT url FROM url WHERE reason = 'outside'")
    assert any("example.com" in url for (url,) in outside)


def test_every_drop_has_a_reason(crawled: Crawled) -> None:
    silent = rows(
        crawled.folder,
        "SELECT url FROM url WHERE kind = 'page' AND reason IS NULL AND id NOT IN (SELECT id FROM article)",
    )
    assert silent == []
    assert rows(crawled.folder, "SELECT count(*) FROM url WHERE state IN ('pending', 'leased')") == [(0,)]


def test_links_keep_their_block(crawled: Crawled) -> None:
    blocks = dict(rows(crawled.folder, "SELECT block, count(*) FROM link GROUP BY block"))
    assert len(blocks) >= 4


def test_summary_says_what_happened(crawled: Crawled) -> None:
    assert "Finished: nothing is left within the limits." in crawled.output
    assert f"{crawled.folder}/news.db" in crawled.output


def test_again_asks_only_for_what_has_changed(crawled: Crawled) -> None:
    before = len(crawled.newsroom.requests())
    again = crawl(crawled.newsroom, crawled.folder)
    assert again.returncode == 0
    asked = crawled.newsroom.requests()[before:]
    assert len(asked) > 100
    assert {request.status for request in asked} == {304}
    assert rows(crawled.folder, "SELECT count(*) FROM article_version") == [(0,)]
    assert rows(crawled.folder, "SELECT count(*) FROM url WHERE state IN ('pending', 'leased')") == [(0,)]
    still = crawl(crawled.newsroom, crawled.folder, "REVISIT_AHEAD=0")
    assert still.returncode == 0
    assert len(crawled.newsroom.requests()) == before + len(asked)


def test_status_and_why(crawled: Crawled) -> None:
    database = f"DATABASE_URL=sqlite:///{crawled.folder}/news.db"
    status = scrapy(crawled.folder, "status", "-s", database)
    assert status.returncode == 0
    assert "articles" in status.stdout
    assert "finished" in status.stdout
    reprint = rows(crawled.folder, "SELECT url FROM v_articles WHERE duplicate_of IS NOT NULL")[0][0]
    why = scrapy(crawled.folder, "why", reprint, "-s", database)
    assert why.returncode == 0
    assert "duplicate of" in why.stdout
    assert "found on" in why.stdout
    assert "siterank" in why.stdout
    unknown = scrapy(crawled.folder, "why", "http://never.example/seen", "-s", database)
    assert unknown.returncode == 2
    assert "never been seen" in unknown.stderr


FETCHED = "FROM url WHERE kind = 'page' AND state IN ('done', 'failed')"


def test_limit_of_pages_is_exact(newsroom: Newsroom, tmp_path: Path) -> None:
    done = crawl(newsroom, tmp_path, "MAX_PAGES=37")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, f"SELECT count(*) {FETCHED}") == [(37,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl with a delay and with limits of each host and of the depth."""
    folder = tmp_path_factory.mktemp("limited")
    with Newsroom() as newsroom:
        done = crawl(newsroom, folder, "HOST_DELAY=0.4", "MAX_PAGES_PER_HOST=4", "MAX_DEPTH=1")
        assert done.returncode == 0, done.stderr
        yield Crawled(newsroom, folder, done.stderr)


def test_limits_of_host_and_depth_are_exact(limited: Crawled) -> None:
    assert rows(limited.folder, f"SELECT DISTINCT n FROM (SELECT count(*) AS n {FETCHED} GROUP BY host_id)") == [(4,)]
    assert rows(limited.folder, f"SELECT max(depth) {FETCHED}") == [(1,)]
    assert rows(limited.folder, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]


def test_seed_options(newsroom: Newsroom, tmp_path: Path) -> None:
    first, second = newsroom.seeds()[:2]
    done = crawl(newsroom, tmp_path, seeds=[f"{first} pages=7", f"{second} depth=0"])
    assert done.returncode == 0, done.stderr
    found = rows(
        tmp_path,
        "SELECT s.url, count(*) FROM url u JOIN seed s ON s.id = u.seed_id "
        "WHERE u.kind = 'page' AND u.state IN ('done', 'failed') GROUP BY s.url",
    )
    assert dict(found) == {first: 7, second: 1}


def test_host_delay_is_kept(limited: Crawled) -> None:
    log = limited.newsroom.requests()
    for host in {r.host for r in log}:
        starts = sorted((r.start, r.end) for r in log if r.host == host)
        assert len(starts) > 4
        assert all(b[0] - a[1] >= 0.39 for a, b in itertools.pairwise(starts))


def test_loopback_is_refused_unless_allowed(newsroom: Newsroom, tmp_path: Path) -> None:
    done = crawl(newsroom, tmp_path, "ALLOW_NETWORKS=")
    assert done.returncode == 2
    assert newsroom.requests() == []
    assert "at no public address" in done.stderr


def _start(newsroom: Newsroom, folder: Path) -> Running:
    return start(folder, *crawl_arguments(newsroom, folder))


@pytest.mark.parametrize("shares", [(0.5,), pytest.param((0.2, 0.5, 0.8), marks=pytest.mark.slow)])
def test_killed_crawls_lose_nothing(crawled: Crawled, tmp_path: Path, shares: tuple[float, ...]) -> None:
    with Newsroom(port=0, latency_seconds=0.02) as newsroom:
        for share in shares:
            process = _start(newsroom, tmp_path).process
            target = share * 200
            wait_for(lambda target=target, p=process: len(newsroom.requests()) > target or not p.is_alive())
            process.kill()
            process.join()
        done = crawl(newsroom, tmp_path)
        assert done.returncode == 0, done.stderr
        assert "recovered" in done.stderr
        port, other = f":{crawled.newsroom.port}/", f":{newsroom.port}/"
        stored = [url.replace(other, port) for (url,) in rows(tmp_path, "SELECT url FROM v_articles")]
        assert sorted(stored) == sorted(url for (url,) in rows(crawled.folder, "SELECT url FROM v_articles"))
        assert rows(tmp_path, "PRAGMA integrity_check") == [("ok",)]
        checked = scrapy(tmp_path, "duplicates", "--check", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        assert (checked.returncode, "no difference" in checked.stdout) == (0, True), checked.stdout


def test_ctrl_c_stops_cleanly_and_can_be_resumed(tmp_path: Path) -> None:
    """And until then a second crawl on the same file is refused."""
    with Newsroom(port=0, latency_seconds=0.5) as newsroom:
        running = _start(newsroom, tmp_path)
        wait_for(lambda: len(newsroom.requests()) > 5)
        second = crawl(newsroom, tmp_path)
        assert second.returncode == 2
        assert "another crawl is running" in second.stderr
        assert "Traceback" not in second.stderr
        assert running.send(signal.SIGINT)
        done = running.finish()
        assert done.returncode == 3, done.stderr
        *_, look, export, goes_on, last = done.stderr.splitlines()
        stopping = [line for line in done.stderr.splitlines() if line.startswith("Stopping: ")]
        assert [line.partition("; ")[2] for line in stopping] == ["Ctrl-C again ends at once."]
        assert (look.split()[0], export.split()[0], goes_on[:6]) == ("Look:", "Export:", "Go on:")
        assert re.match(r"Stopped with \d+ URLs left; the same command goes on", last)
        assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]
    with Newsroom(port=newsroom.port) as newsroom:
        assert crawl(newsroom, tmp_path, "MAX_PAGES=60").returncode == 0


def test_postgres_gives_the_same_articles(crawled: Crawled, tmp_path: Path, postgres_server: str) -> None:
    url = make_url(postgres_server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text("CREATE DATABASE crawl_test"))
    target = url.set(database="crawl_test")
    done = crawl(crawled.newsroom, tmp_path, f"DATABASE_URL={target.render_as_string(hide_password=False)}")
    assert done.returncode == 0, done.stderr
    engine = create_engine(target)
    with engine.connect() as connection:
        stored = sorted(row.url for row in connection.execute(text("SELECT url FROM v_articles")))
    engine.dispose()
    with admin.connect() as connection:
        connection.execute(text("DROP DATABASE crawl_test WITH (FORCE)"))
    admin.dispose()
    assert stored == sorted(url for (url,) in rows(crawled.folder, "SELECT url FROM v_articles"))


@pytest.mark.slow
def test_database_that_is_gone_ends_the_crawl_and_costs_nothing(crawled: Crawled, tmp_path: Path) -> None:
    with Newsroom(port=0, latency_seconds=0.05) as newsroom:
        running = start(tmp_path, *crawl_arguments(newsroom, tmp_path, "DATABASE_PATIENCE=1"))
        wait_for(lambda: len(newsroom.requests()) > 40)
        other = sqlite3.connect(tmp_path / "news.db", isolation_level=None, timeout=20)
        other.execute("BEGIN EXCLUSIVE")
        done = running.finish()
        other.close()
        assert done.returncode == 4, done.stderr
        assert "gave up" in done.stderr
        assert "Traceback" not in done.stderr
        assert crawl(newsroom, tmp_path).returncode == 0
    assert rows(tmp_path, "SELECT count(*) FROM v_articles") == rows(crawled.folder, "SELECT count(*) FROM v_articles")
