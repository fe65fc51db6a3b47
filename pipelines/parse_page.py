"""Parsing of one fetched page, as each worker process does it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial

from db.records.article import JOINED_BY, TextFrom
from db.records.keys import fingerprint
from db.records.reasons import PageReason

from .decode.mojibake import DOUBTFUL, suspicion
from .dedup import method
from .document.document import Document, parse
from .document.limits import DEFAULT as BOUNDS
from .document.limits import LINKS, TEXT, PageLimits
from .document.selectors import NO_SELECTORS, Selectors
from .document.shell import has_fallback
from .extract import COMPARES_PAGES, DEFAULT, Extractor, selected
from .extract import extractor as find_extractor
from .extract.entropy import term_counts, term_key
from .links import links, meta_refresh, related
from .links.load_more import lacks_links, loads_more_links, loads_more_text
from .links.robots_meta import read_directives
from .metadata import metadata
from .metadata.selected import select
from .page_kind.decision import PageJudgement, classify, judge
from .records import REASON_OF_KIND, STORED_KINDS, Extraction, Links, PageKind, ParseResult, Signature
from .script_data.page import MORE, PLAIN, carries_another, is_apart, with_data
from .search.terms import index_terms
from .site_memory import template
from .site_memory.knowledge import NOTHING, unpack

Sign = Callable[[str, str], Signature]
"""Makes the signature of (title, text)."""

_NEAR_BLOCKS, _NEAR_NODES = 5, 200
_LEAD = 1_000
"""Characters below which a text may be only the beginning of the one in the data."""
_SHORT_TEXT = 400
"""Characters of a text below which the data of its page may hold more."""

SIGN: Sign = method().sign


def parse_page(
    body: bytes,
    url: str,
    *,
    content_type: str = "",
    robots_header: str = "",
    fetched_at: datetime,
    extractor: str = DEFAULT,
    params: Mapping[str, object] | None = None,
    site_model: bytes | None = None,
    kinds: Collection[PageKind] = STORED_KINDS,
    bounds: PageLimits = BOUNDS,
    selectors: Selectors = NO_SELECTORS,
) -> ParseResult:
    """Parse a page once and return all that the pipelines need of it.

    Args:
        url: after redirects.
        robots_header: values of the X-Robots-Tag headers, one a line.
        extractor: a name of `EXTRACTORS`.
        site_model: packed model of the site (see `knowledge.pack`): it corrects the extraction, and the record holds a
            sample to learn from. None for neither.
        kinds: kinds of pages whose text is kept.
        selectors: those of the page's seed. A page that is not kept is read as if there were none.

    Returns:
        The record; nothing in a page makes this raise.

    Raises:
        ValueError: unknown extractor or parameter, `fetched_at` without zone.

    Cost: O(bytes), some eighteen times that of parsing by lxml (see docs/extraction.md).
    """
    _, parsed, _ = read_page(
        parse(body, url, content_type, bounds),
        robots_header=robots_header,
        fetched_at=fetched_at,
        extractor=extractor,
        params=params,
        site_model=site_model,
        kinds=kinds,
        selectors=selectors,
    )
    return parsed


def read_page(
    document: Document,
    *,
    robots_header: str = "",
    fetched_at: datetime,
    extractor: str = DEFAULT,
    params: Mapping[str, object] | None = None,
    sign: Sign = SIGN,
    site_model: bytes | None = None,
    kinds: Collection[PageKind] = STORED_KINDS,
    text_from: TextFrom = TextFrom.HTML,
    selectors: Selectors = NO_SELECTORS,
) -> tuple[Document, ParseResult, Extraction]:
    """Read a document, or the data in its scripts if it says next to nothing itself.

    Data are looked for in HTML alone (`text_from`); for the other arguments see `parse_page`.

    Returns:
        The document that the article was found in, its record, and the extraction with the blocks kept and their
        scores, also for a page that is not kept.

    Raises:
        ValueError: see `parse_page`.

    Cost: O(nodes + characters), of a page that says little also O(characters of scripts).
    """
    find_text = _extractor(extractor, tuple(sorted((params or {}).items())))
    read = partial(
        _read,
        robots_header=robots_header,
        fetched_at=fetched_at,
        find_text=find_text,
        sign=sign,
        site_model=site_model,
        kinds=kinds,
        text_from=text_from,
        compares=extractor in COMPARES_PAGES,
    )
    parsed, extraction = read(document, selectors=selectors)
    if "body" in parsed.selected:
        return document, parsed, extraction
    if extraction.evidence == selected.EVIDENCE:  # no article by what was chosen, as on a list of the same template
        parsed, extraction = read(document, selectors=selectors._replace(body=""))
        parsed = replace(parsed, missed=("body", *parsed.missed)) if parsed.is_kept else parsed
    if text_from is not TextFrom.HTML or not _may_hold_data(document, parsed, len(extraction.text)):
        return document, parsed, extraction
    data_document = with_data(document)
    if data_document is None:
        return document, parsed, extraction
    plain = selected.whole(data_document, PLAIN)
    find_data_text = find_text if plain is None else lambda _: plain
    data_parsed, data_extraction = read(data_document, selectors=NO_SELECTORS, find_text=find_data_text)
    shown, text = parsed.extraction.text, data_parsed.extraction.text
    is_more = len(shown) < _LEAD and len(text) > MORE * len(shown)
    is_other = 2 * len(text) > len(shown) and is_apart(shown, text)
    if data_parsed.kind is not PageKind.ARTICLE or not data_parsed.is_kept or not (is_more or is_other):
        return document, parsed, extraction
    joined = links.join(data_parsed.links, parsed.links)
    data_parsed = replace(data_parsed, links=joined, text_from=TextFrom.DATA, loads_more=False, missed=selectors.given)
    return data_document, data_parsed, data_extraction


def _may_hold_data(document: Document, parsed: ParseResult, chars: int) -> bool:
    """Tell whether scripts may hold the text of a page.

    `chars` of text were extracted from what it shows.
    """
    if "script" not in document.tags:
        return False
    if chars < _SHORT_TEXT or parsed.kind in {PageKind.OTHER, PageKind.LIST, PageKind.MEDIA, PageKind.NOTICE}:
        return True
    return parsed.is_leaf and carries_another(document, parsed.extraction.text)


def _read(
    document: Document,
    *,
    selectors: Selectors,
    robots_header: str,
    fetched_at: datetime,
    find_text: Extractor,
    sign: Sign,
    site_model: bytes | None,
    kinds: Collection[PageKind],
    text_from: TextFrom,
    compares: bool,
) -> tuple[ParseResult, Extraction]:
    model = NOTHING if site_model is None else _unpack(site_model)
    if compares:
        document.site_terms = model.terms
    chosen = selected.extract(document, selectors.body) if selectors.body else None
    uncorrected = extraction = find_text(document) if chosen is None else chosen
    if site_model is not None:
        keys = template.text_keys(document)
        if chosen is None:
            extraction = template.correct(document, uncorrected, *template.find_hints(document, keys, model))
    about = metadata.extract(document, extraction, fetched_at)
    urls = links.resolve_urls(document)
    page_links = links.extract(document, extraction, urls)
    judged = classify(document, extraction, about, page_links)
    if judged.reason is PageReason.NEEDS_BROWSER and text_from is TextFrom.BROWSER:
        judged = _without_article(judge(document, extraction, about, page_links))
    page_kind, reason, probability = judged
    is_kept = page_kind in kinds and bool(extraction.text)
    if extraction.text and page_kind is not PageKind.LIST and document.is_cut and _runs_on(document, extraction):
        is_kept, page_kind, reason, probability = False, PageKind.OTHER, PageReason.TOO_LARGE, 1.0
    found: list[str] = []
    if is_kept and any(selectors):
        about, found = select(document, selectors, about, fetched_at)
        found += [] if chosen is None else ["body"]
    noindex, nofollow = read_directives(document, robots_header, fetched_at)
    kept_extraction = extraction
    if is_kept:
        reason = PageReason.LIST if page_kind is PageKind.LIST else None
    elif extraction.text:
        reason = reason or REASON_OF_KIND[page_kind]
        kept_extraction = Extraction(reason=reason)
        page_links = links.extract(document, kept_extraction, urls)  # links in the text are links beside it now
        about = metadata.extract_head(document, about)
    signature = sign(about.title, kept_extraction.text)
    sample = None
    is_leaf = is_kept and page_kind is not PageKind.LIST
    stories = related.find(document, page_links, urls, extraction.blocks, uncorrected.topic_links) if is_leaf else []
    if site_model is not None and is_leaf:
        article = fingerprint(f"{about.title}\n{signature.exact}")
        terms_of_page = {term_key(term): count for term, count in term_counts(document).items()} if compares else None
        named = [story.url for story in stories]
        sample = template.sample_page(document, keys, uncorrected, article, stories=named, terms=terms_of_page)
        stories = [story for story in stories if not template.is_repeated(model, story.url)]
    page_links = related.mark(page_links, stories)
    terms = None
    if is_kept:
        terms = index_terms(
            about.title,
            kept_extraction.text,
            JOINED_BY.join(about.authors),
            about.source,
            about.language,
            about.summary,
            JOINED_BY.join(about.keywords),
        )
    is_doubtful = bool(kept_extraction.text) and suspicion(f"{about.title}\n{kept_extraction.text}") >= DOUBTFUL
    exceeded = document.exceeded | ({LINKS} if len(page_links) >= document.bounds.links else set())
    parsed = ParseResult(
        kind=page_kind,
        reason=reason,
        metadata=about,
        extraction=replace(kept_extraction, blocks=(), scores=(), topic_links=None),
        signature=signature,
        links=links.mark_nofollow(page_links) if nofollow else page_links,
        feeds=links.find_feeds(document),
        noindex=noindex,
        encoding=document.encoding,
        sample=sample,
        bounds=tuple(sorted(exceeded)),
        doubt=PageReason.DOUBTFUL_ENCODING if is_doubtful else None,
        sends_to="" if is_kept or nofollow else meta_refresh.find_target(document),
        probability=probability,
        index_terms=terms,
        text_from=TextFrom.SELECTOR if "body" in found and text_from is TextFrom.HTML else text_from,
        loads_more=text_from is TextFrom.HTML and _loads_more(document, page_kind, page_links, kept_extraction.text),
        stories=tuple(stories),
        lacks_links=text_from is TextFrom.HTML and not is_leaf and lacks_links(document, page_links),
        selected=tuple(found),
        missed=tuple(name for name in selectors.given if is_kept and name not in found),
    )
    return parsed, extraction


def _loads_more(document: Document, kind: PageKind, anchors: Links, text: str) -> bool:
    if kind is PageKind.LIST or not text:
        return has_fallback(document) or (kind is PageKind.LIST and loads_more_links(document, anchors))
    return loads_more_text(document, text)


def _without_article(judged: PageJudgement) -> PageJudgement:
    is_article = judged.kind is PageKind.ARTICLE
    return PageJudgement(PageKind.OTHER, PageReason.TOO_LITTLE_PROSE) if is_article else judged


def _runs_on(document: Document, text: Extraction) -> bool:
    if not text.blocks:
        return True
    last = text.blocks[-1]
    is_last = last >= len(document.blocks) - _NEAR_BLOCKS
    # behind the last text that was read there may be elements without any
    return is_last and (TEXT in document.exceeded or document.blocks.starts[last] >= len(document.tags) - _NEAR_NODES)


@lru_cache(maxsize=16)
def _extractor(name: str, params: tuple[tuple[str, object], ...]) -> Extractor:
    return find_extractor(name, dict(params))


_unpack = lru_cache(maxsize=256)(unpack)
