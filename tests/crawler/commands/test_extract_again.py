"""`scrapy extract --database`: stored articles read again by another version."""

from __future__ import annotations

import fcntl
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import DESCRIBED, Finished, crawl, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer, article
from tests.crawler.test_multipage import PATHS, TEXTS, site

ALONE = ("SITE_MEMORY=False", "WORKERS=2", *DESCRIBED)
"""Nothing that a page says depends on the pages before it."""
OLD = "UPDATE article SET extractor_version = '0', checked_with = 'old 0'"


def again(folder: Path, *arguments: str) -> Finished:
    settings = (f"DATABASE_URL=sqlite:///{folder}/news.db", *ALONE)
    done = scrapy(folder, "extract", "--database", *arguments, *[x for s in settings for x in ("-s", s)])
    assert "Traceback" not in done.stderr
    return done


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "news.db")) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def texts(folder: Path) -> dict[str, tuple]:
    columns = "url, title, text, authors, source, published_at, extractor, extractor_version"
    return {row[0]: row[1:] for row in rows(folder, f"SELECT {columns} FROM v_articles")}


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom(port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, newsroom: Newsroom) -> Path:
    """One crawl of the newsroom, to be copied."""
    folder = tmp_path_factory.mktemp("crawled")
    assert crawl(newsroom, folder, *ALONE).returncode == 0
    return folder


def test_articles_are_as_a_crawl_with_the_other_extractor_stores_them(
    tmp_path: Path, newsroom: Newsroom, crawled: Path
) -> None:
    before = tmp_path
    assert crawl(newsroom, before, *ALONE, "EXTRACTOR=lineblocks").returncode == 0
    old, new = texts(before), texts(crawled)
    frontier = "SELECT url, state, reason, visits, tries, next_visit, etag, same_as, leased_by, unread FROM url"
    waits = sorted(rows(before, frontier))
    done = again(before)
    assert done.returncode == 0, done.stderr
    found = texts(before)
    assert found.keys() == old.keys()
    common = found.keys() & new.keys()
    assert len(common) > 100
    originals = {url for (url,) in rows(before, "SELECT url FROM v_articles WHERE duplicate_of IS NULL")} & common
    assert sum(found[url] == new[url] for url in originals) >= 0.98 * len(originals)
    assert sum(old[url][1] != new[url][1] for url in originals) > 0.1 * len(originals), "they differ at all"
    changed = [(url, state, reason) for url, state, reason, *_ in set(waits) ^ set(rows(before, frontier))]
    assert changed == []
    check = scrapy(before, "duplicates", "--check", "-s", f"DATABASE_URL=sqlite:///{before}/news.db")
    assert "no difference" in check.stdout, check.stdout
    assert rows(before, "SELECT count(*) FROM article WHERE text = '' AND text_holder IS NULL") == [(0,)]
    second = again(before)
    assert second.stdout.startswith("0 articles of ")
    assert texts(before) == found


def story(number: int) -> Answer:
    """A page of its own, like no other."""
    words = ["港口航线", "学校操场", "医院门诊"][number]
    lines = [f"{words}第{n * 7 + number}项安排由{n * 19 + number}人完成，历时{n + number * 3}个月。" for n in range(6)]
    body = "".join(f"<p>{line}</p>" for line in lines)
    return 200, {}, f"<title>{words}有了新消息</title><h1>{words}有了新消息</h1>{body}"


def test_version_is_written_only_of_texts_that_say_something_else(tmp_path: Path) -> None:
    answers = {("a.localhost", f"/2024/{n}.html"): story(n) for n in range(3)}
    answers["a.localhost", "/"] = article("首页", *(path for _, path in answers))
    with OddServer(answers) as server:
        seeds = [f"http://a.localhost:{server.port}/"]
        assert crawl(cast("Newsroom", server), tmp_path, *ALONE, seeds=seeds).returncode == 0
    whole = texts(tmp_path)
    where = "WHERE id = (SELECT id FROM url WHERE url LIKE '%/{}.html')"
    change(
        tmp_path,
        OLD,
        f"UPDATE article SET text = text || char(10) || '阅读 100', text_hash = 7, authors = '错' {where.format(1)}",
        f"UPDATE article SET text = text || '另有一句话不在页面上。', text_hash = 8 {where.format(2)}",
    )
    done = again(tmp_path)
    assert (done.returncode, texts(tmp_path)) == (0, whole)
    versions = "SELECT u.url, v.text FROM article_version v JOIN url u ON u.id = v.article_id"
    ((url, text),) = rows(tmp_path, versions)
    assert (url[-7:], text[-11:]) == ("/2.html", "另有一句话不在页面上。")
    assert "  1 with another text\n  1 put right without a new version\n" in done.stdout


def test_article_of_several_pages_is_made_anew_once(tmp_path: Path) -> None:
    with OddServer(site(PATHS[0])) as server:
        base = f"http://a.localhost:{server.port}"
        assert crawl(cast("Newsroom", server), tmp_path, *ALONE, seeds=[f"{base}/"]).returncode == 0
    whole = texts(tmp_path)
    reasons = rows(tmp_path, "SELECT url, state, reason FROM url ORDER BY url")
    change(
        tmp_path,
        OLD,
        f"UPDATE part SET text = replace(text, '{TEXTS[1][0]}', '一句旧话在这里。'), text_hash = id",
        f"UPDATE article SET text = replace(text, '{TEXTS[1][0]}', '一句旧话在这里。'), text_hash = id",
    )
    assert "旧话" in texts(tmp_path)[base + PATHS[0]][1]
    assert again(tmp_path).returncode == 0
    assert texts(tmp_path) == whole
    assert rows(tmp_path, "SELECT url, state, reason FROM url ORDER BY url") == reasons
    assert rows(tmp_path, "SELECT count(*) FROM article_version") == [(1,)]


def test_killed_run_goes_on_where_it_was(tmp_path: Path, crawled: Path) -> None:
    shutil.copy(crawled / "news.db", tmp_path)
    whole = texts(tmp_path)
    change(tmp_path, OLD)
    settings = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", "SITE_MEMORY=False", "WORKERS=1")
    running = start(tmp_path, "extract", "--database", *[x for s in settings for x in ("-s", s)])
    left = "SELECT count(*) FROM article WHERE checked_with = 'old 0'"
    until = time.monotonic() + 60
    while not 0 < rows(tmp_path, left)[0][0] < len(whole) - 5:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert running.process.pid is not None
    running.process.kill()
    assert running.finish().returncode == -signal.SIGKILL
    rest = rows(tmp_path, left)[0][0]
    assert 0 < rest < len(whole)
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]
    done = again(tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (0, str(rest))
    assert texts(tmp_path) == whole


def test_pages_that_are_not_stored_are_asked_for_unconditionally(
    tmp_path: Path, newsroom: Newsroom, crawled: Path
) -> None:
    shutil.copy(crawled / "news.db", tmp_path)
    whole = texts(tmp_path)
    change(tmp_path, OLD, "DELETE FROM page")
    done = again(tmp_path)
    assert f"{len(whole)} to be asked for by the next crawl" in done.stdout
    before = len(newsroom.requests())
    assert crawl(newsroom, tmp_path, *ALONE, "REVISIT_AHEAD=0").returncode == 0
    asked = newsroom.requests()[before:]
    assert len(asked) >= len(whole)
    assert 304 not in {request.status for request in asked}
    assert rows(tmp_path, "SELECT count(*) FROM article WHERE checked_with = 'old 0'") == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM article WHERE id NOT IN (SELECT url_id FROM page)") == [(0,)]
    assert again(tmp_path).stdout.startswith("0 articles")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--where", "no_such_column = 1"], "the condition 'no_such_column = 1' cannot be used"),
        (["--where", "1=1); DELETE FROM article; --"], "cannot be used"),
        (["--since", "soon"], "--since is 'soon'; it takes a number with s, m, h, d or w"),
        (["--format", "text"], "--format has no meaning"),
    ],
)
def test_wrong_use_is_refused_in_a_sentence(
    tmp_path: Path, sqlite_tables: str, arguments: list[str], part: str
) -> None:
    (tmp_path / "news.db").write_bytes(Path(sqlite_tables).read_bytes())
    done = again(tmp_path, *arguments)
    assert (done.returncode, part in done.stderr, len(done.stderr.splitlines())) == (2, True, 1)


def test_database_that_is_missing_or_in_use_is_refused(tmp_path: Path, sqlite_tables: str) -> None:
    assert "there is no database" in again(tmp_path).stderr
    (tmp_path / "news.db").write_bytes(Path(sqlite_tables).read_bytes())
    with (tmp_path / "news.db.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = again(tmp_path)
    assert (done.returncode, "another crawl is running on" in done.stderr) == (2, True)
    assert again(tmp_path).returncode == 0
    alone = scrapy(tmp_path, "extract", "--host", "a.example", "page.html")
    assert (alone.returncode, "--host needs --database" in alone.stderr) == (2, True)
