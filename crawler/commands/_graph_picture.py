"""Pictures of the link graph: its best sites and pages with the links between them; and files for other programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import log1p, sqrt
from unicodedata import east_asian_width

import networkx
import numpy as np
from numpy.typing import NDArray

from ..rank.graph import LinkGraph
from ..rank.surfer import Values, best

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONTS = (
    "Noto Sans, Noto Sans CJK SC, Source Han Sans SC, PingFang SC, Microsoft YaHei, WenQuanYi Zen Hei, "
    "DejaVu Sans, Arial, sans-serif"
)
_MARGIN = 30.0
_CAPTION = 40.0
_PUSHES = 400


@dataclass(frozen=True, slots=True)
class Params:
    """What a picture shows.

    Attributes:
        sites, pages: how many, the best ones, at least 0.
        label_chars: longer labels are cut, at least 2.
        size: width of the canvas that the layout begins with, in pixels, above 0.
        largest: radius of the greatest circle, in pixels, above 0.
        seed: the same gives the same picture.

    Raises:
        ValueError: a value outside of these bounds.
    """

    sites: int = 24
    pages: int = 48
    label_chars: int = 24
    size: float = 1200.0
    largest: float = 42.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sites < 0 or self.pages < 0 or self.label_chars < 2:
            raise ValueError(
                f"{self.sites} sites, {self.pages} pages, {self.label_chars} characters; at least 0, 0 and 2"
            )
        if not (self.size > 0 and self.largest > 0):
            raise ValueError(f"size is {self.size!r} and largest {self.largest!r}; both are above 0")


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class Label:
    """What a circle is called, and the whole of it, which shows when the mouse rests there."""

    text: str
    whole: str = ""


@dataclass(frozen=True, slots=True)
class _Circle:
    """A site or a page of the picture: (True, site number) or (False, page number)."""

    key: tuple[bool, int]
    radius: float
    hue: float
    label: Label

    @property
    def is_site(self) -> bool:
        return self.key[0]

    @property
    def font(self) -> float:
        return 14.0 if self.is_site else 10.0


def svg(
    graph: LinkGraph,
    scores: Values,
    sites: Mapping[int, Label],
    pages: Mapping[int, Label],
    params: Params = DEFAULTS,
    *,
    title: str = "",
) -> str:
    """Draw the best sites, the best pages, and the links among them.

    The area of a circle is its score, a site's being that of all its pages; a page has the colour of its site and
    hangs on it by a dotted line. Arrows are links, the broader the more pages of one site link to the other. Circles
    that link to one another lie together, by the forces of Fruchterman and Reingold, then they are moved apart until
    no circle or label covers another.

    Args:
        graph: the links.
        scores: of all pages.
        sites: labels by number of site; those without go by their number.
        pages: labels by number of page; pages without are not drawn.
        params: how much is drawn.
        title: what stands above.

    Returns:
        An SVG document; the same for the same input.

    Raises:
        ValueError: another number of scores than pages.

    Cost: O(links) to count them, and some seconds at most to lay out a hundred circles.
    Source: T. Fruchterman, E. Reingold, Graph drawing by force-directed placement, 1991, as `networkx.spring_layout`.
    Differs: sizes and labels are taken into account afterwards, by moving boxes apart.
    """
    if len(scores) != len(graph):
        raise ValueError(f"{len(scores)} scores for {len(graph)} pages; one for each is needed")
    circles = _circles(graph, scores, sites, pages, params)
    links = _links(graph, circles)
    at = _layout(circles, links, params)
    return _document(circles, links, at, title)


def graphml(made: networkx.DiGraph) -> str:
    """A graph as GraphML, for Gephi and others; characters that XML does not know are replaced.

    Cost: about 1 KB a link.
    """
    clean = networkx.DiGraph()
    clean.add_nodes_from((node, _legal_all(values)) for node, values in made.nodes.items())
    clean.add_edges_from((*ends, _legal_all(values)) for ends, values in made.edges.items())
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "\n".join(networkx.generate_graphml(clean)) + "\n"


# ---------------------------------------------------------------- what is drawn


def _circles(
    graph: LinkGraph, scores: Values, sites: Mapping[int, Label], pages: Mapping[int, Label], params: Params
) -> list[_Circle]:
    """The best sites, then the best pages that have a label."""
    site_numbers = graph.site_numbers
    of_sites: Values = np.bincount(site_numbers, weights=scores, minlength=1).astype(np.float64, copy=False)
    held = np.bincount(site_numbers, minlength=1)
    named = np.fromiter((page for page in pages if 0 <= page < len(graph)), np.int32)
    chosen_pages = named[best(scores[named], params.pages)]
    chosen_sites = [site for site in best(of_sites, params.sites).tolist() if site and held[site]]
    scale = params.largest / sqrt(max(float(of_sites.max(initial=0.0)), 1e-300))
    hues = {site: n * 137.508 % 360 for n, site in enumerate(chosen_sites)}  # the golden angle: never twice alike

    def circle(key: tuple[bool, int], worth: float, site: int, label: Label) -> _Circle:
        least = 6.0 if key[0] else 3.0
        text = _legal(label.text)
        short = text if len(text) <= params.label_chars else text[: params.label_chars - 1] + "…"
        return _Circle(key, max(least, scale * sqrt(worth)), hues.get(site, -1.0), Label(short, _legal(label.whole)))

    return [
        *(
            circle((True, site), float(of_sites[site]), site, sites.get(site, Label(f"site {site}")))
            for site in chosen_sites
        ),
        *(
            circle((False, page), float(scores[page]), int(site_numbers[page]), pages[page])
            for page in chosen_pages.tolist()
        ),
    ]


def _links(graph: LinkGraph, circles: list[_Circle]) -> networkx.DiGraph:
    """Links among circles by their places in the list, with how many `links` they stand for; 0: a page of a site."""
    made = networkx.DiGraph()
    made.add_nodes_from(range(len(circles)))
    page_places = np.full(len(graph), -1, np.int32)
    site_places = np.full(len(graph.site_ids), -1, np.int32)
    for place, circle in enumerate(circles):
        (site_places if circle.is_site else page_places)[circle.key[1]] = place
    sources, targets, site_numbers = graph.fetched[graph.link_rows()], graph.targets, graph.site_numbers
    for place, circle in enumerate(circles):
        home = -1 if circle.is_site else int(site_places[site_numbers[circle.key[1]]])
        if home >= 0:
            made.add_edge(home, place, links=0)
    for a, b in (
        (page_places[sources], page_places[targets]),
        (site_places[site_numbers[sources]], site_places[site_numbers[targets]]),
    ):
        both = (a >= 0) & (b >= 0) & (a != b)
        pairs, counts = np.unique(np.stack((a[both], b[both])), axis=1, return_counts=True)
        for source, target, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            made.add_edge(source, target, links=count)
    return made


# ---------------------------------------------------------------- where it is drawn


def _layout(circles: list[_Circle], links: networkx.DiGraph, params: Params) -> NDArray[np.float64]:
    """Middle of each circle, in pixels; nothing covers anything else."""
    forces = networkx.Graph()
    forces.add_nodes_from(links)
    for a, b, count in links.edges(data="links"):
        pull = 3.0 if count == 0 else 0.3 * log1p(count)
        forces.add_edge(a, b, weight=forces.get_edge_data(a, b, {"weight": 0.0})["weight"] + pull)
    placed = networkx.spring_layout(forces, iterations=200, seed=params.seed, method="force")
    at = np.array([placed[place] for place in range(len(circles))]).reshape(-1, 2)
    # half by the forces, half by their order alone: otherwise a few that lie far out press all others together
    even = (np.argsort(np.argsort(at, axis=0, kind="stable"), axis=0) + 0.5) / max(1, len(at)) * 2 - 1
    at = (at / max(float(np.abs(at).max(initial=0.0)), 1e-9) + even) / 2 * (params.size / 2, params.size / 3)
    boxes = np.array([_box(circle) for circle in circles]).reshape(-1, 3)
    return _apart(at, boxes)


def _box(circle: _Circle) -> tuple[float, float, float]:
    """Width, and height above and below the middle: the circle with its label beneath."""
    width = sum(1.0 if east_asian_width(c) in "WF" else 0.6 for c in circle.label.text) * circle.font
    return max(2 * circle.radius, width) + 6, circle.radius + 3, circle.radius + circle.font * 1.3 + 3


def _apart(at: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push boxes that overlap away from each other, along the shorter way, until none do."""
    middle = at + np.stack((np.zeros(len(at)), (boxes[:, 2] - boxes[:, 1]) / 2), axis=1)
    half = np.stack((boxes[:, 0] / 2, (boxes[:, 1] + boxes[:, 2]) / 2), axis=1)
    for _ in range(_PUSHES):
        apart = middle[:, None] - middle[None]
        over = half[:, None] + half[None] - np.abs(apart)
        over[np.arange(len(at)), np.arange(len(at))] = 0.0
        hit = (over[..., 0] > 0) & (over[..., 1] > 0)
        if not hit.any():
            break
        across = over[..., 0] < over[..., 1]
        # of two in the same place the earlier one goes left or up
        order = np.sign(np.arange(len(at))[:, None] - np.arange(len(at))[None])[..., None]
        sign = np.where(apart == 0, order, np.sign(apart))
        push = np.where(np.stack((across, ~across), axis=2) & hit[..., None], 0.5 * over * sign, 0.0)
        middle = middle + push.sum(axis=1) * 0.7 + np.sign(push.sum(axis=1)) * 0.01
    return middle - np.stack((np.zeros(len(at)), (boxes[:, 2] - boxes[:, 1]) / 2), axis=1)


# ---------------------------------------------------------------- the document


def _document(circles: list[_Circle], links: networkx.DiGraph, at: NDArray[np.float64], title: str) -> str:
    boxes = np.array([_box(circle) for circle in circles]).reshape(-1, 3)
    low = np.stack((at[:, 0] - boxes[:, 0] / 2, at[:, 1] - boxes[:, 1]), axis=1).min(axis=0, initial=0.0) - _MARGIN
    high = np.stack((at[:, 0] + boxes[:, 0] / 2, at[:, 1] + boxes[:, 2]), axis=1).max(axis=0, initial=0.0) + _MARGIN
    low[1] -= _CAPTION
    x, y = low.tolist()
    width, height = np.maximum(high - low, (400.0, 0.0)).tolist()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x:.0f} {y:.0f} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="{_FONTS}">',
        f"<defs>{_tip('site', 8)}{_tip('page', 4)}</defs>",
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        f'<text x="{x + _MARGIN:.0f}" y="{y + _MARGIN:.0f}" font-size="16" fill="#222">{escape(_legal(title))}</text>',
        *(_line(circles[a], circles[b], at[a], at[b], count) for a, b, count in links.edges(data="links")),
        *(_shape(circle, middle) for circle, middle in zip(circles, at, strict=True)),
        *(_text(circle, middle) for circle, middle in zip(circles, at, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(a: _Circle, b: _Circle, start: NDArray[np.float64], end: NDArray[np.float64], count: int) -> str:
    """A bent arrow from edge to edge, or the dotted line from a site to its page."""
    way = end - start
    length = max(float(np.hypot(*way)), 1e-9)
    first, last = start + way * (a.radius / length), end - way * ((b.radius + 2) / length)
    if not count:
        (x1, y1), (x2, y2) = first.tolist(), last.tolist()
        colour = _colour(a.hue, 60)
        return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-dasharray="1 3" fill="none"/>'
    bend = (start + end) / 2 + np.array([-way[1], way[0]]) * 0.12
    (x1, y1), (xb, yb), (x2, y2) = first.tolist(), bend.tolist(), last.tolist()
    stroke, opacity, tip = (0.8 + 0.7 * log1p(count), 0.45, "site") if a.is_site else (0.7, 0.3, "page")
    links = f"{count} link{'s' if count > 1 else ''}"
    return (
        f'<path d="M{x1:.1f} {y1:.1f} Q{xb:.1f} {yb:.1f} {x2:.1f} {y2:.1f}" fill="none" stroke="#667" '
        f'stroke-width="{stroke:.1f}" stroke-opacity="{opacity}" marker-end="url(#{tip})">'
        f"<title>{escape(a.label.text)} → {escape(b.label.text)}: {links}</title></path>"
    )


def _tip(name: str, pixels: int) -> str:
    """The head of an arrow."""
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{pixels}" markerHeight="{pixels}" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1 L8 4 L0 7 Z" fill="#667"/></marker>'
    )


def _shape(circle: _Circle, middle: NDArray[np.float64]) -> str:
    x, y = middle.tolist()
    fill = _colour(circle.hue, 62 if circle.is_site else 80)
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{circle.radius:.1f}" fill="{fill}" stroke="{_colour(circle.hue, 38)}">'
        f"<title>{escape(circle.label.whole or circle.label.text)}</title></circle>"
    )


def _text(circle: _Circle, middle: NDArray[np.float64]) -> str:
    x, y = middle.tolist()
    below = y + circle.radius + circle.font
    weight = ' font-weight="bold"' if circle.is_site else ""
    return (
        f'<text x="{x:.1f}" y="{below:.1f}" font-size="{circle.font:g}" text-anchor="middle" fill="#222"{weight} '
        f'stroke="#fff" stroke-width="3" stroke-opacity="0.8" paint-order="stroke">{escape(circle.label.text)}</text>'
    )


def _colour(hue: float, light: int) -> str:
    """A colour of the wheel; grey for what belongs to no site that is drawn."""
    return f"hsl({hue:.0f}, 55%, {light}%)" if hue >= 0 else f"hsl(0, 0%, {light}%)"


# ---------------------------------------------------------------- characters


def _legal(text: str) -> str:
    """Text without what XML cannot hold."""
    return _ILLEGAL.sub("\ufffd", text)


def _legal_all(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _legal(value) if isinstance(value, str) else value for name, value in values.items()}
