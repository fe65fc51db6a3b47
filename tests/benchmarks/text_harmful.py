"""Harmful pages: kinds, hijacked pages, recall beside headlines; false alarms of honest pages and texts.

    uv run --extra train python -m tests.benchmarks.text_harmful [--folds 0,1] [--check] [--rows FILE.jsonl.gz]
    uv run python -m tests.benchmarks.text_harmful --pages

The sets lie in the folder that BENCH_DATA names (default: ../shared/data beside the project). Each fold is judged by a
model learned from the others; near-duplicates, and a hijacked title with the post it holds, are in one, and so are all
pages of a site. Honest are the saved pages of the corpora of extraction, with their links, read as in a crawl, and
Chinese texts of the sets of near-duplicates and of classes; blogs are judged beside them. Hijacked are pages of the
fold with posts of the fold in their titles, their lines, their links. `--rows` writes all rows, of which `scrapy train
harmful` made the shipped model; `--check` fails where a floor or ceiling of floors.json is not kept; `--pages` judges
all saved pages of any language by the shipped model and names those that it calls harmful.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from pipelines.describe import judged
from pipelines.document.document import parse
from pipelines.parse_page import read_page
from pipelines.text.harmful import blocks
from pipelines.text.harmful.judge import is_chinese, judge
from pipelines.text.harmful.model import HarmModel
from pipelines.text.harmful.records import HarmKind, HarmVerdict
from pipelines.training.harmful import CLEAN_LABELS, FOLDS, KIND_OF, HarmExample, deal, learn
from tests.benchmarks.data import DATA, address, corpora, page_body, read_rows

from . import floors
from .commands import new_parser

JUDGED = ("harm_zh", "harm_headlines", "harm_cleannews", "harm_crimenews", "harm_mail", "harm_hijack")
NEWS = {"kw_csl": 400, "cls_sogouc": 800, "cls_cnews": 800, "oped": 250, "tea": 250}
"""Rows to learn from by source; of those not named, the sites of pages, a few."""
PER_SITE = 6
APART = {"tea": "blogs", "cls_cnews": "cnews"}
"""Sources that are no news, or hold adverts in all but name."""
CHARS = 1500
FETCHED = datetime(2026, 1, 1, tzinfo=UTC)
NO_ARTICLES = {"nonarticle", "magic-forum", "harvest-forum", "wcxb-other"}
POST_CHARS = 50
CHANGES = {
    "title": {"titles": 1},
    "document's title": {"document": 1},
    "piece of the title": {"pieces": 1},
    "a line": {"lines": 1},
    "3 lines": {"lines": 3},
    "title and links": {"document": 1, "links": 12},
    "links alone": {"links": 12},
}
"""Changes that hijackers make: how many posts they put where."""


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a set."""
    return list(read_rows(DATA / "text" / name / "dev.jsonl.gz"))


def example(row: dict[str, Any], label: str = "", source: str = "") -> HarmExample:
    """Return a row to learn from."""
    return HarmExample(label or row["label"], row.get("title") or "", row["text"], source)


def pages(language: str = "") -> Iterator[tuple[str, Mapping[str, Any], HarmExample]]:
    """Yield (corpus, gold, example) of the saved pages whose text a crawl would keep, read as a crawl reads them.

    Args:
        language: of the pages wanted, empty for all; a page of which none is named counts as such.
    """
    for corpus, folder in corpora(()).items():
        for gold in read_rows(folder / "gold.jsonl"):
            if language and gold.get("lang", language) != language:
                continue
            page = parse(page_body(folder, gold), address(gold), "text/html")
            document, parsed, _ = read_page(page, fetched_at=FETCHED)
            if parsed.is_leaf:
                title, text, links = judged(parsed.metadata.title, parsed.extraction.text, document)
                site = gold.get("host") or gold.get("site") or urlsplit(str(gold.get("url") or "")).netloc
                yield corpus, gold, HarmExample("clean", title, text, site or corpus, links)


def is_article(corpus: str, gold: Mapping[str, Any]) -> bool:
    """Tell whether a corpus says that a page is an article."""
    return corpus not in NO_ARTICLES and (
        gold.get("page_type", "article") == "article" and gold.get("kind") != "not_article"
    )


def news() -> list[HarmExample]:
    """Return honest Chinese texts of several sources."""
    found = [example(row, "clean", name) for name in ("kw_csl", "cls_sogouc", "cls_cnews") for row in rows(name)]
    for row in read_rows(DATA / "neardup" / "zh" / "docs.jsonl.gz"):
        if row["edit"] in {"orig", "natural"} and row["src"] in NEWS:
            found.append(example(row, "clean", row["src"]))
    return [row for row in {row.text[:CHARS]: row for row in found}.values() if is_chinese(row.text)]


def learned(found: Sequence[HarmExample]) -> list[HarmExample]:
    """Return the beginnings of those honest texts and pages that are learned from."""
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


def hijacked(page: HarmExample, posts: Sequence[str], draw: random.Random, **places: int) -> HarmExample:
    """Return a page with some posts where hijackers put them.

    Args:
        page: an honest one; its title is that of the article and that of the document.
        posts: harmful ones.
        draw: chooses.
        places: how many posts are put there: titles, document, pieces, lines, links.
    """
    chosen = iter(draw.sample(posts, sum(places.values())))
    headline, _, title = page.title.partition(" | ")
    lines, links = page.text.split("\n"), list(page.links[:150])
    for _ in range(places.get("titles", 0)):
        headline = title = next(chosen)[:POST_CHARS]
    for _ in range(places.get("document", 0)):
        title = next(chosen)[:POST_CHARS]
    for _ in range(places.get("pieces", 0)):
        title = draw.choice(("{0}_{1}", "{1} - {0}")).format(next(chosen)[:POST_CHARS], title or headline)
    at = draw.choice((0, len(lines), draw.randint(0, len(lines))))
    lines[at:at] = [next(chosen) for _ in range(places.get("lines", 0))]
    links += [next(chosen)[:POST_CHARS] for _ in range(places.get("links", 0))]
    return HarmExample("hijacked", f"{headline} | {title}", "\n".join(lines), page.source, tuple(links))


class Tally:
    """Verdicts of a method on the rows of each set."""

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[str, HarmVerdict]]] = defaultdict(list)

    def add(self, name: str, row: HarmExample, verdict: HarmVerdict) -> None:
        """Count a verdict."""
        self.said[name].append((row.label, verdict))

    def figures(self) -> dict[str, float]:
        """Return the figures of the table."""
        clean = sorted(verdict.score for _, verdict in self.said["harm_headlines"])
        limit = clean[math.ceil(0.999 * len(clean)) - 1]
        posts = [verdict.score for label, verdict in self.said["harm_zh"] if label in KIND_OF]
        return {
            "recall": float(np.mean([score > limit for score in posts])),
            "crime": self.called("harm_crimenews"),
            "hijack": self.f1("harm_hijack"),
            "mail": self.f1("harm_mail"),
            "pages": self.called("pages"),
            "seen_news": self.called("harm_cleannews"),
            "news": self.called("news"),
            **{name: self.called(name) for name in APART.values()},
        }

    def called(self, name: str, *, honest: bool = True) -> float:
        """Return the share of a set's honest or other rows that are called harmful; nan if none is judged."""
        said = [verdict.is_harmful for label, verdict in self.said[name] if (label in CLEAN_LABELS) is honest]
        return float(np.mean(said)) if said else math.nan

    def f1(self, *names: str) -> float:
        """Return the F1 of the verdicts on some sets."""
        said = [(label in KIND_OF, verdict.is_harmful) for name in names for label, verdict in self.said[name]]
        return 2 * sum(bad and found for bad, found in said) / max(1, sum(bad + found for bad, found in said))

    def by_kind(self) -> list[tuple[str, int, float, float, float]]:
        """Return name, rows, precision, recall and F1 of each kind; a text of another kind is a false alarm, too."""
        said = [(KIND_OF.get(label), verdict.kind) for name in (*JUDGED, "pages") for label, verdict in self.said[name]]
        found = []
        for kind in HarmKind:
            count = sum(label is kind for label, _ in said)
            called = sum(own is kind for _, own in said)
            hits = sum(label is own is kind for label, own in said)
            found.append((kind, count, hits / max(called, 1), hits / max(count, 1), 2 * hits / max(count + called, 1)))
        return found


def by_blocks(row: HarmExample, model: HarmModel) -> HarmVerdict:
    """Judge a row as S26 does."""
    return blocks.judge(row.title, row.text, row.links, model)


def by_default(row: HarmExample, model: HarmModel) -> HarmVerdict:
    """Judge a row."""
    return judge(row.title, row.text, row.links, model)


METHODS = {"default": by_default, "blocks (S26)": by_blocks}


def judge_pages() -> None:
    """Judge all saved pages by the shipped model: counts by corpus and kind, and the names of harmful ones."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for corpus, gold, page in pages():
        verdict = judge(page.title, page.text, page.links)
        counts[corpus, "articles" if is_article(corpus, gold) else "others"][verdict.kind or ""] += 1
        if verdict.is_harmful:
            print(f"{corpus}/{gold['id']}: {verdict}")
    for (corpus, sort), found in sorted(counts.items()):
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()) if kind)
        print(f"{corpus:16}{sum(found.values()):6} {sort:9}{kinds or 'none harmful'}")


def judge_fold(tally: Tally, fold: int, honest: Sequence[HarmExample], posts: Sequence[str], model: HarmModel) -> None:
    """Judge pages of a fold as they are, and as hijackers would change them."""
    draw = random.Random(fold)
    for page in honest:
        tally.add("pages", page, by_default(page, model))
        for name, places in CHANGES.items():
            changed = hijacked(page, posts, draw, **places)
            tally.add(name, changed, by_default(changed, model))


def main() -> None:
    """Print the tables."""
    parser = new_parser(__doc__)
    parser.add_argument("--folds", default=",".join(map(str, range(FOLDS))), help="which are judged (all)")
    parser.add_argument("--check", action="store_true", help="fail under a floor")
    parser.add_argument("--rows", type=Path, help="write the rows that the shipped model is learned from")
    parser.add_argument("--pages", action="store_true", help="judge all saved pages by the shipped model")
    options = parser.parse_args()
    if options.pages:
        judge_pages()
        return
    found = [(name, example(row)) for name in JUDGED for row in rows(name)]
    texts = news()
    saved = [page for _, _, page in pages("zh") if is_chinese(page.text)]
    if options.rows:
        every = [row for _, row in found] + learned([*saved, *texts])
        with gzip.open(options.rows, "wt", encoding="utf-8") as file:
            for number, row in enumerate(every, 1):
                file.write(json.dumps({"id": number, **asdict(row)}, ensure_ascii=False) + "\n")
        return
    dealt, of_texts, of_pages = folds(found), deal(texts), deal(saved)
    tallies = {method: Tally() for method in METHODS}
    for fold in map(int, options.folds.split(",")):
        own = [pair for pair, at in zip(found, dealt, strict=True) if at == fold]
        others = [row for (_, row), at in zip(found, dealt, strict=True) if at != fold]
        honest = [row for row, at in zip([*saved, *texts], [*of_pages, *of_texts], strict=True) if at != fold]
        model, _ = learn(others + learned(honest), 1)
        own += [(APART.get(row.source, "news"), row) for row, at in zip(texts, of_texts, strict=True) if at == fold]
        for method, judged_by in METHODS.items():
            for name, row in own:
                tallies[method].add(name, row, judged_by(row, model))
        posts = [
            row.text for name, row in own if name == "harm_zh" and row.label in KIND_OF and is_chinese(row.text, 4)
        ]
        of_fold = [page for page, at in zip(saved, of_pages, strict=True) if at == fold]
        judge_fold(tallies["default"], fold, of_fold, posts, model)
    report(tallies, check=options.check)


def report(tallies: Mapping[str, Tally], *, check: bool) -> None:
    """Print the tables; fail under a floor if that is wanted."""
    figures = {method: tally.figures() for method, tally in tallies.items()}
    print("| method | " + " | ".join(figures["default"]) + " |")
    for method, values in figures.items():
        print(f"| {method} | " + " | ".join(f"{value:.4f}" for value in values.values()) + " |")
    default = tallies["default"]
    print("\n| kind | rows | precision | recall | F1 |")
    for kind, count, precision, recall, f1 in default.by_kind():
        print(f"| {kind} | {count} | {precision:.3f} | {recall:.3f} | {f1:.3f} |")
    print("\n| change of a page | found | F1 beside the pages as they are |")
    for name in CHANGES:
        print(f"| {name} | {default.called(name, honest=False):.3f} | {default.f1(name, 'pages'):.3f} |")
    if check:
        bounds = floors.bounds("harmful")
        values = figures["default"] | {name: default.f1(name, "pages") for name in CHANGES}
        low = [name for name, floor in bounds["floors"].items() if values[name] < floor]
        high = [name for name, ceiling in bounds["ceilings"].items() if values[name] > ceiling]
        if low or high:
            sys.exit(f"under the floor: {', '.join(low) or 'none'}; over the ceiling: {', '.join(high) or 'none'}")


if __name__ == "__main__":
    main()
