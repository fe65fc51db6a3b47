"""Near-duplicate detection on labelled articles: quality by kind of edit, and CPU per document.

    uv run python tests/benchmarks/duplicates.py [zh|en ...] [--out FOLDER] [--mode pairs|crawl]

Reads `neardup/<language>/` below the folder in BENCH_DATA (default: `../shared/data` beside the project):
`docs.jsonl.gz` in order of arrival, `pairs.tsv` with the labels and `grey.json`. Mode "pairs" indexes every document
and compares it with all its candidates, because pairs are counted; mode "crawl" does what a crawl does: the best
match alone counts, and duplicates are indexed only when they are worth it. With --out the pairs found are written to
`<FOLDER>/<language>.tsv`. "Pairs compared" counts all candidates, also those that `judge` drops unread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.dedup import DEFAULT_METHOD, THRESHOLD, Candidate, judge, matches, signature, worth_indexing
from pipelines.dedup.candidates import CandidateParams, ShingleIndex

ROOT = Path(__file__).resolve().parents[2]
EVERY_CANDIDATE = 10_000


@dataclass
class Labels:
    """What is known of a data set: documents by id, labelled pairs, pairs of clusters that nobody decided."""

    documents: dict[int, dict[str, Any]]
    pairs: dict[tuple[int, int], int]
    grey: set[tuple[str, str]]

    def kind(self, first: int, second: int) -> str:
        """Judge a pair found: "hit", "false", "ignored" or "template"."""
        label = self.pairs.get((min(first, second), max(first, second)))
        if label is not None:
            return "hit" if label else "ignored"
        a, b = self.documents[first], self.documents[second]
        if a["tmpl"] is not None and a["tmpl"] == b["tmpl"]:
            return "template"
        ours, theirs = {a["cluster"], *a["also"]}, {b["cluster"], *b["also"]}
        if ours & theirs or any((x, y) in self.grey for x in ours for y in theirs):
            return "ignored"
        return "false"


@dataclass
class Result:
    """What one run found."""

    found: list[tuple[int, int, float, str]] = field(default_factory=list)
    compared: int = 0
    sign_seconds: float = 0.0
    find_seconds: float = 0.0
    judge_seconds: float = 0.0


def load(folder: Path) -> Labels:
    """Read a labelled data set."""
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = {document["id"]: document for document in map(json.loads, lines)}
    pairs = {}
    for line in (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        first, second, label = line.split("\t")[:3]
        pairs[min(int(first), int(second)), max(int(first), int(second))] = int(label)
    grey = {tuple(pair) for pair in json.loads((folder / "grey.json").read_text(encoding="utf-8"))}
    return Labels(documents, pairs, grey | {(second, first) for first, second in grey})


def run(labels: Labels, mode: str, threshold: float, name: str) -> Result:
    """Stream the documents through signature, index and comparison."""
    every = mode == "pairs"
    index = ShingleIndex(CandidateParams(max_candidates=EVERY_CANDIDATE) if every else CandidateParams())
    result = Result()
    exact: dict[int, int] = {}
    for number, document in labels.documents.items():
        text = document["text"]
        started = time.process_time()
        signed = signature(text)
        looked = time.process_time()
        candidates = [
            Candidate(found, labels.documents[found]["text"], shared)
            for found, shared in index.candidates(signed.shingles)
        ]
        ready = time.process_time()
        if every:
            duplicates = matches(text, candidates, threshold, name)
        elif signed.exact and signed.exact in exact:
            candidates = [Candidate(exact[signed.exact], labels.documents[exact[signed.exact]]["text"])]
            duplicates = matches(text, candidates, threshold, name)
        else:
            best = judge(text, candidates, threshold, name)
            duplicates = [] if best is None else [best]
        judged = time.process_time()
        result.found.extend((match.article_id, number, match.similarity, match.kind) for match in duplicates)
        if every or worth_indexing(duplicates[0] if duplicates else None):
            index.add(number, signed.shingles)
            exact.setdefault(signed.exact, number)
        result.compared += len(candidates)
        result.sign_seconds += looked - started
        result.find_seconds += ready - looked + time.process_time() - judged
        result.judge_seconds += judged - ready
    return result


def report(labels: Labels, result: Result) -> Iterator[str]:
    """Describe a run in lines of text."""
    documents = len(labels.documents)
    kinds = Counter(labels.kind(first, second) for first, second, _, _ in result.found)
    hits = {(min(first, second), max(first, second)) for first, second, _, _ in result.found}
    positives = {pair for pair, label in labels.pairs.items() if label}
    hits &= positives
    precision = kinds["hit"] / max(1, kinds["hit"] + kinds["false"])
    yield f"precision {precision:.4f}  recall {len(hits) / max(1, len(positives)):.4f}  pairs {dict(kinds)}"
    order = {number: place for place, number in enumerate(labels.documents)}
    later = {max(pair, key=order.__getitem__) for pair in positives}
    caught = {max(pair, key=order.__getitem__) for pair in hits}
    collapsed = later & {second for _, second, _, _ in result.found}
    caught_share, collapsed_share = (len(some) / max(1, len(later)) for some in (caught, collapsed))
    yield f"later copies caught {caught_share:.4f}, collapsed into any article {collapsed_share:.4f}"
    edits: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for pair in positives:
        for number in pair:
            edit = labels.documents[number]["edit"]
            edits[edit] += 1
            found[edit] += pair in hits
    yield "recall by edit: " + "  ".join(f"{edit} {found[edit] / edits[edit]:.3f}" for edit in sorted(edits))
    share = result.compared / max(1, documents * (documents - 1) // 2)
    yield f"pairs compared {result.compared} ({share:.3%} of all, {result.compared / max(1, documents):.2f} a document)"
    costs = (result.sign_seconds, result.find_seconds, result.judge_seconds)
    sign, find, verify = (1000 * seconds / max(1, documents) for seconds in costs)
    total = sign + find + verify
    yield f"CPU {total:.3f} ms a document: signature {sign:.3f}, index {find:.3f}, comparison {verify:.3f}"


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=["zh", "en"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--mode", choices=("pairs", "crawl"), default="pairs")
    parser.add_argument("--threshold", type=float, default=THRESHOLD)
    parser.add_argument("--method", default=DEFAULT_METHOD)
    options = parser.parse_args()
    data = Path(os.environ.get("BENCH_DATA") or ROOT.parent / "shared" / "data") / "neardup"
    if not data.is_dir():
        sys.stderr.write(f"no folder {data}: set BENCH_DATA to the folder that holds neardup/\n")
        return 2
    signature("")  # the tables are built once per process and are no part of a document's cost
    for language in options.languages:
        labels = load(data / language)
        result = run(labels, options.mode, options.threshold, options.method)
        sys.stdout.write(f"{language}: {len(labels.documents)} documents, mode {options.mode}\n")
        sys.stdout.writelines(f"  {line}\n" for line in report(labels, result))
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            rows = [f"{first}\t{second}\t{share:.4f}\t{kind}\n" for first, second, share, kind in result.found]
            (options.out / f"{language}.tsv").write_text("".join(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
