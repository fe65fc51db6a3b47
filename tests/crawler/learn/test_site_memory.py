"""Site memory while a crawl runs: when it is written, that it survives restarts, and that a crawl uses it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.demo.server import Newsroom
from crawler.learn import site_memory as memory
from crawler.learn.site_memory import SiteMemory
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from pipelines.records import PageSample
from pipelines.site_memory.knowledge import unpack
from tests.crawler.crawling import crawl, crawl_arguments, rows, start
from tests.waiting import wait_for

MEMORIES = "SELECT h.name, m.pages FROM site_memory m JOIN host h ON h.id = m.host_id"


def lesson(n: int) -> PageSample:
    return PageSample(n, (1, 1000 + n), (1, 2, 3), (7, 8))


Tasks = set[asyncio.Task[None]]


def with_memory(folder: Path, do: Callable[[SiteMemory, Tasks], Awaitable[Any]], most: int = 100) -> Any:
    """Do something with a memory in an open session; what it does in the background is in the set."""

    async def run() -> Any:
        settings = Settings()
        settings.setmodule(project_settings, "project")
        settings.set("DATABASE_URL", f"sqlite:///{folder}/news.db", "cmdline")
        session = await Session.begin(Config.from_settings(settings), [Seed("http://a.example/")])
        tasks: Tasks = set()
        failed: list[Exception] = []

        async def watched(coroutine: Any) -> None:
            try:
                await coroutine
            except Exception as error:  # noqa: BLE001 - looked at by the test
                failed.append(error)

        memory = SiteMemory(session, lambda coroutine: tasks.add(asyncio.ensure_future(watched(coroutine))), most)
        try:
            result = await do(memory, tasks)
            await asyncio.gather(*tasks)
            assert failed == []
            return result
        finally:
            await session.close()

    return asyncio.run(run())


def test_lessons_wait_for_company(tmp_path: Path) -> None:
    async def first(memory: SiteMemory, saving: Tasks) -> list[int]:
        assert await memory.of(7) == b""
        seen = []
        for n in range(10):
            memory.note(7, lesson(n))
            await asyncio.gather(*saving)
            seen.append(unpack(await memory.of(7)).seen)
        return seen

    assert with_memory(tmp_path, first) == [0, 0, 0, 4, 4, 4, 4, 8, 8, 8]


def test_closing_learns_what_waits_and_a_restart_goes_on(tmp_path: Path) -> None:
    async def learn(memory: SiteMemory, _: Any) -> int:
        before = unpack(await memory.of(7)).seen
        for n in range(before, before + 6):
            memory.note(7, lesson(n))
        await memory.close()
        return unpack(await memory.of(7)).seen

    assert [with_memory(tmp_path, learn) for _ in range(3)] == [6, 12, 18]


def test_cancelled_write_is_not_lost(tmp_path: Path) -> None:
    async def cancel(memory: SiteMemory, _: Any) -> int:
        tasks: list[asyncio.Future[None]] = []
        await memory.of(7)
        memory._start = lambda coroutine: tasks.append(asyncio.ensure_future(coroutine))
        for n in range(5):
            memory.note(7, lesson(n))
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await memory.close()
        assert tasks
        return unpack(await memory.of(7)).seen

    assert with_memory(tmp_path, cancel) == 5


def test_hosts_not_asked_for_are_written_and_forgotten(tmp_path: Path) -> None:
    async def many(memory: SiteMemory, _: Any) -> list[int]:
        for host in range(30):
            await memory.of(host)
            memory.note(host, lesson(host))
        assert len(memory._sites) == 5
        await memory.close()
        return [unpack(await memory.of(host)).seen for host in range(30)]

    assert with_memory(tmp_path, many, most=5) == [1] * 30


def test_host_forgotten_while_its_page_was_under_way_is_learned_from(tmp_path: Path) -> None:
    async def late(memory: SiteMemory, saving: Tasks) -> int:
        memory.note(7, lesson(1))
        assert not memory._sites
        await asyncio.gather(*saving)
        return unpack(await memory.of(7)).seen

    assert with_memory(tmp_path, late) == 1


@pytest.fixture
def newsroom() -> Any:
    with Newsroom() as serving:
        yield serving


def test_crawl_learns_and_the_next_one_goes_on(newsroom: Newsroom, tmp_path: Path) -> None:
    seeds = newsroom.seeds()[:2]
    done = crawl(newsroom, tmp_path, "MAX_PAGES=40", seeds=seeds)
    assert done.returncode == 0, done.stderr
    first = dict(rows(tmp_path, MEMORIES))
    articles = dict(rows(tmp_path, "SELECT name, articles FROM host"))
    assert first
    assert all(pages <= articles[host] for host, pages in first.items())
    done = crawl(newsroom, tmp_path, seeds=seeds)
    assert done.returncode == 0, done.stderr
    second = dict(rows(tmp_path, MEMORIES))
    articles = dict(rows(tmp_path, "SELECT name, articles FROM host"))
    assert all(second[host] >= pages for host, pages in first.items())
    assert sum(second.values()) > sum(first.values())
    assert sum(second.values()) >= 0.9 * sum(articles.values())
    states = [unpack(state) for (state,) in rows(tmp_path, "SELECT state FROM site_memory")]
    assert all(knowledge.templates and knowledge.texts for knowledge in states)


def test_killed_crawl_keeps_most_of_it(newsroom: Newsroom, tmp_path: Path) -> None:
    seeds = newsroom.seeds()[:2]
    running = start(tmp_path, *crawl_arguments(newsroom, tmp_path, "CONCURRENT_REQUESTS=4", seeds=seeds))
    wait_for(lambda: (tmp_path / "news.db").exists() and _learned(tmp_path))
    running.send(signal.SIGKILL)
    running.finish()
    kept = dict(rows(tmp_path, MEMORIES))
    assert crawl(newsroom, tmp_path, seeds=seeds).returncode == 0
    assert all(dict(rows(tmp_path, MEMORIES))[host] >= pages for host, pages in kept.items())


def _learned(folder: Path) -> bool:
    try:
        return rows(folder, "SELECT count(*) FROM site_memory WHERE pages > 0")[0][0] > 0
    except Exception:  # noqa: BLE001 - the tables are not there yet
        return False


def test_switched_off_nothing_is_learned(newsroom: Newsroom, tmp_path: Path) -> None:
    done = crawl(newsroom, tmp_path, "SITE_MEMORY=0", "MAX_PAGES=40")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM site_memory") == [(0,)]


def test_waiting_samples_of_all_hosts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_MOST_WAITING", 10)

    async def do(site: SiteMemory, _: Tasks) -> None:
        for host_id in range(6):
            await site.of(host_id)
        for n in range(12):
            site.note(n % 6, lesson(n))
        assert sum(len(one.waiting) for one in site._sites.values()) == 12
        for _ in range(3):
            await asyncio.sleep(0)
        assert not any(one.waiting for one in site._sites.values())
        await site.close()

    with_memory(tmp_path, do)
    assert [pages for _, pages in rows(tmp_path, "SELECT host_id, pages FROM site_memory")] == [2] * 6
