"""Queries as readers type them: words, quoted phrases, conditions like site:."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..text.spellings import plain
from ..text.words import STOP_WORDS, asked_tokens, fold, han_runs, other_words, tagger
from .records import SearchQuery

MAX_CHARS: Final = 1_000
MAX_TERMS: Final = 64
"""Different terms of a query that count: the first."""
LANGUAGES: Final = ("de", "es", "fr", "it", "nl", "pt")
"""Languages by whose endings a word is looked for where none is asked for, beside English."""
_LANGUAGES_OF_SCRIPTS: Final = (
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), ("el",)),
    (re.compile("[\u0400-\u052f]"), ("ru",)),
    (re.compile("[\u0531-\u0587]"), ("hy",)),
    (re.compile("[\u0620-\u06d3]"), ("ar", "fa")),
    (re.compile("[\u0900-\u097f]"), ("hi", "ne")),
    (re.compile("[\u0b80-\u0bff]"), ("ta",)),
)
"""The same of words in other letters than Latin ones."""
# Weights of terms; found with others as docs/search.md tells.
_WORD: Final = 1.0
_OTHER: Final = 1.5
_INSIDE: Final = 0.15
_ACROSS: Final = 0.2
_STOP: Final = 0.05
_QUESTION_WORDS: Final = (
    "哪个 哪位 哪种 哪一 哪年 哪儿 何 何时 何地 何处 几 几个 多少 多久 是什么 有什么 什么样 为何 怎样 怎么样 于 以 "
    "可以 是否 请问 一 a i s t"
)
_ASKING: Final = frozenset(_QUESTION_WORDS.split())
# A phrase stands by itself: quotation marks amid other words, as headlines have them, are no wish.
_QUOTED: Final = re.compile(r"(?<!\w)[\"“”„«»‹›「」『』＂]([^\"“”„«»‹›「」『』＂]{1,200}+)[\"“”„«»‹›「」『』＂](?!\w)")
_CONDITION: Final = re.compile(
    r"(?<!\S)(site|since|after|until|before|language|lang|source)[:：]([^\s\"]{1,100}+|\"[^\"]{1,100}+\")(?!\S)",
    re.IGNORECASE,
)
_IS_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_FIELDS: Final = {"after": "since", "before": "until", "lang": "language"}


class QueryTerm(NamedTuple):
    """A thing to look for; any of its `tokens` will do: stems by several languages.

    Attributes:
        weight: share in the score, beside how rare the term is.
        is_word: it tells by itself and is marked: no stop word, no pair of characters out of a longer or two words.
        written: the word as it stands in the query, where its tokens are other spellings.
        is_related: it is not of the query, but goes with its words (`expansion`).
    """

    tokens: tuple[str, ...]
    weight: float
    start: int
    end: int
    is_word: bool
    written: str = ""
    is_related: bool = False


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query as the index, the ranking and the snippets take it.

    `phrases`, folded and plain, should stand in the text so; `notes` are sentences on what was left out.
    """

    query: SearchQuery
    terms: tuple[QueryTerm, ...]
    phrases: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens to find articles by: without stop words, unless there is nothing else."""
        telling = [term for term in self.terms if term.weight > _STOP] or self.terms
        return tuple(dict.fromkeys(token for term in telling for token in term.tokens))

    @property
    def needed(self) -> tuple[tuple[str, ...], ...]:
        """Tokens that an article with all words has: one of each group.

        Chinese words by their pairs, since texts may be cut otherwise; one of a single character by the pairs it is in.
        """
        stops = {at for term in self.terms if term.weight <= _STOP for at in range(term.start, term.end)}
        words = [term for term in self.terms if term.is_word]
        single = {term.start for term in words if _IS_HAN.fullmatch(term.tokens[0]) and term.end - term.start == 1}
        groups: list[tuple[str, ...]] = []
        for term in words:
            if not _IS_HAN.fullmatch(word := term.tokens[0]):
                groups.append(term.tokens)
            groups += ((pair,) for pair in map(str.__add__, word, word[1:]) if _IS_HAN.fullmatch(pair))
        paired = set()
        for term in self.terms:
            places = range(term.start, term.end)
            if not term.is_word and not single.isdisjoint(places) and stops.isdisjoint(places):
                groups.append(term.tokens)
                paired |= {*places}
        groups += (term.tokens for term in words if term.start in single - paired)
        return tuple(dict.fromkeys(groups or (term.tokens for term in self.terms)))


def read_query(query: SearchQuery) -> QueryPlan:
    """Read a query; any text is one.

    It may hold phrases in quotation marks of any kind and the conditions site:, since: (after:), until: (before:),
    language: (lang:) and source:, which count where the field of their name is empty.

    >>> read_query(SearchQuery("the bridges site:a.test", language="en")).tokens
    ('bridg',)
    """
    notes = []
    text = query.text
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS]
        notes.append(f"only the first {MAX_CHARS:,} characters of the query were read")
    given: dict[str, str] = {}
    for name, value in _CONDITION.findall(text):
        field = _FIELDS.get(name.lower(), name.lower())
        if not getattr(query, field):
            given.setdefault(field, value.strip('"'))
    text = _CONDITION.sub(" ", text)
    languages = (query.language or given.get("language", "")).split()
    terms = _different(_terms(fold(text), languages))
    phrases = (plain(fold(each)).strip() for each in _QUOTED.findall(text))
    read = replace(query, text=text, **given)  # type: ignore[arg-type]
    return QueryPlan(read, tuple(terms[:MAX_TERMS]), tuple(filter(None, phrases)), tuple(notes))


def _terms(folded: str, languages: Sequence[str]) -> Iterator[QueryTerm]:
    for start, words in han_runs(folded):
        run = "".join(words)
        at = 0
        borders = set()
        for word in words:
            is_word = not _is_stop(word)
            yield QueryTerm((word,), _WORD if is_word else _STOP, start + at, start + at + len(word), is_word)
            at += len(word)
            borders.add(at)
        for n, pair in enumerate(map(str.__add__, run, run[1:])):
            if pair not in words:
                weight = _ACROSS if n + 1 in borders else _INSIDE
                yield QueryTerm((pair,), weight, start + n, start + n + 2, is_word=False)
    for word, start, end in other_words(folded):
        tokens = asked_tokens(word, [tag for tag in map(tagger, languages or _languages_of(word)) if tag])
        is_word = not _is_stop(word)
        written = "" if word.isascii() else word
        yield QueryTerm(tokens, _OTHER if is_word else _STOP, start, end, is_word, written)


def _languages_of(word: str) -> Sequence[str]:
    return next((languages for script, languages in _LANGUAGES_OF_SCRIPTS if script.search(word)), LANGUAGES)


def _is_stop(word: str) -> bool:
    return word in STOP_WORDS or word in _ASKING


def _different(terms: Iterator[QueryTerm]) -> list[QueryTerm]:
    different: dict[tuple[str, ...], QueryTerm] = {}
    for term in terms:
        different.setdefault(term.tokens, term)
    return sorted(different.values(), key=lambda term: (term.start, -term.end))
