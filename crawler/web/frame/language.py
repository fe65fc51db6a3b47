"""Messages of the web pages, in Chinese and English.

Each file of `messages/` holds a table: key -> the text in each language. A text with a number may have two forms in
English, for one and for all others: `{"one": "...", "other": "..."}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

Text = str | Mapping[str, str]

LANGUAGES: Final = ("en", "zh")
DEFAULT: Final = "en"
_FOLDER = Path(__file__).parents[1] / "messages"
_WEIGHT = re.compile(r"q=([01](?:\.\d{0,3})?)")
_MOST_RANGES = 20


@cache
def messages() -> Mapping[str, Mapping[str, Text]]:
    """Read all tables."""
    found: dict[str, Mapping[str, Text]] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the pages.

    Attributes:
        code: one of `LANGUAGES`.
    """

    code: str

    def __call__(self, key: str, **values: object) -> str:
        """Return a message with its values filled in; numbers get separators.

        Raises:
            KeyError: there is no such message.
        """
        text = messages()[key][self.code]
        if not isinstance(text, str):
            text = text["one" if values.get("n") == 1 else "other"]
        if not values:
            return text
        return text.format(**{name: f"{each:,}" if isinstance(each, int) else each for name, each in values.items()})

    def has(self, key: str) -> bool:
        """Tell whether there is such a message."""
        return key in messages()


def choose(asked: str | None, kept: str | None, accepted: str) -> str:
    """Choose the language of a page.

    Args:
        asked: by the URL.
        kept: by the cookie.
        accepted: the header Accept-Language.

    >>> choose(None, None, "fr, zh-CN;q=0.8, en;q=0.5"), choose("en", "zh", "")
    ('zh', 'en')
    """
    for code in (asked, kept):
        if code in LANGUAGES:
            return code
    known = []
    for part in accepted.split(",", _MOST_RANGES)[:_MOST_RANGES]:
        name, _, weight = part.partition(";")
        code = name.strip().partition("-")[0].lower()
        match = _WEIGHT.fullmatch(weight.strip())
        if code in LANGUAGES and (not match or float(match[1])):
            known.append((float(match[1]) if match else 1.0, code))
    return max(known, key=lambda each: each[0])[1] if known else DEFAULT
