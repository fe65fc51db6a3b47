"""What a ranking process reads beside a crawl: everything once, whatever came late, in pieces of any size."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sqlalchemy import text

from db.engine.database import Database, open_for_crawl, open_for_reading
from db.engine.writer import Writer
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.queries.graph import KINDS, STATES, FetchedRows, GraphReader, LinkRows, Params, Rows, TermRows, UrlRows
from db.records.keys import fingerprint
from db.records.outcome import Edges, Outcome
from db.records.url import Kind, Lease, State
from tests.db.frontier_rows import NOW, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

A, B = fingerprint("a.example"), fingerprint("b.example")
store = EachTimeNew().store
SMALL = Params(urls=7, pages=3)


def page(number: int, host: str = "a.example") -> str:
    return f"http://{host}/{number}"


def key(number: int) -> int:
    return fingerprint(page(number))


@pytest.fixture
def leased_urls(run_in: Callable) -> dict[str, Lease]:
    """Twenty pages that are under way."""
    run_id = run_in(runs.start_run, start(seed_row("http://a.example/"))).run_id
    run_in(add_urls, (NOW - 60, [new_url(page(n), score=1 - n / 100) for n in range(20)]))
    run_in(leases.take_hosts, (run_id, 9))
    return {lease.url: lease for lease in run_in(frontier.lease, wish(run_id, {A: 20})).urls}


@pytest.fixture
def reader(database: Database, database_url: str) -> Iterator[GraphReader]:
    """A reader as it is in its own process, with a connection of its own."""
    opened = open_for_reading(database_url)
    made = GraphReader(opened, SMALL)
    yield made
    made.close()
    opened.close()


def fetched(lease: Lease, at: float, targets: tuple[int, ...] = (), **values: object) -> Outcome:
    links = Edges([key(n) for n in targets], bytes([n % 7 for n in targets]))
    return done(lease, fetched_at=at, links=links, **values)


def of_type(rows: list[Rows], kind: type) -> list:
    return [row for row in rows if isinstance(row, kind)]


def found(rows: list[Rows]) -> list[int]:
    return [n for piece in of_type(rows, UrlRows) for n in piece.ids.tolist()]


def links(rows: list[Rows]) -> dict[int, list[tuple[int, int]]]:
    """Source -> targets with their blocks, in the order of the sources."""
    result: dict[int, list[tuple[int, int]]] = {}
    for piece in of_type(rows, LinkRows):
        assert piece.counts.sum() == len(piece.targets) == len(piece.blocks)
        ends = np.cumsum(piece.counts)
        for source, first, end in zip(piece.sources.tolist(), ends - piece.counts, ends, strict=True):
            assert source not in result, "each page once"
            result[source] = list(zip(piece.targets[first:end].tolist(), piece.blocks[first:end].tolist(), strict=True))
    return result


def test_everything_is_read_in_small_pieces(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    for n in range(10):
        run_in(store, fetched(leased_urls[page(n)], NOW + (n * 7) % 10, (n + 1, n + 2)))
    rows = list(reader.read(NOW + 20))
    assert sorted(found(rows)) == sorted(key(n) for n in range(20))
    assert max(len(piece.ids) for piece in of_type(rows, UrlRows)) == 7
    in_time = sorted(range(10), key=lambda n: (n * 7) % 10)
    assert list(links(rows)) == [key(n) for n in in_time], "in the order in which they were fetched"
    assert max(len(piece.sources) for piece in of_type(rows, LinkRows)) == 3
    assert all(sorted(links(rows)[key(n)]) == sorted((key(m), m % 7) for m in (n + 1, n + 2)) for n in range(10))
    assert list(reader.read(NOW + 21)) == []


def test_columns_of_urls(run_in: Callable, database: Database) -> None:
    run_in(runs.start_run, start(seed_row("http://a.example/")))
    odd = new_url("http://b.example/feed", kind="feed", depth=3, found_in=7, dated=NOW - 5.5, reason="outside")
    run_in(add_urls, (NOW, [new_url(page(1)), odd]))
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE host SET site_id = 77 WHERE name = 'b.example'"))
        connection.execute(text("DELETE FROM host WHERE name = 'a.example'"))
    reader = GraphReader(database, Params(texts=True))
    (rows,) = reader.read(NOW)
    reader.close()
    assert isinstance(rows, UrlRows)
    assert rows.ids.tolist() == [key(1), odd.id]
    assert (rows.hosts.tolist(), rows.sites.tolist()) == ([A, B], [0, 77])
    assert [KINDS[code] for code in rows.kinds] == [Kind.PAGE, Kind.FEED]
    assert [STATES[code] for code in rows.states] == [State.PENDING, State.SKIPPED]
    assert (rows.depths.tolist(), rows.found_in.tolist()) == ([1, 3], [1, 7])
    assert rows.dated.tolist() == [0.0, NOW - 5.5]
    assert rows.urls == [page(1), "http://b.example/feed"]
    types = [str(column.dtype) for column in (rows.ids, rows.kinds, rows.depths, rows.dated)]
    assert types == ["int64", "uint8", "int32", "float64"]


def test_late_rows_are_read_too_and_once(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    """Another process, whose clock is slow, or whose page waited for a worker."""
    run_in(store, fetched(leased_urls[page(1)], NOW + 50, (5,)))
    assert list(links(list(reader.read(NOW + 50)))) == [key(1)]
    late = fetched(leased_urls[page(2)], NOW - 60, (6, 7), new_urls=[new_url("http://b.example/late")])
    run_in(store, late)
    run_in(store, fetched(leased_urls[page(3)], NOW + 51, (8,)))
    rows = list(reader.read(NOW + 51))
    assert list(links(rows)) == [key(2), key(3)]
    assert found(rows) == [fingerprint("http://b.example/late")]
    assert list(reader.read(NOW + 52)) == []


def test_clock_that_is_fast_hides_nothing(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    run_in(store, fetched(leased_urls[page(1)], NOW + 9000, (5,), new_urls=[new_url("http://b.example/1")]))
    assert list(links(list(reader.read(NOW)))) == [key(1)]
    run_in(store, fetched(leased_urls[page(2)], NOW + 1, (6,), new_urls=[new_url("http://b.example/2")]))
    rows = list(reader.read(NOW + 200))
    assert (list(links(rows)), found(rows)) == ([key(2)], [fingerprint("http://b.example/2")])
    run_in(store, fetched(leased_urls[page(3)], NOW + 201, (7,)))
    assert list(links(list(reader.read(NOW + 202)))) == [key(3)]


def test_urls_found_by_a_shorter_way_are_told_again(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    run_in(add_urls, (NOW, [new_url("http://b.example/", depth=5)]))
    assert len(found(list(reader.read(NOW)))) == 21
    run_in(store, fetched(leased_urls[page(1)], NOW + 5, new_urls=[new_url("http://b.example/", depth=2, found_in=0)]))
    (again,) = of_type(list(reader.read(NOW + 6)), UrlRows)
    assert (again.ids.tolist(), again.depths.tolist()) == ([fingerprint("http://b.example/")], [2])
    assert again.found_in.tolist() == [0]


def test_urls_that_left_the_queue(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    list(reader.read(NOW))
    run_in(store, fetched(leased_urls[page(1)], NOW + 1, (5,)))
    run_in(store, fetched(leased_urls[page(2)], NOW + 2, state=State.FAILED, reason="http error"))
    run_in(store, fetched(leased_urls[page(3)], NOW + 3, (9,), state=State.SKIPPED, reason="redirect", same_as=key(9)))
    run_in(store, fetched(leased_urls[page(4)], NOW + 4, state=State.PENDING, reason="http error", next_visit=NOW + 9))
    run_in(store, fetched(leased_urls[page(5)], NOW + 5))
    rows = list(reader.read(NOW + 6))
    states = [(k, STATES[s]) for r in of_type(rows, FetchedRows) for k, s in zip(r.ids.tolist(), r.states, strict=True)]
    assert states == [
        (key(1), State.DONE),
        (key(2), State.FAILED),
        (key(3), State.SKIPPED),
        (key(5), State.DONE),
    ], "one that is tried again waits still"
    assert list(links(rows)) == [key(1), key(3), key(5)], "a redirect leads somewhere, a failure nowhere"
    assert links(rows)[key(5)] == []


def test_words_of_pages(leased_urls: dict, run_in: Callable, reader: GraphReader, database: Database) -> None:
    run_in(store, fetched(leased_urls[page(1)], NOW + 1, terms=(0.25, b"\0\xff")))
    run_in(store, fetched(leased_urls[page(2)], NOW + 2))
    (rows,) = of_type(list(reader.read(NOW + 3)), TermRows)
    assert (rows.ids.tolist(), rows.relevance.tolist(), rows.terms) == ([key(1)], [0.25], [b"\0\xff"])
    assert rows.wasted.tolist() == [False]
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE url SET state = 'leased', leased_by = 1 WHERE id = :key"), {"key": key(1)})
    run_in(store, fetched(leased_urls[page(1)], NOW + 9, terms=(0.5, b"new"), reason="same page"))
    (rows,) = of_type(list(reader.read(NOW + 9)), TermRows)
    assert (rows.relevance.tolist(), rows.wasted.tolist(), rows.terms) == ([0.5], [True], [b"new"])


def test_graph_is_read_while_a_crawl_writes(leased_urls: dict, database: Database, database_url: str) -> None:
    """Pages are stored in another order than they were fetched in, while the reader asks again and again."""
    opened = open_for_reading(database_url)
    reader = GraphReader(opened, SMALL)
    writing = open_for_crawl(database_url) if not database.is_sqlite else database
    writer = Writer(writing, patience_seconds=20, waiting=lambda _: None)
    order = np.random.default_rng(1).permutation(20).tolist()

    def write() -> None:
        for n in order:
            new_urls = [new_url(f"http://b.example/{n}/{i}") for i in range(5)]
            writer.submit(store, fetched(leased_urls[page(n)], NOW + n, (n + 1,), new_urls=new_urls)).result(300)

    thread = threading.Thread(target=write)
    thread.start()
    rows: list[Rows] = []
    while thread.is_alive():
        rows += reader.read(NOW + 30)
    rows += reader.read(NOW + 30)
    thread.join()
    writer.close()
    if writing is not database:
        writing.close()
    assert len(found(rows)) == len(set(found(rows))) == 120
    assert set(links(rows)) == {key(n) for n in range(20)}
    reader.close()
    opened.close()


def test_reading_the_graph_writes_nothing(reader: GraphReader, database: Database) -> None:
    list(reader.read(NOW))
    wrong = database.engine.dialect.loaded_dbapi.Error
    with pytest.raises(wrong, match=r"read-?only"):
        reader._source._connection.execute("DELETE FROM url")


def test_lost_connection_costs_nothing(leased_urls: dict, run_in: Callable, reader: GraphReader) -> None:
    list(reader.read(NOW))
    reader._source._connection.close()
    with pytest.raises(Exception, match="closed"):
        list(reader.read(NOW))
    run_in(store, fetched(leased_urls[page(1)], NOW + 1, (5,)))
    assert list(links(list(reader.read(NOW + 2)))) == [key(1)]


@pytest.mark.parametrize("params", [Params(urls=0), Params(pages=0), Params(overlap_seconds=-1.0)])
def test_wrong_params(database: Database, params: Params) -> None:
    with pytest.raises(ValueError, match="must have"):
        GraphReader(database, params)


def test_reader_with_a_bound_leaves_out_what_was_found_first(
    run_in: Callable, leased_urls: dict[str, Lease], database: Database, database_url: str
) -> None:
    run_in(store, fetched(leased_urls[page(1)], NOW + 1, (2,)))
    run_in(add_urls, (NOW, [new_url(page(n, "b.example")) for n in range(5)]))
    run_in(store, fetched(leased_urls[page(2)], NOW + 2, (3, 1)))
    opened = open_for_reading(database_url)
    bounded = GraphReader(opened, Params(urls=7, pages=3, most=5))
    rows = list(bounded.read(NOW + 9))
    ids = [key for piece in rows if isinstance(piece, UrlRows) for key in piece.ids.tolist()]
    newest = {fingerprint(page(n, "b.example")) for n in range(5)}
    assert {fingerprint("http://a.example/"), *newest, key(1), key(2)} >= set(ids) >= {*newest, key(1), key(2)}
    assert len(ids) == len(set(ids))
    assert [piece.sources.tolist() for piece in rows if isinstance(piece, LinkRows)] == [[key(1), key(2)]]
    assert not bounded.is_whole
    run_in(add_urls, (NOW + 3, [new_url(page(99))]))
    (later,) = (piece for piece in bounded.read(NOW + 10) if isinstance(piece, UrlRows))
    assert later.ids.tolist() == [key(99)]
    bounded.close()
    opened.close()
