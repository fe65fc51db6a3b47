"""Saved pages of own making with what a careful editor reads on them, and a comparison with what the program reads.

The pages are in tests/pages, their expectations in its pages.toml, known faults in its faults.toml.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pipelines.describe import DEFAULT as DESCRIBE
from pipelines.describe import describe
from pipelines.parse_page import parse_page
from pipelines.records import Description, PageKind, ParseResult
from tests.benchmarks.data import f1, fold
from tests.benchmarks.metadata import moment, same_day, same_minute

FOLDER = Path(__file__).parent / "pages"
FIELDS = ("kind", "title", "published", "authors", "source", "language", "text", "next")
ROOMS = ("text", "kind", "metadata", "links", "terms", "signature", "description")
RECORDS = FOLDER / "records.json"
NOW = datetime(2024, 6, 1, tzinfo=UTC)


@dataclass(frozen=True)
class GoldPage:
    """Expectations of a page.

    Attributes:
        kinds: those that it may be given.
        title, authors, published, source: None if nobody could say what is right.
        optional: lines of which it does not matter whether they count as text.
        encoding: of the page as it is sent; its file is UTF-8, to be read by people.
    """

    name: str
    url: str
    language: str
    kinds: tuple[str, ...]
    title: str | None = None
    authors: tuple[str, ...] | None = None
    published: str | None = None
    source: str | None = None
    text: str = ""
    optional: tuple[str, ...] = ()
    next: str = ""
    encoding: str = "utf-8"
    fetched_at: datetime = NOW

    @property
    def is_article(self) -> bool:
        return self.kinds == ("article",)

    @property
    def body(self) -> bytes:
        return (FOLDER / f"{self.name}.html").read_text(encoding="utf-8").encode(self.encoding)


def _gold_page(name: str, row: Mapping[str, Any]) -> GoldPage:
    kinds = [row["kind"]] if isinstance(row["kind"], str) else row["kind"]
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "kind"}
    values["text"] = row.get("text", "").strip("\n")
    values["fetched_at"] = datetime.fromisoformat(row["fetched_at"]) if "fetched_at" in row else NOW
    return GoldPage(name=name, kinds=tuple(kinds), **values)


@cache
def gold_pages() -> dict[str, GoldPage]:
    """Return the expectations by the names of the pages."""
    table = tomllib.loads((FOLDER / "pages.toml").read_text(encoding="utf-8"))
    return {name: _gold_page(name, row) for name, row in table.items()}


@cache
def known_faults() -> dict[str, dict[str, str]]:
    """Return what is known to be wrong: by page and field, in words."""
    return tomllib.loads((FOLDER / "faults.toml").read_text(encoding="utf-8"))


@cache
def read(name: str) -> ParseResult:
    """Read a page as the program does."""
    page = gold_pages()[name]
    return parse_page(page.body, page.url, content_type="text/html", fetched_at=page.fetched_at)


def record(name: str) -> list[str]:
    """Return a short digest of all that is read on a page for each of `ROOMS`.

    Probabilities are left out: their last digits depend on the processor.
    """
    found = read(name)
    about, extraction, links = found.metadata, found.extraction, found.links
    described = describe(DESCRIBE, about.title, extraction.text, about.language) if found.is_leaf else Description()
    rooms = (
        (extraction.text, extraction.html),
        (found.kind.word, found.reason, found.text_from, found.noindex, found.loads_more, found.stories),
        dataclasses.astuple(about),
        (links.urls, links.anchors, links.nofollow, found.feeds),
        found.index_terms,
        dataclasses.astuple(found.signature),
        (described.keywords, described.summary, described.classes, described.harm_kind),
    )
    return [blake2b(repr(room).encode(), digest_size=4).hexdigest() for room in rooms]


def stored_records() -> dict[str, list[str]]:
    """Return the digests that were stored last, by page."""
    return {name: row.split() for name, row in json.loads(RECORDS.read_text("ascii")).items()}


def store_records() -> None:
    rows = {name: " ".join(record(name)) for name in gold_pages()}
    RECORDS.write_text(json.dumps(rows, indent=0) + "\n", "ascii")


def lines(text: str, page: GoldPage) -> list[str]:
    """Return the lines of a text that have to be right, white space made even and the headline left out."""
    free = {fold(line) for line in page.optional}
    found = ["\t".join(" ".join(cell.split()) for cell in line.split("\t")) for line in text.split("\n")]
    if page.title and found and fold(found[0]) == fold(page.title):
        found = found[1:]
    return [line for line in found if line and (not fold(line) or fold(line) not in free)]


def _folded(names: Iterable[str]) -> set[str]:
    return {fold(name) for name in names}


def is_same_time(wanted: str, found: str) -> bool:
    """Tell whether a time is right: the minute where the page states one, else the day."""
    want, got = moment(wanted), moment(found)
    if want is None or got is None:
        return want is got
    return same_minute(want, got) if "T" in wanted else same_day(want, got)


def faults(page: GoldPage, found: ParseResult) -> dict[str, str]:
    """Return the fields that are wrong, each with what was found.

    Of an article that was refused the kind alone is judged, and of any other page the kind and the title.
    """
    about = found.metadata
    kind = found.kind.word
    is_right = {
        "kind": kind in page.kinds and (found.reason is None) is page.is_article,
        "title": page.title is None or " ".join(about.title.split()) == " ".join(page.title.split()),
    }
    values: dict[str, object] = {"kind": f"{kind} ({found.reason})", "title": about.title}
    if page.is_article and found.kind is PageKind.ARTICLE and found.reason is None:
        is_right |= {
            "published": page.published is None or is_same_time(page.published, about.published_at),
            "authors": page.authors is None
            or {fold(name) for name in page.authors} == {fold(name) for name in about.authors},
            "source": page.source is None or fold(page.source) == fold(about.source),
            "language": about.language.split("-")[0] == page.language,
            "text": lines(found.extraction.text, page) == lines(page.text, page),
            "next": about.next_page == page.next,
        }
        values |= {
            "published": about.published_at,
            "authors": "; ".join(about.authors),
            "source": about.source,
            "language": about.language,
            "text": found.extraction.text,
            "next": about.next_page,
        }
    return {field: str(values[field]) for field in FIELDS if not is_right.get(field, True)}


def text_f1(page: GoldPage, found: ParseResult) -> float:
    """Return the F1 of the text of an article over 4-token shingles; 0 if the article was refused."""
    gold = {"text": page.text, "title": page.title, "optional": page.optional}
    return f1(gold, found.extraction.text) if found.extraction.text else 0.0
