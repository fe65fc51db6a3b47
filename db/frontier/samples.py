"""Samples of a run's counts, from which curves are drawn.

A run writes one with each heartbeat. The older a sample, the further apart its neighbours may be: after each
`_THIN_EVERY` of them those go that stand closer than a share of their age. So a run has a few hundred, whether it took
minutes or months, and its last minutes are as fine as its first ones were.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, delete, func, select

from ..engine.statements import insert_new, run_many
from ..records.reasons import ArticleResult
from ..records.run import RunSample
from ..tables.runs import RunRow, RunSampleRow

sample, run = RunSampleRow.table(), RunRow.table()

_MOST_RUNS = 100
"""Runs whose samples are kept, the newest."""
_MOST_REASONS = 30
_THIN_EVERY = 60
_SHARE = 1 / 120
"""Distance of neighbouring samples, as a share of their age."""
OTHERS = "others"


def sample_of(stats: Mapping[str, int], at: float, queued: int | None = None) -> RunSample:
    names = (ArticleResult.NEW, ArticleResult.DUPLICATE, ArticleResult.DROPPED)
    new, duplicates, dropped = (stats.get(name, 0) for name in names)
    return RunSample(
        at=at,
        pages=stats.get("pages", 0),
        articles=new + duplicates,
        duplicates=duplicates + dropped,
        failed=stats.get("failed", 0),
        bytes=stats.get("bytes", 0),
        queued=queued,
        reasons=drops(stats),
    )


def drops(stats: Mapping[str, int]) -> dict[str, int]:
    counts = Counter({name.partition("/")[2]: n for name, n in stats.items() if name.startswith("dropped/") and n > 0})
    top_counts = dict(counts.most_common(_MOST_REASONS))
    rest = counts.total() - sum(top_counts.values())
    return top_counts | {OTHERS: rest + top_counts.get(OTHERS, 0)} if rest else top_counts


def add(connection: Connection, run_id: int, now: RunSample) -> None:
    """Write a sample; thin the older ones now and then.

    Cost: one row; a read of a few hundred every two minutes.
    """
    values = {name: getattr(now, name) for name in RunSample.__slots__}
    values["reasons"] = json.dumps(now.reasons, ensure_ascii=False)
    connection.execute(insert_new(connection, sample), {"run_id": run_id, **values})
    times = connection.execute(_COUNT, {"run": run_id}).scalar_one()
    if times % _THIN_EVERY == 0:
        gone = crowded(list(connection.execute(_TIMES, {"run": run_id}).scalars()), now.at)
        run_many(connection, _DELETE, [{"run": run_id, "time": at} for at in gone])


def crowded(times: Sequence[float], now: float) -> list[float]:
    """Return the times, in their order, that stand too close behind one that stays.

    >>> crowded([0.0, 1.0, 2.0, 50.0, 999.0], 1000.0)
    [1.0, 2.0]
    """
    gone, last = [], times[0] if times else 0.0
    for at in times[1:-1]:
        if at - last < (now - at) * _SHARE:
            gone.append(at)
        else:
            last = at
    return gone


def forget_old(connection: Connection) -> None:
    newest = select(run.c.id).order_by(run.c.id.desc()).offset(_MOST_RUNS).limit(1).scalar_subquery()
    connection.execute(delete(sample).where(sample.c.run_id <= newest))


_OF_RUN = sample.c.run_id == bindparam("run")
_COUNT = select(func.count()).select_from(sample).where(_OF_RUN)
_TIMES = select(sample.c.at).where(_OF_RUN).order_by(sample.c.at)
_DELETE = delete(sample).where(_OF_RUN, sample.c.at == bindparam("time"))
