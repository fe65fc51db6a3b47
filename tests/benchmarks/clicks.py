"""What simulated readers teach the ranking: NDCG@10 by kinds of readers and weight of the signal.

    uv run python -m tests.benchmarks.clicks [--worlds 20] [--sessions 200]

In each world thirty queries have twenty results of known relevance, ordered by a text score that is right by half.
Readers open what stands high and promises much and stay longer where it is relevant; or they are noise. After each
round the model is learned and the next readers see the new order. Printed are means over the worlds. Then NDCG and
prediction of later clicks by dwell times beside click-through rates (`scrapy replicate clicks`), means over as many.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from statistics import fmean

from pipelines.replicate.clicks import click_model

from ..pipelines.search.readers import simulate
from .commands import new_parser
from .crawl_order import table

MIXES = (
    {"honest": 1.0},
    {"honest": 0.7, "at random": 0.3},
    {"honest": 0.7, "the first": 0.3},
    {"honest": 0.9, "patient machine": 0.1},
    {"honest": 0.9, "hurried machine": 0.1},
    {"at random": 1.0},
    {"the first": 1.0},
    {"patient machine": 1.0},
)
WEIGHTS = (0.2, 0.5, 1.0)
ROUNDS = 6
SHOWN = (0, 1, 3, 6)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=200, help="of each round")
    options = parser.parse_args(arguments)
    rows = []
    for weight in WEIGHTS:
        for mix in MIXES:
            runs = [
                simulate(Random(seed), mix, weight=weight, rounds=ROUNDS, sessions=options.sessions)
                for seed in range(options.worlds)
            ]
            name = ", ".join(f"{share:.0%} {kind}" for kind, share in mix.items())
            rows.append([name, f"{weight:g}", *(f"{fmean(run[n] for run in runs):.3f}" for n in SHOWN)])
    heads = ["readers", "weight", *(f"after {n * options.sessions:,} sessions" for n in SHOWN)]
    sys.stdout.write(table(heads, rows) + "\n\n")
    tables = [click_model(None, seed) for seed in range(options.worlds)]
    names = tables[0].figures
    methods = [
        [row.name, *(f"{fmean(one.rows[n].ours[name] for one in tables):.3f}" for name in names)]
        for n, row in enumerate(tables[0].rows)
    ]
    sys.stdout.write(table(["relevance by", *names], methods) + "\n")


if __name__ == "__main__":
    main()
