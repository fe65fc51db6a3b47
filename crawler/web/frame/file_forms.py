"""Kinds of files that search results are given as."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, NamedTuple


class FileForm(NamedTuple):
    """A kind of file: its media type and the ending of its name."""

    media: str
    ending: str


FORMATS: Final = {
    "csv": FileForm("text/csv; charset=utf-8", "csv"),
    "xlsx": FileForm("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "jsonl": FileForm("application/x-ndjson", "jsonl"),
    "markdown": FileForm("text/markdown; charset=utf-8", "md"),
    "bibtex": FileForm("application/x-bibtex; charset=utf-8", "bib"),
    "ris": FileForm("application/x-research-info-systems; charset=utf-8", "ris"),
    "gbt7714": FileForm("text/plain; charset=utf-8", "txt"),
}
CITATIONS: Final = ("bibtex", "ris", "gbt7714")


def offered() -> list[str]:
    """Return the formats that this installation can write."""
    return [form for form in FORMATS if form != "xlsx" or find_spec("xlsxwriter")]
