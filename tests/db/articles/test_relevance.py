from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sqlalchemy import text

from db.articles.relevance import RelevanceBatch, set_relevance
from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.records.keys import fingerprint
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import store_of


def test_relevance_of_pages_articles_and_reasons_is_written(database: Database, run_in: Callable) -> None:
    urls = [f"http://a.example/{number}" for number in range(3)]
    ids = [fingerprint(url) for url in urls]
    resumed = run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(url) for url in urls]))
    run_in(leases.take_hosts, (resumed.run_id, 9))
    leased = run_in(frontier.lease, wish(resumed.run_id, {fingerprint("a.example"): 9})).urls
    for lease in leased:
        is_list = lease.url == urls[2]
        made = None if is_list else article(lease.url, f"the text of {lease.url}", relevance=0.5)
        run_in(store_of(resumed.run_id).store, done(lease, article=made, terms=(0.5, b"words")))
    batch = RelevanceBatch(np.array(ids), np.array([0.1, 0.9, 0.2]), 0.3)
    assert sum(len(part.ids) for part in batch.batches()) == 3
    assert run_in(set_relevance, batch) == 2
    assert run_in(set_relevance, RelevanceBatch(np.zeros(0, np.int64), np.zeros(0), 0.3)) == 0

    def read(what: str) -> dict[int, object]:
        with database.engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(text(what))}

    assert read("SELECT url_id, relevance FROM page_terms") == dict(zip(ids, (0.1, 0.9, 0.2), strict=True))
    assert read("SELECT id, relevance FROM article") == {ids[0]: 0.1, ids[1]: 0.9}
    assert read("SELECT id, reason FROM url WHERE kind = 'page' AND state = 'done'") == {
        ids[0]: "off topic",
        ids[1]: None,
        ids[2]: None,
    }
    run_in(set_relevance, RelevanceBatch(np.array(ids[:1]), np.array([0.4]), 0.3))
    assert read("SELECT id, reason FROM url WHERE reason IS NOT NULL") == {}
