"""Map a task over the partitions of a source, on Dask, and collect the results.

The whole algorithm is in the map step; results are kept part by part, so that a batch that was killed goes on with the
rest. Source: Dean and Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", 2004.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload
from uuid import uuid4

from ..terminal.text import Terminal
from .columns import Columns, mapped

if TYPE_CHECKING:
    from distributed import Client, Future

P = TypeVar("P")
R = TypeVar("R")

_AHEAD: Final = 3
"""Partitions handed out per worker; this bounds the results held in memory."""
_PATIENCE_SECONDS: Final = 30.0
"""A batch stops that has no worker at two moments this far apart."""
_TOLD_SECONDS: Final = 10.0
_MOST_NOTES: Final = 20
"""Problems of a source that are kept as sentences; the counts tell how many there are."""


class BatchStopped(Exception):
    """Raised when the batch cannot go on; the same command goes on with the rest."""


@dataclass(frozen=True, slots=True)
class Done:
    """A partition's result; the bytes of all, one after the other, are the whole."""

    data: bytes
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Parts:
    """The results of finished partitions, in a folder of their own.

    Raises:
        ValueError: the folder belongs to another batch, with another `mark`.
    """

    def __init__(self, folder: Path, mark: Mapping[str, Any]) -> None:
        self.folder = folder
        mark_file = folder / "batch.json"
        wanted = json.dumps(mark, sort_keys=True, ensure_ascii=False, default=str)
        if not any(folder.glob("*.part")):
            folder.mkdir(parents=True, exist_ok=True)
            _write(mark_file, wanted.encode())
        elif mark_file.read_text(encoding="utf-8") != wanted:
            which = ", ".join(sorted(_differing(json.loads(mark_file.read_text(encoding="utf-8")), json.loads(wanted))))
            raise ValueError(
                f"{folder} holds parts of another batch (other {which}); finish that one, or delete the folder"
            )

    def put(self, number: int, done: Done) -> None:
        """Keep the result of a partition, whole or not at all."""
        about = json.dumps({"counts": done.counts, "notes": list(done.notes)}, ensure_ascii=False)
        _write(self._path(number, "json"), about.encode())
        _write(self.path(number), done.data)

    def has(self, number: int) -> bool:
        return self.path(number).exists()

    def told(self, number: int) -> Done:
        about = json.loads(self._path(number, "json").read_text(encoding="utf-8"))
        return Done(b"", about["counts"], about["notes"])

    def path(self, number: int) -> Path:
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
    unfinished = path.with_suffix(f"{path.suffix}.new")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


@dataclass(slots=True)
class BatchTotals:
    """Counts and notes of all partitions; lines of `report` are shown instead, if any."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    report: list[str] = field(default_factory=list)

    def add(self, done: Done) -> None:
        self.counts.update(done.counts)
        self.notes += done.notes[: max(0, _MOST_NOTES - len(self.notes))]


class Lazily(Sequence[P]):
    """Partitions that are made, by number, when they are sent."""

    def __init__(self, count: int, make: Callable[[int], P]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> P: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[P]: ...
    def __getitem__(self, number: int | slice) -> P | Sequence[P]:
        numbers = range(self._count)[number]
        return self._make(numbers) if isinstance(numbers, int) else [self._make(n) for n in numbers]


def run(client: Client, parts: Parts, task: Callable[[P], Done], partitions: Sequence[P]) -> BatchTotals:
    """Do the partitions that are not done, showing progress on standard error.

    A task runs on a worker; its result for a partition must always be the same.

    Raises:
        BatchStopped: a partition killed its worker again and again, or the scheduler is gone.
        ValueError, OSError, DatabaseProblem: raised by a task.
    """
    totals = BatchTotals()
    left = [number for number in range(len(partitions)) if not parts.has(number)]
    with progress(len(partitions), len(partitions) - len(left)) as count_one:
        wanted = Lazily(len(left), lambda n: partitions[left[n]])
        for number, done in as_done(client, task, wanted):
            parts.put(left[number], done)
            count_one()
    for number in range(len(partitions)):
        totals.add(parts.told(number))
    return totals


def run_step(
    client: Client, parts: Parts, task: Callable[[P], Done], partitions: Sequence[P], totals: BatchTotals
) -> list[Columns]:
    """Do a step whose results are columns, adding its counts to the totals; see `run`."""
    step_totals = run(client, parts, task, partitions)
    totals.counts.update(step_totals.counts)
    totals.notes += step_totals.notes
    return [mapped(parts.path(number)) for number in range(len(partitions))]


def as_done(client: Client, task: Callable[[P], R], partitions: Sequence[P]) -> Iterator[tuple[int, R]]:
    """Yield numbers of partitions with their results as they are done; see `run`."""
    from distributed import wait  # noqa: PLC0415

    some = {"timeout": _PATIENCE_SECONDS, "return_when": "FIRST_COMPLETED"}
    with _handed_out(client, task, partitions) as (waiting, hand_out):
        while hand_out():
            _patiently(client, partial(wait, list(waiting.values()), **some))
            for number in [number for number, future in waiting.items() if future.done()]:
                yield number, _result(client, waiting.pop(number))


def in_order(client: Client, task: Callable[[P], R], partitions: Sequence[P]) -> Iterator[R]:
    """Yield the results of partitions in their order; see `as_done`."""
    with _handed_out(client, task, partitions) as (waiting, hand_out):
        while hand_out():
            first = next(iter(waiting))
            yield _result(client, waiting.pop(first))


@contextmanager
def _handed_out(
    client: Client, task: Callable[[P], R], partitions: Sequence[P]
) -> Iterator[tuple[dict[int, Future[R]], Callable[[], bool]]]:
    """Hand out some partitions at a time.

    Yields the futures by number, and a function that hands out more if there is room and any are left.
    """
    from distributed import KilledWorker  # noqa: PLC0415 - takes half a second, and is an extra
    from distributed.client import FutureCancelledError  # noqa: PLC0415
    from distributed.comm import CommClosedError  # noqa: PLC0415

    waiting: dict[int, Future[R]] = {}
    name = f"{_name(task)}-{uuid4().hex}"  # others may use the same scheduler
    todo = iter(enumerate(partitions))

    def hand_out() -> bool:
        room = _AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
        for number, partition in islice(todo, max(0, room)):
            waiting[number] = client.submit(task, partition, key=f"{name}-{number}")
        return bool(waiting)

    try:
        yield waiting, hand_out
    except KilledWorker as error:
        raise BatchStopped(
            f"a partition was given up, because each of {error.allowed_failures + 1} workers that had it was killed; "
            "give workers more memory, or make partitions smaller (--partitions)"
        ) from None
    except (FutureCancelledError, CommClosedError):
        raise BatchStopped("the scheduler is gone") from None
    finally:
        if client.status == "running":
            client.cancel(list(waiting.values()))


def _name(task: Callable[..., Any]) -> str:
    return _name(task.func) if isinstance(task, partial) else getattr(task, "__name__", type(task).__name__)


def _result(client: Client, future: Future[Any]) -> Any:
    """Return a result; one that was lost with its worker is waited for again."""

    def result() -> Any:
        try:
            return future.result(timeout=_PATIENCE_SECONDS)
        except TimeoutError as error:
            if future.status != "error":
                raise
            raise RuntimeError(f"a task failed: {error!r}") from error

    return _patiently(client, result)


def _patiently(client: Client, attempt: Callable[[], Any]) -> Any:
    """Try until it succeeds, as long as there are workers.

    Dask gives up a worker that dies while it starts; those of this machine are replaced.
    """
    from distributed import SpecCluster  # noqa: PLC0415 - takes half a second, and is an extra

    had_workers = True
    while True:
        with suppress(TimeoutError):
            return attempt()
        if isinstance(client.cluster, SpecCluster):
            client.cluster.scale(len(client.cluster.worker_spec))
        has_workers = bool(client.nthreads())
        if not (has_workers or had_workers):
            raise BatchStopped(f"there have been no workers for {_PATIENCE_SECONDS:.0f} seconds")
        had_workers = has_workers


@contextmanager
def progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show how many partitions are done; yields a function that counts one more."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield _Lines(total, done).one
        return
    columns = "partitions", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as shown:
        line = shown.add_task("", total=total, completed=done)
        yield lambda: shown.advance(line)


class _Lines:
    def __init__(self, total: int, done: int) -> None:
        self._total = total
        self._done = done
        self._told = time.monotonic()

    def one(self) -> None:
        self._done += 1
        if time.monotonic() > self._told + _TOLD_SECONDS:
            sys.stderr.write(f"{self._done:,} of {self._total:,} partitions\n")
            self._told = time.monotonic()
