"""Words of the same meaning, and senses of ambiguous ones, from files of a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Final, Self, TypeVar

from .analysis import AnalysedText, analyse, stemmer
from .words import fold

Synonyms = Mapping[tuple[str, str], float]
"""Pairs of words with their closeness, in (0, 1]."""
Senses = Mapping[str, Mapping[str, str]]
"""Word -> name of each of its senses -> gloss, the words that explain it."""
File = TypeVar("File")

_CLOSENESS: Final = re.compile(r"0?\.[0-9]{1,6}|1(?:\.0{1,6})?")
_MOST_GLOSS_WORDS: Final = 50
_MOST_CONTEXT_WORDS: Final = 100


def read_synonyms(text: str) -> dict[tuple[str, str], float]:
    """Read pairs of words with their closeness, in (0, 1]; 1 where a line has none.

    Raises:
        ValueError: naming the line.

    >>> read_synonyms("酒店 宾馆 0.9")
    {('酒店', '宾馆'): 0.9}
    """
    pairs: dict[tuple[str, str], float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match line.split():
            case []:
                pass
            case [first, second]:
                pairs[first, second] = 1.0
            case [first, second, closeness] if _CLOSENESS.fullmatch(closeness) and float(closeness) > 0:
                pairs[first, second] = float(closeness)
            case _:
                raise ValueError(f"line {number} is {line!r}; it takes two words and a closeness up to 1, as 0.8")
    return pairs


def read_glosses(text: str) -> dict[str, dict[str, str]]:
    r"""Read senses of words: word, name of the sense and gloss, with tabs between.

    Raises:
        ValueError: naming the line.

    >>> read_glosses("苹果\t水果\t果树的果实")
    {'苹果': {'水果': '果树的果实'}}
    """
    senses: dict[str, dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match [part.strip() for part in line.split("\t")]:
            case [""]:
                pass
            case [word, name, gloss] if word and name and gloss:
                senses.setdefault(word, {})[name] = gloss
            case _:
                raise ValueError(f"line {number} is {line!r}; it takes a word, a sense and a gloss with tabs between")
    return senses


def load(path: str | Path, kind: str, read: Callable[[str], File]) -> File:
    """Read a user's file; `ValueError` names it, its kind and what is wrong."""
    try:
        return read(Path(path).read_text(encoding="utf-8").removeprefix("\ufeff"))
    except OSError as error:
        raise ValueError(f"the {kind} {path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"the {kind} {path} are not UTF-8; save them as that") from None
    except ValueError as error:
        raise ValueError(f"the {kind} {path}: {error}") from None


@dataclass(frozen=True, slots=True, eq=False)
class Thesaurus:
    """Synonyms and senses of a user, both maybe empty."""

    synonyms: Synonyms = field(default_factory=dict)
    senses: Senses = field(default_factory=dict)

    @classmethod
    def load(cls, synonyms: str, glosses: str) -> Self:
        """Read two files, an empty path being none; `ValueError` says what is wrong."""
        return cls(
            load(synonyms, "synonyms", read_synonyms) if synonyms else {},
            load(glosses, "glosses", read_glosses) if glosses else {},
        )


def merge(text: AnalysedText, thesaurus: Thesaurus, closeness: float) -> AnalysedText:
    """Make words of one meaning one term: that of the most frequent of them.

    A word with senses has the one whose gloss overlaps most with the words around it and their glosses. Two words are
    one if their senses have the same name, or if the synonyms say that the two (words or names of senses) are closer
    than `closeness`; what is the same as a third is the same. A word is what the dictionary cuts, in any form that has
    its stem.

    Cost: O(words), and for each word with senses O(words around it x gloss^2), at most 100 of them and 50 words.
    Source: S. Banerjee, T. Pedersen, Extended gloss overlaps as a measure of semantic relatedness, 2003: a common
        sequence of n words counts n^2.
    Differs: glosses of related senses (more general, parts) are not looked at; a user's file has none. A word without
        a gloss counts as its own. A tie is decided by the order of the file.
    """
    if not thesaurus.synonyms and not thesaurus.senses:
        return text
    close, glosses = _stemmed(thesaurus, text.language)
    meaning = {term: _sense(text, term, glosses) if term in glosses else term for term in text.counts}
    terms_of: dict[str, list[str]] = {}
    for term, sense in meaning.items():
        terms_of.setdefault(sense, []).append(term)
    one: dict[str, str] = {}
    for sense in terms_of:
        if sense in one:
            continue
        group = [sense]
        one[sense] = ""
        for member in group:  # grows
            for other, how_close in close.get(member, ()):
                if how_close > closeness and other in terms_of and other not in one:
                    one[other] = ""
                    group.append(other)
        kept = max((term for member in group for term in terms_of[member]), key=lambda term: text.counts[term])
        one.update(dict.fromkeys(group, kept))
    return replace(text, terms=tuple(one[meaning[term]] if term in meaning else term for term in text.terms))


def overlap(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the relatedness of two glosses: the sum of the squared common runs.

    The longest run is taken out of both, then the longest of what is left.

    >>> overlap("a large round fruit".split(), "fruit of a large tree".split())
    5
    """
    left: list[object] = list(first)
    right: list[object] = list(second)
    total = 0
    while (run := SequenceMatcher(None, left, right, autojunk=False).find_longest_match()).size:
        total += run.size**2
        left[run.a : run.a + run.size] = [(0, total)]
        right[run.b : run.b + run.size] = [(1, total)]
    return total


_Close = dict[str, list[tuple[str, float]]]
_Glosses = dict[str, dict[str, list[str]]]


@lru_cache(maxsize=8)
def _stemmed(thesaurus: Thesaurus, language: str) -> tuple[_Close, _Glosses]:
    stem = stemmer(language)

    def key(word: str) -> str:
        return stem(fold(word))

    close: _Close = {}
    for words, closeness in thesaurus.synonyms.items():
        first, second = map(key, words)
        close.setdefault(first, []).append((second, closeness))
        close.setdefault(second, []).append((first, closeness))
    glosses = {
        key(word): {
            key(name): analyse("", gloss, language).telling_terms()[:_MOST_GLOSS_WORDS]
            for name, gloss in senses.items()
        }
        for word, senses in thesaurus.senses.items()
    }
    return close, glosses


def _sense(text: AnalysedText, term: str, glosses: _Glosses) -> str:
    context: dict[str, None] = {}
    for sentence in text.sentences:
        around = text.telling_terms(sentence.first, sentence.last)
        if term in around:
            context.update(dict.fromkeys(around))
    context.pop(term, None)
    around = list(context)[:_MOST_CONTEXT_WORDS]

    def score(name: str) -> int:
        gloss = glosses[term][name]
        return sum(max(overlap(gloss, other) for other in (*glosses.get(word, {}).values(), [word])) for word in around)

    return max(glosses[term], key=score)
