"""Site model: texts that repeat and the places where templates keep the body.

The model is bounded, and all counts fade with every page, so that a new template takes the place of an old one within
some dozens of pages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..extract.entropy import add_pages
from ..extract.simpletree import SAME_TEMPLATE, similarity
from ..records import NO_TERMS, PageSample, SiteTerms, Spread

MAX_TEXTS: Final = 320
MAX_TEMPLATES: Final = 6
MAX_PATHS: Final = 4
MAX_ARTICLES: Final = 32
MAX_STORIES: Final = 64
MAX_TERMS: Final = 1024
FADING: Final = 0.98
"""Factor of every count at each page: about fifty pages are remembered."""

_FORMAT: Final = 1
_HEAD = struct.Struct("<BIfHBB")


@dataclass(frozen=True, slots=True)
class Template:
    """One template of a site: its simple tree and, fading, its pages and their paths.

    A path leads from the page's body to the article's.
    """

    tree: tuple[int, ...]
    pages: float
    paths: Mapping[tuple[int, ...], float]


@dataclass(frozen=True, slots=True)
class SiteModel:
    """Model of one site, of a few KB however many pages there were.

    Attributes:
        seen, pages: article pages learned from, all in all and fading.
        texts: key of a block's text and place -> pages that carried it, fading.
        templates: the most recent one first.
        articles: keys of the most recent articles, the newest last.
        stories: key of a related story -> pages that named it, fading.
        terms: of all text, for extractors that compare pages.
    """

    seen: int = 0
    pages: float = 0.0
    texts: Mapping[int, float] = field(default_factory=dict)
    templates: tuple[Template, ...] = ()
    articles: tuple[int, ...] = ()
    stories: Mapping[int, float] = field(default_factory=dict)
    terms: SiteTerms = NO_TERMS


NOTHING: Final = SiteModel()


def learn(model: SiteModel, sample: PageSample) -> SiteModel:
    return learn_batch(model, [sample])


def learn_batch(model: SiteModel, samples: Iterable[PageSample]) -> SiteModel:
    """Learn from more article pages, in their order.

    Returns the same object when all articles were seen lately, under whatever URLs.

    Cost: O(MAX_TEXTS) once, some 60 microseconds, and O(texts) a page.
    """
    articles, templates = model.articles, model.templates
    new: list[PageSample] = []
    for sample in samples:
        if sample.article not in articles:
            new.append(sample)
            articles = (*articles, sample.article)[-MAX_ARTICLES:]
            templates = _with_page(templates, sample)
    if not new:
        return model
    weights = [FADING ** (len(new) - place) for place in range(1, len(new) + 1)]
    with_terms = [sample.terms for sample in new if sample.terms is not None]
    return SiteModel(
        seen=model.seen + len(new),
        pages=FADING ** len(new) * model.pages + sum(weights),
        texts=_counted(model.texts, [sample.texts for sample in new], weights, MAX_TEXTS),
        templates=templates,
        articles=articles,
        stories=_counted(model.stories, [sample.stories for sample in new], weights, MAX_STORIES),
        terms=add_pages(model.terms, with_terms, MAX_TERMS, FADING) if with_terms else model.terms,
    )


def _counted(
    counts: Mapping[int, float], keys_of_pages: Sequence[Sequence[int]], weights: Sequence[float], most: int
) -> Mapping[int, float]:
    faded = FADING ** len(weights)
    counted = {key: faded * count for key, count in counts.items()}
    for keys, weight in zip(keys_of_pages, weights, strict=True):
        for key in set(keys):
            counted[key] = counted.get(key, 0.0) + weight
    if len(counted) <= most:
        return counted
    # ties are broken by the key, so that the same pages always give the same model
    return {key: counted[key] for key in sorted(counted, key=lambda key: (-counted[key], key))[:most]}


def template_of(templates: Iterable[Template], tree: tuple[int, ...]) -> Template | None:
    best = max(templates, key=lambda template: similarity(template.tree, tree), default=None)
    return best if best is not None and similarity(best.tree, tree) >= SAME_TEMPLATE else None


def _with_page(templates: tuple[Template, ...], sample: PageSample) -> tuple[Template, ...]:
    matched = template_of(templates, sample.tree)
    paths: dict[tuple[int, ...], float] = {}
    pages = 0.0
    if matched is not None:
        pages = FADING * matched.pages
        paths = {path: FADING * count for path, count in matched.paths.items()}
    if sample.path:
        paths[sample.path] = paths.get(sample.path, 0.0) + 1.0
        if len(paths) > MAX_PATHS:
            # the new path stays, else none could ever take the place of the others
            del paths[min(paths, key=lambda path: (path == sample.path, paths[path], path))]
    updated = Template(sample.tree, pages + 1.0, paths)
    return (updated, *(template for template in templates if template is not matched))[:MAX_TEMPLATES]


def pack(model: SiteModel) -> bytes:
    """Pack a model for `unpack`, in 8 KB at most, 20 KB with terms.

    Cost: O(MAX_TEXTS + MAX_TERMS).
    """
    parts = [
        _HEAD.pack(
            _FORMAT,
            model.seen,
            model.pages,
            len(model.texts),
            len(model.templates),
            len(model.articles),
        ),
        struct.pack(f"<{len(model.texts)}q", *model.texts),
        struct.pack(f"<{len(model.texts)}f", *model.texts.values()),
        struct.pack(f"<{len(model.articles)}q", *model.articles),
    ]
    for template in model.templates:
        parts.append(struct.pack("<fBB", template.pages, len(template.paths), len(template.tree)))
        parts.append(struct.pack(f"<{len(template.tree)}I", *template.tree))
        for path, count in template.paths.items():
            parts.append(struct.pack(f"<fB{len(path)}I", count, len(path), *path))
    spreads = (model.terms.pages, *model.terms.terms.values())
    parts += [
        struct.pack("<HH", len(model.stories), len(model.terms.terms)),
        struct.pack(f"<{len(model.stories)}q", *model.stories),
        struct.pack(f"<{len(model.stories)}f", *model.stories.values()),
        struct.pack(f"<{len(model.terms.terms)}I", *model.terms.terms),
        struct.pack(f"<{2 * len(spreads)}f", *(number for spread in spreads for number in spread)),
    ]
    return b"".join(parts)


def unpack(data: bytes) -> SiteModel:
    """Unpack the bytes of `pack`; an empty model for damaged or foreign bytes."""
    try:
        return _Reader(data).model() if data[:1] == bytes([_FORMAT]) else NOTHING
    except struct.error:
        return NOTHING


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> tuple[int | float, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values

    def numbers(self, count: int, form: str) -> tuple[int, ...]:
        return tuple(map(int, self.take(f"{count}{form}")))

    def model(self) -> SiteModel:
        _, seen, pages, texts, templates, articles = _HEAD.unpack_from(self._data)
        self._at = _HEAD.size
        keys = self.numbers(texts, "q")
        counts = self.take(f"{texts}f")
        model = SiteModel(
            seen=seen,
            pages=pages,
            texts=dict(zip(keys, counts, strict=True)),
            articles=self.numbers(articles, "q"),
            templates=tuple(self.template() for _ in range(templates)),
        )
        if self._at == len(self._data):  # packed by an earlier version
            return model
        stories, terms = self.numbers(2, "H")
        named = dict(zip(self.numbers(stories, "q"), self.take(f"{stories}f"), strict=True))
        term_keys, numbers = self.numbers(terms, "I"), self.take(f"{2 * terms + 2}f")
        whole, *spreads = map(Spread._make, zip(numbers[::2], numbers[1::2], strict=True))
        return replace(model, stories=named, terms=SiteTerms(whole, dict(zip(term_keys, spreads, strict=True))))

    def template(self) -> Template:
        pages, paths, children = self.take("fBB")
        tree = self.numbers(int(children), "I")
        path_counts = {}
        for _ in range(int(paths)):
            count, steps = self.take("fB")
            path_counts[self.numbers(int(steps), "I")] = count
        return Template(tree, pages, path_counts)
