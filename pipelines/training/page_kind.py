"""Training of the model of kinds: words, networks over their votes, calibration."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..models.network import DenseNetwork, standardise
from ..page_kind.model import KindModel, Numbers, WordVotes, hear, log_odds
from ..page_kind.words import Words
from ..records import PageKind

FOLDS: Final = 4
_OTHERS: Final = 2.0
"""Weight of a page that is no article beside one that is: there are fewer."""
_REFUSED: Final = 3.0
"""Weight of an article for the networks, so that refused ones cost more."""
_REPEATED: Final = 1e-3
_NEVER: Final = -12.0
"""Log-odds of a kind of which there was no page."""


@dataclass(frozen=True, slots=True)
class Params:
    """Sizes and steps of a training.

    A refused article costs as much as `cost` stored pages of another kind.
    """

    hidden: int = 48
    networks: int = 4
    epochs: int = 25
    decay: float = 3.0
    site_words: int = 5000
    text_words: int = 2000
    site_hosts: int = 6
    text_hosts: int = 20
    cost: float = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class KindExample:
    """A page whose kind is known.

    `addresses` describe the URLs that it is seen under, its own last; without one it is learned from, but no measure.
    """

    kind: PageKind
    site: str
    values: dict[str, float]
    words: Words
    addresses: tuple[dict[str, float], ...] = ()


class _Pages:
    def __init__(self, pages: Sequence[KindExample]) -> None:
        self.pages = pages
        self.names = tuple(pages[0].values)
        self.kinds = tuple(sorted({page.kind for page in pages}))
        if self.kinds[0] is not PageKind.ARTICLE or len(self.kinds) == 1:
            raise ValueError("the pages to learn from are of one kind; articles and others are both needed")
        self.labels = np.array([self.kinds.index(page.kind) for page in pages])
        self.values = np.array([[page.values[name] for name in self.names] for page in pages])
        self.weights = np.where(self.labels == 0, 1.0, _OTHERS)
        self.costs = np.where(self.labels == 0, _REFUSED, _OTHERS)
        sites = {site: number for number, site in enumerate(sorted({page.site for page in pages}))}
        self.sites = np.array([sites[page.site] for page in pages])


def learn(pages: Sequence[KindExample], seed: int, params: Params) -> tuple[KindModel, dict[str, float]]:
    """Return a model learned from pages whose kinds are known, and figures about it.

    Calibration and threshold are those of sites that were held out, fold by fold. Cost: some minutes for five thousand
    pages.

    Raises:
        ValueError: there are no articles, or nothing else.
        ImportError: scikit-learn is not installed; only training needs it.
    """
    data = _Pages(pages)
    _, votes = _fit_folds(data, deal(data.sites, FOLDS, seed), seed, params)
    return _calibrated(_fit(data, np.ones(len(pages), np.bool_), seed, params), data, votes, params)


def learn_folds(
    pages: Sequence[KindExample], folds: NDArray[np.int64], seed: int, params: Params
) -> list[tuple[KindModel, dict[str, float]]]:
    """Learn a model for each fold from the pages of the others.

    `folds` are those of `pages`. Calibration is that of all pages, each as seen by the model that has not learned from
    it.

    Raises:
        ValueError, ImportError: see `learn`.
    """
    data = _Pages(pages)
    models, votes = _fit_folds(data, folds, seed, params)
    return [_calibrated(model, data, votes, params) for model in models]


def _fit_folds(
    data: _Pages, folds: NDArray[np.int64], seed: int, params: Params
) -> tuple[list[KindModel], NDArray[np.float64]]:
    """Return a model for each fold, and its votes on that fold, unseen."""
    votes = np.zeros((len(data.pages), len(data.kinds)))
    models = []
    for fold in range(FOLDS):
        held = folds == fold
        models.append(_fit(data, ~held, seed, params))
        votes[held] = _vote(models[-1], data, held)
    return models, votes


def deal(sites: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    fold_of = np.random.default_rng(seed).integers(0, folds, int(sites.max()) + 1)
    chosen: NDArray[np.int64] = fold_of[sites]
    return chosen


def _fit(data: _Pages, chosen: NDArray[np.bool_], seed: int, params: Params) -> KindModel:
    """Learn words and networks, not yet calibrated.

    Words are surer of pages that they were learned from: the networks get what words of other sites say.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra; a crawl does without it
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    rows = np.flatnonzero(chosen)
    inner = deal(data.sites, FOLDS, seed + 1)
    votes = np.zeros((len(data.pages), 2 * len(data.kinds)))
    for fold in range(FOLDS):
        others, held = rows[inner[rows] != fold], rows[inner[rows] == fold]
        voters = _words(data, others, params)
        votes[held] = [hear(voters, data.pages[page].words) for page in held]
    inputs = np.concatenate((data.values, votes), axis=1)[rows]
    shift = inputs.mean(axis=0)
    scale = 1 / (inputs.std(axis=0) + _REPEATED)
    ready = standardise(inputs, shift, scale)
    weights: tuple[list[Numbers], list[Numbers]] = ([], [])
    biases: tuple[list[Numbers], list[Numbers]] = ([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is ours
        for number in range(params.networks):
            network = MLPClassifier(
                (params.hidden,),
                alpha=params.decay,
                batch_size=min(128, len(rows)),
                learning_rate_init=2e-3,
                max_iter=params.epochs,
                n_iter_no_change=params.epochs,
                random_state=seed + number,
            ).fit(ready, data.labels[rows], sample_weight=data.costs[rows])
            weights[0].append(network.coefs_[0].T)
            biases[0].append(network.intercepts_[0][:, None])
            # Kinds that none of these pages has are not to be expected.
            last, ahead = np.zeros((len(data.kinds), params.hidden)), np.full(len(data.kinds), _NEVER)
            if len(network.classes_) == 2:
                last[network.classes_[1]], ahead[network.classes_] = (
                    network.coefs_[1][:, 0],
                    (0, network.intercepts_[1][0]),
                )
            else:
                last[network.classes_], ahead[network.classes_] = network.coefs_[1].T, network.intercepts_[1]
            weights[1].append(last)
            biases[1].append(ahead[:, None])
    networks = DenseNetwork(
        (), shift[:, None], scale[:, None], tuple(map(np.stack, weights)), tuple(map(np.stack, biases))
    )
    of_site, of_text = _words(data, rows, params)
    return KindModel(data.kinds, of_site, of_text, data.names, networks)


def _words(data: _Pages, chosen: NDArray[np.int64], params: Params) -> tuple[WordVotes, WordVotes]:
    pages = [data.pages[page].words for page in chosen.tolist()]
    return (
        _learn_votes(data, chosen, [frozenset(words.site) for words in pages], params.site_hosts, params.site_words),
        _learn_votes(data, chosen, [frozenset(words.text) for words in pages], params.text_hosts, params.text_words),
    )


def _learn_votes(
    data: _Pages, chosen: NDArray[np.int64], words: Sequence[frozenset[str]], hosts: int, most: int
) -> WordVotes:
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - comes with scikit-learn
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    sites_of: dict[str, set[int]] = defaultdict(set)
    for site, of_page in zip(data.sites[chosen].tolist(), words, strict=True):
        for word in of_page:
            sites_of[word].add(site)
    index = {
        word: row for row, word in enumerate(sorted(word for word, sites in sites_of.items() if len(sites) >= hosts))
    }
    rows = [sorted(index[word] for word in of_page if word in index) for of_page in words]
    ends = np.cumsum([0, *map(len, rows)])
    shares = np.repeat(1 / np.sqrt(np.maximum(np.diff(ends), 1)), np.diff(ends))
    columns = np.fromiter((row for page in rows for row in page), np.int32, int(ends[-1]))
    table = csr_matrix((shares, columns, ends.astype(np.int32)), (len(chosen), len(index)))
    weights, bias = np.zeros((len(index), len(data.kinds))), np.full(len(data.kinds), _NEVER)
    for column in range(len(data.kinds)):
        is_kind = data.labels[chosen] == column
        if index and is_kind.any() and not is_kind.all():
            regression = LogisticRegression(solver="liblinear").fit(table, is_kind, sample_weight=data.weights[chosen])
            weights[:, column], bias[column] = regression.coef_[0], regression.intercept_[0]
    heaviest = np.sort(np.argsort(-np.abs(weights).max(axis=1, initial=0.0), kind="stable")[:most])
    names = list(index)
    index = {names[row]: number for number, row in enumerate(heaviest)}
    return WordVotes(index, weights[heaviest], bias, frozenset(index))


def _vote(model: KindModel, data: _Pages, chosen: NDArray[np.bool_]) -> Numbers:
    pages = np.flatnonzero(chosen)
    votes = np.array([hear((model.of_site, model.of_text), data.pages[page].words) for page in pages.tolist()])
    return model.vote(np.concatenate((data.values[pages], votes), axis=1).T).T


def _calibrated(model: KindModel, data: _Pages, votes: Numbers, params: Params) -> tuple[KindModel, dict[str, float]]:
    """Calibrate votes and addresses on pages of sites held out, set the threshold.

    As many pages are seen under an address that tells nothing as under their own: that it is unknown is no evidence.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    names = tuple(sorted({name for page in data.pages for address in page.addresses for name in address}))
    odds = log_odds(votes[:, 0]).tolist()
    rows, weights, owners = [], [], []
    for number, page in enumerate(data.pages):
        for address in page.addresses:
            rows.append([odds[number], *(address.get(name, 0.0) for name in names)])
            owners.append(number)
            weights.append(1 / len(page.addresses))
    table, owner = np.array(rows), np.array(owners)
    is_article = data.labels[owner] == 0
    regression = LogisticRegression(C=1.0, max_iter=500).fit(table, is_article, sample_weight=np.array(weights))
    slope, *others = regression.coef_[0]
    model = replace(
        model,
        slope=float(slope),
        offset=float(regression.intercept_[0]),
        address=dict(zip(names, map(float, others), strict=True)),
    )
    chances = regression.predict_proba(table)[:, 1]
    is_last = np.append(owner[1:] != owner[:-1], True)  # the address that is known, if one is, comes last
    threshold = 1 / (1 + params.cost)
    others_kept = float((chances[~is_article & is_last] >= threshold).mean())
    figures = {
        "articles_lost": round(float((chances[is_article & is_last] < threshold).mean()), 4),
        "others_kept": round(others_kept, 4),
        "calibration_error": round(_calibration_error(chances, is_article), 4),
    }
    return replace(model, threshold=threshold), figures


def _calibration_error(chances: Numbers, is_article: NDArray[np.bool_]) -> float:
    bins = np.minimum((chances * 10).astype(int), 9)
    return float(
        sum(abs(chances[bins == at].mean() - is_article[bins == at].mean()) * (bins == at).mean() for at in set(bins))
    )
