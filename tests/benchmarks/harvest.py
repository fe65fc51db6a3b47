"""How much of what one looks for the first pages bring: crawls of the same seeds with one preset after the other.

    uv run python -m tests.benchmarks.harvest SEEDS --topic WORDS --relevant PATTERN [--pages 500]
        [--presets breadth,news,focused] [--allow 127.0.1.0/24]

Each preset gets a database of its own and `--pages` pages, without a delay between requests. An article is on the topic
when its headline or text matches the pattern. Prints how many such articles the first pages brought, as a table.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .crawl_order import table

ROOT = Path(__file__).parents[2]
_STEPS = 5


def crawl(seeds: Path, preset: str, topic: str, pages: int, allow: str) -> list[str]:
    """Headline and text of the article on each page, empty for none, in the order in which the pages were fetched."""
    with tempfile.TemporaryDirectory() as folder:
        values = {
            "DATABASE_URL": f"sqlite:///{folder}/news.db",
            "ALLOW_NETWORKS": allow,
            "HOST_DELAY": 0,
            "MAX_PAGES": pages,
            "CRAWL_PRESET": preset,
            "TOPIC": topic,
        }
        settings = [part for name, value in values.items() for part in ("-s", f"{name}={value}")]
        command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"seeds={seeds.resolve()}", *settings]
        subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=True)
        with sqlite3.connect(f"{folder}/news.db") as database:
            asked = (
                "SELECT coalesce(a.title || ' ' || a.text, '') FROM url u LEFT JOIN article a ON a.id = u.id "
                "WHERE u.kind = 'page' AND u.state = 'done' ORDER BY u.fetched_at"
            )
            return [text for (text,) in database.execute(asked)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=Path)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--relevant", required=True, type=re.compile, help="regular expression")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--presets", default="breadth,news,focused")
    parser.add_argument("--allow", default="127.0.1.0/24")
    options = parser.parse_args(arguments)
    steps = [options.pages * n // _STEPS for n in range(1, _STEPS + 1)]
    rows = []
    for preset in options.presets.split(","):
        texts = crawl(options.seeds, preset, options.topic, options.pages, options.allow)
        hits = [bool(options.relevant.search(text)) for text in texts]
        rows.append([f"`{preset}`", *(str(sum(hits[:step])) for step in steps)])
    print(table(["preset", *(f"{step} pages" for step in steps)], rows))


if __name__ == "__main__":
    main()
