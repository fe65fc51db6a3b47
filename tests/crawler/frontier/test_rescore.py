"""New scores while the crawl goes on: a real crawl of a small server, its access log and its table."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.frontier.rescore import Rescorer
from crawler.rank.priority import Priority
from crawler.rank.ranking import PAGE_BYTES
from crawler.rank.worker import RankRequest, rank
from db.engine.database import open_for_crawl
from db.engine.errors import DatabaseProblem
from db.frontier.insert import add_urls
from tests.crawler.crawling import rows, scrapy, start
from tests.crawler.driving import Driver, new_database
from tests.crawler.odd_server import Answer, OddServer, article
from tests.db.frontier_rows import new_url

LISTED = 60
LINKING = 20
LOVED = range(40, 60)
"""Pages that the first `LINKING` link to, which nobody can know before."""


def answers() -> dict[tuple[str, str], Answer]:
    """A list of pages in an order that turns out to be wrong."""
    pages: dict[tuple[str, str], Answer] = {
        ("a.localhost", f"/{n:02}"): article(f"第{n}条消息", *(f"/{m:02}" for m in LOVED if n < LINKING))
        for n in range(LISTED)
    }
    pages["a.localhost", "/"] = article("目录", *(f"/{n:02}" for n in range(LISTED)))
    return pages


def arguments(server: OddServer, folder: Path, *settings: str) -> list[str]:
    (folder / "seeds.txt").write_text(f"http://a.localhost:{server.port}/", encoding="utf-8")
    given = (
        f"DATABASE_URL=sqlite:///{folder}/news.db",
        f"ALLOW_NETWORKS=127.0.0.1:{server.port}",
        "HOST_DELAY=0.15",
        "SOFT_404_PROBE=False",
        "CRAWL_PRESET=pagerank",
        *settings,
    )
    return ["crawl", "news", "-a", f"seeds={folder}/seeds.txt", *[x for s in given for x in ("-s", s)]]


def fetched(server: OddServer) -> list[int]:
    """Return the pages in the order in which they were first asked for: one held for long is asked for again."""
    return list(dict.fromkeys(int(path[1:]) for _, _, path in server.asked if re.fullmatch(r"/\d+", path)))


@pytest.mark.parametrize(
    ("settings", "signals"),
    [
        ((), {"pagerank", "experience", "siterank", "address", "depth"}),
        (
            ("CRAWL_PRESET=breadth", 'CRAWL_PRIORITY={"nx:pages:in_degree_centrality": 1}'),
            {"depth", "nx:pages:in_degree_centrality"},
        ),
    ],
    ids=["pagerank", "networkx"],
)
def test_new_round_of_scores_reorders_what_is_queued(
    tmp_path: Path, settings: tuple[str, ...], signals: set[str]
) -> None:
    """Pages that neither link nor are linked to are answered when what the links tell is written."""
    pages = answers()
    linking, late = set(range(LINKING)), range(LINKING, LOVED.start)

    def held(number: int) -> Callable[[], Answer]:
        def answer() -> Answer:
            until = time.monotonic() + 60
            while linking & set(fetched(server)) and not loved_are_known(tmp_path) and time.monotonic() < until:
                time.sleep(0.02)
            return pages["a.localhost", f"/{number:02}"]  # type: ignore[return-value]

        return answer

    with OddServer({**pages, **{("a.localhost", f"/{n:02}"): held(n) for n in late}}) as server:
        done = start(tmp_path, *arguments(server, tmp_path, *settings)).finish()
        order = fetched(server)
    assert done.returncode == 0, done.stderr
    assert sorted(order) == list(range(LISTED))
    places = {page: place for place, page in enumerate(order)}
    known, reached = min(places[page] for page in linking), max(places[page] for page in LOVED)
    before = [page for page in late if known < places[page] < reached]
    assert len(before) <= 2, "one is asked for when the scores are written, one may have been chosen before"
    scores = dict(rows(tmp_path, "SELECT substr(url, -2), score FROM url WHERE kind = 'page' AND depth = 1"))
    assert min(scores[f"{n:02}"] for n in LOVED) > max(scores[f"{n:02}"] for n in late)
    (parts,) = rows(tmp_path, "SELECT score_parts FROM url WHERE url LIKE '%/50'")[0]
    assert set(json.loads(parts)) == signals


def loved_are_known(folder: Path) -> bool:
    """Tell whether all loved pages were fetched, or have better scores than every other that waits."""
    loved = f"CAST(substr(url, -2) AS INTEGER) >= {LOVED.start}"
    waiting = f"FROM url WHERE kind = 'page' AND depth = 1 AND state <> 'done' AND {loved} ="
    ((least, most),) = rows(folder, f"SELECT (SELECT min(score) {waiting} 1), (SELECT max(score) {waiting} 0)")
    return least is None or most is None or least > most


def test_why_shows_what_each_signal_adds(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        few = arguments(server, tmp_path, "CRAWL_PRESET=news", "MAX_PAGES=3", "HOST_DELAY=0")
        assert start(tmp_path, *few).finish().returncode == 0
        url, database = f"http://a.localhost:{server.port}/01", f"DATABASE_URL=sqlite:///{tmp_path}/news.db"
        why = scrapy(tmp_path, "why", url, "-s", database).stdout
    total = re.search(r"^score +(\d\.\d{4}), of$", why, re.MULTILINE)
    shares = re.findall(r"^ +(\d\.\d{4})  \w+ +[01]\.\d{4} x [\d.]+$", why, re.MULTILINE)
    assert total is not None
    assert len(shares) == 6
    assert shares == sorted(shares, reverse=True)
    assert sum(map(float, shares)) == pytest.approx(float(total[1]), abs=1e-3)


@pytest.mark.slow
def test_crawl_that_goes_on_in_another_order_scores_what_waits_anew(tmp_path: Path) -> None:
    waiting = "SELECT score FROM url WHERE state = 'pending' AND kind = 'page' AND depth = 1"
    with OddServer(answers()) as server:
        for preset, pages in (("news", 3), ("breadth", 40)):
            few = arguments(server, tmp_path, f"CRAWL_PRESET={preset}", f"MAX_PAGES={pages}")
            assert start(tmp_path, *few).finish().returncode == 0
            scores = {score for (score,) in rows(tmp_path, waiting)}
            assert scores
            assert (scores == {0.5}) is (preset == "breadth")


@pytest.mark.slow
def test_crawl_outlives_its_rank_process(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        running = start(tmp_path, *arguments(server, tmp_path))
        deadline = time.monotonic() + 60
        killed = 0
        while running.process.is_alive() and time.monotonic() < deadline:
            for process in ranking_processes(running.process.pid or 0):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed += 1
            time.sleep(0.2)
        done = running.finish()
    assert killed
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE state = 'done' AND kind = 'page'") == [(LISTED + 1,)]


def ranking_processes(crawl: int) -> list[int]:
    """Processes below the crawl's that have loaded the library of link analysis."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            grand = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
            if crawl in {parent, grand} and "_sparsetools" in (folder / "maps").read_text():
                found.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def test_database_that_cannot_be_read_is_a_problem_with_a_name(tmp_path: Path) -> None:
    with pytest.raises(DatabaseProblem):
        rank(RankRequest(f"sqlite:///{tmp_path}/none.db", Priority("pagerank", {}), None, 0.0, 1.7e9))


def test_full_graph_of_links_ranks_the_newest_urls_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    with closing(open_for_crawl(url)) as database, database.engine.begin() as connection:
        found = [new_url(f"http://a.example/{n}", score=0.5) for n in range(1000)]
        add_urls(connection, [(1.6e9 + n, [one]) for n, one in enumerate(found)])
    request = RankRequest(url, Priority("pagerank", {}), None, 0.0, 1.7e9)
    assert len(rank(request).ids) == 1000
    bounded = rank(replace(request, database_url=f"{url}?", memory=400 * PAGE_BYTES))
    assert set(bounded.ids.tolist()) == {one.id for one in found[-400:]}


def test_round_begun_twice_is_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pages may ask for one before the first has begun."""
    driver = Driver(new_database())
    rescorer, asked = driver.crawl.rescorer, []

    async def request(_self: Rescorer) -> None:
        asked.append(1)
        await asyncio.sleep(0.01)

    monkeypatch.setattr(Rescorer, "_request", request)

    async def both() -> None:
        await asyncio.gather(rescorer.rescore(1), rescorer.rescore(2))

    driver.run(both())
    driver.close("shutdown")
    assert asked == [1]
