"""Map a task over the partitions of a source, on Dask, and collect what it makes.

The whole algorithm is in the map step; what is collected is kept part by part, so that a batch that was killed goes on
with what is left. Source: Dean and Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", 2004.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from ..run.terminal import Terminal

if TYPE_CHECKING:
    from distributed import Client, Future

P = TypeVar("P")
R = TypeVar("R")

_AHEAD: Final = 3
"""Partitions handed out per worker: what is held of results is bounded by this."""
_MOST_NOTES: Final = 20
"""Sentences kept of what was wrong with a source; the counts tell how many there are."""


class BatchStopped(Exception):
    """The batch cannot go on; what is done is kept, and the same command goes on."""


@dataclass(frozen=True, slots=True)
class Done:
    """A partition's result.

    Attributes:
        data: bytes of it; those of all partitions one after the other are the whole.
        counts: of what, how many.
        notes: sentences about what is wrong with the source there.
    """

    data: bytes
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Parts:
    """The results of partitions that are done, in a folder of their own.

    Args:
        folder: made when it is not there.
        mark: what the parts are made of and by; a folder of another mark is refused.

    Raises:
        ValueError: the folder has parts of something else.
    """

    def __init__(self, folder: Path, mark: Mapping[str, Any]) -> None:
        self.folder = folder
        found = folder / "batch.json"
        wanted = json.dumps(mark, sort_keys=True, ensure_ascii=False, default=str)
        if not found.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _write(found, wanted.encode())
        elif found.read_text(encoding="utf-8") != wanted:
            which = ", ".join(sorted(_differing(json.loads(found.read_text(encoding="utf-8")), json.loads(wanted))))
            raise ValueError(
                f"{folder} holds parts of another batch (other {which}); finish that one, or delete the folder"
            )

    def put(self, number: int, done: Done) -> None:
        """Keep the result of a partition; it is there as a whole or not at all."""
        told = json.dumps({"counts": done.counts, "notes": list(done.notes)}, ensure_ascii=False)
        _write(self._path(number, "json"), told.encode())
        _write(self.path(number), done.data)

    def has(self, number: int) -> bool:
        """Tell whether a partition is done."""
        return self.path(number).exists()

    def told(self, number: int) -> Done:
        """Return what a partition that is done has told, without its data."""
        told = json.loads(self._path(number, "json").read_text(encoding="utf-8"))
        return Done(b"", told["counts"], told["notes"])

    def path(self, number: int) -> Path:
        """Return the file that has the data of a partition."""
        return self._path(number, "part")

    def join(self, count: int, output: Path) -> None:
        """Write the data of all partitions into a file, and remove the folder."""
        unfinished = self.folder / "whole"
        with unfinished.open("wb") as out:
            for number in range(count):
                with self.path(number).open("rb") as part:
                    shutil.copyfileobj(part, out)
        unfinished.replace(output)
        shutil.rmtree(self.folder)

    def _path(self, number: int, ending: str) -> Path:
        return self.folder / f"{number:06}.{ending}"


def _write(path: Path, data: bytes) -> None:
    """Write a file that is there as a whole or not at all."""
    unfinished = path.with_suffix(f"{path.suffix}.new")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


@dataclass(slots=True)
class BatchTotals:
    """Counts and notes of all partitions.

    Attributes:
        counts: of what, how many.
        notes: sentences about what is wrong with the source, the first ones.
        report: lines about the whole; the counts are shown when there are none.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    report: list[str] = field(default_factory=list)

    def add(self, done: Done) -> None:
        """Add those of a partition."""
        self.counts.update(done.counts)
        self.notes += done.notes[: max(0, _MOST_NOTES - len(self.notes))]


def run(client: Client, parts: Parts, task: Callable[[P], Done], partitions: Sequence[P]) -> BatchTotals:
    """Do what is not done yet, and tell on standard error how far it is.

    Args:
        client: of the scheduler.
        parts: where results are kept.
        task: makes the result of a partition, on a worker; it must be the same whenever it is done.
        partitions: of the source; they are sent to workers.

    Raises:
        BatchStopped: a partition killed its worker again and again, or the scheduler is gone.
        ValueError, OSError, DatabaseProblem: what a task raised.
    """
    totals = BatchTotals()
    left = [number for number in range(len(partitions)) if not parts.has(number)]
    with progress(len(partitions), len(partitions) - len(left)) as told:
        for number, done in zip(left, in_order(client, task, [partitions[n] for n in left]), strict=True):
            parts.put(number, done)
            told()
    for number in range(len(partitions)):
        totals.add(parts.told(number))
    return totals


def in_order(client: Client, task: Callable[[P], R], partitions: Sequence[P]) -> Iterator[R]:
    """Yield the results of partitions in their order; only a few are held at a time.

    Raises:
        BatchStopped: see `run`.
    """
    from distributed import KilledWorker  # noqa: PLC0415 - takes half a second, and is an extra
    from distributed.client import FutureCancelledError  # noqa: PLC0415

    waiting: deque[Future[R]] = deque()
    batch = f"{getattr(task, '__name__', type(task).__name__)}-{uuid4().hex}"
    todo = ((f"{batch}-{number}", partition) for number, partition in enumerate(partitions))
    try:
        for _ in partitions:
            room = _AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
            for key, partition in islice(todo, max(0, room)):
                waiting.append(client.submit(task, partition, key=key))
            yield waiting[0].result()
            waiting.popleft().release()
    except KilledWorker as error:
        raise BatchStopped(
            f"a partition was given up, because each of {error.allowed_failures + 1} workers that had it was killed; "
            "give workers more memory, or make partitions smaller (--partitions)"
        ) from None
    except (FutureCancelledError, OSError) as error:
        if isinstance(error, OSError) and client.status == "running":
            raise  # the task's own
        raise BatchStopped("the scheduler is gone") from None
    finally:
        for one in waiting:
            one.cancel()


@contextmanager
def progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show how many partitions are done; yields a function that counts one more."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    console = Terminal(stderr=True)
    columns = "partitions", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        line = shown.add_task("", total=total, completed=done)
        yield lambda: shown.advance(line)
