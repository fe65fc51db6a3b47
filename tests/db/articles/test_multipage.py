"""Parts of articles in the tables: joined in any order, with gaps, later, and never stored twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, text

from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.records.keys import fingerprint
from db.records.outcome import Outcome, Stored
from db.records.part import Place
from db.records.reasons import PageReason
from db.records.url import Lease
from tests.db.frontier_rows import NOW, article, done, new_url, start, wish
from tests.db.stores import SIGN, EachTimeNew, real_judge

TITLE = "长江大桥昨日通车"
URLS = [f"http://a.example/{n}" for n in range(1, 7)]
TEXTS = [
    f"第{n}页的正文，讲的是工程第{n * 7}个阶段，全长{n * 113}米，由{n * 19}人施工，历时{n * 3}个月。"
    for n in range(1, 7)
]
STORE = EachTimeNew(real_judge())


class Crawl:
    """Pages of one host that come one by one; all others wait to be fetched."""

    def __init__(self, database: Database, run_in: Callable) -> None:
        self.database = database
        self.run_in = run_in
        run_in(runs.start_run, start())
        run_in(add_urls, (NOW, [new_url(url) for url in URLS]))
        run_in(leases.take_hosts, (1, 9))
        leased_urls = run_in(frontier.lease, wish(1, {fingerprint("a.example"): 9})).urls
        self.leases: dict[str, Lease] = {lease.url: lease for lease in leased_urls}
        run_in(frontier.release, (1, leased_urls))

    def page(self, n: int, of: int = 3, *, number: int | None = None, body: str = "", **values: Any) -> Outcome:
        """Page `n` of `of`."""
        url = URLS[n - 1]
        place = Place(
            number=n if number is None else number,
            next_id=fingerprint(URLS[n]) if n < of else None,
            previous_id=fingerprint(URLS[n - 2]) if n > 1 else None,
        )
        new = article(url, body or TEXTS[n - 1], **{"title": TITLE, **values.pop("article", {})})
        return done(self.leases[url], article=new, **{"place": place, **values})

    def come(self, *outcomes: Outcome) -> list[Stored]:
        """Store pages in one transaction."""
        return self.run_in(self._store, outcomes)

    @staticmethod
    def _store(connection: Connection, batches: Sequence[Sequence[Outcome]]) -> list[list[Stored]]:
        for outcome in batches[0]:
            lease = "UPDATE url SET state = 'leased', leased_by = 1 WHERE id = :key"
            connection.execute(text(lease), {"key": outcome.lease.id})
        return [STORE.store(connection, batches[0])]

    def rows(self, sql: str) -> list[tuple]:
        with self.database.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]

    def articles(self) -> list[tuple[str, list[str]]]:
        """URL and lines of each article."""
        return [(url, body.split("\n")) for url, body in self.rows("SELECT url, text FROM v_articles ORDER BY url")]

    def reasons(self) -> dict[str, str]:
        return dict(self.rows("SELECT url, reason FROM v_dropped ORDER BY url"))


@pytest.fixture
def crawl(database: Database, run_in: Callable) -> Crawl:
    return Crawl(database, run_in)


def test_article_waits_for_its_parts(crawl: Crawl) -> None:
    assert [s.article for s in crawl.come(crawl.page(1))] == ["part"]
    assert [s.article for s in crawl.come(crawl.page(2))] == ["part"]
    assert crawl.articles() == []
    assert crawl.reasons() == {URLS[0]: PageReason.WAITS, URLS[1]: PageReason.WAITS}
    stored = crawl.come(crawl.page(3))[0]
    assert (stored.article, [(j.url, j.what) for j in stored.joined]) == ("part", [(URLS[0], "new")])
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]
    assert crawl.reasons() == {URLS[1]: PageReason.JOINED, URLS[2]: PageReason.JOINED}
    assert crawl.rows("SELECT DISTINCT same_as FROM v_dropped") == [(URLS[0],)]
    assert crawl.rows("SELECT position, joined FROM part ORDER BY position") == [(1, 1), (2, 1), (3, 1)]
    assert crawl.rows("SELECT articles FROM host") == [(1,)]


@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 3])), ids=str)
def test_parts_come_in_any_order(crawl: Crawl, order: tuple[int, ...]) -> None:
    for n in order[:-1]:
        crawl.come(crawl.page(n))
        assert crawl.articles() == []
    crawl.come(crawl.page(order[-1]))
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]
    assert crawl.reasons() == {URLS[1]: PageReason.JOINED, URLS[2]: PageReason.JOINED}


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)], ids=str)
def test_parts_come_together(crawl: Crawl, order: tuple[int, ...]) -> None:
    stored = crawl.come(*(crawl.page(n) for n in order))
    assert sum(len(s.joined) for s in stored) == 1
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("at_once", [1, 2])
def test_page_that_does_not_say_that_it_is_a_part(crawl: Crawl, order: tuple[int, ...], at_once: int) -> None:
    pages = {1: crawl.page(1, 2), 2: crawl.page(2, 2, place=None)}
    for i in range(0, 2, at_once):
        crawl.come(*(pages[n] for n in order[i : i + at_once]))
    assert crawl.articles() == [(URLS[0], TEXTS[:2])]
    assert crawl.reasons() == {URLS[1]: PageReason.JOINED}


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=str)
def test_first_page_that_names_no_next_one(crawl: Crawl, order: tuple[int, ...]) -> None:
    pages = {1: crawl.page(1, place=None), 2: crawl.page(2, 2)}
    for n in order:
        crawl.come(pages[n])
    assert crawl.articles() == [(URLS[0], TEXTS[:2])]


def failed(crawl: Crawl, n: int, **values: Any) -> Outcome:
    return done(crawl.leases[URLS[n - 1]], **{"state": "failed", "reason": "http error", **values})


@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 3])), ids=str)
def test_part_that_fails_leaves_the_others(crawl: Crawl, order: tuple[int, ...]) -> None:
    for n in order:
        crawl.come(failed(crawl, n) if n == 2 else crawl.page(n))
    assert crawl.articles() == [(URLS[0], [TEXTS[0], TEXTS[2]])]


def test_last_part_fails_after_several_tries(crawl: Crawl) -> None:
    crawl.come(crawl.page(1, 2))
    crawl.come(failed(crawl, 2, state="pending", reason="http error", next_visit=NOW + 60))
    assert crawl.articles() == []
    crawl.come(failed(crawl, 2))
    assert crawl.articles() == [(URLS[0], TEXTS[:1])]
    assert crawl.reasons() == {URLS[1]: "http error"}


def test_first_part_fails(crawl: Crawl) -> None:
    crawl.come(crawl.page(3), crawl.page(2))
    assert crawl.articles() == []
    crawl.come(failed(crawl, 1))
    assert crawl.articles() == [(URLS[1], TEXTS[1:3])]


@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 4])), ids=str)
def test_next_page_that_redirects(crawl: Crawl, order: tuple[int, ...]) -> None:
    moved = failed(crawl, 2, state="skipped", reason="redirect", same_as=fingerprint(URLS[3]))
    pages = {1: crawl.page(1, 2), 2: moved, 4: crawl.page(4, place=None, article={"title": TITLE + "(2)"})}
    stored = [crawl.come(pages[n])[0] for n in order]
    assert [one.url for one in stored[-1].joined] == [URLS[0]]
    assert crawl.articles() == [(URLS[0], [TEXTS[0], TEXTS[3]])]
    assert crawl.reasons() == {URLS[1]: "redirect", URLS[3]: PageReason.JOINED}


def test_next_page_that_leads_back(crawl: Crawl) -> None:
    crawl.come(crawl.page(1, 2))
    crawl.come(failed(crawl, 2, state="skipped", reason="redirect", same_as=fingerprint(URLS[0])))
    assert crawl.articles() == [(URLS[0], TEXTS[:1])]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=str)
def test_next_article_is_no_next_part(crawl: Crawl, order: tuple[int, ...]) -> None:
    pages = {1: crawl.page(1, 2), 2: crawl.page(2, 2, article={"title": "市图书馆新馆开放"})}
    for n in order:
        crawl.come(pages[n])
    assert crawl.articles() == [(URLS[0], TEXTS[:1]), (URLS[1], TEXTS[1:2])]
    assert crawl.reasons() == {}


def test_next_page_is_a_list(crawl: Crawl) -> None:
    crawl.come(crawl.page(1, 2))
    crawl.come(done(crawl.leases[URLS[1]], reason="list page"))
    assert crawl.articles() == [(URLS[0], TEXTS[:1])]
    assert crawl.reasons() == {URLS[1]: "list page"}


def test_server_that_answers_any_number_with_the_first_page(crawl: Crawl) -> None:
    crawl.come(crawl.page(1))
    crawl.come(crawl.page(2, body=TEXTS[0]))
    assert crawl.articles() == [(URLS[0], TEXTS[:1])]
    assert crawl.reasons() == {URLS[1]: PageReason.REPEATS}
    crawl.come(crawl.page(3, body=TEXTS[0]))
    assert crawl.articles() == [(URLS[0], TEXTS[:1])]


def test_unfinished_articles_when_nothing_more_will_come(crawl: Crawl) -> None:
    crawl.come(crawl.page(1), crawl.page(2))
    crawl.come(crawl.page(5, 6))
    finished = crawl.run_in(STORE.finish, None).joined
    assert sorted((one.url, one.what) for one in finished) == [(URLS[0], "new"), (URLS[4], "new")]
    assert crawl.articles() == [(URLS[0], TEXTS[:2]), (URLS[4], TEXTS[4:5])]
    assert crawl.rows("SELECT articles FROM host") == [(2,)]
    assert crawl.run_in(STORE.finish, None).joined == []


def test_later_parts_make_the_article_longer(crawl: Crawl) -> None:
    crawl.come(crawl.page(1), crawl.page(2))
    crawl.run_in(STORE.finish, None)
    crawl.come(crawl.page(3))
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]
    assert crawl.rows("SELECT text FROM article_version") == [("\n".join(TEXTS[:2]),)]
    assert crawl.rows("SELECT articles FROM host") == [(1,)]


def test_earlier_parts_give_the_article_their_address(crawl: Crawl) -> None:
    crawl.come(crawl.page(2), crawl.page(3))
    crawl.run_in(STORE.finish, None)
    assert crawl.articles() == [(URLS[1], TEXTS[1:3])]
    crawl.come(crawl.page(1))
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]
    assert crawl.reasons() == {URLS[1]: PageReason.JOINED, URLS[2]: PageReason.JOINED}
    assert crawl.rows("SELECT count(*) FROM cluster") == [(1,)]


def test_two_halves_become_one(crawl: Crawl) -> None:
    crawl.come(crawl.page(1, 4), crawl.page(4, 4))
    crawl.run_in(STORE.finish, None)
    crawl.come(crawl.page(2, 4))
    crawl.come(crawl.page(3, 4))
    assert crawl.articles() == [(URLS[0], TEXTS[:4])]
    ids = [(fingerprint(URLS[0]),)]
    assert crawl.rows("SELECT id FROM article") == ids
    assert crawl.rows("SELECT id, size FROM cluster") == [(*ids[0], 1)]
    assert crawl.rows(
        "SELECT count(*) FROM signature WHERE article_id <> 0 AND article_id NOT IN (SELECT id FROM article)"
    ) == [(0,)]


def test_other_addresses_of_the_parts(crawl: Crawl) -> None:
    crawl.come(crawl.page(1), crawl.page(2), crawl.page(3))
    again = Place(1, fingerprint(URLS[1]), None)
    crawl.come(crawl.page(5, place=again, body=TEXTS[0]))
    crawl.come(crawl.page(6, place=Place(2, fingerprint(URLS[2]), fingerprint(URLS[0])), body=TEXTS[1]))
    assert crawl.articles() == [(URLS[0], TEXTS[:3])]
    assert crawl.reasons() == {
        URLS[1]: PageReason.JOINED,
        URLS[2]: PageReason.JOINED,
        URLS[4]: PageReason.REPEATS,
        URLS[5]: PageReason.REPEATS,
    }


def test_duplicates_are_judged_by_the_whole_text(crawl: Crawl) -> None:
    whole = "\n".join(TEXTS[:3])
    sign = SIGN("", whole)
    reprint = article(URLS[5], whole, title="转载", text_hash=sign.exact, features=sign.features, length=sign.length)
    crawl.come(done(crawl.leases[URLS[5]], article=reprint))
    crawl.come(crawl.page(1), crawl.page(2))
    stored = crawl.come(crawl.page(3))[0]
    assert [one.what for one in stored.joined] == ["duplicate"]
    assert crawl.rows("SELECT duplicate_of FROM v_articles WHERE duplicate_of IS NOT NULL") == [(URLS[5],)]


def test_changed_part_changes_the_article(crawl: Crawl) -> None:
    crawl.come(crawl.page(1), crawl.page(2), crawl.page(3))
    crawl.come(crawl.page(2, body="更正：" + TEXTS[1]))
    assert crawl.articles() == [(URLS[0], [TEXTS[0], "更正：" + TEXTS[1], TEXTS[2]])]


def test_nothing_is_half_done(crawl: Crawl) -> None:
    crawl.come(crawl.page(1), crawl.page(2))
    before = crawl.rows("SELECT * FROM part ORDER BY id")
    bad = crawl.page(3, 3, article={"html": None})
    with pytest.raises(Exception, match=r"(?i)null"):
        crawl.come(bad)
    assert crawl.rows("SELECT * FROM part ORDER BY id") == before
    assert crawl.articles() == []


def test_next_part_is_fetched_before_others_also_when_it_waits_already(crawl: Crawl) -> None:
    soon = new_url(URLS[3], depth=4, score=1e6, found_in=12, soon=True)
    crawl.come(crawl.page(1, 2, new_urls=[soon]))
    leased_urls = crawl.run_in(frontier.lease, wish(1, {fingerprint("a.example"): 1})).urls
    assert [(c.url, c.depth, c.found_in) for c in leased_urls] == [(URLS[3], 1, 12)]


# ---------------------------------------------------------------- later visits


@pytest.fixture
def stored(crawl: Crawl) -> Crawl:
    """An article of three pages, all of which are visited again."""
    crawl.come(*(crawl.page(n) for n in (1, 2, 3)))
    crawl.run_in(
        lambda connection, _: [connection.execute(text("UPDATE url SET state = 'pending' WHERE visits > 0"))], 0
    )
    crawl.leases = {url: replace(lease, visits=1, http_status=200) for url, lease in crawl.leases.items()}
    return crawl


def stays(crawl: Crawl, n: int, **values: Any) -> Outcome:
    return done(crawl.leases[URLS[n - 1]], **{"reverted": True, "http_status": 304, **values})


def gone(crawl: Crawl, n: int) -> Outcome:
    return stays(crawl, n, state="failed", reason="http error", http_status=410, alive=False)


def versions(crawl: Crawl) -> int:
    return crawl.rows("SELECT count(*) FROM article_version")[0][0]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)], ids=str)
def test_parts_that_changed_together_make_one_version(stored: Crawl, order: tuple[int, ...]) -> None:
    pages = {
        1: stored.page(1, body="更正。" + TEXTS[0], article={"seen": "2025-02-01T00:00:00+00:00"}),
        2: stays(stored, 2),
        3: stored.page(3, body=TEXTS[2] + "续。", article={"seen": "2025-02-01T00:00:00+00:00"}),
    }
    for n in order[:2]:
        stored.come(pages[n])
        assert stored.articles() == [(URLS[0], TEXTS[:3])]
    stored.come(pages[order[2]])
    assert stored.articles() == [(URLS[0], ["更正。" + TEXTS[0], TEXTS[1], TEXTS[2] + "续。"])]
    assert versions(stored) == 1
    assert stored.rows("SELECT DISTINCT joined FROM part") == [(1,)]


def test_article_loses_the_last_part_when_no_page_names_it(stored: Crawl) -> None:
    stored.come(stored.page(2, of=2))
    stored.come(stays(stored, 1))
    stored.come(gone(stored, 3))
    assert stored.articles() == [(URLS[0], TEXTS[:2])]
    assert versions(stored) == 1


def test_article_whose_pages_are_all_gone_stays(stored: Crawl) -> None:
    for n in (3, 1, 2):
        stored.come(gone(stored, n))
    assert stored.articles() == [(URLS[0], TEXTS[:3])]
    assert versions(stored) == 0


def test_parts_that_move_are_parts_there(stored: Crawl) -> None:
    there = {n: fingerprint(URLS[n + 2]) for n in (1, 2, 3)}
    for n in (1, 2, 3):
        redirect = {"state": "skipped", "reason": "redirect", "http_status": 301, "same_as": there[n]}
        stored.come(done(stored.leases[URLS[n - 1]], **redirect))
    assert stored.articles() == [(URLS[0], TEXTS[:3])]  # until there is one
    for n in (1, 2, 3):
        place = Place(n, there.get(n + 1), there.get(n - 1))
        new = article(URLS[n + 2], TEXTS[n - 1], title=TITLE)
        stored.come(done(stored.leases[URLS[n + 2]], article=new, place=place))
    assert stored.articles() == [(URLS[3], TEXTS[:3])]
    assert versions(stored) == 0


def test_joined_text_is_described(crawl: Crawl) -> None:
    crawl.come(*(crawl.page(n, article={"keywords": "of a page", "memberships": [("page", 1.0)]}) for n in (1, 2, 3)))
    described = crawl.rows("SELECT keywords, classes, harm, harm_kind, name, membership FROM article, article_class")
    assert described == [("3", "3", 0.1, "", "3", 0.5)]
    assert crawl.rows("SELECT reason FROM url JOIN article USING (id)") == [(None,)]
    links = {"harm": 0.9, "harm_kind": "hijacked", "harm_detail": "hijacked (links: x)"}
    crawl.come(crawl.page(1, article=links))
    assert crawl.rows("SELECT keywords, harm, harm_kind FROM article") == [("3", 0.9, "hijacked")]
    flagged = crawl.rows("SELECT reason, reason_detail FROM url JOIN article USING (id)")
    assert flagged == [("harmful", "hijacked (links: x)")]


def test_joined_copy_is_no_other_address_of_what_it_repeats(crawl: Crawl) -> None:
    body = "\n".join(TEXTS[:2])
    sign = SIGN("", body)
    signed = {"text_hash": sign.exact, "features": sign.features, "length": sign.length}
    whole = {"body": body, "place": None}
    crawl.come(crawl.page(6, **whole, article=signed | {"title": "桥通车了"}))
    crawl.come(crawl.page(1, 2))
    stored = crawl.come(crawl.page(2, 2))[0]
    assert [(one.url, one.what) for one in stored.joined] == [(URLS[0], "duplicate")]
    assert crawl.rows(f"SELECT reason, same_as FROM url WHERE url = '{URLS[0]}'") == [(None, None)]
    assert crawl.come(crawl.page(5, **whole, article=signed))[0].article == "same page"
    assert [url for url, _ in crawl.articles()] == [URLS[0], URLS[5]]
