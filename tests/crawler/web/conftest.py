"""A newsstand, its server and a browser, once for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawler.web import newsstand
from tests.crawler.web.serving import Server, serving


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as crawls leave it."""
    path = tmp_path_factory.mktemp("stand") / "news.db"
    newsstand.build(path)
    return path


@pytest.fixture(scope="module")
def server(stand: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`scrapy serve` on it."""
    with serving(tmp_path_factory.mktemp("server"), stand) as running:
        yield running
