"""Articles to be extracted or described again: which, with which pages, and that nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import text

from db.articles import descriptions, rework
from db.articles.descriptions import Redescribed
from db.articles.rework import Wanted
from db.engine.database import Database
from db.frontier import claims
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.frontier.runs import start_run
from db.records.keys import fingerprint
from db.records.outcome import StoredPage
from db.records.reasons import PageReason
from db.records.search import SearchFilter
from db.records.url import State
from db.search.find import candidates
from pipelines.records import Description
from pipelines.search.terms import index_terms
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
    ids = rework.find(database, Wanted("new 2", **values))
    return {url for url in URLS if fingerprint(url) in ids}


def test_condition_chooses_articles(database: Database) -> None:
    assert found(database) == set(URLS)
    assert found(database, host="a.example") == set(URLS[:2])
    assert found(database, since="2999-01-01T00:00:00+00:00") == set()
    assert found(database, where="url LIKE '%/1'") == {URLS[1], URLS[3]}
    assert found(database, where="url LIKE 'http://b%' AND title <> ':most' -- and so on") == set(URLS[2:])
    made = rework.find(
        database, Wanted(database.read(lambda c: c.execute(text("SELECT checked_with FROM article")).scalar()))
    )
    assert list(made) == []


@pytest.mark.parametrize("where", ["nothing_known = 1", "1 = 1); DELETE FROM article; --", "(", "1=1; SELECT 1"])
def test_condition_can_change_nothing(database: Database, where: str) -> None:
    with pytest.raises(ValueError, match="cannot be used"):
        rework.find(database, Wanted("new 2", where=where))
    assert found(database) == set(URLS)
    with database.engine.connect().execution_options(writer=True) as connection, connection.begin():
        connection.execute(text("UPDATE article SET source = 'x'"))  # other connections write as before


def test_pages_are_those_of_the_article_with_their_bytes(database: Database) -> None:
    ids = [fingerprint(url) for url in URLS]
    units = database.read(lambda connection: rework.read(connection, ids))
    assert [unit.id for unit in units] == ids
    assert [[page.raw for page in unit.pages] for unit in units] == [[STORED], [STORED], [None], [None]]
    assert {page.lease.url for unit in units for page in unit.pages} == set(URLS)


def test_missing_pages_are_asked_for_without_validators(database: Database, run_in: Callable) -> None:
    assert run_in(rework.ask, [fingerprint(URLS[3])]) == 1
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
        ids = rework.find_others(database, Wanted("new 2", **values))  # type: ignore[arg-type]
        return {url for url in (*URLS, *THREADS) if fingerprint(url) in ids}

    assert others(kinds=["article"]) == set()
    assert others(kinds=["article", "thread"]) == set(THREADS)
    assert others(kinds=["thread"], host="a.example") == {THREADS[0]}
    assert others(kinds=["thread"], since="2999-01-01T00:00:00+00:00") == set()
    assert others(kinds=["thread"], where="1 = 1") == set(), "that is of articles"
    (unit, _) = database.read(lambda c: rework.read_others(c, sorted(map(fingerprint, THREADS))))
    assert (unit.is_stored, len(unit.pages), unit.pages[0].raw) == (False, 1, None)


# ---------------------------------------------------------------- described again


def describe(run_in: Callable, database: Database, description: Description, *urls: str) -> int:
    """Articles that are described in another way now."""
    found = database.read(lambda connection: descriptions.read(connection, list(map(fingerprint, urls))))
    assert [len(one) for one in found] == [9] * len(urls)
    return run_in(partial(descriptions.write, index_terms), [Redescribed(one, description.values()) for one in found])


def of_urls(database: Database, columns: str) -> list[tuple]:
    sql = f"SELECT {columns} FROM url JOIN article USING (id) ORDER BY url.url"
    return [tuple(row) for row in database.read(lambda connection: connection.execute(text(sql)).all())]


def of_class(database: Database, name: str) -> list[str]:
    """Articles that a search by class finds."""
    found = database.read(
        lambda connection: candidates(connection, [], SearchFilter(classes=(name,) if name else ()), 10)
    )
    return [url for url in URLS if fingerprint(url) in {row.article_id for row in found.rows}]


def test_articles_are_described_again_once(database: Database, run_in: Callable) -> None:
    sport = Description(("鞋",), "踢球。", ("sport",), (("sport", 0.75),), 0.25, described_with="new 1")
    assert describe(run_in, database, sport, *URLS[:3]) == 3
    assert of_urls(database, "keywords, summary, harm") == [("鞋", "踢球。", 0.25)] * 3 + [("", "", None)]
    assert (of_class(database, "sport"), of_class(database, "")) == (URLS[:3], URLS)
    rows = of_urls(database, "(SELECT membership FROM article_class WHERE article_id = id)")
    assert rows == [(0.75,)] * 3 + [(None,)]
    wanted = Wanted("new 1", kinds=["article"])
    assert descriptions.find(database, wanted).tolist() == [fingerprint(URLS[3])]
    assert descriptions.find(database, replace(wanted, host="a.example")).tolist() == []
    assert descriptions.find(database, replace(wanted, kinds=["thread"])).tolist() == []
    assert describe(run_in, database, replace(sport, described_with="new 2"), *URLS[:3]) == 0
    assert len(descriptions.find(database, replace(wanted, made_with="new 2"))) == 1
    assert describe(run_in, database, replace(sport, memberships=(("sport", 0.5),)), URLS[0]) == 1
    assert describe(run_in, database, Description(), *URLS[:3]) == 3
    assert of_class(database, "sport") == []
    rows = of_urls(database, "(SELECT membership FROM article_class WHERE article_id = id)")
    assert rows == [(None,)] * 4


def test_reason_of_a_url_follows_the_verdict(database: Database, run_in: Callable) -> None:
    reasons = (PageReason.OFF_TOPIC, PageReason.DOUBTFUL_ENCODING)
    for url, reason in zip(URLS, reasons, strict=False):
        sql = f"UPDATE url SET reason = '{reason}' WHERE url = '{url}'"
        database.write(lambda connection, sql=sql: [connection.execute(text(sql))])
    harmful = Description(harm=0.9, harm_kind="fraud", harm_reasons="text: x")
    assert describe(run_in, database, harmful, *URLS[:3]) == 3
    flagged = ("harmful", "fraud (text: x)")
    shown = of_urls(database, "reason, reason_detail")
    assert shown == [(PageReason.OFF_TOPIC, None), flagged, flagged, (None, None)]
    assert describe(run_in, database, Description(harm=0.1), *URLS) == 4
    assert of_urls(database, "reason, reason_detail") == [(PageReason.OFF_TOPIC, None), *[(None, None)] * 3]


def test_articles_described_later_keep_the_verdict_of_their_page(database: Database, run_in: Callable) -> None:
    find = partial(descriptions.find_undescribed, {"article"})
    judged = Description(harm=0.9, harm_kind="fraud", harm_reasons="text: x")
    describe(run_in, database, judged, *URLS[:2])
    assert set(database.read(find)) == set(map(fingerprint, URLS))
    assert not database.read(partial(descriptions.find_undescribed, {"thread"}))
    rest = Description(("鞋",), described_with="new 1").values()
    for name in descriptions.OF_HARM:
        del rest[name]
    read = partial(descriptions.read_undescribed, ids=[fingerprint(URLS[0])])
    (found,) = database.read(read)
    assert run_in(partial(descriptions.write, index_terms), [Redescribed(found, rest)]) == 1
    shown = of_urls(database, "keywords, harm, harm_kind, reason")
    assert shown == [("鞋", 0.9, "fraud", "harmful"), ("", 0.9, "fraud", "harmful"), *[("", None, "", None)] * 2]
    assert database.read(read) == []
    assert set(database.read(find)) == set(map(fingerprint, URLS[1:]))


def test_article_that_was_written_meanwhile_keeps_its_description(database: Database, run_in: Callable) -> None:
    (found,) = database.read(lambda connection: descriptions.read(connection, [fingerprint(URLS[0])]))
    assert (found.title, found.text, found.body) == ("题目", TEXTS[0] * 5, STORED.body)
    late = Redescribed(found._replace(updated="before"), Description(("鞋",)).values())
    assert run_in(partial(descriptions.write, index_terms), [late]) == 0
    assert of_urls(database, "keywords") == [("",)] * 4
