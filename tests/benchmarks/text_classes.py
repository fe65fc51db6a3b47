"""Classes of texts by cross-validation: every method, the measures of selection, and the model that is shipped.

    uv run --extra train python -m tests.benchmarks.text_classes                   a table of all methods
    uv run --extra train python -m tests.benchmarks.text_classes --select          the measures at 500 words (svm)
    uv run python -m tests.benchmarks.text_classes --check                         fail where a floor is not reached
    uv run python -m tests.benchmarks.text_classes --shipped                       the shipped model, held out
    uv run python -m tests.benchmarks.text_classes --sections FILE                 data of the shipped model

Reads `text/cls_*/dev.jsonl.gz` below the folder in BENCH_DATA (default: ../shared/data beside the project): rows with
id, text, label or labels, best with title. Texts are dealt into five folds; texts that begin alike stay together.
Macro-F1, for texts of several classes micro-F1. Floors for the default method stand in floors.json; they only rise.

The shipped model learns from three of these sets and from the pages of `news_sections.tsv`: id, the sections it has,
and those that would not be wrong either; a page with neither (crime, accidents, weather, notices) is of no section.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pipelines.metadata.language import detect
from pipelines.text.classes import DEFAULT, METHODS, learner
from pipelines.text.classes.selection import MEASURES, Select
from pipelines.text.classes.vectors import Text
from pipelines.training.classes import learn

from . import floors
from .commands import new_parser
from .data import DATA, corpus_folder, read_rows, require_data

FOLDER = DATA / "text"
PAGES = Path(__file__).with_name("news_sections.tsv")
MARGIN = 0.005
FOLDS = 5
SETS = {"sogouc": "zh", "cnews": "zh", "bbc": "en", "reuters_ml": "en"}
"""Labelled sets and their languages."""
PRECISION = 0.95
"""Asked for when the shipped model is learned."""
SELECT = Select("df+chi2", 60_000)
ONE_SOURCE = {"daniel", "chaos"}
"""Corpora in which many sites tell the same stories."""
SECTIONS = {
    "体育": "sport", "sport": "sport", "财经": "finance", "股票": "finance", "business": "finance",
    "IT": "technology", "科技": "technology", "tech": "technology", "时政": "politics", "politics": "politics",
    "军事": "military", "娱乐": "entertainment", "entertainment": "entertainment", "文化": "culture",
    "健康": "health", "教育": "education", "旅游": "travel", "汽车": "autos", "招聘": "jobs", "房产": "housing",
    "游戏": "games", "时尚": "fashion", "家居": "home", "彩票": "lottery",
}  # fmt: skip
"""Labels of the sets -> classes of the shipped model."""


def rows(name: str) -> list[dict[str, Any]]:
    """Read a set."""
    return list(read_rows(FOLDER / f"cls_{name}" / "dev.jsonl.gz"))


def labels_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the classes of a row."""
    return tuple(row["labels"]) if "labels" in row else (row["label"],)


def fold_of(text: str) -> int:
    """Deal a text by its first letters."""
    return blake2b(re.sub(r"\W+", "", text)[:24].encode(), digest_size=4).digest()[0] % FOLDS


def measure(name: str, method: str, select: Select | None) -> tuple[float, int, float]:
    """Return F1, characters of the model as JSON, and milliseconds of CPU a prediction."""
    found = rows(name)
    texts = [Text(row.get("title", ""), row["text"], language=SETS[name]) for row in found]
    wanted = [labels_of(row) for row in found]
    hits, told, real = Counter[str](), Counter[str](), Counter[str]()
    spent, asked, size = 0.0, 0, 0
    for fold in range(FOLDS):
        own = [n for n, text in enumerate(texts) if fold_of(text.text) == fold]
        others = [n for n, text in enumerate(texts) if fold_of(text.text) != fold]
        model = learn([texts[n] for n in others], [wanted[n] for n in others], learner(method), select).model
        size = max(size, len(json.dumps(model.model())))
        since = time.process_time()
        names = [model.predict(texts[n]).names for n in own]
        spent, asked = spent + time.process_time() - since, asked + len(own)
        for n, got in zip(own, names, strict=True):
            real.update(wanted[n])
            told.update(got)
            hits.update(set(got) & set(wanted[n]))
    if "labels" in found[0]:
        f1 = 2 * hits.total() / (told.total() + real.total())
    else:
        f1 = sum(2 * hits[label] / (told[label] + real[label]) for label in real) / len(real)
    return f1, size, spent / asked * 1000


class SectionText(NamedTuple):
    """A text whose sections are known: those it has, and those that would not be wrong either."""

    id: str
    text: Text
    labels: tuple[str, ...]
    accepted: tuple[str, ...]
    source: str
    is_page: bool

    @property
    def is_decided(self) -> bool:
        """Tell whether it can be learned from: it has sections, or none at all."""
        return bool(self.labels) or not self.accepted


def sections() -> Iterator[SectionText]:
    """Yield the texts of three sets and the pages of `news_sections.tsv`."""
    for name in ("sogouc", "cnews", "bbc"):
        for row in rows(name):
            text = Text("", row["text"], language=SETS[name])
            yield SectionText(f"{name}-{row['id']}", text, (SECTIONS[row["label"]],), (), "", is_page=False)
    for line in PAGES.read_text(encoding="utf-8").splitlines():
        key, labels, accepted = [*line.split("\t"), "", ""][:3]
        corpus, _, own = key.partition("/")
        row = gold(corpus)[own]
        host = row.get("host") or row.get("src") or urlsplit(row.get("url") or "").netloc
        yield SectionText(
            key,
            Text(row.get("title") or "", row["text"], language=detect(row["text"]).partition("-")[0]),
            tuple(labels.split(",")) if labels else (),
            tuple(accepted.split(",")) if accepted else (),
            corpus if corpus in ONE_SOURCE else host,
            is_page=True,
        )


@cache
def gold(corpus: str) -> dict[str, dict[str, Any]]:
    """Read the texts of a corpus by their ids."""
    path = corpus_folder(corpus) / "gold.jsonl" if corpus != "neardup" else DATA / "neardup/zh/docs.jsonl.gz"
    return {str(row["id"]): row for row in read_rows(path)}


def write_sections(path: Path) -> None:
    """Write what the shipped model is learned from."""
    with path.open("w", encoding="utf-8") as out:
        for one in sections():
            if one.is_decided:
                row = {"id": one.id, "labels": one.labels, "title": one.text.title, "text": one.text.text}
                row |= {"language": one.text.language, "source": one.source}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def measure_shipped() -> int:
    """Print how often what is told of texts of other sources is right, and how many get a section.

    Learned as the shipped model is. Pages that may have a section or none are judged by the whole model, which has not
    learned from them. Compares with the floors.
    """
    texts = sorted(sections(), key=lambda one: not one.is_decided)
    decided = [one for one in texts if one.is_decided]
    learned = learn(
        [one.text for one in decided],
        [one.labels for one in decided],
        wanted=SELECT,
        precision=PRECISION,
        sources=[one.source for one in decided],
    )
    told = learned.told + [learned.model.predict(one.text).names for one in texts[len(decided) :]]
    counts: dict[str, Counter[str]] = {}
    for one, names in zip(texts, told, strict=True):
        right = {*one.labels, *one.accepted}
        count = counts.setdefault(f"{one.text.language} {'pages' if one.is_page else 'sets'}", Counter())
        count.update(texts=1, described=bool(names), told=len(names), right=len(right.intersection(names)))
        count.update(none=not right, wrong_none=not right and bool(names), several=len(names) > 1)
    reached: dict[str, float] = {}
    for name, count in sorted(counts.items()):
        precision, share = count["right"] / max(count["told"], 1), count["described"] / count["texts"]
        print(
            f"{name}: {count['described']} of {count['texts']} texts have a section ({share:.3f}), {count['several']} "
            f"several; {count['right']} of {count['told']} are right ({precision:.3f}); of {count['none']} texts of no "
            f"section {count['wrong_none']} have one"
        )
        reached |= {f"{name} precision": precision, f"{name} described": share}
    return floors.check("sections", reached, margin=2 * MARGIN)


def main() -> int:
    """Print what was asked for."""
    parser = new_parser(__doc__)
    parser.add_argument("--select", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--sections", type=Path)
    chosen = parser.parse_args()
    require_data(FOLDER)
    if chosen.sections:
        write_sections(chosen.sections)
        return 0
    if chosen.shipped:
        return measure_shipped()
    if chosen.check:
        reached = {name: measure(name, DEFAULT, None)[0] for name in SETS}
        return floors.check("classes", reached, margin=MARGIN)
    jobs: list[tuple[str, Select | None]] = [(name, None) for name in METHODS]
    if chosen.select:
        jobs = [("svm", Select(name, 500)) for name in MEASURES]
    for method, select in jobs:
        for name in SETS:
            f1, size, spent = measure(name, method, select)
            print(
                f"{method:12} {select or ''!s:12} {name:11} {f1:.4f} {size / 1e6:6.2f} MB {spent:6.2f} ms", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
