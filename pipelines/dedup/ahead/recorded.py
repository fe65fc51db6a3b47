"""Find duplicates in order of arrival, using comparisons made in advance.

Most of the time goes into signatures and comparisons, whose results do not depend on the order: here they are looked up
among those that many processes made in advance. What nobody guessed (see `speculation`) is computed on demand: guesses
change the time, never the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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


@dataclass
class Recorded:
    """Answers of a method, looked up or else computed; `*_now` count the latter."""

    method: Method
    text: Callable[[int], tuple[str, str]]
    signed: Callable[[Reference], Signature | None]
    compared: Callable[[Reference, Reference], Comparison | None]
    signed_now: int = 0
    compared_now: int = 0

    def __post_init__(self) -> None:
        self._prepared: LRUCache[Reference, Any] = LRUCache(_PREPARED)

    def by_reference(self) -> Method:
        return replace(
            self.method,
            sign=self._sign,
            prepare=lambda _, of: of,
            compare=self._compare,
            rest_share=self._rest_share,
        )

    def _sign(self, _: str, of: Any) -> Signature:
        signature = self.signed(of)
        if signature is None:
            self.signed_now += 1
            title, text = self.text(of.number)
            signature = self.method.sign(title, leave_out(text, of.left_out))
        return signature

    def _compare(self, new: Reference, stored: Reference) -> Comparison:
        comparison = self.compared(new, stored)
        if comparison is None:
            self.compared_now += 1
            comparison = self.method.compare(self._made(new), self._made(stored))
        return comparison

    def _rest_share(self, new: Reference, stored: Reference, third: Reference) -> float:
        return self.method.rest_share(self._made(new), self._made(stored), self._made(third))

    def _made(self, of: Reference) -> Any:
        if of not in self._prepared:
            title, text = self.text(of.number)
            self._prepared[of] = self.method.prepare(title, leave_out(text, of.left_out))
        return self._prepared[of]


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


@dataclass
class RecordedTexts:
    method: Method
    compared: Callable[[int, int], Comparison | None]
    compared_now: int = 0

    def __post_init__(self) -> None:
        self._prepared: LRUCache[int, Any] = LRUCache(_PREPARED)

    def by_text(self) -> Method:
        return replace(
            self.method,
            prepare=lambda title, text: _PreparedText(text_key(title, text), title, text),
            compare=self._compare,
            rest_share=self._rest_share,
        )

    def _rest_share(self, new: _PreparedText, stored: _PreparedText, third: _PreparedText) -> float:
        return self.method.rest_share(self._made(new), self._made(stored), self._made(third))

    def _compare(self, new: _PreparedText, stored: _PreparedText) -> Comparison:
        comparison = self.compared(new.key, stored.key)
        if comparison is None:
            self.compared_now += 1
            comparison = self.method.compare(self._made(new), self._made(stored))
        return comparison

    def _made(self, one: _PreparedText) -> Any:
        if one.key not in self._prepared:
            self._prepared[one.key] = self.method.prepare(one.title, one.text)
        return self._prepared[one.key]
