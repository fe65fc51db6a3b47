"""Make the networks of `combined` anew from the corpora under BENCH_DATA.

    uv run --extra train python -m tests.benchmarks.train_combined [CORPUS ...] [--first] [--output FILE]

Without names it takes the corpora that the shipped model was made from, with `--first` only the rows that the first of
them had at first. It is `scrapy train combined` with folders and rows filled in, and writes the model where the crawl
reads it: three minutes of one core. What such networks are worth on sites that they have not seen tells
`tests.benchmarks.held_out`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

from .commands import PROJECT, new_parser
from .data import FIRST_ROWS, TRAINED_ON, corpora


def first_rows(folder: Path, count: int, into: Path) -> Path:
    """Make a corpus of the first rows of another one, whose pages stay where they are."""
    into.mkdir()
    with (folder / "gold.jsonl").open(encoding="utf-8") as rows:
        (into / "gold.jsonl").write_text("".join(islice(rows, count)), encoding="utf-8")
    for path in folder.iterdir():
        if path.name != "gold.jsonl":
            (into / path.name).symlink_to(path)
    return into


def main() -> int:
    """Train; returns the exit code of `scrapy train`."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*", default=list(TRAINED_ON))
    options.add_argument("--first", action="store_true", help="only the rows that there were at first")
    options.add_argument("--output", type=Path, help="where to write it (default: where the crawl reads it)")
    chosen = options.parse_args()
    folders = corpora(chosen.corpora)
    if len(folders) < len(chosen.corpora):
        return 2
    with tempfile.TemporaryDirectory() as place:
        if chosen.first:
            folders = {
                name: first_rows(folders[name], count, Path(place) / name)
                for name, count in FIRST_ROWS.items()
                if name in folders
            }
        command = [sys.executable, "-m", "scrapy", "train", "combined", *map(str, folders.values())]
        command += ["--output", str(chosen.output.resolve())] if chosen.output else []
        return subprocess.run(command, cwd=PROJECT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
