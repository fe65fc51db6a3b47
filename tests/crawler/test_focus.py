"""Crawls that look for something: the bundled newsroom, with a topic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from pipelines.focus.record import unpack
from pipelines.records import BlockKind

from .crawling import crawl, crawl_arguments, rows, scrapy, start


@pytest.fixture(scope="module")
def focused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One focused crawl that several tests look at."""
    folder = tmp_path_factory.mktemp("focused")
    with Newsroom() as newsroom:
        done = crawl(newsroom, folder, "TOPIC=医院 医生 看病", "CRAWL_PRESET=", "FOCUS_MIN=0.05", "FOCUS_BELOW=store")
        assert done.returncode == 0, done.stderr
        yield folder


def test_every_page_has_words_and_every_article_a_relevance(focused: Path) -> None:
    read = "SELECT u.id FROM url u WHERE u.kind = 'page' AND u.state = 'done' AND coalesce(u.reason, '') <> 'same page'"
    read += f" AND u.found_in <> {BlockKind.PROBE.value}"
    assert rows(focused, f"{read} AND NOT EXISTS (SELECT 1 FROM page_terms t WHERE t.url_id = u.id)") == []
    assert rows(focused, "SELECT count(*) FROM v_articles WHERE relevance IS NULL") == [(0,)]
    best, worst = rows(focused, "SELECT max(relevance), min(relevance) FROM v_articles")[0]
    assert 0 <= worst < 0.05
    assert 0.3 < best <= 1
    title, text = rows(focused, "SELECT title, text FROM v_articles ORDER BY relevance DESC LIMIT 1")[0]
    assert any(word in title + text for word in ("医院", "医生", "看病"))


def test_words_lead_to_the_pages_that_the_links_lead_to(focused: Path) -> None:
    for page, terms in rows(focused, "SELECT url_id, terms FROM page_terms LIMIT 20"):
        words, targets = unpack(terms)
        linked = {target for (target,) in rows(focused, f"SELECT target FROM link WHERE source = {page}")}
        assert set(targets.tolist()) - {page} <= linked
        assert len(words) == len(targets)


def test_articles_below_the_threshold_say_so(focused: Path) -> None:
    stored = "SELECT count(*) FROM article a JOIN url u ON u.id = a.id WHERE a.relevance < 0.05"
    assert rows(focused, f"{stored} AND u.reason <> 'off topic'") == [(0,)]
    assert rows(focused, f"{stored} AND u.reason = 'off topic'")[0][0] > 10


def test_signals_of_the_topic_are_in_the_scores(focused: Path) -> None:
    url, parts = rows(focused, "SELECT url, score_parts FROM url WHERE depth = 2 AND kind = 'page' LIMIT 1")[0]
    assert '"sibling"' in parts
    database = f"DATABASE_URL=sqlite:///{focused}/news.db"
    why = scrapy(focused, "why", url, "-s", database)
    assert "sibling" in why.stdout
    ranked = scrapy(focused, "rank", "--by", "topic", "--top", "3", "-s", database)
    assert ranked.returncode == 0, ranked.stderr
    assert "http" in ranked.stdout


def test_topic_of_the_seeds_that_no_page_has(tmp_path: Path) -> None:
    """In another script than the pages: everything is fetched, nothing is near."""
    with Newsroom() as newsroom:
        seeds = [f'{newsroom.seeds()[0]} topic="quarks and gluons"']
        arguments = crawl_arguments(newsroom, tmp_path, "CRAWL_PRESET=", "FOCUS_MIN=0.5", "MAX_PAGES=40", seeds=seeds)
        done = start(tmp_path, *arguments).finish(100)
    assert done.returncode in {0, 3}, done.stderr
    single = "SELECT count(*) FROM article a WHERE NOT EXISTS (SELECT 1 FROM part p WHERE p.first_id = a.id)"
    assert rows(tmp_path, single) == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE reason = 'off topic'")[0][0] > 3
    assert rows(tmp_path, "SELECT max(relevance) FROM page_terms") == [(0.0,)]
