"""Totals of a search against the texts: queries of every operator, and the stories that Python counts for each.

    uv run python -m tests.benchmarks.search_totals sqlite:///news.db
    uv run python -m tests.benchmarks.search_totals --saved

The queries and what counts are those of `tests.pipelines.search.totals`, which the tests ask of the demo, of made
articles and of saved pages; here of any database, of 1,000,000 articles in some minutes. `--saved` makes a database of
the saved pages below BENCH_DATA. A total that is not exact must be below the count. The exit status is 1 when one is
wrong.
"""

from __future__ import annotations

import sys
import tempfile

from db.engine.database import open_for_crawl, open_for_reading
from tests.pipelines.search.totals import SAVED, compare, saved, store

from .commands import new_parser
from .data import corpus_folder, require_data


def measure(url: str) -> bool:
    """Print a line for each query; returns whether all are right."""
    database = open_for_reading(url)
    results = database.read(compare)
    database.close()
    for each in results:
        total = f"{each.total:,}" if each.is_exact else f"more than {each.total:,}"
        print(f"{each.text:44}{total:>18}{each.counted:>12,}{'' if each.is_right else '  WRONG'}")
    exact = sum(each.is_exact for each in results)
    wrong = sum(not each.is_right for each in results)
    print(f"{len(results)} queries, {exact} exact, {wrong} wrong")
    return not wrong


def main() -> int:
    parser = new_parser(__doc__)
    parser.add_argument("url", nargs="?", help="of a database")
    parser.add_argument("--saved", action="store_true", help="make a database of saved pages")
    given = parser.parse_args()
    if not given.saved:
        return int(not measure(given.url or "sqlite:///news.db"))
    require_data(*map(corpus_folder, SAVED))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/news.db"
        database = open_for_crawl(url)
        store(database, saved())
        database.close()
        return int(not measure(url))


if __name__ == "__main__":
    sys.exit(main())
