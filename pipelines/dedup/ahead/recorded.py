"""Find duplicates in order of arrival, using comparisons made in advance.

Most of the time goes into signatures and comparisons, whose results do not depend on the order: here they are looked up
among those that many processes made in advance. What nobody guessed (see `speculation`) is computed on demand: guesses
change the time, never the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import LRUCache

from ...records import Signature
from ..boilerplate import BoilerplateLines, TextLines, leave_out
from ..shape import Comparison, Method

D = TypeVar("D")

_PREPARED = 256


class Reference(NamedTuple):
    """A document by its number, and the lines left out of it."""

    number: int
    left_out: tuple[int, ...] = ()


class _Recorded(Generic[D]):
    """Comparisons of a method, looked up or else made; `compared_now` counts these."""

    def __init__(self, method: Method, compared: Callable[[D, D], Comparison | None]) -> None:
        self.method = method
        self.compared_now = 0
        self._compared = compared
        self._prepared: LRUCache[D, Any] = LRUCache(_PREPARED)

    def _compare(self, new: D, stored: D) -> Comparison:
        comparison = self._compared(new, stored)
        if comparison is None:
            self.compared_now += 1
            comparison = self.method.compare(self._made(new), self._made(stored))
        return comparison

    def _rest_share(self, new: D, stored: D, third: D) -> float:
        return self.method.rest_share(self._made(new), self._made(stored), self._made(third))

    def _made(self, of: D) -> Any:
        if of not in self._prepared:
            self._prepared[of] = self.method.prepare(*self._text(of))
        return self._prepared[of]

    def _text(self, of: D) -> tuple[str, str]:
        raise NotImplementedError


class Recorded(_Recorded[Reference]):
    """Answers of a method on documents by reference; `signed_now` counts as well."""

    def __init__(
        self,
        method: Method,
        text: Callable[[int], tuple[str, str]],
        signed: Callable[[Reference], Signature | None],
        compared: Callable[[Reference, Reference], Comparison | None],
    ) -> None:
        super().__init__(method, compared)
        self.signed_now = 0
        self._whole_text = text
        self._signed = signed

    def by_reference(self) -> Method:
        return replace(
            self.method,
            sign=self._sign,
            prepare=lambda _, of: of,
            compare=self._compare,
            rest_share=self._rest_share,
        )

    def _sign(self, _: str, of: Any) -> Signature:
        signature = self._signed(of)
        if signature is None:
            self.signed_now += 1
            signature = self.method.sign(*self._text(of))
        return signature

    def _text(self, of: Reference) -> tuple[str, str]:
        title, text = self._whole_text(of.number)
        return title, leave_out(text, of.left_out)


class RecordedLines:
    def __init__(self, lines: Callable[[int], TextLines]) -> None:
        self._lines = lines
        self._counts = BoilerplateLines()

    def without(self, of: Reference) -> Reference:
        return Reference(of.number, self._counts.left_out(self._lines(of.number)))

    def learn(self, of: Reference) -> None:
        self._counts.count(self._lines(of.number))


class KeyedText(NamedTuple):
    key: int
    title: str
    text: str

    def __hash__(self) -> int:
        return self.key


def text_key(title: str, text: str) -> int:
    """Return a stable hash of a title and a text."""
    data = f"{len(title)} {title}{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


class RecordedTexts(_Recorded[KeyedText]):
    def by_text(self) -> Method:
        return replace(
            self.method,
            prepare=lambda title, text: KeyedText(text_key(title, text), title, text),
            compare=self._compare,
            rest_share=self._rest_share,
        )

    def _text(self, of: KeyedText) -> tuple[str, str]:
        return of.title, of.text
