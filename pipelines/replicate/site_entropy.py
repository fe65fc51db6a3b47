"""S14: text and topic links by terms of a page, of its site and of all sites."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from ..document.document import Document
from ..document.tokens import terms
from ..document.view import measure
from ..extract.entropy import (
    MIN_PAGES,
    Params,
    add_pages,
    entropies,
    extract_alone,
    extract_weighed,
    term_counts,
    term_key,
    term_weights,
)
from ..links.related import MAX_LABEL_CHARS, blocks_under, names_list, states
from ..records import NO_TERMS, Extraction
from ..training.examples import Example
from .table import Replication, Row, prf

MOST_PAGES: Final = 300
_SOURCE: Final = "朱宏灿, 龙朝阳, 基于熵的新闻网页抽取方法研究 (S14)"
_NOTES: Final = (
    "The paper's figures are lost in our copy.",
    "Only sites with four pages and more; each page is read with the terms of all others of its site.",
    "P, R and F are means over pages of the characters of blocks, labelled by the known texts.",
    "AP knows the titles of those targets that are pages of the material; an anchor that is such a title has ATI 1.",
    "Link blocks count where a label stands over them: right ones are those whose label says that they are related.",
)


def entropy(material: Sequence[Example], seed: int) -> Replication:
    """Compare the two entropies of the paper, and that of one page.

    Raises:
        ValueError: no site has four pages.

    Cost: O(characters) four times; at most `MOST_PAGES` pages.
    Source: S14.
    """
    sites = _sites(material, seed)
    counts = {page.id: term_counts(page.document) for pages in sites.values() for page in pages}
    titles = {page.document.url: terms(page.document.title) for pages in sites.values() for page in pages}
    site_counts = {site: _joined([counts[page.id] for page in pages]) for site, pages in sites.items()}
    of_sites = entropies(list(site_counts.values()))
    among_sites = {term: 1.0 - value for term, value in of_sites.items()}
    keyed = {name: {term_key(term): count for term, count in each.items()} for name, each in counts.items()}
    params = Params()

    def of_site(page: Example) -> Mapping[str, float]:
        others = [keyed[other.id] for other in sites[page.site] if other is not page]
        return term_weights(counts[page.id], add_pages(NO_TERMS, others, 1 << 30))

    def read(page: Example, weights: Mapping[str, float]) -> Extraction:
        return extract_weighed(page.document, weights, params, _targets(page.document, titles))

    ways: Mapping[str, Callable[[Example], Extraction]] = {
        "one page": lambda page: extract_alone(page.document, params),
        "pages of the site": lambda page: read(page, of_site(page)),
        "sites": lambda page: read(page, among_sites),
    }
    rows = []
    for name, way in ways.items():
        extracted = [(page, way(page)) for pages in sites.values() for page in pages]
        rows.append(Row(f"text, {name}", _text_scores(extracted)))
        if name != "one page":
            rows.append(Row(f"topic-related links, {name}", _link_scores(extracted)))
    return Replication(_SOURCE, rows, _NOTES)


def _sites(material: Sequence[Example], seed: int) -> Mapping[str, Sequence[Example]]:
    by_site = defaultdict(list)
    for page in material:
        if page.article and page.site:
            by_site[page.site].append(page)
    large = sorted(site for site, pages in by_site.items() if len(pages) > MIN_PAGES)
    if not large:
        raise ValueError(f"no site has {MIN_PAGES + 1} articles and more: the experiment compares the pages of a site")
    chosen: dict[str, Sequence[Example]] = {}
    for place in np.random.default_rng(seed).permutation(len(large)):
        site = large[place]
        if sum(map(len, chosen.values())) < MOST_PAGES:
            chosen[site] = by_site[site][:MOST_PAGES]
    return chosen


def _joined(counts: Sequence[Counter[str]]) -> Counter[str]:
    joined: Counter[str] = Counter()
    for each in counts:
        joined.update(each)
    return joined


def _targets(document: Document, titles: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    resolved = ((href, document.resolve(href)) for _, href, _, _, _ in document.links)
    return {href: titles[url] for href, url in resolved if url is not None and url in titles}


def _text_scores(extracted: Sequence[tuple[Example, Extraction]]) -> Mapping[str, float]:
    scores = []
    for page, extraction in extracted:
        kept = list(extraction.blocks)
        right = float(page.weights[kept][page.content[kept]].sum())
        scores.append(prf(right, float(page.weights[kept].sum()), float(page.weights[page.content].sum())))
    return {name: sum(score[name] for score in scores) / len(scores) for name in ("P", "R", "F")}


def _link_scores(extracted: Sequence[tuple[Example, Extraction]]) -> Mapping[str, float]:
    right = found = wanted = 0
    for page, extraction in extracted:
        stated = _stated(page.document)
        blocks = {block for block in extraction.topic_links or () if block in stated}
        found += len(blocks)
        right += sum(stated[block] for block in blocks)
        wanted += sum(stated.values())
    return {**prf(right, found, wanted), "links": float(found)}


def _stated(document: Document) -> Mapping[int, bool]:
    """Return blocks of links under labels, True if the label says related."""
    linked = measure(document).linked
    stated: dict[int, bool] = {}
    for number, text in enumerate(document.blocks.texts):
        if len(text) <= MAX_LABEL_CHARS and not linked[number] and names_list(text):
            stated |= dict.fromkeys(blocks_under(document, number), states(text))
    return stated
