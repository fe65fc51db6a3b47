"""URLs outside whose rows are pruned: ranks stay, links to them make no new rows, and they may come inside."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from random import Random

import numpy as np
import pytest
from sqlalchemy import text

from crawler.rank import pagerank, siterank
from crawler.rank.graph import LinkGraph
from db.engine.database import Database, open_for_reading
from db.frontier import runs
from db.frontier.insert import add_urls
from db.frontier.retention import prune
from db.queries.graph import GraphReader, LinkRows, Params, UrlRows
from db.records.keys import fingerprint
from db.records.reasons import SkipReason
from db.records.url import Pruning

from ..frontier_rows import NOW, new_url, seed_row, start

OUTSIDE = SkipReason.OUTSIDE
INSIDE = [f"http://a.example/{n}" for n in range(40)]
ELSEWHERE = [f"http://h{n % 30}.example/{n}" for n in range(1_300)]


@pytest.fixture
def crawled(run_in: Callable, database: Database) -> None:
    """Forty pages that were fetched, each with links to five of them and to sixty outside."""
    run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(url) for url in INSIDE]))
    run_in(add_urls, (NOW, [new_url(url, reason=OUTSIDE) for url in ELSEWHERE]))
    choose = Random(1)
    rows = [
        {"source": fingerprint(source), "target": fingerprint(target), "block": choose.randrange(7)}
        for source in INSIDE
        for target in (*choose.sample(INSIDE, 5), *choose.sample(ELSEWHERE, 60))
    ]
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO link VALUES (:source, :target, :block)"), rows)
        ids = [{"id": fingerprint(url)} for url in INSIDE]
        connection.execute(text("UPDATE url SET state = 'done', visits = 1, fetched_at = found_at WHERE id = :id"), ids)


def prune_all(run_in: Callable, before: float = NOW + 9) -> int:
    """How many calls it took."""
    after: float | None = 0.0
    for calls in range(10):
        after = run_in(prune, Pruning(after, before))
        if after is None:
            return calls
    raise AssertionError("there is no end")


def ranks(database_url: str) -> dict[str, dict[int, float]]:
    """PageRank of pages and SiteRank of sites, by identifier."""
    graph = LinkGraph()
    with closing(open_for_reading(database_url)) as database:
        reader = GraphReader(database, Params(urls=500, texts=True))
        for rows in reader.read(NOW + 60):
            if isinstance(rows, UrlRows):
                assert len(rows.urls) == len(rows.ids)
                graph.add_pages(rows.ids, rows.hosts, rows.sites)
            elif isinstance(rows, LinkRows):
                graph.add_links(rows.sources, rows.counts, rows.targets, rows.blocks)
        reader.close()
    sites, scores = np.unique(graph.site_ids[graph.site_numbers], return_index=True)
    of_sites = siterank.score(graph)[scores]
    return {
        "pages": dict(zip(graph.ids.tolist(), pagerank.score(graph).tolist(), strict=True)),
        "sites": dict(zip(sites.tolist(), of_sites.tolist(), strict=True)),
    }


def states(database: Database) -> dict[str, str]:
    with database.engine.connect() as connection:
        return {row.url: row.state for row in connection.execute(text("SELECT url, state FROM url"))}


def test_ranks_stay_what_they_are(run_in: Callable, crawled: None, database: Database, database_url: str) -> None:
    before = ranks(database_url)
    assert len(before["sites"]) == 31
    assert prune_all(run_in) == 2, "a thousand at a time"
    assert set(states(database)) == set(INSIDE)
    after = ranks(database_url)
    for kind in ("pages", "sites"):
        assert after[kind].keys() == before[kind].keys()
        assert [after[kind][key] for key in before[kind]] == pytest.approx(list(before[kind].values()), rel=1e-6)


def test_young_rows_and_named_ones_stay(run_in: Callable, crawled: None, database: Database) -> None:
    with database.engine.begin() as connection:
        ids = {"source": fingerprint(INSIDE[0]), "target": fingerprint(ELSEWHERE[0])}
        connection.execute(text("UPDATE url SET same_as = :target WHERE id = :source"), ids)
        late = {"at": NOW + 100, "id": fingerprint(ELSEWHERE[1])}
        connection.execute(text("UPDATE url SET found_at = :at WHERE id = :id"), late)
    prune_all(run_in)
    assert set(states(database)) == {*INSIDE, *ELSEWHERE[:2]}


def test_pruned_url_makes_no_new_row_unless_it_is_inside(run_in: Callable, crawled: None, database: Database) -> None:
    prune_all(run_in)
    again = run_in(add_urls, (NOW, [new_url(url, reason=OUTSIDE) for url in ELSEWHERE[:5]]))
    assert (again.new_urls, again.queued) == (0, 0)
    found = run_in(add_urls, (NOW, [new_url(ELSEWHERE[0]), new_url(ELSEWHERE[1], reason=SkipReason.TOO_DEEP)]))
    assert (found.new_urls, found.queued) == (2, 1)
    assert states(database)[ELSEWHERE[0]] == "pending"
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM outside")).scalar_one() == len(ELSEWHERE) - 2
