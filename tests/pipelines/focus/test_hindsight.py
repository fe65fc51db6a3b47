"""Tests of weights learnt from pages that waited."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.focus.focus import Focus
from pipelines.focus.hindsight import Hindsight, Params
from pipelines.focus.terms import read_text
from pipelines.focus.topic import make_topic

USUAL = np.array([0.6, 0.4, 0.0], np.float32)
PAGES = 2_000


def learnt(told: np.ndarray, rounds: int, pages: int = 30, params: Params | None = None) -> np.ndarray:
    """Weights after rounds that fetch so many pages each, whose relevance is a sum of parts and chance."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(PAGES, 3)).astype(np.float32)
    relevance = (table @ told + rng.normal(size=PAGES)).astype(np.float32)
    hindsight = Hindsight(USUAL, params or Params())
    fetched = np.zeros(PAGES, np.bool_)
    for at in range(rounds + 1):
        weights = hindsight.weights(fetched, relevance)
        hindsight.note(np.flatnonzero(~fetched), table @ weights, table)
        fetched[at * pages : (at + 1) * pages] = True
    return weights / np.abs(weights).sum()


def test_few_rounds_leave_the_usual_weights():
    """Learn nothing from seven rounds, however many pages they brought."""
    for rounds, changes in ((0, False), (7, False), (8, True)):
        found = learnt(np.array([0.0, 0.0, 1.0]), rounds, pages=200)
        assert (found != pytest.approx(USUAL)) == changes


def test_parts_that_told_of_relevance_count():
    """Give weight to what told, and take it from what told nothing."""
    found = learnt(np.array([0.0, 1.0, 1.0]), 30)
    assert found[1] > 0.35
    assert found[2] > 0.35
    assert abs(found[0]) < 0.2


def test_caution_keeps_the_usual_weights():
    """Change little where a great many pages would have to speak for a change."""
    found = learnt(np.array([0.6, 0.4, 0.5]), 30, params=Params(caution=1e6))
    assert found == pytest.approx(USUAL, abs=0.02)


def test_only_what_was_known_while_a_page_waited_counts():
    """Learn nothing from pages that were fetched before a round noted them."""
    hindsight = Hindsight(USUAL, Params(rounds=1))
    fetched = np.array([True, False, False])
    table = np.eye(3, dtype=np.float32)
    hindsight.note(np.array([1]), table[:, 0], table)
    fetched[2] = True  # was not noted
    assert hindsight.weights(fetched, table[:, 0]) == pytest.approx(USUAL)


def test_best_pages_are_noted():
    """Learn only from the best of too many pages."""
    table = np.array([[0, 0, 9], [1, 0, 0], [0, 1, 1], [0, 0, -9]], np.float32)
    found = []
    for pages in (np.arange(4), np.array([1, 2])):
        hindsight = Hindsight(USUAL, Params(rounds=1, pages=2))
        hindsight.note(pages, np.array([0.0, 2.0, 1.0, 0.0], np.float32), table)
        found.append(hindsight.weights(np.ones(4, np.bool_), np.array([1, 0, 1, 0], np.float32)))
    assert found[0] == pytest.approx(found[1])
    assert found[0] != pytest.approx(USUAL)


def test_order_of_discovery_counts_where_it_tells():
    """Prefer pages that were found early once those turned out to be on the topic."""
    focus = Focus(make_topic("bridges"))
    rng = np.random.default_rng(8)
    targets = np.arange(1, 801, dtype=np.int32)
    focus.add(0, read_text("city people", [("more", f"http://a.test/{one}") for one in targets]), targets)
    waiting = rng.permutation(targets)
    early, late = waiting[waiting < 200][-20:], waiting[waiting > 600][-20:]
    fetched = rng.permutation(np.setdiff1d(waiting, np.concatenate((early, late))))
    gaps = []
    for at in range(0, 300, 20):
        found = focus.signals(801)["learned"]
        gaps.append(found[early].mean() - found[late].mean())
        for page in fetched[at : at + 20]:
            text = "bridge river steel span" if page < 300 else "rice butter onion soup"
            focus.add(int(page), read_text(f"{text} city people day {page}"), np.zeros(0, np.int32))
    assert abs(gaps[0]) < 0.02
    assert gaps[-1] > 0.1
