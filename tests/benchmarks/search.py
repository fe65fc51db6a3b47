"""Search against questions with known answers: NDCG@10 of plain indexes, of ours, and of ours without its parts.

    uv run python -m tests.benchmarks.search                    ours beside plain indexes of SQLite
    uv run python -m tests.benchmarks.search --check            ours alone, fail where a floor is not reached
    uv run python -m tests.benchmarks.search --ablation         ours without each part of the ranking
    uv run python -m tests.benchmarks.search xwlb --every 10    one set, every tenth query

Reads `text/search_*/` below the folder in BENCH_DATA (default: ../shared/data beside the project): `docs.jsonl.gz` with
id, title and text, `queries.dev.jsonl.gz` with id, text, maybe `text_simplified`, and rel, {document: grade}. Ours goes
the way of `scrapy search --documents`. Plain indexes are FTS5 tables with its BM25 of words (jieba's, of English also
stems), trigrams, pairs of characters, and words with pairs; for questions in simplified characters their texts are
converted, too. Floors are for all queries; they rise by themselves when `--check` finds more, and fall only with
`--lower-floors`.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

from crawler.commands.search import run_queries
from pipelines.decode.scripts import simplified
from pipelines.document.tokens import terms as pairs
from pipelines.search import passages, query, ranking, search
from pipelines.text import words

from . import floors
from .commands import new_parser
from .data import DATA, read_rows, require_data

FOLDER = DATA / "text"
SETS = ("xwlb", "drcd", "cmrc", "cranfield")
_FIRST = 10


def ranked_by(params: ranking.Params) -> Sequence[Any]:
    """Return patches for a ranking with other parameters."""
    parts = (ranking.score, ranking.passage, ranking.likeness)
    return [mock.patch.object(search, part.__name__, partial(part, params=params)) for part in parts]


def constant(module: Any, **values: Any) -> Sequence[Any]:
    """Return patches for other constants of a module."""
    return [mock.patch.object(module, name, value) for name, value in values.items()]


USUAL = ranking.Params()
ABLATIONS: Mapping[str, Callable[[], Sequence[Any]]] = {
    "all": list,
    "without passages": lambda: ranked_by(replace(USUAL, sentence=0, close=0, near=0)),
    "without the best sentence": lambda: ranked_by(replace(USUAL, sentence=0)),
    "without neighbours": lambda: ranked_by(replace(USUAL, close=0, near=0)),
    "without likeness to the best": lambda: ranked_by(replace(USUAL, like=0)),
    "title as text": lambda: ranked_by(replace(USUAL, title=1)),
    "without the lead": lambda: ranked_by(replace(USUAL, lead=0)),
    "without pairs": lambda: constant(query, _INSIDE=0.0, _ACROSS=0.0),
    "stop words count": lambda: constant(query, _STOP=1.0),
    "without stems": lambda: [mock.patch.object(module, "english_stem", str) for module in (words, query, passages)],
}


@contextmanager
def changed(name: str) -> Iterator[None]:
    """Rank as an ablation does."""
    with ExitStack() as stack:
        for patch in ABLATIONS[name]():
            stack.enter_context(patch)
        yield


def questions(folder: Path, every: int) -> dict[str, list[tuple[str, str, dict[str, int]]]]:
    """Return (id, text, grades) of the questions of a set, by the name under which they are counted."""
    name = folder.name.removeprefix("search_")
    found: dict[str, list[tuple[str, str, dict[str, int]]]] = {}
    for row in islice(read_rows(folder / "queries.dev.jsonl.gz"), 0, None, every):
        found.setdefault(name, []).append((f"{row['id']}", row["text"], row["rel"]))
        if "text_simplified" in row:
            found.setdefault(f"{name} simplified", []).append((f"{row['id']}", row["text_simplified"], row["rel"]))
    return found


def ndcg(grades: Mapping[str, int], found: Sequence[str]) -> float:
    """Return the normalized discounted cumulative gain of the first ten (Jarvelin and Kekalainen, 2002)."""
    ideal = sum(gain / math.log2(n + 2) for n, gain in enumerate(sorted(grades.values(), reverse=True)[:_FIRST]))
    return sum(grades.get(key, 0) / math.log2(n + 2) for n, key in enumerate(found[:_FIRST])) / ideal


def ours(folder: Path, every: int) -> Iterator[tuple[str, float]]:
    """Yield the names of questions with their NDCG, as `scrapy search --documents` finds."""
    asked = questions(folder, every)
    with tempfile.TemporaryDirectory() as temporary:
        file, run = Path(temporary, "queries.jsonl"), Path(temporary, "run.tsv")
        with file.open("w", encoding="utf-8") as out:
            for name, some in asked.items():
                out.writelines(json.dumps({"id": f"{name} {key}", "text": text}) + "\n" for key, text, _ in some)
        run_queries(str(folder / "docs.jsonl.gz"), str(file), str(run), {})
        found: dict[str, list[str]] = {}
        for line in run.read_text("utf-8").splitlines():
            key, document, _ = line.split("\t")
            found.setdefault(key, []).append(document)
    for name, some in asked.items():
        yield name, sum(ndcg(grades, found.get(f"{name} {key}", [])) for key, _, grades in some) / len(some)


def plain_words(text: str) -> list[str]:
    """Return the words of a text as jieba cuts them, stop words too."""
    return [word.lower() for word in words._cutter().cut(text) if any(map(str.isalnum, word))]


def trigrams(text: str) -> list[str]:
    """Return what FTS5's own tokenizer makes."""
    return [text[n : n + 3] for n in range(len(text) - 2)]


PLAIN: Mapping[str, tuple[Callable[[str], list[str]], str]] = {
    "words": (plain_words, "porter unicode61"),
    "trigrams": (trigrams, "trigram"),
    "pairs": (pairs, "unicode61"),
    "words and pairs": (lambda text: plain_words(text) + pairs(text), "porter unicode61"),
}


def plain(folder: Path, name: str, every: int) -> Iterator[tuple[str, float]]:
    """Yield the names of questions with the NDCG that a table of FTS5 reaches."""
    cut, tokenizer = PLAIN[name]
    documents = list(read_rows(folder / "docs.jsonl.gz"))
    for asked, some in questions(folder, every).items():
        to = simplified() if asked.endswith("simplified") else {}
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(f"CREATE VIRTUAL TABLE plain USING fts5(title, text, tokenize='{tokenizer}')")
            texts = ((row.get("title", "").translate(to), row["text"].translate(to)) for row in documents)
            if tokenizer != "trigram":
                texts = ((" ".join(cut(title)), " ".join(cut(text))) for title, text in texts)
            database.executemany("INSERT INTO plain VALUES (?, ?)", texts)
            total = 0.0
            for _, text, grades in some:
                tokens = dict.fromkeys(cut(text.translate(to)))
                either = " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens if token.strip())
                sql = f"SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT {_FIRST}"
                found = [str(documents[n - 1]["id"]) for (n,) in database.execute(sql, (either,))] if either else []
                total += ndcg(grades, found)
        yield asked, total / len(some)


def main() -> int:
    """Search the sets that are there."""
    options = new_parser(__doc__)
    options.add_argument("sets", nargs="*", help=f"{', '.join(SETS)}; all are usual")
    options.add_argument("--every", type=int, default=1, metavar="N", help="every Nth query alone")
    options.add_argument("--ablation", action="store_true", help="ours without each part of the ranking")
    options.add_argument("--check", action="store_true", help="ours alone, compared with the floors")
    options.add_argument("--lower-floors", action="store_true", help="and write what was found, lower or not")
    chosen = options.parse_args()
    checking = chosen.check or chosen.lower_floors
    if checking and (chosen.every != 1 or chosen.ablation):
        options.error("floors are those of all queries and parts")
    reached: dict[str, float] = {}
    for name in chosen.sets or SETS:
        folder = FOLDER / f"search_{name}"
        require_data(folder)
        if not checking and not chosen.ablation:
            for method in PLAIN:
                for asked, value in plain(folder, method, chosen.every):
                    print(f"{asked:17} {method:27}{value:.4f}", flush=True)
        for without in ABLATIONS if chosen.ablation else ("all",):
            with changed(without):
                found = dict(ours(folder, chosen.every))
            for asked, value in found.items():
                print(f"{asked:17} {'ours' if without == 'all' else without:27}{value:.4f}", flush=True)
            if without == "all":
                reached |= found
    return floors.check("search", reached, lower=chosen.lower_floors) if checking else 0


if __name__ == "__main__":
    sys.exit(main())
