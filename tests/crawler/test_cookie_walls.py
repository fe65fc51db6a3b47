"""Walls that let in whoever brings back the cookies of a chain of redirects: whole crawls of a site behind them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.crawler.crawling import command, rows
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import crawl, lists, page

Answers = dict[tuple[str, str], Answer | Callable[[], Answer]]
MOST_ASKED = 40
"""Requests of a crawl of a site that never lets anybody in."""


def step(to: str, cookie: str = "") -> Answer:
    return 302, {"Location": to, **({"Set-Cookie": f"{cookie}; Path=/"} if cookie else {})}, ""


def refresh(to: str, cookie: str) -> Answer:
    return 200, {"Set-Cookie": f"{cookie}; Path=/"}, f'<meta http-equiv="refresh" content="0;url={to}"><p>wait</p>'


class Wall:
    """A site of which one article stands behind a wall."""

    def __init__(self) -> None:
        self.answers: Answers = {
            ("a.localhost", "/list/0.html"): lists(0, ["/open/1.html", "/walled/2.html"]),
            ("a.localhost", "/open/1.html"): page(1),
            ("a.localhost", "/robots.txt"): (404, {}, ""),
            ("b.localhost", "/robots.txt"): (404, {}, ""),
        }
        self.server = OddServer(self.answers)

    def lets_in(self, cookie: str, wall: Callable[[], Answer]) -> None:
        """Show the article to whom has a cookie."""
        self.answers["a.localhost", "/walled/2.html"] = lambda: (
            page(2) if cookie in self.server.cookies.split("; ") else wall()
        )

    def crawl(self, folder: Path, **settings: str) -> list[str]:
        """Crawl the site; return the paths of its stored articles."""
        with self.server:
            done = crawl(self.server, folder, "a.localhost", **settings)
        assert done.returncode == 0, done.stderr
        found = rows(folder, "SELECT url FROM url JOIN article ON article.id = url.id ORDER BY url")
        return [url.partition(str(self.server.port))[2] for (url,) in found]


@pytest.fixture
def wall() -> Wall:
    return Wall()


BOTH = ["/open/1.html", "/walled/2.html"]


def test_chain_over_several_pages_leads_back(wall: Wall, tmp_path: Path) -> None:
    wall.lets_in("c=2", lambda: step("/step1", "c=0"))
    wall.answers["a.localhost", "/step1"] = step("/step2", "c=1")
    wall.answers["a.localhost", "/step2"] = step("/walled/2.html", "c=2")
    assert wall.crawl(tmp_path) == BOTH


def test_chain_goes_round_as_often_as_it_sets_cookies(wall: Wall, tmp_path: Path) -> None:
    rounds = count()
    wall.lets_in("c=2", lambda: step("/step"))
    wall.answers["a.localhost", "/step"] = lambda: step("/walled/2.html", f"c={next(rounds)}")
    assert wall.crawl(tmp_path) == BOTH


def test_chain_over_another_host_leads_back(wall: Wall, tmp_path: Path) -> None:
    wall.lets_in("c=1", lambda: step("http://b.localhost:PORT/login", "c=0"))
    wall.answers["b.localhost", "/login"] = step("http://b.localhost:PORT/checked", "b=1")
    wall.answers["b.localhost", "/checked"] = step("http://a.localhost:PORT/in?ticket=5")
    wall.answers["a.localhost", "/in?ticket=5"] = step("/walled/2.html", "c=1")
    assert wall.crawl(tmp_path) == BOTH


def test_detour_to_another_host_stores_nothing_of_it_and_ends(wall: Wall, tmp_path: Path) -> None:
    shown = [f"/out/{number}.html" for number in range(20)]
    wall.answers["a.localhost", "/list/0.html"] = lists(0, ["/open/1.html", *shown])
    for number, path in enumerate(shown):
        wall.answers["a.localhost", path] = step(f"http://b.localhost:PORT/{number}.html", f"seen={number}")
        wall.answers["b.localhost", f"/{number}.html"] = page(10 + number)
    assert wall.crawl(tmp_path) == BOTH[:1]
    assert rows(tmp_path, "SELECT DISTINCT state, reason FROM url WHERE url LIKE '%//b.%' AND kind = 'page'") == [
        ("skipped", "outside")
    ]
    assert len([path for path in wall.server.paths() if path.startswith("b/") and path != "b/robots.txt"]) <= 5


def test_page_that_shows_itself_again_sets_one_cookie_after_the_other(wall: Wall, tmp_path: Path) -> None:
    rounds = count()
    wall.lets_in("c=3", lambda: refresh("/walled/2.html", f"c={next(rounds)}"))
    assert wall.crawl(tmp_path) == BOTH


def test_chain_by_refreshes_leads_back(wall: Wall, tmp_path: Path) -> None:
    wall.lets_in("c=2", lambda: refresh("/step1", "c=0"))
    wall.answers["a.localhost", "/step1"] = refresh("/step2", "c=1")
    wall.answers["a.localhost", "/step2"] = refresh("/walled/2.html", "c=2")
    assert wall.crawl(tmp_path) == BOTH


@pytest.mark.parametrize("values", [["0"], ["0", "1"], None])
def test_chain_without_end_ends(wall: Wall, tmp_path: Path, values: list[str] | None) -> None:
    rounds = count()

    def cookie() -> str:
        number = next(rounds)
        return f"c={values[number % len(values)] if values else number}"

    wall.lets_in("never", lambda: step("/step1", cookie()))
    wall.answers["a.localhost", "/step1"] = lambda: step("/step2", cookie())
    wall.answers["a.localhost", "/step2"] = lambda: step("/walled/2.html", cookie())
    assert wall.crawl(tmp_path) == BOTH[:1]
    assert len(wall.server.asked) < MOST_ASKED


def test_wall_is_passed_again_by_a_crawl_without_its_cookies(wall: Wall, tmp_path: Path) -> None:
    back = ["/walled/2.html"]
    wall.lets_in("c=2", lambda: step("/step1", "c=0"))
    wall.answers["a.localhost", "/step1"] = step("/step2", "c=1")
    wall.answers["a.localhost", "/step2"] = lambda: step(back[-1], "c=2")
    with wall.server:
        crawl(wall.server, tmp_path, "a.localhost")
        back.append("/walled/3.html")
        wall.answers["a.localhost", "/list/0.html"] = lists(0, ["/open/1.html", *back])
        wall.answers["a.localhost", "/walled/3.html"] = lambda: (
            page(3) if "c=2" in wall.server.cookies.split("; ") else step("/step1", "c=0")
        )
        done = command("recrawl", "--lists", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        assert not done.returncode, done.stderr
        crawl(wall.server, tmp_path, "a.localhost")
    assert rows(tmp_path, "SELECT count(*) FROM article") == [(3,)]
