"""Duplicates in a stream of documents, each compared with those before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any, NamedTuple, Protocol, TypeVar

from cachetools import LRUCache

from db.records.evidence import RELATED, REPEATING, SAME, mirrored

from ..records import Signature
from .boilerplate import BoilerplateLines
from .index import FeatureIndex, IndexHit
from .shape import Comparison, Method

T = TypeVar("T")

_PREPARED = 512  # texts kept as they are compared
_MOST_PAIRS = 64  # pairs named for one document; a story may have thousands of copies
_FLUSH = 1_000  # documents after which what was written can be seen
_MOST_MEMBERS = 10  # texts of one story that a document is compared with


class Pair(NamedTuple):
    """Relation of a document to an earlier one.

    Attributes:
        earlier: key of the one that came before.
        similarity: in [0, 1].
        kind: see `Comparison`, from the view of the later one.
    """

    earlier: int
    similarity: float
    kind: str


class _Link(NamedTuple):
    """The same by the number of an indexed text."""

    number: int
    similarity: float
    kind: str


class Texts(Protocol):
    """Store of the texts that may be compared again."""

    def append(self, text: tuple[str, Any]) -> object:
        """Keep title and text of the next number (0, 1, 2 ...)."""

    def __getitem__(self, number: int, /) -> tuple[str, Any]:
        """Return title and text."""


class LineCounts(Protocol):
    """Counts of lines that come back in several stories, see `BoilerplateLines`."""

    def without(self, text: Any, /) -> Any:
        """Return a text without the lines that are known."""

    def learn(self, text: Any, /) -> None:
        """Count the lines of a new story."""


class Finder:
    """Finder of the earlier documents that a document repeats.

    Args:
        method: how texts are compared.
        threshold: similarity from which a text is a duplicate, in [0, 1].
        texts: keeps the texts that later ones may be compared with.
        memory: bytes that the index may take, see `FeatureIndex`.
        lines: knows the lines that come back; none yet when left out.

    Memory: the index, 100 bytes for each document, and what `texts` takes.
    """

    def __init__(
        self,
        method: Method,
        threshold: float,
        texts: Texts,
        memory: int | None = None,
        lines: LineCounts | None = None,
    ) -> None:
        """Start with no documents."""
        self._method = method
        self._threshold = threshold
        self._texts = texts
        self.index = FeatureIndex(method.index, memory)
        self._lines = BoilerplateLines() if lines is None else lines
        self.compared = 0
        self._exact: dict[int, int] = {}
        self._stories: dict[int, list[int]] = {}
        """Indexed texts of stories of more than one, by the first."""
        self._copies: dict[int, list[Pair]] = {}
        """Documents that are the same as an indexed text, by its number."""
        self._links: dict[int, list[_Link]] = {}
        """Texts that an indexed one is related to, earlier and later, by its number, from its view."""
        self._prepared: LRUCache[int, Any] = LRUCache(_PREPARED)

    def add(self, key: int, title: str, text: Any) -> list[Pair]:
        """Take the next document, as a text or as method, texts and lines know it.

        Returns: what it is related to, the most similar first; of a large story not all.
        Cost:    one signature, one look-up, a comparison for each candidate, see the method.
        """
        whole, text = text, self._lines.without(text)
        signature = self._method.sign(title, text)
        if not signature.exact:
            return []
        equal = self._exact.get(signature.exact)
        if equal is not None:
            pairs = self._pairs([_Link(equal, 1.0, SAME), *self._links.get(equal, ())])
            _keep(self._copies, equal, Pair(key, 1.0, SAME))
            return pairs
        prepared = self._method.prepare(title, text)
        links, best = self._compared(prepared, self._candidates(signature))
        pairs = self._pairs(links)
        if best is None:
            self._lines.learn(whole)
        elif not best[1].has_own_wording():
            # only what brings wording of its own is indexed beside originals, because later copies may be made of it,
            # and parts, because what repeats the whole need not repeat the part
            _keep(self._copies, best[0].text, Pair(key, best[1].similarity, best[1].kind))
            return pairs
        story = None if best is None else best[0].story
        number = self.index.add(key, self.index.fresh(signature.features, story), signature.length, story)
        if story is not None:
            self._stories.setdefault(story, [story]).append(number)
        self._texts.append((title, whole))
        self._prepared[number] = prepared
        self._exact[signature.exact] = number
        if links:
            self._links[number] = links[:_MOST_PAIRS]
        for link in links:
            _keep(self._links, link.number, _Link(number, link.similarity, mirrored(link.kind)))
        return pairs

    def _candidates(self, signature: Signature) -> list[IndexHit]:
        """Find the texts to compare with, and some others of their stories."""
        found: dict[int, IndexHit] = {}
        for candidate in self.index.candidates(signature.features, signature.length):
            found.setdefault(candidate.text, candidate)
            for text in self._stories.get(candidate.story, ())[:_MOST_MEMBERS]:
                found.setdefault(text, candidate._replace(text=text, own=0))
        return list(found.values())

    def _compared(
        self, prepared: Any, candidates: Sequence[IndexHit]
    ) -> tuple[list[_Link], tuple[IndexHit, Comparison] | None]:
        """Compare a document with candidates; return links and the best text."""
        links: list[_Link] = []
        best = None
        for candidate in candidates:
            comparison = self._method.compare(prepared, self._stored(candidate.text)).at(self._threshold)
            self.compared += 1
            if comparison.kind in REPEATING and (best is None or comparison.standing > best[1].standing):
                best = candidate, comparison
            if comparison.kind in REPEATING or comparison.kind in RELATED:
                links.append(_Link(candidate.text, comparison.similarity, comparison.kind))
        return links, best

    def _pairs(self, links: Iterable[_Link]) -> list[Pair]:
        """Build pairs of links; an indexed text stands for its copies."""
        pairs: list[Pair] = []
        for link in links:
            pairs.append(Pair(self.index.key(link.number), link.similarity, link.kind))
            if link.kind in REPEATING:
                for copy in self._copies.get(link.number, ()):
                    pairs.append(Pair(copy.earlier, min(copy.similarity, link.similarity), link.kind))
        pairs.sort(key=lambda pair: -pair.similarity)
        return pairs[:_MOST_PAIRS]

    def _stored(self, number: int) -> Any:
        """Prepare a stored text."""
        prepared = self._prepared.get(number)
        if prepared is None:
            title, text = self._texts[number]
            prepared = self._prepared[number] = self._method.prepare(title, self._lines.without(text))
        return prepared


def _keep(lists: dict[int, list[T]], number: int, item: T) -> None:
    """Add to a list, which stays short."""
    items = lists.setdefault(number, [])
    if len(items) < _MOST_PAIRS:
        items.append(item)


class Counts(NamedTuple):
    """Counts of documents, of the pairs written, and of duplicates."""

    documents: int
    pairs: int
    duplicates: int


def write_pairs(
    finder: Finder, documents: Iterable[tuple[str, str, Any]], out: IO[str], kinds: frozenset[str]
) -> Counts:
    """Write the pairs of documents as they are found.

    Args:
        finder: to which nothing was added.
        documents: id, title and text of each, in order of arrival.
        out: gets lines of tabs: id of the earlier document, id of the later one, similarity, kind from the view of the
            later one.
        kinds: which pairs are written.
    """
    count = pairs = duplicates = 0
    ids: list[str] = []
    for key, title, text in documents:
        found = finder.add(count, title, text)
        ids.append(key)
        count += 1
        duplicates += any(pair.kind in REPEATING for pair in found)
        for pair in found:
            if pair.kind in kinds:
                pairs += 1
                out.write(f"{ids[pair.earlier]}\t{key}\t{pair.similarity:.4f}\t{pair.kind}\n")
        if count % _FLUSH == 0:
            out.flush()
    out.flush()
    return Counts(count, pairs, duplicates)
