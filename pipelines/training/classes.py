"""Learning of classes of texts from labelled ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models.files import ModelError
from ..text.classes import Trainer, Weigh, learner
from ..text.classes.calibration import Calibration, calibrate
from ..text.classes.classifier import Training
from ..text.classes.model import ClassModel, base_language
from ..text.classes.selection import Chosen, Contingency, Select, read_select, report, select, uncertainty
from ..text.classes.vectors import Numbers, Space, Terms, Text, is_word, spell
from ..text.synonyms import load as load_words
from ..text.synonyms import read_synonyms
from .trained import Trained, require

MOST_CLASSES: Final = 500
_FOLDS: Final = 4
_LEAST_TEXTS: Final = 2
_SMALL: Final = 50
"""Texts from which a term must stand in two of them."""
_LEAST_OF_LANGUAGE: Final = (20, 0.1)
"""A model knows a language of which it has so many texts, or so large a share of them: one may be detected wrongly."""
_OPENING_CHARS: Final = 24
"""Letters by which copies of a text are known that name no source."""


class LabelledText(NamedTuple):
    text: Text
    labels: tuple[str, ...]
    source: str


class HeldOut(NamedTuple):
    """Counts of classes assigned to texts in one language that were held out.

    `threshold` is the mean where each class has its own; `right` counts those classes `told` that texts have.
    """

    language: str
    texts: int
    threshold: float
    described: int
    told: int
    right: int


class LearnedClasses(NamedTuple):
    """A model, figures about it, and for each class its terms and F1 (`report`).

    `told` are the classes that each text gets by what was learned without it.
    """

    model: ClassModel
    report: list[dict[str, object]]
    held_out: list[HeldOut]
    told: list[tuple[str, ...]]


def learn(
    texts: Sequence[Text],
    labels: Sequence[Iterable[str]],
    by: Trainer | None = None,
    wanted: Select | None = None,
    *,
    precision: float = 0.0,
    sources: Sequence[str] = (),
    synonyms: Mapping[tuple[str, str], float] | None = None,
) -> LearnedClasses:
    """Learn classes from labelled texts.

    Memberships, thresholds and figures come from texts that were held out: in each of four folds terms, weights and
    classifier are learned anew from the texts of the others. Texts in a rare or unknown language teach terms alone;
    `precision` is as in `calibrate`; texts of one of `sources` are held out together, as are those that begin alike
    where it is empty; `synonyms` gives the closeness of pairs of words, in (0, 1], of which `fuzzy` makes use. Cost:
    five trainings.

    Raises:
        ModelError: there are no two classes, too many, no terms, or no language is known.
    """
    by = by or learner()
    names = sorted({name for of_text in labels for name in of_text})
    _check(texts, labels, names)
    where = {name: number for number, name in enumerate(names)}
    labelled = np.zeros((len(texts), len(names)))
    for row, of_text in enumerate(labels):
        for name in of_text:
            labelled[row, where[name]] = 1
    is_single = not by.method.is_fuzzy and bool((labelled.sum(axis=1) == 1).all())
    wanted = wanted or by.method.select
    examples = _Examples(texts, [by.method.terms(text) for text in texts], labelled, synonyms or {})
    space, table = _choose(examples, wanted, by.method.weigh)
    classifier = by.fit(_training(examples, space))
    scores = _held_out_scores(examples, by, wanted, deal(texts, sources))
    languages = np.array([base_language(text.language) for text in texts])
    calibrations: dict[str, Calibration] = {}
    held_out: list[HeldOut] = []
    assigned = np.zeros(labelled.shape, np.bool_)
    most, share = _LEAST_OF_LANGUAGE
    for language in sorted({*languages.tolist()} - {""}):
        in_language = languages == language
        if in_language.sum() < min(most, share * len(texts)):
            continue
        calibration = calibrate(scores[in_language], labelled[in_language], is_single=is_single, precision=precision)
        assigned[in_language] = calibration.chosen(calibration.memberships(scores[in_language]))
        calibrations[language] = calibration
        counts = (
            assigned[in_language].any(axis=1).sum(),
            assigned[in_language].sum(),
            (assigned[in_language] * labelled[in_language]).sum(),
        )
        held_out.append(
            HeldOut(language, int(in_language.sum()), round(float(calibration.threshold.mean()), 4), *map(int, counts))
        )
    hits = 2 * (assigned * labelled).sum(axis=0) / np.maximum(assigned.sum(axis=0) + labelled.sum(axis=0), 1)
    chosen = report(table, np.arange(len(space.ids)), names, wanted.measure, is_word(space.ids))
    rows = _spelt(chosen, space, texts)
    return LearnedClasses(
        ClassModel(by.name, tuple(names), space, classifier, calibrations),
        [{**row, "f1": round(float(f1), 4)} for row, f1 in zip(rows, hits, strict=True)],
        held_out,
        [tuple(names[number] for number in np.flatnonzero(row)) for row in assigned],
    )


def _check(texts: Sequence[Text], labels: Sequence[Iterable[str]], names: Sequence[str]) -> None:
    if len(texts) != len(labels):
        raise ModelError(f"there are {len(texts)} texts and {len(labels)} lists of classes")
    if len(names) < 2:
        message = f"there is only the class {names[0]!r}" if names else "no text has a class"
        raise ModelError(f"{message}; give texts of two classes or more")
    if len(names) > MOST_CLASSES:
        raise ModelError(f"there are {len(names)} classes, more than {MOST_CLASSES}; is the label really a class?")
    if not any(text.language for text in texts):
        raise ModelError("the language of no text is known; give longer texts, or name it as language")


class _Examples(NamedTuple):
    texts: Sequence[Text]
    terms: Sequence[Terms]
    wanted: Numbers
    synonyms: Mapping[tuple[str, str], float]

    def part(self, rows: Sequence[int]) -> _Examples:
        texts, terms = [self.texts[row] for row in rows], [self.terms[row] for row in rows]
        return _Examples(texts, terms, self.wanted[rows], self.synonyms)


def _choose(examples: _Examples, wanted: Select, weigh: Weigh) -> tuple[Space, Contingency]:
    ids, documents = np.unique(np.concatenate([one.ids for one in examples.terms]), return_counts=True)
    ids = ids[documents >= (_LEAST_TEXTS if len(examples.terms) >= _SMALL else 1)]
    if not len(ids):
        raise ModelError("the texts have no words in common; give more or longer texts")
    table = Contingency.of(_training(examples, Space(ids, np.ones(len(ids)))).counts(), examples.wanted)
    chosen = np.sort(select(table, wanted))
    ids, table = ids[chosen], table.part(chosen)
    return Space(ids, uncertainty(table).max(axis=1) if wanted.measure == "um" else weigh(table, ids)), table


def _training(examples: _Examples, space: Space) -> Training:
    vectors = [space.vector(one) for one in examples.terms]
    return Training(space, examples.texts, vectors, examples.wanted, examples.synonyms)


def _spelt(
    chosen: Mapping[str, tuple[int, list[Chosen]]], space: Space, texts: Sequence[Text]
) -> list[dict[str, object]]:
    """Return the chosen terms in letters: the model itself has their hashes alone."""
    missing = {int(space.ids[one.column]) for _, best in chosen.values() for one in best}
    spelt: dict[int, str] = {}
    for text in texts:
        if not missing:
            break
        in_text = spell(text)
        spelt |= {number: in_text[number] for number in missing & in_text.keys()}
        missing -= in_text.keys()
    return [
        {
            "class": label,
            "chosen": count,
            "terms": [
                {"term": spelt[int(space.ids[one.column])], "score": round(one.score, 4), "documents": one.documents}
                for one in best
            ],
        }
        for label, (count, best) in chosen.items()
    ]


def _held_out_scores(examples: _Examples, by: Trainer, wanted: Select, folds: NDArray[np.intp]) -> Numbers:
    """Return the scores of texts by other folds; 0 where they have no words in common."""
    scores = np.zeros(examples.wanted.shape)
    for fold in range(int(folds.max()) + 1):
        held = np.flatnonzero(folds == fold)
        others = examples.part(np.flatnonzero(folds != fold).tolist())
        try:
            space, _ = _choose(others, wanted, by.method.weigh)
        except ModelError:
            continue
        classifier = by.fit(_training(others, space))
        for row in held.tolist():
            scores[row] = classifier.scores(examples.texts[row], space.vector(examples.terms[row]))
    return scores


def deal(texts: Sequence[Text], sources: Sequence[str]) -> NDArray[np.intp]:
    """Return the fold of each text; those of a source, or that begin alike, share one."""
    openings = [re.sub(r"\W+", "", text.text)[:_OPENING_CHARS] for text in texts]
    named = sources or [""] * len(texts)
    groups = [source or opening or str(n) for n, (source, opening) in enumerate(zip(named, openings, strict=True))]
    if len(set(groups)) == 1:
        groups = [str(number) for number in range(len(texts))]
    order = sorted(set(groups), key=lambda group: blake2b(group.encode("utf-8", "replace"), digest_size=8).digest())
    fold_of = {group: place % min(_FOLDS, len(order)) for place, group in enumerate(order)}
    return np.array([fold_of[group] for group in groups], np.intp)


def learn_model(
    rows: Iterable[LabelledText],
    *,
    method: str,
    params: Mapping[str, object],
    select: str | None,
    precision: float | None,
    synonyms: Path | None = None,
) -> Trained:
    by = learner(method, params)
    if synonyms and not by.method.is_fuzzy:
        raise ModelError(f"synonyms are for the classifier fuzzy, not for {method}")
    try:
        close = load_words(synonyms, "synonyms", read_synonyms) if synonyms else {}
    except ValueError as error:
        raise ModelError(str(error)) from None
    wanted = read_select(select) if select else None
    if by.method.module:
        require(by.method.module)
    examples = list(rows)
    learned = learn(
        [each.text for each in examples],
        [each.labels for each in examples],
        by,
        wanted,
        precision=precision or 0.0,
        sources=[each.source for each in examples],
        synonyms=close,
    )
    notes: dict[str, object] = {
        "classes": len(learned.model.labels),
        "f1": round(fmean(float(str(row["f1"])) for row in learned.report), 4),
    }
    for counts in learned.held_out:
        share = f"precision {counts.right / max(counts.told, 1):.4f}, threshold {counts.threshold}"
        notes[counts.language] = f"{counts.described} of {counts.texts} texts with a class, {share}"
    return Trained(learned.model.model(), notes, learned.report)
