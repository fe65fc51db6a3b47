"""Weights of visible times, searched on pages with gold times and judged on sites that the search did not see.

    uv run python -m tests.benchmarks.visible_times [CORPUS ...]

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project). Pages are dealt
into four folds by site. For each fold the weights of `pipelines.metadata.visible_time` are changed one at a time, as
long as more pages of the other folds have the right time; then the fold is read with the weights in use and with those
found. A page counts when its gold has a time and some line shows one: for the right day, and once more for the right
minute where the gold has a clock.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.settings import EXTRACTOR
from pipelines.dates.timezones import find_habits
from pipelines.document import structured_data
from pipelines.document.document import parse
from pipelines.document.structured_data import find_meta
from pipelines.extract import extractor as find_extractor
from pipelines.metadata.language import detect
from pipelines.metadata.lines import find_lines
from pipelines.metadata.title import find_headline, find_site_names
from pipelines.metadata.visible_time import WEIGHTS, LineNumbers, TimeLine, Weights, choose, read_line
from tests.benchmarks.data import NOW, address, corpora, fold_of, is_other, pages, require_data
from tests.benchmarks.metadata import _CLOCK, _MIDNIGHT, moment, same_day, same_minute

from .commands import new_parser

FOLDS = 4
FACTORS = (0.0, 0.5, 0.75, 1.25, 1.5, 2.0)
ROUNDS = 3


class Case(NamedTuple):
    """A page: its fold, the gold's time, its lines with a time, all that were looked at."""

    fold: int
    published: str
    lines: list[TimeLine | None]


def read(corpora_named: Sequence[str]) -> list[Case]:
    """Read the pages that have a gold time and a line with one."""
    run = find_extractor(EXTRACTOR)
    cases = []
    for corpus, folder in corpora(corpora_named).items():
        if not any(json.loads(line).get("published") for line in (folder / "gold.jsonl").open(encoding="utf-8")):
            continue
        for gold, body in pages(folder):
            if not moment(gold.get("published")) or gold.get("suspect") or is_other(gold):
                continue
            document = parse(body, address(gold))
            kept = run(document).blocks
            data = structured_data.read(document)
            title = find_headline(document, data, kept[0] if kept else -1, find_site_names(document, data))
            declared = document.language or find_meta(document, "og:locale", "language", "content-language")
            text = "\n".join(document.blocks.texts[index] for index in kept)
            habits = find_habits(urlsplit(document.url).hostname or "", detect(text or title.text, declared), declared)
            numbers = LineNumbers(find_lines(document, title.block, kept), kept)
            lines = [read_line(document, numbers, index, NOW, habits) for index in numbers.near]
            if any(lines):
                cases.append(Case(fold_of(corpus, gold, FOLDS), str(gold["published"]), lines))
    return cases


def score(cases: Sequence[Case], weights: Weights) -> int:
    """Count right days and right minutes."""
    right = 0
    for case in cases:
        found, _ = choose(case.lines, weights)
        want, got = moment(case.published), moment(found.iso if found else "")
        if want and got:
            right += same_day(want, got)
            has_clock = _CLOCK.search(case.published) and not _MIDNIGHT.search(case.published)
            right += bool(has_clock and found and found.has_clock and same_minute(want, got))
    return right


def search(cases: Sequence[Case]) -> tuple[Weights, int]:
    """Change one weight at a time as long as that helps."""
    best, most = WEIGHTS, score(cases, WEIGHTS)
    for _ in range(ROUNDS):
        before = most
        for name in Weights._fields[1:]:
            for factor in FACTORS:
                changed = best._replace(**{name: getattr(best, name) * factor})
                if (right := score(cases, changed)) > most:
                    best, most = changed, right
        if most == before:
            break
    return best, most


def main() -> int:
    """Print a row per fold."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*")
    chosen = options.parse_args()
    require_data()
    cases = read(chosen.corpora)
    print("| fold | pages | right, weights in use | right, weights found | changed |\n|---|---|---|---|---|")
    totals = [0, 0]
    for fold in range(FOLDS):
        inside = [case for case in cases if case.fold == fold]
        found, _ = search([case for case in cases if case.fold != fold])
        rights = score(inside, WEIGHTS), score(inside, found)
        totals = [total + right for total, right in zip(totals, rights, strict=True)]
        changed = {name: round(v, 4) for name, v in found._asdict().items() if v != getattr(WEIGHTS, name)}
        print(f"| {fold} | {len(inside)} | {rights[0]} | {rights[1]} | {changed} |", flush=True)
    print(f"| all | {len(cases)} | {totals[0]} | {totals[1]} | on all: {search(cases)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
