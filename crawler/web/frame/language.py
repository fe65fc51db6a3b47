"""Messages of the web pages, in Chinese and English.

Each file of `messages/` holds a table: key -> the text in each language. A text with a number may have two forms in
English, for one and for all others: `{"one": "...", "other": "..."}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from .shown import moment

Text = str | Mapping[str, str]

LANGUAGES: Final = ("en", "zh")
DEFAULT: Final = "en"
_FOLDER = Path(__file__).parents[1] / "messages"
_WEIGHT = re.compile(r"q=([01](?:\.\d{0,3})?)")
_MOST_RANGES = 20
_SAID = "said."
_MOST_SAID = 2_000
_FIELD = re.compile(r"\\{(\w+)\\}")
_FREE = {"text", "why", "example"}
"""Values that may hold blanks; all others are one word, so that no text of a stranger is taken for a sentence."""
_FORMS = {"time": r"\d{4}-\d\d-\d\d[^ ]*?|unknown"}
"""Values of a form of their own."""


@cache
def messages() -> Mapping[str, Mapping[str, Text]]:
    found: dict[str, Mapping[str, Text]] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def _sentences() -> Sequence[tuple[re.Pattern[str], str]]:
    """Return patterns of the sentences that the program makes, and their keys."""
    found = [(re.escape(str(texts["en"])), key) for key, texts in messages().items() if key.startswith(_SAID)]
    return [(re.compile(_FIELD.sub(_group, text), re.DOTALL), key) for text, key in found]


def _group(field: re.Match[str]) -> str:
    name = field[1]
    return f"(?P<{name}>{'.+?' if name in _FREE or name.startswith('said_') else _FORMS.get(name, '[^ ]+?')})"


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the pages."""

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
        return self.code in messages().get(key, ())

    def named(self, field: str, value: str) -> str:
        """Return the message of one of a few words, and other words as they are.

        >>> Language("zh").named("kind", "article"), Language("zh").named("kind", "new")
        ('文章', 'new')
        """
        key = f"{field}.{value}"
        return self(key) if self.has(key) else value

    def said(self, sentence: str) -> str:
        """Translate a sentence of the program by the message that has its form.

        Alarms, notes of searches and what `scrapy why` prints are English where they are stored or printed. Messages
        `said.*` have their forms. Their values are translated by the messages that are named by field and value, or
        as sentences themselves (`{said_...}`). A sentence of another form stays as it is.

        >>> Language("zh").said("http 200 at 2024-05-01"), Language("zh").said("all else")
        ('HTTP 200，2024年5月1日', 'all else')
        """
        if len(sentence) > _MOST_SAID:
            return sentence
        for pattern, key in _sentences():
            if found := pattern.fullmatch(sentence):
                return self(key, **{name: self._value(name, each) for name, each in found.groupdict().items()})
        return sentence

    def _value(self, field: str, value: str) -> str:
        if field.startswith("said_"):
            return self.said(value)
        if field == "time":
            return moment(value, self.code)
        return self.named(field, value)


def choose(asked: str | None, kept: str | None, accepted: str) -> str:
    """Choose the language of a page.

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
