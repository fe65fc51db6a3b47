"""Training of the networks of the extractor `combined`."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..decode.characters import Counts
from ..document.document import Document, sum_sub_trees
from ..document.view import Flags
from ..extract.combined import weigh
from ..extract.features import (
    NAMED,
    Names,
    Table,
    features,
    lines_of,
    names_of,
    score_lines,
    score_names,
    score_terms,
)
from ..extract.network import Layout, Matrix, StagedNetwork, predict, surroundings
from ..models.network import DenseNetwork, standardise
from .examples import Example
from .trained import Trained

_DEAREST: Final = 0.5
_CHEAPEST: Final = 0.002
"""Bounds of what an error on a block costs in training, as shares of the page's text."""
_CHEAP: Final = 0.02
"""Not all examples of a lower cost are looked at."""
_NAMELESS: Final = 0.3
"""Share of the examples that are seen without names too."""
_RATES: Final = ((0.4, 1.0), (0.2, 0.5), (0.2, 0.2), (0.2, 0.05))
"""Parts of a training, and the size of their steps beside that of the first."""
_KNOWN_SITES: Final = 3
"""A word counts when containers of so many sites have it in their names."""
_KNOWN_SITES_LINE: Final = 6
_LEAST_LINE_ODDS: Final = 0.7
_PRIOR: Final = 3.0
"""Texts of so many pages that each word is thought to have been seen with, as much content as anywhere."""
_MOST_ODDS: Final = 4.0
_LEAST_ODDS: Final = 0.1
"""Words that say less are not kept."""


@dataclass(frozen=True, slots=True)
class Params:
    """Sizes and steps of a training.

    Attributes:
        hidden, then: sizes of the hidden layers of the first networks, and of the second ones.
        networks: how many first ones are trained, each without the sites of one part; half as many second ones.
        rate: step size of Adam.
        decay: strength of the pull of the weights to 0, in units of one example.
    """

    hidden: tuple[int, ...] = (96, 32)
    then: tuple[int, ...] = (64, 24)
    networks: int = 4
    epochs: int = 12
    batch: int = 2048
    rate: float = 2e-3
    decay: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _TrainingSet:
    """Examples to learn from: a row of values per feature, a column per example."""

    features: tuple[str, ...]
    values: Matrix
    content: NDArray[np.bool_]
    costs: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPage:
    site: str
    table: Table
    layout: Layout
    document: Document
    names: Names
    lines: list[tuple[int, list[str]]]
    content: Flags
    costs: Matrix

    @classmethod
    def of(cls, page: Example) -> TrainingPage:
        document = page.document
        table, layout = features(document, {}, {}), Layout.of(document, weigh(document))
        return cls(
            page.site or page.id,
            table,
            layout,
            document,
            names_of(document),
            lines_of(document),
            page.content,
            _costs(page),
        )


def learn(pages: Iterable[Example], seed: int, params: Params) -> StagedNetwork:
    """Return networks trained on pages whose texts are known.

    An error on a block costs its share of the page's text, so that every page counts the same. The sites are dealt into
    as many parts as there are first networks; what names of containers say, and what the first networks say to the
    second ones, is learned from the other parts, as on sites never seen. Cost: minutes for a thousand pages, and 0.7 KB
    a block.

    Raises:
        ValueError: no page has a block, or there are fewer pages than networks.
    """
    return train([TrainingPage.of(page) for page in pages if len(page.document.blocks)], seed, params)


def train(training_pages: Sequence[TrainingPage], seed: int, params: Params) -> StagedNetwork:
    if not training_pages:
        raise ValueError("there is no page with text to learn from")
    dealt = parts([page.site for page in training_pages], params.networks)
    odds = _learn_odds(training_pages, dealt, params.networks)
    line_odds = _learn_line_odds(training_pages, dealt, params.networks)
    for page, part in zip(training_pages, dealt, strict=True):
        _rescore(page, odds[part], line_odds[part])
    block_parts = np.repeat(dealt, [len(page.content) for page in training_pages])
    examples = _TrainingSet(
        training_pages[0].table.names,
        np.concatenate([page.table.values for page in training_pages], axis=1),
        np.concatenate([page.content for page in training_pages]),
        np.concatenate([page.costs for page in training_pages]),
    )
    scaling = _scaling(examples.values)
    firsts = []
    chances = np.zeros(len(block_parts), np.float32)
    for part in range(params.networks):
        others = block_parts != part
        learned = _with_nameless(_drawn(_some(examples, others), seed), seed)
        one = fit(learned, seed + part, replace(params, networks=1), scaling)
        firsts.append(one)
        chances[~others] = predict(one, examples.values[:, ~others])
    bounds = np.cumsum([len(page.content) for page in training_pages])[:-1]
    around = [
        surroundings(page.layout, page.table, one)
        for page, one in zip(training_pages, np.split(chances, bounds), strict=True)
    ]
    examples = replace(
        examples, features=around[0].names, values=np.concatenate([one.values for one in around], axis=1)
    )
    then = replace(params, hidden=params.then, networks=max(params.networks // 2, 1))
    second = fit(_drawn(examples, seed), seed, then)
    return StagedNetwork(odds[-1], line_odds[-1], _join(firsts), second)


def parts(sites: Sequence[str], count: int) -> Counts:
    """Deal pages into `count` parts, a site into one if there are enough sites."""
    if len(sites) < count:
        raise ValueError(f"{len(sites)} pages are too few for {count} networks")
    numbers = {site: number for number, site in enumerate(dict.fromkeys(sites))}
    by_site = [numbers[site] for site in sites] if len(numbers) >= count else range(len(sites))
    dealt: Counts = np.array(by_site, np.int64) % count
    return dealt


def _learn_odds(pages: Sequence[TrainingPage], dealt: Counts, count: int) -> list[dict[str, float]]:
    """Return log-odds of words in names, by all parts but each one, then by all."""
    held: list[dict[str, float]] = [defaultdict(float) for _ in range(count)]
    other: list[dict[str, float]] = [defaultdict(float) for _ in range(count)]
    sites: dict[str, set[str]] = defaultdict(set)
    for page, part in zip(pages, dealt.tolist(), strict=True):
        nodes, ends = page.layout.nodes, page.layout.ends
        content, rest = (
            sum_sub_trees(np.bincount(nodes, page.costs * flags, len(ends)), ends).tolist()
            for flags in (page.content, ~page.content)
        )
        for node, label in zip(page.names.nodes.tolist(), page.names.of.tolist(), strict=True):
            page_words = page.names.words[label]
            for word in page_words:
                held[part][word] += content[node]
                other[part][word] += rest[node]
        for word in {word for label in set(page.names.of.tolist()) for word in page.names.words[label]}:
            sites[word].add(page.site)
    words = [word for word, where in sites.items() if len(where) >= _KNOWN_SITES]
    by_part = np.array([[[one[word] for word in words] for one in side] for side in (held, other)])
    all_odds = []
    for part in range(count + 1):
        content, rest = by_part[:, np.arange(count) != part].sum(axis=1)
        share = (content.sum() + 1) / (content.sum() + rest.sum() + 2)
        odds = np.log((content + _PRIOR * share) / (rest + _PRIOR * (1 - share)) * (1 - share) / share)
        pairs = zip(words, np.round(np.clip(odds, -_MOST_ODDS, _MOST_ODDS), 2).tolist(), strict=True)
        all_odds.append({word: value for word, value in pairs if abs(value) >= _LEAST_ODDS})
    return all_odds


def _learn_line_odds(pages: Sequence[TrainingPage], dealt: Counts, count: int) -> list[dict[str, float]]:
    """Return log-odds of terms of lines, by all parts but each one, then by all.

    A page counts a term once among its content, and once among the rest.
    """
    seen = [(Counter[str](), Counter[str]()) for _ in range(count)]
    sites: dict[str, set[str]] = defaultdict(set)
    for page, part in zip(pages, dealt.tolist(), strict=True):
        sides: tuple[set[str], set[str]] = (set(), set())
        for index, line in page.lines:
            sides[not page.content[index]].update(line)
        for counts, held in zip(seen[part], sides, strict=True):
            counts.update(held)
        for word in sides[0] | sides[1]:
            sites[word].add(page.site)
    words = [word for word, where in sites.items() if len(where) >= _KNOWN_SITES_LINE]
    by_part = np.array([[[one[side][word] for word in words] for one in seen] for side in (0, 1)], np.float64)
    all_odds = []
    for part in range(count + 1):
        content, rest = by_part[:, np.arange(count) != part].sum(axis=1)
        share = (content.sum() + 1) / (content.sum() + rest.sum() + 2)
        odds = np.log((content + _PRIOR * share) / (rest + _PRIOR * (1 - share)) * (1 - share) / share)
        pairs = zip(words, np.round(np.clip(odds, -_MOST_ODDS, _MOST_ODDS), 1).tolist(), strict=True)
        all_odds.append({word: value for word, value in pairs if value <= -_LEAST_LINE_ODDS})
    return all_odds


def _rescore(page: TrainingPage, odds: Mapping[str, float], line_odds: Mapping[str, float]) -> None:
    rows = score_names(page.layout.parents, page.layout.nodes, page.names, odds)
    rows |= score_lines(page.document, ((index, score_terms(line_odds, words)) for index, words in page.lines))
    for name, values in rows.items():
        page.table.values[page.table.names.index(name)] = values


def _some(examples: _TrainingSet, chosen: Flags) -> _TrainingSet:
    return replace(
        examples, values=examples.values[:, chosen], content=examples.content[chosen], costs=examples.costs[chosen]
    )


def _join(networks: Sequence[DenseNetwork]) -> DenseNetwork:
    return DenseNetwork(
        networks[0].features,
        networks[0].shift,
        networks[0].scale,
        tuple(np.concatenate(layers) for layers in zip(*(one.weights for one in networks), strict=True)),
        tuple(np.concatenate(layers) for layers in zip(*(one.biases for one in networks), strict=True)),
    )


def _drawn(examples: _TrainingSet, seed: int) -> _TrainingSet:
    """Draw from the cheap examples in proportion to cost, which halves the work."""
    share = np.minimum(examples.costs / _CHEAP, 1)
    drawn = _some(examples, np.random.default_rng(seed).random(len(share)) < share)
    return replace(drawn, costs=np.maximum(drawn.costs, np.float32(_CHEAP)))


def _with_nameless(examples: _TrainingSet, seed: int) -> _TrainingSet:
    """Add some examples without telling names, as other sites use other words."""
    chosen = np.asarray(np.random.default_rng(seed).random(examples.values.shape[1]) < _NAMELESS)
    again = _some(examples, chosen)
    for number, name in enumerate(examples.features):
        if name in NAMED:
            again.values[number] = NAMED[name]
    return replace(
        examples,
        values=np.concatenate((examples.values, again.values), axis=1),
        content=np.concatenate((examples.content, again.content)),
        costs=np.concatenate((examples.costs, again.costs)),
    )


def _costs(page: Example) -> NDArray[np.float32]:
    mass = np.where(page.weights > 0, weigh(page.document), 0.0)
    text = float(mass[page.content].sum()) if page.article else float(mass.sum())
    costs: NDArray[np.float32] = (np.minimum(mass / max(text, 1.0), _DEAREST) + _CHEAPEST).astype(np.float32)
    return costs


def fit(
    examples: _TrainingSet, seed: int, params: Params, scaling: tuple[Matrix, Matrix] | None = None
) -> DenseNetwork:
    """Train networks on examples; the same seed gives the same ones.

    `scaling` is shift and scale of the inputs (see `DenseNetwork`), where more examples have told them.

    Raises:
        ValueError: all examples are of one class.
        ImportError: scikit-learn is not installed; only training needs it.

    Source: scikit-learn's `MLPClassifier`: weighted cross-entropy, steps by Kingma and Ba, Adam, 2015.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra; a crawl does without it
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    if examples.content.all() or not examples.content.any():
        raise ValueError("all blocks to learn from are of one kind; content and other blocks are both needed")

    shift, scale = scaling or _scaling(examples.values)
    inputs = np.ascontiguousarray(standardise(examples.values, shift, scale).T)
    costs = (examples.costs / examples.costs.mean()).astype(np.float32)
    trained = []
    for number in range(params.networks):
        network = MLPClassifier(
            params.hidden,
            alpha=params.decay,
            batch_size=min(params.batch, len(inputs)),
            n_iter_no_change=params.epochs,
            warm_start=True,
            random_state=seed + number,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is ours
            for part, size in _RATES:
                network.set_params(max_iter=max(round(part * params.epochs), 1), learning_rate_init=size * params.rate)
                network.fit(inputs, examples.content, sample_weight=costs)
        trained.append(network)
    layers = range(len(params.hidden) + 1)
    return DenseNetwork(
        examples.features,
        shift,
        scale,
        tuple(np.stack([network.coefs_[layer].T for network in trained]) for layer in layers),
        tuple(np.stack([network.intercepts_[layer][:, None] for network in trained]) for layer in layers),
    )


def _scaling(values: Matrix) -> tuple[Matrix, Matrix]:
    shift = values.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    scale = 1 / (values.std(axis=1, keepdims=True, dtype=np.float64).astype(np.float32) + np.float32(1e-3))
    return shift, scale.astype(np.float32)


def learn_model(pages: Iterable[Example], *, seed: int, networks: int, epochs: int) -> Trained:
    return Trained(learn(pages, seed, Params(networks=networks, epochs=epochs)).model())
