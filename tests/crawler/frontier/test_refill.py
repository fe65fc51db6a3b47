"""Refilling the queues against a model that is nothing but a list of URLs; real database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from scrapy import Request

from db.records.keys import fingerprint
from db.records.url import Kind
from tests.crawler.driving import SEED, Driver, new_database, page_urls, rows
from tests.db.frontier_rows import new_url
from tests.table import each_row

HOSTS = ("seed.example", "a.example", "b.example", "c.example")
SCORES = st.integers(0, 20).map(lambda n: n / 10)


@dataclass
class Url:
    """A URL as anybody would describe it."""

    host: str
    score: float
    state: str = "waits"


class RefillMachine(RuleBasedStateMachine):
    """Random lives of a frontier: what is handed out is the best there is, and all of it is handed out once."""

    @initialize(window=st.integers(1, 3), hosts=st.integers(1, 4))
    def begin(self, window: int, hosts: int) -> None:
        self.driver = Driver(new_database(), HOST_WINDOW=window, MAX_HOSTS=hosts, CONCURRENT_REQUESTS=3)
        self.pending = self.driver.crawl.pending
        self.urls = {fingerprint(SEED): Url("seed.example", 1.0)}
        self.rules: dict[str, str] = {}
        self.under_way: list[Request] = []
        self.numbers = 0
        for host in HOSTS:
            self.find(host, [0.5] * 4)
        for _ in HOSTS:
            self.ask()
            self.answer_all(Kind.ROBOTS)

    def settle(self) -> None:
        """Let it do all that it can; then table, memory and model must agree."""
        self.driver.settle()
        path = self.driver.path
        leased = {key for (key,) in rows(path, "SELECT id FROM url WHERE state = 'leased'")}
        assert sorted(self.pending.queues.leased_ids()) == sorted(leased)
        ((waiting,),) = rows(path, "SELECT count(*) FROM url WHERE state = 'pending'")
        assert self.pending.count == waiting
        states = dict(rows(path, "SELECT id, state FROM url WHERE kind = 'page'"))
        done = {key for key, url in self.urls.items() if url.state == "done"}
        assert {key for key, state in states.items() if state not in {"pending", "leased"}} == done
        assert states.keys() == self.urls.keys()
        if self.driver.crawl.idle.exhausted:
            assert done == self.urls.keys()

    @property
    def ended(self) -> bool:
        return self.driver.crawl.idle.exhausted

    @precondition(lambda self: any(url.state != "done" for url in self.urls.values()))  # else the crawl ends just now
    @rule(host=st.sampled_from(HOSTS), scores=st.lists(SCORES, min_size=1, max_size=8))
    def find(self, host: str, scores: list[float]) -> None:
        new = []
        for score in scores:
            self.numbers += 1
            new.append(new_url(f"http://{host}/{self.numbers}", score=score))
            self.urls[new[-1].id] = Url(host, score)
        self.driver.run(self.pending.add(new))
        self.settle()

    @rule()
    def ask(self) -> None:
        """The best of all hosts that are held and have no request under way; or nothing, if there is nothing."""
        self.settle()
        request = self.driver.next()
        busy = {one.meta["lease"].url.split("/")[2] for one in self.under_way}
        held = {host.name for host in self.pending.queues.hosts.values()} - busy
        known = {host for host in held if self.rules.get(host) == "known"}
        best = max(
            (url.score for url in self.urls.values() if url.state == "waits" and url.host in known), default=None
        )
        if len(self.under_way) == 3:
            assert request is None
        elif request is None:
            assert best is None
            assert all(self.rules.get(host) for host in held)
        elif request.meta["lease"].kind == Kind.ROBOTS:
            host = request.url.split("/")[2]
            assert self.rules.get(host) is None
            self.rules[host] = "asked"
            self.under_way.append(request)
        else:
            lease = request.meta["lease"]
            assert lease.score == best
            assert self.urls[lease.id].state == "waits"
            self.urls[lease.id].state = "under way"
            self.under_way.append(request)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def answer(self, data: Any) -> None:
        self.complete(data.draw(st.sampled_from(self.under_way)))

    def answer_all(self, *kinds: str) -> None:
        for request in [one for one in self.under_way if one.meta["lease"].kind in kinds]:
            self.complete(request)

    def complete(self, request: Request) -> None:
        self.under_way.remove(request)
        lease = request.meta["lease"]
        if lease.kind == Kind.ROBOTS:
            self.rules[request.url.split("/")[2]] = "known"
        else:
            self.urls[lease.id].state = "done"
        self.driver.answer(request)

    @rule(host=st.sampled_from(HOSTS))
    def reconsider(self, host: str) -> None:
        """What is queued of a host is looked at again; none of it is lost."""

        async def do() -> None:
            self.pending.reconsider(fingerprint(host))

        self.driver.run(do())

    def teardown(self) -> None:
        """Whatever happened: everything is handed out, then the crawl is exhausted, and says so."""
        if not hasattr(self, "driver"):
            return
        for _ in range(20 * len(self.urls) + 40):
            if self.ended:
                break
            self.ask()
            self.answer_all(Kind.ROBOTS, Kind.PAGE)
        assert self.ended
        self.driver.close()
        assert {url.state for url in self.urls.values()} == {"done"}
        assert self.driver.stats["crawl/exit_code"] == 6, "all its pages are missing"
        assert rows(self.driver.path, "SELECT outcome FROM run") == [("failed (no seed brought a page)",)]


RefillMachine.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 10,
    stateful_step_count=15,
    phases=(Phase.explicit, Phase.generate),
)
TestRefill = RefillMachine.TestCase


@pytest.fixture
def driver() -> Any:
    driven = Driver(new_database(), HOST_WINDOW=2)
    yield driven
    driven.close("stopped")
    assert rows(driven.path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]


def learn_rules(driver: Driver) -> None:
    """Answer requests for robots.txt until there are none."""
    driver.settle()
    while (request := driver.next()) is not None and request.meta["lease"].kind == Kind.ROBOTS:
        driver.answer(request)
        driver.settle()
    if request is not None:
        driver.answer(request)
        driver.settle()


def test_orphaned_leases_are_put_back(driver: Driver) -> None:
    """The answer to a lease request is lost with the connection: the table holds what nobody knows."""
    driver.run(driver.crawl.pending.add(page_urls("seed.example", range(9))))
    learn_rules(driver)
    queues = driver.crawl.pending.queues
    lost = queues.take_all(fingerprint("seed.example"))
    assert lost
    session = driver.crawl.session
    session.line._waits("the database does not answer")
    session.line._waits("")
    driver.run(driver.crawl.pending.add(page_urls("seed.example", [99])))
    driver.settle()
    leased = {key for (key,) in rows(driver.path, "SELECT id FROM url WHERE state = 'leased'")}
    assert leased == set(queues.leased_ids())
    assert {one.id for one in lost} & leased, "they are leased anew"


@each_row(
    ("limit", "order"),
    [
        ({"MAX_PAGES": 5}, [9, 8, 7, 6]),
        ({"MAX_PAGES_PER_HOST": 5}, [9, 8, 7, 6]),
        ({}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ],
)
def test_better_urls_found_late_take_the_places_that_limits_gave_to_worse_ones(
    limit: dict[str, int], order: list[int]
) -> None:
    """The seed is one page of the limit. The other four places are taken by 0 to 3 when 4 to 9 are found."""
    driver = Driver(new_database(), HOST_WINDOW=4, **limit)
    pending = driver.crawl.pending
    driver.run(pending.add([new_url(f"http://seed.example/{n}", score=n / 10) for n in range(4)]))
    learn_rules(driver)
    driver.run(pending.add([new_url(f"http://seed.example/{n}", score=n / 10) for n in range(4, 10)]))
    driver.settle()
    fetched = []
    while (request := driver.next()) is not None:
        fetched.append(int(request.url.rpartition("/")[2]))
        driver.answer(request)
        driver.settle()
    assert fetched == order
    driver.close()


def test_crawl_does_not_end_while_urls_are_being_added(driver: Driver) -> None:
    """A probe or a sitemap that is on its way into the table when the last page is stored."""
    pending, added = driver.crawl.pending, asyncio.Event()
    driver.settle()
    robots = driver.next()
    assert robots is not None
    driver.answer(robots)
    driver.settle()
    seed = driver.next()
    assert seed is not None

    async def add_slowly() -> None:
        await asyncio.sleep(0.3)
        await pending.add(page_urls("seed.example", [99]))
        added.set()

    async def start() -> None:
        pending.start_adding(add_slowly())

    driver.run(start())
    driver.answer(seed)
    driver.run(added.wait())
    assert not driver.crawl.idle.exhausted
    driver.settle()
    request = driver.next()
    assert request is not None
    assert request.url.endswith("/99")


def test_dead_hosts_are_given_up_when_nothing_else_is_left() -> None:
    driver = Driver(new_database(), HOST_BACKOFF={"failures": 1, "wait": 0})
    driver.settle()
    request = driver.next()
    assert request is not None
    driver.answer(request, status=0, error="timed out")
    driver.settle()
    driver.close()
    assert driver.crawl.session.stats["hosts given up"] == 1
    assert rows(driver.path, "SELECT state, reason FROM url WHERE kind = 'page'") == [("skipped", "robots unreachable")]
    assert driver.stats["crawl/exit_code"] == 6
