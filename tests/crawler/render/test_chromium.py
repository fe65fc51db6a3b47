"""Where a browser is looked for, and which processes are its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from crawler.render import chromium
from crawler.render.chromium import find


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_browser_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "cache"))
    assert find() is None
    windows = program(tmp_path / "bin/chromium")
    assert find() == str(windows)
    for version in (1180, 1200):
        folder = tmp_path / f"cache/chromium_headless_shell-{version}/chrome-linux"
        (folder / "locales/headless_shell").mkdir(parents=True)
        newest = program(folder / "headless_shell")
    assert find() == str(newest)
    shell = program(tmp_path / "bin/chromium-headless-shell")
    assert find() == str(shell)
    assert find("chromium") == find(str(windows)) == str(windows)
    assert find("missing") is None


def test_family_is_a_process_and_all_that_come_from_it() -> None:
    script = "sh -c 'sleep 60 & echo $!; wait' & echo $!; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        begun = {int(parent.stdout.readline()), int(parent.stdout.readline())}
        family = chromium._Family(parent.pid)
        family.look()
        members = set(family.members())
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert members == begun | {parent.pid}
    family.look()
    assert parent.pid not in family.members()
