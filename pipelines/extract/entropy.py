"""Entropy of terms, anchors and structure: texts that a site repeats say nothing.

From the root downwards, nodes whose children share evenly are candidates; of these, some are the text of the page and
others its links to related pages. Counts of a site's terms come from outside (`SiteTerms`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from zlib import crc32

import numpy as np

from ..document.document import Document
from ..document.noise import is_extra
from ..document.tokens import terms
from ..document.view import Flags, Values, measure
from ..records import Extraction, SiteTerms, Spread
from ..text_form import render
from .simpletree import body

MIN_PAGES: Final = 3
"""Pages of a site from which its terms count; below, a page is read alone."""
_LINK_PAGES: Final = 9
"""Pages from which they tell links to related pages from others."""
_FADED: Final = 0.9
"""Part of so many pages that is left when they have faded."""


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the entropy extractor, in [0, 1], and its number of blocks.

    ST is `structure`, TC `content` and TA `anchors`. A node is a candidate above the SII `structure`; children with
    less than `share` of their node's information are ignored. With the terms of a site, candidates above the CII
    `content` are text, at most `blocks` of them, and those above the ATI `anchors` are links to related pages.
    """

    structure: float = 0.7
    content: float = 0.1
    anchors: float = 0.7
    blocks: int = 1
    share: float = 0.01
    min_chars: int = 40


def entropies(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the entropy EN_k = -sum_j w_kj log_n w_kj of every term k of n parts.

    Parts are the pages of a site, or sites, each counted as a whole: the first tell what a site repeats, the second
    what all of them do. w_kj is the share of part j in all occurrences of k. The entropy is 0 for a term of one part
    only, 1 for one spread evenly over all.

    Cost: O(terms of all parts).
    Source: 朱宏灿, 龙朝阳, 基于熵的新闻网页抽取方法研究; after Kao et al., WISDOM, 2005 (S14).
    Differs: nothing; of a single part every entropy is 0. The paper's two formulas differ in their parts alone.

    >>> entropies([Counter(a=1, b=1), Counter(a=1)])
    {'a': 1.0, 'b': 0.0}
    """
    totals: Counter[str] = Counter()
    for part in counts:
        totals.update(part)
    entropy_of = dict.fromkeys(totals, 0.0)
    base = math.log(len(counts)) if len(counts) > 1 else 1.0
    for part in counts:
        for term, count in part.items():
            share = count / totals[term]
            if share < 1:
                entropy_of[term] -= share * math.log(share) / base
    return {term: min(entropy, 1.0) for term, entropy in entropy_of.items()}


def add_pages(site: SiteTerms, pages: Sequence[Mapping[int, int]], most: int, fading: float = 1.0) -> SiteTerms:
    """Add the counts of terms (by `term_key`) of further pages of a site.

    What was counted before weighs `fading` times as much with every page. The `most` terms that are spread widest stay.

    Cost: O(terms of the site and pages).
    Source: S14: the sums of `entropies`, kept so that pages need not be.
    Differs: older pages fade, and a term that falls out begins anew.
    """
    faded = fading ** len(pages)
    whole = _fade(site.pages, faded)
    terms_of_site = {key: _fade(spread, faded) for key, spread in site.terms.items()}
    for place, page in enumerate(pages, 1):
        weight = fading ** (len(pages) - place)
        whole = _add(whole, weight)
        for key, count in page.items():
            terms_of_site[key] = _add(terms_of_site.get(key, _NOWHERE), weight * count)
    if len(terms_of_site) > most:
        # ties are broken by the key, so that the same pages always give the same terms
        widest = sorted(terms_of_site, key=lambda key: (-_entropy(terms_of_site[key]), -terms_of_site[key].total, key))
        terms_of_site = {key: terms_of_site[key] for key in widest[:most]}
    return SiteTerms(whole, terms_of_site)


def term_key(term: str) -> int:
    """Return a stable unsigned 32-bit hash."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def term_counts(document: Document) -> Counter[str]:
    """Count the terms of a page in all its text. Cost: O(characters)."""
    return Counter(terms("\n".join(document.blocks.texts)))


def term_weights(page: Mapping[str, int], site: SiteTerms) -> dict[str, float]:
    """Return the weight 1 - EN_k of every term of a page among those of its site.

    The page itself counts too. A term that no other page has weighs 1, one that all have equally often 0.

    Cost: O(terms of the page).
    Source: S14.
    Differs: the page counts as one that came after the others, which have faded.
    """
    whole = _entropy(_add(site.pages, 1.0))
    weights = {}
    for term, count in page.items():
        spread = _add(site.terms.get(term_key(term), _NOWHERE), float(count))
        weights[term] = max(0.0, 1.0 - _entropy(spread) / whole) if whole > 0 else 1.0
    return weights


_NOWHERE: Final = Spread(0.0, 0.0)


def _add(spread: Spread, count: float) -> Spread:
    return Spread(spread.total + count, spread.logs + count * math.log(count))


def _fade(spread: Spread, factor: float) -> Spread:
    # sum of f x ln(f x) = f (sum of x ln x) + f ln f (sum of x)
    return Spread(factor * spread.total, factor * (spread.logs + math.log(factor) * spread.total))


def _entropy(spread: Spread) -> float:
    """Return the entropy of the shares x / total, in nats."""
    # -sum of (x / total) ln(x / total) = ln(total) - (sum of x ln x) / total
    return math.log(spread.total) - spread.logs / spread.total if spread.total > 0 else 0.0


def anchor_index(anchor: Sequence[str], weights: Mapping[str, float], target: Collection[str] = ()) -> float:
    """Return ATI of one link: the mean over its terms of max(1 - EN_k, AP).

    AP = M / n, where M of the n terms of the anchor are among those of the page that it leads to. So neither a target
    that words its subject differently nor one that is unknown makes an anchor worth less than its own terms.

    Source: S14.
    Differs: the formula is garbled in our copy; this is what the text around it says. 0 for an anchor without terms.

    >>> anchor_index(["ferry", "fares"], {"ferry": 0.9, "fares": 0.3}, {"ferry", "rises"})
    0.7
    """
    if not anchor:
        return 0.0
    matched = sum(term in target for term in anchor) / len(anchor)
    return sum(max(weights.get(term, 1.0), matched) for term in anchor) / len(anchor)


def structure(shares: Iterable[float]) -> float:
    """Return SII = -sum_c w_c log_m w_c of a node's m useful children.

    w_c is f(c) over the sum of f; no f in `shares` is negative. The result is 1 when the children share evenly, near 0
    when one has nearly all, and 0 for fewer than two.

    Source: S14.
    Differs: the paper leaves open what SII is of fewer than two children.

    >>> structure([2, 2])
    1.0
    """
    values = list(shares)
    total = sum(values)
    parts = [part for value in values if total and (part := value / total) > 0]
    return -sum(part * math.log(part) for part in parts) / math.log(len(parts)) if len(parts) > 1 else 0.0


def information(document: Document) -> tuple[Values, Values]:
    """Return CII of every node and its amount: CII x characters outside links.

    CII, in [0, 1], is the mean weight of a node's terms, aggregated bottom-up by length of text. A term weighs its EN_k
    over the page's blocks.

    Cost: O(nodes + characters).
    Source: S14.
    Differs: the paper takes 1-EN_k over several pages to tell what a site repeats. Over the blocks of one page, what
        comes back is what the page is about; menus and teasers name everything once.
    """
    named = [terms(text) for text in document.blocks.texts]
    weights = entropies([Counter(each) for each in named])
    means = np.array([sum(weights[term] for term in each) / len(each) if each else 0.0 for each in named])
    view = measure(document)
    content, _ = _aggregate(document, means, np.asarray(document.blocks.chars, np.float64))
    return content, view.sums(means * view.prose)


def candidates(document: Document, amount: Values, params: Params) -> list[int]:
    """Return the first nodes, from the body downwards, whose children share evenly.

    They come in document order, none inside another; `amount` is the information in each node.

    Cost: O(nodes).
    Source: S14, top-down with a stack.
    Differs: f is the amount of information; a node without useful children is a candidate itself; the stack is not in
        order of f, which changes nothing when all are taken.
    """
    view, nodes = measure(document), []
    stack = [body(document)]
    while stack:
        node = stack.pop()
        least = params.share * amount[node]
        useful = [child for child in view.children(node) if amount[child] > max(least, 0.0)]
        if not useful or structure(amount[useful]) > params.structure:
            nodes.append(node)
        else:
            stack += useful
    return sorted(nodes)


def information_blocks(
    document: Document,
    weights: Mapping[str, float],
    params: Params,
    targets: Mapping[str, Collection[str]] | None = None,
) -> tuple[Sequence[int], Sequence[int]]:
    """Return nodes: the text blocks of a page, and its topic-related link blocks.

    CII of a node is the mean weight of its terms outside links, ATI that of its anchors (`anchor_index`), both
    aggregated bottom-up by length of text. Candidates above the thresholds are kept: of text at most `params.blocks`,
    by amount of information; all of links, by ATI.

    Args:
        document: a page.
        weights: of its terms, see `term_weights`.
        params: thresholds.
        targets: href -> terms of the page that it leads to, where known.

    Cost: O(nodes + characters).
    Source: S14.
    Differs: words of links do not count for CII; text and links each have a tree of their own, so that a node is not
        both; the text blocks with the most information are taken, because the mean alone prefers single lines.
    """
    content, amount = _content(document, weights)
    found = [node for node in candidates(document, amount, params) if content[node] > params.content]
    text = sorted(found, key=lambda node: (-amount[node], node))[: params.blocks]
    anchors, worth = _anchors(document, weights, targets or {})
    linked = [node for node in candidates(document, worth, params) if anchors[node] > params.anchors]
    return text, sorted(linked, key=lambda node: (-anchors[node], node))


def _content(document: Document, weights: Mapping[str, float]) -> tuple[Values, Values]:
    named = [terms(text) for text in document.blocks.texts]
    means = np.array([sum(map(weights.__getitem__, each)) / len(each) if each else 0.0 for each in named])
    return _aggregate(document, means, measure(document).prose.astype(np.float64))


def _anchors(
    document: Document, weights: Mapping[str, float], targets: Mapping[str, Collection[str]]
) -> tuple[Values, Values]:
    """Return ATI of every node and its amount: ATI x characters in links."""
    sums, chars = np.zeros(len(document.blocks)), np.zeros(len(document.blocks))
    for _, href, _, anchor, block in document.links:
        if anchor and block < len(sums):
            sums[block] += len(anchor) * anchor_index(terms(anchor), weights, targets.get(href, ()))
            chars[block] += len(anchor)
    means = np.divide(sums, chars, out=np.zeros(len(sums)), where=chars > 0)
    return _aggregate(document, means, np.where(measure(document).linked, chars, 0.0))


def _aggregate(document: Document, means: Values, chars: Values) -> tuple[Values, Values]:
    view = measure(document)
    total, amount = view.sums(chars), view.sums(means * chars)
    return np.divide(amount, total, out=np.zeros(len(total)), where=total > 0), amount


def extract(document: Document, params: Params) -> Extraction:
    """Return text and topic-related link blocks by entropy over the site's pages.

    A page whose site is not known by `MIN_PAGES` pages is read alone, by `extract_alone`; link blocks are looked for
    when nine are known.

    Cost: O(nodes + characters).
    Source: S14, see `information_blocks`.
    Differs: links, labels and imprints inside the text blocks are left out; targets of links are not known.
    """
    site = document.site_terms
    if site is None or site.pages.total < _FADED * MIN_PAGES:
        return extract_alone(document, params)
    extraction = extract_weighed(document, term_weights(term_counts(document), site), params)
    return extraction if site.pages.total >= _FADED * _LINK_PAGES else replace(extraction, topic_links=None)


def extract_weighed(
    document: Document,
    weights: Mapping[str, float],
    params: Params,
    targets: Mapping[str, Collection[str]] | None = None,
) -> Extraction:
    """Return text and topic-related link blocks by weights of terms.

    For the arguments see `information_blocks`.
    """
    view = measure(document)
    text, linked = information_blocks(document, weights, params, targets)
    within = view.in_any(text)
    content, amount = _content(document, weights)
    share = float(sum(amount[node] for node in text)) / max(float(amount[0]), 1e-9)
    answer = _answer(document, within, content[view.nodes], min(share, 1.0), params)
    lists = np.flatnonzero(view.in_any(linked) & view.linked)
    return replace(answer, topic_links=tuple(int(block) for block in lists))


def extract_alone(document: Document, params: Params) -> Extraction:
    """Return the main text of a page by entropy, from this page alone.

    Cost: O(nodes + characters).
    Source: S14, see `information` and `candidates`.
    Differs: the weight is EN_k over the blocks of the page, not 1 - EN_k over pages; the candidate with the largest
        amount of information is taken, because the mean alone prefers single lines; links, labels and imprints inside
        it are left out; links on the topic are not looked for.
    """
    content, amount = information(document)
    node = max(candidates(document, amount, params), key=lambda n: (amount[n], -n))
    share = float(amount[node]) / max(float(amount[0]), 1e-9)
    view = measure(document)
    return _answer(document, view.inside(node), content[view.nodes], share, params)


def _answer(document: Document, within: Flags, scores: Values, share: float, params: Params) -> Extraction:
    texts = document.blocks.texts
    kept = np.flatnonzero(within & ~measure(document).linked).tolist()
    blocks = [block for block in kept if not is_extra(texts[block])]
    return render.answer(document, blocks, scores.tolist(), params.min_chars, share)
