from __future__ import annotations

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
    assert found.depths["bridg"] > found.depths["ship"] > 1


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


def test_trees_decide_where_words_are_alike() -> None:
    texts = [page(markup, f"report {number}") for markup in (TABLE, PROSE) for number in range(6)]
    model = learn(texts, [("table",)] * 6 + [("prose",)] * 6, learner("structure")).model
    assert model.predict(page(TABLE, "report")).names == ("table",)
    assert model.predict(page(PROSE, "report")).names == ("prose",)
