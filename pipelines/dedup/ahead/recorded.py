"""Find duplicates in order of arrival, using comparisons made in advance.

Most of the time goes into signatures and comparisons, whose results do not depend on the order: here they are looked up
among those that many processes made in advance. What nobody guessed (see `speculation`) is computed on demand: guesses
change the time, never the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from cachetools import LRUCache

from ...records import Signature
from ..boilerplate import BoilerplateLines, TextLines, leave_out
from ..shape import Comparison, Method

_PREPARED = 256


class Reference(NamedTuple):
    """A document by its number, and the lines left out of it."""

    number: int
    left_out: tuple[int, ...] = ()


class _Comparisons:
    """Comparisons of a method, looked up, or computed now, as `compared_now` counts."""

    def __init__(self, method: Method, compared: Callable[[Any, Any], Comparison | None]) -> None:
        self.method = method
        self.compared_now = 0
        self._compared = compared
        self._prepared: LRUCache[Any, Any] = LRUCache(_PREPARED)

    def _looked_up(self, prepare: Callable[[str, Any], Any]) -> Method:
        return replace(self.method, prepare=prepare, compare=self._compare, rest_share=self._rest_share)

    def _text_of(self, document: Any) -> tuple[str, str]:
        raise NotImplementedError

    def _compare(self, new: Any, stored: Any) -> Comparison:
        comparison = self._compared(new, stored)
        if comparison is None:
            self.compared_now += 1
            comparison = self.method.compare(self._made(new), self._made(stored))
        return comparison

    def _rest_share(self, new: Any, stored: Any, third: Any) -> float:
        return self.method.rest_share(self._made(new), self._made(stored), self._made(third))

    def _made(self, document: Any) -> Any:
        if document not in self._prepared:
            self._prepared[document] = self.method.prepare(*self._text_of(document))
        return self._prepared[document]


class Recorded(_Comparisons):
    """Answers about documents by reference.

    `signed_now` counts signatures that were not made ahead.
    """

    def __init__(
        self,
        method: Method,
        text: Callable[[int], tuple[str, str]],
        signed: Callable[[Reference], Signature | None],
        compared: Callable[[Reference, Reference], Comparison | None],
    ) -> None:
        super().__init__(method, compared)
        self.signed_now = 0
        self._text = text
        self._signed = signed

    def by_reference(self) -> Method:
        return replace(self._looked_up(lambda _, of: of), sign=self._sign)

    def _sign(self, _: str, of: Any) -> Signature:
        signature = self._signed(of)
        if signature is None:
            self.signed_now += 1
            signature = self.method.sign(*self._text_of(of))
        return signature

    def _text_of(self, document: Reference) -> tuple[str, str]:
        title, text = self._text(document.number)
        return title, leave_out(text, document.left_out)


class RecordedLines:
    def __init__(self, lines: Callable[[int], TextLines]) -> None:
        self._lines = lines
        self._counts = BoilerplateLines()

    def without(self, of: Reference) -> Reference:
        return Reference(of.number, self._counts.left_out(self._lines(of.number)))

    def learn(self, of: Reference) -> None:
        self._counts.count(self._lines(of.number))


class _PreparedText(NamedTuple):
    key: int
    title: str
    text: str


def text_key(title: str, text: str) -> int:
    """Return a stable hash of a title and a text."""
    data = f"{len(title)} {title}{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


class RecordedTexts(_Comparisons):
    """Answers about texts, which are known by their `text_key`."""

    def __init__(self, method: Method, compared: Callable[[int, int], Comparison | None]) -> None:
        super().__init__(method, lambda new, stored: compared(new.key, stored.key))

    def by_text(self) -> Method:
        return self._looked_up(lambda title, text: _PreparedText(text_key(title, text), title, text))

    def _text_of(self, document: _PreparedText) -> tuple[str, str]:
        return document.title, document.text
