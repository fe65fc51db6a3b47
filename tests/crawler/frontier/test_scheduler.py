"""The scheduler against a model of what may become of a request; real database, faults in spider and stages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider

from crawler.fetch.downloader import WAKE
from db.records.keys import fingerprint
from db.records.url import Kind
from tests.crawler.driving import SEED, Driver, new_database, page_urls, rows

HOSTS = ("seed.example", "a.example", "b.example")
MOST = 4
TRIES = 3


class SchedulerMachine(RuleBasedStateMachine):
    """Whatever becomes of requests, each URL has one outcome in the end, and none is asked for twice at a time."""

    @initialize(pages=st.integers(1, 6))
    def begin(self, pages: int) -> None:
        self.driver = Driver(
            new_database(),
            CONCURRENT_REQUESTS=MOST,
            HOST_CONNECTIONS=3,
            FETCH_TRIES=TRIES,
            HOST_BACKOFF={"failures": 10_000},
        )
        found = [new for host in HOSTS for new in page_urls(host, range(pages))]
        self.driver.run(self.driver.crawl.pending.add(found))
        self.expected = {fingerprint(SEED), *(new.id for new in found)}
        self.under_way: list[Request] = []
        self.failed: set[int] = set()
        self.tries: dict[int, int] = {}

    @rule()
    def ask(self) -> None:
        self.driver.settle()
        request = self.driver.next()
        if len(self.under_way) == MOST:
            assert request is None
        elif request is not None:
            lease = request.meta["lease"]
            assert lease.id not in {one.meta["lease"].id for one in self.under_way}
            self.tries[lease.id] = self.tries.get(lease.id, 0) + 1
            assert self.tries[lease.id] <= TRIES
            self.under_way.append(request)

    def take(self, data: Any) -> Request:
        return self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def answer(self, data: Any) -> None:
        self.driver.answer(self.take(data))

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), heard=st.booleans())
    def spider_raises(self, data: Any, *, heard: bool) -> None:
        """Before the crawl has heard of the answer, or after."""
        request = self.take(data)
        if request.meta["lease"].kind == Kind.ROBOTS:  # what becomes of a host without rules takes its time
            self.driver.answer(request)
            return
        if heard:
            request.meta["answered"] = True
            self.driver.hear(request)
        failure = SimpleNamespace(type=ZeroDivisionError)
        self.driver.signal(signals.spider_error, failure=failure, response=SimpleNamespace(request=request))
        if self.tries[request.meta["lease"].id] == TRIES:
            self.failed.add(request.meta["lease"].id)

    @rule()
    def look(self) -> None:
        """Nobody but this machine has leased anything."""
        self.driver.settle()
        crawl, path = self.driver.crawl, self.driver.path
        assert crawl.pending.queues.in_flight == {one.meta["lease"].id for one in self.under_way}
        leased = {key for (key,) in rows(path, "SELECT id FROM url WHERE state = 'leased'")}
        assert set(crawl.pending.queues.leased_ids()) == leased
        assert self.driver.scheduler.has_pending_requests() is not crawl.idle.exhausted

    def teardown(self) -> None:
        """A crawl that is stopped releases what it has leased, and no page that was stored is lost."""
        if not hasattr(self, "driver"):
            return
        self.look()
        path = self.driver.path
        done = rows(path, "SELECT id FROM url WHERE state NOT IN ('pending', 'leased') AND kind = 'page'")
        self.driver.close("shutdown")
        after = dict(rows(path, "SELECT id, state FROM url WHERE kind = 'page'"))
        assert after.keys() == self.expected
        assert {key for (key,) in done} == {key for key, state in after.items() if state != "pending"}
        assert all(after[key] == "failed" for key in self.failed)
        left = "pending" in after.values()
        assert self.driver.stats["crawl/exit_code"] == (3 if left else 6), "all pages are missing, that of the seed too"
        assert rows(path, "SELECT count(*) FROM url WHERE state = 'leased'") == [(0,)]


SchedulerMachine.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 5,
    stateful_step_count=20,
    phases=(Phase.explicit, Phase.generate),
)
TestScheduler = SchedulerMachine.TestCase


def test_requests_of_others_are_dropped_and_the_sentinel_is_swallowed() -> None:
    driver = Driver(new_database())
    assert driver.scheduler.enqueue_request(WAKE)
    assert not driver.scheduler.enqueue_request(Request("http://a.example/"))
    driver.close("shutdown")


@pytest.mark.parametrize(
    ("settings", "code", "sentence"),
    [({"HOST_DELAY": -1}, 2, "HOST_DELAY"), ({"DATABASE_URL": "sqlite:////dev/null/news.db"}, 2, "/dev/null")],
)
def test_crawl_that_cannot_start_is_refused_with_a_reason(
    settings: dict[str, Any], code: int, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    driver = Driver(new_database(), **settings)
    assert driver.scheduler.crawl is None
    assert driver.next() is None
    assert not driver.scheduler.has_pending_requests()
    with pytest.raises(CloseSpider):
        driver.scheduler._refuse_to_run()
    assert sentence in caplog.text
    driver.close("not started")
    assert driver.stats["crawl/exit_code"] == code
