"""Extraction of many pages by 1, 2 and more workers (S40)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from .table import Replication, Row

SIMULATED: Final = (1, 2, 4, 6, 8)
"""Nodes of the paper's table."""


class Measured(NamedTuple):
    """Seconds of each partition alone, and of the whole by number of workers."""

    partitions: Sequence[float]
    whole: Mapping[int, float]
    pages: int


def makespan(partitions: Sequence[float], workers: int, start: float = 0.0) -> float:
    """Return the seconds in which so many workers do all partitions.

    Each takes the next as it becomes free; `start` seconds pass before the first begins.

    >>> makespan([3, 2, 2, 1], workers=2)
    4.0
    """
    free = [start] * workers
    for seconds in partitions:
        heapq.heapreplace(free, free[0] + seconds)
    return float(max(free))


def speed_up(measured: Measured, seed: int) -> Replication:
    """Compare batches by the number of workers, measured and simulated.

    Source: 王海艳, 曹攀, 2016 (S40): 10,000 pages on 1, 2, 4, 6 and 8 nodes, near-linear to 6.
    Differs: workers are processes of one machine; more than it has cores are simulated by list scheduling of the
        partitions' times, without the cost of a network. `seed` changes nothing.
    """
    alone = measured.whole[1]
    start = max(0.0, alone - sum(measured.partitions))
    rows = []
    for workers in sorted({*SIMULATED, *measured.whole}):
        ours = {
            "simulated speed-up": makespan(measured.partitions, 1, start)
            / makespan(measured.partitions, workers, start)
        }
        if workers in measured.whole:
            ours = {"seconds": measured.whole[workers], "speed-up": alone / measured.whole[workers], **ours}
        rows.append(Row(f"{workers} workers" if workers > 1 else "1 worker", ours))
    return Replication(
        "S40: 王海艳, 曹攀, 基于节点属性与正文内容的海量Web信息抽取方法, 2016",
        rows,
        [
            f"{measured.pages} pages in {len(measured.partitions)} partitions; the paper prints a curve, near-linear "
            "to 6 nodes, and no numbers.",
            "More workers than this machine has cores cannot be faster here: look at the simulated figure.",
        ],
    )
