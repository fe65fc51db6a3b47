"""Examples for training: pages of known kinds, read as if their sites were new."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any, Final
from urllib.parse import urlsplit

from ..document.document import Document, parse
from ..extract import combined
from ..links import links
from ..metadata import metadata
from ..page_kind.features import NOWHERE, describe_url, features
from ..page_kind.words import Words, words
from ..records import Extraction, Metadata, PageKind
from ..script_data.page import MORE, with_data
from ..urls import host_key, site_key
from . import extraction as learning
from .examples import example as text_example
from .page_kind import FOLDS, KindExample, Params, learn
from .trained import Trained

Read = Callable[[Document], Extraction]

_NAMES: Final[Mapping[str, PageKind]] = {
    **dict.fromkeys(("article", "notice"), PageKind.ARTICLE),
    **dict.fromkeys(("home", "list", "listing", "section", "search", "archive", "links", "profile"), PageKind.LIST),
    **dict.fromkeys(("forum", "thread", "qa"), PageKind.THREAD),
    **dict.fromkeys(("login", "registration", "password", "contact", "form"), PageKind.FORM),
    **dict.fromkeys(("product", "collection"), PageKind.PRODUCT),
    **dict.fromkeys(("service", "company", "about", "place"), PageKind.COMPANY),
    **dict.fromkeys(("error",), PageKind.NOTICE),
    **dict.fromkeys(("media",), PageKind.MEDIA),
    **dict.fromkeys(("other",), PageKind.OTHER),
}
"""Kinds by the words of the corpora; a notice of an authority is an article."""
_BROAD: Final = frozenset({"list", "other"})
"""Words of `page_type` that only say that a page is no article; `subtype` may say more."""
_UNTOLD: Final = frozenset({"documentation", "recipe"})
"""Kinds that some call articles and others not."""
_SHORT_TEXT: Final = 400
"""Characters of a text below which the data of its page may hold more, as when a page is parsed."""
_NOWHERE: Final = describe_url(NOWHERE)
"""Description of an address that tells nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownPage:
    """A saved page, compressed, and what its corpus says about it."""

    row: Mapping[str, Any]
    packed: bytes

    @classmethod
    def of(cls, body: bytes, row: Mapping[str, Any]) -> KnownPage:
        return cls(row, zlib.compress(body, 1))

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.packed)


def kind_of(row: Mapping[str, Any]) -> PageKind | None:
    """Return the kind that a row states; None when it does not tell.

    An article says so in `kind`; else `page_type` tells, or `subtype` where that is "list" or "other".

    >>> kind_of({"subtype": "login", "page_type": "other"}), kind_of({"page_type": "qa", "kind": "article"})
    (<PageKind.FORM: 4>, <PageKind.ARTICLE: 0>)
    """
    kind, page_type, subtype = (str(row.get(key) or "") for key in ("kind", "page_type", "subtype"))
    if kind == "article":
        return PageKind.ARTICLE
    narrow = () if page_type in _BROAD else (page_type,)
    words = [word for word in (*narrow, subtype, page_type, kind) if word in _NAMES or word in _UNTOLD]
    return _NAMES.get(words[0]) if words else None


def site_of(row: Mapping[str, Any]) -> str:
    """Return the site of a row's page, or its own name when the corpus does not tell.

    On a platform each `account` is a site of its own.
    """
    host = str(row.get("host") or urlsplit(str(row.get("url") or "")).hostname or "")
    site = site_key(host_key(f"http://{host}/")) if host else str(row.get("id"))
    return f"{site} {row['account']}" if row.get("account") else site


def read_all(pages: Sequence[KnownPage], fetched_at: datetime, seed: int) -> list[KindExample]:
    """Read pages by networks of `combined` that were trained on other sites.

    On pages that it was trained on it is surer of the text. No page is younger than `fetched_at`. Cost: ten minutes for
    five thousand pages.

    Raises:
        ValueError: no page has a text to learn from.
        ImportError: scikit-learn is not installed.
    """
    folds = [_fold(page) for page in pages]
    kind_examples: list[KindExample] = []
    for fold in range(FOLDS):
        others = (page for page, page_fold in zip(pages, folds, strict=True) if page_fold != fold)
        networks = learning.learn(_texts(others), seed, learning.Params())

        def read(document: Document, networks: Any = networks) -> Extraction:
            return combined.extract_by(networks, document, combined.Params())

        held = (page for page, page_fold in zip(pages, folds, strict=True) if page_fold == fold)
        kind_examples += [made for page in held for made in examples(page, read, fetched_at)]
    return kind_examples


def examples(page: KnownPage, read: Read, fetched_at: datetime) -> Iterator[KindExample]:
    """Yield what is to be learned from a page; nothing without a known kind or text.

    A page with a text is seen a second time as that text alone, some also without `<title>` or headline: so the
    networks learn not to go by menus, boxes and names of containers alone. One whose text stands in data for its
    scripts is seen with that text in its place. `read` has not seen the page.
    """
    kind, url = kind_of(page.row), str(page.row.get("url") or "")
    document = parse(page.body, url)
    if kind is None or not len(document.blocks):
        return
    site = site_of(page.row)
    # Corpora that know no more than the host give its root, of articles too.
    is_known = bool(urlsplit(url).path.strip("/")) or (bool(url) and kind is PageKind.LIST)
    addresses = (_NOWHERE, describe_url(url)) if is_known else (_NOWHERE,)
    extraction, page_metadata, made = _look(document, read, fetched_at)
    data = with_data(document) if len(extraction.text) < _SHORT_TEXT and "script" in document.tags else None
    if data is not None and len(data.blocks):
        of_data = _look(data, read, fetched_at)
        if len(of_data[0].text) > MORE * len(extraction.text):
            if kind is not PageKind.ARTICLE:
                yield KindExample(kind, site, *made, addresses)
            extraction, page_metadata, made = of_data
    yield KindExample(kind, site, *made, addresses)
    if extraction.html:
        draw, title = zlib.crc32(str(page.row.get("id")).encode()), escape(page_metadata.title)
        head = (f"<title>{title}</title>" if draw % 2 else "") + (f"<h1>{title}</h1>" if draw % 5 else "")
        bare = parse(f"{head}{extraction.html}".encode(), NOWHERE)
        if len(bare.blocks):
            yield KindExample(kind, site, *_look(bare, read, fetched_at)[2])


def _look(
    document: Document, read: Read, fetched_at: datetime
) -> tuple[Extraction, Metadata, tuple[dict[str, float], Words]]:
    extraction = read(document)
    page_metadata = metadata.extract(document, extraction, fetched_at)
    values = features(document, extraction, page_metadata, links.extract(document, extraction))
    found = words(document, extraction)
    return extraction, page_metadata, (values, Words(frozenset(found.site), frozenset(found.text)))


def _fold(page: KnownPage) -> int:
    return int.from_bytes(hashlib.sha256(site_of(page.row).encode()).digest()[:4], "big") % FOLDS


def _texts(pages: Iterable[KnownPage]) -> Iterable[Any]:
    for page in pages:
        kind = kind_of(page.row)
        row = page.row if kind is PageKind.ARTICLE or page.row.get("text") else {**page.row, "page_type": "other"}
        made = text_example(page.body, row) if row.get("text") or kind is not PageKind.ARTICLE else None
        if made is not None:
            yield made


def learn_model(pages: Iterable[KnownPage], *, seed: int, fetched_at: datetime) -> Trained:
    model, figures = learn(read_all(list(pages), fetched_at, seed), seed, Params())
    return Trained(model.model(), figures)
