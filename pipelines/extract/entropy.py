"""Entropy of terms and structure: terms that come back tell what a page is about.

From the root downwards, nodes whose children share evenly are candidates; the one that tells most is the text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..document.document import Document
from ..document.noise import is_extra
from ..document.tokens import terms
from ..document.view import Values, measure
from ..records import Extraction
from ..text_form import render
from .simpletree import body


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the entropy extractor.

    A node is a candidate above the SII `structure`, in [0, 1]; children with less than `share` of their node's
    information are ignored.
    """

    structure: float = 0.7
    share: float = 0.01
    min_chars: int = 40


def entropies(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the entropy EN_k = -sum_j w_kj log_n w_kj of every term k of n parts.

    w_kj is the share of part j in all occurrences of k. The entropy is 0 for a term of one part only, 1 for one spread
    evenly over all.

    Cost: O(terms of all parts).
    Source: 朱宏灿, 龙朝阳, 基于熵的新闻网页抽取方法研究; after Kao et al., WISDOM, 2005 (S14).
    Differs: nothing; of a single part every entropy is 0.

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


def structure(shares: Iterable[float]) -> float:
    """Return SII = -sum_c w_c log_m w_c of a node's m useful children.

    w_c is f(c) over the sum of f; no f in `shares` is negative. The result is 1 when the children share evenly, near 0
    when one has nearly all, and 0 for fewer than two.

    Source: S14.
    Differs: nothing.

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
    view, chars = measure(document), np.asarray(document.blocks.chars, np.float64)
    total = view.sums(chars)
    content = np.divide(view.sums(means * chars), total, out=np.zeros(len(total)), where=total > 0)
    return content, view.sums(means * view.prose)


def candidates(document: Document, amount: Values, params: Params) -> list[int]:
    """Return the first nodes, from the body downwards, whose children share evenly.

    They come in document order, none inside another; `amount` is the information in each node.

    Cost: O(nodes).
    Source: S14, top-down with a stack.
    Differs: f is the amount of information; a node without useful children is a candidate itself.
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


def extract(document: Document, params: Params) -> Extraction:
    """Return the main text of a page by entropy, from this page alone.

    Cost: O(nodes + characters).
    Source: S14, see `information` and `candidates`.
    Differs: the candidate with the largest amount of information is taken, because the mean alone prefers single lines;
        links, labels and imprints inside it are left out; links on the topic are not looked for.
    """
    content, amount = information(document)
    node = max(candidates(document, amount, params), key=lambda n: (amount[n], -n))
    texts, view = document.blocks.texts, measure(document)
    within = np.flatnonzero(view.inside(node) & ~view.linked).tolist()
    blocks = [block for block in within if not is_extra(texts[block])]
    share = float(amount[node]) / max(float(amount[0]), 1e-9)
    scores = content[view.nodes].tolist()
    return render.answer(document, blocks, scores, params.min_chars, share)
