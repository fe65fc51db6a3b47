"""Articles and stories as readers see them, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.queries import status
from db.queries.articles import read_article
from db.queries.reprints import reprints, reprints_of
from db.queries.sites import site_detail
from db.records.keys import fingerprint
from tests.db.articles.test_clusters import MORE, OTHER, STORY, Crawl, bulletin, dated


@pytest.fixture
def crawl(run_in: Callable, database: Database) -> Crawl:
    return Crawl(run_in, database)


def test_article_has_its_story_and_earlier_texts(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY, images=[("http://a.example/1.png", "Bridge")])
    crawl.come("b", 1, STORY)
    crawl.come("a", 1, MORE, images=[("http://a.example/1.png", "Bridge")])
    read = database.read(lambda connection: read_article(connection, fingerprint("http://a.example/1")))
    assert read is not None
    assert read.item.text == MORE
    assert read.item.images == [{"url": "http://a.example/1.png", "caption": "Bridge"}]
    assert [version.text for version in read.versions] == [STORY]
    assert (read.cluster_id, read.has_page) == (fingerprint("http://a.example/1"), False)
    assert read.cluster_size == 2
    assert database.read(lambda connection: read_article(connection, 1)) is None


def test_story_is_a_tree_with_the_first_above(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY, **dated("2024-03-12T08:00+08:00"))
    crawl.come("b", 1, STORY, **dated("2024-03-12T09:00+08:00"))
    crawl.come("c", 1, MORE, **dated("2024-03-12T10:00+08:00"))
    crawl.come("b", 2, OTHER)
    story = database.read(lambda connection: reprints_of(connection, fingerprint("http://c.example/1"), 9))
    assert story is not None
    assert (story.id, story.size, story.related) == (fingerprint("http://a.example/1"), 3, [])
    branches = story.branches()
    assert [branch.article.url[7] for branch in branches] == ["a", "b", "c"]
    assert [branch.above and branch.above.url[7] for branch in branches] == [None, "a", "a"]
    assert [branch.depth for branch in branches] == [0, 1, 1]
    assert story.text_of(branches[1].article) == STORY
    by_url = database.read(lambda connection: reprints(connection, "http://b.example/1", 9))
    assert by_url is not None
    assert by_url.id == story.id
    assert database.read(lambda connection: reprints_of(connection, 1, 9)) is None


def test_related_stories_stand_beside(crawl: Crawl, database: Database) -> None:
    for day in (1, 2):
        crawl.come("a", day, bulletin(day), title="天气预报", **dated(f"2024-03-{day:02}T08:00+08:00"))
    pairs = crawl.rows("SELECT kind FROM duplicate")
    assert pairs == [("template",)]
    for day, other in ((1, 2), (2, 1)):
        key = fingerprint(f"http://a.example/{day}")
        story = database.read(lambda connection, key=key: reprints_of(connection, key, 9))
        assert [one.url[-1] for one in story.related] == [str(other)]
        assert story.size == 1


def test_article_that_many_repeat_is_explained_by_some(
    crawl: Crawl, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in "abc":
        crawl.come(host, 1, STORY)
    monkeypatch.setattr(status, "_MOST_PAIRS", 1)
    known = database.read(lambda connection: status.explain(connection, "http://a.example/1"))
    assert known is not None
    assert len(known.duplicates) == 1


def test_newest_articles_of_a_site_have_those_without_a_date_last(crawl: Crawl, database: Database) -> None:
    texts = {bulletin(1): None, MORE: "2024-03-12T08:00+08:00", OTHER: "2024-03-13T08:00+08:00"}
    for number, (text_, time) in enumerate(texts.items(), 1):
        crawl.come("a", number, text_, **dated(time))
    site = database.read(lambda connection: site_detail(connection, "a.example", 1.8e9))
    assert site is not None
    assert [one.published_at for one in site.newest] == [*sorted(filter(None, texts.values()), reverse=True), None]


def test_branches_of_a_cut_tree_hang_below_the_first(crawl: Crawl, database: Database) -> None:
    for host in "abc":
        crawl.come(host, 1, STORY, **dated(f"2024-03-12T0{'abc'.index(host) + 1}:00+08:00"))
    b, c = (fingerprint(f"http://{host}.example/1") for host in "bc")
    change = text("UPDATE duplicate SET of_id = :b WHERE article_id = :c")
    database.write(lambda connection: connection.execute(change, {"b": b, "c": c}))
    whole = database.read(lambda connection: reprints_of(connection, b, 9))
    assert [(branch.article.url[7], branch.depth) for branch in whole.branches()] == [("a", 0), ("b", 1), ("c", 2)]
    without_b = replace(whole, articles=[one for one in whole.articles if one.id != b])
    assert [(branch.article.url[7], branch.depth) for branch in without_b.branches()] == [("a", 0), ("c", 1)]
    assert (without_b.size, without_b.text_of(without_b.articles[1])) == (3, STORY)
