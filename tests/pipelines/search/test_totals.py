"""The number of stories that a search tells, against the texts and the classes themselves."""

from __future__ import annotations

import dataclasses
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from db.engine.database import open_for_crawl, open_for_reading
from pipelines.describe import DescribeOptions, Describer
from pipelines.search.records import SearchQuery, SearchResult
from pipelines.search.search import SearchOptions, search
from tests.benchmarks.data import corpus_folder
from tests.crawler.web.newsstand import Story, invented
from tests.postgres import clear

from .totals import NOW, SAVED, compare, made, saved, store

pytestmark = pytest.mark.dialects

_CLUSTERS = text("SELECT u.url, a.cluster_id FROM article AS a JOIN url AS u ON u.id = a.id")

has_saved = pytest.mark.skipif(
    not (corpus_folder(SAVED[0]) / "gold.jsonl").is_file(), reason="no saved pages: set BENCH_DATA to their folder"
)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_tables"), tmp_path / "news.db")
        yield f"sqlite:///{tmp_path}/news.db"
    else:
        address = request.getfixturevalue("postgres_tables")
        yield address
        clear(address)


@pytest.mark.parametrize(
    "stories",
    [
        pytest.param(invented, id="demo"),
        pytest.param(lambda: made(600), id="made"),
        pytest.param(saved, id="saved", marks=has_saved),
    ],
)
def test_totals_are_what_the_texts_have(url: str, stories: Callable[[], Sequence[Story]]) -> None:
    writing = open_for_crawl(url)
    store(writing, stories())
    writing.close()
    reading = open_for_reading(url)
    results = reading.read(compare)
    reading.close()
    assert len(results) >= 40
    assert sum(each.counted > 0 for each in results) >= 34  # the words were drawn from these texts
    assert [each for each in results if not (each.is_exact and each.is_right)] == []


def test_classes_are_those_above_their_bounds(url: str) -> None:
    describer = Describer.of(DescribeOptions(keywords="", judges_harm=False))
    assert describer.classes is not None
    stories, above = [], defaultdict(set)
    below = 0
    for story in invented():
        found = describer.describe(story.title, story.text, story.language)
        chances = describer.classify(story.title, story.text).memberships
        bounds = describer.classes.calibrations[story.language[:2]].threshold
        for name, bound in zip(describer.classes.labels, bounds.tolist(), strict=True):
            if chances[name] >= bound:
                above[name].add(story.url)
            below += 0 < chances[name] < bound
        stories.append(dataclasses.replace(story, memberships=found.memberships))
    assert below > len(stories)
    assert len(above) > 2
    writing = open_for_crawl(url)
    store(writing, stories)
    writing.close()
    reading = open_for_reading(url)

    def ask(words: str, **values: Any) -> SearchResult:
        query = SearchQuery(words, limit=500, is_thorough=True, **values)
        return reading.read(lambda one: search(one, query, SearchOptions(), NOW))

    stored = {row.url: row.cluster_id for row in reading.read(lambda one: one.execute(_CLUSTERS).all())}
    wanted = {name: len({stored[each] for each in urls}) for name, urls in above.items()}
    assert {facet.value: facet.articles for facet in ask("").facets["classes"]} == wanted
    for name, urls in above.items():
        assert {hit.url for hit in ask(f"class:{name}").hits} <= urls
        assert ask(f"class:{name}").total == ask("", classes=name).total == wanted[name]
    reading.close()
