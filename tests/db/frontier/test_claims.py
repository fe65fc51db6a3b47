from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.engine.errors import DatabaseGone
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.frontier.scores import ScoreBatch, set_scores
from db.records.keys import fingerprint
from db.records.reasons import SkipReason
from db.records.run import Limits, RunEnd
from db.records.url import State
from tests.db.frontier_rows import NO_LIMITS, NOW, done, new_url, seed_row, sign, start, wish
from tests.db.stores import EachTimeNew

pytestmark = pytest.mark.dialects

SEED = "http://a.example/"
A = fingerprint("a.example")
PART = 12
store = EachTimeNew().store


@pytest.fixture
def begin(run_in: Callable) -> Callable:
    """Start a run with some URLs waiting and take over their hosts."""

    def begin_run(*urls: str, limits: Limits = NO_LIMITS, seeds: tuple = (seed_row(SEED),), **values: object) -> int:
        resumed = run_in(runs.start_run, start(*seeds, limits=limits))
        rows = [new_url(url, seed_id=seeds[0].id, score=1.0 - i / 100, **values) for i, url in enumerate(urls)]
        run_in(add_urls, (NOW, rows))
        run_in(leases.take_hosts, (resumed.run_id, 10))
        return resumed.run_id

    return begin_run


def states(database: Database) -> dict[str, str]:
    with database.engine.connect() as connection:
        return {row.url: row.state for row in connection.execute(text("SELECT url, state FROM url"))}


def test_best_first_and_only_once(begin: Callable, run_in: Callable) -> None:
    urls = [f"http://a.example/{i}" for i in range(5)]
    run_id = begin(*urls)
    first = run_in(frontier.lease, wish(run_id, {A: 2}))
    assert [c.url for c in first.urls] == urls[:2]
    assert first.dry == {}
    rest = run_in(frontier.lease, wish(run_id, {A: 10}))
    assert [c.url for c in rest.urls] == urls[2:]
    assert rest.dry == {A: None}


def test_host_has_one_owner(begin: Callable, run_in: Callable, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("on SQLite a second run means that the first is dead")
    begin("http://a.example/1")
    other = run_in(runs.start_run, start())
    assert run_in(leases.take_hosts, (other.run_id, 10)) == []


def test_exact_page_limit_over_all_hosts(begin: Callable, run_in: Callable) -> None:
    limits = Limits(pages=3)
    urls = [f"http://{h}.example/{i}" for i in range(4) for h in "abc"]
    run_id = begin(*urls, limits=limits)
    wants = {fingerprint(f"{h}.example"): 4 for h in "abc"}
    leased_urls = run_in(frontier.lease, wish(run_id, wants, limits=limits))
    assert [c.url for c in leased_urls.urls] == urls[:3]
    assert run_in(frontier.lease, wish(run_id, wants, limits=limits)).spent
    # one of them was a redirect: not a page, so one more may be fetched
    run_in(store, done(leased_urls.urls[0], state=State.SKIPPED, reason="redirect", counted=False))
    again = run_in(frontier.lease, wish(run_id, wants, limits=limits))
    assert [c.url for c in again.urls] == urls[3:4]


def test_exact_page_limit_per_host_and_per_seed(begin: Callable, run_in: Callable) -> None:
    limits = Limits(pages_per_host=2)
    run_id = begin(*[f"http://a.example/{i}" for i in range(4)], limits=limits)
    assert len(run_in(frontier.lease, wish(run_id, {A: 9}, limits=limits)).urls) == 2
    assert run_in(frontier.lease, wish(run_id, {A: 9}, limits=limits)).urls == []


def test_seed_budget(begin: Callable, run_in: Callable) -> None:
    run_id = begin(*[f"http://a.example/{i}" for i in range(4)], seeds=(seed_row(SEED, pages=3),))
    assert len(run_in(frontier.lease, wish(run_id, {A: 9})).urls) == 3
    assert run_in(frontier.lease, wish(run_id, {A: 9})).urls == []
    left = run_in(frontier.waiting, Limits())
    assert (left.within, left.beyond) == (3, 1)


def test_spent_limits_name_what_waits_beyond_them(begin: Callable, run_in: Callable) -> None:
    """Scores fall by a hundredth from URL to URL; what is named may be leased once something else is released."""
    urls = [f"http://a.example/{i}" for i in range(6)]
    of_all, of_hosts = Limits(pages=2), Limits(pages_per_host=2)
    run_id = begin(*urls, limits=of_all, seeds=(seed_row(SEED, pages=4),))
    first = run_in(frontier.lease, wish(run_id, {A: 4}, limits=of_all))
    assert [(one.url.url, one.host_id, one.seed_id) for one in first.beyond] == [(urls[n], None, None) for n in (2, 3)]
    assert not first.spent
    again = run_in(frontier.lease, wish(run_id, {A: 1}, limits=of_all, closed=lambda _host: SkipReason.ROBOTS))
    assert (again.spent, again.beyond) == (True, [])
    per_host = run_in(frontier.lease, wish(run_id, {A: 3}, limits=of_hosts))
    assert [(one.url.url, one.host_id) for one in per_host.beyond] == [(url, A) for url in urls[2:5]]
    per_seed = run_in(frontier.lease, wish(run_id, {A: 4}))
    assert [one.url for one in per_seed.urls] == urls[2:4]
    assert [(one.url.url, one.seed_id) for one in per_seed.beyond] == [(url, fingerprint(SEED)) for url in urls[4:]]
    run_in(frontier.release, (run_id, per_seed.urls[1:]))
    freed = run_in(frontier.lease, wish(run_id, {A: 1}))
    assert ([one.url for one in freed.urls], freed.beyond) == ([urls[3]], [])


def test_nothing_waits_beyond_limits_that_are_not_spent(begin: Callable, run_in: Callable) -> None:
    limits = Limits(pages=9, pages_per_host=9)
    run_id = begin(*[f"http://a.example/{i}" for i in range(4)], limits=limits, seeds=(seed_row(SEED, pages=9),))
    assert run_in(frontier.lease, wish(run_id, {A: 2}, limits=limits)).beyond == []
    assert run_in(frontier.lease, wish(run_id, {A: 8}, limits=limits)).beyond == []


def test_robots_rules_decide_at_the_lease(begin: Callable, run_in: Callable, database: Database) -> None:
    run_id = begin("http://a.example/private/1", "http://a.example/2")
    leased_urls = run_in(
        frontier.lease,
        wish(run_id, {A: 5}, disallow_reason=lambda _h, url: SkipReason.ROBOTS if "/private/" in url else None),
    )
    assert [c.url for c in leased_urls.urls] == ["http://a.example/2"]
    assert leased_urls.skipped == {"robots": 1}
    assert states(database)["http://a.example/private/1"] == State.SKIPPED


def test_unknown_rules_let_only_robots_out(begin: Callable, run_in: Callable) -> None:
    run_id = begin("http://a.example/1")
    only = wish(run_id, {A: 5}, robots_only=frozenset({A}))
    assert run_in(frontier.lease, only).urls == []
    run_in(add_urls, (NOW, [new_url("http://a.example/robots.txt", kind="robots", score=1e9)]))
    assert [c.kind for c in run_in(frontier.lease, only).urls] == ["robots"]


def test_retry_waits_for_its_time(begin: Callable, run_in: Callable) -> None:
    run_id = begin("http://a.example/1")
    lease = run_in(frontier.lease, wish(run_id, {A: 1})).urls[0]
    run_in(store, done(lease, state=State.PENDING, counted=False, next_visit=NOW + 30))
    later = run_in(frontier.lease, wish(run_id, {A: 1}))
    assert later.urls == []
    assert later.dry == {A: NOW + 30}
    assert [c.tries for c in run_in(frontier.lease, wish(run_id, {A: 1}, now=NOW + 31)).urls] == [1]


def test_dead_runs_work_is_taken_up(begin: Callable, run_in: Callable, database: Database) -> None:
    limits = Limits(pages=10)
    run_id = begin("http://a.example/1", "http://a.example/2", limits=limits)
    run_in(frontier.lease, wish(run_id, {A: 1}, limits=limits))
    let_time_pass(database, run_id)
    resumed = run_in(runs.start_run, start(limits=limits))
    assert (resumed.recovered, resumed.pending) == (1, 2)
    run_in(leases.take_hosts, (resumed.run_id, 10))
    assert len(run_in(frontier.lease, wish(resumed.run_id, {A: 9}, limits=limits)).urls) == 2
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 2


def test_living_runs_work_is_left_alone(begin: Callable, run_in: Callable, database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("on SQLite the file lock says that no other run lives")
    run_id = begin("http://a.example/1")
    run_in(frontier.lease, wish(run_id, {A: 1}))
    assert run_in(runs.start_run, start()).recovered == 0


def test_finish_gives_everything_back(begin: Callable, run_in: Callable, database: Database) -> None:
    run_id = begin("http://a.example/1", "http://a.example/2")
    run_in(frontier.lease, wish(run_id, {A: 1}))
    run_in(runs.finish_run, RunEnd(run_id, "2025-01-01T00:01:00+00:00", "stopped", 3, {"pages": 0}))
    assert set(states(database).values()) == {State.PENDING}
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT outcome, exit_code FROM run")).one() == ("stopped", 3)


def test_wider_limits_revive_what_was_too_deep(begin: Callable, run_in: Callable, database: Database) -> None:
    let_time_pass(database, begin("http://a.example/deep", limits=Limits(depth=1), depth=2, reason="too deep"))
    assert states(database)["http://a.example/deep"] == State.SKIPPED
    run_in(runs.start_run, start(seed_row(SEED), limits=Limits(depth=2)))
    assert states(database)["http://a.example/deep"] == State.PENDING


def test_new_scores_reorder_what_is_queued(begin: Callable, run_in: Callable) -> None:
    urls = [f"http://a.example/{i}" for i in range(3)]
    run_id = begin(*urls)
    assert run_in(set_scores, scores({urls[2]: 9.0})) == 1
    assert [c.url for c in run_in(frontier.lease, wish(run_id, {A: 3})).urls] == [urls[2], urls[0], urls[1]]


def test_new_scores_of_what_is_under_way_hold_when_it_comes_back(begin: Callable, run_in: Callable) -> None:
    urls = [f"http://a.example/{i}" for i in range(3)]
    run_id = begin(*urls)
    held = run_in(frontier.lease, wish(run_id, {A: 3})).urls
    assert run_in(set_scores, scores({urls[1]: 9.0, urls[2]: 8.0})) == 2
    run_in(frontier.release, (run_id, held))
    again = run_in(frontier.lease, wish(run_id, {A: 3})).urls
    assert [(c.url, c.score) for c in again] == [(urls[1], 9.0), (urls[2], 8.0), (urls[0], 1.0)]


def test_new_scores_leave_alone_what_goes_first_and_what_is_over(
    begin: Callable, run_in: Callable, database: Database
) -> None:
    run_id = begin("http://a.example/1", "http://a.example/done")
    robots = new_url("http://a.example/robots.txt", kind="robots", score=1e9)
    part = new_url("http://a.example/part", score=1e6, found_in=PART)
    sitemap = new_url("http://a.example/map.xml", kind="sitemap", score=0.2)
    run_in(add_urls, (NOW, [robots, part, sitemap]))
    leased_urls = {c.url: c for c in run_in(frontier.lease, wish(run_id, {A: 9})).urls}
    run_in(store, done(leased_urls["http://a.example/done"]))
    assert run_in(set_scores, scores(dict.fromkeys(leased_urls, 0.75))) == 2
    with database.engine.connect() as connection:
        changed = text("SELECT url, score, score_parts FROM url WHERE score = 0.75 ORDER BY url")
        found = connection.execute(changed).all()
    parts = '{"pagerank": 0.5}'
    assert found == [("http://a.example/1", 0.75, parts), ("http://a.example/map.xml", 0.75, parts)]


def test_scores_come_in_batches_of_bounded_size(begin: Callable, run_in: Callable) -> None:
    urls = [f"http://a.example/{i}" for i in range(2500)]
    begin(*urls)
    batches = list(scores({url: -i / 7 for i, url in enumerate(urls)}).batches())
    assert [len(batch.ids) for batch in batches] == [1000, 1000, 500]
    assert [list(batch.parts) for batch in batches] == [['{"pagerank": 0.5}'] * n for n in (1000, 1000, 500)]
    assert [run_in(set_scores, batch) for batch in batches] == [1000, 1000, 500]
    assert run_in(set_scores, scores({})) == 0


@pytest.mark.parametrize(
    ("values", "what"),
    [({"scores": np.array([np.nan])}, "nan"), ({"parts": []}, r"\(1, 1, 0\)"), ({"ids": np.arange(2)}, r"\(2, 1, 1\)")],
)
def test_wrong_scores(run_in: Callable, values: dict, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        run_in(set_scores, replace(scores({"http://a.example/": 1.0}), **values))


def scores(values: dict[str, float]) -> ScoreBatch:
    ids = np.array([fingerprint(url) for url in values], np.int64)
    return ScoreBatch(ids, np.array(list(values.values()), float), ['{"pagerank": 0.5}'] * len(values), keep=PART)


def test_hosts_without_work_are_dropped_and_found_again(begin: Callable, run_in: Callable) -> None:
    run_id = begin("http://a.example/1")
    lease = run_in(frontier.lease, wish(run_id, {A: 5})).urls[0]
    assert run_in(leases.drop_hosts, (run_id, NO_LIMITS, [A])) == {A}, "its page is still under way"
    run_in(store, done(lease))
    assert run_in(leases.drop_hosts, (run_id, NO_LIMITS, [A])) == set()
    run_in(add_urls, (NOW, [new_url("http://a.example/2")]))
    assert [h.name for h in run_in(leases.take_hosts, (run_id, 3))] == ["a.example"]
    assert run_in(leases.drop_hosts, (run_id, NO_LIMITS, [A])) == {A}
    assert run_in(leases.drop_hosts, (run_id, Limits(pages=0), [A])) == set(), "beyond the limits is no work"


def test_release(begin: Callable, run_in: Callable) -> None:
    run_id = begin("http://a.example/1")
    leased_urls = run_in(frontier.lease, wish(run_id, {A: 5})).urls
    run_in(frontier.release, (run_id, leased_urls))
    assert [c.tries for c in run_in(frontier.lease, wish(run_id, {A: 5})).urls] == [0]


def let_time_pass(database: Database, run_id: int) -> None:
    """The lease of a run ends, by the server's clock."""
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE run SET alive_until = 1 WHERE id = :id"), {"id": run_id})


def test_dead_runs_work_is_taken_up_by_a_living_one(begin: Callable, run_in: Callable, database: Database) -> None:
    dead = begin("http://a.example/1")
    run_in(frontier.lease, wish(dead, {A: 1}))
    if database.is_sqlite:
        pytest.skip("on SQLite there is one run at a time")
    living = run_in(runs.start_run, start()).run_id
    assert run_in(leases.renew, sign(living, NOW)).freed == 0
    let_time_pass(database, dead)
    assert run_in(leases.renew, sign(living, NOW)).freed == 1
    assert [h.name for h in run_in(leases.take_hosts, (living, 3))] == ["a.example"]
    with pytest.raises(DatabaseGone, match="another one took its work over"):
        run_in(leases.renew, sign(dead, NOW))


def test_outcomes_of_a_run_that_lost_its_leases_change_nothing(
    begin: Callable, run_in: Callable, database: Database
) -> None:
    run_id = begin("http://a.example/1", limits=Limits(pages=9))
    lease = run_in(frontier.lease, wish(run_id, {A: 1}, limits=Limits(pages=9))).urls[0]
    let_time_pass(database, run_id)
    run_in(runs.start_run, start(limits=Limits(pages=9)))
    run_in(store, done(lease, state=State.FAILED, counted=False))
    assert states(database)["http://a.example/1"] == State.PENDING
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT pages FROM budget")).scalar_one() == 0


def test_clean_stops_do_not_use_up_tries(begin: Callable, run_in: Callable, database: Database) -> None:
    run_id = begin("http://a.example/1")
    run_in(frontier.lease, wish(run_id, {A: 1}))
    run_in(runs.let_go, run_id)
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT tries FROM url")).scalar_one() == 0


def test_narrower_limits_apply_to_what_waits(begin: Callable, run_in: Callable, database: Database) -> None:
    let_time_pass(database, begin("http://a.example/deep", depth=5))
    run_in(runs.start_run, start(seed_row(SEED), limits=Limits(depth=1)))
    assert states(database)["http://a.example/deep"] == State.SKIPPED


def test_only_the_owner_may_lease(begin: Callable, run_in: Callable) -> None:
    begin("http://a.example/1")
    stranger = run_in(frontier.lease, wish(99, {A: 5}))
    assert stranger.urls == []
    assert stranger.dry == {A: None}


def test_closed_host_is_skipped_as_a_whole(begin: Callable, run_in: Callable, database: Database) -> None:
    run_id = begin(*[f"http://a.example/{i}" for i in range(30)])
    leased_urls = run_in(frontier.lease, wish(run_id, {A: 3}, closed=lambda _host: SkipReason.HOST_UNREACHABLE))
    assert leased_urls.skipped == {"host unreachable": 30}
    assert set(states(database).values()) == {State.SKIPPED}


def test_forgotten_hosts_are_found_again(begin: Callable, run_in: Callable, database: Database) -> None:
    begin("http://a.example/1")
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE host SET queued = 0, owner = NULL"))
    assert run_in(leases.wake_hosts, None) == 1
