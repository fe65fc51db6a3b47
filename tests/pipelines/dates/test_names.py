"""Names of months and days of the week, in the languages that CLDR knows.

`python -m tests.pipelines.dates.test_names` writes them into pipelines/dates/names.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from babel import Locale, localedata

from pipelines.dates import names
from pipelines.dates.names import fold

ROOT = Path(__file__).resolve().parents[3]
MONTHS, WEEKDAYS = range(1, 13), range(7)
FEWEST_LETTERS = 4
"""Shorter names in Latin letters are words of other languages."""

Found = dict[str, dict[int, set[str]]]


MORE = {"מרס": ("he", 3), "می": ("fa", 5), "ژوییه": ("fa", 7), "اوت": ("fa", 8), "جولای": ("fa", 7)}
"""Spellings of months that CLDR leaves out."""


def gather() -> tuple[Found, Found]:
    """All names of months and weekdays, folded, with the languages that use them."""
    months: Found = defaultdict(lambda: defaultdict(set))
    weekdays: Found = defaultdict(lambda: defaultdict(set))
    for identifier in sorted(localedata.locale_identifiers()):
        locale = Locale.parse(identifier)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in locale.months[context][width].items():
                    months[fold(name)][number].add(locale.language)
                for number, name in locale.days[context][width].items():
                    weekdays[fold(name)][number].add(locale.language)
    for name, (language, number) in MORE.items():
        months[fold(name)][number].add(language)
    return months, weekdays


def is_name(name: str) -> bool:
    """Tell whether a name is a word; of two words are those of Syria and Iraq."""
    return len(name) > 1 and not any(map(str.isdigit, name)) and (" " not in name or "\u0600" <= name[0] <= "\u06ff")


def written(found: Found, numbers: range) -> dict[str, list[str]]:
    """The names by language ("" is any) and number."""
    rows: dict[str, dict[int, set[str]]] = defaultdict(lambda: {number: set() for number in numbers})
    for name, meanings in found.items():
        if not is_name(name):
            continue
        short = name.isascii() and len(name) < FEWEST_LETTERS
        for number, languages in meanings.items():
            if short or len(meanings) > 1:
                for language in languages:
                    if sum(language in others for others in meanings.values()) == 1:
                        rows[language][number].add(name)
            else:
                rows[""][number].add(name)
    first = ["" for _ in range(numbers.start)]
    return {
        language: first + ["|".join(sorted(row[number])) for number in numbers]
        for language, row in sorted(rows.items())
    }


def as_written() -> str:
    """The file: a line for each language."""
    months, weekdays = gather()
    tables = []
    for kind, table in (("months", written(months, MONTHS)), ("weekdays", written(weekdays, WEEKDAYS))):
        rows = (f"{json.dumps(code)}: {json.dumps(row, ensure_ascii=False)}" for code, row in table.items())
        tables.append(f'"{kind}": {{\n' + ",\n".join(rows) + "\n}")
    return "{" + ",\n".join(tables) + "}\n"


def test_names_are_those_of_babel() -> None:
    """Asked in a process of its own: what Babel answers depends on what it was asked before."""
    script = "from tests.pipelines.dates.test_names import as_written; print(as_written(), end='')"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert names.NAMES.read_text("utf-8") == run.stdout, "run: uv run python -m tests.pipelines.dates.test_names"


def test_names_mean_one_month_in_their_language() -> None:
    for name, language, month in (
        ("listopada", "hr", 10),
        ("listopada", "pl", 11),
        ("Srp", "cs", 8),
        ("srp", "hr", 7),
        ("out", "pt", 10),
        ("out", "de", None),
        ("мая", "ru", 5),
        ("جنوری", "ur", 1),
        ("مه", "fa", 5),
        ("Sun", "en", None),
    ):
        assert names.find_month(name, language) == month


if __name__ == "__main__":
    names.NAMES.write_text(as_written(), "utf-8")
