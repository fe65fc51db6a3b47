"""Saved pages of own making, each with what must come out of it (tests/pages/README.md)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.files import files_in
from tests.gold_pages import (
    FIELDS,
    FOLDER,
    ROOMS,
    faults,
    gold_pages,
    known_faults,
    read,
    record,
    stored_records,
    text_f1,
)

MEAN_F1 = 0.98
"""Mean F1 of the texts of articles that must be reached; refused articles count 0."""


@pytest.mark.parametrize("name", gold_pages())
def test_page(name: str) -> None:
    """A fault that is not known is an error, and so is a known one that is no more."""
    found, known = faults(gold_pages()[name], read(name)), known_faults().get(name, {})
    new = {field: value for field, value in found.items() if field not in known}
    assert new == {}, f"{name}: see tests/pages/README.md"
    mended = {field: fault for field, fault in known.items() if field not in found}
    assert mended == {}, f"{name}: take these out of tests/pages/faults.toml"


def test_refused_pages_keep_no_text() -> None:
    refused = [name for name in gold_pages() if read(name).reason]
    assert len(refused) > 30
    assert [name for name in refused if read(name).extraction.text] == []


def test_texts_are_right_on_the_whole() -> None:
    articles = [page for page in gold_pages().values() if page.is_article]
    assert sum(text_f1(page, read(page.name)) for page in articles) / len(articles) >= MEAN_F1


def test_records_are_those_stored() -> None:
    """Cheaper reading changes nothing of the result, right or wrong."""
    stored = stored_records()
    assert stored.keys() == gold_pages().keys()
    changed: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name, digests in stored.items():
        for room, digest, found in zip(ROOMS, digests, record(name), strict=True):
            changed[room] += [name] if digest != found else []
    changed = {room: names for room, names in changed.items() if names}
    assert changed == {}, "where that is meant: uv run python -m tests.benchmarks.pages --records"


def test_expectations_and_pages_belong_together() -> None:
    assert [path.stem for path in files_in(FOLDER, "*.html", at_least=150)] == sorted(gold_pages())
    assert known_faults().keys() <= gold_pages().keys()
    assert {field for known in known_faults().values() for field in known} <= set(FIELDS)


def test_pages_are_many_and_various() -> None:
    pages = gold_pages().values()
    assert len({page.language for page in pages}) > 20
    assert len({page.encoding for page in pages}) > 12
    assert Counter(page.is_article for page in pages)[False] >= 35
    assert len({page.text for page in pages if page.is_article}) == sum(page.is_article for page in pages)
