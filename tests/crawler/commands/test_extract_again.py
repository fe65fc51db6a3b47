"""`scrapy extract --database` and `scrapy describe`: stored articles read or described again."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import DESCRIBED, Finished, crawl, rows, scrapy, start
from tests.crawler.crawling import command as run_here
from tests.crawler.odd_server import Answer, OddServer, article
from tests.crawler.test_multipage import PATHS, TEXTS, site
from tests.postgres import empty_database
from tests.waiting import wait_for

ALONE = ("SITE_MEMORY=False", "WORKERS=2", *DESCRIBED)
"""Nothing that a page says depends on the pages before it."""
OLD = "UPDATE article SET extractor_version = '0', checked_with = 'old 0'"
SLOW = """
import time
from db.articles import descriptions, rework
def slow(write):
    def slowly(*arguments):
        *first, batch = arguments
        time.sleep(0.1)
        return [outcome for one in batch for outcome in write(*first, [one])]
    return slowly
for writer in (rework, descriptions):
    writer.write = slow(writer.write)
"""
"""So that there is time to kill a command in the middle of its work."""
EXTRACT, DESCRIBE = ("extract", "--database"), ("describe",)
BOTH = pytest.mark.parametrize("command", [EXTRACT, DESCRIBE], ids=lambda command: command[0])
AT_ODDS = "SELECT url FROM url JOIN article USING (id) WHERE (reason IS 'harmful') <> (harm_kind <> '')"
"""Articles whose verdict is another than the reason of their URL."""


def again(folder: Path, *arguments: str, command: Sequence[str] = EXTRACT) -> Finished:
    settings = (f"DATABASE_URL=sqlite:///{folder}/news.db", *ALONE)
    done = scrapy(folder, *command, *[x for s in settings for x in ("-s", s)], *arguments)
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
    reason = "nullif(reason, 'harmful')"  # that one is of the text, the others of the page
    frontier = f"SELECT url, state, {reason}, visits, tries, next_visit, etag, same_as, leased_by, unread FROM url"
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
    assert rows(before, AT_ODDS) == []
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


@BOTH
def test_killed_run_goes_on_where_it_was(tmp_path: Path, crawled: Path, command: tuple[str, ...]) -> None:
    shutil.copy(crawled / "news.db", tmp_path)
    whole, said = texts(tmp_path), described(tmp_path)
    column = "checked_with" if command is EXTRACT else "described_with"
    change(tmp_path, f"UPDATE article SET {column} = 'old 0', keywords = ''")
    settings = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", "SITE_MEMORY=False", "WORKERS=1")
    running = start(tmp_path, *command, *[x for s in settings for x in ("-s", s)], before=SLOW)
    left = f"SELECT count(*) FROM article WHERE {column} = 'old 0'"
    wait_for(lambda: 0 < rows(tmp_path, left)[0][0] < len(whole) - 5)
    assert running.send(signal.SIGKILL)
    assert running.finish().returncode == -signal.SIGKILL
    rest = rows(tmp_path, left)[0][0]
    assert 0 < rest < len(whole)
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]
    done = again(tmp_path, command=command)
    assert (done.returncode, done.stdout.split()[0]) == (0, str(rest))
    assert (texts(tmp_path), described(tmp_path)) == (whole, said)


def described(folder: Path) -> list[tuple]:
    columns = "url, keywords, summary, classes, harm, harm_kind"
    classes = "(SELECT group_concat(name || membership) FROM article_class WHERE article_id = v_articles.id)"
    return rows(folder, f"SELECT {columns}, {classes} FROM v_articles ORDER BY url")


def test_articles_are_described_again_as_the_crawl_described_them(tmp_path: Path, crawled: Path) -> None:
    shutil.copy(crawled / "news.db", tmp_path)
    said, count = described(tmp_path), len(texts(tmp_path))
    assert again(tmp_path, command=DESCRIBE).stdout.startswith("0 articles of ")
    broken = "UPDATE page SET body = x'00' WHERE url_id = (SELECT min(id) FROM article)"
    change(tmp_path, "UPDATE article SET described_with = 'old 0'", broken)
    settings = [x for s in (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", *ALONE) for x in ("-s", s)]
    done = scrapy(tmp_path, *DESCRIBE, *settings)
    assert done.stdout.splitlines()[1:] == [f"  {count - 1} as they were", "  1 could not be read"]
    assert (done.returncode, done.stderr.count("Traceback")) == (3, 1), "an article that fails costs no other"
    assert described(tmp_path) == said
    assert again(tmp_path, "--where", "id = ''", command=DESCRIBE).stdout.startswith("0 articles of ")


def test_articles_are_described_again_by_other_settings_once(tmp_path: Path, crawled: Path) -> None:
    shutil.copy(crawled / "news.db", tmp_path)
    said = described(tmp_path)
    data, model = tmp_path / "rows.jsonl", tmp_path / "m.json"
    known = {"a": "记者说，居民今年在这里看到", "b": "公司市场价格上涨"}
    data.write_text("\n".join(json.dumps({"id": 1, "text": known[name], "label": name}) for name in known), "utf-8")
    assert run_here("train", "classes", str(data), "--method", "naive_bayes", "-o", str(model)).returncode == 0
    host = next(urlsplit(url).netloc for url, *_ in said if "wanbao" in url)
    other = ("--model", str(model), "-s", "KEYWORDS=", "-s", "HARMFUL=off", "--host", host)
    done = again(tmp_path, *other, command=DESCRIBE)
    assert done.returncode == 0, done.stderr
    changed = [row for row in described(tmp_path) if row not in said]
    count = sum(urlsplit(url).netloc == host for url, *_ in said)
    assert done.stdout.splitlines()[1:] == [f"  {count} with another description"]
    assert {urlsplit(url).netloc for url, *_ in changed} == {host}
    assert {row[1:3] + row[4:6] for row in changed} == {("", "", None, "")}
    assert {"a"} <= {row[3] for row in changed} <= {"a", "b", ""}
    assert rows(tmp_path, AT_ODDS) == []
    assert again(tmp_path, *other, command=DESCRIBE).stdout.startswith("0 articles")
    done = again(tmp_path, command=DESCRIBE)
    assert done.stdout.splitlines()[1:] == [f"  {count} with another description"]
    assert described(tmp_path) == said
    assert rows(tmp_path, AT_ODDS) == []


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


@BOTH
def test_database_in_use_is_refused(tmp_path: Path, sqlite_tables: str, command: tuple[str, ...]) -> None:
    (tmp_path / "news.db").write_bytes(Path(sqlite_tables).read_bytes())
    with (tmp_path / "news.db.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = again(tmp_path, command=command)
    assert (done.returncode, "another crawl is running on" in done.stderr) == (2, True)
    assert again(tmp_path, command=command).returncode == 0


@pytest.mark.slow
def test_batch_makes_the_articles_of_both_databases_new(tmp_path: Path, crawled: Path, postgres_server: str) -> None:
    """Pages are read by workers of Dask and written here, in the same order whatever the number of partitions."""
    from distributed import LocalCluster

    source = f"sqlite:///{tmp_path}/news.db"
    shutil.copy(crawled / "news.db", tmp_path)
    whole, said = texts(tmp_path), described(tmp_path)
    broken = (
        "UPDATE article SET text = text || '另有一句话不在页面上。', text_hash = id WHERE id % 3 = 0 AND text <> ''"
    )
    change(tmp_path, OLD, broken, "UPDATE article SET described_with = 'old 0', keywords = ''")
    settings = [x for s in ALONE for x in ("-s", s)]
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp://", "host": "127.0.0.1"}
    with (
        LocalCluster(dashboard_address="127.0.0.1:0", **options) as cluster,
        empty_database(postgres_server, "batch") as target,
    ):
        assert run_here("copy-database", source, target).returncode == 0
        for number, url in enumerate((source, target)):
            arguments = (url, "--scheduler", cluster.scheduler_address, "--partitions", str(3 + 4 * number), *settings)
            done = run_here("batch", "extract", *arguments)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith(f"{len(whole)} articles of "), done.stdout
            assert " with another text\n" in done.stdout
            assert run_here("batch", "describe", *arguments).returncode == 0
            assert run_here("batch", "extract", *arguments).stdout.startswith("0 articles of ")
        (tmp_path / "back").mkdir()
        assert run_here("copy-database", target, f"sqlite:///{tmp_path}/back/news.db").returncode == 0
    assert (texts(tmp_path), described(tmp_path)) == (whole, said)
    assert (texts(tmp_path / "back"), described(tmp_path / "back")) == (whole, said)


def test_database_that_is_missing_is_not_made(tmp_path: Path) -> None:
    assert "there is no database" in again(tmp_path).stderr
    assert not (tmp_path / "news.db").exists()
    alone = scrapy(tmp_path, "extract", "--host", "a.example", "page.html")
    assert (alone.returncode, "--host needs --database" in alone.stderr) == (2, True)
