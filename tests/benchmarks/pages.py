"""Score the saved pages of tests/pages: texts, titles, times, authors, sources and kinds.

    uv run python -m tests.benchmarks.pages [PAGE ...] [--faults] [--by language] [--prune] [--records]

The table has a row for all pages and, with `--by`, one for each language or kind: mean F1 of the texts of articles
(4-token shingles, a refused article counts 0), the share of texts that are right to the line, the share of pages that
are rightly stored or refused, and the share of right answers in each field. `--faults` lists what is wrong, with what
was found, and marks the faults that tests/pages/faults.toml does not know. PAGE limits all this to pages whose names
begin so. `--prune` takes faults that are mended out of that file, `--records` stores digests of all that is read.
"""

from __future__ import annotations

import difflib
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence

from tests.gold_pages import FOLDER, GoldPage, faults, gold_pages, known_faults, lines, read, store_records, text_f1

from .commands import new_parser

COLUMNS = ("kind", "title", "published", "authors", "source", "language")
GROUPS: dict[str, Callable[[GoldPage], str]] = {
    "language": lambda page: page.language,
    "kind": lambda page: page.kinds[0],
}


def row(name: str, pages: Sequence[GoldPage]) -> str:
    """Return the line of the table for some pages."""
    wrong = {page.name: faults(page, read(page.name)) for page in pages}
    articles = [page for page in pages if page.is_article]
    scores = [text_f1(page, read(page.name)) for page in articles]
    exact = sum(not wrong[page.name].keys() & {"text", "kind"} for page in articles)
    cells = [f"{sum(scores) / len(scores):.4f}", f"{exact / len(articles):.3f}"] if articles else ["-", "-"]
    cells.append(f"{sum((read(page.name).reason is None) is page.is_article for page in pages) / len(pages):.3f}")
    for field in COLUMNS:
        asked = pages if field in {"kind", "title"} else [each for each in articles if "kind" not in wrong[each.name]]
        right = sum(field not in wrong[page.name] for page in asked)
        cells.append(f"{right / len(asked):.3f}" if asked else "-")
    return f"| {name} | {len(pages)} | {len(articles)} | " + " | ".join(cells) + " |"


def show_faults(page: GoldPage) -> None:
    """Print what is wrong with a page; of its text, the lines that differ."""
    found = faults(page, read(page.name))
    known = known_faults().get(page.name, {})
    for field, value in found.items():
        print(f"{page.name}.{field}: {known.get(field) or 'NEW'}")
        if field == "text":
            two = lines(page.text, page), lines(value, page)
            for line in difflib.unified_diff(*two, "wanted", "found", n=0, lineterm=""):
                print(f"    {line}")
        else:
            print(f"    found {value!r}")
    for field in known.keys() - found.keys():
        print(f"{page.name}.{field}: MENDED ({known[field]})")


def prune() -> None:
    """Take the faults that have been mended out of faults.toml."""
    path = FOLDER / "faults.toml"
    head, *tables = path.read_text(encoding="utf-8").split("\n[")
    kept = []
    for table in tables:
        name, *rows = table.rstrip().split("\n")
        found = faults(gold_pages()[name.rstrip("]")], read(name.rstrip("]")))
        rows = [line for line in rows if line.partition(" = ")[0] in found]
        kept += ["\n".join([name, *rows]) + "\n"] if rows else []
    path.write_text("\n[".join([head, *kept]), encoding="utf-8")


def main() -> int:
    """Print the table, and with `--faults` what is wrong."""
    options = new_parser(__doc__)
    options.add_argument("pages", nargs="*", metavar="PAGE", help="only pages whose names begin so")
    options.add_argument("--faults", action="store_true", help="list what is wrong, page by page")
    options.add_argument("--by", choices=sorted(GROUPS), help="a row for each of these, too")
    options.add_argument("--prune", action="store_true", help="take mended faults out of faults.toml")
    options.add_argument("--records", action="store_true", help="store records.json, with which a test compares")
    chosen = options.parse_args()
    if chosen.prune:
        prune()
    if chosen.records:
        store_records()
    beginnings = tuple(chosen.pages) or ("",)
    pages = [page for name, page in gold_pages().items() if name.startswith(beginnings)]
    if not pages:
        print(f"no page begins with {' or '.join(beginnings)}", file=sys.stderr)
        return 2
    if chosen.faults:
        for page in pages:
            show_faults(page)
    groups: dict[str, list[GoldPage]] = defaultdict(list)
    for page in pages if chosen.by else ():
        groups[GROUPS[chosen.by](page)].append(page)
    columns = ("pages", "articles", "text F1", "text exact", "stored", *COLUMNS)
    print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for name in sorted(groups):
        print(row(name, groups[name]))
    print(row("all", pages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
