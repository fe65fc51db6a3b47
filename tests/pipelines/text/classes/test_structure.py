from __future__ import annotations

import pytest

from pipelines.document.document import parse
from pipelines.text.classes import learner
from pipelines.text.classes.structure import count_placed, likeness, place
from pipelines.text.classes.vectors import Text, as_terms
from pipelines.training.classes import learn

PAGE = b"<html><body><h1>Bridge opened</h1><div><div><p>Ships pass <b>slowly</b></p></div></div></body></html>"
TABLE = "<html><body><table><tr><td>%s</td></tr><tr><td>again</td></tr></table></body></html>"
PROSE = "<html><body><p>%s</p><p>again</p></body></html>"


def page(markup: str, text: str) -> Text:
    return place(parse((markup % text).encode(), "http://a.example/"), "", text)._replace(language="en")


def test_place_keeps_edges_headings_and_depth() -> None:
    found = place(parse(PAGE, "http://a.example/"), "", "Bridge opened Ships pass slowly")
    assert found.edges["div>p"] == 1
    assert ("h1", "Bridge opened") in found.marked
    # (1 + 1 / (1 + depth)) (2 - order): h1 at depth 2 is the first of two blocks, p at depth 4 the second.
    assert found.depths["bridg"] == pytest.approx(4 / 3 * 2)
    assert found.depths["ship"] == pytest.approx(6 / 5 * 1.5)


def test_attributes_are_nodes_too() -> None:
    one, other = (
        page(markup, "again") for markup in ("<body><p class=a id=b>%s</p>", "<body><p class=c>%s</p><p>%%</p>")
    )
    assert one.edges == {"html>body": 1, "body>p": 1, "p>@class": 1, "p>@id": 1}
    # Common are html>body, one body>p and p>@class, of at most 4 edges.
    assert likeness(one.edges, other.edges) == 0.75


def test_words_of_the_head_of_a_page_weigh_more() -> None:
    found = count_placed(Text("", "first second"))
    first, second = as_terms({"first": 1}).ids[0], as_terms({"second": 1}).ids[0]
    weights = dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True))
    assert weights[first] > weights[second]


def test_likeness_is_symmetric_and_bounded() -> None:
    one, other = {"body>p": 3, "body>h1": 1}, {"body>p": 5}
    assert likeness(one, other) == likeness(other, one) == 0.6
    assert likeness(one, one) == 1
    assert likeness(one, {}) == likeness({}, {}) == 0


@pytest.mark.parametrize("by", ["svm", "nearest"])
def test_trees_decide_where_words_are_alike(by: str) -> None:
    texts = [page(markup, f"report {number}") for markup in (TABLE, PROSE) for number in range(6)]
    model = learn(texts, [("table",)] * 6 + [("prose",)] * 6, learner("structure", {"by": by})).model
    assert model.predict(page(TABLE, "report")).names == ("table",)
    assert model.predict(page(PROSE, "report")).names == ("prose",)
