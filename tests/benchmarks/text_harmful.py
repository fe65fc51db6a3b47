"""Harmful pages: recall beside headlines, crime reports, hijacked titles, mail; by models that have not seen them.

    uv run --extra train python -m tests.benchmarks.text_harmful [--folds 0,1] [--check] [--rows FILE.jsonl.gz]

The sets lie under text/ in the folder that BENCH_DATA names (default: ../shared/data beside the project). Each fold is
judged by a model learned from the others; near-duplicates, and a hijacked title with the post it holds, are in one.
News sections are learned from, but for cnews, which is judged as the news of others. `--rows` writes all rows, of which
`scrapy train harmful` made the shipped model; `--check` fails where a floor of floors.json is not reached.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.text.harmful import blocks
from pipelines.text.harmful.judge import judge
from pipelines.text.harmful.learning import CLEAN_LABELS, FOLDS, HarmExample, deal, learn
from pipelines.text.harmful.model import HarmModel

ROOT = Path(os.environ.get("BENCH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "text"
FLOORS = Path(__file__).with_name("floors.json")
JUDGED = ("harm_zh", "harm_headlines", "harm_cleannews", "harm_crimenews", "harm_mail", "harm_hijack")
NEWS = {"kw_csl": 400, "cls_bbc": 300, "cls_reuters_ml": 300, "kw_kpcrowd": 300, "cls_sogouc": 1500}
UNSEEN = "cls_cnews"
CHARS = 900


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a set."""
    with gzip.open(ROOT / name / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def example(row: dict[str, Any], label: str = "") -> HarmExample:
    """Return a row to learn from."""
    return HarmExample(label or row["label"], row.get("title", ""), row["text"][:CHARS] if label else row["text"])


def news(names: Sequence[str]) -> list[HarmExample]:
    """Return honest texts of other sets."""
    return [example(row, "clean") for name in names for row in rows(name)[: NEWS.get(name)]]


def folds(found: Sequence[tuple[str, HarmExample]]) -> list[int]:
    """Return the fold of each row; a hijacked title goes with its post."""
    dealt = deal([row for _, row in found])
    posts = [
        (row.text[:30], fold)
        for (name, row), fold in zip(found, dealt, strict=True)
        if name == "harm_zh" and row.label not in CLEAN_LABELS and len(row.text) > 3
    ]
    return [
        next((own for post, own in posts if post in row.title), fold) if row.label == "hijacked" else fold
        for (_, row), fold in zip(found, dealt, strict=True)
    ]


class Tally:
    """What a method said of the rows of each set."""

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[bool, float]]] = {}

    def add(self, name: str, row: HarmExample, score: float) -> None:
        """Count a score."""
        self.said.setdefault(name, []).append((row.label not in CLEAN_LABELS, score))

    def figures(self) -> dict[str, float]:
        """Return the figures of the table."""
        clean = sorted(score for _, score in self.said["harm_headlines"])
        limit = clean[math.ceil(0.999 * len(clean)) - 1]
        posts = [score for bad, score in self.said["harm_zh"] if bad]
        return {
            "recall": float(np.mean([score > limit for score in posts])),
            "crime": self.alarms("harm_crimenews"),
            "hijack": self.f1("harm_hijack"),
            "mail": self.f1("harm_mail"),
            "news": self.alarms("harm_cleannews"),
            "unseen": self.alarms(UNSEEN),
        }

    def alarms(self, name: str) -> float:
        """Return the share of a set's honest rows that are called harmful."""
        return float(np.mean([score >= 0.5 for bad, score in self.said[name] if not bad]))

    def f1(self, name: str) -> float:
        """Return the F1 of the verdicts on a set."""
        hits = sum(bad and score >= 0.5 for bad, score in self.said[name])
        return 2 * hits / max(1, sum(bad + (score >= 0.5) for bad, score in self.said[name]))


def by_blocks(row: HarmExample, model: HarmModel) -> float:
    """Score a row as S26 does, which knows no titles."""
    return blocks.score(row.text, model)


def by_default(row: HarmExample, model: HarmModel) -> float:
    """Score a row."""
    return judge(row.title, row.text, model=model).score


METHODS = {"default": by_default, "blocks (S26)": by_blocks}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", default=",".join(map(str, range(FOLDS))), help="which are judged (all)")
    parser.add_argument("--check", action="store_true", help="fail under a floor")
    parser.add_argument("--rows", type=Path, help="write the rows that the shipped model is learned from")
    options = parser.parse_args()
    found = [(name, example(row)) for name in JUDGED for row in rows(name)]
    if options.rows:
        every = [row for _, row in found] + news([*NEWS, UNSEEN])
        with gzip.open(options.rows, "wt", encoding="utf-8") as file:
            for number, row in enumerate(every, 1):
                file.write(json.dumps({"id": number, **asdict(row)}, ensure_ascii=False) + "\n")
        return
    dealt = folds(found)
    tallies = {method: Tally() for method in METHODS}
    for fold in map(int, options.folds.split(",")):
        model, _ = learn([row for (_, row), own in zip(found, dealt, strict=True) if own != fold] + news([*NEWS]), 1)
        judged = [pair for pair, own in zip(found, dealt, strict=True) if own == fold]
        judged += [(UNSEEN, row) for row in news([UNSEEN])]
        for method, score in METHODS.items():
            for name, row in judged:
                tallies[method].add(name, row, score(row, model))
    figures = {method: tally.figures() for method, tally in tallies.items()}
    print("| method | " + " | ".join(figures["default"]) + " |")
    for method, values in figures.items():
        print(f"| {method} | " + " | ".join(f"{value:.4f}" for value in values.values()) + " |")
    if options.check:
        floors = json.loads(FLOORS.read_text(encoding="utf-8"))["harmful"]
        low = [name for name, floor in floors.items() if figures["default"][name] < floor]
        if low:
            sys.exit(f"under the floor: {', '.join(low)}")


if __name__ == "__main__":
    main()
