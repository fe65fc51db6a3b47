"""Articles that fulfil a query: found by the index, verified in their texts.

The index tells which words an article has, not where. So each part of an expression has tokens that an article needs
to fulfil it; the articles that have them are read, and their folded texts decide.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from db.records.search import SearchCandidate, SearchedText, SearchFilter
from db.search import find

from ..document.tokens import character_pairs
from ..text.spellings import asked_spellings, plain_forms, spellings
from ..text.words import (
    INSIDE_WORDS,
    LETTER,
    STOP_WORDS,
    UNCUT,
    asked_tokens,
    find_han,
    fold,
    other_word_list,
    other_words,
    tagger,
    word_tokens,
)
from .conditions import filter_of
from .language import (
    ANYWHERE,
    AUTHOR,
    TITLE,
    All,
    AskedWords,
    Condition,
    Either,
    Expression,
    Near,
    Not,
    Phrase,
    conditions_in,
)
from .passages import is_han
from .query import needed, terms_of, tokens_of
from .records import SearchQuery
from .terms import FIELD_CHARS, HASH_SHIFT, MAX_CHARS, Packed, hash_token, unpack

if TYPE_CHECKING:
    from db.engine.database import ReadConnection

Truth = npt.NDArray[np.int8]
"""For each article: false, to be read in its text, true."""

_NO, _UNSURE, _YES = np.int8(0), np.int8(1), np.int8(2)
_MOST_GROUPS: Final = 16
"""Tokens of a phrase that the index is asked for."""
_AT_ONCE: Final = 200
_BETWEEN: Final = re.compile("[-\\s\u2010-\u2015\u2212'\u2018\u2019\u02bc`\u00b4]+")
_BORDER: Final = "\n"
_IS_LETTER: Final = re.compile(LETTER)
_NOT_BEFORE: Final = f"(?!{LETTER}|{INSIDE_WORDS})"
_PAIR: Final = 2
_HAN: Final = re.compile("([\u3400-\u4dbf\u4e00-\u9fff]+)")
_NOT_HAN: Final = re.compile("[^\u3400-\u4dbf\u4e00-\u9fff]+")
_SIGNS: Final = re.compile(
    "(?<=[\u3400-\u4dbf\u4e00-\u9fff])[\\s,.;:!?()\"'“”‘’、。《》〈〉「」『』—…]+(?=[\u3400-\u4dbf\u4e00-\u9fff])"
)
"""Signs between Chinese characters: most of what is no unit of a Chinese text, taken out at once."""
_MOST_KNOWN: Final = 50_000
_FIRST_WORD: Final = 0xF0000
"""Characters from here on stand for words; no text has them in a word."""


class Matcher:
    """Finds the articles that fulfil all parts of a query.

    `filters` has the conditions of the parts as the index takes them.
    """

    def __init__(
        self, parts: Sequence[Expression], filters: Mapping[Condition, SearchFilter], languages: Sequence[str]
    ) -> None:
        self._parts = parts
        self._filters = filters
        self._languages = languages

    @property
    def need(self) -> find.Need:
        """Tokens that all articles have which fulfil the query, and maybe others."""
        return self._need(All(tuple(self._parts)))

    @property
    def ids(self) -> frozenset[int] | None:
        """Ids among which are all articles that fulfil the query; None for any."""
        return self._ids(All(tuple(self._parts)))

    @property
    def is_decided_by_index(self) -> bool:
        """True if all articles fulfil the query that have what is `need`ed."""
        return all(map(self._is_decided, self._parts))

    @property
    def has_nearness(self) -> bool:
        """True if texts are to be cut into words, which takes the longest."""
        return any(map(_has_near, self._parts))

    def halves(self) -> tuple[find.Need, find.Need] | None:
        """Return the needs of articles that fulfil the query, and of those that may.

        The index has Chinese words of three characters and more where the dictionary cut them; elsewhere they may stand
        across two words, which texts tell. None if other things are to be looked up in texts, too.
        """
        others = [part for part in self._parts if not self._is_decided(part)]
        words = [part for part in others if isinstance(part, AskedWords) and not part.field]
        if not words or len(words) < len(others):
            return None
        long: find.Need = [[word] for part in words for word in self._words(part).long]
        return [*self.need, *long], [*self.need, find.Without(long)]

    def matching(self, connection: ReadConnection, rows: Sequence[SearchCandidate]) -> list[SearchCandidate]:
        """Return those of the articles that have what is `need`ed which fulfil the query.

        Cost: 0.2 ms an article whose text must be read, of 650 characters, 0.6 for nearness; others nearly nothing.
        """
        if not rows or not self._parts:
            return list(rows)
        parts = [part for part in self._parts if not self._is_decided(part)]
        if not parts:
            return list(rows)
        terms = _Terms(unpack(row.terms for row in rows), rows)
        truth: Truth = np.full(len(rows), _YES, np.int8)
        for part in parts:
            truth = np.minimum(truth, self._truth(part, terms, of_all=True))
        unsure = np.flatnonzero(truth == _UNSURE).tolist()
        for first in range(0, len(unsure), _AT_ONCE):
            some = unsure[first : first + _AT_ONCE]
            texts = find.texts(connection, [rows[n].article_id for n in some])
            for n in some:
                text = texts.get(rows[n].article_id)
                page = None if text is None else _Page(text)
                holds = page is not None and all(self._holds(part, page, rows[n]) for part in parts)
                truth[n] = _YES if holds else _NO
        return [row for row, value in zip(rows, truth.tolist(), strict=True) if value == _YES]

    # ---------------------------------------------------------------- by the index

    def _need(self, part: Expression) -> find.Need:
        need: find.Need = []
        match part:
            case AskedWords():
                need = self._words(part).groups
            case Phrase():
                need = phrase_groups(part.text)
            case Condition():
                need = find.need_of(self._filters[part])
            case All() | Near():
                need = list(chain.from_iterable(map(self._need, part.parts)))
            case Either():
                needs = [each for each in map(self._need, part.parts) if all(each)]
                need = [needs] if all(needs) else []
            case Not():
                without = self._need(part.part) if self._is_decided(part.part) else []
                need = [find.Without(without)] if without and all(without) else []
        return need

    def _ids(self, part: Expression) -> frozenset[int] | None:
        ids: frozenset[int] | None = None
        match part:
            case Condition():
                ids = self._filters[part].ids
            case All():
                some = [each for each in map(self._ids, part.parts) if each is not None]
                ids = frozenset.intersection(*some) if some else None
            case Either():
                all_of = [self._ids(each) for each in part.parts]
                some = [each for each in all_of if each is not None]
                ids = frozenset[int]().union(*some) if len(some) == len(all_of) else None
        return ids

    def _is_decided(self, part: Expression) -> bool:
        """Tell whether articles fulfil a part if and only if they have what it `_need`s."""
        match part:
            case AskedWords():
                is_decided = not (part.field or self._words(part).long)
            case Phrase():
                folded = _folded_phrase(part.text)
                is_decided = part.field == ANYWHERE and len(folded) == _PAIR and is_han(folded)
            case Condition():
                is_decided = self._filters[part].is_marked
            case Not():
                is_decided = self._is_decided(part.part)
            case All() | Either():
                is_decided = all(map(self._is_decided, part.parts))
            case Near():
                is_decided = False
        return is_decided

    def _truth(self, part: Expression, terms: _Terms, *, of_all: bool = False) -> Truth:
        """Return what terms tell of articles, `of_all` of which have what is needed."""
        truth: Truth
        match part:
            case AskedWords():
                words = self._words(part)
                is_sure = of_all and not part.field
                sure = terms.have([(word,) for word in words.long]) if is_sure else np.False_
                truth = np.where(terms.have(words.groups), np.where(sure, _YES, _UNSURE), _NO)
            case Phrase():
                truth = np.where(terms.have(phrase_groups(part.text)), _UNSURE, _NO)
            case Condition():
                admits = map(self._filters[part].admits, terms.rows)
                truth = np.fromiter(admits, np.int8, len(terms.rows)) * _YES
            case Near():
                truth = np.minimum.reduce([self._truth(each, terms) for each in part.parts])
            case Not():
                truth = _YES - self._truth(part.part, terms)
            case All():
                truth = np.minimum.reduce([self._truth(each, terms) for each in part.parts])
            case Either():
                truth = np.maximum.reduce([self._truth(each, terms) for each in part.parts])
        return truth

    def _words(self, part: AskedWords) -> _Needed:
        return _needed(part.text, tuple(self._languages))

    # ---------------------------------------------------------------- by the text

    def _holds(self, part: Expression, page: _Page, row: SearchCandidate) -> bool:
        match part:
            case AskedWords():
                words, field = self._words(part), part.field or ANYWHERE
                holds = all(any(page.has(token, field) for token in group) for group in words.groups) and all(
                    word in page.folded(field) for word in words.long
                )
            case Phrase():
                holds = page.has_phrase(part)
            case Condition():
                holds = self._filters[part].admits(row)
            case Near():
                holds = page.has_near(part, self._languages)
            case Not():
                holds = not self._holds(part.part, page, row)
            case All():
                holds = all(self._holds(each, page, row) for each in part.parts)
            case Either():
                holds = any(self._holds(each, page, row) for each in part.parts)
        return holds


def matcher_of(
    connections: Sequence[ReadConnection], parts: Sequence[Expression], query: SearchQuery, now: float
) -> tuple[Matcher, list[str]]:
    """Make a matcher of parts, and sentences on how its conditions were understood.

    The `query` says in which languages words are, and what is marked.
    """
    filters: dict[Condition, SearchFilter] = {}
    notes: list[str] = []
    for one in conditions_in(parts):
        of_one = replace(SearchQuery(marked=query.marked), **{one.name: one.value})  # type: ignore[arg-type]
        filters[one], some = filter_of(connections, of_one, now)
        notes += some
    return Matcher(parts, filters, query.language.split()), notes


class _Needed:
    """Tokens of words.

    An article with the words has one token of each group, and the `long` Chinese words in a piece.
    """

    def __init__(self, text: str, languages: Sequence[str]) -> None:
        terms = terms_of(text, languages)
        words = [term.tokens[0] for term in terms if term.is_word and is_han(term.tokens[0])]
        self.groups = needed(terms)
        self.long = [word for word in words if len(word) > _PAIR]


@lru_cache(maxsize=1_000)
def _needed(text: str, languages: tuple[str, ...]) -> _Needed:
    return _Needed(text, languages)


@lru_cache(maxsize=1_000)
def phrase_groups(text: str) -> tuple[tuple[str, ...], ...]:
    """Return tokens of which an article with a phrase has one of each group.

    There are none for a Chinese character alone.

    >>> phrase_groups("Bridges of 河口镇")
    (('河口',), ('口镇',), ('bridg',))
    """
    folded = fold(text)
    groups: list[tuple[str, ...]] = [
        (pair,) for run in find_han(folded) for pair in character_pairs(run) if len(pair) == _PAIR
    ]
    words = [word for word in other_word_list(folded) if len(word) > 1 or not UNCUT.match(word)]
    words = [word for word in words if word not in STOP_WORDS] or ([] if groups else words)
    groups += (asked_tokens(word, ()) for word in words)
    return tuple(dict.fromkeys(groups))[:_MOST_GROUPS]


class _Terms:
    """Terms of articles, side by side."""

    def __init__(self, packed: Packed, rows: Sequence[SearchCandidate]) -> None:
        self.rows = rows
        self._packed = packed
        self._hashes = packed.numbers >> HASH_SHIFT
        self._having: dict[str, npt.NDArray[np.bool_]] = {}

    def have(self, groups: Iterable[Sequence[str]]) -> npt.NDArray[np.bool_]:
        """Tell which articles have a token of each group."""
        held = np.ones(len(self.rows), np.bool_)
        for group in groups:
            held &= np.logical_or.reduce([self._has(token) for token in group])
        return held

    def _has(self, token: str) -> npt.NDArray[np.bool_]:
        if token not in self._having:
            at = np.flatnonzero(self._hashes == hash_token(token))
            article = np.searchsorted(self._packed.ends, at, "right")
            having = np.zeros(len(self.rows), np.bool_)
            having[article[at >= self._packed.starts[article]]] = True
            self._having[token] = having
        return self._having[token]


_FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "": ("title", "text"),
    TITLE: ("title",),
    AUTHOR: ("authors",),
    ANYWHERE: ("title", "text", "authors", "source", "description", "tags"),
}


class _Page:
    """The texts of an article, folded when they are asked for."""

    def __init__(self, text: SearchedText) -> None:
        self._text = text
        self._folded: dict[str, str] = {}
        self._forms: dict[str, Sequence[str]] = {}
        self._tokens: dict[str, set[str]] = {}
        self._units: dict[str, _Units] = {}
        self.tag = tagger(text.language)

    def folded(self, field: str) -> str:
        return _BORDER.join(map(self._folded_one, _FIELDS[field]))

    def _folded_one(self, name: str) -> str:
        if name not in self._folded:
            self._folded[name] = fold(self._one(name))
        return self._folded[name]

    def _one(self, name: str) -> str:
        """Return as much of a field as the index has."""
        return (getattr(self._text, name) or "")[: MAX_CHARS if name == "text" else FIELD_CHARS]

    def _forms_of(self, name: str) -> Sequence[str]:
        """Return a field without accents, and as it is written out."""
        if name not in self._forms:
            self._forms[name] = plain_forms(self._folded_one(name))
        return self._forms[name]

    def has_phrase(self, phrase: Phrase) -> bool:
        folded = _folded_phrase(phrase.text)
        if is_han(folded):  # has one spelling, and no borders of words
            names = _FIELDS[phrase.field]
            return any(folded in self._one(name) for name in names) or any(
                folded in self._folded_one(name) for name in names
            )
        found = _pattern(phrase.text).search
        return any(found(form) for name in _FIELDS[phrase.field] for form in self._forms_of(name))

    def has(self, token: str, field: str) -> bool:
        if is_han(token):
            return token in self.folded(field)
        if field not in self._tokens:
            self._tokens[field] = set(chain.from_iterable(map(self.tokens, other_word_list(self.folded(field)))))
        return token in self._tokens[field]

    def tokens(self, word: str) -> Sequence[str]:
        return _tokens(word, self.tag)

    def has_near(self, near: Near, languages: Sequence[str]) -> bool:
        is_chinese = all(is_han(_folded_phrase(part.text)) for part in near.parts)
        for name in _FIELDS[""]:
            # most texts are refused by their Chinese characters alone, of which no more can be between
            if is_chinese and not _is_near(near, _HanUnits(self._folded_one(name)), self, languages):
                continue
            if name not in self._units:
                self._units[name] = _Units(self._folded_one(name))
            if _is_near(near, self._units[name], self, languages):
                return True
        return False


@lru_cache(maxsize=1_000)
def _folded_phrase(text: str) -> str:
    return fold(text)


@lru_cache(maxsize=1_000)
def _pattern(text: str) -> re.Pattern[str]:
    """Make the pattern of a phrase; its first word comes first, to be found fast."""
    forms = (_BETWEEN.sub(" ", form).strip() for form in plain_forms(fold(text)))
    patterns = []
    for first, *others in (form.split(" ") for form in forms if form):
        begin = re.escape(first) + (f"(?<!{LETTER}{re.escape(first)})" if _IS_LETTER.match(first) else "")
        end = _NOT_BEFORE if _IS_LETTER.match([first, *others][-1][-1]) else ""
        patterns.append(_BETWEEN.pattern.join([begin, *map(re.escape, others)]) + end)
    return re.compile("|".join(patterns) or "(?!)")


class _Units:
    """Words of a text, and characters of scripts without blanks, in their order.

    `line` has a character for each, and `words` the characters that stand for words, of which an ASCII text has
    nothing else: it has them in `written`, as they are.
    """

    def __init__(self, folded: str) -> None:
        self.words: dict[str, str] = {}
        self.line = ""
        self.written: Sequence[str] = ()
        if folded.isascii():
            self.written = other_word_list(folded)
            return
        pieces = _HAN.split(_SIGNS.sub("", folded))
        for n in range(0, len(pieces), 2):  # between Chinese ones
            if pieces[n]:
                pieces[n] = "".join(map(self._character, _units(pieces[n])))
        self.line = "".join(pieces)

    def _character(self, unit: str) -> str:
        return unit if UNCUT.match(unit) else self.words.setdefault(unit, chr(_FIRST_WORD + len(self.words)))

    def places(self, wanted: Sequence[str | _Fitting]) -> list[tuple[int, int]]:
        """Return the first and last units of each place of these side by side."""
        units: Sequence[str]
        if all(isinstance(each, str) for each in wanted):
            sought = "".join(map(str, wanted))
            return [(at, at + len(sought) - 1) for at in self._places_of(sought)]
        if self.written:
            if any(isinstance(each, str) for each in wanted):
                return []
            units = self.written
            distinct = set(units)
            matching = [{word for word in distinct if each[word]} for each in wanted]  # type: ignore[index]
            starts = [n for n, unit in enumerate(units) if unit in matching[0]] if all(matching) else []
        else:
            units = self.line
            matching = [
                {each} if isinstance(each, str) else {sign for word, sign in self.words.items() if each[word]}
                for each in wanted
            ]
            starts = sorted(chain.from_iterable(map(self._places_of, matching[0]))) if all(matching) else []
        last = len(matching) - 1
        others = list(enumerate(matching[1:], 1))
        end = len(units) - last
        return [(n, n + last) for n in starts if n < end and all(units[n + k] in each for k, each in others)]

    def _places_of(self, signs: str) -> Iterator[int]:
        at = self.line.find(signs)
        while at >= 0:
            yield at
            at = self.line.find(signs, at + 1)


class _HanUnits(_Units):
    """The Chinese characters of a text, without what stands between them."""

    def __init__(self, folded: str) -> None:
        self.words = {}
        self.line = _NOT_HAN.sub("", folded)
        self.written = ()


def _units(folded: str) -> Sequence[str]:
    if folded.isascii():
        return other_word_list(folded)
    characters = [(match.start(), match[0]) for match in UNCUT.finditer(folded)]
    words = [(start, word) for word, start, _ in other_words(UNCUT.sub(" ", folded))]
    return [unit for _, unit in sorted(characters + words)]


class _Fitting(dict[str, bool]):
    """Words of texts, and whether they are forms of a word that is asked for."""

    def __init__(self, wanted: Iterable[str], forms: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._wanted = frozenset(wanted)
        self._forms = forms

    def __missing__(self, word: str) -> bool:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        fits = self[word] = not self._wanted.isdisjoint(self._forms(word))
        return fits


def _has_near(part: Expression) -> bool:
    match part:
        case Near():
            has_near = True
        case Not():
            has_near = _has_near(part.part)
        case All() | Either():
            has_near = any(map(_has_near, part.parts))
        case _:
            has_near = False
    return has_near


def _is_near(near: Near, units: _Units, page: _Page, languages: Sequence[str]) -> bool:
    places = []
    for part in near.parts:
        wanted = _wanted(part, tuple(languages), page.tag)
        places.append(units.places(wanted) if wanted else [])
        if not places[-1]:
            return False
    starts = [[start for start, _ in some] for some in places]
    for number, some in enumerate(places):
        others = [each for n, each in enumerate(starts) if n != number]
        for start, end in some:  # as the first of them
            following = [bisect_left(each, start) for each in others]
            if any(at == len(each) for at, each in zip(following, others, strict=True)):
                break
            if max(each[at] for at, each in zip(following, others, strict=True)) - end - 1 <= near.distance:
                return True
    return False


def _tokens(word: str, tag: Callable[[str], str] | None) -> Sequence[str]:
    return word_tokens(word) if tag is None else (*word_tokens(word), tag(word))


@lru_cache(maxsize=200)
def _wanted(
    part: AskedWords | Phrase, languages: tuple[str, ...], tag: Callable[[str], str] | None
) -> Sequence[str | _Fitting]:
    """Return the units of a part: characters, and words with their forms."""
    units = _units(_folded_phrase(part.text))
    if isinstance(part, Phrase):  # words have spellings, and behind operators stems, too
        return [unit if UNCUT.match(unit) else _Fitting(asked_spellings(unit), spellings) for unit in units]
    return [
        unit if UNCUT.match(unit) else _Fitting(tokens_of(unit, languages), partial(_tokens, tag=tag)) for unit in units
    ]
