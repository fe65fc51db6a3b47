"""Articles to be extracted again: which, with which pages, and that nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from db.articles import again
from db.articles.again import Wanted
from db.engine.database import Database
from db.frontier import claims
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.frontier.runs import start_run
from db.records.keys import fingerprint
from db.records.outcome import StoredPage
from db.records.reasons import PageReason
from db.records.url import State
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

URLS = [f"http://{host}.example/{n}" for host in "ab" for n in range(2)]
TEXTS = ["市图书馆新馆昨天开放。", "港口航线恢复通航。", "学校操场修整完工。", "医院门诊延长时间。"]
STORED = StoredPage("text/html", "utf-8", b"packed")


@pytest.fixture(autouse=True)
def stored(database: Database, run_in: Callable) -> None:
    """Four articles on two hosts, the first two with their pages."""
    run_id = run_in(start_run, start(seed_row("http://a.example/"))).run_id
    run_in(add_urls, (NOW, [new_url(url) for url in URLS]))
    run_in(take_hosts, (run_id, 10))
    hosts = {fingerprint(f"{name}.example"): 10 for name in "ab"}
    leases = {one.url: one for one in run_in(claims.lease, wish(run_id, hosts)).urls}
    for n, (url, words) in enumerate(zip(URLS, TEXTS, strict=True)):
        raw = STORED if n < 2 else None
        run_in(EachTimeNew().store, done(leases[url], article=article(url, words * 5), etag='"1"', raw=raw))


def found(database: Database, **values: str) -> set[str]:
    ids = again.find(database, Wanted("new 2", **values))
    return {url for url in URLS if fingerprint(url) in ids}


def test_condition_chooses_articles(database: Database) -> None:
    assert found(database) == set(URLS)
    assert found(database, host="a.example") == set(URLS[:2])
    assert found(database, since="2999-01-01T00:00:00+00:00") == set()
    assert found(database, where="url LIKE '%/1'") == {URLS[1], URLS[3]}
    assert found(database, where="url LIKE 'http://b%' AND title <> ':most' -- and so on") == set(URLS[2:])
    made = again.find(
        database, Wanted(database.read(lambda c: c.execute(text("SELECT checked_with FROM article")).scalar()))
    )
    assert list(made) == []


@pytest.mark.parametrize("where", ["nothing_known = 1", "1 = 1); DELETE FROM article; --", "(", "1=1; SELECT 1"])
def test_condition_can_change_nothing(database: Database, where: str) -> None:
    with pytest.raises(ValueError, match="cannot be used"):
        again.find(database, Wanted("new 2", where=where))
    assert found(database) == set(URLS)
    with database.engine.connect().execution_options(writer=True) as connection, connection.begin():
        connection.execute(text("UPDATE article SET source = 'x'"))  # other connections write as before


def test_pages_are_those_of_the_article_with_their_bytes(database: Database) -> None:
    ids = [fingerprint(url) for url in URLS]
    units = database.read(lambda connection: again.read(connection, ids))
    assert [unit.id for unit in units] == ids
    assert [[page.raw for page in unit.pages] for unit in units] == [[STORED], [STORED], [None], [None]]
    assert {page.lease.url for unit in units for page in unit.pages} == set(URLS)


def test_missing_pages_are_asked_for_without_validators(database: Database, run_in: Callable) -> None:
    assert run_in(again.ask, [fingerprint(URLS[3])]) == 1
    sql = "SELECT url, state, next_visit, etag FROM url WHERE kind = 'page' AND next_visit IS NOT NULL"
    rows = [tuple(row) for row in database.read(lambda connection: connection.execute(text(sql)).all())]
    assert rows == [(URLS[3], State.DONE, 0.0, None)]


THREADS = [f"http://{host}.example/thread" for host in "ab"]


def test_pages_left_out_for_their_kind_are_found_when_it_is_wanted(database: Database, run_in: Callable) -> None:
    run_in(add_urls, (NOW, [new_url(url) for url in THREADS]))
    hosts = {fingerprint(f"{name}.example"): 10 for name in "ab"}
    for lease in run_in(claims.lease, wish(1, hosts)).urls:
        if lease.url in THREADS:
            run_in(EachTimeNew().store, done(lease, reason=PageReason.THREAD, page_kind="thread"))
    shown = database.read(lambda c: c.execute(text("SELECT url, kind, reason FROM v_dropped ORDER BY url")).all())
    assert [tuple(row) for row in shown] == [(url, "thread", "forum thread") for url in THREADS]

    def others(**values: object) -> set[str]:
        ids = again.find_others(database, Wanted("new 2", **values))  # type: ignore[arg-type]
        return {url for url in (*URLS, *THREADS) if fingerprint(url) in ids}

    assert others(kinds=["article"]) == set()
    assert others(kinds=["article", "thread"]) == set(THREADS)
    assert others(kinds=["thread"], host="a.example") == {THREADS[0]}
    assert others(kinds=["thread"], since="2999-01-01T00:00:00+00:00") == set()
    assert others(kinds=["thread"], where="1 = 1") == set(), "that is of articles"
    (unit, _) = database.read(lambda c: again.read_others(c, sorted(map(fingerprint, THREADS))))
    assert (unit.is_stored, len(unit.pages), unit.pages[0].raw) == (False, 1, None)
