"""A crawl in trouble: the real command, short of file handles, beside others, with a database that goes away."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from crawler.run.process import exhausted
from db.engine.database import open_for_crawl
from tests.crawler.crawling import ROOT, Finished, Running, crawl_arguments, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer, article
from tests.postgres import empty_database
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    room = Newsroom(port=0)
    room.start()
    yield room
    room.stop()


def said(running: Running) -> str:
    errors = running.log.with_suffix(".err")
    return errors.read_text("utf-8") if errors.exists() else ""


@pytest.mark.slow
def test_out_of_file_handles_is_no_fault_of_the_servers(tmp_path: Path) -> None:
    def closing(answer: Answer) -> Answer:
        return answer[0], {**answer[1], "Connection": "close"}, answer[2]

    paths = [f"/{n}" for n in range(12)]
    answers = {("a.localhost", path): closing(article(f"第{path[1:]}篇新闻")) for path in paths}
    answers["a.localhost", "/"] = closing(article("首页", *paths))
    with OddServer(answers) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        settings = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}")
        settings += (
            "HOST_DELAY=0.1",
            "WORKERS=1",
            "FETCH_TRIES=1",
            'HOST_BACKOFF={"failures": 1}',
            "SOFT_404_PROBE=False",
        )
        running = start(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *[x for s in settings for x in ("-s", s)])
        pid = running.process.pid
        assert pid is not None
        wait_for(lambda: len(server.asked) > 5)
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (10, before[1]))
        wait_for(lambda: "no file can be opened" in said(running))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        done = running.finish()
    assert done.returncode == 0
    assert done.stderr.count("no file can be opened") == 1, "said once"
    assert rows(tmp_path, "SELECT state, count(*) FROM url WHERE kind = 'page' GROUP BY state") == [("done", 13)]


def test_nul_bytes_do_not_keep_a_crawl_from_ending(tmp_path: Path, postgres_server: str) -> None:
    answers = {
        ("a.localhost", "/"): (200, {"ETag": "a\0b", "Last-Modified": "\0", "Content-Type": "text/html\0"}, "<p>\0"),
        ("a.localhost", "/robots.txt"): (200, {"Content-Type": "text/plain"}, "User-agent: *\0\nDisallow:\0"),
    }
    with OddServer(answers) as server, empty_database(postgres_server, "nul") as url:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        settings = (f"DATABASE_URL={url}", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "HOST_DELAY=0", "WORKERS=1")
        done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *[x for s in settings for x in ("-s", s)])
    assert done.returncode == 0, done.stderr
    assert len(server.asked) <= 4
    assert "Traceback" not in done.stderr


def test_bug_in_the_spider_costs_a_page_and_not_the_crawl(tmp_path: Path) -> None:
    paths = [f"/{n}" for n in range(4)]
    answers = {("a.localhost", path): article(f"第{path[1:]}篇新闻") for path in paths}
    answers["a.localhost", "/"] = article("首页", *paths)
    code = """
from crawler.spiders.news import NewsSpider
parse = NewsSpider.parse
def broken(self, response):
    if response.url.endswith("/1"):
        raise ZeroDivisionError  # before the frontier has heard of the answer
    pages = parse(self, response)
    return pages if not response.url.endswith("/2") else 1 / 0
NewsSpider.parse = broken
"""
    with OddServer(answers) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        settings = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}")
        settings += ("HOST_DELAY=0", "WORKERS=1", "FETCH_TRIES=1", "SOFT_404_PROBE=False", "SAME_IP_DELAY=0.01")
        arguments = ["crawl", "news", "-a", f"seeds={seeds}", *[x for s in settings for x in ("-s", s)]]
        done = scrapy(tmp_path, *arguments, before=code)
    assert done.returncode == 3, done.stderr
    failed = rows(
        tmp_path, "SELECT substr(url, -2), reason, reason_detail FROM url WHERE state = 'failed' ORDER BY url"
    )
    assert failed == [(page, "internal error", "ZeroDivisionError") for page in ("/1", "/2")]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND state = 'done'") == [(3,)]


def test_page_that_cannot_even_be_stored_as_failed_is_not_fetched_for_ever(tmp_path: Path) -> None:
    answers = {("a.localhost", path): article(f"第{path[1:]}篇新闻") for path in ("/1", "/2")}
    answers["a.localhost", "/"] = article("首页", "/1", "/2")
    url = f"sqlite:///{tmp_path}/news.db"
    open_for_crawl(url, patience_seconds=10, waiting=print).close()
    with closing(sqlite3.connect(tmp_path / "news.db")) as connection:
        connection.execute(
            "CREATE TRIGGER broken BEFORE UPDATE OF http_status ON url WHEN OLD.url LIKE '%/1' "
            "BEGIN SELECT RAISE(ABORT, 'broken'); END"
        )
        connection.commit()
    with OddServer(answers) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        settings = (f"DATABASE_URL={url}", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "HOST_DELAY=0", "WORKERS=1")
        done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *[x for s in settings for x in ("-s", s)])
    assert done.returncode == 3, done.stderr
    assert server.paths().count("a/1") == 1
    assert rows(tmp_path, "SELECT state, reason, reason_detail FROM url WHERE url LIKE '%/1'") == [
        ("failed", "internal error", "IntegrityError")
    ]
    assert rows(tmp_path, "SELECT state FROM url WHERE url LIKE '%/2'") == [("done",)]
    assert "that could not be stored either" in done.stderr


@pytest.mark.slow
def test_too_few_file_handles_are_refused(newsroom: Newsroom, tmp_path: Path) -> None:
    arguments = crawl_arguments(newsroom, tmp_path)
    command = f"ulimit -n 100; exec {sys.executable} -m scrapy {' '.join(arguments)}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("scrapy crawl: only 100 files may be open at a time, 228")


def test_handles_are_seen_to_be_exhausted() -> None:
    assert not exhausted()
    code = """
import os, resource
from crawler.run.process import exhausted, raise_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
opened = []
while True:
    try:
        opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        break
print(exhausted(), raise_limit() > 20, exhausted())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]


@pytest.mark.slow
def test_crawls_beside_each_other_must_agree(newsroom: Newsroom, tmp_path: Path, postgres_server: str) -> None:
    with empty_database(postgres_server, "agree") as url:

        def arguments(*settings: str) -> list[str]:
            return crawl_arguments(newsroom, tmp_path, f"DATABASE_URL={url}", "MAX_PAGES=500", "WORKERS=1", *settings)

        first = start(tmp_path, *arguments("HOST_DELAY=0.7", "PROGRESS_SECONDS=0.2"))
        wait_for(lambda: " done" in said(first))
        other_limit = scrapy(tmp_path, *arguments("HOST_DELAY=0.7", "MAX_PAGES=600"))
        assert other_limit.returncode == 2
        (sentence,) = [line for line in other_limit.stderr.splitlines() if "MAX_PAGES" in line]
        assert "is crawling with MAX_PAGES 500, this one has 600; make them agree" in sentence
        second = start(tmp_path, *arguments("HOST_DELAY=0", "PROGRESS_SECONDS=0.2"))
        wait_for(lambda: "is crawling with HOST_DELAY 0.7, this one with 0" in said(second))
        wait_for(lambda: " done" in said(second) and " 0 done" not in said(second).rpartition("|")[0][-200:])
        status = scrapy(tmp_path, "status", "-s", f"DATABASE_URL={url}")
        assert status.stdout.count("running; its lease") == 2, status.stdout
        for running in (first, second):
            assert running.process.pid is not None
            running.process.terminate()
        assert {running.finish().returncode for running in (first, second)} <= {0, 3}


def odd_crawl(folder: Path, answers: dict, *settings: str, before: str = "", paths: str = "/") -> Finished:
    """Crawl some pages of a server; `paths`: those of the seeds."""
    with OddServer(answers) as server:
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(f"http://a.localhost:{server.port}{path}" for path in paths.split()))
        own = (f"DATABASE_URL=sqlite:///{folder}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "HOST_DELAY=0")
        own += ("WORKERS=1", "SOFT_404_PROBE=False", "SAME_IP_DELAY=0.01", *settings)
        return scrapy(
            folder, "crawl", "news", "-a", f"seeds={seeds}", *[x for s in own for x in ("-s", s)], before=before
        )


def pages(count: int) -> dict:
    """A home page with so many articles."""
    paths = [f"/{n}" for n in range(count)]
    answers = {("a.localhost", path): article(f"第{path[1:]}篇新闻") for path in paths}
    return answers | {("a.localhost", "/"): article("首页", *paths)}


HELPERS = {
    "crawler.learn.traps.crawl.TrapRegistry": ("keep", "write"),
    "crawler.learn.health.alarms.Alarms": ("run", "_catch_up"),
    "crawler.learn.site_memory.SiteMemory": ("_save",),
    "crawler.learn.learning.Learning": ("note",),
    "crawler.frontier.rescore.Rescorer": ("rescore", "close"),
    "crawler.frontier.progress.Progress": ("_draw",),
    "crawler.learn.rendering.Rendering": ("close",),
}
"""What a crawl can do without."""
ESSENTIAL = {
    "crawler.frontier.refill.Refiller": ("_refill", "keep_alive"),
    "crawler.frontier.held_hosts.HeldHosts": ("take",),
    "crawler.frontier.idle.Idle": ("look_around",),
    "crawler.frontier.pending.PendingUrls": ("add",),
    "crawler.frontier.scheduler.FrontierScheduler": ("_next_request",),
}
_BREAK = """
import importlib
def broken(*_, **__):
    raise IndexError("injected")
async def broken_later(*_, **__):
    raise IndexError("injected")
def fail(path, name):
    module, _, kind = path.rpartition(".")
    of = getattr(importlib.import_module(module), kind)
    is_coroutine = getattr(of, name).__code__.co_flags & 128
    replaced = broken_later if is_coroutine else broken
    replaced.__qualname__ = f"{kind}.{name}"
    setattr(of, name, replaced)
"""


@pytest.mark.parametrize("path", HELPERS)
def test_fault_in_a_helper_is_logged_and_the_crawl_goes_on(tmp_path: Path, path: str) -> None:
    code = _BREAK + "".join(f"fail({path!r}, {name!r})\n" for name in HELPERS[path])
    done = odd_crawl(tmp_path, pages(3), "RANK_EVERY_PAGES=1", before=code)
    assert done.returncode == 0, done.stderr
    assert "IndexError: injected; the crawl goes on without" in done.stderr
    assert "Traceback" in done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(3,)]
    assert rows(tmp_path, "SELECT outcome, exit_code FROM run") == [("finished", 0)]


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in ESSENTIAL.items() for name in names])
def test_fault_in_what_a_crawl_needs_ends_it_red(tmp_path: Path, path: str, name: str) -> None:
    done = odd_crawl(tmp_path, pages(3), before=_BREAK + f"fail({path!r}, {name!r})\n")
    assert done.returncode == 5, done.stderr
    assert "Failed: internal error (IndexError: injected)" in done.stderr
    ((outcome, code),) = rows(tmp_path, "SELECT outcome, exit_code FROM run")
    assert (outcome, code) == ("failed (internal error (IndexError: injected); the same command goes on)", 5)
    assert (
        "failed (internal error (IndexError: injected)"
        in scrapy(tmp_path, "status", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db").stdout
    )


def test_fault_at_the_beginning_ends_a_crawl_red(tmp_path: Path) -> None:
    code = _BREAK + "fail('crawler.run.session.Session', 'begin')\n"
    done = odd_crawl(tmp_path, pages(1), before=code)
    assert done.returncode == 5, done.stderr
    assert "internal error (IndexError: injected); nothing was begun" in done.stderr


@pytest.mark.parametrize(
    ("what", "robots", "status"), [("missing", "", 404), ("forbidden", "User-agent: *\nDisallow: /", 200)]
)
def test_crawl_whose_seeds_bring_no_page_has_failed(tmp_path: Path, what: str, robots: str, status: int) -> None:
    answers: dict = {("a.localhost", path): (status, {}, "<p>what it is") for path in ("/", "/x")}
    if robots:
        answers["a.localhost", "/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
    done = odd_crawl(tmp_path, answers, paths="/ /x")
    assert done.returncode == 6, (what, done.stderr)
    assert "Failed: no seed brought a page" in done.stderr
    assert rows(tmp_path, "SELECT outcome, exit_code FROM run") == [("failed (no seed brought a page)", 6)]
    done = odd_crawl(tmp_path, answers | pages(1), paths="/other")
    assert done.returncode == 6, "another one that is missing"


def test_one_page_of_one_seed_is_enough_and_a_later_crawl_without_news_is_no_failure(tmp_path: Path) -> None:
    answers = pages(1) | {("a.localhost", "/x"): (404, {}, "")}
    with OddServer(answers) as server:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/\nhttp://a.localhost:{server.port}/x\n")
        own = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "HOST_DELAY=0")
        own += ("REVISIT_AHEAD=0", "WORKERS=1", "SOFT_404_PROBE=False")
        arguments = ["crawl", "news", "-a", f"seeds={seeds}", *[x for s in own for x in ("-s", s)]]
        assert [scrapy(tmp_path, *arguments).returncode for _ in range(2)] == [0, 0]
