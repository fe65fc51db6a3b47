"""A site that changes: the same command again, and a crawl that watches."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError

from crawler.run.command import seconds
from tests.crawler.crawling import rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import lists, page
from tests.waiting import wait_for

HOST = "a.localhost"
NO_ANSWER: Answer = (503, {}, "")


class ChangingSite:
    """A home page with articles, some of which become something else in its second `phase`."""

    def __init__(self) -> None:
        self.phase = 1
        self.articles = 8
        answers: dict[tuple[str, str], Answer | Callable[[], Answer]] = {
            (HOST, "/robots.txt"): (404, {}, ""),
            (HOST, "/"): lambda: lists(0, [f"/n/{n}.html" for n in range(self.articles)]),
            (HOST, "/m/4.html"): page(44),
            **{(HOST, f"/n/{n}.html"): page(n) for n in range(40)},
        }
        later: dict[int, Answer] = {
            1: (200, {}, page(1)[2].replace("。</p>", "。更正：此前数字有误。</p>", 1)),
            2: (410, {}, ""),
            3: (404, {}, ""),
            4: (301, {"Location": "/m/4.html"}, ""),
            5: (302, {"Location": "/m/4.html"}, ""),
            6: (200, {}, page(6)[2].replace("</body>", "<p>阅读 1207 次</p></body>")),
            7: NO_ANSWER,
        }
        for n, answer in later.items():
            answers[HOST, f"/n/{n}.html"] = lambda n=n, answer=answer: page(n) if self.phase == 1 else answer
        self.server = OddServer(answers)

    def command(self, folder: Path, *arguments: str) -> list[str]:
        seeds = folder / "seeds.txt"
        seeds.write_text(f"http://{HOST}:{self.server.port}/", encoding="utf-8")
        given = (
            f"DATABASE_URL=sqlite:///{folder}/news.db",
            f"ALLOW_NETWORKS=127.0.0.1:{self.server.port}",
            "HOST_DELAY=0",
            "CRAWL_PRESET=breadth",
            "WORKERS=1",
            "FETCH_TRIES=1",
        )
        settings = [x for setting in given for x in ("-s", setting)]
        return ["crawl", "news", "-a", f"seeds={seeds}", *settings, *arguments]


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    changing = ChangingSite()
    with changing.server:
        yield changing


def test_crawl_that_watches_and_the_same_command_again(site: ChangingSite, tmp_path: Path) -> None:
    """One after the other, for a crawl takes long to start: news as it appears, then what has become of it."""
    often = [x for one in ("REVISIT_MIN=1", "REVISIT_MAX=1", "REVISIT_ARTICLES=0") for x in ("-s", one)]
    running = start(tmp_path, *site.command(tmp_path, "-a", "mode=watch", *often))
    for wanted in (8, 10, 11):
        site.articles = wanted
        wait_for(lambda wanted=wanted: _stored(tmp_path) >= wanted or not running.process.is_alive())
        assert running.process.is_alive()
    assert running.send(signal.SIGTERM)
    done = running.finish()
    assert done.returncode == 0, done.stderr
    assert "Stopped watching" in done.stderr
    paths = site.server.paths()
    assert paths.count("a/n/10.html") == 1  # articles are fetched once, lists again and again
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state IN ('pending', 'leased')") == [(0,)]
    assert rows(tmp_path, "SELECT brought FROM url WHERE depth = 0 AND kind = 'page'")[0][0] == pytest.approx(
        3, abs=0.1
    )
    database = ["-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db"]
    assert scrapy(tmp_path, "recrawl", "--articles", *database).stdout.startswith("11 URLs will be visited again")
    site.phase, site.articles = 2, 12
    site.server.asked.clear()
    again = scrapy(tmp_path, *site.command(tmp_path))
    assert again.returncode == 0, again.stderr
    assert sorted(site.server.paths()) == sorted(
        ["a/", "a/m/4.html", *(f"a/n/{n}.html" for n in range(12))]
    )  # each once, robots.txt not at all
    path = "substr(u.url, instr(substr(u.url, 8), '/') + 7)"
    found = rows(
        tmp_path,
        f"SELECT {path}, a.gone IS NOT NULL, u.state, "
        "(SELECT count(*) FROM article_version v WHERE v.article_id = a.id) "
        "FROM article a JOIN url u ON u.id = a.id ORDER BY 1",
    )
    as_it_was = {f"/n/{n}.html": (0, "done", 0) for n in (0, 3, *range(5, 12))}
    changed = {"/n/1.html": (0, "done", 1), "/n/2.html": (1, "failed", 0), "/m/4.html": (0, "done", 1)}
    assert {row[0]: row[1:] for row in found} == as_it_was | changed
    why = scrapy(tmp_path, "why", f"{HOST}:{site.server.port}/n/1.html", *database)
    assert "更正：此前数字有误。" in why.stdout
    assert "next visit" in why.stdout


def _stored(folder: Path) -> int:
    if not (folder / "news.db").exists():
        return 0
    tables = rows(folder, "SELECT count(*) FROM sqlite_master WHERE name = 'article'")
    return rows(folder, "SELECT count(*) FROM article")[0][0] if tables == [(1,)] else 0


def test_mode_that_is_none_is_refused(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "news", "-a", "seeds=demo", "-a", "mode=forever")
    assert done.returncode == 2
    assert "mode is 'forever'; it takes once or watch" in done.stderr


def test_recrawl_says_how_many_and_refuses_what_it_does_not_understand(tmp_path: Path) -> None:
    database = ["-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db"]
    nothing = scrapy(tmp_path, "recrawl", *database)
    assert nothing.returncode == 2
    assert not (tmp_path / "news.db").exists()
    with pytest.raises(UsageError, match="it takes a number"):
        seconds("--since", "soon")
    assert seconds("--since", " 2W ") == 14 * 86_400
