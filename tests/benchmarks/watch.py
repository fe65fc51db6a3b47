"""What learned intervals are worth: how soon news is found, and for how many requests, beside one interval for all.

    uv run python -m tests.benchmarks.watch [--lists 200] [--days 28] [--seed 1]
    uv run python -m tests.benchmarks.watch --real [--seconds 120]

The first is a simulation of `crawler.response.revisit_schedule.Schedule` with a clock of its own. Lists bring articles
at random; how much differs as in real sites: half of them nothing, the others by a power law, less at night. The fixed
interval is the one with which half of all articles are found as soon, or with which they wait as long on average. The
first half of the time is for learning and is not counted.

The second is a crawl of a site on loopback that publishes while it is watched: from publication to storage, on the
wall clock, beside the interval that had been learned.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import sqlite3
import statistics
import tempfile
import time
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from crawler.response.revisit_schedule import DAY, Schedule, fading

from .commands import new_parser

HOUR = 3_600.0


@dataclass(frozen=True, slots=True)
class Result:
    """Waiting of all articles that were counted, intervals at which they were found, and requests in that time."""

    delays: Sequence[float]
    intervals: Sequence[float]
    requests: int


def news(lists: int, days: float, rng: random.Random) -> list[list[float]]:
    """Times at which each list brings an article: less at night, nothing from half of the lists."""
    times = []
    for rank in range(1, lists + 1):
        a_day = 0.0 if rank > lists // 2 else 60.0 / rank
        arrivals, at = [], 0.0
        while a_day and at < days * DAY:
            at += rng.expovariate(2 * a_day / DAY)
            if rng.random() < 0.5 * (1 - 0.9 * math.cos(2 * math.pi * at / DAY)):
                arrivals.append(at)
        times.append(arrivals)
    return times


def learned(times: Sequence[Sequence[float]], days: float, schedule: Schedule) -> Result:
    """Visits as a crawl makes them."""
    delays, intervals, requests = [], [], 0
    for arrivals in times:
        now = watched = brought = 0.0
        seen = 0
        while now < days * DAY:
            interval = schedule.of_list(watched, brought)
            now += interval
            found = bisect_right(arrivals, now) - seen
            if now > days * DAY / 2:
                requests += 1
                delays += [now - at for at in arrivals[seen : seen + found]]
                intervals += [interval] * found
            seen += found
            faded = fading(interval)
            watched, brought = watched * faded + interval, brought * faded + found
    return Result(delays, intervals, requests)


def fixed(times: Sequence[Sequence[float]], days: float, interval: float) -> Result:
    """All lists at one interval."""
    half = days * DAY / 2
    delays = [interval - at % interval for arrivals in times for at in arrivals if at > half]
    return Result(delays, [interval] * len(delays), round(len(times) * half / interval))


def same(times: Sequence[Sequence[float]], days: float, wanted: float, measure: object) -> tuple[float, Result]:
    """The fixed interval with the same delay, by halving."""
    low, high = 10.0, 14 * DAY
    for _ in range(40):
        middle = math.sqrt(low * high)
        delay = measure(fixed(times, days, middle).delays)  # type: ignore[operator]
        low, high = (middle, high) if delay < wanted else (low, middle)
    return high, fixed(times, days, high)


def simulate(lists: int, days: float, seed: int) -> None:
    """Print the comparison for several prices of a request."""
    times = news(lists, days, random.Random(seed))
    print(f"{lists} lists, {sum(map(len, times)) / days:.0f} articles a day, {days:g} days")
    names = f"{'REVISIT_WORTH':>14} {'requests/day':>13} {'median delay':>13} {'mean delay':>11} {'interval':>9}"
    print(f"{names}   fixed, same median   fixed, same mean")
    for worth in (HOUR / 4, HOUR, 4 * HOUR):
        found = learned(times, days, Schedule(worth=worth))
        row = f"{worth:>14.0f} {2 * found.requests / days:>13.0f} {minutes(statistics.median(found.delays)):>13}"
        row += f" {minutes(statistics.mean(found.delays)):>11} {minutes(statistics.median(found.intervals)):>9}"
        for measure in (statistics.median, statistics.mean):
            interval, other = same(times, days, measure(found.delays), measure)
            share = found.requests / other.requests
            row += f"   {minutes(interval)}: {2 * other.requests / days:.0f}/day ({share:.0%})"
        print(row)


def minutes(seconds: float) -> str:
    """As people read it."""
    return f"{seconds / 60:.1f} min"


def watch_a_site(seconds: float) -> None:
    """Crawl a site on loopback that publishes, and compare."""
    from tests.crawler.crawling import start
    from tests.crawler.odd_server import OddServer
    from tests.crawler.repeating_site import lists, page

    rng = random.Random(1)
    rates = (0.5, 0.25, 0.1, 0.05, 0.0, 0.0)
    began = time.time() + 10
    published: dict[int, list[float]] = {}
    for place, rate in enumerate(rates):
        at, published[place] = began, [0.0] * 5
        while rate and at < began + seconds:
            at += rng.expovariate(rate)
            published[place].append(at)
    host = "a.localhost"

    def channel(place: int) -> object:
        return lambda: lists(
            place, [f"/n/{place}-{n}.html" for n, at in enumerate(published[place]) if at <= time.time()]
        )

    answers: dict = {(host, "/robots.txt"): (404, {}, ""), (host, "/"): lists(9, [f"/c/{p}/" for p in published])}
    answers |= {(host, f"/c/{place}/"): channel(place) for place in published}
    answers |= {
        (host, f"/n/{place}-{n}.html"): page(1000 * place + n)
        for place, times in published.items()
        for n in range(len(times))
    }
    with OddServer(answers) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "seeds.txt").write_text(f"http://{host}:{server.port}/", encoding="utf-8")
        given = (
            f"DATABASE_URL=sqlite:///{folder}/news.db",
            f"ALLOW_NETWORKS=127.0.0.1:{server.port}",
            "HOST_DELAY=0",
            "WORKERS=1",
            "CRAWL_PRESET=breadth",
            "REVISIT_WORTH=1",
            "REVISIT_MIN=1",
            "REVISIT_MAX=30",
            "REVISIT_ARTICLES=0",
        )
        settings = [x for one in given for x in ("-s", one)]
        running = start(folder, "crawl", "news", "-a", f"seeds={folder}/seeds.txt", "-a", "mode=watch", *settings)
        time.sleep(max(0.0, began + seconds + 5 - time.time()))
        os.kill(running.process.pid or 0, signal.SIGINT)
        running.finish()
        with closing(sqlite3.connect(folder / "news.db")) as database:
            stored = dict(database.execute("SELECT u.url, u.fetched_at FROM article a JOIN url u ON u.id = a.id"))
        asked = [(at, path) for at, _, path in server.asked if path.startswith("/c/")]
    print("articles/s   published   found   median delay   median interval   requests")
    for place, rate in enumerate(rates):
        visits = [at for at, path in asked if path == f"/c/{place}/"]
        gaps = [b - a for a, b in itertools.pairwise(visits)]
        urls = {f"/n/{place}-{n}.html": at for n, at in enumerate(published[place]) if at and at <= began + seconds}
        delays = [when - urls[path] for url, when in stored.items() if (path := url[url.index("/", 8) :]) in urls]
        delay = f"{statistics.median(delays):12.1f} s" if delays else " " * 14
        print(
            f"{rate:10.2f} {len(urls):11} {len(delays):7} {delay} {statistics.median(gaps or [0]):15.1f} s"
            f" {len(visits):10}"
        )


def main() -> None:
    """Print the figures."""
    parser = new_parser(__doc__)
    parser.add_argument("--lists", type=int, default=200)
    parser.add_argument("--days", type=float, default=28)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--seconds", type=float, default=120)
    chosen = parser.parse_args()
    if chosen.real:
        watch_a_site(chosen.seconds)
    else:
        simulate(chosen.lists, chosen.days, chosen.seed)


if __name__ == "__main__":
    main()
