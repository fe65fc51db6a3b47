"""Entropy of terms, anchors and structure: what a whole site repeats tells nothing.

EN_k tells how evenly a term is spread over the pages of a site, CII how much the terms of a node tell, ATI the same for
its anchors, SII how evenly a node's children share in something. From the root downwards, nodes whose children share
evenly are candidates; the one that tells most is the text, those whose anchors tell most are links on its topic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..document.document import Document
from ..document.noise import is_extra
from ..document.subtrees import LINK_SHARE, Flags, Values, children, inside, linked, plain, sums
from ..document.tokens import terms
from ..records import Extraction
from ..render import render
from .simpletree import body


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the entropy extractor.

    Attributes:
        structure: SII above which a node is a candidate, in [0, 1].
        share: children with less than this share of their node's information are of no use.
        min_chars: shortest text that is given out.
    """

    structure: float = 0.7
    share: float = 0.01
    min_chars: int = 40


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class Information:
    """Information in the nodes of one page.

    Attributes:
        content: CII of each node, in [0, 1].
        anchors: ATI of each node, in [0, 1].
        amount: CII x characters outside links: what a node tells in all.
    """

    content: Values
    anchors: Values
    amount: Values


def entropies(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Return EN_k = -sum_j w_kj log_n w_kj of every term k, with w_kj = tf of k in part j / tf of k in all n parts.

    Args:
        counts: terms of each part (page or block).

    Returns:
        Term -> entropy in [0, 1]: 0 for a term of one part only, 1 for one spread evenly over all.

    Cost: O(terms of all parts).
    Source: 朱宏灿, 龙朝阳, 基于熵的新闻网页抽取方法研究; after Kao et al., WISDOM, 2005 (S14).
    Differs: nothing; of a single part every entropy is 0.

    >>> entropies([Counter(a=1, b=1), Counter(a=1)])
    {'a': 1.0, 'b': 0.0}
    """
    totals: Counter[str] = Counter()
    for part in counts:
        totals.update(part)
    found = dict.fromkeys(totals, 0.0)
    base = math.log(len(counts)) if len(counts) > 1 else 1.0
    for part in counts:
        for term, count in part.items():
            share = count / totals[term]
            if share < 1:
                found[term] -= share * math.log(share) / base
    return {term: min(entropy, 1.0) for term, entropy in found.items()}


def structure(shares: Iterable[float]) -> float:
    """Return SII = -sum_c w_c log_m w_c of the m useful children of a node, with w_c = f(c) / sum f.

    Args:
        shares: f of each useful child, none of them negative.

    Returns:
        1 when the children share evenly, near 0 when one has nearly all; 0 for fewer than two.

    Source: S14.
    Differs: nothing.

    >>> structure([2, 2])
    1.0
    """
    values = list(shares)
    total = sum(values)
    parts = [part for value in values if total and (part := value / total) > 0]
    return -sum(part * math.log(part) for part in parts) / math.log(len(parts)) if len(parts) > 1 else 0.0


def weights(documents: Sequence[Document]) -> dict[str, float]:
    """Return what each term tells.

    Args:
        documents: pages of one site, or one page.

    Returns:
        Term -> weight in [0, 1]. Of several pages 1-EN_k: a term of one page tells all. Of one page EN_k over its
        blocks.

    Cost: O(characters of all pages).
    Source: S14.
    Differs: a single page cannot tell what a site repeats. Over the blocks of one page it is the other way round: what
    comes back from block to block is what the page is about, menus and teasers name everything once.
    """
    if len(documents) == 1:
        return entropies([Counter(terms(text)) for text in documents[0].blocks.texts])
    pages = [Counter(term for text in document.blocks.texts for term in terms(text)) for document in documents]
    return {term: 1.0 - entropy for term, entropy in entropies(pages).items()}


def information(document: Document, told: Mapping[str, float], titles: Mapping[str, str] | None = None) -> Information:
    """Return CII and ATI of every node: the mean weight of its terms, aggregated bottom-up by length of text.

    Args:
        document: a parsed page.
        told: weight of each term, see `weights`.
        titles: href as links give it -> title of the page there, as far as it is known.

    Returns:
        Three columns, one number per node.

    Cost: O(nodes + characters).
    Source: S14.
    Differs: an anchor's weight is raised by the share of its terms that the title of its target has, AP of the paper.
    """
    blocks = document.blocks
    means = np.array([_mean(told, terms(text)) for text in blocks.texts])
    chars, own = np.asarray(blocks.chars, np.float64), plain(document)
    total = sums(document, chars)
    content = np.divide(sums(document, means * chars), total, out=np.zeros(len(total)), where=total > 0)
    anchored = np.zeros(len(blocks))
    lengths = np.zeros(len(blocks))
    for _, href, _, anchor, block in document.links:
        if anchor and block < len(blocks):
            named = terms(anchor)
            aim = set(terms((titles or {}).get(href, "")))
            match = sum(term in aim for term in named) / max(len(named), 1)
            anchored[block] += min(_mean(told, named) * (1.0 + match), 1.0) * len(anchor)
            lengths[block] += len(anchor)
    linking = sums(document, lengths)
    anchors = np.divide(sums(document, anchored), linking, out=np.zeros(len(linking)), where=linking > 0)
    return Information(content, anchors, sums(document, means * own * ~linked(document)))


def candidates(document: Document, told: Information, params: Params = DEFAULTS) -> list[int]:
    """Return the information blocks: from the body downwards, the first nodes whose children share evenly.

    Args:
        document: a parsed page.
        told: its information.
        params: `structure` is the threshold ST.

    Returns:
        Nodes in document order, none inside another.

    Cost: O(nodes).
    Source: S14, top-down with a stack.
    Differs: f is the amount of information; a node without children of use is a candidate itself.
    """
    found = []
    stack = [body(document)]
    while stack:
        node = stack.pop()
        least = params.share * told.amount[node]
        useful = [child for child in children(document, node) if told.amount[child] > max(least, 0.0)]
        if not useful or structure(told.amount[useful]) > params.structure:
            found.append(node)
        else:
            stack += useful
    return sorted(found)


def related(document: Document, told: Information, found: Sequence[int], text: int) -> list[int]:
    """Return the candidates that are links on the topic: full of links, the most telling anchors first.

    Args:
        document: a parsed page.
        told: its information.
        found: the candidates.
        text: the candidate that is the text.

    Source: S14.
    Differs: nothing.
    """
    lists = [n for n in found if n != text and document.LT[n] > LINK_SHARE * document.T[n] and told.anchors[n] > 0]
    return sorted(lists, key=lambda node: (-told.anchors[node], node))


def extract(document: Document, params: Params = DEFAULTS) -> Extraction:
    """Return the main text of a page by entropy, from this page alone.

    Args:
        document: a parsed page.
        params: thresholds.

    Returns:
        Text and clean HTML, or an empty text with the reason.

    Cost: O(nodes + characters).
    Source: S14, see `weights`, `information` and `candidates`.
    Differs: see `extract_from`; entropies are those of terms over the page's blocks, see `weights`.
    """
    return extract_from(document, weights([document]), params)


def extract_from(document: Document, told: Mapping[str, float], params: Params = DEFAULTS) -> Extraction:
    """Return the main text of a page by entropy, given what the terms of its site tell.

    Args:
        document: a parsed page.
        told: weights of the terms, usually over several pages of the site.
        params: thresholds.

    Returns:
        Text and clean HTML, or an empty text with the reason.

    Cost: O(nodes + characters).
    Source: S14.
    Differs: of the candidates the one with the largest amount of information is taken, because the mean alone prefers
    single lines; links, labels and imprints inside it are left out.
    """
    if not len(document.blocks):
        return render.answer(document, [], (), params.min_chars)
    page = information(document, told)
    node = max(candidates(document, page, params), key=lambda n: (page.amount[n], -n))
    within: Flags = inside(document, node) & ~linked(document)
    texts = document.blocks.texts
    kept = [int(block) for block in np.flatnonzero(within) if not is_extra(texts[block])]
    share = float(page.amount[node]) / max(float(page.amount[0]), 1e-9)
    scores = page.content[np.asarray(document.blocks.nodes)].tolist()
    return render.answer(document, kept, scores, params.min_chars, share)


def _mean(told: Mapping[str, float], named: Sequence[str]) -> float:
    """Mean weight of terms, 0 for none."""
    return sum(told.get(term, 1.0) for term in named) / len(named) if named else 0.0
