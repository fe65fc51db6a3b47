"""Title, day, minute, authors and source on real pages with gold metadata: right, wrong, missing and invented.

    uv run python -m tests.benchmarks.metadata [CORPUS ...] [--folds 0,1] [--show FIELD] [--extractor rules]

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project). Pages are dealt
into four folds by site; shares are given for folds 0 and 1 and for folds 2 and 3 apart, so that a rule found on one
half can be checked on the other. Metadata are judged as extracted, whether the page is taken for an article or not.

A title is right when its letters and digits are the gold's. A day is right in the gold's own zone (or in UTC, where
both state a zone), a minute is asked where the gold has a clock. Authors are counted name by name, too; a page without
a wrong or missing name is right. What is found where the gold of a corpus with that field has nothing is invented.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime

from crawler.settings import EXTRACTOR as DEFAULT
from pipelines.document.document import parse
from pipelines.extract import EXTRACTORS
from pipelines.extract import extractor as find_extractor
from pipelines.metadata import metadata
from pipelines.records import Metadata
from tests.benchmarks.data import NOW, address, corpora, fold, fold_of, is_other, pages, require_data

from .commands import new_parser

FOLDS = 4
FIELDS = ("title", "day", "minute", "authors", "source")
KINDS = ("right", "wrong", "missing", "invented")
_HALVES = (0, 0, 1, 1)
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_MIDNIGHT = re.compile(r"[T ]00:00(?::00)?")
_BETWEEN = re.compile(r"\s*(?:[;,，、&\n]|\band\b|\bund\b)\s*")
_LABEL = re.compile(r"^(?:by|von|par|作者|记者)[:：\s]+", re.IGNORECASE)

Gold = dict[str, object]
Judged = tuple[str, str, object, object]
"""Field, kind of the answer, the gold's value, what was found."""


def names(authors: object) -> set[str]:
    """Single names of a list of authors, folded."""
    lists = authors if isinstance(authors, (list, tuple)) else [authors or ""]
    parts = (_LABEL.sub("", part.strip()) for line in lists for part in _BETWEEN.split(str(line)))
    return {fold(part) for part in parts} - {""}


def moment(value: object) -> datetime | None:
    """A time as golds and our records write it; None for none."""
    try:
        return datetime.fromisoformat(str(value or "").strip().replace("Z", "+00:00"))
    except ValueError:
        return None


def same_day(one: datetime, other: datetime) -> bool:
    """Tell whether two times are of one calendar day."""
    both = one.tzinfo and other.tzinfo
    return one.date() == other.date() or bool(both and one.astimezone(UTC).date() == other.astimezone(UTC).date())


def same_minute(one: datetime, other: datetime) -> bool:
    """Tell whether two times are one instant, to the minute; without two zones, one reading of the clock."""
    if one.tzinfo and other.tzinfo:
        return abs((one - other).total_seconds()) < 60
    return one.replace(tzinfo=None, second=0, microsecond=0) == other.replace(tzinfo=None, second=0, microsecond=0)


def kind_of(want: object, found: object, *, right: bool) -> str:
    """The kind of an answer; empty when there was nothing to find and nothing was found."""
    if not want:
        return "invented" if found else ""
    return ("right" if right else "wrong") if found else "missing"


def judge(gold: Gold, found: Metadata, fields: set[str]) -> Iterator[Judged]:
    """The answers of one page in the fields that its corpus has."""
    if "title" in fields:
        title = gold.get("title")
        yield "title", kind_of(title, found.title, right=fold(str(title)) == fold(found.title)), title, found.title
    if "day" in fields:
        stated, published = gold.get("published"), found.published_at
        want, got = moment(stated), moment(published)
        if want or not stated:
            yield "day", kind_of(want, got, right=bool(want and got and same_day(want, got))), stated, published
        if want and _CLOCK.search(str(stated)) and not _MIDNIGHT.search(str(stated)):
            has_clock = published if _CLOCK.search(published) else ""
            yield "minute", kind_of(want, has_clock, right=bool(got and same_minute(want, got))), stated, published
    if "authors" in fields:
        wanted, got_names = names(gold.get("authors")), names(found.authors)
        kind = kind_of(wanted, got_names, right=wanted == got_names)
        yield "authors", kind, gold.get("authors"), list(found.authors)
    if "source" in fields:
        source = gold.get("source")
        kind = kind_of(source, found.source, right=fold(str(source)) == fold(found.source))
        yield "source", kind, source, found.source


class Counted:
    """Answers of one corpus in one field."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.halves: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.names: Counter[str] = Counter()

    def add(self, answer: Judged, half: int) -> None:
        """Count one answer; of authors, each name."""
        field, kind, want, found = answer
        self.kinds[kind] += 1
        self.halves[half][kind] += 1
        if field == "authors":
            wanted, got = names(want), names(found)
            self.names.update(right=len(wanted & got), wanted=len(wanted), got=len(got))

    def row(self, corpus: str, field: str) -> str:
        """The corpus's line of the table."""
        counts = " | ".join(str(self.kinds[kind]) for kind in KINDS)
        shares = " | ".join(map(_right, (self.kinds, *self.halves)))
        right, wanted, got = (self.names[key] for key in ("right", "wanted", "got"))
        apart = f"{_share(right, got)} / {_share(right, wanted)}" if field == "authors" else ""
        return f"| {corpus} | {field} | {counts} | {shares} | {apart} |"


def _share(part: int, whole: int) -> str:
    """A share as text."""
    return f"{part / whole:.3f}" if whole else "-"


def _right(kinds: Counter[str]) -> str:
    """The share of right answers where there is something to find."""
    return _share(kinds["right"], kinds["right"] + kinds["wrong"] + kinds["missing"])


def fields_of(golds: list[Gold]) -> set[str]:
    """The fields that the gold of a corpus has."""
    keys = {key for gold in golds for key in ("title", "published", "authors", "source") if gold.get(key)}
    return {"day" if key == "published" else key for key in keys}


def main() -> int:
    """Print a row per corpus and field, or the errors of one field."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*")
    options.add_argument("--folds", default="0,1,2,3", help="only pages of these folds, of four")
    options.add_argument("--extractor", default=DEFAULT, choices=sorted(EXTRACTORS))
    options.add_argument("--show", choices=FIELDS, help="list the errors of this field")
    chosen = options.parse_args()
    require_data()
    folds = {int(number) for number in chosen.folds.split(",")}
    run = find_extractor(chosen.extractor)
    print(
        "| corpus | field | right | wrong | missing | invented | share | folds 0, 1 | folds 2, 3 | precision / recall |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for corpus, folder in corpora(chosen.corpora).items():
        lines = (folder / "gold.jsonl").read_text("utf-8").rstrip().split("\n")  # texts hold other line ends
        fields = fields_of([json.loads(line) for line in lines])
        counted: dict[str, Counted] = defaultdict(Counted)
        for gold, body in pages(folder):
            number = fold_of(corpus, gold, FOLDS)
            if number not in folds or gold.get("suspect") or is_other(gold):
                continue
            document = parse(body, address(gold))
            found = metadata.extract(document, run(document), NOW)
            for answer in judge(gold, found, fields):
                counted[answer[0]].add(answer, _HALVES[number])
                if answer[0] == chosen.show and answer[1] not in {"", "right"}:
                    print(f"  {corpus} {gold['id']} {answer[1]}: {answer[2]!r} found {answer[3]!r}")
        for field in FIELDS:
            if field in counted:
                print(counted[field].row(corpus, field), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
