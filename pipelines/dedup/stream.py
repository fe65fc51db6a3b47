"""Duplicates in a stream of documents, each compared with earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any, NamedTuple, Protocol, TypeVar

from cachetools import LRUCache

from db.records.evidence import RELATED, REPEATING, SAME, TEMPLATE, mirrored

from ..records import Signature
from .boilerplate import AS_FITTED, BoilerplateLines, Bystanders, FrameParams
from .index import FeatureIndex, IndexHit
from .shape import Comparison, Method

T = TypeVar("T")

_PREPARED = 512  # texts kept as they are compared
_MOST_PAIRS = 64  # pairs listed for one document; a story may have thousands of copies
_FLUSH = 1_000  # documents after which what was written can be seen
_MOST_MEMBERS = 10  # texts of one story that a document is compared with


class Pair(NamedTuple):
    """Relation of a document to an earlier one, by its key, from the later one's view.

    `link` are the indexed texts that tie the two, if later texts may show that these only share a frame.
    """

    earlier: int
    similarity: float
    kind: str
    link: tuple[int, int] | None = None


class _Link(NamedTuple):
    number: int
    similarity: float
    kind: str


class Texts(Protocol):
    """Store of the texts that may be compared again."""

    def append(self, text: tuple[str, Any]) -> object:
        """Store title and text under the next number (0, 1, 2 ...)."""

    def __getitem__(self, number: int, /) -> tuple[str, Any]:
        """Return title and text."""


class LineCounts(Protocol):
    """Counts of recurring lines, see `BoilerplateLines`."""

    def without(self, text: Any, /) -> Any:
        """Return a text without its known boilerplate lines."""

    def learn(self, text: Any, /) -> None:
        """Count the lines of a new story."""


class Finder:
    """Finds the earlier documents that a document repeats.

    Memory: the index, 100 bytes for each document, and what `texts` takes; `memory` is the index's limit in bytes.
    """

    def __init__(
        self,
        method: Method,
        threshold: float,
        texts: Texts,
        memory: int | None = None,
        lines: LineCounts | None = None,
        *,
        frames: FrameParams = AS_FITTED,
    ) -> None:
        self._frames = frames
        self._method = method
        self._threshold = threshold
        self._texts = texts
        self.index = FeatureIndex(method.index, memory)
        self._lines = BoilerplateLines() if lines is None else lines
        self.compared = 0
        self.revoked: set[tuple[int, int]] = set()
        """Links of pairs that turned out to share but a frame."""
        self._exact: dict[int, int] = {}
        self._stories: dict[int, list[int]] = {}
        """Indexed texts of stories of more than one, by the first."""
        self._copies: dict[int, list[Pair]] = {}
        """Documents that are the same as an indexed text, by its number."""
        self._links: dict[int, list[_Link]] = {}
        """Texts that an indexed one is related to, earlier and later, by its number, from its view."""
        self._prepared: LRUCache[int, Any] = LRUCache(_PREPARED)

    def add(self, key: int, title: str, text: Any) -> list[Pair]:
        """Add the next document, in the form that method, texts and lines take.

        Returns the documents it is related to, most similar first; of a large story not all.
        """
        whole, text = text, self._lines.without(text)
        signature = self._method.sign(title, text)
        if not signature.exact:
            return []
        equal = self._exact.get(signature.exact)
        if equal is not None:
            pairs = self._pairs(equal, [_Link(equal, 1.0, SAME), *self._links.get(equal, ())])
            _keep(self._copies, equal, Pair(key, 1.0, SAME))
            return pairs
        prepared = self._method.prepare(title, text)
        links, best = self._compared(prepared, self._candidates(signature))
        is_indexed = best is None or best[1].has_own_wording()
        pairs = self._pairs(len(self.index) if best is None or is_indexed else best[0].text, links)
        if best is None:
            self._lines.learn(whole)
        elif not is_indexed:
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
        candidates: dict[int, IndexHit] = {}
        for candidate in self.index.candidates(signature.features, signature.length):
            candidates.setdefault(candidate.text, candidate)
            for text in self._stories.get(candidate.story, ())[:_MOST_MEMBERS]:
                candidates.setdefault(text, candidate._replace(text=text, own=0))
        return list(candidates.values())

    def _compared(
        self, prepared: Any, candidates: Sequence[IndexHit]
    ) -> tuple[list[_Link], tuple[IndexHit, Comparison] | None]:
        links: list[_Link] = []
        best = None
        stored = [self._stored(candidate.text) for candidate in candidates]
        stories = [(candidate.story, candidate.text == candidate.story) for candidate in candidates]
        beside = Bystanders(self._method, self._threshold, prepared, stored, stories, params=self._frames)
        comparisons = beside.of_new()
        self.compared += len(comparisons)
        for candidate, comparison in zip(candidates, comparisons, strict=True):
            if comparison.kind in REPEATING and (best is None or comparison.standing > best[1].standing):
                best = candidate, comparison
            if comparison.kind in REPEATING or comparison.kind in RELATED:
                links.append(_Link(candidate.text, comparison.similarity, comparison.kind))
        self._revise(beside, [candidate.text for candidate in candidates])
        return links, best

    def _pairs(self, number: int, links: Iterable[_Link]) -> list[Pair]:
        pairs: list[Pair] = []
        for link in links:
            doubtful = (number, link.number) if link.similarity < self._frames.sure and link.kind in REPEATING else None
            tied = None if doubtful is None else (max(doubtful), min(doubtful))
            pairs.append(Pair(self.index.key(link.number), link.similarity, link.kind, tied))
            if link.kind in REPEATING:
                for copy in self._copies.get(link.number, ()):
                    pairs.append(Pair(copy.earlier, min(copy.similarity, link.similarity), link.kind, tied))
        pairs.sort(key=lambda pair: -pair.similarity)
        return pairs[:_MOST_PAIRS]

    def _revise(self, beside: Bystanders, texts: Sequence[int]) -> None:
        """Revoke links between earlier texts if the new one reveals a shared frame."""
        places = {text: place for place, text in enumerate(texts)}
        for late in texts:
            for link in self._links.get(late, ()):
                early = link.number
                doubtful = (
                    early < late and early in places and link.kind in REPEATING and link.similarity < self._frames.sure
                )
                if doubtful and beside.is_frame(places[late], places[early]):
                    self._revoke(late, early)

    def _revoke(self, late: int, early: int) -> None:
        self.revoked.add((late, early))
        for one, other in ((late, early), (early, late)):
            self._links[one] = [
                link._replace(kind=TEMPLATE) if link.number == other else link for link in self._links[one]
            ]
        story = self.index.story(early)
        if story == self.index.story(late):
            self._divide(story)

    def _divide(self, story: int) -> None:
        members = self._stories[story]
        if len(members) > _MOST_PAIRS:
            return  # not all that ties them is known
        rest = set(members)
        while rest:
            head = min(rest)
            rest.discard(head)
            together = [head]
            for text in together:  # grows
                tied = {link.number for link in self._links.get(text, ()) if link.kind in REPEATING} & rest
                rest -= tied
                together += sorted(tied)
            if head != story:
                for text in together:
                    title, whole = self._texts[text]
                    self.index.move(text, head, self._method.sign(title, self._lines.without(whole)).features)
            self._stories[head] = sorted(together)

    def _stored(self, number: int) -> Any:
        prepared = self._prepared.get(number)
        if prepared is None:
            title, text = self._texts[number]
            prepared = self._prepared[number] = self._method.prepare(title, self._lines.without(text))
        return prepared


def _keep(lists: dict[int, list[T]], number: int, item: T) -> None:
    items = lists.setdefault(number, [])
    if len(items) < _MOST_PAIRS:
        items.append(item)


class Counts(NamedTuple):
    documents: int
    pairs: int
    duplicates: int


def write_pairs(
    finder: Finder, documents: Iterable[tuple[str, str, Any]], out: IO[str], kinds: frozenset[str]
) -> Counts:
    """Write the pairs of documents as they are found, doubtful ones at the end.

    Later documents may show that two only share a frame. Lines are tab-separated: id of the earlier document, of the
    later one, similarity, kind from the view of the later one.

    Memory: 150 bytes for each pair of less than `SURE`, of which a stream has a few in a hundred documents.
    """
    count = pairs = duplicates = 0
    ids: list[str] = []
    doubtful: list[tuple[int, bool, Pair]] = []
    for key, title, text in documents:
        document_pairs = finder.add(count, title, text)
        ids.append(key)
        is_sure = any(pair.kind in REPEATING and pair.link is None for pair in document_pairs)
        duplicates += is_sure
        for pair in document_pairs:
            if pair.link is not None:
                doubtful.append((count, is_sure, pair))
            elif pair.kind in kinds:
                pairs += 1
                out.write(_line(ids, count, pair))
        count += 1
        if count % _FLUSH == 0:
            out.flush()
    repeating = set()
    for later, is_sure, pair in doubtful:
        revoked = pair.link in finder.revoked
        if not (revoked or is_sure):
            repeating.add(later)
        final = pair._replace(kind=TEMPLATE) if revoked else pair
        if final.kind in kinds:
            pairs += 1
            out.write(_line(ids, later, final))
    out.flush()
    return Counts(count, pairs, duplicates + len(repeating))


def _line(ids: Sequence[str], later: int, pair: Pair) -> str:
    return f"{ids[pair.earlier]}\t{ids[later]}\t{pair.similarity:.4f}\t{pair.kind}\n"
