"""Block-level link analysis: a link counts as much as the page block it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipelines.records import BlockKind

from . import hits, pagerank, surfer
from .finds import BLOCK_VALUE
from .graph import Blocks, LinkGraph
from .numbering import Numbers
from .surfer import Values

_KINDS = max(BlockKind) + 1
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Params:
    """Importance of a block of each kind beside the other blocks of its page.

    Raises:
        ValueError: a kind has no importance, or one below 0.
    """

    importance: Mapping[BlockKind, float] = field(default_factory=lambda: dict(BLOCK_VALUE))
    surfer: surfer.Params = surfer.DEFAULTS

    def __post_init__(self) -> None:
        wrong = [kind.name for kind in BlockKind if not 0 <= self.importance.get(kind, -1.0) < np.inf]
        if wrong:
            raise ValueError(f"importance of {', '.join(wrong)} is missing or wrong; each kind has one of at least 0")


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class BlockScores:
    """Blocks as parallel columns: page, kind, score (in sum 1), page after page."""

    pages: Numbers
    kinds: Blocks
    scores: Values

    def of_pages(self, size: int) -> Values:
        """Sum the scores by page; a page without known links has none."""
        return np.bincount(self.pages, weights=self.scores, minlength=size).astype(np.float64, copy=False)


def score(
    graph: LinkGraph, params: Params = DEFAULTS, *, teleport: Values | None = None, start: Values | None = None
) -> Values:
    """Compute block-level PageRank: the surfer picks a block, then one of its links.

    So a link in the text of an article or in the main list of a channel hands on more than one of the many in a menu or
    an advert. All links of a page in blocks of one kind are a block. The scores are in sum 1.

    Raises:
        ValueError, ConvergenceError: as PageRank.
    Cost: as PageRank, and 8 bytes a link.
    Source: S05; D. Cai, X. He, J.-R. Wen, W.-Y. Ma, Block-level link analysis, SIGIR 2004, section 3: W_P = XZ.
    Differs: blocks are told by what they are for, not where they stand, because nothing is rendered; so X is the
    importance of the kind rather than area by distance from the page's centre.
    """
    weights = link_weights(graph, params)
    return pagerank.score(graph, params.surfer, weights=weights, teleport=teleport, start=start)


def link_weights(graph: LinkGraph, params: Params = DEFAULTS) -> Values:
    """Weigh each link by its block's share in the page and its share in the block.

    That is X times Z in the paper. The weights of a page sum to 1, or to 0 when no block of it has any importance.

    Cost: O(links).
    Source, Differs: as `score`.
    """
    weights = np.empty(len(graph.targets))
    starts, blocks = graph.starts, graph.blocks
    for first in range(0, graph.rows, _BATCH_ROWS):
        last = min(first + _BATCH_ROWS, graph.rows)
        links = slice(int(starts[first]), int(starts[last]))
        in_page, of_link = _blocks_of(starts[first : last + 1], blocks[links], params)
        weights[links] = in_page.ravel()[of_link]
    return weights


def block_scores(graph: LinkGraph, params: Params = DEFAULTS) -> BlockScores:
    """Compute BlockRank: the chance to find the surfer in each block that holds links.

    From a block the surfer follows one of its links, and chooses a block of the page it leads to.

    Raises:
        ConvergenceError: as PageRank.
    Cost: O(links) a round; 40 bytes a link.
    Source: S05; Cai et al. 2004, section 3: W_B = ZX, without the term for blocks that stand together.
    Differs: as `score`. Score that leads to pages without (known) blocks is dealt out among all blocks.
    """
    pages, kinds, block_of_link = _blocks_with_links(graph)
    shape = (len(graph), len(pages))
    of_block = np.bincount(block_of_link, minlength=len(pages))
    to_pages = sparse.coo_array((1.0 / of_block[block_of_link], (graph.targets, block_of_link)), shape=shape).tocsc()
    importance = _importance(params)[kinds]
    of_page = np.bincount(pages, weights=importance, minlength=len(graph))[pages]
    share = np.divide(importance, of_page, out=np.zeros_like(importance), where=of_page > 0)
    to_blocks = sparse.coo_array((share, (np.arange(len(pages)), pages)), shape=shape[::-1]).tocsc()
    ones = np.ones(len(pages))  # what reaches a page without blocks is lost, not shared by the block's other targets
    scores = surfer.stationary(
        to_blocks @ to_pages, slice(None), surfer.uniform(len(pages)), params.surfer, totals=ones
    )
    return BlockScores(pages, kinds, scores)


def block_hits(
    graph: LinkGraph, params: Params = DEFAULTS, exactness: hits.Params = hits.DEFAULTS
) -> tuple[BlockScores, Values]:
    """Compute HITS of blocks: good ones link to pages that good blocks link to.

    Returns the hub score of each block that holds links, and the authority of each page; both in sum 1.

    Raises:
        ConvergenceError: as HITS.
    Cost: as HITS, and 24 bytes a link.
    Source: S05; block-level HITS, which the survey names without a formula: HITS on the block-to-page links, each with
    the weight that it has in W_P = XZ.
    Differs: as `score`.
    """
    pages, kinds, block_of_link = _blocks_with_links(graph)
    weights = link_weights(graph, params)
    if not weights.any():
        return BlockScores(pages, kinds, surfer.uniform(len(pages))), surfer.uniform(len(graph))
    shape = (len(graph), len(pages))
    found = hits.of_links(sparse.coo_array((weights, (graph.targets, block_of_link)), shape=shape).tocsc(), exactness)
    return BlockScores(pages, kinds, found.hubs), found.authorities


def _blocks_with_links(graph: LinkGraph) -> tuple[Numbers, Blocks, NDArray[np.int64]]:
    """Return page and kind of each block that holds links, and each link's block."""
    keys = graph.link_rows().astype(np.int64) * _KINDS + graph.blocks
    blocks, block_of_link = np.unique(keys, return_inverse=True)
    return graph.fetched[blocks // _KINDS], (blocks % _KINDS).astype(np.uint8), block_of_link


def _blocks_of(starts: NDArray[np.int64], blocks: Blocks, params: Params) -> tuple[Values, NDArray[np.int64]]:
    """Return the weight of a link in each block of some rows, and each link's block."""
    counts = np.diff(starts)
    of_link = np.repeat(np.arange(len(counts), dtype=np.int64) * _KINDS, counts) + blocks
    links = np.bincount(of_link, minlength=len(counts) * _KINDS).reshape(-1, _KINDS)
    importance = (links > 0) * _importance(params)
    of_page = importance.sum(axis=1, keepdims=True)
    weights = np.divide(importance, of_page * links, out=np.zeros(links.shape), where=(links > 0) & (of_page > 0))
    return weights, of_link


def _importance(params: Params) -> Values:
    return np.array([params.importance[kind] for kind in BlockKind])
