"""The page of an article's words and of which ones occur together."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup
from networkx import Graph
from starlette.responses import Response

from pipelines.text.analysis import analyse
from pipelines.text.frequencies import shipped
from pipelines.text.keywords import network

from ..drawing.link_map import Circle, draw
from ..frame.visit import Visit
from .article import find

_DRAWN = 24
_MOST = 20_000
"""Characters of the article that are analysed."""


def show(visit: Visit) -> Response:
    """Show the word network of an article; central words are larger."""
    item = find(visit).item
    text = analyse(item.title, item.text[:_MOST], item.language)
    best = network.extract(text, shipped())[:_DRAWN]
    return visit.page("words.html", item=item, best=best, picture=_picture(visit, network.build(text), best))


def _picture(visit: Visit, graph: Graph, best: list[tuple[str, float]]) -> Markup | None:
    places = {word: place for place, (word, _) in enumerate(best)}
    terms = {term: places[word] for term, word in graph.nodes(data="word") if word in places}
    links = {
        (terms[one], terms[other]): round(weight)
        for one, other, weight in graph.edges(data="weight")
        if one in terms and other in terms
    }
    if not links:
        return None
    counts = {places[node["word"]]: node["count"] for _, node in graph.nodes(data=True) if node["word"] in places}
    language = visit.language
    circles = [
        Circle(word, language("words.told", word=word, n=counts[place]), max(weight, 0.01), f"/?q={quote(word)}")
        for place, (word, weight) in enumerate(best)
    ]
    return draw(language("words.title"), circles, links)
