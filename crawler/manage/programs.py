"""Commands of this program that the web page starts, as processes of their own.

They get lists of arguments, nothing goes through a shell, and the URL of the database goes through the environment, not
through the list of processes. A crawl is in a session of its own, so it goes on when the server ends; whoever looks at
the database later finds it there.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LOGS = "crawl-*.log"
_MOST_LOGS = 20
_MOST_OUTPUT = 1 << 20
_MOST_AT_ONCE = 2
"""Short commands at once; each is a process of some 100 MB."""
_PASSWORDS = re.compile(r"(?<=//)[^\s/]*@")


class Busy(Exception):
    """Too much is under way; try again when it has ended."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Result of a command: exit code (None: it took too long) and output, cut."""

    code: int | None
    out: str
    err: str

    def said(self) -> str:
        """Return the last line that it printed for people, without its name."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return re.sub(r"^scrapy [a-z-]+: ", "", lines[-1])[:500] if lines else ""


class Programs:
    """Starts commands in the folder of the project.

    Args:
        database_url: for all of them; given by the environment, as it may have a password.
        settings: those that were given to the server on its command line.
    """

    def __init__(self, folder: Path, database_url: str, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = {**os.environ, "DATABASE_URL": database_url, "PYTHONUNBUFFERED": "1"}
        self._settings = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        self._turns = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._lock = threading.Lock()
        self._crawls: list[subprocess.Popen[bytes]] = []

    def run(self, name: str, options: Sequence[str], names: Sequence[str], seconds: float) -> Ran:
        """Run a short command to its end; `names` are arguments, whatever they begin with.

        Raises:
            Busy: others are under way.
        """
        if not self._turns.acquire(blocking=False):
            raise Busy
        try:
            with subprocess.Popen(
                self._command(name, [*options, "--", *names]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            ) as process:
                try:
                    out, err = process.communicate(timeout=seconds)
                    code: int | None = process.returncode
                except subprocess.TimeoutExpired:
                    _kill_session(process.pid)
                    out, err = process.communicate()
                    code = None
        finally:
            self._turns.release()
        return Ran(code, _text(out), _text(err))

    def crawl(self, seeds: str, mode: str, settings: Mapping[str, str], *, alone: bool) -> None:
        """Start a crawl, with settings for it; `begun` tells what became of it.

        Raises:
            Busy: one that was started here is at work, and there can be only one (`alone`).
            OSError: its log cannot be written.
        """
        given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        arguments = ["news", "-a", f"seeds={seeds}", "-a", f"mode={mode}", *given]
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with self._lock:
            if alone and any(one.poll() is None for one in self._crawls):
                raise Busy
            self._forget_old()
            log = self._folder / f"crawl-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(2).hex()}.log"
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            try:
                process = subprocess.Popen(
                    self._command("crawl", arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=handle,
                    stderr=handle,
                    env=self._environment,
                    start_new_session=True,
                )
            finally:
                os.close(handle)
            self._crawls = [*(one for one in self._crawls if one.poll() is None), process]

    def begun(self) -> tuple[bool, int | None]:
        """Return whether this server has started a crawl, and the exit code of the latest."""
        with self._lock:
            codes = [one.poll() for one in self._crawls]  # those that have ended are reaped
        return bool(codes), codes[-1] if codes else None

    def log(self, most: int) -> str:
        """Return the end of the latest crawl's log, without passwords in URLs."""
        logs = self._logs()
        if not logs:
            return ""
        with logs[-1].open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most))
            return _text(file.read())

    def _command(self, name: str, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "scrapy", name, *self._settings, *arguments]

    def _logs(self) -> list[Path]:
        return sorted(self._folder.glob(_LOGS))

    def _forget_old(self) -> None:
        for log in self._logs()[: -_MOST_LOGS + 1]:
            log.unlink(missing_ok=True)


def _kill_session(pid: int) -> None:
    """Kill a process that leads a session, with all that it has started."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def _text(output: bytes) -> str:
    return _PASSWORDS.sub("***@", output[-_MOST_OUTPUT:].decode("utf-8", "replace"))
