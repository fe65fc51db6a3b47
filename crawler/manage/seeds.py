"""The seeds file that operators add to from the web page."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.document.selectors import Selectors

from ..fetch.guard import Guard
from ..options.seeds import Seed, SeedError, parse_seeds, refuse_private, seeds_in

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SEEDS: Final = 20
"""Seeds that are looked at in one go."""
MOST_LINE: Final = 2_000
_CLOSED = ("render", "proxy", *Selectors._fields)
"""Options of seeds that reach further than the crawl of a site: whoever may edit the file may use them."""


class SeedFile:
    """A file of seeds, one a line. All methods raise `SeedError` with a sentence."""

    def __init__(self, path: Path, guard: Guard) -> None:
        self.path = path
        self._guard = guard
        self._lock = threading.Lock()

    def seeds(self) -> list[Seed]:
        """Return the seeds in the file; none if it does not exist, or is empty."""
        return seeds_in(self.path) if self.path.exists() else []

    def checked(self, text: str) -> list[str]:
        """Return the lines of new seeds in a text, as they are to be written.

        Raises:
            SeedError: a line is wrong, at an address that the crawl does not ask, or in the file already.
        """
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
        if not lines:
            msg = "name a site, such as www.example.com, one a line"
            raise SeedError(msg)
        if len(lines) > MOST_SEEDS:
            msg = f"{len(lines)} seeds are too many at a time; give at most {MOST_SEEDS}"
            raise SeedError(msg)
        for line in lines:
            if len(line) > MOST_LINE or not line.isprintable():
                msg = "a seed is too long, or has characters that cannot be printed"
                raise SeedError(msg)
        seeds = parse_seeds(lines, "seeds")
        if any("://" not in seed.url for seed in seeds):
            msg = "the newsroom for trying things out is no seed here; start it with scrapy crawl news -a seeds=demo"
            raise SeedError(msg)
        if any(getattr(seed, name) for seed in seeds for name in _CLOSED):
            msg = f"{', '.join(_CLOSED)} are set in the file itself only; leave them out"
            raise SeedError(msg)
        refuse_private(seeds, self._guard)
        known = {seed.url for seed in self.seeds()}
        if again := [seed.url for seed in seeds if seed.url in known]:
            msg = f"{again[0]} is in the seeds already"
            raise SeedError(msg)
        first = {seed.line for seed in seeds}
        return [line for number, line in enumerate(lines, 1) if number in first]

    def add(self, text: str) -> list[str]:
        """Write new seeds at the end of the file, all or none; returns their lines."""
        with self._lock, self._turn():
            lines = self.checked(text)
            try:
                before = self.path.read_bytes() if self.path.exists() else b""
                end = b"" if not before or before.endswith((b"\n", b"\r")) else b"\n"
                draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                mode = self.path.stat().st_mode & 0o777 if self.path.exists() else 0o644
                with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
                    file.write(before + end + "".join(f"{line}\n" for line in lines).encode(_encoding(before)))
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(self.path)
            except OSError as error:
                msg = f"{self.path.name} cannot be written ({error.strerror}); give the server's user the right to"
                raise SeedError(msg) from None
        return lines

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Keep other servers on this machine waiting, where the system has locks."""
        with suppress(ImportError):
            import fcntl  # noqa: PLC0415 - there is none on Windows

            try:
                folder = os.open(self.path.parent, os.O_RDONLY)
            except OSError as error:
                msg = f"the folder of {self.path.name} cannot be used ({error.strerror}); name another file in --seeds"
                raise SeedError(msg) from None
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)
                yield
            finally:
                os.close(folder)
            return
        yield


def _encoding(before: bytes) -> str:
    try:
        before.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "gb18030"
    return "utf-8"
