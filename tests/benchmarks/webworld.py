"""The hostile test web that lies beside the project: where it is, how it is served, how a crawl of it is started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .commands import PROJECT

WEB = Path(os.environ.get("TEST_WEB") or PROJECT / "../shared/webworld").resolve()
"""The folder of the test web; the variable TEST_WEB names another."""
PYTHON = os.environ.get("TEST_WEB_PYTHON", sys.executable)
"""An interpreter that has what the test web needs (its requirements.txt)."""

VIEW = ("--table", "v_articles", "--cols", "url=url,title=title,author=authors,published=published_at,text=text")
"""How its judge reads our database."""
NETWORK = "127.0.1.0/24"
_START_SECONDS = 120


def missing() -> str:
    """Why the test web cannot be used, or an empty string."""
    if not (WEB / "webworld.py").is_file():
        return f"there is no test web at {WEB}; name its folder in TEST_WEB"
    needs = (WEB / "requirements.txt").read_text(encoding="utf-8").split()
    probe = "import rapidfuzz, psutil, brotli, cryptography, opencc"
    if subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode:
        return f"{PYTHON} lacks what the test web needs ({', '.join(needs)}); name another one in TEST_WEB_PYTHON"
    return ""


def crawl_command(settings: Sequence[str] = (), project: Path = PROJECT) -> list[str]:
    """The crawl, with the test web's places for its seeds and its database."""
    chosen = ("DATABASE_URL=sqlite:///{db}", f"ALLOW_NETWORKS={NETWORK}", "HOST_DELAY=0", *settings)
    scrapy = ["uv", "run", "--no-sync", "--project", str(project), "scrapy", "crawl", "news", "-a", "seeds={seeds}"]
    return scrapy + [part for setting in chosen for part in ("-s", setting)]


@contextmanager
def serving(folder: Path, *, seed: int, port: int, control: int, per_site: int) -> Iterator[Path]:
    """A running world; gives the folder of its truth and seeds.

    Raises:
        RuntimeError: it did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ports = {"port": port, "ctl": control, "admin": control + 1, "meta": control + 2}
    options = {"seed": seed, "per-site": per_site, "out": folder, "latency": 0, **ports}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    with (folder / "world.log").open("wb") as log:
        server = subprocess.Popen([PYTHON, str(WEB / "webworld.py"), "serve", *given], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _START_SECONDS
        ask = [PYTHON, str(WEB / "webworld.py"), "ctl", "health", "--ctl", str(control)]
        while subprocess.run(ask, capture_output=True, check=False).returncode:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the test web did not start, see {folder / 'world.log'}")
            time.sleep(0.5)
        yield folder
    finally:
        server.terminate()
        server.wait(30)
