"""The simulation of crawls by what must be true of it: closed forms, conservation, more that is never slower.

`tests.benchmarks.scale --check` holds it against real crawls.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import replace

import numpy as np
import pytest

from tests.benchmarks.crawl_model import Costs, Layout, Machine, Server, Web, estimate, grouped, heavy_tailed, simulate
from tests.benchmarks.scale import CALIBRATIONS, LIGHT, Crawled, Moment, costs_of
from tests.benchmarks.static_site import Site
from tests.table import each_row

FREE = Costs(start=0, worker_start=0, fetch=0, store=0, parse=0, rank=0, score=0, inbox=0)
COSTS = Costs(start=1.0, worker_start=0.5, fetch=0.001, store=0.002, parse=0.004, database=0.001)
SKEWED = Web(heavy_tailed(2_000, 100, 0.5), delay=0.2, links=10)


def test_one_host_is_asked_once_in_its_delay() -> None:
    told = simulate(FREE, Web(np.array([50]), delay=2.0, links=3), Layout(commit_seconds=0))
    assert told.pages == 50
    assert told.seconds == pytest.approx(2.0 * 50)  # robots.txt first


def test_latency_adds_to_the_delay() -> None:
    told = simulate(FREE, Web(np.array([20]), delay=1.0, latency=0.5, links=3), Layout(commit_seconds=0))
    assert told.seconds == pytest.approx(1.5 * 21 - 1.0)


@each_row(("cores", "each"), [(2, 0.0035), (1, 0.007), (8, 0.003)])
def test_rate_without_delays_is_that_of_the_cores(cores: int, each: float) -> None:
    """Of eight cores only three are used, and what does one thing at a time is the limit."""
    costs = replace(FREE, fetch=0.001, store=0.002, parse=0.004)
    told = simulate(costs, Web(heavy_tailed(2_000, 100, 0), delay=0.0, links=10), Layout(cores=cores, requests=1_000))
    assert told.seconds == pytest.approx(2_000 * each, rel=0.1)
    assert told.busy["workers"] == pytest.approx(2_000 * 0.004)


def test_requests_under_way_bound_the_rate_by_littles_law() -> None:
    web = Web(heavy_tailed(2_000, 200, 0), delay=0.0, latency=1.0, links=10)
    told = simulate(FREE, web, Layout(commit_seconds=0.25, requests=16))
    assert told.rate == pytest.approx(16 / 1.25, rel=0.1)


def test_waiting_at_one_server_is_that_of_an_m_d_1_queue() -> None:
    """Work of 1 s that comes by chance every 2 s waits rho / (2 (1 - rho)) = .5 s on average."""
    rng = random.Random(1)
    machine = Machine(1.0)
    server = Server(machine, "any")
    waits: list[float] = []
    arrivals, now = [], 0.0
    for _ in range(20_000):
        now += rng.expovariate(0.5)
        arrivals.append(now)
    heapq.heapify(arrivals)
    while arrivals or machine.ends_at() < float("inf"):
        if arrivals and arrivals[0] <= machine.ends_at():
            now = heapq.heappop(arrivals)
            server.submit(now, 1.0, waits.append, now)
        else:
            now = machine.ends_at()
            _, _, then, came = machine.end(now)
            server.ended(now)
            then(now - came - 1.0)
    assert sum(waits) / len(waits) == pytest.approx(0.5, rel=0.05)


def test_kills_lose_no_page_and_fetch_again_at_most_what_was_under_way() -> None:
    layout = Layout(processes=2, workers=1)
    undisturbed = simulate(COSTS, SKEWED, layout)
    told = simulate(COSTS, SKEWED, layout, kills=[(3.0, 0), (5.0, 1), (8.0, 0)])
    assert told.pages == undisturbed.pages == 2_000
    assert 0 < told.refetched <= 3 * layout.requests
    assert told.seconds > undisturbed.seconds


def test_shards_share_out_the_work_of_a_slow_database() -> None:
    """Each database stores one page after the other, so more of them are faster as long as they are what is full."""
    costs = replace(COSTS, database=0.02)
    web = Web(heavy_tailed(1_000, 200, 0.3), delay=0.0, links=10)
    seconds = [simulate(costs, web, Layout(shards, 4, 1, machines=4, database_cores=1)).seconds for shards in (1, 2, 4)]
    assert seconds[0] == pytest.approx(1_000 * 0.02, rel=0.15)
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[2] < 0.45 * seconds[0]


@each_row(
    ("web", "layout"),
    [
        (Web(heavy_tailed(5_000, 100, 0), delay=0.0, links=10), Layout()),
        (Web(heavy_tailed(5_000, 50, 0), delay=0.5, links=10), Layout()),
        (Web(heavy_tailed(5_000, 500, 0.8), delay=0.2, links=10), Layout(processes=2)),
        (
            Web(heavy_tailed(5_000, 100, 0.8), delay=0.1, links=10),
            Layout(2, 4, 2, 2, database_cores=2, inbox_seconds=0.1),
        ),
    ],
)
def test_steps_agree_with_events(web: Web, layout: Layout) -> None:
    exact, stepped = simulate(COSTS, web, layout), estimate(COSTS, web, layout)
    assert stepped.pages == exact.pages
    assert stepped.seconds == pytest.approx(exact.seconds, rel=0.15)


def test_grouped_hosts_end_as_all_of_them_do() -> None:
    sizes, counts = grouped(1_000_000, 4_000, 0.8)
    assert counts.sum() == 4_000
    assert (sizes * counts).sum() == pytest.approx(1_000_000)
    layout = Layout(processes=10, cores=16)
    together = estimate(COSTS, Web(sizes), layout, each=counts)
    apart = estimate(COSTS, Web(heavy_tailed(1_000_000, 4_000, 0.8)), layout)
    assert together.seconds == pytest.approx(apart.seconds, rel=0.01)
    assert together.reached[49] == pytest.approx(apart.reached[49], rel=0.02)


def crawled(pages: int, seconds: float, own: float, database: float) -> Crawled:
    """A crawl of so many seconds and CPU a page, beside what starting takes."""
    moments = [
        Moment(
            1 + seconds * n,
            n,
            {"own": 2 + own * n, "workers": 3 + 0.005 * n, "serve": 0.001 * n, "database": 0.1 + database * n},
        )
        for n in range(0, pages + 1, pages // 50)
    ]
    return Crawled(pages, moments[-1].seconds, moments=moments)


def test_costs_are_the_slopes_of_two_crawls() -> None:
    """Ten pages a transaction in one, one in the other: of 3 ms a page and 2 a transaction 3.2 and 5 are seen."""
    kind = CALIBRATIONS[0]
    costs = costs_of(crawled(1_000, 0.01, 0.0032, 0.0011), crawled(100, 0.1, 0.005, 0.002), kind)
    assert costs.transaction == pytest.approx(0.002)
    assert costs.fetch + costs.store == pytest.approx(0.003)
    assert (costs.commit, costs.database) == pytest.approx((0.001, 0.001))
    assert (costs.parse, costs.serve) == pytest.approx((0.005, 0.001))
    assert (costs.worker_start, costs.database_start) == pytest.approx((3, 0.1))
    assert costs.start == pytest.approx(2 - kind.hosts * costs.fetch)


def test_pages_share_transactions_as_they_come() -> None:
    """Ten transactions a second at most, so two hosts that give two pages a second have one for each page."""
    costs = replace(FREE, transaction=0.001)
    slow = simulate(costs, Web(np.array([30, 30]), delay=1.0, links=3))
    fast = simulate(costs, Web(heavy_tailed(2_000, 100, 0), delay=0.1, links=10))
    assert slow.busy["own"] == pytest.approx(60 * 0.001, rel=0.5)
    assert fast.busy["own"] == pytest.approx(10 * fast.seconds * 0.001, rel=0.3)


def test_sizes_of_skewed_hosts_are_those_of_the_model() -> None:
    site = Site(3_000, 20, (80,), replace(LIGHT, skew=0.7))
    sizes = np.bincount([site.place(number) for number in range(3_000)], minlength=20)
    assert np.abs(sizes - heavy_tailed(3_000, 20, 0.7)).max() <= 3
    assert [Site(3_000, 20, (80,)).place(number) for number in (0, 19, 20, 45)] == [0, 19, 0, 5]
