"""Extraction on real pages with gold texts: quality and CPU per page, as one table.

    uv run python -m tests.benchmarks.extraction [CORPUS ...] [--extractor density] [--pages 400]

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project): `zhgold/` and
`extract/<corpus>/`, each a gold.jsonl with id, text, title, published, authors, page_type, and the pages gzipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from lxml import etree

from pipelines.extract.page import parse_page
from pipelines.records import PageKind

ROOT = Path(os.environ.get("BENCH_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TOKEN = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|"
    r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
LARGE_BYTES = 177_000


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Multiset of 4-token shingles; one CJK character is a token."""
    tokens = TOKEN.findall(text)
    size = min(4, len(tokens)) or 1
    return Counter(tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))


def fold(text: str | None) -> str:
    """Letters and digits in lower case."""
    return re.sub(r"\W+", "", text or "").lower()


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


def pages(folder: Path, limit: int) -> Iterator[tuple[dict[str, object], bytes]]:
    """Gold rows with the bytes of their pages."""
    with (folder / "gold.jsonl").open(encoding="utf-8") as rows:
        for number, line in enumerate(rows):
            if number >= limit:
                return
            gold = json.loads(line)
            yield gold, gzip.decompress((folder / (gold.get("file") or f"{gold['id']}.html.gz")).read_bytes())


def address(gold: dict[str, object]) -> str:
    """The page's URL; a made-up one when the corpus keeps none or only the host."""
    url = str(gold.get("url") or "")
    return (
        url
        if urlsplit(url).path.strip("/")
        else f"http://example.com/{re.sub(r'[^a-zA-Z0-9.-]', '-', str(gold['id']))}.html"
    )


def bare(body: bytes) -> float:
    """CPU milliseconds of parsing alone."""
    start = time.process_time()
    etree.fromstring(body or b"<p>", etree.HTMLParser(huge_tree=True, recover=True))
    return 1e3 * (time.process_time() - start)


def measure(name: str, folder: Path, extractor: str, limit: int) -> None:
    """Print one row of the table."""
    scores: list[float] = []
    cpu: list[float] = []
    parse: list[float] = []
    large: list[float] = []
    counts: Counter[str] = Counter()
    for gold, body in pages(folder, limit):
        start = time.process_time()
        page = parse_page(body, address(gold), fetched_at=NOW, extractor=extractor)
        spent = 1e3 * (time.process_time() - start)
        cpu.append(spent)
        parse.append(bare(body))
        if 0.6 * LARGE_BYTES < len(body) < 1.5 * LARGE_BYTES:
            large.append(spent * LARGE_BYTES / len(body))
        accepted = page.kind is PageKind.ARTICLE
        if gold.get("page_type") in {"list", "other"}:
            counts["others"] += 1
            counts["rejected"] += not accepted
            continue
        counts["articles"] += 1
        counts["accepted"] += accepted
        if float(str(gold.get("coverage") or 1)) >= 0.5:
            scores.append(f1(gold, page.extraction.text))
        if gold.get("title"):
            counts["titles"] += 1
            counts["title"] += fold(str(gold["title"])) == fold(page.metadata.title)
        if gold.get("published"):
            counts["dates"] += 1
            counts["date"] += str(gold["published"])[:10] == page.metadata.published_at[:10]
    print(
        f"{name:16}{len(scores):6}{statistics.mean(scores):8.4f}{statistics.mean(score < 0.5 for score in scores):7.3f}"
        f"{counts['accepted']:6}/{counts['articles']:<5}{counts['rejected']:4}/{counts['others']:<4}"
        f"{share(counts, 'title', 'titles'):>7}{share(counts, 'date', 'dates'):>7}"
        f"{statistics.median(cpu):9.2f}{statistics.median(parse):8.2f}{(statistics.median(large) if large else 0):9.2f}"
    )


def share(counts: Counter[str], part: str, whole: str) -> str:
    """A share as text, a dash when there is nothing to share."""
    return f"{counts[part] / counts[whole]:.3f}" if counts[whole] else "-"


def main() -> int:
    """Run the corpora that are there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpora", nargs="*", default=["zhgold", "daniel", "fundus"])
    options.add_argument("--extractor", default="density")
    options.add_argument("--pages", type=int, default=100_000, help="at most so many pages per corpus")
    chosen = options.parse_args()
    if not ROOT.is_dir():
        print(f"no corpora at {ROOT}: set BENCH_DATA to the folder that holds zhgold/ and extract/", file=sys.stderr)
        return 2
    print(
        f"{'corpus':16}{'pages':>6}{'F1':>8}{'<.5':>7}{'articles':>12}{'others':>9}{'title':>7}{'day':>7}"
        f"{'cpu ms':>9}{'parse':>8}{'177 KB':>9}"
    )
    for name in chosen.corpora:
        folder = ROOT / name if (ROOT / name / "gold.jsonl").is_file() else ROOT / "extract" / name
        if (folder / "gold.jsonl").is_file():
            measure(name, folder, chosen.extractor, chosen.pages)
        else:
            print(f"{name:16}not at {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
