"""Copies that meet across two databases: how many, and what it costs, by the features that are announced.

    uv run python -m tests.benchmarks.shard_copies

Documents of the labelled sets (`labelled.py`) are dealt over two databases by their identifier and come in order, each
announced as `db/articles/elsewhere.py` does it. Comparing is left out: what meets is counted, and compared with the
labels. "caught" are the later copies of which a copy in the other database is found.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from db.articles.elsewhere import MOST_ALIKE
from db.records.keys import fingerprint
from pipelines.dedup import method
from tests.benchmarks.labelled import FOLDER, Labels, load

from .data import require_data

LANGUAGES = ("zh", "en")


def meetings(labels: Labels, features: int) -> set[tuple[int, int]]:
    """Pairs of documents in different databases that meet, the earlier one first."""
    sign = method().sign
    alike: dict[int, list[int]] = defaultdict(list)
    pairs = set()
    for key, document in sorted(labels.documents.items()):
        signed = sign(document["title"], document["text"])
        for one in {signed.exact, *memoryview(signed.features).cast("I")[:features]}:
            pairs |= {(other, key) for other in alike[one] if database_of(other) != database_of(key)}
            if len(alike[one]) < MOST_ALIKE:
                alike[one].append(key)
    return pairs


def database_of(key: int) -> int:
    """The database of a document."""
    return fingerprint(str(key)) % 2


def main() -> int:
    """Measure and print."""
    require_data(*(FOLDER / language for language in LANGUAGES))
    print("language  features  pairs of copies  of them met  caught  comparisons a document")
    for language in LANGUAGES:
        labels = load(language)
        copies = [(a, b) for (a, b), label in labels.pairs.items() if label and database_of(a) != database_of(b)]
        for features in (2, 4, 8, 12):
            met = meetings(labels, features)
            later, caught = {b for _, b in copies}, {b for a, b in copies if (a, b) in met}
            share = sum(pair in met for pair in copies) / len(copies)
            rate = len(met) / len(labels.documents)
            caught_share = len(caught) / len(later)
            print(f"{language:8} {features:9} {len(copies):16} {share:12.3f} {caught_share:7.3f} {rate:12.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
