"""Run the real command in a process of its own, against a newsroom served by the test.

`python -m scrapy` itself is run where the start matters.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing import forkserver, util
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from scrapy.cmdline import execute

from tests.forked import start_process

if TYPE_CHECKING:
    from crawler.demo.server import Newsroom

ROOT = Path(__file__).parents[2]

DESCRIBED = ("KEYWORDS=combined", "CLASSES=shipped", "HARMFUL=flag")
"""Settings of a crawl that describes its articles, as a crawl does unless told otherwise."""


@dataclass
class Running:
    """A command under way; `finish` waits for its end."""

    process: BaseProcess
    log: Path

    def send(self, number: signal.Signals, *, to_all: bool = False) -> bool:
        """Send a signal, `to_all` of its session as well; False when the command has ended by itself before."""
        return send_signal(self.process, number, to_all=to_all)

    def finish(self, timeout: float = 600) -> Finished:
        self.process.join(timeout)
        assert self.process.exitcode is not None, "the command did not end"
        out, errors = (self.log.with_suffix(suffix) for suffix in (".out", ".err"))
        return Finished(self.process.exitcode, out.read_text("utf-8"), errors.read_text("utf-8"))


@dataclass
class Finished:
    returncode: int
    stdout: str
    stderr: str


def send_signal(process: BaseProcess, number: signal.Signals, *, to_all: bool = False) -> bool:
    """Send a signal to a process, or `to_all` of the session that it leads; False when it has ended before.

    Its identifier is given up when the server it was forked by has seen its end, which may be before we have.
    """
    assert process.pid is not None
    if process.exitcode is not None:
        return False
    try:
        (os.killpg if to_all and os.getpgid(process.pid) == process.pid else os.kill)(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def start(folder: Path, *arguments: str, before: str = "", own_session: bool = False) -> Running:
    """Start a `scrapy` command; its output goes to files in `folder`.

    Code to be run before it may break something in that process, or add a folder to import from. In a session of its
    own all its processes can be told and killed by its identifier.
    """
    log = folder / f"command-{len(list(folder.glob('command-*.err')))}"
    return Running(start_process(_execute, arguments, str(log), before, own_session), log)


def scrapy(folder: Path, *arguments: str, timeout: float = 600, before: str = "") -> Finished:
    """Run a command to its end."""
    return start(folder, *arguments, before=before).finish(timeout)


def command(*arguments: str) -> Finished:
    """Run a command in this process: it starts at once. Not for crawls, which begin a loop and a log of their own."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    surroundings = {name: value for name, value in os.environ.items() if not _is_setting(name)}
    with (
        chdir(ROOT),
        patch.dict(os.environ, surroundings, clear=True),
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        try:
            execute(["scrapy", *arguments])
        except SystemExit as ended:
            code = ended.code
    return Finished(code, *(stream.buffer.getvalue().decode() for stream in (out, errors)))


def _is_setting(name: str) -> bool:
    return name in {"DATABASE_URL", "CRAWL_CONTACT"} or name.startswith("NEWS_")


def _execute(arguments: Sequence[str], log: str, before: str, own_session: bool) -> None:  # noqa: FBT001
    """In the new process: become the command."""
    if own_session:
        os.setsid()
    gc.freeze()  # what was imported before the fork stays: looking through it all is a third of a short crawl's work
    _fork_server_at_once()
    for descriptor, suffix in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(log + suffix, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored when the tests run in a shell's background
    os.chdir(ROOT)
    for name in filter(_is_setting, list(os.environ)):
        del os.environ[name]
    sys.argv = ["scrapy", *arguments]
    exec(before, {})
    execute()


def _fork_server_at_once() -> None:
    """Start the server that the command will fork its workers from, out of this process that has all they need.

    Otherwise each command would start a new interpreter for it and import everything once more: half of what a short
    crawl costs.
    """
    start_anew = util.spawnv_passfds

    def fork(path: bytes, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
        if "multiprocessing.forkserver" not in arguments[-1]:
            return start_anew(path, arguments, descriptors)
        pid = os.fork()
        if pid == 0:
            for name in os.listdir("/proc/self/fd"):
                if int(name) > 2 and int(name) not in descriptors:
                    with suppress(OSError):
                        os.close(int(name))
            try:
                exec(arguments[-1], {})
            finally:
                os._exit(0)
        return pid

    util.spawnv_passfds = fork
    try:
        multiprocessing.get_context("forkserver").set_forkserver_preload(["pipelines.warm_descriptions"])
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = start_anew


def crawl_arguments(newsroom: Newsroom, folder: Path, *settings: str, seeds: Sequence[str] = ()) -> list[str]:
    """Arguments of a crawl of the newsroom into `folder/news.db`; settings as NAME=VALUE, later ones win.

    Breadth-first and without descriptions unless a setting says otherwise: without the process that ranks, a crawl ends
    a second earlier, and keywords, classes and harm are half of the work on the short pages of the newsroom.
    """
    path = folder / "seeds.txt"
    path.write_text("\n".join(seeds or newsroom.seeds()), encoding="utf-8")
    defaults = (
        f"DATABASE_URL=sqlite:///{folder}/news.db",
        f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}",
        "HOST_DELAY=0",
        "CRAWL_PRESET=breadth",
        *("KEYWORDS=", "CLASSES=", "HARMFUL=off"),
    )
    return ["crawl", "news", "-a", f"seeds={path}", *[x for s in (*defaults, *settings) for x in ("-s", s)]]


def crawl(newsroom: Newsroom, folder: Path, *settings: str, seeds: Sequence[str] = ()) -> Finished:
    """Crawl the newsroom into `folder/news.db`."""
    return scrapy(folder, *crawl_arguments(newsroom, folder, *settings, seeds=seeds))


def rows(folder: Path, sql: str) -> list[tuple]:
    """Ask the result."""
    with sqlite3.connect(folder / "news.db") as database:
        return database.execute(sql).fetchall()
