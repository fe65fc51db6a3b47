"""Training of the model of harmful pages: support vectors over naive Bayes.

Source: S. Wang, C. Manning, Baselines and Bigrams: Simple, Good Sentiment and Topic Classification, 2012 (NBSVM).
Differs: a vote against each sort of honest text, and a plain machine beside; runs of characters and of their classes
    instead of words.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..text.harmful.features import BITS, Numbers, features, located, once, read
from ..text.harmful.judge import foreign_parts, is_chinese, joined, pieces_of
from ..text.harmful.model import KIND_BITS, LONG, SHORT, HarmModel, HarmReading, Votes, kind_signs
from ..text.harmful.records import HarmKind, HarmPart
from .trained import Trained

FOLDS: Final = 5
CLEAN_LABELS: Final = ("clean", "ham")
"""Labels of honest texts: news and what is written like it; talk."""
KIND_OF: Final = {str(kind): kind for kind in HarmKind} | {"ad": HarmKind.ADVERT, "spam": HarmKind.ADVERT}
_WINDOW: Final = (12, 60)
_LONG_WINDOW: Final = (60, 250)
_JOINED: Final = (4, 16)
_SENTENCE: Final = re.compile(r"[。！？!?\n]")
_SPACES: Final = re.compile(r"\s+")
_GAP: Final = 0.1
_RARE: Final = 0.05
_ABSENCE: Final = 2.0
"""Margins of the machine that a part of a page counts more when nothing of it is elsewhere on the page."""
_MOST_LINKS: Final = 15
_MOST_LINES: Final = 4
"""Short lines of a page that are learned from."""
_CHANCE: Final = 0.3
"""Short texts made by chance, beside the others."""
_BY_CHANCE: Final = "by chance"
"""Source of those; no page is from it, and no threshold is theirs."""
_CHANCE_CHARS: Final = (6, 26)
_HAN: Final = (0x4E00, 0x9FA6)
_ENOUGH: Final = 10
"""Rows above a share of others from which it can be told."""
Mask = NDArray[np.bool_]
_Unit = tuple[str, str, int, str, bool]
"""Text, label, fold, source, and whether it is no piece of a longer text."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of a training.

    Attributes:
        penalty, calm_penalty: of a text on the wrong side; of the vote without log-count ratios.
        false_alarms, talk_alarms: share of news, and of talk, that may be taken for harmful, sources counting alike.
        foreign_titles, foreign_lines: share of news of which a piece of the title, a line of the text may be taken for
            a foreign one.
        strange_titles: the same of titles over the text of another page, and of titles made by chance.
    """

    smoothing: float = 0.1
    penalty: float = 0.5
    clean_weight: float = 3.0
    calm_penalty: float = 1.0
    false_alarms: float = 0.002
    talk_alarms: float = 0.03
    foreign_titles: float = 0.003
    foreign_lines: float = 0.0005
    strange_titles: float = 0.08


@dataclass(frozen=True, slots=True)
class HarmExample:
    """A page that is known to be harmful or not, by its label.

    Under "hijacked" the text is honest and the title is not. Pages of one `source` are held out together, of an empty
    one near-duplicates.
    """

    label: str
    title: str
    text: str
    source: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    signs: Any
    labels: NDArray[np.str_]
    folds: NDArray[np.int64]
    sources: NDArray[np.str_]
    is_own: Mask
    shapes: Mask
    """True for the signs that are runs of classes."""

    @property
    def harmful(self) -> Mask:
        return ~np.isin(self.labels, CLEAN_LABELS)

    @property
    def has_both_sides(self) -> bool:
        return bool(self.harmful.any() and not self.harmful.all())


@dataclass(frozen=True, slots=True, eq=False)
class _Learned:
    """Votes for texts of one size, also without each fold (`held`)."""

    whole: HarmReading
    held: Sequence[HarmReading]
    slope: float
    report: Mapping[str, object]


def learn(
    examples: Sequence[HarmExample], seed: int, params: Params | None = None
) -> tuple[HarmModel, dict[str, object]]:
    """Return a model learned from labelled pages, and figures about it.

    Thresholds are those of pages that were held out, fold by fold; near-duplicates are held out together. Cost: some
    minutes for ten thousand pages.

    Raises:
        ValueError: an unknown label, one side is missing, or the harmful one is not Chinese.
        ImportError: scikit-learn is not installed; only training needs it.
    """
    params = params or Params()
    allowed = (*CLEAN_LABELS, *KIND_OF)
    for example in examples:
        if example.label not in allowed:
            raise ValueError(f"label {example.label!r} is unknown; known: {', '.join(allowed)}")
    labels = {example.label for example in examples}
    if not labels & set(CLEAN_LABELS) or not labels - {*CLEAN_LABELS, HarmKind.HIJACKED}:
        raise ValueError(
            "the pages to learn from are of one side; rows labelled clean or ham and harmful ones are both needed"
        )
    if not any(example.label in KIND_OF and is_chinese(example.text) for example in examples):
        raise ValueError("none of the harmful pages is Chinese, and pages in other languages are not judged")
    random = np.random.default_rng(seed)
    folds = deal(examples)
    short, long = _short_units(examples, folds, random), _long_units(examples, folds, random)
    posted = ~short.harmful & short.is_own
    of_short = of_long = None
    if short.has_both_sides:
        of_short = _learn_reading(short, {"all": [posted, ~short.harmful & ~posted, ~short.harmful]}, params)
    if long.has_both_sides:
        of_long = _learn_reading(long, {label: [long.labels == label] for label in CLEAN_LABELS}, params)
    of_short = of_short or of_long
    of_long = of_long or of_short
    if of_short is None or of_long is None:
        raise ValueError("neither the short texts nor the long ones have both sides; add honest or harmful ones")
    of_absence = _ABSENCE * of_short.slope
    bare = HarmModel(
        of_short.whole,
        of_long.whole,
        (1.0, of_absence, -of_absence, -of_absence),
        _learn_kinds((short, long) if not (short.harmful & short.is_own).any() else (short,)),
    )
    foreign, report_parts = _learn_parts(examples, folds, bare, of_short.held, random=random, params=params)
    model = HarmModel(bare.short, bare.long, foreign, bare.kinds)
    return model, {"short": of_short.report, "long": of_long.report, "parts": report_parts}


def _short_units(examples: Sequence[HarmExample], folds: Sequence[int], random: np.random.Generator) -> _Units:
    """Return short texts; of long honest ones the title, links and pieces.

    Else the model would learn the marks of headlines, and without texts by chance take what nobody wrote for the worse.
    """
    texts: list[_Unit] = []
    posted: list[str] = []
    for example, fold in zip(examples, folds, strict=True):
        if example.label == HarmKind.HIJACKED:
            continue
        label, source = example.label, example.source
        if len(example.text) <= LONG and not example.title:
            texts.append((example.text, label, fold, source, True))
            posted.append(example.text)
        elif label in CLEAN_LABELS:
            lines = [line for line in map(str.strip, example.text.split("\n")) if len(line) <= LONG]
            short = [*pieces_of(example.title), *_some(example.links, _MOST_LINKS, random)]
            short += _some(lines, _MOST_LINES, random)
            texts += [(joined(each), label, fold, source, False) for each in short]
            texts.append((_window(example.text, _WINDOW, random), label, fold, source, False))
            if sentences := [each for each in _SENTENCE.split(example.text) if 6 < len(each) < 80]:
                texts.append((sentences[int(random.integers(len(sentences)))], label, fold, source, False))
    for number in range(int(len(posted) * _CHANCE)):
        texts.append((_by_chance(posted, random), CLEAN_LABELS[0], number % FOLDS, _BY_CHANCE, False))
    return _units(texts)


def _some(texts: Sequence[str], most: int, random: np.random.Generator) -> list[str]:
    different = [text for text in dict.fromkeys(texts) if text]
    return [different[place] for place in random.permutation(len(different))[:most].tolist()]


def _by_chance(posted: Sequence[str], random: np.random.Generator) -> str:
    """Return characters that nobody put together: of some texts, or any Chinese ones."""
    size = int(random.integers(*_CHANCE_CHARS))
    letters = "".join(posted[text] for text in random.integers(0, len(posted), size)) if posted else ""
    if not letters or random.random() < 0.5:
        return "".join(map(chr, random.integers(*_HAN, size).tolist()))
    return "".join(letters[place] for place in random.integers(0, len(letters), size).tolist())


def _long_units(examples: Sequence[HarmExample], folds: Sequence[int], random: np.random.Generator) -> _Units:
    """Return long texts; short harmful ones of one kind are joined to some."""
    texts: list[_Unit] = []
    short: dict[tuple[str, int], list[str]] = {}
    for example, fold in zip(examples, folds, strict=True):
        if example.label == HarmKind.HIJACKED:
            continue
        if len(example.text) > SHORT or example.label in {"ham", "spam"}:
            texts.append((f"{example.title}\n{example.text}".strip(), example.label, fold, example.source, True))
            if example.label == "clean":
                texts.append((_window(example.text, _LONG_WINDOW, random), example.label, fold, example.source, False))
        elif example.label in KIND_OF:
            short.setdefault((example.label, fold), []).append(example.text)
    for (label, fold), posts in sorted(short.items()):
        for _ in range(len(posts) // 5):
            chosen = random.integers(0, len(posts), int(random.integers(*_JOINED))).tolist()
            texts.append(("\n".join(posts[post] for post in chosen), label, fold, "", False))
    return _units(texts)


def _window(text: str, sizes: tuple[int, int], random: np.random.Generator) -> str:
    plain = _SPACES.sub(" ", text)
    size = int(random.integers(*sizes))
    start = int(random.integers(0, max(1, len(plain) - size)))
    return plain[start : start + size]


def _units(texts: Sequence[_Unit]) -> _Units:
    signs, shapes = [], np.zeros(1 << BITS, np.bool_)
    for text, *_ in texts:
        runs = located(read(text))
        signs.append(once(np.concatenate([hashes for hashes, _ in runs]), BITS))
        shapes[np.concatenate([hashes for hashes, length in runs if not length])] = True
    ends = np.cumsum([0, *map(len, signs)])
    matrix = sp.csr_matrix(
        (np.ones(ends[-1]), np.concatenate([np.zeros(0, np.int64), *signs]), ends), shape=(len(texts), 1 << BITS)
    )
    return _Units(
        matrix,
        np.array([label for _, label, _, _, _ in texts]),
        np.array([fold for _, _, fold, _, _ in texts]),
        np.array([source for _, _, _, source, _ in texts]),
        np.array([is_own for _, _, _, _, is_own in texts]),
        shapes,
    )


def deal(examples: Sequence[HarmExample]) -> list[int]:
    """Return the fold of each page, by its source or else by its least sign."""
    folds = []
    for example in examples:
        if example.source:
            folds.append(zlib.crc32(example.source.encode()) % FOLDS)
            continue
        # Near-duplicates share their least sign.
        signs = features(example.title if example.label == HarmKind.HIJACKED else example.text)
        least = int((signs * 40_503 % (1 << BITS)).min()) if len(signs) else 0
        folds.append(least * 2_654_435_761 % (1 << 32) * FOLDS >> 32)
    return folds


def _learn_reading(units: _Units, sides: Mapping[str, Sequence[Mask]], params: Params) -> _Learned:
    """Learn the votes of one size against each of `sides`, also without each fold."""
    harmful = units.harmful
    sides = {
        name: usable_masks for name, masks in sides.items() if (usable_masks := [mask for mask in masks if mask.any()])
    }
    held = {name: np.full(len(harmful), np.nan) for name in sides}
    parts: list[dict[str, Votes]] = []
    for fold in range(FOLDS):
        out = units.folds == fold
        votes = {name: _mean_votes(units, ~out, masks, params) for name, masks in sides.items()}
        parts.append(votes)
        for name in sides:
            held[name][out] = apply(votes[name], units.signs[out])
    # News first: it may raise next to no false alarm. Talk gets the threshold of the best F1 behind it, or a higher one
    # that few letters are above: there are so many more posts that F1 does not mind a tenth of the letters.
    offsets: dict[str, tuple[float, float]] = {}
    passed = np.ones(len(harmful), np.bool_)
    for name, masks in sides.items():
        honest = np.any(masks, axis=0)
        margins_of, both = held[name], harmful | honest
        best = _best_f1(np.where(passed, margins_of, margins_of.min() - 1)[both], harmful[both])
        if (news := (units.labels == "clean") & (units.sources != _BY_CHANCE))[honest].any():
            best = max(best, _highest(margins_of[news], units.sources[news], params.false_alarms))
        if (talk := honest & units.is_own & (units.labels == "ham")).any():
            best = max(best, float(np.quantile(margins_of[talk], 1 - params.talk_alarms)))
        offsets[name] = (best, _slope(margins_of[both], harmful[both]))
        passed &= margins_of > best
    margins = np.min([(held[name] - shift) * slope for name, (shift, slope) in offsets.items()], axis=0)
    labels = sorted(set(units.labels.tolist()))
    report: dict[str, object] = {
        label: round(float((margins[units.labels == label] > 0).mean()), 4) for label in labels
    }
    whole = np.ones(len(harmful), np.bool_)
    every = {name: _mean_votes(units, whole, masks, params) for name, masks in sides.items()}
    readings = [
        HarmReading({name: _shifted(votes[name], *offsets[name]) for name in sides}) for votes in (every, *parts)
    ]
    return _Learned(readings[0], readings[1:], min(slope for _, slope in offsets.values()), report)


def _mean_votes(units: _Units, chosen: Mask, masks: Sequence[Mask], params: Params) -> Votes:
    """Return the mean of the votes against each sort of honest texts, and others.

    The ratios trust some rare signs too much; a plain vote is calm. A colloquial headline has the shape of a post:
    where there are several sorts, a vote against the first one does without runs of classes.
    """
    harmful = units.harmful
    every = chosen & (harmful | np.any(masks, axis=0))
    ratios = partial(_ratios, smoothing=params.smoothing)
    fits = [
        _learn_votes(units, chosen & (harmful | mask), ratios, params.penalty, params.clean_weight) for mask in masks
    ]
    fits += [_learn_votes(units, every, _rarities, params.calm_penalty, 1.0)] * len(masks)
    if len(masks) > 1:
        beside = chosen & (harmful | masks[0])
        of_characters = _learn_votes(units, beside, ratios, params.penalty, params.clean_weight, with_shapes=False)
        fits += [of_characters] * len(masks)
    weights, biases = zip(*fits, strict=True)
    return Votes.of(np.mean(weights, axis=0), float(np.mean(biases)))


def _learn_votes(
    units: _Units,
    chosen: Mask,
    scale: Callable[[Any, Mask], Numbers],
    penalty: float,
    clean_weight: float,
    *,
    with_shapes: bool = True,
) -> tuple[Numbers, float]:
    """Learn weights: factors of signs times what a support vector machine finds."""
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - an extra; a crawl does without it

    signs, harmful = units.signs[chosen], units.harmful[chosen]
    weights = np.zeros(1 << BITS)
    if not harmful.any() or harmful.all():
        return weights, 2.0 * bool(harmful.any()) - 1
    columns = np.flatnonzero(np.bincount(signs.indices, minlength=signs.shape[1]) > 1)
    if not len(columns):
        return weights, -1.0
    signs = signs[:, columns]
    factors = scale(signs, harmful)
    if not with_shapes:
        factors[units.shapes[columns]] = 0.0
    size = np.sqrt(np.maximum(np.diff(signs.indptr), 1))
    machine = LinearSVC(C=penalty, class_weight={False: clean_weight, True: 1.0}, tol=1e-3, random_state=0)
    machine.fit(sp.diags(1 / size) @ signs @ sp.diags(factors), harmful)
    weights[columns] = machine.coef_[0] * factors
    return weights, float(machine.intercept_[0])


def _ratios(signs: Any, harmful: Mask, smoothing: float) -> Numbers:
    bad, good = (smoothing + np.asarray(signs[side].sum(axis=0)).ravel() for side in (harmful, ~harmful))
    ratios: Numbers = np.log(bad / bad.sum()) - np.log(good / good.sum())
    return ratios


def _rarities(signs: Any, harmful: Mask) -> Numbers:
    """Return the root of the inverse document frequency of each sign."""
    counts = np.bincount(signs.indices, minlength=signs.shape[1])
    rarities: Numbers = np.sqrt(1 + np.log((1 + len(harmful)) / (1 + counts)))
    return rarities


def _learn_kinds(units: Sequence[_Units]) -> dict[HarmKind, Votes]:
    counts: dict[HarmKind, Numbers] = {}
    for each in units:
        for row in np.flatnonzero(each.harmful & each.is_own).tolist():
            rows = kind_signs(each.signs[[row]].indices)
            counts.setdefault(KIND_OF[each.labels[row]], np.zeros(1 << KIND_BITS))[rows] += 1
    every = np.sum(list(counts.values()), axis=0)
    votes = {}
    for kind in sorted(counts):
        of_kind, others = counts[kind] + _RARE, every - counts[kind] + _RARE
        votes[kind] = Votes.of(np.log(of_kind / of_kind.sum()) - np.log(others / others.sum()), 0.0)
    return votes


def _learn_parts(
    examples: Sequence[HarmExample],
    folds: Sequence[int],
    model: HarmModel,
    held: Sequence[HarmReading],
    *,
    random: np.random.Generator,
    params: Params,
) -> tuple[tuple[float, float, float, float], dict[str, object]]:
    """Learn when a part is not the page's own; without hijacked rows, guess."""
    weights = (*model.foreign[:2], 0.0, 0.0)
    odds_of: dict[str, dict[HarmPart, list[float]]] = {}
    titles: dict[int, list[str]] = {}
    for example, fold in zip(examples, folds, strict=True):
        is_foreign = example.label == HarmKind.HIJACKED
        if len(example.text) <= LONG or (not is_foreign and example.label != "clean"):
            continue
        wanted = [("foreign" if is_foreign else "own", example.title)]
        if not is_foreign:
            # An honest title over a strange text, as after a bad extraction, is not hijacked, nor is one by chance.
            other_titles = titles.setdefault(fold, [])
            wanted += [("strange", other_titles[int(random.integers(len(other_titles)))])] if other_titles else []
            wanted += [("strange", _by_chance(other_titles, random))]
            other_titles += [example.title] if example.title else []
        for name, title in wanted:
            for odds, place, *_ in foreign_parts(title, example.text, held[fold], weights):
                odds_of.setdefault(name, {}).setdefault(place, []).append(odds)
    own_odds, strange_odds, foreign_odds = (
        {place: np.array(odds_of.get(name, {}).get(place, [])) for place in (HarmPart.TITLE, HarmPart.TEXT)}
        for name in ("own", "strange", "foreign")
    )
    if not all(len(each[HarmPart.TITLE]) for each in (own_odds, strange_odds, foreign_odds)) or not len(
        own_odds[HarmPart.TEXT]
    ):
        return model.foreign, {}
    scores = np.concatenate([own_odds[HarmPart.TITLE], foreign_odds[HarmPart.TITLE]])
    labels = np.arange(len(scores)) >= len(own_odds[HarmPart.TITLE])
    of_titles = float(np.quantile(own_odds[HarmPart.TITLE], 1 - params.foreign_titles))
    if len(strange_odds[HarmPart.TITLE]) * params.strange_titles >= _ENOUGH:
        of_titles = max(of_titles, float(np.quantile(strange_odds[HarmPart.TITLE], 1 - params.strange_titles)))
    of_lines = float(np.quantile(own_odds[HarmPart.TEXT], 1 - params.foreign_lines))
    slope = _slope(scores - of_titles, labels)
    report: dict[str, object] = {
        "f1": _f1(scores > of_titles, labels),
        "own_titles": len(own_odds[HarmPart.TITLE]),
        "own_titles_called_foreign": int((own_odds[HarmPart.TITLE] > of_titles).sum()),
        "foreign_titles": len(foreign_odds[HarmPart.TITLE]),
        "strange_titles_called_foreign": round(float((strange_odds[HarmPart.TITLE] > of_titles).mean()), 4),
        "own_texts": len(own_odds[HarmPart.TEXT]),
        "own_texts_called_foreign": int((own_odds[HarmPart.TEXT] > of_lines).sum()),
    }
    return (slope * weights[0], slope * weights[1], -slope * of_titles, -slope * of_lines), report


def _highest(margins: Numbers, sources: NDArray[np.str_], share: float) -> float:
    """Return the margin that a share of honest texts is above, by source."""
    # Hundreds of pages of one odd section, as adverts of games, shall not decide for all: a source counts as one text.
    _, place, count = np.unique(sources, return_inverse=True, return_counts=True)
    weights = np.where(sources == "", 1.0, 1.0 / count[place])
    order = np.argsort(-margins, kind="stable")
    above = np.cumsum(weights[order])
    return float(margins[order[int(np.searchsorted(above, share * above[-1], side="right"))]])


def apply(votes: Votes, signs: Any) -> Numbers:
    """Return the votes for many texts, their signs in rows."""
    sums: Numbers = signs @ (votes.steps * votes.unit) / np.sqrt(np.maximum(np.diff(signs.indptr), 1)) + votes.bias
    return sums


def _shifted(votes: Votes, shift: float, slope: float) -> Votes:
    return Votes(votes.steps, votes.unit * slope, (votes.bias - shift) * slope)


def _slope(margins: Numbers, wanted: Mask) -> float:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    machine = LogisticRegression(class_weight="balanced").fit(margins[:, None], wanted)
    return max(float(machine.coef_[0][0]), 1.0)


def _best_f1(margins: Numbers, wanted: Mask) -> float:
    order = np.argsort(-margins, kind="stable")
    hits = np.cumsum(wanted[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + wanted.sum())
    best = int(np.argmax(f1))
    ranked = margins[order]
    return float(max(ranked[best] + ranked[min(best + 1, len(ranked) - 1)], 2 * ranked[best] - _GAP) / 2)


def _f1(called: Mask, wanted: Mask) -> float:
    return round(2 * float((called & wanted).sum()) / max(float(called.sum() + wanted.sum()), 1), 4)


def learn_model(examples: Iterable[HarmExample], *, seed: int) -> Trained:
    model, report = learn(list(examples), seed)
    return Trained(model.dump(), report=report)
