"""Relevance of articles from the time that readers spend on them (S36)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db.records.click import Click
from db.records.keys import fingerprint

from ..text.words import fold, index_words

NEUTRAL = 0.5
"""Relevance of an article that nobody has opened."""

_QUERY_CHARS = 1_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the model.

    Attributes:
        irrelevant_seconds, relevant_seconds: mean times at relevance 0 and 1; at 0.5 it is their geometric mean, 30 s.
        least_seconds: shorter visits are slips, or pages fetched ahead: they count for nothing.
        most_seconds: of a longer visit so much counts, with no known end: the reader has left the screen.
        *_visits: visits from which the usual time, and that of a session, an article, a query, are presumed.
        session_visits: visits that those of a session count for, at most.
    """

    irrelevant_seconds: float = 5.0
    relevant_seconds: float = 180.0
    least_seconds: float = 1.0
    most_seconds: float = 300.0
    usual_visits: float = 10.0
    habit_visits: float = 3.0
    article_visits: float = 4.0
    query_visits: float = 4.0
    session_visits: float = 10.0


def query_key(text: str) -> int:
    """Return the number of a query: equal for equal words in any order and script.

    >>> query_key("Port news") == query_key("news, PORT"), query_key("新聞 港口") == query_key("港口 新闻")
    (True, True)
    """
    return fingerprint(" ".join(sorted(set(index_words(fold(text[:_QUERY_CHARS]), "")))))


class ClickModel:
    """Relevances of articles, for any query or one, and `readers` who opened each."""

    def __init__(
        self,
        articles: Mapping[int, float],
        queries: Mapping[int, Mapping[int, float]],
        readers: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.readers = readers
        self.articles = articles
        self._queries = queries

    def relevances(self, query: int) -> Mapping[int, float]:
        return {**self.articles, **self._queries.get(query, {})}


def learn(clicks: Sequence[Click], params: Params = Params()) -> ClickModel:
    """Estimate relevances from visits.

    The time T that a reader spends on a document is exponential, and its rate falls as the relevance r grows: log E[T]
    rises evenly from r = 0 to r = 1. With a Gamma prior of the rate the mean time is (k m + S) / (k + n) from n visits
    of S seconds together, as if k visits of the presumed mean m had come before: that of all articles for one, that of
    the article for one query. A visit whose end is not known adds to S only. Clicks as such move nothing: results that
    stand high are opened more, but not read longer.

    Source:  S36, He, Yuan and Yan, A click model based on browsing time (2011): browsing time is exponential, and its
             rate depends on the relevance.
    Differs: we know the abstract alone: how the rate depends on the relevance, the priors and the bounds are ours. A
             session counts once for an article and a query, in units of its own habit, and for `session_visits` in all,
             so slow readers and machines tell little.
    """
    counted = [click for click in clicks if click.seconds >= params.least_seconds]
    if not counted:
        return ClickModel({}, {})
    columns = zip(*((c.session, c.query, c.article_id, c.seconds, c.is_ended) for c in counted), strict=True)
    session, query, article, seconds, ended = (np.array(column) for column in columns)
    _, session = np.unique(session, return_inverse=True)
    queries, query = np.unique(query, return_inverse=True)
    articles, article = np.unique(article, return_inverse=True)
    pairs, pair = np.unique(query * len(articles) + article, return_inverse=True)
    _, visit, times = np.unique(pair * len(counted) + session, return_inverse=True, return_counts=True)

    weights = 1 / times[visit]
    ends = (ended & (seconds < params.most_seconds)) * weights
    spent = np.minimum(seconds, params.most_seconds) * weights
    middle = np.sqrt(params.irrelevant_seconds * params.relevant_seconds)
    usual = _mean(params.usual_visits, middle, ends.sum(), spent.sum())
    habits = _mean(params.habit_visits, usual, _total(ends, session), _total(spent, session))
    spent *= (usual / habits)[session]
    shares = np.minimum(1, params.session_visits / _total(weights, session))[session]
    ends, spent = ends * shares, spent * shares

    usual = _mean(params.usual_visits, middle, ends.sum(), spent.sum())
    ended_of, seconds_of = _total(ends, article), _total(spent, article)
    ended_for, seconds_for = _total(ends, pair), _total(spent, pair)
    asked, opened = np.divmod(pairs, len(articles))
    of_article = _mean(params.article_visits, usual, ended_of, seconds_of)
    elsewhere = _mean(params.article_visits, usual, ended_of[opened] - ended_for, seconds_of[opened] - seconds_for)
    for_query = _mean(params.query_visits, elsewhere, ended_for, seconds_for)

    scale = log(params.relevant_seconds / params.irrelevant_seconds)
    by_query: defaultdict[int, dict[int, float]] = defaultdict(dict)
    rows = zip(queries[asked].tolist(), articles[opened].tolist(), _relevance(for_query / usual, scale), strict=True)
    for key, article_id, relevance in rows:
        by_query[key][article_id] = relevance
    of_all = dict(zip(articles.tolist(), _relevance(of_article / usual, scale), strict=True))
    readers = Counter(one for one, _ in {(each.article_id, each.session) for each in counted})
    return ClickModel(of_all, by_query, readers)


def likeliest(ended: float, seconds: float, params: Params = Params()) -> float:
    """Return the relevance at which visits of `seconds` in all are most probable.

    The exponential alone, without any prior: `ended` of them have a known end, and its rate is ended / seconds.
    `ValueError`: no visit has an end.

    >>> round(likeliest(2, 120.0), 4), likeliest(1, 5.0)
    (0.6934, 0.0)
    """
    if not ended > 0 or not seconds > 0:
        raise ValueError(f"{ended} visits of {seconds} seconds tell no rate; both are above 0")
    scale = log(params.relevant_seconds / params.irrelevant_seconds)
    return min(1.0, max(0.0, log(seconds / ended / params.irrelevant_seconds) / scale))


def _total(values: Floats, group: NDArray[np.intp]) -> Floats:
    return np.bincount(group, values).astype(np.float64)


def _mean(visits: float, presumed: Any, ended: Any, seconds: Any) -> Any:
    return (visits * presumed + seconds) / (visits + ended)


def _relevance(times: Floats, scale: float) -> list[float]:
    relevances: list[float] = np.clip(NEUTRAL + np.log(times) / scale, 0, 1).tolist()
    return relevances
