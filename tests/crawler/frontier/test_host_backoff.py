"""Hosts that fall silent together, and one that answers before anybody has looked."""

from __future__ import annotations

from db.records.reasons import FailReason
from tests.crawler.driving import Driver, new_database, page_urls
from tests.table import each_row

HOSTS = ("a.example", "b.example", "c.example")


@each_row("reason", [FailReason.NO_HOST, FailReason.TIMED_OUT, FailReason.NO_PROXY])
def test_answer_between_the_suspicion_and_the_look_costs_nothing(reason: FailReason) -> None:
    driver = Driver(new_database(), CONCURRENT_REQUESTS=8, HOST_BACKOFF={"failures": 10_000})
    driver.run(driver.crawl.pending.add([new for host in HOSTS for new in page_urls(host, [1])]))
    driver.settle()
    requests = []
    while (request := driver.next()) is not None:
        requests.append(request)
    assert len(requests) > len(HOSTS)
    outage, last = driver.crawl.outage, requests[-1].meta["lease"]

    async def all_at_once() -> None:
        for request in requests:
            driver.crawl.answered(driver.page(request, error=reason))
        assert outage.is_down
        outage.answered(last.host_id, last.url)  # of another request to it

    driver.run(all_at_once())
    driver.settle()
    assert not driver.background.problem
    assert not driver.background.ends
    driver.close("shutdown")
