"""Keywords and summaries on labelled texts: every method, quality and CPU.

    uv run python -m tests.benchmarks.keywords [--method NAME]
    uv run python -m tests.benchmarks.keywords --check          fail where a floor is not reached
    uv run python -m tests.benchmarks.keywords --predict kw_csl > predicted.jsonl

Reads `text/kw_*` below the folder in BENCH_DATA (default: ../shared/data beside the project). F1 of the first five, as
a share of five and of the known keywords; Chinese is compared without blanks, English by Porter's stems. Methods that
learn are trained without the texts they are asked about, in four folds. CPU is that of text, keywords and summary.

Floors of the default method stand in floors.json. They rise by themselves when `--check` finds more; they fall only
with `--lower-floors`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import Stemmer

from pipelines.text.analysis import AnalysedText, analyse
from pipelines.text.frequencies import shipped
from pipelines.text.keywords import DEFAULT, LEARNED, method
from pipelines.text.summary import summarise
from pipelines.training.keywords import KeywordExample, example, learn

from . import floors
from .commands import new_parser
from .data import require_data
from .train_keywords import KEYWORDS, TEXT, rows

MARGIN = 0.005
FOLDS = 4
WAYS = {
    "tfidf": ("tfidf", {}),
    "network": ("network", {}),
    "network, clustering": ("network", {"form": "clustering"}),
    "bayes": ("bayes", {}),
    "combined": ("combined", {}),
}

Terms = list[tuple[str, float]]


@cache
def texts(name: str) -> list[tuple[dict[str, Any], AnalysedText]]:
    """Return the rows of a set with their words."""
    return [(row, analyse(row.get("title") or "", row["text"], KEYWORDS[name][0])) for row in rows(f"{name}/dev")]


def normal(term: str, language: str) -> str:
    """Return a keyword as it is compared."""
    if language == "zh":
        return re.sub(r"\s+", "", term.lower())
    return " ".join(Stemmer.Stemmer("porter").stemWord(word) for word in re.findall(r"[a-z0-9]+", term.lower()))


def f1(terms: Terms, keys: Sequence[str], language: str, first: int = 5) -> float:
    """Return the F1 of the first terms."""
    wanted = {normal(key, language) for key in keys} - {""}
    got = list(dict.fromkeys(filter(None, (normal(term, language) for term, _ in terms[: 4 * first]))))[:first]
    return 2 * sum(term in wanted for term in got) / (first + len(wanted))


def across_folds(name: str) -> dict[str, list[Terms]]:
    """Return the keywords of all texts by set, by a method trained on the other folds of all sets of a script."""
    by = LEARNED[name]
    found: dict[str, list[Terms]] = {each: [[] for _ in texts(each)] for each in KEYWORDS}
    known = {each: list(_examples(each)) for each in KEYWORDS}
    for fold in range(FOLDS):
        training = [one for each in known.values() for number, one in enumerate(each) if number % FOLDS != fold]
        models = by.read(learn(name, training))
        for each, examples in known.items():
            for number in range(fold, len(examples), FOLDS):
                found[each][number] = by.rank(examples[number].found, models)
    return found


def _examples(name: str) -> Iterator[KeywordExample]:
    for row, text in texts(name):
        yield example(text, row["keys"], shipped(), *KEYWORDS[name][1:])


def quality(way: str) -> dict[str, float]:
    """Return the F1 of a method by set."""
    name, params = WAYS[way]
    if name in LEARNED:
        found = across_folds(name)
    else:
        made = method(name, params)
        found = {each: [made(text, shipped()) for _, text in texts(each)] for each in KEYWORDS}
    return {
        each: sum(
            f1(terms, row["keys"], KEYWORDS[each][0]) for terms, (row, _) in zip(found[each], texts(each), strict=True)
        )
        / len(texts(each))
        for each in KEYWORDS
    }


def cost(way: str, name: str, most: int = 100) -> float:
    """Return milliseconds of CPU per 1,000 characters for words, keywords and summary."""
    made: Callable[..., Terms] = method(*WAYS[way])
    some = [row for row, _ in texts(name)][:most]
    made(analyse("词", "文章"), shipped())
    started = time.process_time()
    for row in some:
        text = analyse(row.get("title") or "", row["text"], KEYWORDS[name][0])
        made(text, shipped())
        summarise(text, shipped())
    return (time.process_time() - started) * 1e6 / sum(min(20_000, len(row["text"])) for row in some)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark's command."""
    parser = new_parser(__doc__)
    parser.add_argument("--method", choices=WAYS, action="append")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--lower-floors", action="store_true")
    parser.add_argument("--predict", choices=KEYWORDS, help="write the keywords of a set by the shipped default")
    options = parser.parse_args(arguments)
    require_data(TEXT)
    if options.predict:
        for row, text in texts(options.predict):
            terms = [term for term, _ in method()(text, shipped())[:20]]
            print(json.dumps({"id": row["id"], "keywords": terms}, ensure_ascii=False))
        return 0
    print("method".ljust(22), *(name.removeprefix("kw_").rjust(9) for name in KEYWORDS), "  ms per 1,000 characters")
    reached: dict[str, float] = {}
    for way in [DEFAULT] if options.check else options.method or WAYS:
        reached = quality(way)
        speed = cost(way, "kw_metanews")
        print(way.ljust(22), *(f"{value:9.4f}" for value in reached.values()), f"{speed:8.2f}")
    if options.check or options.lower_floors:
        return floors.check("keywords", reached, margin=MARGIN, lower=options.lower_floors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
