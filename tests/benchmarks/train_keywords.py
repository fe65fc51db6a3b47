"""Make what keywords are found by anew: frequencies, keywords and keywords_bayes of pipelines/models.

    uv run python -m tests.benchmarks.train_keywords [frequencies] [bayes] [combined] [--output FOLDER]

Reads the sets `text/*` below the folder in BENCH_DATA (default: ../shared/data beside the project). Frequencies are
counted in classes, search and papers; Chinese ones start from jieba's own. Keywords are learned from the dev halves of
`KEYWORDS`. Of the texts nothing is kept but counts of words and weights of features.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from pipelines.models import files as model_files
from pipelines.text.analysis import LATIN, NUMBER, analyse
from pipelines.text.frequencies import shipped
from pipelines.text.keywords import bayes, combined
from pipelines.training.keywords import KeywordExample, example, learn

from .commands import new_parser
from .data import DATA, read_rows, require_data

TEXT = DATA / "text"
KEYWORDS = {
    "kw_csl": ("zh", 1.0, False), "kw_metanews": ("zh", 2.0, True),
    "kw_inspec": ("en", 1.0, False), "kw_kpcrowd": ("en", 3.0, True),
}  # fmt: skip
"""Sets with keywords: language; how much each text counts, so that the smaller sets are heard; are they articles?"""
COUNTED = {
    "en": ("cls_bbc/dev", "cls_reuters_ml/dev", "search_cranfield/docs", "kw_semeval2010/dev", "kw_semeval2017/dev"),
    "zh": ("cls_sogouc/dev", "cls_cnews/dev"),
}
OPENED = {
    "en": ("cls_bbc/dev", "cls_reuters_ml/dev"),
    "zh": ("cls_sogouc/dev", "cls_cnews/dev", "harm_cleannews/dev", "search_xwlb/docs"),
}
"""News, for how often words stand at the beginning of texts."""
OPENING = 15
"""Telling words at the beginning of a text."""
MOST_OPENED = 3000
"""Texts of each of these sets."""
FURTHEST = 1.0
"""Openings are not taken for larger, or smaller than its negative: it is formulas like "our correspondent reports"."""
LEAST_OPENING = 0.4
"""Smaller ones are left out."""
DOUBT = 8
"""Texts in which a word is as often at the beginning as any other, beside those counted."""
LEAST = 3
"""Texts that a counted term is in."""
COMMON = 9.0
"""Chinese words are listed that are commoner than this, in logarithms; the rest counts as `RARE`."""
RARE = 11.0
STEP = 4
"""Steps in a unit of the logarithm."""
PRIOR = 1000
"""So many documents jieba's frequencies count as, beside those of the sets."""


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Return the rows of a file below text/."""
    return read_rows(TEXT / f"{name}.jsonl.gz")


def examples(name: str) -> list[KeywordExample]:
    """Return the texts of a set with keywords."""
    language, weight, is_article = KEYWORDS[name]
    return [
        example(analyse(row.get("title") or "", row["text"], language), row["keys"], shipped(), weight, is_article)
        for row in rows(f"{name}/dev")
    ]


def count(language: str) -> tuple[Counter[str], int]:
    """Return in how many texts each term is, and how many there are."""
    found: Counter[str] = Counter()
    texts = 0
    for name in COUNTED[language]:
        for row in rows(name):
            text = analyse(row.get("title") or "", row["text"], language)
            wanted = {LATIN} if language == "en" else set(text.tags) - {LATIN, NUMBER}
            found.update({term for term, tag in zip(text.terms, text.tags, strict=True) if tag in wanted})
            texts += 1
    return found, texts


def openings(language: str) -> dict[str, float]:
    """Return how much oftener than others each term stands at the beginning of texts, as logarithms."""
    texts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for name in OPENED[language]:
        for row in islice(rows(name), MOST_OPENED):
            terms = analyse("。", row["text"], language).telling_terms()  # a mark, so that no line counts as the title
            texts.update(set(terms))
            first.update(set(terms[:OPENING]))
    share = first.total() / texts.total()
    found = {term: math.log((first[term] / share + DOUBT) / (n + DOUBT)) for term, n in texts.items()}
    return {term: max(-FURTHEST, min(FURTHEST, value)) for term, value in found.items() if abs(value) > LEAST_OPENING}


def _by_level(values: dict[str, float]) -> dict[str, str]:
    """Return the terms of each value in steps, the lowest first."""
    levels: dict[float, list[str]] = defaultdict(list)
    for term, value in sorted(values.items()):
        levels[round(value * STEP) / STEP].append(term)
    return {f"{level:g}": " ".join(terms) for level, terms in sorted(levels.items())}


def frequencies() -> tuple[dict[str, Any], int]:
    """Return the rarity of words and their place, in steps, and the texts that they were counted in."""
    english, texts = count("en")
    known = {
        "en": {term: math.log(texts / n) for term, n in english.items() if n >= LEAST and term.isascii()},
        "zh": {},
    }
    chinese, news = count("zh")
    for line in files("jieba").joinpath("analyse/idf.txt").read_text(encoding="utf-8").splitlines():
        term, value = line.split(" ")
        rarity = math.log((news + PRIOR) / (chinese[term] + PRIOR * math.exp(-float(value))))
        if rarity < COMMON:
            known["zh"][term] = rarity
    model = {
        "rare_han": RARE,
        "rare": round(math.log(texts / 1.5), 2),
        "levels": {language: _by_level(terms) for language, terms in known.items()},
        "openings": {
            language: _by_level({term: value for term, value in openings(language).items() if term in terms})
            for language, terms in known.items()
        },
    }
    return model, texts + news


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark's command."""
    makers = {"frequencies": "frequencies", bayes.NAME: "keywords_bayes", combined.NAME: "keywords"}
    parser = new_parser(__doc__)
    parser.add_argument("what", nargs="*", help=f"of {', '.join(makers)}; all by default")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    if unknown := set(options.what) - set(makers):
        parser.error(f"{', '.join(sorted(unknown))}: known are {', '.join(makers)}")
    require_data(TEXT)
    texts: list[KeywordExample] = []
    for name in options.what or makers:
        path = model_files.path(makers[name])
        path = options.output / path.name if options.output else path
        made = f"python -m tests.benchmarks.train_keywords {name}"
        if name == "frequencies":
            model, count_of_texts = frequencies()
        else:
            texts = texts or [each for one in KEYWORDS for each in examples(one)]
            model, count_of_texts = learn(name, texts), len(texts)
        kind = makers[name].partition("_")[0]
        path.write_text(model_files.dumps(kind, model, made, {"pages": count_of_texts}), encoding="utf-8")
        print(path, path.stat().st_size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
