"""Stories of one template or of stock phrases, and edited copies of them, in eight languages."""

from __future__ import annotations

import random

import pytest

from db.records.evidence import REPEATING, TEMPLATE
from pipelines.dedup import method
from pipelines.dedup.stream import Finder
from tests.benchmarks.templates import EDITS, LANGUAGES, copied, run, stream
from tests.table import each_row

CLOSE = (
    "The Harbour 30 index closed {} percent at {} points. The largest gain was that of {}, the largest loss that "
    "of {}. Volume was close to the average of the last thirty days. Analysts said that investors wait for the "
    "decision of the central bank next week. The exchange opens again at nine in the morning."
)
OBITUARY = (
    "{} {}, {}, who worked as a {} in the town for most of a long life, died on Sunday at home. The service is on "
    "Friday at eleven in the church on the hill. The family asks for no flowers, and for gifts to the lifeboat "
    "instead. {} leaves two children and five grandchildren."
)


def kind(one: tuple[str, str], other: tuple[str, str]) -> str:
    chosen = method()
    kinds = {chosen.compare(chosen.prepare(*a), chosen.prepare(*b)).kind for a, b in ((one, other), (other, one))}
    assert len(kinds) == 1
    return kinds.pop()


@each_row(
    ("one", "other"),
    [(("Harbour 30 closes up 0.8 percent", CLOSE.format("up 0.8", "4,812.55", "Quay Bank", "Ferry Lines")),
      ("Harbour 30 closes down 1.3 percent", CLOSE.format("down 1.3", "4,749.97", "Dock Steel", "Island Foods"))),
     (("Mary Hale, 84", OBITUARY.format("Mary", "Hale", 84, "teacher", "Mary")),
      ("Tom Roe, 91", OBITUARY.format("Tom", "Roe", 91, "baker", "Tom")))],
)  # fmt: skip
def test_stories_of_one_template_are_no_duplicates(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert kind(one, other) == TEMPLATE


@each_row(("name", "age", "job"), [("Hale", 85, "teacher"), ("Hayle", 84, "teacher"), ("Hale", 84, "school teacher")])
def test_corrected_fact_is_an_edit(name: str, age: int, job: str) -> None:
    one = "Mary Hale, 84", OBITUARY.format("Mary", "Hale", 84, "teacher", "Mary")
    other = f"Mary {name}, {age}", OBITUARY.format("Mary", name, age, job, "Mary")
    assert kind(one, other) in REPEATING


def test_corrected_result_is_an_edit() -> None:
    one = "Harbour 30 closes up 0.8 percent", CLOSE.format("up 0.8", "4,812.55", "Quay Bank", "Ferry Lines")
    other = "Harbour 30 closes up 0.9 percent", CLOSE.format("up 0.9", "4,812.55", "Quay Bank", "Ferry Lines")
    assert kind(one, other) in REPEATING


@each_row("language", LANGUAGES)
@pytest.mark.slow
def test_streams_of_templates_and_phrases(language: str) -> None:
    """Held to what the benchmark measures, with room for single pairs; without the comparison of facts .4 are false."""
    found, _ = run([language], fitted=False, seeds=1, chosen=method())
    assert found.false.total() <= 0.12 * found.texts.total()
    assert found.hits.total() >= 0.95 * found.copies.total()


@each_row("edit", EDITS)
@each_row("language", LANGUAGES)
def test_edited_copies_are_found(language: str, edit: str) -> None:
    draw = random.Random(7)
    pairs = [
        (one, copy)
        for one in stream(language, fitted=False, seed=11, stories=2)
        if not one.edit and (copy := copied(draw, language, one, edit))
    ]
    hits = 0
    for one, copy in pairs:
        finder = Finder(method(), 0.8, [])
        finder.add(0, one.title, one.text)
        hits += any(pair.kind in REPEATING for pair in finder.add(1, copy.title, copy.text))
    assert hits >= 0.8 * len(pairs)
