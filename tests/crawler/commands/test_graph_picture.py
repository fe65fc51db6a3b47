"""Pictures and files of the link graph."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import networkx
import numpy as np
import pytest
import resvg_py

from crawler.commands import _graph_picture
from crawler.commands._graph_picture import Label, Params
from crawler.rank import pagerank
from crawler.rank.graph import LinkGraph
from tests.crawler.rank.graphs import add, add_pages, graph_of, random_web

SVG = "{http://www.w3.org/2000/svg}"
SITES = {n: Label(f"网站{n}.cn") for n in range(1, 16)}


def texts(document: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(document).iter(f"{SVG}text")]


def draw(graph: LinkGraph, **values: Any) -> str:
    pages = {page: Label(f"第{page}页 <&>", f"http://h.cn/{page}?a=1&b=2") for page in range(len(graph))}
    return _graph_picture.svg(graph, pagerank.score(graph), SITES, pages, **values)


def test_the_best_are_drawn_with_their_names() -> None:
    graph = random_web(400, 3000)
    scores = pagerank.score(graph)
    document = draw(graph, params=Params(sites=5, pages=7), title="图 & more")
    shown = texts(document)
    assert shown[0] == "图 & more"
    of_sites = np.bincount(graph.site_numbers, weights=scores)
    assert shown[1:6] == [f"网站{site}.cn" for site in np.argsort(-of_sites)[:5]]
    assert shown[6:] == [f"第{page}页 <&>" for page in np.argsort(-scores)[:7]]
    assert "http://h.cn/" in document


def test_the_same_graph_gives_the_same_picture() -> None:
    graph = random_web(300, 2000)
    assert draw(graph) == draw(graph)
    assert draw(graph) != draw(graph, params=Params(seed=2))


def test_areas_are_scores_and_broad_arrows_are_many_links() -> None:
    graph = LinkGraph()
    for site, pages in enumerate(((10, 11, 12), (20, 21, 22), (30,)), 1):
        add_pages(graph, pages, site)
    add(graph, {10: [20], 11: [20], 12: [20, 30], 20: [10]})
    scores = np.array([0.1, 0.05, 0.05, 0.3, 0.02, 0.03, 0.45])
    document = _graph_picture.svg(graph, scores, SITES, {}, Params(largest=50))
    radii = sorted(float(r) for r in re.findall(r'<circle [^>]*r="([0-9.]+)"', document))
    assert radii == pytest.approx([50 * (0.2 / 0.45) ** 0.5, 50 * (0.35 / 0.45) ** 0.5, 50], abs=0.06)
    widths = {title: float(w) for w, title in re.findall(r'stroke-width="([0-9.]+)".*?<title>(.*?)</title>', document)}
    assert widths["网站1.cn → 网站2.cn: 3 links"] > widths["网站1.cn → 网站3.cn: 1 link"]
    assert "网站3.cn →" not in document


def test_nothing_covers_anything_else() -> None:
    graph = random_web(2000, 20_000)
    document = draw(graph, params=Params(sites=15, pages=60))
    circles = [tuple(map(float, c)) for c in re.findall(r'cx="([-0-9.]+)" cy="([-0-9.]+)" r="([0-9.]+)"', document)]
    assert len(circles) == 75
    for n, (x, y, r) in enumerate(circles):
        for u, v, s in circles[:n]:
            assert np.hypot(x - u, y - v) >= r + s
    words = re.findall(r'<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="10"', document)
    assert len(set(words)) == 60


def test_hostile_names_and_long_ones() -> None:
    graph = add_pages(graph_of({1: [2]}), [1, 2], 1)
    evil = "\x00\x1b</text><script>alert('1')</script>\ud800" + "长" * 500
    document = _graph_picture.svg(
        graph, np.array([0.5, 0.5]), {1: Label(evil, evil)}, {0: Label(evil, evil)}, title=evil
    )
    ET.fromstring(document.encode())
    assert "<script>" not in document
    assert max(len(text) for text in texts(document)[1:]) <= _graph_picture.DEFAULTS.label_chars


def test_nothing_to_draw() -> None:
    assert texts(_graph_picture.svg(LinkGraph(), np.zeros(0), {}, {}, title="empty")) == ["empty"]
    alone = add_pages(LinkGraph(), [5], 3)
    assert texts(_graph_picture.svg(alone, np.ones(1), {}, {0: Label("one")}))[1:] == ["site 1", "one"]
    unknown = graph_of({1: [2]})
    assert texts(_graph_picture.svg(unknown, np.array([0.5, 0.5]), {}, {0: Label("a"), 7: Label("b")}))[1:] == ["a"]


def test_a_picture_of_pixels() -> None:
    """The renderer takes what is drawn; letters make it larger than the same picture without."""
    graph = random_web(300, 2000)
    scores = pagerank.score(graph)
    blank = {site: Label(" ") for site in range(1, 16)}
    with_words = resvg_py.svg_to_bytes(svg_string=_graph_picture.svg(graph, scores, SITES, {}, title="链接"))
    without = resvg_py.svg_to_bytes(svg_string=_graph_picture.svg(graph, scores, blank, {}))
    assert bytes(with_words[:8]) == b"\x89PNG\r\n\x1a\n"
    assert len(with_words) > len(without) or not _has_fonts()


def _has_fonts() -> bool:
    text = '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="20"><text y="15">{}</text></svg>'
    full, empty = (resvg_py.svg_to_bytes(svg_string=text.format(word)) for word in ("ab", ""))
    return full != empty


def test_graphml_can_be_read_back() -> None:
    graph = add_pages(graph_of({1: [2, 3], 2: [1]}), [1, 2, 3], 9)
    urls = {0: "http://a.cn/一?x=1&y=<2>", 1: "http://a.cn/\x00\x0b\ud800end", 2: "http://b.cn/"}
    made = graph.to_networkx(urls, np.array([0.5, 0.3, 0.2]))
    read = networkx.parse_graphml(_graph_picture.graphml(made), node_type=int)
    assert networkx.utils.graphs_equal(networkx.DiGraph(read.edges), networkx.DiGraph(made.edges))
    assert read.nodes[0] == made.nodes[0]
    assert read.nodes[1]["url"] == "http://a.cn/\ufffd\ufffd\ufffdend"
    assert read.edges[0, 1]["block"] == "body"
    assert made.nodes[1]["url"] == urls[1], "what was given stays as it was"
    assert len(networkx.parse_graphml(_graph_picture.graphml(LinkGraph().to_networkx()))) == 0


def test_scores_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="1 scores for 2 pages"):
        _graph_picture.svg(graph_of({1: [2]}), np.ones(1), {}, {})


@pytest.mark.parametrize("values", [{"sites": -1}, {"pages": -1}, {"label_chars": 1}, {"size": 0.0}, {"largest": -1.0}])
def test_wrong_params(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(values.values())))):
        Params(**values)
