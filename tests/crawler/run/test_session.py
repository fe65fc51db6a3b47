"""Runs on one database against a model: whatever ends a run, the next one finds what it left, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crawler.options.config import Config
from crawler.options.seeds import Seed, SeedError
from crawler.run.session import Session
from db.frontier import claims, leases
from db.records.keys import fingerprint
from db.records.url import Lease
from db.records.visit import MOST_UNREAD
from tests.crawler.driving import new_database, rows, settings_of
from tests.db.frontier_rows import wish

SEEDS = [f"http://{name}.example/" for name in "abcd"]


class SessionMachine(RuleBasedStateMachine):
    """Runs begin with some seeds, lease, give up some URLs, and end, or die."""

    @initialize()
    def prepare(self) -> None:
        self.path = new_database()
        self.runner = asyncio.Runner()
        self.session: Session | None = None
        self.states: dict[str, str] = {}
        self.leases: dict[str, Lease] = {}
        self.outcomes: list[str | None] = []
        self.failures: Counter[str] = Counter()

    def run(self, work: Any) -> Any:
        async def do() -> Any:
            return await work

        return self.runner.run(do())

    @precondition(lambda self: self.session is None)
    @rule(seeds=st.lists(st.sampled_from(SEEDS), min_size=1, unique=True))
    def begin(self, seeds: list[str]) -> None:
        begun_before, leased = bool(self.states), sum(state == "leased" for state in self.states.values())
        given = {url: state for url, state in self.states.items() if state != "done" and url in seeds}
        resting = {url: int(state != "done") for url, state in self.states.items() if url not in seeds}
        unread = [url for url in seeds if self.states.get(url) == "done" and self.failures[url] < MOST_UNREAD]
        session = self.run(Session.begin(Config.from_settings(settings_of(self.path)), [Seed(url) for url in seeds]))
        new = {url for url in seeds if url not in self.states}
        self.session = session
        assert session.resumed.begun_before is begun_before
        assert session.resumed.recovered == leased
        assert session.resumed.pending == len(given)
        assert session.resumed.resting == resting
        assert session.resumed.new_seeds == {fingerprint(url) for url in new}
        assert session.began.queued == len(given) + len(unread) + len(new)
        self.states |= dict.fromkeys((*given, *unread, *new), "waits") | {
            url: "rests" for url, n in resting.items() if n
        }
        self.leases.clear()
        self.outcomes.append(None)

    @precondition(lambda self: self.session is not None)
    @rule(hosts=st.lists(st.sampled_from(SEEDS), min_size=1, unique=True))
    def lease(self, hosts: list[str]) -> None:
        run_id = self.session.resumed.run_id
        self.run(self.session.submit(leases.take_hosts, (run_id, 9)))
        wants = {fingerprint(url.split("/")[2]): 1 for url in hosts}
        got = self.run(self.session.submit(claims.lease, wish(run_id, wants))).urls
        assert {one.url for one in got} == {url for url in hosts if self.states.get(url) == "waits"}
        self.leases |= {one.url: one for one in got}
        self.states |= {one.url: "leased" for one in got}

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), kept=st.booleans())
    def give_up_or_release(self, data: Any, *, kept: bool) -> None:
        lease = self.leases.pop(data.draw(st.sampled_from(sorted(self.leases))))
        run_id = self.session.resumed.run_id
        if kept:
            self.run(self.session.submit(claims.release, (run_id, [lease])))
        else:
            self.run(self.session.submit(claims.abandon, (run_id, lease.id, "broken")))
            self.failures[lease.url] += 1
        self.states[lease.url] = "waits" if kept else "done"

    @precondition(lambda self: self.session is not None)
    @rule()
    def renew(self) -> None:
        self.session.stats["pages"] += 1
        news = self.run(self.session.renew(2))
        assert (news.share, self.session.leads, self.session.lapsed) == (None, True, False)
        run_id = self.session.resumed.run_id
        assert rows(self.path, "SELECT hosts FROM run WHERE id = ?", run_id) == [(2,)]

    @precondition(lambda self: self.session is not None)
    @rule()
    def end(self) -> None:
        left = self.run(self.session.release_all())
        assert (left.within, left.beyond) == (sum(state in {"waits", "leased"} for state in self.states.values()), 0)
        self.run(self.session.end("told to", 3))
        self.states = {url: "waits" if state == "leased" else state for url, state in self.states.items()}
        self.outcomes[-1] = "told to"
        self.die()

    @precondition(lambda self: self.session is not None)
    @rule()
    def die(self) -> None:
        """Without a word to the database."""
        self.run(self.session.close())
        self.session = None
        self.leases.clear()
        shown = {"pending": "waits", "leased": "leased", "failed": "done", "skipped": "rests"}
        table = {url: shown[state] for url, state in rows(self.path, "SELECT url, state FROM url")}
        assert table == self.states
        ended = [outcome for (outcome,) in rows(self.path, "SELECT outcome FROM run ORDER BY id")]
        assert [outcome == "told to" for outcome in ended] == [outcome == "told to" for outcome in self.outcomes]

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            if self.session is not None:
                self.die()
            self.runner.close()


SessionMachine.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 5,
    stateful_step_count=20,
    phases=(Phase.explicit, Phase.generate),
)
TestSession = SessionMachine.TestCase


def test_crawl_without_seeds_is_refused_before_the_database_is_touched() -> None:
    path = new_database()
    with pytest.raises(SeedError, match="no seeds given"):
        asyncio.run(Session.begin(Config.from_settings(settings_of(path)), None))
    assert rows(path, "SELECT count(*) FROM run") == [(0,)]
