"""Stored articles as items: names and values are those of the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.queries.articles import items
from db.records.article import BESIDE_THE_VIEW, COLUMNS, JOINED_BY, LISTS
from db.records.keys import fingerprint
from tests.db.articles.test_clusters import MORE, OTHER, STORY, Crawl


@pytest.fixture
def crawl(run_in: Callable, database: Database) -> Crawl:
    return Crawl(run_in, database)


def test_items_have_the_columns_of_the_view_and_its_values(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY, authors="张三、李四", tags="桥", images=(("http://a/1.png", "图"),))
    crawl.come("b", 1, STORY)  # a copy, which has its text from there
    crawl.come("c", 1, MORE, relevance=0.25)
    crawl.come("d", 1, OTHER, published_at=None, published_precision=None, published_from=None)
    with database.engine.connect() as connection:
        rows = {row.url: row._mapping for row in connection.execute(text("SELECT * FROM v_articles"))}
        ids = [fingerprint(url) for url in rows]
        found, nothing = items(connection, [ids, [1]])
    assert nothing == []
    assert [one.url for one in found] == list(rows)
    for one in found:
        view, item = rows[one.url], asdict(one)
        assert tuple(view) == COLUMNS
        for name in LISTS:
            item[name] = JOINED_BY.join(item[name])
        item["related"] = "\n".join(f"{story['url']} {story['title']}" for story in item["related"])
        assert {name: item[name] for name in view} == dict(view)
        assert one.id == str(fingerprint(one.url))
    first, copy, *_ = sorted(found, key=lambda one: one.url)
    assert (first.authors, first.tags) == (["张三", "李四"], ["桥"])
    assert first.images == [{"url": "http://a/1.png", "caption": "图"}]
    assert (copy.text, copy.html) == (STORY, first.html)
    assert (copy.duplicate_of, copy.similarity, copy.duplicate_kind) == (first.url, 1.0, "same")
    assert tuple(asdict(first)) == (*COLUMNS, *BESIDE_THE_VIEW)


def test_items_come_in_the_order_asked_for(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, OTHER)
    ids = [fingerprint(f"http://{host}.example/1") for host in "ba"]
    with database.engine.connect() as connection:
        assert [[one.url[7] for one in found] for found in items(connection, [ids, ids[1:], []])] == [
            ["b", "a"],
            ["a"],
            [],
        ]
