"""A newsstand and its server, once for all tests of a process; nobody writes to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawler.web import hostile, newsstand
from tests.crawler.web.asking import Asker
from tests.crawler.web.serving import Server, serving
from tests.crawler.web.visits import kinds
from tests.once import once


@pytest.fixture(scope="session")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as crawls leave it."""
    return once(tmp_path_factory, "stand", lambda folder: newsstand.build(folder / "news.db")) / "news.db"


@pytest.fixture(scope="session")
def hostile_stand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose every story is hostile to its pages."""
    made = once(tmp_path_factory, "hostile", lambda folder: newsstand.build(folder / "news.db", hostile.stories()))
    return made / "news.db"


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
    folder = tmp_path_factory.mktemp("server")
    # articles that a browser opens are marked as read: in a desk of its own, not beside what nobody writes to
    with serving(folder, stand, "-s", f"DESK={folder / 'news.desk.db'}") as running:
        yield running
