"""The page of an article's keywords and of the sentences in which each stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from pipelines.text.analysis import AnalysedText, analyse
from pipelines.text.frequencies import shipped
from pipelines.text.keywords import network

from ..frame.visit import Visit
from .article import find

_KEYWORDS, _SENTENCES = 12, 6
_MOST = 20_000
"""Characters of the article that are analysed."""
_MOST_SENTENCE = 600

Parts = Sequence[tuple[str, bool]]
"""A sentence in pieces; true for those that are the keyword."""


@dataclass(frozen=True, slots=True)
class _InContext:
    """A keyword and the first sentences with it; `count` is the number of all."""

    word: str
    count: int
    sentences: Sequence[Parts]


def show(visit: Visit) -> Response:
    """Show the keywords that are stored, or else those that hold the text together."""
    item = find(visit).item
    text = analyse(item.title, item.text[:_MOST], item.language)
    words = item.keywords or [word for word, _ in network.extract(text, shipped())]
    found = (_in_context(word, text) for word in words[:_KEYWORDS])
    return visit.page("words.html", item=item, keywords=[each for each in found if each.count])


def _in_context(word: str, text: AnalysedText) -> _InContext:
    wanted = analyse("", word, text.language).terms
    sentences = []
    for one in text.sentences:
        spans = list(_spans(wanted, text, one.first, one.last)) if wanted else []
        if spans:
            sentences.append(list(_cut(text.text, one.start, min(one.end, one.start + _MOST_SENTENCE), spans)))
    return _InContext(word, len(sentences), sentences[:_SENTENCES])


def _spans(wanted: Sequence[str], text: AnalysedText, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the characters of each place at which all terms follow one another."""
    at = first
    while at + len(wanted) <= last:
        if text.terms[at : at + len(wanted)] == tuple(wanted):
            yield text.starts[at], text.ends[at + len(wanted) - 1]
            at += len(wanted)
        else:
            at += 1


def _cut(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Yield a sentence in pieces.

    >>> list(_cut("the port is full", 0, 16, [(4, 8)]))
    [('the ', False), ('port', True), (' is full', False)]
    """
    at = start
    for first, last in spans:
        if last > end:
            break
        yield text[at:first], False
        yield text[first:last], True
        at = last
    yield text[at:end], False
