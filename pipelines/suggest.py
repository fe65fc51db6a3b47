"""Suggest selectors for a host: the shortest that find what was found by itself.

Pages are looked at three times. First they are read as in a crawl, and a model of the site is learned from them. Then
each names selectors that lead to the place of its body, by the path that pages of its template have in common, and to
title, time and authors. The selectors named most often are tried on all pages at last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple, Protocol

import numpy as np

from db.records.article import TextFrom
from db.records.outcome import DOM_TYPE

from .decode.text import squeeze
from .document.document import Document, parse
from .document.limits import PageLimits
from .document.selectors import Selectors, nodes_of, select
from .extract import selected
from .extract.simpletree import node_at, simple_tree
from .metadata import selected as metadata
from .parse_page import read_page
from .records import Extraction, PageKind, PageSample, ParseResult
from .site_memory.knowledge import NOTHING, Template, learn_batch, template_of
from .site_memory.template import find_place

# Chosen by hand; `uv run python -m tests.benchmarks.suggestions` prints what they reach.
LEAST_SHARE: Final = 0.8
"""Share of the pages from which a selector is suggested."""
_SAME_TEXT: Final = 0.8
"""F1 from which two texts of a page are the same but for what one of them has missed."""
_FEWEST: Final = 3
"""Pages that name an author, or a time, from which a selector of it is suggested, if there are so many pages."""
_MOST_TRIED: Final = 16
"""Selectors of a field that are tried on all pages."""
_MOST_NAMED: Final = 48
"""Selectors that a page names for a field."""
_MOST_LOOKED_AT: Final = 240
_ANCESTORS: Final = 6
_CLASSES: Final = 4
_LINE_CHARS: Final = 200
_LEAST_NAME, _MOST_NAME = 2, 40
_NAME = re.compile(r"-?[A-Za-z_][A-Za-z_-]*")
_HASHED = re.compile(
    r"(?:^|[-_])(?:css|sc|jss|jsx|svelte)-|__(?=[A-Za-z]*[a-z][A-Z])[A-Za-z]{5,6}$|[a-z][A-Z][a-z]?[A-Z]|"
    r"[bcdfghjklmnpqrstvwxz]{8}"
)
"""Names that a build tool makes up."""
_PASSING = re.compile(r"(?:^|[-_])(?:active|open|hidden|visible|loaded|first|last|odd|even|selected|current)(?:$|[-_])")
_TELLING_TAGS: Final = frozenset({"article", "main", "h1", "h2", "time", "address"})
_META_NAMES: Final = ("property", "name", "itemprop")
_FIELDS: Final = Selectors._fields


class ReadOptions(Protocol):
    """The part of `pipelines.worker.ParseOptions` that is about finding the text."""

    @property
    def extractor(self) -> str: ...
    @property
    def extractor_params(self) -> Mapping[str, object]: ...
    @property
    def kinds(self) -> Collection[PageKind]: ...
    @property
    def bounds(self) -> PageLimits: ...


class SelectorFit(NamedTuple):
    """A selector, and on how many of the pages that have its field it is right.

    `agreement` is the mean F1 of its texts of these pages to those found otherwise, for other fields the share of the
    right ones.
    """

    selector: str
    right: int
    of: int
    agreement: float

    @property
    def is_suggested(self) -> bool:
        return self.right > 0 and self.right >= LEAST_SHARE * self.of


class NamedSelectors(NamedTuple):
    """Selectors that a page names for each field."""

    body: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    author: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageToRead:
    """A page that is kept; `fetched_at` is a Unix time."""

    body: bytes
    url: str
    content_type: str
    fetched_at: float
    dom: bytes = b""

    def read(self, options: ReadOptions) -> tuple[Document, ParseResult, Extraction]:
        document = parse(self.dom or self.body, self.url, DOM_TYPE if self.dom else self.content_type, options.bounds)
        return read_page(
            document,
            fetched_at=datetime.fromtimestamp(self.fetched_at, UTC),
            extractor=options.extractor,
            params=options.extractor_params,
            site_model=b"",
            kinds=options.kinds,
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """Take the sample of a page, None of one that is no article of its own HTML."""

    page: PageToRead

    @property
    def body(self) -> bytes:
        return self.page.body

    def done(self, options: ReadOptions) -> PageSample | None:
        _, parsed, _ = self.page.read(options)
        is_article = parsed.is_leaf and parsed.kind is PageKind.ARTICLE and parsed.text_from is not TextFrom.DATA
        return parsed.sample if is_article else None


@dataclass(frozen=True, slots=True)
class Naming:
    """Name selectors of a page; `templates` are those of its site."""

    page: PageToRead
    templates: Sequence[Template]

    @property
    def body(self) -> bytes:
        return self.page.body

    def done(self, options: ReadOptions) -> NamedSelectors:
        now = datetime.fromtimestamp(self.page.fetched_at, UTC)
        return _name(*self.page.read(options), self.templates, now)


@dataclass(frozen=True, slots=True)
class Trial:
    """Try selectors of each field on a page."""

    page: PageToRead
    tried: NamedSelectors

    @property
    def body(self) -> bytes:
        return self.page.body

    def done(self, options: ReadOptions) -> Mapping[str, Mapping[str, float]]:
        """Return field -> selector -> agreement in [0, 1], for fields the page has."""
        document, parsed, extraction = self.page.read(options)
        now = datetime.fromtimestamp(self.page.fetched_at, UTC)
        agreements: dict[str, dict[str, float]] = {}
        for field in _FIELDS:
            tried = getattr(self.tried, field)
            if field == "body":
                agreements[field] = {one: _same_text(document, one, extraction) for one in tried}
            elif _value(parsed, field):
                agreements[field] = {one: _same_value(document, field, one, parsed, now) for one in tried}
        return agreements


def templates_of(samples: Iterable[PageSample | None]) -> Sequence[Template]:
    """Learn the templates of a site from its pages' samples."""
    return learn_batch(NOTHING, [sample for sample in samples if sample is not None]).templates


def most_named(pages: Sequence[NamedSelectors]) -> NamedSelectors:
    """Return the selectors to try: those that most pages name, the shortest of equals."""
    chosen = []
    for field in _FIELDS:
        counts = Counter(one for page in pages for one in getattr(page, field))
        order = sorted((-n, _cost(one)) for one, n in counts.items())
        chosen.append(tuple(cost[-1] for _, cost in order[:_MOST_TRIED]))
    return NamedSelectors(*chosen)


def choose(trials: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, SelectorFit]:
    """Return the best selector of each field that some selector was tried for.

    The best is right on most pages; of those that are on nearly as many, the shortest.
    """
    best: dict[str, SelectorFit] = {}
    for field in _FIELDS:
        having = [trial[field] for trial in trials if field in trial]
        if not having or len(having) < min(_FEWEST, len(trials)):
            continue
        least = _SAME_TEXT if field == "body" else 1.0
        found = [
            SelectorFit(
                one,
                sum(page[one] >= least for page in having),
                len(having),
                float(np.mean([page[one] for page in having])),
            )
            for one in having[0]
        ]
        if found:
            top = max(one.right for one in found) - len(having) // 50
            closest = max(one.agreement for one in found if one.right >= top) - 0.01
            near = [one for one in found if one.right >= top and one.agreement >= closest]
            best[field] = min(near, key=lambda one: _cost(one.selector))
    return best


def _cost(selector: str) -> tuple[int, int, str]:
    """Order selectors: without places among siblings, with few steps, short."""
    steps = len(selector.split())
    return 100 * selector.count(":nth-") + 10 * ("meta[" in selector) + steps, len(selector), selector


# ---------------------------------------------------------------- what a page names


def _name(
    document: Document, parsed: ParseResult, extraction: Extraction, templates: Sequence[Template], now: datetime
) -> NamedSelectors:
    names = _Names(document)
    about = parsed.metadata
    places = [find_place(document, extraction.blocks)]
    template = template_of(templates, simple_tree(document))
    if template is not None and template.paths:
        paths = template.paths
        places.insert(0, node_at(document, max(paths, key=lambda path: paths[path])))
    places += [inner for node in places if node > 0 for inner in _inside(document, node)]
    body = [one for node in dict.fromkeys(places) if node > 0 for one in names.only(node)]
    title = squeeze(about.title)
    titles = [one for node in _nodes_saying(document, lambda text: squeeze(text) == title) for one in names.first(node)]
    titles += _metas(document, lambda text: squeeze(text) == title)
    published: list[str] = []
    if about.published_at:

        def is_time(text: str) -> bool:
            moment = metadata.read_time([text], document, about.language, now)
            return moment is not None and moment.written == about.published_at

        for node, stamp in document.times[:20]:
            attribute = "datetime" if document.elements[node].get("datetime") == stamp else "content"
            if is_time(stamp):
                published += [f"{one}::attr({attribute})" for one in names.first(node)]
        published += [one for node in _nodes_saying(document, is_time) for one in names.first(node)]
        published += _metas(document, is_time)
    authors = about.authors
    author = [
        one
        for node in _nodes_saying(document, lambda text: bool(authors) and authors[0] in text)
        for one in names.all(node)
    ]
    author += _metas(document, lambda text: bool(authors) and text == authors[0])
    return NamedSelectors(*(tuple(dict.fromkeys(one))[:_MOST_NAMED] for one in (body, titles, published, author)))


def _inside(document: Document, node: int) -> Iterator[int]:
    """Yield the elements in this one that hold all its text, as a cell its row's."""
    held, end, inner = document.T[node], document.ends[node], node + 1
    while inner < end:
        if document.T[inner] == held:
            yield inner
            inner += 1
        else:
            inner = document.ends[inner]


def _nodes_saying(document: Document, is_right: Callable[[str], bool]) -> Iterator[int]:
    """Yield elements of short lines, or pieces of such, that say the right thing."""
    blocks = document.blocks
    for block, text in enumerate(blocks.texts):
        if len(text) > _LINE_CHARS or not any(map(str.isalnum, text)):
            continue
        nodes = {node: piece for node, piece in blocks.parts[block] if piece.strip() != text}
        if is_right(text):
            start = blocks.starts[block]
            while start >= 0 and document.T[start] <= blocks.chars[block]:
                nodes.setdefault(start, text)
                start = document.parents[start]
        for node, piece in nodes.items():
            if is_right(" ".join(piece.split())):
                yield node


def _metas(document: Document, is_right: Callable[[str], bool]) -> list[str]:
    named = []
    for node, tag in enumerate(document.tags):
        content = document.elements[node].get("content") if tag == "meta" else None
        if content and len(content) <= _LINE_CHARS and is_right(content.strip()):
            for key in _META_NAMES:
                if (name := document.elements[node].get(key)) and not {*name} & {*"'\"\\"}:
                    named.append(f"css:meta[{key}='{name}']::attr(content)")
    return named


class _Names:
    """Selectors of a page's elements."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._numbers = {element: node for node, element in enumerate(document.elements)}
        self._chosen: dict[str, list[int]] = {}

    def only(self, node: int) -> list[str]:
        """Return selectors that choose this element alone, the shortest first."""
        return self._passing(node, lambda chosen: chosen == [node])

    def first(self, node: int) -> list[str]:
        """Return selectors that choose this element before any other."""
        return self._passing(node, lambda chosen: chosen[:1] == [node])

    def all(self, node: int) -> list[str]:
        """Return selectors that choose this element among few."""
        return self._passing(node, lambda chosen: node in chosen and len(chosen) <= 5)

    def _passing(self, node: int, fits: Callable[[list[int]], bool]) -> list[str]:
        named: list[str] = []
        for number, one in enumerate(self._written(node)):
            if number >= _MOST_LOOKED_AT or len(named) >= _MOST_NAMED:
                break
            is_placed = ":nth-" in one
            if (not is_placed or not named) and fits(self._select(one)):
                named.append(one)
        return named

    def _select(self, selector: str) -> list[int]:
        if selector not in self._chosen:
            found = (self._numbers.get(one, -1) for one in select(self._document, selector) if not isinstance(one, str))
            self._chosen[selector] = [node for node in found if node >= 0]
        return self._chosen[selector]

    def _written(self, node: int) -> Iterator[str]:
        """Yield selectors of an element, those of few steps first."""
        own, tag, parents = self._own(node), self._document.tags[node], self._document.parents
        for one in own:
            yield f"css:{one}"
        steps = own[:_CLASSES] or ([tag] if tag.isalnum() else [])
        ancestor = parents[node]
        for level in range(_ANCESTORS):
            if ancestor <= 0:
                break
            for above in self._own(ancestor)[:_CLASSES]:
                for one in dict.fromkeys([*steps, tag]):
                    yield f"css:{above} {one}"
                    if not level:
                        yield f"css:{above} > {one}"
            ancestor = parents[ancestor]
        parent = parents[node]
        if parent > 0 and tag.isalnum():
            number = sum(self._document.tags[at] == tag for at in range(parent + 1, node + 1) if parents[at] == parent)
            for above in [*self._own(parent)[:_CLASSES], "body" if self._document.tags[parent] == "body" else ""]:
                if above:
                    yield f"css:{above} > {tag}:nth-of-type({number})"

    def _own(self, node: int) -> list[str]:
        """Return simple selectors of an element by its stable names."""
        element, tag = self._document.elements[node], self._document.tags[node]
        tag = tag if tag.isalnum() else ""
        names: list[str] = []
        if is_stable(identifier := (element.get("id") or "").strip()):
            names.append(f"#{identifier}")
        classes = [one for one in (element.get("class") or "").split() if is_stable(one)][:_CLASSES]
        names += [f".{one}" for one in classes]
        if is_stable(kind := (element.get("itemprop") or "").strip()):
            names.append(f"[itemprop={kind}]")
        if tag in _TELLING_TAGS:
            names.append(tag)
        if tag:
            names += [f"{tag}.{one}" for one in classes]
        names += [f".{one}.{other}" for at, one in enumerate(classes) for other in classes[at + 1 :]]
        return names


def is_stable(name: str) -> bool:
    """Tell whether an id or class looks like a word that somebody chose to keep.

    >>> [is_stable(name) for name in ("article-body", "post-1234", "css-xyz", "Body_text__aBcDe", "is-active", "d")]
    [True, False, False, False, False, False]
    """
    if not _LEAST_NAME <= len(name) <= _MOST_NAME or not _NAME.fullmatch(name):
        return False
    return not _HASHED.search(name) and not _PASSING.search(name)


# ---------------------------------------------------------------- how well a selector does on a page


def _same_text(document: Document, selector: str, extraction: Extraction) -> float:
    """Return the F1 of a selector's text to the extraction; 0 for several elements."""
    if len(nodes_of(document, selector)) != 1:
        return 0.0
    chosen = selected.extract(document, selector)
    if chosen is None:
        return 0.0
    sizes = np.asarray(document.blocks.chars)
    both = sum(int(sizes[block]) for block in {*chosen.blocks} & {*extraction.blocks})
    return 2 * both / max(1, int(sizes[list(chosen.blocks)].sum() + sizes[list(extraction.blocks)].sum()))


def _value(parsed: ParseResult, field: str) -> object:
    about = parsed.metadata
    return {"title": squeeze(about.title), "published": about.published_utc, "author": about.authors}[field]


def _same_value(document: Document, field: str, selector: str, parsed: ParseResult, now: datetime) -> float:
    chosen, found = metadata.select(document, Selectors(**{field: selector}), parsed.metadata, now)
    if field not in found:
        return 0.0
    about = parsed.metadata
    if field == "title":
        return float(squeeze(chosen.title) == squeeze(about.title))
    if field == "author":
        return float(chosen.authors == about.authors)
    return float(chosen.published_utc[:16] == about.published_utc[:16])
