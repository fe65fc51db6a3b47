"""Pictures of the link graph, and files of it for other programs.

A picture shows the best sites and pages with the links between them. Scrapy imports all modules beside its commands,
so matplotlib, an extra, is imported only when a picture is made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

if TYPE_CHECKING:
    import networkx

    from ..rank.graph import LinkGraph
    from ..rank.surfer import Values

PICTURES = frozenset({".png", ".svg"})
"""Suffixes of files that need the extra `graph`."""
_SITES, _PAGES = 24, 48
_LABEL_CHARS = 24
_SHOWN_CHARS = 12
"""Characters without a font that are named in the sentence about them."""
_LARGEST = 42.0
"""Radius of the largest circle, in points, as all lengths here."""
_MARGIN = 30.0
_SITE_FONT, _PAGE_FONT = 13.0, 9.0
_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "IPAexGothic",
)
"""Fonts tried in this order: one for all alphabets, then those with Chinese."""
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


Names = Sequence[str]
"""Names of a circle, the best first: a picture takes the first that its fonts can write."""


@dataclass(frozen=True, slots=True)
class _Circle:
    """A site or a page of the picture, by its number."""

    number: int
    is_site: bool
    radius: float
    colour: tuple[float, float, float]
    names: Names
    home: int = -1
    """Of a page: the place of its site among the circles."""


def require_extra() -> None:
    """Raise `ValueError` if matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ValueError("a picture needs matplotlib; install it with: uv sync --extra graph")


def draw(
    graph: LinkGraph,
    scores: Values,
    sites: Mapping[int, Names],
    pages: Mapping[int, Names],
    *,
    title: str,
    ending: str,
) -> tuple[bytes, str]:
    """Draw the best sites, the best pages, and the links among them.

    The area of a circle is its score, a site's being that of all its pages; a page has the colour of its site and hangs
    on it by a dotted line. Arrows are links, the broader the more pages of one site link to the other. Circles that
    link to one another lie together, by the forces of Fruchterman and Reingold; then they are moved apart until no
    circle or label covers another.

    Args:
        sites: names by number of site; sites without go by their number.
        pages: names by number of page; pages without are not drawn.
        ending: one of `PICTURES`.

    Returns:
        The file, the same for the same input and fonts; and a sentence about characters that no font has, or nothing.

    Raises:
        ValueError: the numbers of scores and pages differ.

    Cost: O(links) to count them, and some seconds at most to lay out a hundred circles.
    Source: T. Fruchterman, E. Reingold, Graph drawing by force-directed placement, 1991, as `networkx.spring_layout`.
    Differs: sizes and labels are taken into account afterwards, by moving boxes apart.
    """
    import matplotlib as mpl

    if len(scores) != len(graph):
        raise ValueError(f"{len(scores)} scores for {len(graph)} pages; one for each is needed")
    values: dict[Any, Any] = {"font.family": _fonts(), "svg.fonttype": "none", "svg.hashsalt": "graph"}
    with mpl.rc_context(values), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing")  # in an SVG, whose readers have other fonts
        circles = _circles(graph, scores, sites, pages)
        missing = set() if ending == ".svg" else _missing("".join(name for circle in circles for name in circle.names))
        labels = [_label(circle.names, missing) for circle in circles]
        links = _links(graph, circles)
        return _paint(circles, labels, links, _legal(title), ending), _lack(missing)


def graphml(graph: networkx.DiGraph) -> str:
    """Write a graph as GraphML, replacing characters that XML does not have.

    Cost: about 1 KB a link.
    """
    import networkx

    clean = networkx.DiGraph()
    clean.add_nodes_from((node, _legal_all(values)) for node, values in graph.nodes.items())
    clean.add_edges_from((*ends, _legal_all(values)) for ends, values in graph.edges.items())
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "\n".join(networkx.generate_graphml(clean)) + "\n"


def _circles(graph: LinkGraph, scores: Values, sites: Mapping[int, Names], pages: Mapping[int, Names]) -> list[_Circle]:
    import numpy as np
    from matplotlib.colors import hsv_to_rgb

    from ..rank.surfer import best

    of_page = graph.site_numbers
    of_sites = np.bincount(of_page, weights=scores, minlength=1).astype(np.float64, copy=False)
    held = np.bincount(of_page, minlength=1)
    chosen = [site for site in best(of_sites, _SITES).tolist() if site and held[site]]
    named = np.fromiter((page for page in pages if 0 <= page < len(graph)), np.int32)
    scale = _LARGEST / max(float(of_sites.max(initial=0.0)), 1e-300) ** 0.5
    # the golden angle: no two sites are alike
    colours = {site: tuple(hsv_to_rgb((n * 0.381966 % 1, 0.5, 0.85)).tolist()) for n, site in enumerate(chosen)}
    circles = []
    for site in chosen:
        radius = max(6.0, scale * of_sites[site] ** 0.5)
        names = sites.get(site, [f"site {site}"])
        circles.append(_Circle(site, is_site=True, radius=radius, colour=colours[site], names=names))
    for page in named[best(scores[named], _PAGES)].tolist():
        radius, site = max(3.0, scale * scores[page] ** 0.5), int(of_page[page])
        colour, home = (colours[site], chosen.index(site)) if site in colours else ((0.7, 0.7, 0.7), -1)
        circles.append(_Circle(page, is_site=False, radius=radius, colour=colour, names=pages[page], home=home))
    return circles


def _links(graph: LinkGraph, circles: Sequence[_Circle]) -> networkx.DiGraph:
    """Link circles by their places, with the number of `links`; 0: a page of a site."""
    import networkx
    import numpy as np

    linked = networkx.DiGraph()
    linked.add_nodes_from(range(len(circles)))
    places = np.full(len(graph), -1, np.int32), np.full(len(graph.site_ids), -1, np.int32)
    for place, circle in enumerate(circles):
        places[circle.is_site][circle.number] = place
        if circle.home >= 0:
            linked.add_edge(circle.home, place, links=0)
    sources, targets, site_numbers = graph.fetched[graph.link_rows()], graph.targets, graph.site_numbers
    for a, b in (
        (places[False][sources], places[False][targets]),
        (places[True][site_numbers[sources]], places[True][site_numbers[targets]]),
    ):
        both = (a >= 0) & (b >= 0) & (a != b)
        pairs, counts = np.unique(np.stack((a[both], b[both])), axis=1, return_counts=True)
        for source, target, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            linked.add_edge(source, target, links=count)
    return linked


def _paint(
    circles: Sequence[_Circle], labels: Sequence[str], links: networkx.DiGraph, title: str, ending: str
) -> bytes:
    import networkx
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ..web.drawing.layout import place

    figure = Figure(dpi=72)  # so that a point is a pixel, whatever the file has
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    behind = {"facecolor": (1, 1, 1, 0.65), "edgecolor": "none", "pad": 0.5}
    texts = [
        axes.text(
            0, 0, label, ha="center", va="top", parse_math=False, bbox=behind, zorder=4, color="#222",
            fontsize=_SITE_FONT if circle.is_site else _PAGE_FONT,
        )
        for circle, label in zip(circles, labels, strict=True)
    ]  # fmt: skip
    sizes = [text.get_window_extent().size if text.get_text() else (0.0, 0.0) for text in texts]
    boxes = np.array(
        [
            (max(2 * circle.radius, width) + 6, circle.radius + 3, circle.radius + height + 6)
            for circle, (width, height) in zip(circles, sizes, strict=True)
        ]
    ).reshape(-1, 3)
    at = place(links, boxes)
    low = (at - np.stack((boxes[:, 0] / 2, boxes[:, 2]), axis=1)).min(axis=0, initial=0.0) - _MARGIN
    high = (at + np.stack((boxes[:, 0] / 2, boxes[:, 1]), axis=1)).max(axis=0, initial=0.0) + np.array(
        (_MARGIN, 2.5 * _MARGIN)
    )
    high[0] = max(high[0], low[0] + 400)
    figure.set_size_inches((high - low) / 72)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.text(low[0] + _MARGIN, high[1] - _MARGIN, title, fontsize=15, va="top", color="#222", parse_math=False)
    for text, circle, (x, y) in zip(texts, circles, at.tolist(), strict=True):
        text.set_position((x, y - circle.radius - 2))
    where: dict[str, Any] = {"pos": dict(enumerate(at)), "ax": axes}
    areas = [(2 * circle.radius) ** 2 for circle in circles]
    homes = [(circle.home, place) for place, circle in enumerate(circles) if circle.home >= 0]
    colours = [circles[place].colour for _, place in homes]
    networkx.draw_networkx_edges(links, edgelist=homes, edge_color=colours, style=":", arrows=False, width=1.2, **where)
    arrows: dict[str, Any] = {"edge_color": "#667", "arrowstyle": "-|>", "connectionstyle": "arc3,rad=0.12"}
    for is_site, alpha, head in ((True, 0.4, 9), (False, 0.3, 6)):
        pairs = [(a, b) for a, b, count in links.edges(data="links") if count and circles[a].is_site == is_site]
        widths = [0.6 * (1 + np.log1p(links.edges[pair]["links"]) * is_site) for pair in pairs]
        networkx.draw_networkx_edges(
            links, edgelist=pairs, width=widths, alpha=alpha, arrowsize=head, node_size=areas, **arrows, **where
        )
    faces = [(*circle.colour, 1.0 if circle.is_site else 0.6) for circle in circles]
    networkx.draw_networkx_nodes(links, node_size=areas, node_color="white", **where)
    edges = [circle.colour for circle in circles]
    networkx.draw_networkx_nodes(links, node_size=areas, node_color=faces, edgecolors=edges, **where)
    file = BytesIO()
    metadata = {"Date": None} if ending == ".svg" else {}
    figure.savefig(file, format=ending[1:], dpi=72 if ending == ".svg" else 144, metadata=metadata)
    return file.getvalue()


def _fonts() -> list[str]:
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in {*findSystemFonts()} - {font.fname for font in fontManager.ttflist}:  # its list may be older than they
        with suppress(OSError, RuntimeError, ValueError):  # a file that is no font, or of a kind it does not know
            fontManager.addfont(path)
    available = {font.name for font in fontManager.ttflist}
    return [name for name in _FAMILIES if name in available]


def _missing(text: str) -> set[str]:
    """Return the characters that no font here has; in an SVG the reader's fonts count."""
    from matplotlib.font_manager import findfont, get_font

    fonts = [get_font(findfont(family)) for family in _fonts()]
    return {c for c in _legal(text) if not any(font.get_char_index(ord(c)) for font in fonts)}


def _lack(missing: Collection[str]) -> str:
    if not missing:
        return ""
    some = "".join(sorted(missing)[:_SHOWN_CHARS])
    more = f" and {len(missing) - _SHOWN_CHARS} more" if len(missing) > _SHOWN_CHARS else ""
    return (
        f"no font of this machine has the characters {some}{more}, so labels with them show the path instead; install "
        "Noto Sans CJK (Debian, Ubuntu: apt-get install fonts-noto-cjk) or draw an .svg"
    )


def _label(names: Names, missing: Collection[str]) -> str:
    for label in map(_legal, names):
        short = label if len(label) <= _LABEL_CHARS else label[: _LABEL_CHARS - 1] + "…"
        if not any(c in missing for c in short):
            return short
    return ""


def _legal(text: str) -> str:
    """Put a text in one line, replacing characters that XML does not have."""
    return _ILLEGAL.sub("\ufffd", " ".join(text.split()))


def _legal_all(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _ILLEGAL.sub("\ufffd", value) if isinstance(value, str) else value for name, value in values.items()}
