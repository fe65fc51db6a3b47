from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.query import QueryPlan, read_query
from pipelines.search.ranking import Params, likeness, passage, score, weigh
from pipelines.search.records import SearchQuery
from pipelines.search.terms import LEAD_CHARS, index_terms, unpack
from pipelines.text.words import fold, index_words

Article = tuple[str, str]
WORDS = ["bridge", "river", "town", "hekou", "opens", "the", "市长", "河口", "大桥", "的"]
FILLER = "此外还有别的消息。" * 20


def frequencies(articles: Sequence[Article]) -> Counter[str]:
    return Counter(word for article in articles for word in index_terms(*article, "", "", "en").words.split())


def scores(query: str, articles: Sequence[Article]) -> list[float]:
    terms = read_query(SearchQuery(query)).terms
    packed = unpack([index_terms(*article, "", "", "en").terms for article in articles])
    return score(terms, weigh(terms, frequencies(articles), len(articles)), packed).tolist()


def slow_scores(plan: QueryPlan, articles: Sequence[Article], params: Params) -> list[float]:
    """BM25F as it stands in the books, without packing."""
    titles = [index_words(fold(title), "en") for title, _ in articles]
    bodies = [index_words(fold(text), "en") for _, text in articles]
    leads = [index_words(fold(text)[:LEAD_CHARS], "en") for _, text in articles]
    found = []
    mean_title = sum(map(len, titles)) / len(titles) or 1.0
    mean_body = sum(map(len, bodies)) / len(bodies) or 1.0
    for title, body, lead in zip(titles, bodies, leads, strict=True):
        total = 0.0
        for term in plan.terms:
            df = sum(
                term.tokens[0] in {*other_title, *other} for other_title, other in zip(titles, bodies, strict=True)
            )
            idf = math.log(1 + (len(articles) - df + 0.5) / (df + 0.5)) ** params.rarity
            in_body = min(15, body.count(term.tokens[0])) + params.lead * (term.tokens[0] in lead)
            in_title = min(1, title.count(term.tokens[0]))
            tf = in_body / max(0.1, 1 - params.b + params.b * len(body) / mean_body)
            tf += params.title * in_title / max(0.1, 1 - params.b + params.b * len(title) / mean_title)
            total += term.weight * idf * tf * (params.k1 + 1) / (tf + params.k1)
        found.append(total)
    return found


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
            st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_score_equals_the_formula(query: list[str], articles: list[Article]) -> None:
    text = " ".join(query)
    assert scores(text, articles) == pytest.approx(slow_scores(read_query(SearchQuery(text)), articles, Params()))


def test_score_of_each_field_by_hand() -> None:
    """Each title has one token and each body two, so norms are 1; k1 is 1.2: c occurrences give 2.2 c / (c + 1.2).

    In the title c is 1.5, in the description 0.25, in the tags 1; in the text, the lead, the description and the tags
    it is 1 + 1 + 0.25 + 1.
    """
    articles = [
        index_terms("bridge", "x y", "", "", "en"),
        index_terms("z", "x y", "", "", "en", description="a bridge"),
        index_terms("z", "x y", "", "", "en", tags="ferry、bridge"),
        index_terms("z", "x bridge", "", "", "en", description="bridge", tags="bridge"),
        index_terms("z", "x y", "", "", "en", description="a town", tags="ferry"),
    ]
    terms = read_query(SearchQuery("bridge", language="en")).terms
    found = score(terms, np.array([1.0]), unpack([one.terms for one in articles]))
    assert found.tolist() == pytest.approx([1.22222, 0.37931, 1.0, 1.60674, 0.0], abs=1e-5)


def test_word_in_the_title_or_lead_counts_more() -> None:
    title, lead, middle, nowhere = scores(
        "大桥",
        [("大桥", FILLER), ("消息", "大桥。" + FILLER), ("消息", FILLER + "大桥。"), ("消息", FILLER)],
    )
    assert title > middle > nowhere == 0.0
    assert lead > middle


def test_rare_words_count_more_than_frequent_ones() -> None:
    articles = [("", "town hekou"), ("", "town bridge"), ("", "town x"), ("", "town y")]
    found = scores("town bridge", articles)
    assert found[1] > 2 * found[0] > 0


def test_stop_words_alone_find_what_has_them() -> None:
    found = scores("the", [("", "the bridge"), ("", "a bridge")])
    assert found[0] > found[1] == 0.0


def test_words_of_other_languages_are_found_by_their_stems() -> None:
    terms = read_query(SearchQuery("Häuser")).terms
    packed = unpack([index_terms("", "Das Haus", "", "", "de").terms, index_terms("", "Die Stadt", "", "", "de").terms])
    found = score(terms, weigh(terms, {"haus.de": 1}, 2), packed)
    assert found[0] > found[1] == 0.0


def test_no_terms_and_no_articles_give_no_scores() -> None:
    plan = read_query(SearchQuery(""))
    empty = weigh(plan.terms, {}, 0)
    assert score(plan.terms, empty, unpack([])).tolist() == []
    assert score(plan.terms, empty, unpack([index_terms("a", "b", "", "", "").terms])).tolist() == [0.0]


def of_passage(query: str, text: str, language: str = "zh") -> float:
    terms = read_query(SearchQuery(query)).terms
    return passage(terms, weigh(terms, {}, 100), text, language)


def test_passage_with_all_words_counts_more_than_the_same_words_apart() -> None:
    together = of_passage("河口 市长 大桥", "消息。河口的市长说大桥好。天气。")
    apart = of_passage("河口 市长 大桥", "消息。河口很好。市长在家。大桥长。天气。")
    assert together > apart > of_passage("河口 市长 大桥", "天气。") == 0.0


def test_neighbours_in_query_and_text_count_more() -> None:
    near = of_passage("boundary layer", "flow of a boundary layer on a wing", "en")
    assert near > of_passage("boundary layer", "layer of flow in the far boundary of a wing", "en")


def test_characters_of_a_word_that_is_not_there_count_a_little() -> None:
    whole, part, none = (of_passage("河口 独立", text) for text in ("河口独立。", "河口单独建立。", "河口很好。"))
    assert whole > part > none


def test_passage_of_a_repeated_word_takes_a_bounded_time() -> None:
    started = time.process_time()
    assert of_passage("大桥 河口", "大桥河口" * 5_000) > 0
    assert time.process_time() - started < 3


@given(st.text(max_size=50), st.text(max_size=500))
def test_passage_of_any_text(query: str, text: str) -> None:
    assert 0.0 <= of_passage(query, text) == of_passage(query, text) < math.inf


def test_likeness_raises_what_shares_words_with_the_best_and_keeps_the_first_first() -> None:
    articles = [
        ("", "A typhoon; the harbour flooded and ferries stopped."),
        ("", "The typhoon: harbour flooded, ferries stopped again."),
        ("", "A typhoon of prices on the stock exchange."),
        ("", "A typhoon where the harbour flooded, ferries stopped and wharves closed."),
        *[("", f"A bakery sells number {n} bread.") for n in range(20)],
    ]
    terms = read_query(SearchQuery("typhoon")).terms
    packed = unpack([index_terms(*article, "", "", "en").terms for article in articles])
    before = score(terms, weigh(terms, frequencies(articles), len(articles)), packed)
    more = likeness(terms, before, [2, 0, 1], packed)
    assert more[0] > more[4]
    assert more[3] > more[4]
    assert more[2] == more.max()
    assert not likeness(terms, before, [2, 0, 1], packed, Params(like=0)).any()


def test_word_as_it_was_written_goes_before_its_other_spellings() -> None:
    plan = read_query(SearchQuery("résumé"))
    weights = weigh(plan.terms, {}, 10)
    exact, other = (passage(plan.terms, weights, text, "en") for text in ("The résumé fair.", "The resume fair."))
    assert exact > other > 0
    terms = read_query(SearchQuery("resume")).terms
    exact, other = (passage(terms, weights, text, "en") for text in ("The resume fair.", "The résumé fair."))
    assert exact == other > 0
