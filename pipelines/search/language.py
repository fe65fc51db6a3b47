"""The query language: words, "phrases", -word, AND, OR, title:word, near:5(a b)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..text.words import UNCUT
from .records import MARKS, ON

TITLE: Final = "title"
AUTHOR: Final = "author"
ANYWHERE: Final = "anywhere"
"""Fields of a part of a query; without one a phrase stands in title or text, a word in any field of the index."""
_MOST_NESTED: Final = 20
_QUOTES: Final = '"“”„«»‹›「」『』＂'
_OPENING: Final = '"“„«‹「『＂'
_SPACE: Final = re.compile(r"\s*")
# A phrase stands by itself: quotation marks amid other words, as headlines have them, are no wish.
_QUOTED: Final = re.compile(rf"[{_QUOTES}]([^{_QUOTES}]+)[{_QUOTES}](?=$|[\s()（），,、;；。.!！?？])")
_SEPARATING: Final = "，,、；;"
_NEAR: Final = re.compile(r"near[:：](?:(\d{1,3})([(（])?|[(（])", re.IGNORECASE)
_FIELD: Final = re.compile(r"(title|author)[:：](?=[^\s)）])", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"(site|since|after|until|before|language|lang|source|section|class|label)[:：](?:[\"“「『＂]([^\"”」』＂]{1,100}+)[\"”」』＂]|"
    rf"([^\s()（）{_QUOTES}]{{1,100}}+))(?=[\s)）]|$)",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"is[:：]([^\s()（）]{1,40})(?=[\s)）]|$)", re.IGNORECASE)
_NAMES: Final = {"after": "since", "before": "until", "lang": "language", "class": "classes"}
_MINUS: Final = re.compile(r"[-－](?=[\w(（\"“「『＂])")
_OPERATOR: Final = re.compile(r"(AND|OR)(?=[\s(（)）]|$)")
_HAS_WORD: Final = re.compile(r"[^\W_]")


class QueryError(ValueError):
    """A query that cannot be read; says at which character, from 1, and why."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"the query is wrong at character {at + 1}: {why}")


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words that must stand in an article, all of them, in whatever form and order."""

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text that must stand in an article as it is."""

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition such as the site, named as the field of a `SearchQuery`."""

    name: str
    value: str
    at: int


@dataclass(frozen=True, slots=True)
class Near:
    """Words and phrases that stand near each other.

    At most `distance` words or Chinese characters are between the first and the last.
    """

    distance: int
    parts: tuple[AskedWords | Phrase, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Expression


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Expression, ...]


Expression = AskedWords | Phrase | Condition | Near | Not | All | Either


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query in its parts.

    Attributes:
        words: the words of the text that count for the order; blanks stand for the rest.
        parts: all must hold, beside `conditions`.
        is_exact: an operator was used, so nothing is found that does not fulfil all of it.
    """

    words: str
    parts: tuple[Expression, ...]
    conditions: tuple[Condition, ...]
    is_exact: bool


def parse(text: str) -> ParsedQuery:
    """Read a query; text without operators is words.

    AND binds tighter than OR, as do words side by side. A Chinese word behind -, a field or in near: counts as it is
    written, others as the dictionary cuts them. Conditions outside of brackets, OR and - are returned apart.

    Raises:
        QueryError: a quotation mark or bracket is not closed, or an operator lacks a word.

    >>> parse('port -"wine regions"').parts
    (AskedWords(text='port', field=''), Not(part=Phrase(text='wine regions', field='')))
    """
    reader = _Reader(text)
    parts = _flat(reader.either(0, opened=-1))
    conditions = tuple(part for part in parts if isinstance(part, Condition))
    others = tuple(part for part in parts if not isinstance(part, Condition))
    is_exact = reader.has_operator or not all(isinstance(part, AskedWords) for part in others)
    return ParsedQuery("".join(reader.words), others, conditions, is_exact)


def conditions_in(parts: Iterable[Expression]) -> Iterator[Condition]:
    """Yield the conditions of expressions, also those in brackets."""
    for part in parts:
        if isinstance(part, Condition):
            yield part
        elif isinstance(part, Not):
            yield from conditions_in((part.part,))
        elif isinstance(part, All | Either):
            yield from conditions_in(part.parts)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.words = list(text)
        self.has_operator = False
        self._inside = 0
        """Brackets that words have opened, as in f(x, y): they group nothing."""

    # ---------------------------------------------------------------- expressions

    def either(self, depth: int, opened: int, field: str = "") -> Expression | None:
        """Read as far as the end, or the bracket that closes the one at `opened`."""
        if depth > _MOST_NESTED:
            raise QueryError(opened, f"brackets are nested more than {_MOST_NESTED} deep")
        alternatives = []
        operator: tuple[int, str] | None = None
        while True:
            part = self._together(depth, opened, field)
            following = self._operator("OR")
            if part is not None:
                alternatives.append(part)
            elif operator or following:
                raise QueryError(*_lacking(operator or following))
            if following is None:
                break
            operator = following
            self.has_operator = True
        if opened >= 0 and not self._closes():
            raise QueryError(opened, "this bracket is not closed")
        return alternatives[0] if len(alternatives) == 1 else Either(tuple(alternatives)) if alternatives else None

    def _together(self, depth: int, opened: int, field: str) -> Expression | None:
        parts: list[Expression] = []
        operator: tuple[int, str] | None = None
        while not self._ends(opened):
            if (following := self._operator("AND")) is not None:
                if operator or not parts:
                    raise QueryError(*_lacking(following))
                operator = following
                self.has_operator = True
                continue
            if _OPERATOR.match(self._text, self._at):
                break
            part = self._part(depth, field)
            if part is not None:
                parts += _flat(part)
                operator = None
        if operator:
            raise QueryError(*_lacking(operator))
        parts = _merged(parts)
        return parts[0] if len(parts) == 1 else All(tuple(parts)) if parts else None

    def _part(self, depth: int, field: str) -> Expression | None:
        start = self._at
        part: Expression | None
        if self._match(_MINUS):
            part = self._excluded(start, depth, field)
        elif self._text[start] in "(（":
            part = self._bracket(depth, field)
        elif match := self._match(_NEAR):
            part = self._near(match)
        elif match := self._match(_FIELD):
            self.has_operator = True
            self._hide(start, self._at)
            part = self._part(depth, match[1].lower())
        elif match := self._match(_CONDITION):
            self._hide(start, self._at)
            name = match[1].lower()
            part = Condition(_NAMES.get(name, name), match[2] or match[3], start)
        elif match := self._match(_MARK):
            self._hide(start, self._at)
            if match[1].lower() not in MARKS:
                raise QueryError(start, f"is: takes {', '.join(MARKS[:-1])} or {MARKS[-1]}")
            part = Condition(match[1].lower(), ON, start)
        elif match := self._match(_QUOTED):
            self.has_operator = True
            part = Phrase(match[1], field) if _HAS_WORD.search(match[1]) else None
        else:
            part = self._words(field)
        return part

    def _excluded(self, start: int, depth: int, field: str) -> Expression | None:
        self.has_operator = True
        is_group = self._text[self._at] in "(（"
        part = self._part(depth, field)
        self._hide(start, self._at)
        if isinstance(part, AskedWords) and not part.field and not is_group:
            part = _as_written(part, ANYWHERE)
        return None if part is None else Not(part)

    def _words(self, field: str) -> AskedWords | Phrase | None:
        start = self._at
        if self._text[start] in _OPENING and not re.search(f"[{_QUOTES}]", self._text[start + 1 :]):
            raise QueryError(start, "this quotation mark is not closed")
        word = self._word()
        if not _HAS_WORD.search(word):
            return None
        return _as_written(AskedWords(word, field), field) if field else AskedWords(word)

    def _bracket(self, depth: int, field: str) -> Expression:
        start = self._at
        self._at += 1
        part = self.either(depth + 1, start, field)
        if part is None:
            raise QueryError(start, "these brackets hold no word")
        self._hide(start, start + 1)
        self._hide(self._at - 1, self._at)
        return part

    def _near(self, match: re.Match[str]) -> Expression:
        start = match.start()
        parts = _flat(self.either(1, start)) if match[1] and match[2] else ()
        places = tuple(part for each in parts for part in _operands(each))
        if len(places) < 2 or any(part is None for part in places):
            raise QueryError(start, "near is written like near:5(harbour ferry)")
        self.has_operator = True
        self._hide(start, match.end())
        self._hide(self._at - 1, self._at)
        return Near(int(match[1]), tuple(part for part in places if part is not None))

    # ---------------------------------------------------------------- characters

    def _word(self) -> str:
        """Read to a blank, a phrase behind a comma, or the end of a group."""
        start = self._at
        while self._at < len(self._text) and not self._text[self._at].isspace():
            character = self._text[self._at]
            if self._at > start and self._text[self._at - 1] in _SEPARATING and _QUOTED.match(self._text, self._at):
                break
            if character in ")）":
                if not self._inside:
                    break
                self._inside -= 1
            self._inside += character in "(（"
            self._at += 1
        return self._text[start : self._at]

    def _operator(self, name: str) -> tuple[int, str] | None:
        self._match(_SPACE)
        start = self._at
        match = _OPERATOR.match(self._text, start)
        if match is None or match[1] != name:
            return None
        self._at = match.end()
        self._hide(start, self._at)
        return start, name

    def _ends(self, opened: int) -> bool:
        self._match(_SPACE)
        if self._at == len(self._text):
            return True
        if self._text[self._at] in ")）" and not self._inside:
            if opened < 0:
                raise QueryError(self._at, "this bracket closes nothing")
            return True
        return False

    def _closes(self) -> bool:
        if self._at < len(self._text) and self._text[self._at] in ")）":
            self._at += 1
            return True
        return False

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def _hide(self, start: int, end: int) -> None:
        self.words[start:end] = " " * (end - start)


def _lacking(operator: tuple[int, str] | None) -> tuple[int, str]:
    at, name = operator or (0, "")
    return at, f"{name} needs words on both sides"


def _flat(part: Expression | None) -> tuple[Expression, ...]:
    return () if part is None else part.parts if isinstance(part, All) else (part,)


def _merged(parts: Sequence[Expression]) -> list[Expression]:
    """Join the words that stand without a field: they are cut together."""
    words = [part.text for part in parts if isinstance(part, AskedWords) and not part.field]
    others = [part for part in parts if not (isinstance(part, AskedWords) and not part.field)]
    return [AskedWords(" ".join(words)), *others] if words else others


def _as_written(words: AskedWords, field: str) -> AskedWords | Phrase:
    if UNCUT.search(words.text):
        return Phrase(words.text, field)
    return replace(words, field="" if field == ANYWHERE else field)


def _operands(part: Expression) -> Iterator[AskedWords | Phrase | None]:
    if isinstance(part, AskedWords):
        yield from (_as_written(AskedWords(word), "") for word in part.text.split())
    else:
        yield part if isinstance(part, Phrase) else None
