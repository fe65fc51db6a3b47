"""A newsstand and its server, once for all tests of a process; nobody writes to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawler.web import hostile, newsstand
from tests.crawler.web.asking import Asker
from tests.crawler.web.serving import Server, serving
from tests.crawler.web.visits import kinds


@pytest.fixture(scope="session")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as crawls leave it."""
    path = tmp_path_factory.mktemp("stand") / "news.db"
    newsstand.build(path)
    return path


@pytest.fixture(scope="session")
def hostile_stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose every story is hostile to its pages."""
    path = tmp_path_factory.mktemp("hostile") / "news.db"
    newsstand.build(path, hostile.stories())
    return path


@pytest.fixture(scope="session")
def pages(stand: Path) -> dict[str, str]:
    """A path of each kind of page of the newsstand."""
    return kinds(stand)


@pytest.fixture(scope="module")
def asker(stand: Path) -> Iterator[Asker]:
    """Requests to the application itself."""
    with Asker(f"sqlite:///{stand}") as made:
        yield made


@pytest.fixture(scope="session")
def server(stand: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`scrapy serve` on it."""
    with serving(tmp_path_factory.mktemp("server"), stand) as running:
        yield running
