"""Harmful pages: recall beside headlines, hijacked titles, mail, honest news; by models that have not seen them.

    uv run --extra train python -m tests.benchmarks.text_harmful [--folds 0,1] [--check] [--rows FILE.jsonl.gz]

The sets lie in the folder that BENCH_DATA names (default: ../shared/data beside the project). Each fold is judged by a
model learned from the others; near-duplicates, and a hijacked title with the post it holds, are in one, and so are all
pages of a news site. News are the corpora of extraction, of near-duplicates and of classes, dealt by site or source;
blogs are judged beside them. `--rows` writes all rows, of which `scrapy train harmful` made the shipped model;
`--check` fails where a floor or ceiling of floors.json is not kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from pipelines.text.harmful import blocks
from pipelines.text.harmful.judge import judge
from pipelines.text.harmful.learning import CLEAN_LABELS, FOLDS, HarmExample, deal, learn
from pipelines.text.harmful.model import HarmModel

ROOT = Path(os.environ.get("BENCH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FLOORS = Path(__file__).with_name("floors.json")
JUDGED = ("harm_zh", "harm_headlines", "harm_cleannews", "harm_crimenews", "harm_mail", "harm_hijack")
NEWS = {
    **{"kw_csl": 400, "cls_bbc": 300, "cls_reuters_ml": 300, "kw_kpcrowd": 300, "cls_sogouc": 1500, "cls_cnews": 1500},
    **{"oped": 250, "tea": 400},
}
"""Rows to learn from by source; of those not named, all."""
ARTICLES = (
    *("andy-news", "big9", "chaos", "daniel", "dragnet", "evan", "fundus", "l3s-gn1", "magic-article", "wcxb-article"),
    *("xmu", "../zhgold"),
)
"""Corpora of articles, of many sites each."""
PER_SITE = 6
APART = {"tea": "blogs", "cls_cnews": "cnews"}
"""Sources that are no news, or hold adverts in all but name."""
CHARS = 3000


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a set."""
    with gzip.open(ROOT / "text" / name / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def example(row: dict[str, Any], label: str = "", source: str = "") -> HarmExample:
    """Return a row to learn from."""
    return HarmExample(label or row["label"], row.get("title") or "", row["text"], source)


def news() -> list[HarmExample]:
    """Return honest articles of many sources."""
    found = [example(row, "clean", name) for name in NEWS if name not in {"oped", "tea"} for row in rows(name)]
    for name in ARTICLES:
        with (ROOT / "extract" / name / "gold.jsonl").open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["text"] and not row.get("suspect") and row.get("page_type", "article") == "article":
                    site = row.get("host") or row.get("site") or urlsplit(row["url"] or f"//{name}").netloc
                    found.append(example(row, "clean", site))
    with gzip.open(ROOT / "neardup" / "zh" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["edit"] in {"orig", "natural"} and row["src"] in NEWS:
                found.append(example(row, "clean", row["src"]))
    return list({row.text[:CHARS]: row for row in found}.values())


def learned(found: Sequence[HarmExample]) -> list[HarmExample]:
    """Return the beginnings of those honest articles that are learned from."""
    count: Counter[str] = Counter()
    kept = []
    for row in found:
        count[row.source] += 1
        if count[row.source] <= NEWS.get(row.source, PER_SITE):
            kept.append(replace(row, text=row.text[:CHARS]))
    return kept


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
    """Verdicts of a method on the rows of each set."""

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
            "seen_news": self.alarms("harm_cleannews"),
            "news": self.alarms("news"),
            **{name: self.alarms(name) for name in APART.values()},
        }

    def alarms(self, name: str) -> float:
        """Return the share of a set's honest rows that are called harmful; nan if none is in the folds judged."""
        alarms = [score >= 0.5 for bad, score in self.said.get(name, []) if not bad]
        return float(np.mean(alarms)) if alarms else math.nan

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
    articles = news()
    if options.rows:
        every = [row for _, row in found] + learned(articles)
        with gzip.open(options.rows, "wt", encoding="utf-8") as file:
            for number, row in enumerate(every, 1):
                file.write(json.dumps({"id": number, **asdict(row)}, ensure_ascii=False) + "\n")
        return
    dealt = [*folds(found), *deal(articles)]
    found += [(APART.get(row.source, "news"), row) for row in articles]
    tallies = {method: Tally() for method in METHODS}
    for fold in map(int, options.folds.split(",")):
        judged = [pair for pair, own in zip(found, dealt, strict=True) if own == fold]
        others = [pair for pair, own in zip(found, dealt, strict=True) if own != fold]
        honest = learned([row for name, row in others if name not in JUDGED])
        model, _ = learn([row for name, row in others if name in JUDGED] + honest, 1)
        for method, score in METHODS.items():
            for name, row in judged:
                tallies[method].add(name, row, score(row, model))
    figures = {method: tally.figures() for method, tally in tallies.items()}
    print("| method | " + " | ".join(figures["default"]) + " |")
    for method, values in figures.items():
        print(f"| {method} | " + " | ".join(f"{value:.4f}" for value in values.values()) + " |")
    if options.check:
        bounds = json.loads(FLOORS.read_text(encoding="utf-8"))["harmful"]
        low = [name for name, floor in bounds["floors"].items() if figures["default"][name] < floor]
        high = [name for name, ceiling in bounds["ceilings"].items() if figures["default"][name] > ceiling]
        if low or high:
            sys.exit(f"under the floor: {', '.join(low) or 'none'}; over the ceiling: {', '.join(high) or 'none'}")


if __name__ == "__main__":
    main()
