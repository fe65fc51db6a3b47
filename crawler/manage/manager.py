"""All that operators do to a crawl from the web page."""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from db.engine.database import open_beside_crawl
from db.frontier.leases import ask
from db.records.run import Asked

from ..fetch.guard import Guard
from .limits import LimitsFile
from .programs import Busy, Programs, Ran
from .seeds import SeedFile

_MOST_PREVIEWS = 20
_PREVIEW_SECONDS: Final = 120.0
_COMMAND_SECONDS: Final = 20.0
"""Below the time in which a page is answered."""


@dataclass
class Preview:
    """A look at seeds before they are added; `reports` are of `scrapy check-seeds`.

    They are None until it has ended.
    """

    text: str
    reports: list[Mapping[str, Any]] | None = None
    problem: str = ""
    is_added: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class Manager:
    """The crawl of a database, as operators change it.

    Args:
        folder: for logs, limits and passwords.
        seeds: path of the seeds file.
        guard: of addresses that a crawl may ask.
        settings: those of the server's command line, for the commands that it starts.
    """

    def __init__(
        self, folder: Path, database_url: str, *, seeds: str, guard: Guard, settings: Mapping[str, str]
    ) -> None:
        self.seeds = SeedFile(Path(seeds).absolute(), guard)
        self.limits = LimitsFile(folder)
        self.programs = Programs(folder, database_url, settings)
        self._folder = folder
        self._database_url = database_url
        self._previews: OrderedDict[str, Preview] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, run_id: int | None, asked: Asked) -> int:
        """Ask a run, or all, to pause, go on or stop; returns how many there are.

        Raises:
            DatabaseProblem: it cannot be written at the moment.
        """
        with closing(open_beside_crawl(self._database_url)) as database:
            return database.write(lambda connection: ask(connection, run_id, asked))

    def start(self, mode: str, *, alone: bool) -> None:
        """Start a crawl of the seeds with the limits that are set; see `Programs.crawl`."""
        self.programs.crawl(str(self.seeds.path), mode, self.limits.read(), alone=alone)

    def preview(self, text: str) -> str:
        """Begin to look at seeds; returns a name for `preview_of`. Raises `SeedError`."""
        lines = self.seeds.checked(text)
        name, made = secrets.token_hex(8), Preview("\n".join(lines))
        with self._lock:
            self._previews[name] = made
            if len(self._previews) > _MOST_PREVIEWS:
                self._previews.popitem(last=False)
        threading.Thread(target=self._look, args=(name, made), name="preview", daemon=True).start()
        return name

    def preview_of(self, name: str) -> Preview | None:
        with self._lock:
            return self._previews.get(name)

    def revisit(self, what: str) -> Ran:
        """Have a host, or the page of a URL, visited again; raises `Busy`."""
        options, names = ([], [what]) if "://" in what else (["--host", what], [])
        return self.programs.run("recrawl", options, names, _COMMAND_SECONDS)

    def drop(self, what: str, *, articles: bool) -> Ran:
        """Delete the URLs of a host or seed; raises `Busy`."""
        options = ["--yes", *(["--articles"] if articles else [])]
        return self.programs.run("drop", options, [what], _COMMAND_SECONDS)

    def _look(self, name: str, preview: Preview) -> None:
        file = self._folder / f"preview-{name}.txt"
        try:
            file.write_text(preview.text + "\n", encoding="utf-8")
            ran = self.programs.run("check-seeds", ["--format", "jsonl"], [str(file)], _PREVIEW_SECONDS)
            reports = _reports(ran.out)
            if ran.code is None:
                preview.problem = "the sites did not answer in two minutes; add fewer at a time, or add them unseen"
            elif not reports:
                preview.problem = ran.said().replace(str(file), "seeds") or "nothing could be found out"
            preview.reports = reports
        except Busy:
            preview.problem = "two other commands are under way; try again when they have ended"
        except OSError as error:
            preview.problem = f"{self._folder.name} cannot be written ({error.strerror})"
        finally:
            file.unlink(missing_ok=True)
            preview.done.set()


def _reports(out: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for line in out.splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if isinstance(read, dict) and "url" in read:
            found.append(read)
    return found
