"""Near-duplicates by equal keywords of equal weight (S31)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from db.records.evidence import DIFFERENT, SAME

from ..document.tokens import cosine
from ..records import Signature
from .kinds import compare_shares
from .normalize import VERSION, exact_hash, normalize
from .shape import Comparison, IndexParams, Method
from .words import cache_pages, hash_words, make_readable, telling_words

NAME = "keywords"


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of `keywords`.

    Attributes:
        keywords: the heaviest words that are kept of a page.
        title, lead, body: what one occurrence of a word weighs there.
        lead_chars: characters of the text that are its lead.
        cosine: cosine of two keyword vectors from which the pages are near-duplicates.
        length_ratio: shorter over longer length from which a near-duplicate is "edited", not a part.
        most_stories, least_shared, candidates: see `IndexParams`.
    """

    keywords: int = 10
    title: int = 3
    lead: int = 2
    body: int = 1
    lead_chars: int = 100
    cosine: float = 0.8
    length_ratio: float = 0.7
    most_stories: int = 1_000
    least_shared: int = 2
    candidates: int = 8


class KeywordPage(NamedTuple):
    """Keywords of a page with their weights.

    Attributes:
        exact: hash of the normalised text, 0 for an empty one.
        length: its characters.
        weights: of the keywords.
    """

    exact: int
    length: int
    weights: Counter[str]


def method(params: Params = Params()) -> Method:
    """Build the method with some parameters.

    The keywords of a page are the words that weigh most, where an occurrence in the title or the lead counts more than
    one in the body. Pages that share keywords are compared by the cosine of their weights, so a text in other words
    but of the same matter passes too: what the method gains in paraphrases it loses in precision.

    Cost:    a signature takes 2.5 ms per 1,000 Chinese characters with jieba, 0.2 with rjieba; a comparison 5
             microseconds.
    Source:  S31, near-duplicate detection by the characteristic keywords of pages: block-weighted keywords, an inverted
             index, cosine.
    Differs: blocks are title, lead and body, because the page around the article is gone already. One keyword that
             two pages share makes no candidates, two do; words in very many stories find nothing. Clusters and the
             limit to recent pages are those of every method here.
    """

    @cache_pages
    def page(title: str, text: str) -> KeywordPage:
        normalized = normalize(text)
        return KeywordPage(exact_hash(normalized), len(normalized), _heaviest(title, text, params))

    def sign(title: str, text: str) -> Signature:
        found = page(title, text)
        return Signature(found.exact, hash_words(found.weights), found.length) if found.exact else Signature()

    def compare(new: KeywordPage, stored: KeywordPage) -> Comparison:
        if not new.exact or not stored.exact:
            return Comparison(0.0, DIFFERENT)
        if new.exact == stored.exact:
            return Comparison(1.0, SAME)
        share = cosine(new.weights, stored.weights)
        return compare_shares(share, params.cosine, new.length, stored.length, params.length_ratio)

    index = IndexParams(params.most_stories, params.least_shared, 0.0, params.keywords, params.candidates)
    form = f"keywords {params.keywords} {params.title} {params.lead} {params.body} {params.lead_chars}, {VERSION}"
    return Method(NAME, form, sign, page, compare, index)


def _heaviest(title: str, text: str, params: Params) -> Counter[str]:
    """Return the keywords of a page with their weights.

    Of equal ones, the first by name.
    """
    body = make_readable(text)
    weights: Counter[str] = Counter()
    for block, weight in (
        (make_readable(title), params.title),
        (body[: params.lead_chars], params.lead),
        (body[params.lead_chars :], params.body),
    ):
        for word, count in Counter(telling_words(block)).items():
            weights[word] += weight * count
    return Counter(dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[: params.keywords]))
