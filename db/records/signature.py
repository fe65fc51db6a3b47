"""Signatures of texts, and their index in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Signed(NamedTuple):
    number: int
    article_id: int
    cluster: int
    day: int
    length: int
    features: bytes
    fresh: bytes | None


class SignedText(NamedTuple):
    """An article to sign, the ISO time of its text, and its cluster."""

    article_id: int
    cluster_id: int
    updated: str
    title: str
    text: str


class MemoryIndex(Protocol):
    """The signatures in memory. Used by the database thread only.

    Attributes:
        form: how signatures are made.
        known: number of the newest row known to stand in the table, 0 for none.
        window: days that a text is looked up for; None for ever.
    """

    form: str
    known: int
    window: int | None

    def clear(self) -> None:
        """Forget everything."""

    def restore(self) -> bool:
        """Load the saved rows up to `known`; False if there were none."""

    def agree(self, numbers: Sequence[int], articles: Sequence[int]) -> Sequence[int] | None:
        """Set the articles that rows have now, 0 where the text is gone.

        Returns: articles of clusters that lost a row, for `extend`; None when these are not the rows that were saved.
        """

    def extend(self, rows: Sequence[Signed]) -> None:
        """Read rows again that look up more than before."""

    def read(self, rows: Sequence[Signed]) -> None:
        """Read the rows after `known`; rows of `post` not among them were never stored."""

    def candidates(self, day: int, length: int, features: bytes) -> Sequence[int]:
        """Return articles that a new text may repeat, the most promising first."""

    def post(self, article_id: int, cluster: int | None, day: int, length: int, features: bytes) -> Signed:
        """Add a text, to a cluster or as a new one; returns the row to write."""


class TextFeatures(Protocol):
    """A signed text; length and features as in `Signed`."""

    @property
    def length(self) -> int:
        """See `Signed`."""

    @property
    def features(self) -> bytes:
        """See `Signed.features`."""


Sign = Callable[[str, str], TextFeatures]
"""(title, text) -> features."""


@dataclass(frozen=True, slots=True)
class Reader:
    index: MemoryIndex
    sign: Sign
    progress: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SignatureDifferences:
    """Differences between the signatures and the texts, by identifiers of articles.

    `missing` ones have no signature, `orphans` no text, `wrong` ones another text. `form`: all are of another form.
    """

    signatures: int
    missing: Sequence[int]
    orphans: Sequence[int]
    wrong: Sequence[int]
    form: bool

    def __bool__(self) -> bool:
        return bool(self.missing or self.orphans or self.wrong or self.form)
