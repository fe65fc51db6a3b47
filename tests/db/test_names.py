"""What URLs and sites are called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.queries import status
from db.queries.status import Named, named
from db.records.keys import fingerprint
from db.search.find import site_names
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import store_of


def test_names_of_urls_and_sites(database: Database, run_in: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = "http://a.example/1", "http://b.example/2"
    resumed = run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(first), new_url(second), new_url("http://b.example/feed", kind="feed")]))
    run_in(leases.take_hosts, (resumed.run_id, 9))
    leased_urls = run_in(frontier.lease, wish(resumed.run_id, {fingerprint("a.example"): 1})).urls
    outcome = done(leased_urls[0], article=article(first, "市图书馆新馆昨天开放。"))
    run_in(store_of(resumed.run_id).store, outcome)
    monkeypatch.setattr(status, "_MOST_IDS", 2)
    ids = [fingerprint(name) for name in (first, second, "http://b.example/feed", "http://none.example/")]
    hosts = [fingerprint(name) for name in ("a.example", "b.example", "none.example")]
    with database.engine.connect() as connection:
        assert named(connection, ids) == {
            ids[0]: Named(first, "page", "done", "题目"),
            ids[1]: Named(second, "page", "pending", ""),
            ids[2]: Named("http://b.example/feed", "feed", "pending", ""),
        }
        assert site_names(connection, hosts) == {hosts[0]: "a.example", hosts[1]: "b.example"}
        assert named(connection, []) == site_names(connection, []) == {}
