"""Servers as they are: robots.txt that redirects anywhere, retries, limits of every kind. Every crawl must end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.crawler.crawling import Finished, rows, scrapy, start
from tests.crawler.odd_server import OddServer, article, redirect


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
    return scrapy(folder, "crawl", "news", "-a", f"seeds={path}", *[x for s in chosen for x in ("-s", s)], timeout=90)


@pytest.mark.parametrize("target", ["/", "/1", "http://b.localhost:PORT/robots.txt", "/robots.txt", "/r2"])
def test_a_robots_txt_that_redirects(tmp_path: Path, target: str) -> None:
    answers = {
        ("a.localhost", "/robots.txt"): redirect(target),
        ("a.localhost", "/r2"): redirect("/robots.txt"),
        ("a.localhost", "/"): article("首页", "/1"),
        ("a.localhost", "/1"): article("第一篇"),
    }
    with OddServer(answers) as server:
        done = crawl(server, tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.asked) < 20
    assert dict(rows(tmp_path, "SELECT state, count(*) FROM url WHERE kind = 'page' GROUP BY state")) == {"done": 2}


def test_rules_behind_a_redirect_count_for_the_asking_host(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/robots.txt"): redirect("http://b.localhost:PORT/robots.txt"),
        ("b.localhost", "/robots.txt"): (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private/\n"),
        ("a.localhost", "/"): article("首页", "/private/1", "/2"),
        ("a.localhost", "/2"): article("第二篇"),
    }
    with OddServer(answers) as server:
        assert crawl(server, tmp_path, seeds="a.localhost:PORT\nb.localhost:PORT").returncode == 0
        assert "a/2" in server.paths()
        assert "a/private/1" not in server.paths()


def test_a_sitemap_that_redirects_home_costs_no_page(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/sitemap.xml"): redirect("/"),
        ("a.localhost", "/start"): article("开头"),
        ("a.localhost", "/"): article("首页", "/only-here"),
        ("a.localhost", "/only-here"): article("只在这里"),
    }
    with OddServer(answers) as server:
        crawl(server, tmp_path, seeds="http://a.localhost:PORT/start\nhttp://a.localhost:PORT/")
        assert "a/only-here" in server.paths()


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


def test_trouble_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/"): article("首页", "/once", "/always"),
        ("a.localhost", "/once"): _once_failing(article("好了")),
        ("a.localhost", "/always"): (503, {"Retry-After": "1"}, ""),
    }
    with OddServer(answers) as server:
        done = crawl(server, tmp_path, "FETCH_TRIES=2")
        assert done.returncode == 0, done.stderr
        assert server.paths().count("a/always") == 2
    assert rows(tmp_path, "SELECT state FROM url WHERE url LIKE '%/once'") == [("done",)]
    assert rows(tmp_path, "SELECT state, reason, tries FROM url WHERE url LIKE '%/always'") == [
        ("failed", "http 503", 2)
    ]


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
        done = crawl(server, tmp_path, "HOST_REST=0.2", "HOST_GIVE_UP=3", seeds=seeds)
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


def _once_failing(then: tuple) -> object:
    """An answer that is an error the first time."""
    answers = iter([(500, {}, "")])
    return lambda: next(answers, then)


def test_a_seed_that_redirects_is_its_target(tmp_path: Path) -> None:
    answers = {
        ("a.localhost", "/"): redirect("http://a.localhost:PORT/home"),
        ("a.localhost", "/home"): article("首页", "/1"),
        ("a.localhost", "/1"): article("第一篇"),
    }
    with OddServer(answers) as server:
        assert crawl(server, tmp_path).returncode == 0
    assert rows(tmp_path, "SELECT url FROM v_articles WHERE url LIKE '%/1'") != []
    assert ("skipped", "redirect") in rows(tmp_path, "SELECT state, reason FROM url WHERE depth = 0")


def test_a_url_that_is_a_page_of_an_earlier_seed_becomes_a_seed(tmp_path: Path) -> None:
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
