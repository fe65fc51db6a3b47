"""Other systems, as far as Linux can play them: without their modules, files and ways to start processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from db.engine.database import open_for_crawl
from pipelines.links.scope import Scope
from pipelines.records import ParseResult
from pipelines.worker import Job, ParseOptions, WorkerPool, process_context
from tests.crawler.crawling import ROOT

# What is not ours is imported before the system changes: its packages for another one are not installed here.
PLAY = """
import asyncio, fcntl, multiprocessing, os, pathlib, sys, types
import alembic.command, cryptography.x509, numpy, pebble, psycopg, resource, rich.live, scipy.sparse, scrapy.cmdline
import twisted.internet.asyncioreactor, scrapy.crawler, scrapy.utils.reactor

def locking(descriptor, mode, count):
    flock(descriptor, exclusive)

flock, exclusive = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
sys.platform = os.environ["SYSTEM"]
if sys.platform == "win32":
    for name in ("fcntl", "grp", "pwd", "resource", "termios"):
        sys.modules[name] = None
    asyncio.WindowsSelectorEventLoopPolicy = asyncio.DefaultEventLoopPolicy
    asyncio.ProactorEventLoop = type("ProactorEventLoop", (), {})
    sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)

def guarded(method):
    def guard(path, *args, **options):
        if str(path).startswith("/proc"):
            raise FileNotFoundError(2, "there is no /proc", str(path))
        return method(path, *args, **options)
    return guard

for name in ("read_text", "readlink", "open"):
    setattr(pathlib.Path, name, guarded(getattr(pathlib.Path, name)))
if __name__ == "__main__":
    sys.argv[0] = "scrapy"
    scrapy.cmdline.execute()
"""


def played(folder: Path, system: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as on another system, with a database in this folder."""
    path = folder / "play.py"
    path.write_text(PLAY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path, *arguments, "-s", f"DATABASE_URL={folder}/news.db"],
        cwd=ROOT,
        env={"HOME": str(folder), "PYTHONPATH": str(ROOT), "SYSTEM": system},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.slow
def test_demo_crawl_runs_as_on_macos(tmp_path: Path) -> None:
    settings = [word for setting in ("MAX_PAGES=40", "WORKERS=1", "CRAWL_PRESET=breadth") for word in ("-s", setting)]
    done = played(tmp_path, "darwin", "crawl", "news", "-a", "seeds=demo", *settings)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "news.db")) as database:
        assert database.execute("SELECT count(*) FROM article").fetchone()[0] > 0
        assert database.execute("SELECT place FROM run").fetchall() == [("",)]


@pytest.mark.slow
def test_commands_start_as_on_windows_and_lock_the_file(tmp_path: Path) -> None:
    """The workers of a crawl are not played: Python itself starts processes otherwise there."""
    crawl = open_for_crawl(f"sqlite:///{tmp_path}/news.db")
    beside = played(tmp_path, "win32", "recrawl", "--all")
    crawl.close()
    assert (beside.returncode, "another crawl is running" in beside.stderr) == (2, True), beside.stderr
    assert played(tmp_path, "win32", "recrawl", "--all").returncode == 0
    begun = played(tmp_path, "win32", "crawl", "news", "-a", "seeds=http://10.0.0.1/")
    assert begun.returncode == 2, begun.stderr


def test_workers_start_anew_where_none_can_be_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert process_context().get_start_method() == "spawn"

    async def read() -> ParseResult:
        pool = WorkerPool(workers=1, seconds=60, memory_bytes=24 << 20, options=ParseOptions())
        body = b"<html><title>Ports</title><p>" + b"The ports of the coast are open again. " * 20
        try:
            return await pool.run(
                Job("page", body, "http://a.example/1.html", "", "", 0.0, Scope("host", ()), keep_raw=False)
            )
        finally:
            await asyncio.to_thread(pool.close)

    assert "open again" in asyncio.run(read()).extraction.text


def test_modules_of_our_names_in_the_current_folder_are_not_imported(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("crawler", "db", "pipelines", "numpy"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\nraise SystemExit")
    shutil.copy(ROOT / "scrapy.cfg", tmp_path)
    settings = ("MAX_PAGES=40", "WORKERS=1", "CRAWL_PRESET=pagerank", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    done = subprocess.run(
        [Path(sys.executable).with_name("scrapy"), "crawl", "news", "-a", "seeds=demo"]
        + [word for setting in settings for word in ("-s", setting)],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()
    with closing(sqlite3.connect(tmp_path / "news.db")) as database:
        assert database.execute("SELECT count(*) FROM article").fetchone()[0] > 0
