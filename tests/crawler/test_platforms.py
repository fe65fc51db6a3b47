"""Other systems, as far as Linux can play them: without their modules, files and ways to start processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.links.scope import Scope
from pipelines.records import ParseResult
from pipelines.worker import Job, ParseOptions, WorkerPool, process_context
from tests.crawler.crawling import ROOT

# What is not ours is imported before the system changes: its packages for another one are not installed here.
PLAY = """
import asyncio, fcntl, multiprocessing.connection, multiprocessing.forkserver, os, pathlib, sys, types
import multiprocessing.popen_forkserver, multiprocessing.queues, multiprocessing.spawn, multiprocessing.synchronize
import alembic.command, cryptography.x509, numpy, pebble, psycopg, resource, rich.live, scipy.sparse, scrapy.cmdline
import twisted.internet.asyncioreactor, scrapy.crawler, scrapy.utils.reactor

def locking(descriptor, mode, count):
    flock(descriptor, exclusive)

flock, exclusive = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
methods = multiprocessing.get_all_start_methods()
multiprocessing.get_all_start_methods = lambda: methods  # Python here cannot start processes as on Windows
sys.platform = os.environ["SYSTEM"]
for name in os.environ["MISSING"].split(","):
    sys.modules[name] = None
asyncio.WindowsSelectorEventLoopPolicy = asyncio.DefaultEventLoopPolicy
asyncio.ProactorEventLoop = type("ProactorEventLoop", (), {})
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
read_text, readlink = pathlib.Path.read_text, pathlib.Path.readlink

def guarded(method):
    def guard(path, *args, **options):
        if str(path).startswith("/proc"):
            raise FileNotFoundError(2, "there is no /proc", str(path))
        return method(path, *args, **options)
    return guard

pathlib.Path.read_text, pathlib.Path.readlink = guarded(read_text), guarded(readlink)
if __name__ == "__main__":
    sys.argv[0] = "scrapy"
    scrapy.cmdline.execute()
"""


@pytest.mark.parametrize(("system", "missing"), [("win32", "fcntl,resource,grp,pwd,termios"), ("darwin", "nothing")])
def test_demo_crawl_runs_as_on_another_system(tmp_path: Path, system: str, missing: str) -> None:
    path = tmp_path / "play.py"
    path.write_text(PLAY, encoding="utf-8")
    settings = [f"DATABASE_URL={tmp_path}/news.db", "MAX_PAGES=12", "WORKERS=1", "CRAWL_PRESET=breadth"]
    done = subprocess.run(
        [sys.executable, path, "crawl", "news", "-a", "seeds=demo"]
        + [word for setting in settings for word in ("-s", setting)],
        cwd=ROOT,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "SYSTEM": system, "MISSING": missing},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    with closing(sqlite3.connect(tmp_path / "news.db")) as database:
        assert database.execute("SELECT count(*) FROM url WHERE state = 'done' AND kind = 'page'").fetchone()[0] >= 12
        assert database.execute("SELECT count(*) FROM article").fetchone()[0] > 0
        assert database.execute("SELECT place FROM run").fetchall() == [("",)]


def test_workers_start_anew_where_none_can_be_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert process_context().get_start_method() == "spawn"

    async def read() -> ParseResult:
        pool = WorkerPool(workers=1, seconds=60, memory_bytes=300 << 20, options=ParseOptions())
        body = b"<html><title>Ports</title><p>" + b"The ports of the coast are open again. " * 20
        try:
            return await pool.run(
                Job("page", body, "http://a.example/1.html", "", "", 0.0, Scope("host", ()), keep_raw=False)
            )
        finally:
            await asyncio.to_thread(pool.close)

    assert "open again" in asyncio.run(read()).extraction.text
