"""Signatures: read by every process, in step with the articles whatever happens, made anew in another form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from db.articles import signatures
from db.articles.page_transaction import Store
from db.engine.database import Database
from db.records.keys import day_of
from db.records.signature import Reader, SignatureDifferences
from pipelines.dedup import method
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.terms import index_terms
from tests.db.articles.test_clusters import MORE, OTHER, STORY, Crawl, story
from tests.db.frontier_rows import article, done
from tests.db.stores import METHOD, SIGN, real_judge, store_of

pytestmark = pytest.mark.dialects


@pytest.fixture
def crawl(run_in: Callable, database: Database) -> Crawl:
    return Crawl(run_in, database)


def check(database: Database) -> SignatureDifferences:
    with database.engine.connect() as connection:
        return signatures.check(connection, METHOD.form, SIGN)


def load(run_in: Callable, index: SignatureIndex) -> list[str]:
    said: list[str] = []
    run_in(signatures.load, Reader(index, SIGN, said.append))
    return said


def outcome(crawl: Crawl, host: str, number: int, body: str) -> Any:
    lease = crawl.leases[f"http://{host}.example/{number}"]
    sign = SIGN("", body)
    new = article(lease.url, body, title=host, text_hash=sign.exact, features=sign.features, length=sign.length)
    return done(lease, article=new)


def test_signatures_and_articles_agree_and_a_rebuild_changes_nothing(
    crawl: Crawl, run_in: Callable, database: Database
) -> None:
    load(run_in, SignatureIndex(METHOD, None))
    for number, (host, body) in enumerate([("a", STORY), ("b", STORY), ("c", MORE), ("d", OTHER), ("a", MORE)]):
        crawl.come(host, number, body)
    crawl.come("d", 3, story(1))
    found = check(database)
    assert not found
    assert found.signatures == 3
    before = crawl.rows("SELECT article_id, day, length, features FROM signature WHERE article_id <> 0 ORDER BY number")
    reader = Reader(SignatureIndex(METHOD, None), SIGN, print)
    run_in(lambda connection, _: [signatures.rebuild(connection, reader)], None)
    assert sorted(crawl.rows("SELECT article_id, day, length, features FROM signature")) == sorted(before)
    assert not check(database)


def test_differences_are_found(crawl: Crawl, run_in: Callable, database: Database) -> None:
    load(run_in, SignatureIndex(METHOD, None))
    for number, body in enumerate([STORY, OTHER, story(1)]):
        crawl.come("a", number, body)
    ids = [row[0] for row in crawl.rows("SELECT article_id FROM signature ORDER BY number")]

    def break_it(connection: Connection, _: Any) -> list[None]:
        connection.execute(text("DELETE FROM signature WHERE article_id = :key"), {"key": ids[0]})
        connection.execute(text("UPDATE article SET text = :body WHERE id = :key"), {"key": ids[1], "body": story(2)})
        for table in ("article", "cluster"):
            connection.execute(text(f"DELETE FROM {table} WHERE id = :key"), {"key": ids[2]})
        connection.execute(text("UPDATE signature_form SET form = 'other'"))
        return [None]

    run_in(break_it, None)
    found = check(database)
    assert (found.missing, found.wrong, found.orphans, found.form) == ([ids[0]], [ids[1]], [ids[2]], True)
    assert load(run_in, SignatureIndex(METHOD, None)), "made anew, and said so"
    assert not check(database)


def test_index_in_memory_follows_the_table(crawl: Crawl, run_in: Callable) -> None:
    index = SignatureIndex(METHOD, None)
    store = Store(1, real_judge(), index, store_of().joiner, index_terms)
    assert run_in(store.store, outcome(crawl, "a", 1, STORY)).article == "new"
    crawl.come("b", 1, OTHER)  # another process, which knows nothing of this index
    assert run_in(store.store, outcome(crawl, "c", 1, OTHER)).article == "duplicate"
    assert run_in(store.store, outcome(crawl, "c", 2, MORE)).article == "duplicate"
    numbers = [row[0] for row in crawl.rows("SELECT number FROM signature ORDER BY number")]
    assert numbers == list(range(1, len(numbers) + 1))


def test_transaction_that_fails_leaves_nothing_in_memory(crawl: Crawl, run_in: Callable) -> None:
    index = SignatureIndex(METHOD, None)
    store = Store(1, real_judge(), index, store_of().joiner, index_terms)
    run_in(store.store, outcome(crawl, "a", 1, STORY))

    def fail(connection: Connection, payload: Any) -> None:
        store.store(connection, payload)
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        run_in(fail, outcome(crawl, "a", 2, OTHER))
    crawl.come("b", 1, story(1))  # gets the number that the failed transaction had given away
    assert run_in(store.store, outcome(crawl, "b", 2, OTHER)).article == "new"
    assert run_in(store.store, outcome(crawl, "c", 2, story(1))).article == "duplicate"
    assert run_in(store.store, outcome(crawl, "d", 2, OTHER)).article == "duplicate"
    assert len(crawl.rows("SELECT 1 FROM signature")) == 3


def test_window_forgets_what_is_old(crawl: Crawl, run_in: Callable) -> None:
    crawl.come("a", 1, STORY, seen="2025-01-01T00:00:00+00:00")
    crawl.come("a", 2, OTHER, seen="2025-02-01T00:00:00+00:00")
    index = SignatureIndex(METHOD, 7)
    run_in(lambda connection, _: [signatures.catch_up(connection, index)], None)
    sign = SIGN("", STORY)
    day = day_of("2025-01-08")
    assert len(index.candidates(day, sign.length, sign.features)) == 1
    assert len(index.candidates(day + 1, sign.length, sign.features)) == 0
    load(run_in, index)
    recent = SignatureIndex(METHOD, 7)
    load(run_in, recent)
    assert len(recent.candidates(day, sign.length, sign.features)) == 0, "not even loaded"


def answers(run_in: Callable, index: SignatureIndex) -> list[Sequence[int]]:
    """Articles that each of some texts may repeat, told by an index just loaded."""
    load(run_in, index)
    signed = [SIGN("", body) for body in (STORY, OTHER, MORE, MORE[len(STORY) :], story(1), story(2), story(3))]
    return [sorted(index.candidates(day_of("2025-01-01"), one.length, one.features)) for one in signed]


def test_saved_index_answers_as_the_table_does(
    crawl: Crawl, run_in: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.dedup.index._YOUNG", 1)
    folder = tmp_path / "news.db.duplicates"

    def saved() -> SignatureIndex:
        return SignatureIndex(METHOD, None, 1, folder)

    index = saved()
    store = Store(1, real_judge(), index, store_of().joiner, index_terms)
    load(run_in, index)
    for host, body in zip("abcd", [STORY, OTHER, MORE, story(1)], strict=True):
        run_in(store.store, outcome(crawl, host, 1, body))
    index.save()
    crawl.come("b", 2, story(2))  # another process
    ids = dict(crawl.rows("SELECT number, article_id FROM signature"))
    for change in (
        lambda connection: None,
        lambda connection: signatures.move(connection, ids[2], 77),
        lambda connection: signatures.remove(connection, [ids[1]]),
        lambda connection: signatures.hand_over(connection, ids[4], 88),
        lambda connection: connection.execute(text("DELETE FROM signature WHERE number = 3")),
    ):
        run_in(lambda connection, _, change=change: [change(connection)], None)
        assert saved().restore()
        index = saved()
        expected = answers(run_in, SignatureIndex(METHOD, None))
        assert answers(run_in, index) == expected != []
        index.save()
    assert expected[0] != expected[1] != []
    for run in folder.glob("*.run"):
        run.write_bytes(run.read_bytes()[:-8])
    assert not saved().restore()
    assert answers(run_in, saved()) == expected


def test_another_method_has_another_form() -> None:
    assert method("combined", {"sample": 32}).form != METHOD.form
