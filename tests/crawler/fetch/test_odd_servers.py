"""Servers as they are: robots.txt that redirects anywhere, retries, limits of every kind. Every crawl must end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawler.crawling import Finished, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer, article, redirect
from tests.table import each_row


def crawl(server: OddServer, folder: Path, *settings: str, seeds: str = "http://a.localhost:PORT/") -> Finished:
    """Crawl the server's hosts; fails when the crawl does not end."""
    path = folder / "seeds.txt"
    path.write_text(seeds.replace("PORT", str(server.port)), encoding="utf-8")
    chosen = (
        f"DATABASE_URL=sqlite:///{folder}/news.db",
        f"ALLOW_NETWORKS=127.0.0.1:{server.port}",
        "HOST_DELAY=0",
        "WORKERS=1",
        "CRAWL_PRESET=breadth",
        *settings,
    )
    return scrapy(folder, "crawl", "news", "-a", f"seeds={path}", *[x for s in chosen for x in ("-s", s)])


RULES = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private/\n")
ROBOTS_LEAD_TO = {
    "r1": "/",
    "r2": "/1",
    "r3": "http://b.localhost:PORT/robots.txt",
    "r4": "/robots.txt",
    "r5": "/r2",
}


@dataclass
class Crawled:
    """One crawl of hosts that are each odd in their own way: what they were asked, and what is in the database."""

    done: Finished
    asked: list[str]
    folder: Path

    def rows(self, sql: str, *values: str) -> list[tuple]:
        return rows(self.folder, sql.format(*values))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("odd")
    answers: dict = {
        ("a.localhost", "/robots.txt"): redirect("http://b.localhost:PORT/robots.txt"),
        ("b.localhost", "/robots.txt"): RULES,
        ("a.localhost", "/"): article("首页", "/private/1", "/2"),
        ("a.localhost", "/2"): article("第二篇"),
        ("m.localhost", "/sitemap.xml"): redirect("/"),
        ("m.localhost", "/start"): article("开头"),
        ("m.localhost", "/"): article("首页", "/only-here"),
        ("m.localhost", "/only-here"): article("只在这里"),
        ("t.localhost", "/"): article("首页", "/once", "/always"),
        ("t.localhost", "/once"): _once((500, {}, ""), article("好了")),
        ("t.localhost", "/always"): (503, {"Retry-After": "1"}, ""),
        ("s.localhost", "/"): redirect("http://s.localhost:PORT/home"),
        ("s.localhost", "/home"): article("首页", "/1"),
        ("s.localhost", "/1"): article("第一篇"),
        ("k.localhost", "/"): article("首页", "/wall", "/gate", "/private", "/moved"),
        ("k.localhost", "/moved"): (200, {}, "<meta http-equiv=refresh content='0;url=/there'>正在跳转"),
        ("k.localhost", "/there"): article("搬走的一篇"),
        ("k.localhost", "/wall"): _once(_cookie("seen", "/wall"), article("墙后的一篇")),
        ("k.localhost", "/gate"): _once(redirect("/check"), article("门后的一篇")),
        ("k.localhost", "/check"): _cookie("passed", "/gate"),
    }
    for host, target in ROBOTS_LEAD_TO.items():
        answers |= {
            (f"{host}.localhost", "/robots.txt"): redirect(target),
            (f"{host}.localhost", "/r2"): redirect("/robots.txt"),
            (f"{host}.localhost", "/"): article(f"{host}首页", "/1"),
            (f"{host}.localhost", "/1"): article(f"{host}第一篇"),
        }
    starts = ["a", "b", "m", "t", "s", "k", *ROBOTS_LEAD_TO]
    seeds = ["http://m.localhost:PORT/start", *[f"http://{host}.localhost:PORT/" for host in starts]]
    with OddServer(answers) as server:
        done = crawl(server, folder, "FETCH_TRIES=2", seeds="\n".join(seeds))
        assert done.returncode == 0, done.stderr
        return Crawled(done, server.paths(), folder)


@each_row("host", ROBOTS_LEAD_TO)
def test_robots_txt_that_redirects(crawled: Crawled, host: str) -> None:
    assert len([path for path in crawled.asked if path.startswith(f"{host}/")]) < 20
    states = "SELECT state, count(*) FROM url WHERE kind = 'page' AND url LIKE 'http://{}.%' GROUP BY state"
    assert dict(crawled.rows(states, host)) == {"done": 2}


def test_rules_behind_a_redirect_count_for_the_asking_host(crawled: Crawled) -> None:
    assert "a/2" in crawled.asked
    assert "a/private/1" not in crawled.asked


def test_sitemap_that_redirects_home_costs_no_page(crawled: Crawled) -> None:
    assert "m/only-here" in crawled.asked


def test_trouble_is_tried_again_and_then_given_up(crawled: Crawled) -> None:
    assert crawled.asked.count("t/always") == 2
    assert crawled.rows("SELECT state FROM url WHERE url LIKE '%/once'") == [("done",)]
    assert crawled.rows("SELECT state, reason, tries FROM url WHERE url LIKE '%/always'") == [
        ("failed", "http error", 2)
    ]


def test_seed_that_redirects_is_its_target(crawled: Crawled) -> None:
    assert crawled.rows("SELECT url FROM v_articles WHERE url LIKE 'http://s.%/1'") != []
    first = "SELECT state, reason FROM url WHERE depth = 0 AND url LIKE 'http://s.%'"
    assert ("skipped", "redirect") in crawled.rows(first)


def test_walls_that_ask_for_a_cookie_are_passed(crawled: Crawled) -> None:
    behind = "SELECT state, http_status FROM url WHERE url LIKE '%/wall' OR url LIKE '%/gate'"
    assert crawled.rows(behind) == [("done", 200)] * 2
    assert crawled.asked.count("k/wall") == crawled.asked.count("k/gate") == 2


def test_page_that_only_sends_on_is_followed(crawled: Crawled) -> None:
    assert crawled.rows("SELECT title FROM v_articles WHERE url LIKE '%/there'") == [("搬走的一篇",)]
    assert crawled.rows("SELECT state, reason FROM url WHERE url LIKE '%/moved'") == [("skipped", "redirect")]


def test_more_hosts_than_are_held(tmp_path: Path) -> None:
    answers = {
        (f"{host}.localhost", path): article(host + path, "/1", "/2") for host in "abcd" for path in ("/", "/1", "/2")
    }
    with OddServer(answers) as server:
        seeds = "\n".join(f"http://{host}.localhost:PORT/" for host in "abcd")
        done = crawl(server, tmp_path, "MAX_HOSTS=1", "MAX_PAGES_PER_HOST=2", seeds=seeds)
        assert done.returncode == 0, done.stderr
    counted = rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND state = 'done' GROUP BY host_id")
    assert counted == [(2,)] * 4


@pytest.mark.slow
def test_hosts_in_trouble_are_waited_for_and_then_given_up(tmp_path: Path) -> None:
    moods = iter([(503, {"Retry-After": "1"}, ""), (500, {}, "")])
    rules = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private/\n")
    answers = {
        ("a.localhost", "/robots.txt"): lambda: next(moods, rules),
        ("a.localhost", "/"): article("首页", "/private/1", "/2"),
        ("a.localhost", "/2"): article("第二篇"),
        ("b.localhost", "/robots.txt"): (500, {}, ""),
        ("c.localhost", "/robots.txt"): redirect("http://d.localhost:PORT/rules.txt"),
        ("d.localhost", "/rules.txt"): (502, {}, ""),
        ("e.localhost", "/robots.txt"): (200, {"Content-Type": "text/plain"}, "User-agent: *\nCrawl-delay: 99\n"),
    }
    with OddServer(answers) as server:
        seeds = "\n".join(f"http://{host}.localhost:PORT/" for host in "abce")
        done = crawl(server, tmp_path, 'HOST_BACKOFF={"seconds": 0.2, "backoffs": 3}', seeds=seeds)
        assert done.returncode == 0, done.stderr
        asked = server.paths()
    assert asked.count("a/robots.txt") == 3
    assert "a/2" in asked
    assert "a/private/1" not in asked
    assert {path for path in asked if path[0] in "bcde"} == {
        "b/robots.txt",
        "c/robots.txt",
        "d/robots.txt",
        "d/rules.txt",
        "e/robots.txt",
    }
    assert asked.count("b/robots.txt") == asked.count("d/rules.txt") == 4
    assert asked.count("c/robots.txt") == 1
    left = "SELECT DISTINCT substr(host.name, 1, 1), state, reason FROM url JOIN host ON host.id = host_id"
    assert sorted(rows(tmp_path, f"{left} WHERE kind = 'page' AND host.name NOT LIKE 'a%'")) == [
        ("b", "skipped", "robots unreachable"),
        ("c", "skipped", "robots unreachable"),
        ("e", "skipped", "crawl-delay too long"),
    ]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state IN ('pending', 'leased')") == [(0,)]
    assert "hosts given up" in done.stderr
    assert "Traceback" not in done.stderr


def _once(first: Answer, then: Answer) -> Callable[[], Answer]:
    """One answer the first time, another from then on."""
    answers = iter([first])
    return lambda: next(answers, then)


def _cookie(name: str, to: str) -> Answer:
    """A redirect that sets a cookie."""
    return 302, {"Location": to, "Set-Cookie": f"{name}=1; Path=/"}, ""


def test_url_that_is_a_page_of_an_earlier_seed_becomes_a_seed(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/"): article("首页", "/section"),
        ("a.localhost", "/section"): article("栏目", "/deep"),
        ("a.localhost", "/deep"): article("深处"),
    }
    with OddServer(answers) as server:
        crawl(server, tmp_path, "MAX_DEPTH=1")
        assert "a/deep" not in server.paths()
        crawl(server, tmp_path, "MAX_DEPTH=1", seeds="http://a.localhost:PORT/\nhttp://a.localhost:PORT/section")
        assert "a/deep" in server.paths()


@pytest.mark.slow
def test_retry_after_is_kept_over_a_restart(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/"): article("首页", "/busy", "/1", "/2"),
        ("a.localhost", "/busy"): (429, {"Retry-After": "600"}, ""),
    }
    with OddServer(answers) as server:
        path = tmp_path / "seeds.txt"
        path.write_text(f"http://a.localhost:{server.port}/", encoding="utf-8")
        chosen = (f"DATABASE_URL=sqlite:///{tmp_path}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}")
        arguments = ["crawl", "news", "-a", f"seeds={path}", *[x for s in chosen for x in ("-s", s)]]
        for _ in range(2):
            running = start(tmp_path, *arguments)
            deadline = time.monotonic() + 30
            while "a/busy" not in server.paths() and time.monotonic() < deadline:
                time.sleep(0.1)
            running.process.join(4)
            running.process.kill()
            running.process.join()
        busy = server.paths().index("a/busy")
        assert server.paths()[busy + 1 :] == []
