"""jieba beside rjieba: do they cut and tag the same words?

    uv run python -m tests.benchmarks.cutters [--texts 150]
    uv run python -m tests.benchmarks.cutters --check       fail where they differ more than MARGIN

Reads Chinese texts of `text/*` and `neardup/zh` below the folder in BENCH_DATA (default: ../shared/data beside the
project), so many of each set; of each text the first 3,000 characters. Texts count as equal when every word, every word
of the search mode and every tag is; these are the tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from pipelines.text import words
from tests.pipelines.text.cutters import fast_cutter, slow_cutter, words_of

from .commands import new_parser
from .data import DATA, read_rows, require_data

SETS = ("text/kw_csl", "text/kw_metanews", "text/cls_cnews", "text/cls_sogouc", "text/harm_zh", "neardup/zh")
MOST_CHARS = 3_000
MARGIN = 0.002
"""Share of texts that may differ: some cuts of words that the dictionary lacks are as likely but for rounding."""


def texts_of(folder: Path, most: int) -> Iterator[str]:
    """Yield the first texts of a set, titles in front, that have a Chinese word."""
    rows = (row for file in sorted(folder.rglob("*.jsonl*")) for row in read_rows(file) if row.get("text"))
    every = (f"{row.get('title') or ''}\n{row['text']}"[:MOST_CHARS] for row in rows)
    yield from islice(filter(lambda text: words.find_han(words.fold(text)), every), most)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark's command."""
    parser = new_parser(__doc__)
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    require_data(*(DATA / name for name in SETS))
    slow, fast = slow_cutter(), fast_cutter()
    equal = total = count = 0
    print(f"{'set':20}{'texts':>9}{'equal':>9}{'tokens':>11}")
    for name in SETS:
        alike: list[bool] = []
        of_set = 0
        for text in texts_of(DATA / name, options.texts):
            one, other = words_of(slow, text), words_of(fast, text)
            alike.append(one == other)
            of_set += len(one)
            if one != other:
                print(*next((a, b) for a, b in zip_longest(one, other) if a != b))
        print(f"{name:20}{len(alike):9}{sum(alike):9}{of_set:11}")
        equal, total, count = equal + sum(alike), total + len(alike), count + of_set
    print(f"{'all':20}{total:9}{equal:9}{count:11}")
    return int(options.check and total - equal > MARGIN * total)


if __name__ == "__main__":
    sys.exit(main())
