"""Pictures and files of the link graph."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from io import BytesIO
from itertools import combinations
from typing import Any

import networkx
import numpy as np
import pytest

from crawler.commands import _graph_picture
from crawler.commands._graph_picture import draw, graphml, require_extra
from crawler.rank import pagerank
from crawler.rank.graph import LinkGraph
from crawler.web.drawing.layout import place
from tests.crawler.rank.graphs import add, add_pages, graph_of, random_web

SVG = "{http://www.w3.org/2000/svg}"
SITES = {n: [f"网站{n}.cn", f"site{n}.cn"] for n in range(1, 16)}


def texts(document: bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(document).iter(f"{SVG}text")]


def svg(graph: LinkGraph, scores: Any = None, pages: Any = None, title: str = "") -> bytes:
    pages = {page: [f"第{page}页 <&> $x$"] for page in range(len(graph))} if pages is None else pages
    scores = pagerank.score(graph) if scores is None else scores
    picture, problem = draw(graph, scores, SITES, pages, title=title, ending=".svg")
    assert problem == "", "the reader's own fonts write an SVG"
    return picture


def test_draw_names_the_best_and_repeats_itself() -> None:
    graph = random_web(400, 3000)
    scores = pagerank.score(graph)
    document = svg(graph, title="图 & more")
    of_sites = np.bincount(graph.site_numbers, weights=scores)
    assert texts(document) == [
        "图 & more",
        *(f"网站{site}.cn" for site in np.argsort(-of_sites)[:15]),
        *(f"第{page}页 <&> $x$" for page in np.argsort(-scores)[:48]),
    ]
    assert document == svg(graph, title="图 & more")


def test_circles_are_as_large_as_scores_and_pages_know_their_site() -> None:
    graph = LinkGraph()
    for site, pages in enumerate(((10, 11, 12), (20, 21, 22), (30,)), 1):
        add_pages(graph, pages, site)
    add(graph, {10: [20], 11: [20], 12: [20, 30], 20: [10]})
    scores = np.array([0.1, 0.05, 0.05, 0.3, 0.02, 0.03, 0.45])
    circles = _graph_picture._circles(graph, scores, SITES, {3: ["page"]})
    radii = [50 * share**0.5 for share in (1, 0.35 / 0.45, 0.2 / 0.45, 0.3 / 0.45)]
    assert [circle.radius / 42 * 50 for circle in circles] == pytest.approx(radii)
    assert [circle.number for circle in circles] == [3, 2, 1, 3]
    assert circles[3].home == 1
    assert circles[3].colour == circles[1].colour != circles[0].colour
    links = _graph_picture._links(graph, circles)
    assert dict(links.edges) == {(1, 3): {"links": 0}, (2, 1): {"links": 3}, (2, 0): {"links": 1}, (1, 2): {"links": 1}}


def test_layout_covers_nothing() -> None:
    graph = random_web(2000, 20_000)
    circles = _graph_picture._circles(graph, pagerank.score(graph), SITES, {page: ["x"] for page in range(len(graph))})
    boxes = np.array([(max(90.0, 2 * circle.radius), circle.radius, circle.radius + 20) for circle in circles])
    at = place(_graph_picture._links(graph, circles), boxes)
    assert len(at) == 63
    for a, b in combinations(range(len(at)), 2):
        beside = abs(at[a, 0] - at[b, 0]) >= (boxes[a, 0] + boxes[b, 0]) / 2 - 0.1
        upper, lower = (a, b) if at[a, 1] > at[b, 1] else (b, a)
        assert beside or at[upper, 1] - boxes[upper, 2] >= at[lower, 1] + boxes[lower, 1] - 0.1


def test_draw_makes_hostile_names_harmless_and_long_ones_short() -> None:
    graph = add_pages(graph_of({1: [2]}), [1, 2], 1)
    evil = "\x00\x1b</text><script>alert('1')</script>\ud800" + "长" * 500
    document = svg(graph, np.array([0.5, 0.5]), {0: [evil], 1: ["$\\frac{"]}, title=evil)
    assert b"<script>" not in document
    assert max(len(text) for text in texts(document)[1:]) <= 24
    assert draw(graph, np.array([0.5, 0.5]), {1: [evil]}, {0: [evil]}, title="$", ending=".png")[0]


def test_draw_without_pages() -> None:
    assert texts(svg(LinkGraph(), np.zeros(0), title="empty")) == ["empty"]
    alone = add_pages(LinkGraph(), [5], 30)
    assert texts(draw(alone, np.ones(1), {}, {0: ["one"]}, title="t", ending=".svg")[0]) == ["t", "site 1", "one"]
    unknown = graph_of({1: [2]})
    assert texts(svg(unknown, np.array([0.5, 0.5]), {0: ["a"], 7: ["b"]})) == ["a"]


def test_png_takes_the_first_name_its_fonts_can_write(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.image import imread

    monkeypatch.setattr(_graph_picture, "_FAMILIES", ("DejaVu Sans", "No Such Font"))
    assert _graph_picture._fonts() == ["DejaVu Sans"]
    missing = _graph_picture._missing("新闻 news Новости")
    assert missing == {"新", "闻"}
    assert _graph_picture._label(["新闻", "Новости", "news"], missing) == "Новости"
    assert _graph_picture._label(["新闻"], missing) == ""
    graph = random_web(300, 2000)
    picture, problem = draw(graph, pagerank.score(graph), SITES, {1: ["新闻", "news"]}, title="", ending=".png")
    assert re.match("no font of this machine has the characters 新站网闻, so labels", problem)
    assert "fonts-noto-cjk" in problem
    assert len(problem.splitlines()) == 1
    pixels = imread(BytesIO(picture))
    assert min(pixels.shape[:2]) > 500
    assert len(np.unique(pixels[::5, ::5].reshape(-1, pixels.shape[2]), axis=0)) > 100


def test_graphml_can_be_read_back() -> None:
    graph = add_pages(graph_of({1: [2, 3], 2: [1]}), [1, 2, 3], 9)
    urls = {0: "http://a.cn/一?x=1&y=<2>", 1: "http://a.cn/\x00\x0b\ud800end", 2: "http://b.cn/"}
    made = graph.to_networkx(urls, np.array([0.5, 0.3, 0.2]))
    read = networkx.parse_graphml(graphml(made), node_type=int)
    assert networkx.utils.graphs_equal(networkx.DiGraph(read.edges), networkx.DiGraph(made.edges))
    assert read.nodes[0] == made.nodes[0]
    assert read.nodes[1]["url"] == "http://a.cn/\ufffd\ufffd\ufffdend"
    assert read.edges[0, 1]["block"] == "body"
    assert made.nodes[1]["url"] == urls[1], "what was given stays as it was"
    assert len(networkx.parse_graphml(graphml(LinkGraph().to_networkx()))) == 0


def test_draw_refuses_scores_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="1 scores for 2 pages"):
        svg(graph_of({1: [2]}), np.ones(1))


def test_require_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    require_extra()
    monkeypatch.setattr(_graph_picture, "find_spec", lambda _name: None)
    with pytest.raises(ValueError, match=re.escape("uv sync --extra graph")):
        require_extra()
