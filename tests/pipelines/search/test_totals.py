"""The number of stories that a search tells, against the texts themselves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from db.engine.database import open_for_crawl, open_for_reading
from tests.benchmarks.data import corpus_folder
from tests.crawler.web.newsstand import Story, invented
from tests.postgres import clear

from .totals import SAVED, compare, made, saved, store

pytestmark = pytest.mark.dialects

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
