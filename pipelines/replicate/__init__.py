"""Experiments of the papers, each done again on material that a user names.

An experiment is a function of its material and a seed, in the module of its subject. It returns a table: what the paper
prints, and what comes out here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from .table import Replication


class Material(StrEnum):
    """Kinds of material, and the samples where a user names none.

    `PAGES`: pages with their known texts (`pipelines.training.examples.Example`); the pages of the demo.
    `TEXTS`: rows with `id`, `title` and `text`, maybe `label`, `keys`, `html`, `source`, `original`; the demo's
    articles. `HARM`: rows of texts with the label of their harm; a small bundled sample. `BODIES`: pages as bytes,
    which the command itself works on. `NOTHING`: a simulation.
    """

    PAGES = "pages"
    TEXTS = "texts"
    HARM = "harm"
    BODIES = "bodies"
    NOTHING = "nothing"


class Experiment(NamedTuple):
    """`function` of `module` takes material and seed; `summary` says what is compared."""

    material: Material
    module: str
    function: str
    summary: str


EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    "clicks": Experiment(Material.NOTHING, "clicks", "click_model", "S36: dwell times against click-through rates"),
    "batch": Experiment(Material.BODIES, "batch", "speed_up", "S40: the same pages with 1, 2 and 4 workers"),
    "entropy": Experiment(
        Material.PAGES, "site_entropy", "entropy", "S14: terms of one page, of the pages of a site, of several sites"
    ),
    "weights": Experiment(Material.PAGES, "extraction", "weights", "S10: weights by a swarm, equal, and as printed"),
    "density": Experiment(Material.PAGES, "extraction", "density", "S11: text and symbol density"),
    "fusion": Experiment(Material.PAGES, "extraction", "fuse", "S12: fusion rate, with and without naive Bayes"),
    "decay": Experiment(Material.PAGES, "extraction", "decay", "S13: decay of information"),
    "leaves": Experiment(Material.PAGES, "extraction", "leaves", "S17: three features of leaves"),
    "titles": Experiment(Material.PAGES, "extraction", "titles", "S19: correlation with the title"),
    "features": Experiment(Material.TEXTS, "classes", "features", "S23: selections of features by three classifiers"),
    "classes": Experiment(
        Material.TEXTS, "classes", "classes", "S24, S25: classifiers, and how many classes they tell"
    ),
    "profile": Experiment(Material.TEXTS, "profile", "profile", "S07: profiles with and without weights of mark-up"),
    "keywords": Experiment(Material.TEXTS, "texts", "keywords", "S21, S22: the first five keywords of each method"),
    "neardup": Experiment(
        Material.TEXTS, "texts", "near_duplicates", "S30, S31: duplicates found, and the share of comparisons"
    ),
    "harmful": Experiment(Material.HARM, "texts", "harmful", "S26: weighted blocks, and the default judge"),
}
"""Name -> experiment."""


def replicate(name: str, material: Any, seed: int) -> Replication:
    """Do an experiment.

    Raises:
        ValueError: the material does not suffice; the text says what is missing.
    """
    experiment = EXPERIMENTS[name]
    function = getattr(import_module(f".{experiment.module}", __name__), experiment.function)
    table: Replication = function(material, seed)
    return table


def harm_samples() -> Iterator[dict[str, Any]]:
    """Yield the bundled texts with labels of harm: invented, short, Chinese."""
    for line in files(__package__).joinpath("harm_samples.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
