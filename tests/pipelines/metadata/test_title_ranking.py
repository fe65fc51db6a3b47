"""The network that chooses among all that may be the headline."""

from __future__ import annotations

import json

import numpy as np

from pipelines.document.document import Document, parse
from pipelines.metadata.title_ranking import MODEL, PARTS, StatedTitles, TitleCandidate, choose, describe

NONE = StatedTitles("", "", "", "", "", ("", "", ""))


def test_describe_gives_as_many_numbers_as_the_network_takes() -> None:
    rows = describe(Document("http://e.com/"), [TitleCandidate("Ferry runs again", "ferryrunsagain")], NONE, -1, ())
    model = json.loads(MODEL.read_text("utf-8"))["model"]
    assert rows.shape == (1, len(model["mean"]))
    assert list(model) == list(PARTS)
    assert np.isfinite(rows).all()


def test_choose_takes_most_points() -> None:
    weights = [np.zeros(1), np.ones(1), np.array([[2.0]]), np.zeros(1), np.array([1.0])]
    assert choose(np.array([[0.1], [0.7], [0.3]]), weights) == 1


def test_describe_knows_where_a_line_stands_and_what_repeats_it() -> None:
    page = "<title>Ferry runs again</title><h1>Ferry runs again</h1><p>The ferry runs again, the town said.</p>"
    document = parse(page.encode(), "http://e.com/ferry-runs.html")
    shown = TitleCandidate("Ferry runs again", "ferryrunsagain", 0, 1, 1, {"line"})
    other = TitleCandidate("Imprint", "imprint", -1, 9, 0, {"title ends"})
    stated = StatedTitles("ferryrunsagain", "ferryrunsagain", "", "", "", ("Ferry runs again", "", ""))
    rows = describe(document, [shown, other], stated, 1, {"imprint"})
    assert (rows[0] != rows[1]).sum() > 10
    assert choose(rows) == 0
