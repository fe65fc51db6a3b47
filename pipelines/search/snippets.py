"""Snippets: the part of a text that has most of a query, with its words marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final

from ..text.words import HALF_WIDTH_PAIR, fold
from .passages import Occurrence, find_places, sentence_ends, sentence_of
from .query import QueryTerm
from .records import Span

MAX_CHARS: Final = 20_000
SNIPPET_CHARS: Final = 200
TITLE_CHARS: Final = 300
_SPACES: Final = re.compile(r"\s+")
_BEFORE: Final = 30
"""Characters before the first mark of a sentence that is too long."""
_LONGEST_WORD: Final = 30
_FOLDED_TOGETHER: Final = re.compile(f"{HALF_WIDTH_PAIR.pattern}|.", re.DOTALL)
_MORE: Final = "…"
_WORD: Final = re.compile(r"[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def snippet(
    text: str, terms: Sequence[QueryTerm], weights: Sequence[float], language: str, most_chars: int = SNIPPET_CHARS
) -> list[Span]:
    """Return the part of a text that shows best why it was found.

    It begins at the sentence from which about `most_chars` have most of the query's words, by weight, or in a longer
    one near its first word. Line feeds are blanks, and "…" stands where something is left out; without any of the words
    it is the text's beginning. Cost: O(characters), of which 20,000 are read; 0.3 ms for 1,000.
    """
    read = _SPACES.sub(" ", unicodedata.normalize("NFC", text[:MAX_CHARS])) if text else ""
    folded, origin = _folded(read)
    places = find_places(folded, terms, language)
    start, end = (origin[at] for at in _best_part(folded, places, weights, most_chars))
    end = start + _at_border(read[start:], end - start) if end < len(read) else end
    spans = _spans(read, _marked(places, terms, origin), start, end)
    if start:
        spans.insert(0, Span(_MORE, is_match=False))
    if end < len(read) or len(text) > MAX_CHARS:
        spans.append(Span(_MORE, is_match=False))
    return spans


def mark(text: str, terms: Sequence[QueryTerm], language: str) -> list[Span]:
    """Return a short text such as a title with the words of a query marked.

    >>> from .query import read_query
    >>> from .records import SearchQuery
    >>> mark("New Bridges", read_query(SearchQuery("bridge")).terms, "en")
    [Span(text='New ', is_match=False), Span(text='Bridges', is_match=True)]
    """
    read = unicodedata.normalize("NFC", text[:TITLE_CHARS])
    folded, origin = _folded(read)
    spans = _spans(read, _marked(find_places(folded, terms, language), terms, origin), 0, len(read))
    return [*spans, Span(_MORE, is_match=False)] if len(text) > TITLE_CHARS else spans


def marker(text: str, terms: Sequence[QueryTerm], language: str) -> Callable[[str], list[Span]]:
    """Return a function that marks the words of a query in pieces of a text.

    A word that stands nowhere in the text is marked by its parts, as in snippets. Cost: O(characters) of the pieces.
    """
    folded, _ = _folded(unicodedata.normalize("NFC", text[:MAX_CHARS]))
    marked = _terms_to_mark(find_places(folded, terms, language), terms)

    def spans(piece: str) -> list[Span]:
        read = unicodedata.normalize("NFC", piece)
        folded, origin = _folded(read)
        places = find_places(folded, terms, language)
        found = [(origin[place.start], origin[place.end]) for place in places if place.term in marked]
        return _spans(read, found, 0, len(read))

    return spans


def _folded(text: str) -> tuple[str, Sequence[int]]:
    folded = fold(text)
    if len(folded) == len(text) and not HALF_WIDTH_PAIR.search(text):
        return folded, range(len(text) + 1)
    parts = [(match.start(), fold(match[0])) for match in _FOLDED_TOGETHER.finditer(text)]
    origin = [at for at, part in parts for _ in part]
    return "".join(part for _, part in parts), [*origin, len(text)]


def _best_part(folded: str, places: Sequence[Occurrence], weights: Sequence[float], most_chars: int) -> tuple[int, int]:
    ends = sentence_ends(folded)
    starts = [0, *ends]
    best, most = 0, 0.0
    last_begin = -1
    for first, place in enumerate(places):
        begin = starts[sentence_of(ends, place.start)]
        if place.start - begin > most_chars // 2:
            begin = max(0, place.start - _BEFORE)
            while 0 < begin < place.start and _WORD.match(folded[begin - 1]) and _WORD.match(folded[begin]):
                begin += 1  # no word is cut
        if begin == last_begin:
            continue
        last_begin = begin
        held = {each.term for each in takewhile(lambda each: each.end <= begin + most_chars, places[first:])}  # noqa: B023
        if (weight := sum(weights[term] for term in held)) > most:
            best, most = begin, weight
    while folded[best : best + 1] == " ":
        best += 1
    return best, min(len(folded), best + most_chars)


def _at_border(text: str, end: int) -> int:
    sentence = max((each for each in sentence_ends(text[:end]) if each > end // 2), default=0)
    if sentence:
        return sentence
    border = end
    while border > max(0, end - _LONGEST_WORD) and _WORD.match(text[border - 1]) and _WORD.match(text[border]):
        border -= 1
    return border if border > end - _LONGEST_WORD else end


def _marked(places: Sequence[Occurrence], terms: Sequence[QueryTerm], origin: Sequence[int]) -> list[tuple[int, int]]:
    marked = _terms_to_mark(places, terms)
    return [(origin[place.start], origin[place.end]) for place in places if place.term in marked]


def _terms_to_mark(places: Sequence[Occurrence], terms: Sequence[QueryTerm]) -> set[int]:
    words = {number for number, term in enumerate(terms) if term.is_word} or set(range(len(terms)))
    matched = {place.term for place in places}
    missed = [terms[number] for number in words - matched]
    return words | {
        number
        for number in matched - words
        if any(word.start <= terms[number].start and terms[number].end <= word.end for word in missed)
    }


def _spans(text: str, marks: Sequence[tuple[int, int]], start: int, end: int) -> list[Span]:
    merged: list[tuple[int, int]] = []
    for mark_start, mark_end in marks:
        first, last = max(mark_start, start), min(mark_end, end)
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        elif first < last:
            merged.append((first, last))
    spans: list[Span] = []
    at = start
    for first, last in merged:
        if first > at:
            spans.append(Span(text[at:first], is_match=False))
        spans.append(Span(text[first:last], is_match=True))
        at = last
    if at < end:
        spans.append(Span(text[at:end], is_match=False))
    return spans
