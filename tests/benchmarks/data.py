"""Labelled data: where it lies, the corpora of saved pages with gold texts, and how texts are scored against these.

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project): `zhgold/` and
`extract/<corpus>/`, each a gold.jsonl with id, text, title, published, authors, page_type, and the pages gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipelines.urls import host_key, site_key

DATA = Path(os.environ.get("BENCH_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TOKEN = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|"
    r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
FIRST_ROWS = {
    "zhgold": 94, "daniel": 393, "fundus": 124, "magic-article": 81, "l3s-gn1": 80, "dragnet": 120,
    "wcxb-article": 100, "magic-forum": 30, "wcxb-other": 59, "cleaneval": 60, "readability": 39,
}  # fmt: skip
"""Rows that each corpus had when floors.json was made."""
TRAINED_ON = (
    *FIRST_ROWS, "andy-news", "big9", "chaos", "cleaneval-dev", "cleanportaleval", "evan", "harvest-forum",
    "nonarticle", "omnivore", "platforms", "xmu",
)  # fmt: skip
"""Corpora that models/combined.json is made from."""


def require_data(*folders: Path) -> None:
    """End the program with a message when the data is not there."""
    for folder in folders or (DATA,):
        if not folder.is_dir():
            print(f"no {folder}: set BENCH_DATA to the folder of the data", file=sys.stderr)
            raise SystemExit(2)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines, which may be gzipped."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def corpus_folder(name: str) -> Path:
    """Return where a corpus of saved pages is, or would be."""
    return DATA / name if (DATA / name / "gold.jsonl").is_file() else DATA / "extract" / name


def corpora(names: Sequence[str]) -> dict[str, Path]:
    """Folders of the corpora named, all of them for no name; says which are missing."""
    if not names:
        names = ["zhgold", *sorted(path.parent.name for path in (DATA / "extract").glob("*/gold.jsonl"))]
    found = {}
    for name in names:
        folder = corpus_folder(name)
        if (folder / "gold.jsonl").is_file():
            found[name] = folder
        else:
            print(f"{name:16}not at {folder}", file=sys.stderr)
    return found


def pages(folder: Path, limit: int | None = None) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield gold rows with the bytes of their pages, the first `limit` of them."""
    for gold in islice(read_rows(folder / "gold.jsonl"), limit):
        yield gold, page_body(folder, gold)


def page_file(folder: Path, gold: Mapping[str, Any]) -> Path:
    """Return the gzipped page of a gold row."""
    return folder / (gold.get("file") or f"{gold['id']}.html.gz")


def page_body(folder: Path, gold: Mapping[str, Any]) -> bytes:
    """Read the page of a gold row."""
    return gzip.decompress(page_file(folder, gold).read_bytes())


def is_other(gold: Mapping[str, Any]) -> bool:
    """Tell whether a corpus says that a page is no article."""
    return gold.get("page_type") in {"list", "other"}


def address(gold: dict[str, object]) -> str:
    """The page's URL; a made-up one when the corpus keeps none or only the host."""
    url = str(gold.get("url") or "")
    return (
        url
        if urlsplit(url).path.strip("/")
        else f"http://example.com/{re.sub(r'[^a-zA-Z0-9.-]', '-', str(gold['id']))}.html"
    )


def fold_of(corpus: str, gold: Mapping[str, object], folds: int) -> int:
    """Return the fold that a page belongs to: all pages of one site, in whatever corpus, are in the same one.

    On a platform each account counts as a site.
    """
    host = str(gold.get("host") or urlsplit(str(gold.get("url") or "")).hostname or "")
    site = site_key(host_key(f"http://{host}/")) if host else f"{corpus} {gold['id']}"
    site = f"{site} {gold['account']}" if gold.get("account") else site
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:4], "big") % folds


def fold(text: str | None) -> str:
    """Letters and digits in lower case."""
    return re.sub(r"\W+", "", text or "").lower()


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Multiset of 4-token shingles; one CJK character is a token."""
    tokens = TOKEN.findall(text)
    size = min(4, len(tokens)) or 1
    return Counter(tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))


def f1(gold: dict[str, object], text: str) -> float:
    """Shingle F1 of one page; the headline and the gold's free lines do not count."""
    title = fold(str(gold.get("title") or ""))
    free = {fold(line) for key in ("captions", "optional") for line in gold.get(key) or () if isinstance(line, str)}
    lines = text.split("\n")
    kept = [
        line
        for at, line in enumerate(lines)
        if fold(line) not in free and not (at < 3 and title and fold(line) == title)
    ]
    want, got = shingles(str(gold["text"] or "")), shingles("\n".join(kept))
    common = (want & got).total()
    return 2 * common / (want.total() + got.total()) if common else 0.0
