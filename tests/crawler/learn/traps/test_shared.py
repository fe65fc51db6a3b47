"""What processes that share a database know of traps: hosts are handed over with it, and only their owner writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text

from db.frontier.leases import Handover, hand_over
from tests.crawler.trap_crawl import HOST, SITE, Crawl, article, begin, block_the_calendar, lease_of, list_page, month
from tests.db.frontier_rows import NOW
from tests.postgres import clear


def with_two(database: str, do: Callable[[Crawl, Crawl], Awaitable[None]]) -> None:
    async def run(url: str) -> None:
        one, other = [await _on_machine(name, url) for name in ("one", "other")]
        try:
            await do(one, other)
            await one.settled()
            await other.settled()
        finally:
            await other.session.close()
            await one.session.close()

    try:
        asyncio.run(run(database))
    finally:
        clear(database)


async def _on_machine(name: str, url: str) -> Crawl:
    """A run that is taken for another machine's: in one process there is but one run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.run.session.here", lambda: name)
        return await begin(url)


def kinds(crawl: Crawl) -> dict[str, str]:
    with crawl.session.database.engine.connect() as connection:
        rows = connection.execute(text("SELECT pattern, kind FROM url_pattern WHERE level = 0"))
        return {row.pattern: row.kind for row in rows}


def waiting(crawl: Crawl) -> int:
    with crawl.session.database.engine.connect() as connection:
        return connection.execute(
            text("SELECT count(*) FROM url WHERE state = 'pending' AND url LIKE '%cal?%'")
        ).scalar_one()


async def give(one: Crawl, other: Crawl) -> None:
    """A host goes from one run to another."""
    await one.session.submit(hand_over, Handover(one.session.resumed.run_id, [(HOST, NOW)], []))
    await other.take()


def test_hosts_are_handed_over_with_what_is_known_of_them(postgres_tables: str) -> None:
    async def do(one: Crawl, other: Crawl) -> None:
        await block_the_calendar(one)
        assert await one.lease(5) == [f"{SITE}/"]
        assert waiting(one) == 0
        await one.registry.let_go([HOST])
        await give(one, other)
        assert other.registry.disallow_reason(lease_of(month(500))) == "calendar"
        assert one.registry.disallow_reason(lease_of(month(500))) == "", "whoever owns the host decides"
        # the new owner opens the pattern; what the old one had skipped waits again
        other.registry.note(*list_page(month(7), month(8)))
        other.registry.note(*article(f"{SITE}/news/1.html", month(7)))
        await other.settled()
        assert (waiting(one), kinds(one)) == (60, {"/cal?month": ""})

    with_two(postgres_tables, do)


def test_run_that_has_lost_a_host_writes_nothing_of_it(postgres_tables: str) -> None:
    async def do(one: Crawl, other: Crawl) -> None:
        await block_the_calendar(one)
        await one.lease(5)
        await give(one, other)  # taken for dead: it does not know
        other.registry.note(*list_page(month(7), month(8)))
        other.registry.note(*article(f"{SITE}/news/1.html", month(7)))
        await other.settled()
        for n in range(20):
            one.registry.note(*list_page(f"{SITE}/more?x={n}", f"{SITE}/more?x={n + 1}"))
        await one.registry.close()
        await other.registry.close()
        assert kinds(one) == {"/cal?month": ""}

    with_two(postgres_tables, do)


def test_both_put_on_probation_what_was_blocked_long_ago(postgres_tables: str) -> None:
    async def do(one: Crawl, other: Crawl) -> None:
        await block_the_calendar(one)
        await one.lease(5)
        await one.registry.let_go([HOST])
        await one.session.submit(hand_over, Handover(one.session.resumed.run_id, [(HOST, NOW)], []))
        for crawl in (one, other):
            crawl.days = 0
            crawl.registry = crawl.new_registry()
        await asyncio.gather(one.registry.reopen(), other.registry.reopen())
        assert waiting(one) == 60
        await other.take()
        assert other.registry.disallow_reason(lease_of(month(500))) == "", "for a few pages"

    with_two(postgres_tables, do)
