"""Messages of the web pages, in Chinese and English.

Each file in `messages/` maps a key to its text in each language. An English text with a number may have a singular and
a plural form: `{"one": "...", "other": "..."}`.
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
"""Values that may contain spaces; all others are one word, so that foreign text is not mistaken for a sentence."""
_QUOTED = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
_FORMS = {"time": r"\d{4}-\d\d-\d\d[^ ]*?|unknown"}


@cache
def messages() -> Mapping[str, Mapping[str, Text]]:
    texts_by_key: dict[str, Mapping[str, Text]] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        texts_by_key |= json.loads(path.read_text(encoding="utf-8"))
    return texts_by_key


@cache
def _sentences() -> Sequence[tuple[re.Pattern[str], str]]:
    patterns = [(re.escape(str(texts["en"])), key) for key, texts in messages().items() if key.startswith(_SAID)]
    return [(re.compile(_FIELD.sub(_group, text), re.DOTALL), key) for text, key in patterns]


def _group(field: re.Match[str]) -> str:
    name = field[1]
    return f"(?P<{name}>{'.+?' if name in _FREE or name.startswith('said_') else _FORMS.get(name, '[^ ]+?')})"


@dataclass(frozen=True, slots=True)
class Language:
    code: str

    def __call__(self, key: str, **values: object) -> str:
        """Return a message with its values filled in; numbers get thousands separators.

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
        """Translate a sentence the program has stored or printed in English.

        The message `said.*` is used whose pattern matches; the sentence is unchanged if none does. Values inside are
        translated by field and value, or as sentences (`{said_...}`).

        >>> Language("zh").said("http 200 at 2024-05-01"), Language("zh").said("all else")
        ('HTTP 200，2024年5月1日', 'all else')
        """
        if len(sentence) > _MOST_SAID:
            return sentence
        for pattern, key in _sentences():
            if match := pattern.fullmatch(sentence):
                return self(key, **{name: self._value(name, each) for name, each in match.groupdict().items()})
        return sentence

    def _value(self, field: str, value: str) -> str:
        if field.startswith("said_"):
            return self.said(value)
        if field == "time":
            return moment(value, self.code)
        return self.named(field, _QUOTED.sub(r"“\1”", value) if self.code == "zh" else value)


def choose(asked: str | None, remembered: str | None, accepted: str) -> str:
    """Choose the language of a page.

    >>> choose(None, None, "fr, zh-CN;q=0.8, en;q=0.5"), choose("en", "zh", "")
    ('zh', 'en')
    """
    for code in (asked, remembered):
        if code in LANGUAGES:
            return code
    wanted = []
    for part in accepted.split(",", _MOST_RANGES)[:_MOST_RANGES]:
        name, _, weight = part.partition(";")
        code = name.strip().partition("-")[0].lower()
        match = _WEIGHT.fullmatch(weight.strip())
        if code in LANGUAGES and (not match or float(match[1])):
            wanted.append((float(match[1]) if match else 1.0, code))
    return max(wanted, key=lambda each: each[0])[1] if wanted else DEFAULT
