"""Queries as readers type them: terms to rank by, and what must be fulfilled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..text.words import STOP_WORDS, asked_tokens, fold, han_runs, other_words, tagger
from .language import AskedWords, Condition, Expression, Not, QueryError, conditions_in, parse
from .periods import read_bound
from .records import MARKS, VALUED, SearchQuery

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
_QUESTIONS: Final = (
    "哪个 哪位 哪种 哪一 哪年 哪儿 哪里 哪些 何时 何地 何处 几个 多少 多久 什么 是什么 有什么 什么样 为何 为什么 怎样 "
    "怎么 怎么样 谁 吗"
)
_ASKING_HAN: Final = frozenset(_QUESTIONS.split())
"""Words that make a question."""
_IS_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_LONG: Final = 6
_LONG_HAN: Final = 4
_LONG_RUN: Final = 3
"""More words, or Chinese ones, or such without a blank are a sentence: to have all makes an article no better."""
_ASKS: Final = re.compile(r"[?？]\s*$")
_ANY_TIME: Final = 4e9
"""By which it is told whether a text is a date at all."""


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

    Attributes:
        terms: what articles are ranked by.
        parts: what an article must fulfil, all of them, to have all that is asked for.
        is_exact: it has operators, so nothing else is shown.
        is_question: a question or headline, whose words only rank.
        notes: sentences on what was left out.
    """

    query: SearchQuery
    terms: tuple[QueryTerm, ...]
    parts: tuple[Expression, ...]
    is_exact: bool = False
    is_question: bool = False
    notes: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[Expression, ...]:
        """Parts that an article must fulfil to be counted."""
        return tuple(part for part in self.parts if not (self.is_question and isinstance(part, AskedWords)))

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens to find articles by: without stop words, unless there is nothing else."""
        telling = [term for term in self.terms if term.weight > _STOP] or self.terms
        return tuple(dict.fromkeys(token for term in telling for token in term.tokens))


def read_query(query: SearchQuery) -> QueryPlan:
    """Read a query in the language of `language.parse`.

    Its conditions count where the field of their name is empty; those that are excluded outside of brackets are among
    `SearchQuery.without`.

    Raises:
        QueryError: an operator or a date of the text is wrong.

    >>> read_query(SearchQuery("the bridges site:a.test", language="en")).tokens
    ('bridg',)
    """
    notes = []
    text = query.text
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS]
        notes.append(f"only the first {MAX_CHARS:,} characters of the query were read")
    parsed = parse(text)
    given: dict[str, str] = {}
    parts = list(parsed.parts)
    for each in parsed.conditions:
        if each.name in given:
            parts.append(each)
        elif not getattr(query, each.name):
            given[each.name] = each.value
    for each in conditions_in((*parsed.conditions, *parts)):
        _check(each)
    excluded = [part.part for part in parts if isinstance(part, Not) and isinstance(part.part, Condition)]
    excluded = [each for each in excluded if each.name in VALUED]
    parts = [part for part in parts if not (isinstance(part, Not) and part.part in excluded)]
    without = (*query.without, *((each.name, each.value) for each in excluded))
    terms = terms_of(parsed.words, (query.language or given.get("language", "")).split())[:MAX_TERMS]
    read = replace(query, text=parsed.words, without=without, **given)  # type: ignore[arg-type]
    return QueryPlan(read, tuple(terms), tuple(parts), parsed.is_exact, _is_question(parsed.words, terms), tuple(notes))


def asks_for_marks(query: SearchQuery) -> bool:
    """Tell whether a query has a condition on what readers have marked.

    Raises:
        QueryError: its text is wrong.
    """
    plan = read_query(query)
    names = ("label", *MARKS)
    asked = [*(name for name, _ in plan.query.without), *(each.name for each in conditions_in(plan.parts))]
    return any(getattr(plan.query, name) for name in names) or not set(names).isdisjoint(asked)


def terms_of(text: str, languages: Sequence[str]) -> list[QueryTerm]:
    """Return the different terms of a text, in their order."""
    return _different(_terms(fold(text), languages))


def needed(terms: Sequence[QueryTerm]) -> tuple[tuple[str, ...], ...]:
    """Return the tokens that an article with all words has: one of each group.

    Chinese words by their pairs, since texts may be cut otherwise; one of a single character by the pairs it is in.
    """
    stops = {at for term in terms if term.weight <= _STOP for at in range(term.start, term.end)}
    words = [term for term in terms if term.is_word]
    single = {term.start for term in words if _IS_HAN.fullmatch(term.tokens[0]) and term.end - term.start == 1}
    groups: list[tuple[str, ...]] = []
    for term in words:
        if not _IS_HAN.fullmatch(word := term.tokens[0]):
            groups.append(term.tokens)
        groups += ((pair,) for pair in map(str.__add__, word, word[1:]) if _IS_HAN.fullmatch(pair))
    paired = set()
    for term in terms:
        places = range(term.start, term.end)
        if not term.is_word and not single.isdisjoint(places) and stops.isdisjoint(places):
            groups.append(term.tokens)
            paired |= {*places}
    groups += (term.tokens for term in words if term.start in single - paired)
    return tuple(dict.fromkeys(groups or (term.tokens for term in terms)))


def _is_question(text: str, terms: Sequence[QueryTerm]) -> bool:
    words = [term.tokens[0] for term in terms if term.is_word or term.weight <= _STOP]
    runs = [len(cut) for _, cut in han_runs(fold(text))]
    is_long = len(words) > _LONG or sum(runs) > _LONG_HAN or max(runs, default=0) > _LONG_RUN
    return is_long or not _ASKING_HAN.isdisjoint(words) or bool(_ASKS.search(text))


def _check(condition: Condition) -> None:
    if condition.name in {"since", "until"}:
        try:
            read_bound(condition.name, condition.value, _ANY_TIME)
        except ValueError as wrong:
            raise QueryError(condition.at, str(wrong)) from None


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
        tokens = tokens_of(word, languages)
        is_word = not _is_stop(word)
        written = "" if word.isascii() else word
        yield QueryTerm(tokens, _OTHER if is_word else _STOP, start, end, is_word, written)


def tokens_of(word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens by which a folded word of a query is looked for."""
    return asked_tokens(word, [tag for tag in map(tagger, languages or _languages_of(word)) if tag])


def _languages_of(word: str) -> Sequence[str]:
    return next((languages for script, languages in _LANGUAGES_OF_SCRIPTS if script.search(word)), LANGUAGES)


def _is_stop(word: str) -> bool:
    return word in STOP_WORDS or word in _ASKING


def _different(terms: Iterator[QueryTerm]) -> list[QueryTerm]:
    different: dict[tuple[str, ...], QueryTerm] = {}
    for term in terms:
        different.setdefault(term.tokens, term)
    return sorted(different.values(), key=lambda term: (term.start, -term.end))
