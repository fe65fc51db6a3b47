"""PageRank: a page matters when pages that matter link to it."""

from __future__ import annotations

from .graph import LinkGraph
from .surfer import DEFAULTS, Params, Values, shares, stationary, uniform

__all__ = ["DEFAULTS", "Params", "score"]


def score(
    graph: LinkGraph,
    params: Params = DEFAULTS,
    *,
    weights: Values | None = None,
    teleport: Values | None = None,
    start: Values | None = None,
) -> Values:
    """Compute PageRank of every known page, fetched or not; in sum 1.

    It is the chance to meet a random surfer on a page. From pages whose links are unknown, and from those without any,
    the surfer jumps; so a page that waits in the queue has the score that the pages found so far give it.

    Args:
        weights: weight of each link, at least 0; 1 each when left out. A page's links share its score in proportion.
        teleport: how likely a jump leads to each page (of any scale), for scores from the point of view of seeds or of
            a topic; the same for all when left out.
        start: scores of an earlier state of the graph, which save rounds; it may be shorter than the graph has pages.

    Raises:
        ValueError: weights or jumps of another length, below 0, not finite, or jumps that lead nowhere; a start of
            nothing.
        ConvergenceError: not settled within `params.iterations` rounds.

    Cost: O(links) a round, about 35 ms for 10,000,000 of them; some 30 rounds. 8 bytes a link and 40 a page of memory.
    Source: S02; S. Brin, L. Page, The anatomy of a large-scale hypertextual web search engine, 1998, section 2.1.
    Differs: scores sum to 1, and pages without links hand theirs on to all (or as `teleport` says), as is usual now.
    """
    jumps = uniform(len(graph)) if teleport is None else shares(teleport, len(graph), "teleport")
    return stationary(graph.matrix(weights), graph.fetched, jumps, params, start=start)
