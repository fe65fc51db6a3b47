"""Commands that the page starts: bounded in time and output, with arguments that are nothing but arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from crawler.manage.limits import LIMITS, LimitsFile, checked
from crawler.manage.programs import Busy, Programs
from crawler.options.table import BY_NAME
from tests.waiting import wait_for

_PRINTS = "import sys, json, os; print(json.dumps([sys.argv[1:], os.environ['DATABASE_URL']]))"
_HANGS = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"  # noqa: E501


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Programs that run a line of Python in the place of scrapy; the processes are real."""
    return _made(tmp_path, monkeypatch, _PRINTS)


def _made(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> Programs:
    programs = Programs(folder / "news.manage", "postgresql://me:hidden@host/news", {"HOST_DELAY": "2"})
    command = programs._command

    def other(name: str, arguments: list[str]) -> list[str]:
        return [sys.executable, "-c", code, *command(name, arguments)[3:]]

    monkeypatch.setattr(programs, "_command", other)
    return programs


def test_arguments_reach_the_command_as_they_are(made: Programs) -> None:
    what = "a; rm -rf / $(id) `id` \n -s X=1 --yes"
    ran = made.run("drop", ["--yes"], [what], 30)
    arguments, database = json.loads(ran.out.replace("***@", "me:hidden@"))
    assert arguments == ["drop", "-s", "HOST_DELAY=2", "--yes", "--", what]
    assert database == "postgresql://me:hidden@host/news"
    assert "hidden" not in ran.out, "what is printed is shown without passwords"


def test_command_that_takes_too_long_is_killed_with_all_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = _made(tmp_path, monkeypatch, _HANGS)
    before = {one.pid for one in psutil.Process().children(recursive=True)}
    assert programs.run("check-seeds", [], [], 1.5).code is None

    def left() -> set[int]:
        return {
            one.pid
            for one in psutil.process_iter(["cmdline"])
            if "time.sleep(600)" in " ".join(one.info["cmdline"] or ()) and one.pid not in before
        }

    wait_for(lambda: not left(), "a process was left")


def test_commands_beyond_two_are_told_to_wait(made: Programs) -> None:
    assert made._turns.acquire(blocking=False)
    assert made._turns.acquire(blocking=False)
    with pytest.raises(Busy):
        made.run("drop", [], ["a.example"], 30)
    made._turns.release()
    assert made.run("drop", [], ["a.example"], 30).code == 0


def test_logs_of_crawls_are_their_owners_alone_and_the_old_ones_go(made: Programs, tmp_path: Path) -> None:
    for _ in range(25):
        made.crawl("seeds.txt", "once", {"MAX_PAGES": "3"}, alone=False)
    wait_for(lambda: made.begun() == (True, 0), "the last one has not ended")
    logs = list((tmp_path / "news.manage").glob("crawl-*.log"))
    assert len(logs) == 20
    assert {log.stat().st_mode & 0o777 for log in logs} == {0o600}
    assert '"seeds=seeds.txt", "-a", "mode=once", "-s", "MAX_PAGES=3"' in made.log(10_000)
    assert "hidden" not in made.log(10_000)


def test_crawl_of_a_file_is_begun_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = _made(tmp_path, monkeypatch, "import time; time.sleep(600)")
    programs.crawl("seeds.txt", "once", {}, alone=True)
    with pytest.raises(Busy):
        programs.crawl("seeds.txt", "once", {}, alone=True)
    (process,) = programs._crawls
    assert os.getsid(process.pid) == process.pid, "the end of the server does not end it"
    process.kill()
    process.wait()
    assert isinstance(process, subprocess.Popen)


def test_limits_are_such_that_a_crawl_takes_them(tmp_path: Path) -> None:
    for name, bounds in LIMITS.items():
        for value in (bounds.least, bounds.most):
            (text,) = checked({name: f"{value:.10g}"}).values()
            assert name == "CLOSESPIDER_TIMEOUT" or BY_NAME[name].check(text) == value
    file = LimitsFile(tmp_path)
    assert file.read() == {}
    file.write({"MAX_PAGES": "5"})
    with pytest.raises(ValueError, match="MAX_PAGES"):
        file.write({"MAX_PAGES": "x"})
    assert file.read() == {"MAX_PAGES": "5"}
    (tmp_path / "limits.json").write_text('{"MAX_PAGES": "5 -s A=1"}', "utf-8")
    assert file.read() == {}
