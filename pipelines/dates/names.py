"""Months and days of the week in many languages, as Unicode's CLDR names them.

`uv run python -m tests.pipelines.dates.test_names` writes `names.json` from Babel's copy. Names that are short, or mean
another month elsewhere ("listopada" is October in Croatian, November in Polish), are known in their own language only.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

NAMES: Final = Path(__file__).with_name("names.json")
# Letters that are written in two ways: of Arabic script, vowels of Bengali and Hindi, apostrophes, a Turkish i.
_SPELLINGS: Final = str.maketrans(
    dict.fromkeys("يىئېۍ", "ی") | dict.fromkeys("أإآ", "ا") | dict.fromkeys("ةہھۀ", "ه") | {"ك": "ک", "ؤ": "و"}
    | {"ё": "е", "ী": "ি", "ূ": "ু", "ी": "ि", "ू": "ु", "ँ": "ं", "ı": "i"}
    | dict.fromkeys("ـ\u200c\u200dء়़.॰·'’ʼʻ׳", None)
)  # fmt: skip
_PLAIN_ACCENTS: Final = (("a", "z"), ("\u0370", "\u03ff"), ("\u0590", "\u06ff"))
"""Latin, Greek, Hebrew and Arabic: letters that keep their meaning without marks."""
_ALIASES: Final = {"iw": "he", "tl": "fil", "in": "id", "jw": "jv", "no": "nb", "mo": "ro", "sh": "sr"}


def fold(name: str) -> str:
    """Normalise a name for look-up: small letters, one spelling.

    >>> fold("Février"), fold("Μαΐου"), fold("সেপ্টেম্বর") == fold("সেপ্টেম্বর.")
    ('fevrier', 'μαιου', True)
    """
    name = name.lower()
    if name.isascii():
        return name.replace(".", "")
    letters, letter = [], ""
    for char in unicodedata.normalize("NFD", name.replace("म्ब", "ंब")):
        if not unicodedata.combining(char):
            letter = char
        elif any(first <= letter <= last for first, last in _PLAIN_ACCENTS):
            continue
        letters.append(char)
    return unicodedata.normalize("NFC", "".join(letters)).translate(_SPELLINGS).strip()


def find_month(name: str, language: str) -> int | None:
    """Return the number of a month by its name, in any case.

    Cost: O(characters of the name); the names are read once, at the first call.

    >>> find_month("листопада", "uk"), find_month("listopada", "hr"), find_month("listopada", "pl")
    (11, 10, 11)
    """
    return _find("months", name, language)


def find_weekday(name: str, language: str) -> int | None:
    """Return the number of a day of the week by its name; Monday is 0.

    >>> find_weekday("Fri", "en"), find_weekday("пятница", ""), find_weekday("March", "en")
    (4, 4, None)
    """
    return _find("weekdays", name, language)


def _find(kind: str, name: str, language: str) -> int | None:
    shared, by_language = _read(kind)
    name = fold(name)
    number = by_language.get(_ALIASES.get(language, language) or "en", {}).get(name)
    return shared.get(name) if number is None else number


@cache
def _read(kind: str) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    tables = {
        language: {name: number for number, names in enumerate(rows) for name in names.split("|")}
        for language, rows in json.loads(NAMES.read_text("utf-8"))[kind].items()
    }
    return tables.pop(""), tables
