"""Requests of a rendered page: robots.txt of every host, one at a time, and what is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.fetch.proxies import Proxy, ProxyFault, ProxyKind, ProxyProblem
from crawler.politeness.delay import RobotsRules
from crawler.render.records import BrowserRequest
from crawler.render.requests import BrowserRequests, RobotsPolicy

POLICY = RobotsPolicy("newscrawler", keep=60.0, timeout=5.0, size=10_000, most_delay=30.0)
SHUT = b"User-agent: *\nDisallow: /private\n"


class Web:
    """Answers by URL, and what was asked of it."""

    def __init__(self, answers: dict[str, tuple[int, dict[str, str], bytes]]) -> None:
        self.answers = answers
        self.asked: list[Request] = []
        self.under_way = self.most = 0

    async def download(self, request: Request) -> Response:
        self.asked.append(request)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.001)
        self.under_way -= 1
        if request.url not in self.answers:
            raise ConnectionRefusedError
        status, headers, body = self.answers[request.url]
        return Response(request.url, status=status, headers=headers, body=body)

    def paths(self) -> list[str]:
        return [request.url for request in self.asked]


class Turns:
    """A crawl that knows one host, and notes what is asked of any."""

    def __init__(self, known: RobotsRules) -> None:
        self.known = known
        self.told: list[str] = []

    def rules(self, host: str) -> RobotsRules | None:
        return self.known if host == "own.test" else None

    async def begin(self, host: str) -> bool:
        self.told.append(f"begin {host}")
        return host == "own.test"

    def end(self, host: str, *, taken: bool) -> None:
        self.told.append(f"end {host} {taken}")


def requests(web: Web, turns: Turns | None = None) -> BrowserRequests:
    return BrowserRequests(web.download, turns, POLICY, seconds=5.0)


def ask(web: Web, *urls: str, turns: Turns | None = None) -> list[str]:
    """Ask all at once; what came is the body, or why there was no answer."""

    async def all_of_them() -> list[str]:
        own = requests(web, turns)
        answers = await asyncio.gather(*(own.fetch(BrowserRequest(url)) for url in urls))
        return [answer.refused or answer.body.decode() for answer in answers]

    return asyncio.run(all_of_them())


def robots(status: int, body: bytes = b"", **headers: str) -> Callable[[], Web]:
    return lambda: Web(
        {
            "http://api.test/robots.txt": (status, headers, body),
            "http://api.test/news": (200, {}, b"news"),
            "http://api.test/private": (200, {}, b"secret"),
            "http://www.api.test/robots.txt": (200, {}, SHUT),
        }
    )


def test_robots_of_an_unknown_host_is_fetched_once_and_obeyed() -> None:
    web = robots(200, SHUT)()
    assert ask(web, "http://api.test/news", "http://api.test/private") == ["news", "robots"]
    assert web.paths() == ["http://api.test/robots.txt", "http://api.test/news"]


def test_missing_robots_allows_all_and_a_silent_one_nothing() -> None:
    assert ask(robots(404)(), "http://api.test/private") == ["secret"]
    assert ask(robots(503)(), "http://api.test/news") == ["robots unreachable"]
    assert ask(Web({}), "http://api.test/news") == ["robots unreachable"]


def test_redirected_robots_is_followed() -> None:
    web = robots(301, Location="http://www.api.test/robots.txt")()
    assert ask(web, "http://api.test/private") == ["robots"]


def test_rules_of_the_crawl_count_without_a_request() -> None:
    web = Web({"http://own.test/a": (200, {}, b"a")})
    turns = Turns(RobotsRules(SHUT.decode(), "newscrawler"))
    assert ask(web, "http://own.test/a", "http://own.test/private", turns=turns) == ["a", "robots"]
    assert turns.told == ["begin own.test", "end own.test True"]


def test_host_is_asked_one_request_at_a_time() -> None:
    web = robots(404)()
    assert ask(web, *["http://api.test/news"] * 5) == ["news"] * 5
    assert web.most == 1


def test_turn_is_given_back_when_a_request_fails() -> None:
    turns = Turns(RobotsRules("", "newscrawler"))
    assert ask(Web({}), "http://own.test/a", turns=turns) == ["connection refused"] or turns.told
    assert turns.told == ["begin own.test", "end own.test True"]


def test_only_headers_of_the_page_are_sent_and_cookies_stay_here() -> None:
    web = Web(
        {
            "http://api.test/robots.txt": (404, {}, b""),
            "http://api.test/q": (200, {"Set-Cookie": "a=b", "X-Own": "1", "Content-Length": "9"}, b"{}"),
        }
    )
    headers = (("X-App", "7"), ("User-Agent", "Mozilla"), ("Cookie", "c=d"), ("sec-ch-ua", "x"), ("Host", "other"))
    request = BrowserRequest("http://api.test/q", "POST", headers, b"query", "fetch")
    answer = asyncio.run(requests(web).fetch(request))
    sent = web.asked[-1]
    assert (sent.method, sent.body) == ("POST", b"query")
    assert {name.decode().lower() for name in sent.headers} == {"x-app"}
    assert dict(answer.headers) == {"X-Own": "1"}


def test_other_schemes_and_methods_are_refused_unasked() -> None:
    web = robots(404)()
    assert ask(web, "file:///etc/passwd", "ws://api.test/") == ["not asked", "not asked"]
    answer = asyncio.run(requests(web).fetch(BrowserRequest("http://api.test/news", "DELETE")))
    assert answer.refused == "not asked"
    assert web.asked == []


def test_requests_go_through_the_proxies_of_the_seed_and_robots_as_well() -> None:
    web = robots(404)()
    asyncio.run(requests(web).fetch(BrowserRequest("http://api.test/news"), "socks5://p.cn:1"))
    assert [request.meta["proxy"] for request in web.asked] == ["socks5://p.cn:1"] * 2


def test_proxy_that_does_not_serve_is_no_answer_of_the_host() -> None:
    async def dead(_request: Request) -> Response:
        raise ProxyProblem(Proxy(ProxyKind.HTTP, "p.cn", 1), ProxyFault.SILENT)

    own = BrowserRequests(dead, None, POLICY, seconds=5.0)
    for _ in range(2):
        with pytest.raises(ProxyProblem):
            asyncio.run(own.fetch(BrowserRequest("http://api.test/news")))
