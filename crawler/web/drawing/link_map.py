"""Draw linked sites or pages as SVG: labelled circles joined by lines.

Each circle is a link. The same input gives the same bytes; colours are CSS classes, as in charts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx
import numpy as np
from markupsafe import Markup, escape

from .labels import cut, letters
from .layout import place

_LARGEST, _LEAST = 26.0, 4.0
_LETTER, _LINE = 6.6, 16.0
_GAP = 8.0
_MARGIN = 12.0
_WIDTH, _HEIGHT = 760.0, 520.0
_LABEL = 22
_THICKEST = 5.0


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle, its area in proportion to its score; a link unless `url` is None."""

    label: str
    told: str
    score: float
    url: str | None
    series: int = 1


def draw(title: str, circles: Sequence[Circle], links: Mapping[tuple[int, int], int]) -> Markup:
    """Draw circles and how many links lead from one to another, by their places.

    Cost: a second for forty circles, a tenth for twenty.
    """
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(circles)))
    graph.add_edges_from((a, b, {"links": count}) for (a, b), count in sorted(links.items()))
    top = max((each.score for each in circles), default=0.0) or 1.0
    radii = [max(_LEAST, _LARGEST * (each.score / top) ** 0.5) for each in circles]
    labels = [cut(each.label, _LABEL) for each in circles]
    boxes = [
        (max(2 * radius, _LETTER * letters(label)) + _GAP, radius + _GAP / 2, radius + _LINE + _GAP / 2)
        for radius, label in zip(radii, labels, strict=True)
    ]
    at = place(graph, np.array(boxes).reshape(-1, 3), _WIDTH, _HEIGHT) * (1, -1)  # it counts upwards, SVG downwards
    sizes = np.array(boxes).reshape(-1, 3)
    low = (at - np.stack((sizes[:, 0] / 2, sizes[:, 1]), axis=1)).min(axis=0, initial=0.0) - _MARGIN
    high = (at + np.stack((sizes[:, 0] / 2, sizes[:, 2]), axis=1)).max(axis=0, initial=0.0) + _MARGIN
    at -= low
    wide, tall = (high - low).tolist()
    parts = []
    for (a, b), count in sorted(links.items()):
        (x1, y1), (x2, y2) = at[a].tolist(), at[b].tolist()
        thick = min(_THICKEST, 0.8 + 0.6 * math.log(count))
        # bent to one side, so that links in both directions are two lines
        bend_x, bend_y = (x1 + x2) / 2 + (y2 - y1) * 0.1, (y1 + y2) / 2 - (x2 - x1) * 0.1
        path = f"M{x1:.1f} {y1:.1f}Q{bend_x:.1f} {bend_y:.1f} {x2:.1f} {y2:.1f}"
        parts.append(f'<path class="edge" stroke-width="{thick:.1f}" d="{path}"/>')
    for each, radius, label, (x, y) in zip(circles, radii, labels, at.tolist(), strict=True):
        shape = (
            f"<title>{escape(each.told)}</title>"
            f'<circle class="node series-{each.series}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            f'<text text-anchor="middle" x="{x:.1f}" y="{y + radius + 12:.1f}">{escape(label)}</text>'
        )
        parts.append(f'<a href="{escape(each.url)}">{shape}</a>' if each.url else f"<g>{shape}</g>")
    return Markup(
        f'<svg class="chart map" viewBox="0 0 {wide:.0f} {tall:.0f}" role="group" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
