"""Relevance from dwell times: the model, and simulated readers who teach it."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.click import Click
from pipelines.search.clicks import NEUTRAL, Params, learn, likeliest, query_key
from tests.pipelines.search.readers import simulate
from tests.table import each_row

ARTICLE, OTHER, QUERY, ELSEWHERE = 1, 2, -7, 8


def opened(session: int, seconds: float, article: int = ARTICLE, *, query: int = QUERY, ended: bool = True) -> Click:
    return Click(session, query, article, 1, 0, seconds, ended)


def beside(*clicks: Click) -> list[Click]:
    """Clicks beside those of forty readers who stay with another article for half a minute."""
    return [*clicks, *(opened(1_000 + each, 30.0, OTHER) for each in range(40))]


def relevance(*clicks: Click, query: int = QUERY) -> float:
    return learn(beside(*clicks)).relevances(query).get(ARTICLE, NEUTRAL)


def test_nothing_is_learned_from_nothing() -> None:
    assert learn([]).relevances(QUERY) == {}
    assert relevance() == NEUTRAL


def test_relevance_of_four_visits_by_hand() -> None:
    """One article is read twice for 60 s, one twice for 15 s, by four sessions without habits.

    The middle is sqrt(5 x 180) = 30 s, so the usual time is (10 x 30 + 150) / (10 + 4) = 32.142857 s. Nothing else is
    known of either, so its mean is (4 x 32.142857 + 120) / (4 + 2) = 41.428571 s for one, and with 30 in place of 120
    26.428571 s for the other. Relevance is 1/2 + ln(mean / usual) / ln(180 / 5): 1/2 + .2537808 / 3.5835189, and 1/2 -
    .1957449 / 3.5835189.
    """
    clicks = [opened(1, 60), opened(2, 60), opened(3, 15, OTHER), opened(4, 15, OTHER)]
    found = learn(clicks, Params(habit_visits=1e12)).relevances(QUERY)
    assert found == pytest.approx({ARTICLE: 0.5708188, OTHER: 0.4453763}, abs=1e-6)


def test_likeliest_relevance_by_hand() -> None:
    """Two visits of 120 s in all have the rate 1/60; ln(60 / 5) / ln(180 / 5) = 2.4849066 / 3.5835189."""
    assert likeliest(2, 120.0) == pytest.approx(0.6934264, abs=1e-6)
    assert likeliest(2, 60.0) == pytest.approx(NEUTRAL)
    assert (likeliest(1, 4.0), likeliest(1, 200.0)) == (0.0, 1.0)
    with pytest.raises(ValueError, match="tell no rate"):
        likeliest(0, 60.0)


def test_relevance_grows_with_the_time() -> None:
    found = [relevance(*(opened(each, seconds) for each in range(10))) for seconds in (2, 10, 30, 90, 250)]
    assert found == sorted(found)
    assert found[0] < 0.25
    assert found[2] == pytest.approx(NEUTRAL, abs=0.01)
    assert found[-1] > 0.7


def test_exponential_times_give_their_order_away() -> None:
    """From 300 visits of each article."""
    draw = Random(1)
    true = {article: article / 10 for article in range(11)}
    clicks = [
        opened(draw.getrandbits(62), draw.expovariate(1 / (5 ** (1 - value) * 180**value)), article)
        for article, value in true.items()
        for _ in range(300)
    ]
    found = learn(clicks).relevances(ELSEWHERE)
    assert sorted(found, key=found.__getitem__) == list(true)
    assert found[0] < 0.2
    assert found[10] > 0.7


def test_single_visit_moves_little() -> None:
    assert NEUTRAL < relevance(opened(1, 200)) < NEUTRAL + 0.15
    assert NEUTRAL - 0.1 < relevance(opened(1, 2)) < NEUTRAL


def test_clicks_as_such_move_nothing() -> None:
    """What stands first is opened most, but not read longest."""
    assert relevance(*(opened(each, 30) for each in range(200))) == pytest.approx(NEUTRAL, abs=0.01)


def test_unknown_end_tells_that_it_was_at_least_so_long() -> None:
    short = [opened(each, 10) for each in range(5)]
    still_open = [opened(10 + each, 10, ended=False) for each in range(5)]
    assert relevance(*short) < relevance(*short, *still_open)
    assert relevance(*still_open) > NEUTRAL


@each_row("seconds", [0.0, 0.9])
def test_slips_count_for_nothing(seconds: float) -> None:
    assert relevance(*(opened(each, seconds) for each in range(50))) == NEUTRAL


def test_hours_count_as_minutes() -> None:
    assert relevance(opened(1, 86_400)) == relevance(opened(1, 300)) < NEUTRAL + 0.2


def test_session_counts_once() -> None:
    assert relevance(*[opened(1, 2)] * 1_000) == pytest.approx(relevance(opened(1, 2)))


def test_slow_readers_praise_nothing() -> None:
    """One who stays five minutes wherever he looks, and one who does so here only."""
    everywhere = [opened(1, 290, article) for article in (ARTICLE, *range(10, 40))]
    assert relevance(*everywhere) < relevance(opened(1, 290))
    assert relevance(*everywhere) == pytest.approx(NEUTRAL, abs=0.04)


def test_query_backs_off_to_all_queries() -> None:
    """What was read long for one query is presumed to be worth reading for others, until they tell otherwise."""
    for_one = [opened(each, 200) for each in range(10)]
    for_other = [opened(100 + each, 3, query=ELSEWHERE) for each in range(10)]
    assert NEUTRAL < relevance(*for_one, query=ELSEWHERE) < relevance(*for_one, query=QUERY) + 0.01
    both = (*for_one, *for_other)
    assert relevance(*both, query=ELSEWHERE) < relevance(*both, query=99) < relevance(*both, query=QUERY)


def test_queries_of_equal_words_are_one() -> None:
    same = {query_key(text) for text in ("新闻 港口", "港口，新聞", "“港口” 新闻 新闻", " 港口\n新闻 ")}
    assert len(same) == 1
    assert query_key("港口") not in same
    assert query_key("") == query_key("!?") == query_key("，" * 100_000)


clicks = st.builds(
    Click,
    st.integers(0, 3),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(1, 100),
    st.just(0),
    st.floats(0, 1e9),
    st.booleans(),
)


@given(st.lists(clicks, max_size=20))
def test_relevance_is_between_0_and_1_in_any_order(given: list[Click]) -> None:
    found = learn(given).relevances(QUERY)
    assert all(0 <= value <= 1 for value in found.values())
    again = learn(given[::-1]).relevances(QUERY)
    assert found == pytest.approx(again)


def mean_ndcg(**mix: float) -> tuple[float, float]:
    """NDCG@10 before and after 600 sessions, the mean of four worlds."""
    runs = [simulate(Random(seed), {kind.replace("_", " "): share for kind, share in mix.items()}) for seed in range(4)]
    return fmean(run[0] for run in runs), fmean(run[-1] for run in runs)


def test_readers_teach_the_ranking() -> None:
    before, after = mean_ndcg(honest=1)
    assert after > before + 0.03


@each_row("noise", [{"at_random": 0.3}, {"the_first": 0.3}, {"patient_machine": 0.1}])
def test_readers_teach_the_ranking_amid_noise(noise: dict[str, float]) -> None:
    before, after = mean_ndcg(honest=1 - sum(noise.values()), **noise)
    assert after > before + 0.015


@each_row("kind", ["at_random", "the_first", "patient_machine"])
def test_noise_alone_does_not_hurt(kind: str) -> None:
    before, after = mean_ndcg(**{kind: 1})
    assert after > before - 0.015
