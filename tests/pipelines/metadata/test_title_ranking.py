"""The network that chooses among all that may be the headline."""

from __future__ import annotations

import numpy as np

from pipelines.document.document import Document, parse
from pipelines.metadata.title_ranking import StatedTitles, TitleCandidate, choose, describe
from pipelines.models.files import load
from pipelines.models.network import DenseNetwork

NONE = StatedTitles("", "", "", "", "", ("", "", ""))


def test_describe_gives_as_many_numbers_as_the_network_takes() -> None:
    rows = describe(Document("http://e.com/"), [TitleCandidate("Ferry runs again", "ferryrunsagain")], NONE, -1, ())
    assert rows.shape == (1, len(load("title", DenseNetwork.of).shift))
    assert np.isfinite(rows).all()


def test_choose_takes_most_points() -> None:
    one = np.ones((1, 1))
    network = DenseNetwork((), 0 * one, one, (2 * one[None], one[None]), (0 * one[None], 0 * one[None]))
    assert choose(np.array([[0.1], [0.7], [0.3]]), network) == 1


def test_describe_knows_where_a_line_stands_and_what_repeats_it() -> None:
    page = "<title>Ferry runs again</title><h1>Ferry runs again</h1><p>The ferry runs again, the town said.</p>"
    document = parse(page.encode(), "http://e.com/ferry-runs.html")
    shown = TitleCandidate("Ferry runs again", "ferryrunsagain", 0, 1, 1, {"line"})
    other = TitleCandidate("Imprint", "imprint", -1, 9, 0, {"title ends"})
    stated = StatedTitles("ferryrunsagain", "ferryrunsagain", "", "", "", ("Ferry runs again", "", ""))
    rows = describe(document, [shown, other], stated, 1, {"imprint"})
    assert (rows[0] != rows[1]).sum() > 10
    assert choose(rows) == 0
