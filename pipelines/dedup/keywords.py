"""Near-duplicates by equal keywords of equal weight (S31)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..document.tokens import cosine
from ..text.words import words
from .normalize import VERSION
from .shape import IndexParams, Method
from .words import keyword_method, make_readable

NAME = "keywords"


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of `keywords`; the last ones are those of `IndexParams`.

    `title`, `lead` and `body` are what an occurrence weighs there. Keywords that fewer than `least_stories` clusters
    have are not looked up. From `cosine` of two vectors pages are
    near-duplicates, from `length_ratio` (shorter over longer) "edited", not a part.
    """

    keywords: int = 10
    title: int = 3
    lead: int = 2
    body: int = 1
    lead_chars: int = 100
    cosine: float = 0.8
    length_ratio: float = 0.7
    least_stories: int = 1
    most_stories: int = 1_000
    least_shared: int = 2
    candidates: int = 8


def method(params: Params = Params()) -> Method:
    """Build the method with some parameters.

    Keywords are the words that weigh most; pages that share some are compared by the cosine of the weights, so a text
    in other words but of the same matter passes too: what the method gains in paraphrases it loses in precision.

    Cost:    a signature takes 2.5 ms per 1,000 Chinese characters with jieba, 0.2 with rjieba; a comparison 5
             microseconds.
    Source:  S31, near-duplicate detection by the characteristic keywords of pages: block-weighted keywords, an inverted
             index, cosine.
    Differs: blocks are title, lead and body, because the page around the article is gone already. The paper looks a
             keyword up when more pages than a threshold have it, which it does not print; here it is `least_stories`
             clusters, and 1 by default, as 2 lose copies for as many comparisons. One keyword that two pages share
             makes no candidates, two do; words in very many clusters find nothing. Up to ten texts of a cluster are
             compared instead of one, because a copy of a part need not repeat the first. Pages of the last days alone
             are compared where the caller says so (`KEEP_DAYS`), not by the method. Clusters are shown whole, and not
             by the reader's taste.
    """

    def describe(title: str, text: str) -> tuple[Counter[str], Counter[str]]:
        weights = _heaviest(title, text, params)
        return weights, weights

    index = IndexParams(
        params.most_stories,
        params.least_shared,
        0.0,
        params.keywords,
        params.candidates,
        least_stories=params.least_stories,
    )
    form = f"keywords {params.keywords} {params.title} {params.lead} {params.body} {params.lead_chars}, {VERSION}"
    return keyword_method(
        NAME, form, index, describe=describe, measure=cosine, pivot=params.cosine, length_ratio=params.length_ratio
    )


def _heaviest(title: str, text: str, params: Params) -> Counter[str]:
    body = make_readable(text)
    weights: Counter[str] = Counter()
    for block, weight in (
        (make_readable(title), params.title),
        (body[: params.lead_chars], params.lead),
        (body[params.lead_chars :], params.body),
    ):
        for word, count in Counter(words(block)).items():
            weights[word] += weight * count
    return Counter(dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[: params.keywords]))
