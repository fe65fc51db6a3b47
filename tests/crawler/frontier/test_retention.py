"""Pruning beside a crawl."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from crawler.frontier.retention import keep
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from db.frontier.insert import add_urls
from db.records.reasons import SkipReason
from db.records.run import KeepDays
from tests.crawler.crawling import scrapy
from tests.crawler.driving import new_database, rows, settings_of
from tests.db.frontier_rows import new_url


def test_rows_outside_are_pruned_while_a_crawl_runs_and_why_says_so(tmp_path: Path) -> None:
    path = new_database()

    async def crawl() -> None:
        session = await Session.begin(Config.from_settings(settings_of(path)), [Seed("http://a.example/")])
        found = [new_url(f"http://b.example/{n}", reason=SkipReason.OUTSIDE) for n in range(5)]
        await session.submit(add_urls, (time.time() - 60, found))
        task = asyncio.create_task(keep(session, KeepDays(outside=0), least=30.0))
        while rows(path, "SELECT count(*) FROM outside") != [(5,)]:
            await asyncio.sleep(0.02)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await session.close()

    asyncio.run(asyncio.wait_for(crawl(), 300))
    assert rows(path, "SELECT url FROM url") == [("http://a.example/",)]
    why = scrapy(tmp_path, "why", "http://b.example/3", "-s", f"DATABASE_URL=sqlite:///{path}")
    assert (why.returncode, why.stderr) == (0, "")
    assert "is outside of the seeds' scope" in why.stdout
