"""The network that chooses among all that may be the authors."""

from __future__ import annotations

import numpy as np

from pipelines.document.document import parse
from pipelines.metadata.author_ranking import SOURCES, AuthorCandidate, PageOfAuthors, choose, describe
from pipelines.models.files import load
from pipelines.models.network import DenseNetwork

LINES = ["Ferry runs again", "By Jane Roe", "March 12, 2024", "The ferry runs again, the town said on Tuesday."]
DOCUMENT = parse("".join(f"<p>{line}</p>" for line in LINES).encode(), "http://e.com/ferry.html")
PAGE = PageOfAuthors(head=0, kept=[3], sites=(), tails=["river post"], editors=[], is_cjk=False, is_thread=False)


def test_describe_gives_a_row_for_nobody_and_as_many_numbers_as_the_network_takes() -> None:
    rows = describe(DOCUMENT, [AuthorCandidate(("Jane Roe",), set(SOURCES), 1)], PAGE)
    assert rows.shape == (2, len(load("authors", DenseNetwork.of).shift))
    assert np.isfinite(rows).all()
    assert describe(DOCUMENT, [], PAGE).shape == (1, rows.shape[1])


def test_choose_takes_most_points_of_all_networks() -> None:
    weights = (np.array([[[1.0]], [[-4.0]]]), np.ones((2, 1, 1)))
    biases = (np.full((2, 1, 1), 5.0), np.zeros((2, 1, 1)))
    network = DenseNetwork((), np.zeros((1, 1)), np.ones((1, 1)), weights, biases)
    assert choose(np.array([[0.1], [0.7], [0.3]]), network) == 0


def test_byline_goes_before_the_site_and_a_name_that_stands_nowhere() -> None:
    byline = AuthorCandidate(("Jane Roe",), {"byline"}, 1)
    site = AuthorCandidate(("River Post",), {"author", "house"})
    assert choose(describe(DOCUMENT, [site, byline], PAGE)) == 1
