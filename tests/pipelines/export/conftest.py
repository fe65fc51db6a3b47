"""One small crawl in each kind of database, for all tests of exports."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.db.small_crawl import fill
from tests.postgres import empty_database


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a database with the crawl; tests read it only."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('crawled')}/news.db"
        fill(url)
        yield url
        return
    with empty_database(request.getfixturevalue("postgres_server"), f"crawled_{os.getpid()}") as url:
        fill(url)
        yield url
