"""Site model: texts that repeat and the places where templates keep the body.

The model is bounded, and all counts fade with every page, so that a new template takes the place of an old one within
some dozens of pages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..extract.simpletree import SAME_TEMPLATE, similarity
from ..records import PageSample

MAX_TEXTS: Final = 320
MAX_TEMPLATES: Final = 6
MAX_PATHS: Final = 4
MAX_ARTICLES: Final = 32
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
    """

    seen: int = 0
    pages: float = 0.0
    texts: Mapping[int, float] = field(default_factory=dict)
    templates: tuple[Template, ...] = ()
    articles: tuple[int, ...] = ()


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
    faded = FADING ** len(new)
    pages, texts = faded * model.pages, {key: faded * count for key, count in model.texts.items()}
    for place, sample in enumerate(new, 1):
        weight = FADING ** (len(new) - place)
        pages += weight
        for key in set(sample.texts):
            texts[key] = texts.get(key, 0.0) + weight
    if len(texts) > MAX_TEXTS:
        # ties are broken by the key, so that the same pages always give the same model
        frequent_keys = sorted(texts, key=lambda key: (-texts[key], key))[:MAX_TEXTS]
        texts = {key: texts[key] for key in frequent_keys}
    return SiteModel(seen=model.seen + len(new), pages=pages, texts=texts, templates=templates, articles=articles)


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
    """Pack a model, for `unpack`, in 7 KB at most. Cost: O(MAX_TEXTS)."""
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
        return SiteModel(
            seen=seen,
            pages=pages,
            texts=dict(zip(keys, counts, strict=True)),
            articles=self.numbers(articles, "q"),
            templates=tuple(self.template() for _ in range(templates)),
        )

    def template(self) -> Template:
        pages, paths, children = self.take("fBB")
        tree = self.numbers(int(children), "I")
        path_counts = {}
        for _ in range(int(paths)):
            count, steps = self.take("fB")
            path_counts[self.numbers(int(steps), "I")] = count
        return Template(tree, pages, path_counts)
